"""Gradients against numbers: for any function of Tensors, entry by entry."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import asarray_like, float64, to_numpy
from ..errors import DTypeError, GradcheckError, GraphError, explain
from ..function import made
from ..grad_mode import enable_grad
from .run import grad, several

if TYPE_CHECKING:
    from .._tensor import Tensor

Outputs = Any  # a Tensor, or a tuple or list of them
_SEED = 20  # of the check's own random numbers; gradlab's go on untouched


def gradcheck(
    func: Callable[..., Outputs],
    inputs: Tensor | Sequence[Tensor],
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare the gradients of `func(*inputs)` with central differences, for every input that requires one.

    A random cotangent w is pulled back and compared with differences of <w, func(x)>. A sum would be blind to softmax and the
    normalisations, whose outputs add up to a constant.

    Args:
        func: any function of Tensors that gives a Tensor, or a tuple of them.
        eps: how far an entry is moved, to either side.
        atol, rtol: two numbers agree where they differ by no more than atol + rtol * |difference quotient|.
        raise_exception: False answers False instead of raising.

    Raises:
        GradcheckError: with the entry that is furthest off: its input, its index, both numbers and the relative error.
        DTypeError: an input that requires a gradient is not float64, in which alone a difference quotient has digits enough.

    >>> import gradlab as gl
    >>> gradcheck(lambda x: x.softmax(0) * x, gl.randn(3, dtype=gl.float64, requires_grad=True))
    True
    """
    return _checked("gradcheck", func, func, _inputs("gradcheck", inputs), eps, atol, rtol, raise_exception)


