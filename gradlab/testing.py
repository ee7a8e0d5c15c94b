"""Check an op against numbers: usable by gradlab's tests and by anyone who writes a Function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._tensor import Tensor
from .cases import Case
from .function import Function

STEP = 6e-6  # near the cube root of float64's epsilon, where truncation and rounding of a central difference balance


def check_function(op: type[Function], case: Case, seed: int = 0) -> None:
    """Assert that `op` computes its formula and that `backward` is the transpose of its derivative, on one case.

    A random cotangent w is pulled back and compared, entry by entry, with central differences of <w, forward(x)> in
    float64. A sum would do for most ops but is blind to softmax and the normalisations, whose outputs add up to a constant.

    >>> from gradlab.ops import Mul
    >>> check_function(Mul, Mul.cases[0])

    Raises:
        AssertionError: with the op, the case, the input and the first entry that differs.
    """
    name = f"{op.__name__}[{case}]"
    xs = [d.array(np.random.default_rng([seed, i])) for i, d in enumerate(case.inputs)]
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
            assert not any(np.may_share_memory(d, a) for a in [w, y.data, *xs]), f"{name}: gradient {i} is not fresh"
        np.testing.assert_allclose(d, _differences(op, case, xs, i, w), rtol=1e-6, atol=1e-8, err_msg=f"{name} input {i}")


def check_dtype(op: type[Function], case: Case, dtype: Any, seed: int = 0) -> None:
    """Assert that floating inputs of one dtype give an output and gradients of that dtype.

    Raises:
        AssertionError: where a dtype was widened or lost.
    """
    xs = [d.array(np.random.default_rng([seed, i])) for i, d in enumerate(case.inputs)]
    fn, y = _run(op, [x.astype(dtype) if x.dtype.kind == "f" else x for x in xs], case)
    if fn is None:
        return
    assert y.dtype == dtype, f"{op.__name__}[{case}]: {dtype} came out as {y.dtype}"
    for i, d in enumerate(fn.pull(np.ones(y.shape, dtype))):
        assert d is None or d.dtype == dtype, f"{op.__name__}[{case}]: gradient {i} is {d.dtype}, not {dtype}"


def _run(op: type[Function], xs: list[np.ndarray], case: Case) -> tuple[Function | None, Tensor]:
    y = op.apply(*[Tensor(x, requires_grad=x.dtype.kind == "f") for x in xs], **case.params)
    return y.grad_fn, y


def _differences(op: type[Function], case: Case, xs: list[np.ndarray], i: int, w: np.ndarray) -> np.ndarray:
    x = xs[i]
    out = np.zeros(x.shape)
    for at in _entries(x):
        step = STEP * max(1.0, abs(float(x[at])))
        sides: list[float] = []
        for sign in (1, -1):
            moved = [v.copy() for v in xs]
            moved[i][at] += sign * step
            sides.append(float((w * op().forward(*moved, **case.params)).sum()))
        out[at] = (sides[0] - sides[1]) / (2 * step)
    return out


def _entries(x: np.ndarray) -> Iterator[tuple[int, ...]]:
    return iter(np.ndindex(x.shape))
