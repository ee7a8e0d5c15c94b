"""Every public op as users call it, on tensors of the simulated device: NumPy's values and gradients, and no host sync."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import gradlab as gl
from gradlab import sim
from gradlab.backend import to_numpy
from tests.reference.all import TABLE
from tests.reference.chooser import Still, mapped
from tests.reference.compare import cotangent, flat

CALLS = 3
# The size of the result (or of a bag) hangs on the numbers, or the result is a truth value of Python's.
WAITS = {"allclose", "argwhere", "bincount", "embedding_bag", "equal", "getitem", "histc", "masked_scatter", "masked_select",
         "nonzero", "set_index", "unique", "unique_consecutive"}  # fmt: skip
PLACELESS = {"tril_indices", "triu_indices"}  # no tensor comes in


def outcome(row, call, device):
    """Outputs and gradients of the float arrays, on one device."""
    leaves = []

    def tensor(array):
        x = gl.tensor(np.array(array), device=device)
        if array.dtype.kind == "f" and not isinstance(array, Still):
            leaves.append(x.requires_grad_())
        return x

    ready = mapped(call, tensor)
    gl.manual_seed(0)
    with sim.stats() as seen:
        outputs = flat(row.function()(*ready.args, **ready.kwargs))
        for i, y in enumerate(outputs):
            if getattr(y, "requires_grad", False):
                y.backward(gl.tensor(cotangent(y.shape, i).astype(y.dtype), device=device), retain_graph=True)
    for y in outputs:
        assert not isinstance(y, gl.Tensor) or y.device == device, f"{row.name} gave a result on {y.device}"
    data = [getattr(y, "data", y) for y in outputs] + [t.grad.data if t.grad is not None else 0 for t in leaves]
    return [to_numpy(a) for a in data], seen


@pytest.mark.parametrize("key", TABLE)
def test_a_function_gives_on_the_device_what_it_gives_on_numpy(key):
    row = TABLE[key]
    for call in row.draws(CALLS):
        try:
            want, _ = outcome(row, call, "cpu")
        except Exception as refused:  # a call that PyTorch takes and gradlab doesn't: then on no device
            with pytest.raises(type(refused)):
                outcome(row, call, "sim")
            continue
        with gl.device("sim") if row.name in PLACELESS else contextlib.nullcontext():
            got, seen = outcome(row, call, "sim")
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=f"{key}{call}")
            assert np.asarray(a).dtype == np.asarray(b).dtype
        assert not seen.syncs or row.name in WAITS, f"{key}{call} waits for the device: {seen.where}"
