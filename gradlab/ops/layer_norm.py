"""Normalising every sample over its last axes: layer_norm, and rms_norm, which leaves the mean where it is."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, float16, float32, float64, xp_of
from ..cases import Case, Draw
from ..errors import ShapeError, explain
from ..function import Function
from .argument import whole
from .dtype import beside, need_floats, need_one_dtype, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _shape(normalized_shape: Any) -> tuple[int, ...]:
    """The normalized shape as a tuple of ints; a number is one axis."""
    return tuple(
        [whole("normalized_shape", n) for n in (normalized_shape if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,))]
    )


def _extent(op: str, x: Array, shape: tuple[int, ...], **affine: Any) -> int:
    """How many entries are normalised together.

    Raises:
        ShapeError: the normalized shape is not that of the last axes of `x`, or of a weight or bias.
        DTypeError: not floats, or a weight of another dtype; float16 may go with float32.
    """
    need_floats(op, x)
    if not shape or x.shape[-len(shape) :] != shape:
        got = {"x": x.shape, "normalized_shape": shape}
        raise ShapeError(explain(f"{op}: the last axes of x are not the normalized shape", got=got, need="x: (*, *normalized_shape)"))
    for name, array in affine.items():
        if not hasattr(array, "shape"):
            continue  # None, or 1.0 for a weight that is not there beside a bias
        if array.shape != shape:
            got = {"normalized_shape": shape, name: array.shape}
            raise ShapeError(explain(f"{op}: the {name} does not fit", got=got, need=f"{name}: {shape}"))
        if array.dtype is not x.dtype and (x.dtype, array.dtype) != (float16, float32):
            need_one_dtype(op, **{name: array, "x": x})
    return prod(shape)


def _mean(rows: Array) -> Array:
    """The mean of every row, as a matrix times a vector of ones: BLAS reads the rows once, several times as fast as `mean`."""
    n = rows.shape[1]
    means = rows @ xp_of(rows).ones(n, dtype=rows.dtype)
    means *= 1 / max(n, 1)
    return means


def _mean_of_product(a: Array, b: Array) -> Array:
    """The mean over every row of a b, without an array for the product."""
    means = xp_of(a).einsum("ij,ij->i", a, b)
    means *= 1 / max(a.shape[1], 1)
    return means


def _over_rows(a: Array, b: Array) -> Array:
    """Per column, the sum of a b over the rows."""
    xp = xp_of(a)
    return xp.ones(a.shape[0], dtype=a.dtype) @ (a * b)


def _rows(x: Array, n: int) -> Array:
    """The axes that are normalised as one, those before them as rows; float16 as float32."""
    return _as(wide(x), (prod(x.shape) // n if n else prod(x.shape[:-1]), n))


def _as(x: Array, shape: tuple[int, ...]) -> Array:
    """`x` in that shape: no call where it has it, which counts for small arrays."""
    return x if x.shape == shape else x.reshape(shape)


class LayerNorm(Function):
    """y = w (x - mean) / sqrt(var + eps) + b;  dx = (u - mean of u - z mean of u z) / sqrt(var + eps), u = w g, z = y without w and b.

    Mean and variance are those of the last axes, the variance with n below the line.

    Source: J. L. Ba, J. R. Kiros, G. E. Hinton, Layer Normalization, 2016, arXiv:1607.06450.
    """

    latex = (
        r"z = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}}, \quad y = w z + b, \quad u = w \bar y, \quad "
        r"\bar x = \frac{u - \langle u \rangle - z \langle u z \rangle}{\sqrt{\sigma^2 + \epsilon}}, \quad "
        r"\bar w = \sum \bar y z, \quad \bar b = \sum \bar y"
    )
    kind = "reduce"
    cases = (
        Case(Draw((3, 4)), Draw((4,)), Draw((4,)), normalized_shape=(4,)),
        Case(Draw((2, 3, 4)), Draw((3, 4)), Draw((3, 4)), normalized_shape=(3, 4)),
        Case(Draw((2, 3, 4)), Draw((4,)), normalized_shape=(4,), eps=0.5),
        Case(Draw((2, 3, 4)), normalized_shape=(4,)),
        Case(Draw((5,)), Draw((5,)), Draw((5,)), normalized_shape=(5,)),
        Case(Draw((0, 4)), Draw((4,)), Draw((4,)), normalized_shape=(4,)),
        Case(Draw((3, 0)), Draw((0,)), Draw((0,)), normalized_shape=(0,)),
    )
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(
        x: Array, weight: Array | float = 1.0, bias: Array | float = 0.0, *, normalized_shape: tuple[int, ...], eps: float = 1e-5
    ) -> Array:
        """The formula as printed."""
        xp, last = xp_of(x), tuple(range(-len(normalized_shape), 0))
        if 0 in x.shape:
            return x * weight + bias
        z = x - xp.mean(x, axis=last, keepdims=True)
        return z / xp.sqrt(xp.mean(z * z, axis=last, keepdims=True) + eps) * weight + bias

    def forward(self, x: Array, weight: Any = None, bias: Any = None, *, normalized_shape: tuple[int, ...], eps: float = 1e-5) -> Array:
        # Fused and in place, with sums by BLAS: 4 times as fast as a step an array.
        xp, n = xp_of(x), _extent("layer_norm", x, normalized_shape, weight=weight, bias=bias)
        rows = _rows(x, n)
        z = rows - _mean(rows)[:, None]
        scale = _mean_of_product(z, z)
        scale += eps
        xp.sqrt(scale, out=scale)
        xp.divide(1, scale, out=scale)
        z *= scale[:, None]
        self.z, self.scale = z, scale[:, None]
        self.weight = weight = _as(wide(weight), (n,)) if hasattr(weight, "shape") else None
        y = z * weight if weight is not None else xp.array(z)
        if bias is not None:
            y += _as(bias, (n,))
        return xp.asarray(_as(y, x.shape), dtype=x.dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, z, needs, shape = xp_of(g), self.z, self.needs, g.shape
        g = _as(wide(g), z.shape)
        dx = None
        if needs[0]:
            u = g * self.weight if self.weight is not None else xp.array(g)
            mean = _mean(u)[:, None]
            u -= z * _mean_of_product(u, z)[:, None]
            u -= mean
            u *= self.scale
            dx = _as(u, shape)
        if len(needs) == 1:
            return (dx,)
        extent = self.inputs[1].shape
        dw = _as(_over_rows(g, z), extent) if needs[1] else None
        if len(needs) == 2:
            return dx, dw
        return dx, dw, _as(xp.ones(g.shape[0], dtype=g.dtype) @ g, self.inputs[2].shape) if needs[2] else None


def layer_norm(
    input: TensorLike,
    normalized_shape: int | tuple[int, ...] | list[int],
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Bring every sample to mean 0 and variance 1 over its last axes, then scale and shift each of its entries.

    Shapes: input: (*, *normalized_shape), weight and bias: normalized_shape, y: as input

    Raises:
        ShapeError: the last axes of `input`, or `weight` or `bias`, have another shape.
        DTypeError: `input` holds integers, or `weight` or `bias` another kind of floats.

    >>> layer_norm([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]], (3,)).data.round(3)
    array([[-1.225,  0.   ,  1.225],
           [ 0.   ,  0.   ,  0.   ]], dtype=float32)
    """
    shape = _shape(normalized_shape)
    if bias is not None:
        return LayerNorm.apply(
            input, 1.0 if weight is None else beside(weight, input), beside(bias, input), normalized_shape=shape, eps=eps
        )
    if weight is not None:
        return LayerNorm.apply(input, beside(weight, input), normalized_shape=shape, eps=eps)
    return LayerNorm.apply(input, normalized_shape=shape, eps=eps)


