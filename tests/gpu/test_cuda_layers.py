"""Every layer and loss on a GPU beside the same in main memory."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from tests.nn.layer_rows import TABLE
from tests.nn.layers import result


@pytest.mark.parametrize("key", TABLE)
def test_a_layer_gives_the_same_on_a_gpu(key):
    one = TABLE[key]
    want = result(one, gl)
    got = result(one, gl, one.module(gl).to("cuda"), lambda a: gl.tensor(a, device="cuda"))
    for ours, theirs in zip([*got.outputs, *got.grads, *got.after], [*want.outputs, *want.grads, *want.after], strict=True):
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-10)
