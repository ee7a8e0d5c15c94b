"""An op's cases on a device beside the same on NumPy: for the simulated device, and for a GPU."""

from __future__ import annotations

import numpy as np

import gradlab as gl
from gradlab import ops
from gradlab.backend import to_numpy, xp_of
from gradlab.function import Function

OPS = sorted({f for f in vars(ops).values() if isinstance(f, type) and issubclass(f, Function)}, key=lambda f: f.__name__)
CASES = [(op, case) for op in OPS for case in op.cases]
# These have to wait for the device: how large the result is hangs on a mask or on the largest entry; or it is their job.
WAITS = {"AddIndex", "BinCount", "HistC", "NonZero", "Pick", "SetIndex", "Transfer"}


def name_of(op, case):
    return f"{op.__name__}-{case}"


def run(op, case, xs, device):
    """The result and the gradients for one cotangent, on one device."""
    tensors = [gl.tensor(x, requires_grad=x.dtype.kind == "f", device=device) for x in xs]
    gl.manual_seed(0)
    y = op.apply(*tensors, **case.params)
    assert y.device == device or op is ops.Transfer, f"{op.__name__} gave a result on {y.device}"
    if y.grad_fn is None:
        return y, []
    g = np.random.default_rng(9).standard_normal(y.shape).astype(y.dtype)
    return y, y.grad_fn.pull(gl.tensor(g, device=y.device).data)


def drawn(case, dtype):
    """The inputs of a case."""
    xs = [d.array(np.random.default_rng(i)) for i, d in enumerate(case.inputs)]
    return [x.astype(dtype) if x.dtype.kind == "f" else x for x in xs]


def compare(op, got, want, rtol):
    """Assert equal values and gradients, all of them where the inputs were."""
    (y, grads), (y_want, grads_want) = got, want
    pairs = [("result", y.data, y_want.data), *((f"gradient {i}", d, w) for i, (d, w) in enumerate(zip(grads, grads_want, strict=True)))]
    for what, d, w in pairs:
        what = f"{op.__name__}: {what}"
        assert (d is None) == (w is None), f"{what} on one device only"
        if d is None:
            continue
        assert op is ops.Transfer or xp_of(d) is xp_of(grads[0] if grads and grads[0] is not None else y.data), f"{what} is elsewhere"
        d = to_numpy(d)
        assert d.dtype == w.dtype and d.shape == w.shape, f"{what}: {d.dtype} {d.shape}, on NumPy {w.dtype} {w.shape}"
        np.testing.assert_allclose(d, w, rtol=rtol, atol=rtol, err_msg=what)


def twice(op, case, xs, device):
    """Second derivatives for two cotangents, on one device: of <v, the gradients of <g, op(x)>>."""
    rng = np.random.default_rng(9)
    tensors = [gl.tensor(x, requires_grad=x.dtype.kind == "f", device=device) for x in xs]
    gl.manual_seed(0)
    y = op.apply(*tensors, **case.params)
    wanted = [t for t in tensors if t.requires_grad]
    g = gl.tensor(rng.standard_normal(y.shape), device=y.device, requires_grad=True)
    grads = gl.autograd.grad(y, wanted, g, create_graph=True, materialize_grads=True)
    vs = [gl.tensor(rng.standard_normal(d.shape), device=d.device) for d in grads]
    sums = [(v * d).sum() for v, d in zip(vs, grads, strict=True) if d.requires_grad]
    if not sums:
        return []
    total = sums[0]
    for s in sums[1:]:
        total = total + s
    return gl.autograd.grad(total, [*wanted, g], materialize_grads=True)