def gradgradcheck(
    func: Callable[..., Outputs],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Sequence[Tensor] | None = None,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Compare second derivatives with central differences of the first: those of the gradients by inputs and cotangents.

    Args:
        grad_outputs: the cotangents at which the gradients are taken; random by default.

    Raises:
        GradcheckError, DTypeError: as `gradcheck`.

    >>> import gradlab as gl
    >>> gradgradcheck(lambda x: x.tanh(), gl.randn(3, dtype=gl.float64, requires_grad=True))
    True
    """
    xs = _inputs("gradgradcheck", inputs)
    if grad_outputs is None:
        grad_outputs = [made(w) for w in _cotangents(_differentiable(func(*xs)), _SEED + 1)]
    cotangents = [w.detach().requires_grad_() for w in grad_outputs]
    asked = _asked(xs)

    def gradients(*arguments: Tensor, create_graph: bool = True) -> tuple[Tensor, ...]:
        ts, ws = arguments[: len(xs)], arguments[len(xs) :]
        with enable_grad():
            outputs = _differentiable(func(*ts))
        return grad(outputs, [ts[i] for i in asked], ws, create_graph=create_graph, materialize_grads=True)

    def values(*arguments: Tensor) -> tuple[Tensor, ...]:
        return gradients(*arguments, create_graph=False)

    return _checked("gradgradcheck", gradients, values, [*xs, *cotangents], eps, atol, rtol, raise_exception)


def _inputs(what: str, inputs: Any) -> list[Tensor]:
    xs = several(inputs)
    for i, x in enumerate(xs):
        if getattr(x, "requires_grad", False) and x.dtype != float64:
            need = "float64: in float32 a difference quotient has three digits"
            raise DTypeError(explain(f"{what}: input {i} is too coarse", got={"dtype": x.dtype}, need=need, fix="x.double()"))
    if not _asked(xs):
        got = {"inputs": [getattr(x, "shape", x) for x in xs]}
        raise GraphError(explain(f"{what}: nothing to check", got=got, need="an input with requires_grad=True"))
    return xs


def _asked(xs: Sequence[Any]) -> list[int]:
    return [i for i, x in enumerate(xs) if getattr(x, "requires_grad", False)]


def _differentiable(outputs: Outputs) -> list[Tensor]:
    return [y for y in several(outputs) if getattr(y, "requires_grad", False)]


def _cotangents(outputs: Sequence[Tensor], seed: int = _SEED) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [asarray_like(np.asarray(rng.standard_normal(y.shape)), y._data) for y in outputs]


def _checked(
    what: str,
    func: Callable[..., Outputs],
    values: Callable[..., Outputs],
    xs: list[Tensor],
    eps: float,
    atol: float,
    rtol: float,
    raise_exception: bool,
) -> bool:
    """Compare the gradients of `func` with differences of `values`, which gives the same numbers."""
    outputs = several(func(*xs))
    if not all(hasattr(y, "requires_grad") for y in outputs):
        got = {"outputs": [type(y).__name__ for y in outputs]}
        raise GraphError(explain(f"{what}: the function has to give tensors", got=got, need="a tensor, or a tuple of tensors"))
    places = [i for i, y in enumerate(outputs) if y.requires_grad]
    if not places:  # then nothing may depend on the inputs
        places = [i for i, y in enumerate(outputs) if y.dtype.kind == "f"]
    ws = _cotangents([outputs[i] for i in places])
    asked = _asked(xs)
    again = several(values(*xs))
    if any(not np.allclose(to_numpy(a._data), to_numpy(b._data), 1e-9, 1e-9, equal_nan=True) for a, b in zip(outputs, again, strict=True)):
        raise GradcheckError(
            explain(f"{what}: the function gives other numbers each time", got={"func": func}, need="one that draws nothing")
        )
    roots = [outputs[i] for i in places]
    found: Sequence[Tensor | None] = [None] * len(asked)
    if any(y.requires_grad for y in roots):
        found = grad(roots, [xs[i] for i in asked], [made(w) for w in ws], materialize_grads=True)

    def total(moved: list[Tensor]) -> float:
        ys = several(values(*moved))
        return sum(float((w * ys[i]._data).sum()) for w, i in zip(ws, places, strict=True))

    for i, d in zip(asked, found, strict=True):
        numeric = differences(total, xs, i, eps)
        analytic = np.zeros_like(numeric) if d is None else to_numpy(d._data)
        error = np.abs(analytic - numeric)
        wrong = ~(error <= atol + rtol * np.abs(numeric))  # also where either is NaN
        if wrong.any():
            if raise_exception:
                raise GradcheckError(_worst(what, i, xs[i], analytic, numeric, np.where(wrong, error, -1.0), int(wrong.sum())))
            return False
    return True


def differences(total: Callable[[list[Tensor]], float], xs: list[Tensor], i: int, eps: float) -> np.ndarray:
    """Central differences of `total(xs)` by each entry of `xs[i]`."""
    x = xs[i]
    values, moved = np.array(to_numpy(x._data)), list(xs)
    slopes = np.zeros(values.shape)
    for at in np.ndindex(values.shape):
        sides: list[float] = []
        for there in (values[at] + eps, values[at] - eps):
            array = values.copy()
            array[at] = there
            t = made(asarray_like(array, x._data))
            t.requires_grad_(x.requires_grad)
            moved[i] = t
            sides.append(total(moved))
        slopes[at] = (sides[0] - sides[1]) / (2 * eps)
    return slopes


def _worst(what: str, i: int, x: Tensor, analytic: np.ndarray, numeric: np.ndarray, error: np.ndarray, wrong: int) -> str:
    scale = np.maximum(np.abs(numeric), np.abs(analytic))
    relative = np.where(np.isnan(error), np.inf, error / np.where(scale > 0, scale, 1.0))
    at = tuple(int(k) for k in np.unravel_index(int(np.argmax(relative)), x.shape))
    a, n = float(analytic[at]), float(numeric[at])
    return explain(
        f"{what}: the gradient of input {i} is wrong in {wrong} of {numeric.size} entries, furthest at {list(at)}",
        got={"backward": f"{a:.10g}", "differences": f"{n:.10g}", "relative error": f"{float(relative[at]):.3g}", "shape": x.shape},
        need="the same numbers from both",
    )
