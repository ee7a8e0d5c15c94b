"""Check an op against numbers, and that a model learns: usable by gradlab's tests and by anyone who writes a Function or a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import autograd
from ._tensor import Tensor
from .cases import Case
from .function import Function
from .learning import Learning as Learning
from .learning import check_learning as check_learning

STEP = 6e-6  # near the cube root of float64's epsilon, where truncation and rounding of a central difference balance


def check_function(op: type[Function], case: Case, seed: int = 0) -> None:
    """Assert that `op` computes its formula and that `backward` is the transpose of its derivative, on one case.

    A random cotangent w is pulled back and compared, entry by entry, with central differences of <w, forward(x)> in
    float64. A sum would do for most ops but is blind to softmax and the normalisations, whose outputs add up to a constant.

    Raises:
        AssertionError: with the op, the case, the input and the first entry that differs.

    >>> from gradlab.ops import Mul
    >>> check_function(Mul, Mul.cases[0])
    """
    name = f"{op.__name__}[{case}]"
    xs = _inputs(case, seed)
    before = [x.copy() for x in xs]
    fn, y = _run(op, xs, case)
    reference = getattr(op, "reference", None)
    if reference is not None:
        np.testing.assert_allclose(y.data, reference(*xs, **case.params), rtol=1e-10, atol=1e-12, err_msg=f"{name} forward")
    if fn is None:
        return
    w = np.random.default_rng([seed, 99]).standard_normal(y.shape)
    kept = w.copy()
    grads = fn.pull(w)
    np.testing.assert_array_equal(w, kept, err_msg=f"{name} wrote into the gradient it was given")
    for i, (x, d) in enumerate(zip(xs, grads, strict=True)):
        np.testing.assert_array_equal(x, before[i], err_msg=f"{name} changed its input {i}")
        if x.dtype.kind != "f":
            assert d is None, f"{name}: input {i} holds integers, so it has no gradient"
            continue
        assert d is not None, f"{name}: no gradient for input {i}"
        assert d.shape == x.shape, f"{name}: gradient {i} has shape {d.shape}, its input {x.shape}"
        if op.fresh:
            others = [a for a in (w, y.data, *xs, *grads[:i]) if a is not None]
            assert not any(np.may_share_memory(d, a) for a in others), f"{name}: gradient {i} is not fresh"
        np.testing.assert_allclose(d, _differences(op, case, xs, i, w), rtol=1e-6, atol=1e-8, err_msg=f"{name} input {i}")


def check_twice(op: type[Function], case: Case, seed: int = 0) -> None:
    """Assert that the gradient of `op` can be differentiated, on one case: along a random direction of inputs and cotangent.

    The rule on Tensors has to give what the rule on arrays gives, and its gradient is compared with a difference of the latter.

    Raises:
        AssertionError: with the op, the case and the number that differs.
        GraphError: the gradient can't be differentiated.

    >>> from gradlab.ops import Mul
    >>> check_twice(Mul, Mul.cases[0])
    """
    name = f"{op.__name__}[{case}]"
    xs, rng = _inputs(case, seed), np.random.default_rng([seed, 99])
    ts = [Tensor(x, requires_grad=x.dtype.kind == "f") for x in xs]
    y = op.apply(*ts, **case.params)
    if y.grad_fn is None:
        return
    asked = [i for i, t in enumerate(ts) if t.requires_grad]
    cotangent = Tensor(rng.standard_normal(y.shape), requires_grad=True, dtype="float64")

    def gradients(at: list[np.ndarray], g: np.ndarray) -> list[np.ndarray]:
        fn, _ = _run(op, at, case)
        grads = fn.pull(g) if fn else ()
        return [d for d in grads if d is not None]

    first = autograd.grad(y, [ts[i] for i in asked], cotangent, create_graph=True)
    for i, d, e in zip(asked, first, gradients(xs, cotangent.data), strict=True):
        assert d.dtype == e.dtype and d.shape == e.shape, f"{name} input {i}: {d.dtype} {d.shape}, on arrays {e.dtype} {e.shape}"
        np.testing.assert_allclose(d.data, e, rtol=1e-7, atol=1e-9, err_msg=f"{name} input {i}, on Tensors")
    ws = [rng.standard_normal(d.shape) for d in first]
    roots = [(d, Tensor(w, dtype="float64")) for d, w in zip(first, ws, strict=True) if d.requires_grad]
    moved = [*[ts[i] for i in asked], cotangent]
    second = autograd.grad([d for d, _ in roots], moved, [w for _, w in roots], materialize_grads=True) if roots else ()
    directions = [rng.standard_normal(t.shape) for t in moved]
    slope = sum(float((d.data * v).sum()) for d, v in zip(second, directions, strict=False))
    sides: list[float] = []
    for step in (STEP, -STEP):
        at = list(xs)
        for i, v in zip(asked, directions, strict=False):
            at[i] = xs[i] + step * v
        ends = gradients(at, cotangent.data + step * directions[-1])
        sides.append(sum(float((w * d).sum()) for w, d in zip(ws, ends, strict=True)))
    np.testing.assert_allclose(slope, (sides[0] - sides[1]) / (2 * STEP), rtol=1e-5, atol=1e-6, err_msg=f"{name} twice")


def check_dtype(op: type[Function], case: Case, dtype: Any, seed: int = 0) -> None:
    """Assert that floating inputs of one dtype give an output and gradients of that dtype, near those of float64.

    Raises:
        AssertionError: where a dtype was widened or lost, or a value strayed.
    """
    name = f"{op.__name__}[{case}] {np.dtype(dtype)}"
    xs = [x.astype(dtype) if x.dtype.kind == "f" else x for x in _inputs(case, seed)]
    rng = np.random.default_rng([seed, 99])
    fn, y = _run(op, xs, case)
    if fn is None:
        return
    g = rng.standard_normal(y.shape).astype(dtype)
    exact_fn, exact = _run(op, [x.astype("float64") if x.dtype.kind == "f" else x for x in xs], case)
    assert y.dtype == dtype, f"{name} came out as {y.dtype}"
    _near(y.data, exact.data, f"{name} forward")
    assert exact_fn is not None
    for i, (d, e) in enumerate(zip(fn.pull(g), exact_fn.pull(g.astype("float64")), strict=True)):
        assert d is None or d.dtype == dtype, f"{name}: gradient {i} is {d.dtype}"
        if d is not None and e is not None:
            _near(d, e, f"{name} input {i}")


def check_layouts(op: type[Function], case: Case, seed: int = 0) -> None:
    """Assert that values and gradients do not depend on how inputs and gradient lie in memory, and that neither is written to.

    Arrays come transposed, reversed and with gaps, and as memory that cannot be written; the gradient also as one number
    repeated, which is what `sum` hands back.

    Raises:
        AssertionError: with the layout that came out differently.
    """
    xs = _inputs(case, seed)
    fn, y = _run(op, xs, case)
    w = np.random.default_rng([seed, 99]).standard_normal(y.shape)
    grads = fn.pull(w) if fn else ()
    for layout, laid in LAYOUTS.items():
        name = f"{op.__name__}[{case}] {layout}"
        again, z = _run(op, [_locked(laid(x)) for x in xs], case)
        np.testing.assert_allclose(z.data, y.data, rtol=1e-10, atol=1e-12, err_msg=f"{name} forward")
        if again is not None:
            _same(again.pull(_locked(laid(w))), grads, name)
    if fn is not None:
        ones = np.ones(y.shape)
        _same(fn.pull(np.broadcast_to(1.0, y.shape)), fn.pull(ones), f"{op.__name__}[{case}] repeated gradient")


def _gapped(x: np.ndarray) -> np.ndarray:
    wide = np.full([2 * n for n in x.shape], 7, x.dtype)[(*[slice(None, None, 2)] * x.ndim, ...)]
    wide[...] = x
    return wide


def _reversed(x: np.ndarray) -> np.ndarray:
    turned = (*[slice(None, None, -1)] * x.ndim, ...)
    return x[turned].copy()[turned]


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "transposed": lambda x: x.T.copy().T,
    "reversed": _reversed,
    "gapped": _gapped,
}


def _locked(x: np.ndarray) -> np.ndarray:
    x = np.asarray(x).view()
    x.flags.writeable = False
    return x


def _same(got: tuple[Any, ...], want: tuple[Any, ...], name: str) -> None:
    for i, (d, e) in enumerate(zip(got, want, strict=True)):
        if e is not None:
            np.testing.assert_allclose(d, e, rtol=1e-10, atol=1e-12, err_msg=f"{name} input {i}")


def _near(got: np.ndarray, want: np.ndarray, name: str) -> None:
    """Within 64 roundings of the largest entry: float16 keeps three digits, and steps inside lose one more."""
    slack = 64 * float(np.finfo(got.dtype).eps)
    np.testing.assert_allclose(got, want, rtol=slack, atol=slack * float(np.abs(want).max(initial=1.0)), err_msg=name)


def _inputs(case: Case, seed: int) -> list[np.ndarray]:
    return [d.array(np.random.default_rng([seed, i])) for i, d in enumerate(case.inputs)]


def _run(op: type[Function], xs: list[np.ndarray], case: Case) -> tuple[Function | None, Tensor]:
    y = op.apply(*[Tensor(x, requires_grad=x.dtype.kind == "f") for x in xs], **case.params)
    return y.grad_fn, y


def _differences(op: type[Function], case: Case, xs: list[np.ndarray], i: int, w: np.ndarray) -> np.ndarray:
    moved, out = list(xs), np.zeros(xs[i].shape)
    moved[i] = xs[i].copy()
    entries, slopes = moved[i].reshape(-1), out.reshape(-1)
    for at, value in enumerate(entries.tolist()):  # one entry is moved and put back: no copy of the inputs per entry
        step = STEP * max(1.0, abs(value))
        sides: list[float] = []
        for there in (value + step, value - step):
            entries[at] = there
            sides.append(float((w * op().forward(*moved, **case.params)).sum()))
        entries[at] = value
        slopes[at] = (sides[0] - sides[1]) / (2 * step)
    return out
