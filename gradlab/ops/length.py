"""How large values are together: the norms."""

from __future__ import annotations

from math import inf, prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, total, xp_of
from ..cases import Case, Draw, Given
from ..errors import ArgumentError, ShapeError, explain
from .argument import Dim, axes_of, axis_of, spelled, tensor_of
from .dtype import as_pytorch, need_floats, wide
from .refusal import AlongAxes

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Norm(AlongAxes):
    """y = (sum of |x|^p over dim)^(1/p);  dx = g sign(x) (|x| / y)^(p-1), 0 where y is 0.

    p = inf and -inf are the largest and the smallest |x|, whose gradient those that tie share evenly; p = 0 counts what is not 0.
    """

    latex = r"y = \left(\sum_{\mathrm{dim}} |x|^p\right)^{1/p}, \quad \bar x = \bar y\, \mathrm{sign}(x) \left(\frac{|x|}{y}\right)^{p-1}"
    kind = "reduce"
    cases = (
        Case(Draw((3, 4))),
        Case(Draw((3, 4)), dim=-1, keepdim=True),
        Case(Draw((2, 3, 4)), dim=(0, -1)),
        Case(Draw((2, 3, 4)), dim=(0, 2), keepdim=True),
        Case(Draw((0, 3)), dim=1),
        Case(Draw((2, 1, 3)), dim=(0, 1), keepdim=True),
        Case(Draw(())),
        Case(Draw(()), dim=0, keepdim=True),
        Case(Draw((3, 4), gap=0.1), p=1.0, dim=1),
        Case(Draw((2, 3, 4), gap=0.1), p=3.0, dim=1),
        Case(Draw((3, 4), gap=0.1), p=0.5),
        Case(Draw((3, 4), gap=0.1), p=-1.0, dim=0),
        Case(Given([[3.0, -4.0, 0.5], [-1.0, 2.0, 0.25]]), p=inf, dim=1),
        Case(Given([[3.0, -4.0, 0.5], [-1.0, 2.0, 0.25]]), p=-inf),
        Case(Draw((0, 3)), p=inf, dim=1),
        Case(Draw((2, 3), gap=0.1), p=0.0, dim=1),
    )
    fresh = True

    @as_pytorch
    def forward(self, x: Array, p: float = 2.0, dim: Dim = None, keepdim: bool = False) -> Array:
        dim = axes_of(x, dim)
        need_floats("norm", x)
        xp = xp_of(x)
        self.x, self.p, self.dim, self.gone = wide(x), p, dim, None if keepdim else dim
        size = xp.abs(self.x)
        if p in (inf, -inf):
            self.y = xp.max(size, axis=dim, keepdims=keepdim) if p > 0 else xp.min(size, axis=dim, keepdims=keepdim)
        elif p == 0:
            self.y = xp.sum(size != 0, axis=dim, keepdims=keepdim, dtype=size.dtype)
        else:
            self.y = total(size if p == 1 else size**p, dim, keepdim) ** (1 / p)
        return xp.asarray(self.y, dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        xp, x, p = xp_of(g), self.x, self.p
        g, y = (g, self.y) if self.gone is None else (xp.expand_dims(g, self.gone), xp.expand_dims(self.y, self.gone))
        size = xp.abs(x)
        if p in (inf, -inf):
            hit = size == y
            return g * xp.sign(x) * (hit / xp.sum(hit, axis=self.dim, keepdims=True, dtype=x.dtype))
        if p == 0:
            return xp.zeros(x.shape, dtype=x.dtype)
        some = y != 0
        g, y = xp.where(some, g, 0.0), xp.where(some, y, 1.0)
        if p == 2:
            return g * (x / y)
        # 0 to a negative power is infinite, and sign(0) times that NaN.
        return g * xp.sign(x) * xp.where(size == 0, 1.0, size / y) ** (p - 1)


def norm(input: TensorLike, p: float | str = "fro", dim: Dim = None, keepdim: bool = False, dtype: Any = None, **numpy: Any) -> Tensor:
    """Measure length: the root of the sum of squares ("fro" too), or the p-norm for any p, inf and -inf included.

    The gradient at length 0 is 0.

    Shapes: input: (*), y: input without dim (1 there with keepdim)

    Raises:
        ArgumentError: p is no number, nor "fro".
        ShapeError: for p = inf or below 0, there is no entry to choose from.
        DTypeError: `input` holds integers or booleans.

    >>> norm([[3.0, 4.0], [0.0, 0.0]], dim=1).data
    array([5., 0.], dtype=float32)
    """
    p = 2.0 if p == "fro" else p
    if not isinstance(p, (int, float)) or p != p:
        raise ArgumentError(explain("norm: which p?", got={"p": repr(p)}, need='a number, inf, -inf or "fro"'))
    params = spelled(dim, keepdim, numpy)
    if p < 0 or p == inf:
        _need_entries(input, p, params.get("dim"))
    return Norm.apply(input if dtype is None else tensor_of(input).to(dtype), p=p, **params)


def normalize(input: TensorLike, p: float = 2.0, dim: int | tuple[int, ...] = 1, eps: float = 1e-12) -> Tensor:
    """Divide by the p-norm over `dim`, or by `eps` where it is smaller than that.

    Shapes: input: (*), y: (*)

    >>> normalize([[3.0, 4.0], [0.0, 0.0]]).data
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    x = tensor_of(input)
    return x / norm(x, p, dim, keepdim=True).clamp(min=eps)


def _need_entries(x: Any, p: float, dim: Dim) -> None:
    shape = getattr(x, "shape", (1,))
    axes = range(len(shape)) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    if not prod(shape) and any(shape[axis] == 0 for axis in axes if -len(shape) <= axis < len(shape)):
        raise ShapeError(explain("norm: nothing to choose from", got={"x": shape, "p": p, "dim": dim}, need="at least one entry along dim"))


def dist(input: TensorLike, other: TensorLike, p: float = 2.0) -> Tensor:
    """Measure the p-norm of a difference.

    Shapes: input and other: broadcast, y: ()

    >>> dist([1.0, 2.0], [4.0, 6.0]).item()
    5.0
    """
    return norm(tensor_of(input) - other, p)


def renorm(input: TensorLike, p: float, dim: int, maxnorm: float) -> Tensor:
    """Scale each entry along `dim` down to a p-norm of `maxnorm`, where it is longer.

    Shapes: input: (*), y: (*)

    >>> renorm([[3.0, 4.0], [0.3, 0.4]], 2, 0, 1.0).data.round(3)
    array([[0.6, 0.8],
           [0.3, 0.4]], dtype=float32)
    """
    x = tensor_of(input)
    axis = axis_of("renorm", dim, x)
    length = norm(x, p, tuple([i for i in range(x.ndim) if i != axis]), keepdim=True) if x.ndim > 1 else x.abs()
    return x * (maxnorm / (length + 1e-7)).clamp(max=1.0)
