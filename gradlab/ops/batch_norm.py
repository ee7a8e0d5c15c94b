"""Normalising every channel over a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .channel import blocks, extent
from .dtype import beside, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

FORMS = (
    Case(Draw((3, 2)), Draw((2,)), Draw((2,))),
    Case(Draw((4, 2, 3)), Draw((2,)), eps=0.5),
    Case(Draw((2, 3, 2, 2)), Draw((3,)), Draw((3,))),
    Case(Draw((2, 2, 2, 1, 2))),
    Case(Draw((0, 2, 3)), Draw((2,)), Draw((2,))),
)


def _sums(x: Array) -> Array:
    """Per channel, the sum over batch and places, as products with ones: BLAS reads once, 3 times as fast as `sum`."""
    xp, (n, channels, places) = xp_of(x), x.shape
    by_sample = x[:, :, 0] if places == 1 else (x.reshape((n * channels, places)) @ xp.ones(places, dtype=x.dtype)).reshape((n, channels))
    return (xp.ones(n, dtype=x.dtype) @ by_sample).reshape((channels, 1))


def _sums_of_products(a: Array, b: Array) -> Array:
    """Per channel, the sum of a b over batch and places, without an array for the product where there are places."""
    xp, (n, channels, places) = xp_of(a), a.shape
    if places == 1:
        return _sums(a * b)
    by_sample = xp.einsum("ij,ij->i", a.reshape((n * channels, places)), b.reshape((n * channels, places)))
    return xp.sum(by_sample.reshape((n, channels)), axis=0).reshape((channels, 1))


def _per_channel(values: Any, shape: tuple[int, ...]) -> Any:
    """One number a channel, so that it broadcasts over batch and places; a plain number as it is."""
    return xp_of(values).reshape(wide(values), (shape[1], *[1] * (len(shape) - 2))) if hasattr(values, "shape") else values


class BatchNorm(Function):
    """y = w z + b, z = (x - mean) / s, s = sqrt(var + eps);  dx = w (g - mean of g - z mean of g z) / s, dw = sum of g z, db = sum of g.

    Mean, variance (with n below the line) and sums of a channel go over batch and places.

    Source: S. Ioffe, C. Szegedy, Batch Normalization, 2015, arXiv:1502.03167, algorithm 1.
    """

    latex = (
        r"z = \frac{x - \mu}{s}, \quad s = \sqrt{\sigma^2 + \epsilon}, \quad y = w z + b, \quad "
        r"\bar x = \frac{w}{s} \left(\bar y - \langle \bar y \rangle - z \langle \bar y z \rangle\right), \quad "
        r"\bar w = \sum \bar y z, \quad \bar b = \sum \bar y"
    )
    kind = "reduce"
    cases = FORMS
    reads = ("inputs",)
    fresh = True
    mean: Array | None = None

    @staticmethod
    def reference(x: Array, weight: Any = 1.0, bias: Any = 0.0, eps: float = 1e-5, running: Any = None, momentum: float = 0.1) -> Array:
        """The formula as printed."""
        xp, over = xp_of(x), (0, *range(2, x.ndim))
        weight, bias = _per_channel(weight, x.shape), _per_channel(bias, x.shape)
        if 0 in x.shape:
            return x * weight + bias
        z = x - xp.mean(x, axis=over, keepdims=True)
        return z / xp.sqrt(xp.mean(z * z, axis=over, keepdims=True) + eps) * weight + bias

    def forward(
        self, x: Array, weight: Any = None, bias: Any = None, eps: float = 1e-5, running: Any = None, momentum: float = 0.1
    ) -> Array:
        xp, shape = xp_of(x), extent("batch_norm", x, weight=weight, bias=bias)
        n = shape[0] * shape[2]
        if n == 1:
            need = "more than one value a channel, to have a variance"
            fix = "training=False" if running is not None else ""
            raise ShapeError(explain("batch_norm: one value a channel", got={"x": x.shape}, need=need, fix=fix))
        again, self.n = self.mean is not None, max(n, 1)
        self.x = rows = wide(x).reshape(shape)
        self.mean = mean = _sums(rows) / self.n
        var = xp.zeros((shape[1], 1), dtype=rows.dtype)
        for part in blocks(rows):
            z = rows[part] - mean
            var += _sums_of_products(z, z)
        var /= self.n
        if running is not None and n and not again:  # a node that runs again has counted already
            for kept, seen in zip(running, (mean[:, 0], var[:, 0] * (n / (n - 1))), strict=True):
                kept *= 1 - momentum
                kept += momentum * seen
        self.scale = scale = 1 / xp.sqrt(var + eps)
        self.weight = _per_channel(weight, shape) if hasattr(weight, "shape") else 1.0
        return _mapped(x, rows, mean, self.weight * scale, bias)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, x, needs, mean, scale = xp_of(g), self.x, self.needs, self.mean, self.scale
        rows = wide(g).reshape(x.shape)
        sums = _sums(rows)
        products = xp.zeros(scale.shape, dtype=x.dtype)
        if needs[0] or True in needs[1:2]:
            for part in blocks(x):
                products += _sums_of_products(x[part] - mean, rows[part])
            products *= scale  # the sums of g z
        dx = None
        if needs[0]:
            dx = xp.empty_like(x)
            slope, shift, factor = products * scale / -self.n, sums / self.n, self.weight * scale
            for part in blocks(x):
                d = dx[part]
                xp.subtract(x[part], mean, out=d)
                d *= slope
                d += rows[part]
                d -= shift
                d *= factor
            dx = dx.reshape(g.shape)
        return (dx, products[:, 0] if True in needs[1:2] else None, sums[:, 0] if True in needs[2:] else None)[: len(needs)]


def _mapped(x: Array, rows: Array, mean: Array, factor: Any, bias: Any) -> Array:
    """(x - mean) factor + bias in the shape and dtype of x, block by block."""
    xp = xp_of(x)
    y = xp.empty_like(rows)
    bias = _per_channel(bias, rows.shape) if hasattr(bias, "shape") else None
    for part in blocks(rows):
        v = y[part]
        xp.subtract(rows[part], mean, out=v)
        v *= factor
        if bias is not None:
            v += bias
    return xp.asarray(y.reshape(x.shape), dtype=x.dtype)


STATISTICS = ([0.5, -1.0], [2.0, 0.25])


class RunningNorm(Function):
    """y = w z + b, z = (x - m) / sqrt(v + eps), m and v given;  dx = w g / sqrt(v + eps), dw = sum of g z, db = sum of g."""

    latex = (
        r"z = \frac{x - m}{\sqrt{v + \epsilon}}, \quad y = w z + b, \quad "
        r"\bar x = \frac{w \bar y}{\sqrt{v + \epsilon}}, \quad \bar w = \sum \bar y z, \quad \bar b = \sum \bar y"
    )
    cases = (
        Case(Draw((3, 2)), Draw((2,)), Draw((2,)), running=STATISTICS),
        Case(Draw((1, 2)), running=STATISTICS),
        Case(Draw((2, 2, 3)), Draw((2,)), running=STATISTICS, eps=0.5),
        Case(Draw((0, 2)), Draw((2,)), Draw((2,)), running=STATISTICS),
    )
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(x: Array, weight: Any = 1.0, bias: Any = 0.0, *, running: Any, eps: float = 1e-5) -> Array:
        """The formula as printed."""
        xp = xp_of(x)
        m, v, weight, bias = [_per_channel(p, x.shape) for p in (*[xp.asarray(p) for p in running], weight, bias)]
        return (x - m) / xp.sqrt(v + eps) * weight + bias

    def forward(self, x: Array, weight: Any = None, bias: Any = None, *, running: Any, eps: float = 1e-5) -> Array:
        xp, shape = xp_of(x), extent("batch_norm", x, weight=weight, bias=bias)
        self.x = rows = wide(x).reshape(shape)
        mean, var = [_per_channel(xp.array(p, dtype=rows.dtype), shape) for p in running]  # copies: they may move on
        self.mean, self.scale = mean, 1 / xp.sqrt(var + eps)
        self.factor = self.scale * (_per_channel(weight, shape) if hasattr(weight, "shape") else 1.0)
        return _mapped(x, rows, mean, self.factor, bias)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        needs = self.needs
        rows = wide(g).reshape(self.x.shape)
        dx = (rows * self.factor).reshape(g.shape) if needs[0] else None
        dw = _sums_of_products((self.x - self.mean) * self.scale, rows)[:, 0] if True in needs[1:2] else None
        return (dx, dw, _sums(rows)[:, 0] if True in needs[2:] else None)[: len(needs)]


def _running(op: str, x: Any, mean: Any, var: Any, wanted: bool) -> Any:
    """The arrays of the running statistics, both or None.

    Raises:
        ArgumentError: one of two, or none where they are used.
        ShapeError: not one number a channel.
    """
    if (mean is None) != (var is None) or (wanted and mean is None):
        got = {"running_mean": "None" if mean is None else "given", "running_var": "None" if var is None else "given"}
        need = "both, to normalise with" if wanted else "both or none"
        raise ArgumentError(explain(f"{op}: running statistics are missing", got=got, need=need))
    if mean is None:
        return None
    arrays = [s.data if hasattr(s, "grad_fn") else as_array(s) for s in (mean, var)]
    extent(op, x, running_mean=arrays[0], running_var=arrays[1])
    return tuple(arrays)


def batch_norm(
    input: TensorLike,
    running_mean: TensorLike | None,
    running_var: TensorLike | None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Bring every channel to mean 0 and variance 1 over batch and places, then scale and shift it.

    In training by the statistics of this batch, and the running ones, where given, are moved towards them, in place and
    outside of the graph: r becomes (1 - momentum) r + momentum s, with n - 1 below the line of the variance. Otherwise by
    the running ones.

    Shapes: input: (batch, channel, *), all others: (channel), y: as input

    Raises:
        ShapeError: one value a channel in training; something that is not one number a channel.
        ArgumentError: running statistics that are needed are missing.
        DTypeError: `input` holds integers, or others are of another kind; float16 may go with float32.

    >>> batch_norm([[1.0], [3.0]], None, None, training=True).data.round(3)
    array([[-1.],
           [ 1.]], dtype=float32)
    """
    x = input if hasattr(input, "grad_fn") else as_array(input)
    params: dict[str, Any] = {"eps": eps}
    running = _running("batch_norm", x, running_mean, running_var, wanted=not training)
    if running is not None:
        params["running"] = running
    inputs: list[Any] = [x]
    if bias is not None:
        inputs += [1.0 if weight is None else beside(weight, x), beside(bias, x)]
    elif weight is not None:
        inputs.append(beside(weight, x))
    if not training:
        return RunningNorm.apply(*inputs, **params)
    y = BatchNorm.apply(*inputs, momentum=momentum, **params)
    for statistic in (running_mean, running_var):
        if hasattr(statistic, "bump"):
            statistic.bump()  # type: ignore[union-attr]
    return y
