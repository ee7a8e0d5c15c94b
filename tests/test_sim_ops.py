"""Every op on the simulated device: the same values and gradients as on NumPy, by CuPy's rules, and without a host sync."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import ops, sim
from gradlab.function import Function

OPS = sorted({f for f in vars(ops).values() if isinstance(f, type) and issubclass(f, Function)}, key=lambda f: f.__name__)
CASES = [pytest.param(op, case, id=f"{op.__name__}-{case}") for op in OPS for case in op.cases]

# Where the host has to know a number: how large the result of a mask is.
WAITS = {"AddIndex", "NonZero", "Pick", "SetIndex", "Transfer"}


def run(op, case, xs, device, g=None):
    """The result and the gradients, on one device."""
    tensors = [gl.tensor(x, requires_grad=x.dtype.kind == "f", device=device) for x in xs]
    y = op.apply(*tensors, **case.params)
    assert y.device == device or op is ops.Transfer, f"{op.__name__} gave a result on {y.device}"
    if y.grad_fn is None:
        return y, []
    g = np.random.default_rng(9).standard_normal(y.shape).astype(y.dtype)
    return y, y.grad_fn.pull(gl.tensor(g, device=y.device).data)


def on_host(array):
    return array.get() if isinstance(array, sim.ndarray) else array


def close(a, b, what):
    rtol = {"float16": 2e-3, "float32": 1e-6}.get(str(b.dtype), 1e-13)
    assert a.dtype == b.dtype and a.shape == b.shape, f"{what}: {a.dtype} {a.shape}, on NumPy {b.dtype} {b.shape}"
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol, err_msg=what)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(("op", "case"), CASES)
def test_an_op_gives_on_the_device_what_it_gives_on_numpy(op, case, dtype):
    xs = [d.array(np.random.default_rng(i)) for i, d in enumerate(case.inputs)]
    xs = [x.astype(dtype) if x.dtype.kind == "f" else x for x in xs]
    gl.manual_seed(0)
    want, want_grads = run(op, case, xs, "cpu")
    gl.manual_seed(0)
    with sim.stats() as seen:
        got, grads = run(op, case, xs, "sim")
    close(on_host(got.data), want.data, op.__name__)
    for i, (d, w) in enumerate(zip(grads, want_grads, strict=True)):
        assert (d is None) == (w is None), f"{op.__name__}: gradient {i} on one device only"
        if d is not None:
            assert isinstance(d, sim.ndarray), f"{op.__name__}: gradient {i} is on the host"
            close(on_host(d), w, f"{op.__name__}: gradient {i}")
    assert not seen.syncs or op.__name__ in WAITS, f"{op.__name__}: {seen.where}"