class RMSNorm(Function):
    """y = w x / r, r = sqrt(mean of x^2 + eps);  dx = (u - z mean of u z) / r, u = w g, z = x / r, dw = sum of g z.

    Source: B. Zhang, R. Sennrich, Root Mean Square Layer Normalization, 2019, arXiv:1910.07467.
    """

    latex = (
        r"z = \frac{x}{r}, \quad r = \sqrt{\langle x^2 \rangle + \epsilon}, \quad y = w z, \quad u = w \bar y, \quad "
        r"\bar x = \frac{u - z \langle u z \rangle}{r}, \quad \bar w = \sum \bar y z"
    )
    kind = "reduce"
    cases = (
        Case(Draw((3, 4)), Draw((4,)), normalized_shape=(4,), eps=0.1),
        Case(Draw((2, 3, 4)), Draw((3, 4)), normalized_shape=(3, 4), eps=1e-5),
        Case(Draw((2, 3, 4)), normalized_shape=(4,), eps=1e-5),
        Case(Draw((5,)), Draw((5,)), normalized_shape=(5,), eps=1e-5),
        Case(Draw((0, 4)), Draw((4,)), normalized_shape=(4,), eps=1e-5),
        Case(Draw((3, 0)), Draw((0,)), normalized_shape=(0,), eps=1e-5),
    )
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(x: Array, weight: Array | float = 1.0, *, normalized_shape: tuple[int, ...], eps: float = 0.0) -> Array:
        """The formula as printed."""
        xp = xp_of(x)
        if 0 in x.shape:
            return x * weight
        return x / xp.sqrt(xp.mean(x * x, axis=tuple(range(-len(normalized_shape), 0)), keepdims=True) + eps) * weight

    def forward(self, x: Array, weight: Any = None, *, normalized_shape: tuple[int, ...], eps: float = 0.0) -> Array:
        xp, n = xp_of(x), _extent("rms_norm", x, normalized_shape, weight=weight)
        rows = _rows(x, n)
        scale = _mean_of_product(rows, rows)
        scale += eps
        xp.sqrt(scale, out=scale)
        xp.divide(1, scale, out=scale)
        self.scale = scale[:, None]
        self.z = rows * self.scale
        self.weight = None if weight is None else _as(wide(weight), (n,))
        y = xp.array(self.z) if self.weight is None else self.z * self.weight
        return xp.asarray(_as(y, x.shape), dtype=x.dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, z, needs, shape = xp_of(g), self.z, self.needs, g.shape
        g = _as(wide(g), z.shape)
        dx = None
        if needs[0]:
            u = g * self.weight if self.weight is not None else xp.array(g)
            u -= z * _mean_of_product(u, z)[:, None]
            u *= self.scale
            dx = _as(u, shape)
        if len(needs) == 1:
            return (dx,)
        return dx, _as(_over_rows(g, z), self.inputs[1].shape) if needs[1] else None


def rms_norm(
    input: TensorLike, normalized_shape: int | tuple[int, ...] | list[int], weight: TensorLike | None = None, eps: float | None = None
) -> Tensor:
    """Bring the mean square of every sample, over its last axes, to 1, then scale each of its entries.

    Without `eps` it is the spacing of floats at 1 in the kind that is computed in: 1.2e-7, for float64 2.2e-16.

    Shapes: input: (*, *normalized_shape), weight: normalized_shape, y: as input

    Raises:
        ShapeError: the last axes of `input`, or `weight`, have another shape.
        DTypeError: `input` holds integers, or `weight` another kind of floats.

    >>> rms_norm([3.0, 4.0], (2,)).data.round(3)
    array([0.849, 1.131], dtype=float32)
    """
    shape = _shape(normalized_shape)
    if eps is None:
        eps = 2.0**-52 if getattr(input, "dtype", float32) == float64 else 2.0**-23
    if weight is None:
        return RMSNorm.apply(input, normalized_shape=shape, eps=eps)
    return RMSNorm.apply(input, beside(weight, input), normalized_shape=shape, eps=eps)
