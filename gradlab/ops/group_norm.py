"""Normalising every sample over groups of its channels, or each channel of it by itself."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import whole
from .batch_norm import batch_norm
from .channel import blocks, extent
from .dtype import beside, wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _column(values: Any) -> Any:
    return wide(values)[:, None] if hasattr(values, "shape") else None


class GroupNorm(Function):
    """y = w z + b, z = (x - mean) / s, s = sqrt(var + eps);  dx = (u - mean of u - z mean of u z) / s, u = w g, dw = sum of g z.

    Mean and variance are those of a group of channels of one sample, the variance with n below the line.

    Source: Y. Wu, K. He, Group Normalization, 2018, arXiv:1803.08494.
    """

    latex = (
        r"z = \frac{x - \mu}{s}, \quad s = \sqrt{\sigma^2 + \epsilon}, \quad y = w z + b, \quad u = w \bar y, \quad "
        r"\bar x = \frac{u - \langle u \rangle - z \langle u z \rangle}{s}, \quad "
        r"\bar w = \sum \bar y z, \quad \bar b = \sum \bar y"
    )
    kind = "reduce"
    cases = (
        Case(Draw((2, 4, 3)), Draw((4,)), Draw((4,)), groups=2),
        Case(Draw((2, 4)), Draw((4,)), Draw((4,)), groups=2, eps=0.5),
        Case(Draw((2, 3, 2, 2)), Draw((3,)), groups=3),
        Case(Draw((3, 2, 2)), groups=1),
        Case(Draw((0, 4, 3)), Draw((4,)), Draw((4,)), groups=2),
        Case(Draw((2, 4, 0)), Draw((4,)), Draw((4,)), groups=2),
    )
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(
        x: Array, weight: Any = 1.0, bias: Any = 0.0, *, groups: int, eps: float = 1e-5, running: Any = None, momentum: float = 0.1
    ) -> Array:
        """The formula as printed."""
        xp = xp_of(x)
        weight, bias = [p.reshape((x.shape[1], *[1] * (x.ndim - 2))) if hasattr(p, "shape") else p for p in (weight, bias)]
        if 0 in x.shape:
            return x * weight + bias
        rows = x.reshape((x.shape[0], groups, -1))
        z = rows - xp.mean(rows, axis=-1, keepdims=True)
        z = z / xp.sqrt(xp.mean(z * z, axis=-1, keepdims=True) + eps)
        return z.reshape(x.shape) * weight + bias

    def forward(
        self,
        x: Array,
        weight: Any = None,
        bias: Any = None,
        *,
        groups: int,
        eps: float = 1e-5,
        running: Any = None,
        momentum: float = 0.1,
    ) -> Array:
        # Block by block in place, with sums by BLAS and einsum; z is computed again in backward.
        xp, (n, channels, places) = xp_of(x), extent("group_norm", x, groups, weight=weight, bias=bias)
        self.x = rows = wide(x).reshape((n, channels, places))
        self.groups, size = groups, max(channels // groups * places, 1)
        self.mean, var = [xp.empty(n * groups, dtype=rows.dtype) for _ in range(2)]
        self.weight, bias = _column(weight), _column(bias)
        y = xp.empty(rows.shape, dtype=rows.dtype)  # in C order: the same memory is looked at by group
        for part in blocks(rows):
            at, grouped, v = slice(part.start * groups, part.stop * groups), self._by_group(rows[part]), y[part]
            z = self._by_group(v)
            self.mean[at] = mean = grouped @ xp.ones(grouped.shape[1], dtype=rows.dtype) / size
            xp.subtract(grouped, mean[:, None], out=z)
            var[at] = variance = xp.einsum("ij,ij->i", z, z) / size
            z /= xp.sqrt(variance + eps)[:, None]
            if self.weight is not None:
                v *= self.weight
            if bias is not None:
                v += bias
        self.scale = 1 / xp.sqrt(var + eps)
        if running is not None and n:
            self._move(running, momentum, self.mean, var * (size / (size - 1)))
        return xp.asarray(y.reshape(x.shape), dtype=x.dtype)

    def _by_group(self, x: Array) -> Array:
        """(sample, channel, place) as (sample group, entry)."""
        n, channels, places = x.shape
        return x.reshape((n * self.groups, channels // self.groups * places))

    def _move(self, running: Any, momentum: float, *seen: Array) -> None:
        """Move the running statistics of every channel to the mean over the samples of what was seen."""
        if "moved" not in self.__dict__:  # a node that runs again has counted already
            self.moved = True
            for kept, values in zip(running, seen, strict=True):
                kept *= 1 - momentum
                kept += momentum * xp_of(values).mean(values.reshape((-1, self.groups)), axis=0)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, x, needs, groups = xp_of(g), self.x, self.needs, self.groups
        channels, places = x.shape[1:]
        rows, size = wide(g).reshape(x.shape), max(channels // groups * places, 1)
        dx = xp.empty(x.shape, dtype=x.dtype) if needs[0] else None
        sums, products = [xp.zeros((1, channels), dtype=x.dtype) for _ in range(2)]
        for part in blocks(x):
            at, some = slice(part.start * groups, part.stop * groups), rows[part]
            scale = self.scale[at, None]
            z = (self._by_group(x[part]) - self.mean[at, None]) * scale
            # Per sample and channel; the sums over a group, and over the batch, are sums of these.
            by_channel = some.reshape((some.shape[0] * channels, places))
            of_g = (by_channel @ xp.ones(places, dtype=x.dtype)).reshape((-1, channels))
            of_gz = xp.einsum("ij,ij->i", by_channel, z.reshape(by_channel.shape)).reshape((-1, channels))
            sums += xp.sum(of_g, axis=0)
            products += xp.sum(of_gz, axis=0)
            if dx is not None:
                d = dx[part]
                d[...] = some
                if self.weight is not None:
                    d *= self.weight
                    of_g, of_gz = of_g * self.weight[:, 0], of_gz * self.weight[:, 0]
                mean, slope = [xp.sum(s.reshape((-1, channels // groups)), axis=1, keepdims=True) / size for s in (of_g, of_gz)]
                z *= slope
                z += mean
                d = self._by_group(d)
                d -= z
                d *= scale
        dx = None if dx is None else dx.reshape(g.shape)
        return (dx, products[0] if True in needs[1:2] else None, sums[0] if True in needs[2:] else None)[: len(needs)]


def group_norm(
    input: TensorLike, num_groups: int, weight: TensorLike | None = None, bias: TensorLike | None = None, eps: float = 1e-5
) -> Tensor:
    """Bring every sample to mean 0 and variance 1 over each group of its channels, then scale and shift each channel.

    Shapes: input: (batch, channel, *), weight and bias: (channel), y: as input

    Raises:
        ShapeError: the channels don't make so many groups; one value a group; a weight that is not one number a channel.
        DTypeError: `input` holds integers, or others are of another kind; float16 may go with float32.

    >>> group_norm([[1.0, 3.0, 5.0, 5.0]], 2).data.round(3)
    array([[-1.,  1.,  0.,  0.]], dtype=float32)
    """
    given: Any = input if hasattr(input, "grad_fn") else as_array(input)
    shape, groups = given.shape, whole("num_groups", num_groups)
    if len(shape) > 1 and groups and shape[0] * shape[1] // groups * prod(shape[2:]) == 1:
        raise ShapeError(explain("group_norm: one value a group", got={"x": shape, "num_groups": groups}, need="more, to have a variance"))
    return GroupNorm.apply(*_inputs(given, weight, bias), groups=groups, eps=eps)


def _inputs(x: Any, weight: Any, bias: Any) -> list[Any]:
    if bias is not None:
        return [x, 1.0 if weight is None else beside(weight, x), beside(bias, x)]
    return [x] if weight is None else [x, beside(weight, x)]


def instance_norm(
    input: TensorLike,
    running_mean: TensorLike | None = None,
    running_var: TensorLike | None = None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Bring each channel of every sample to mean 0 and variance 1 over its places, then scale and shift it.

    Running statistics, where given, are moved as in `batch_norm`, towards the mean of those of the samples; without
    `use_input_stats` they are what is normalised with, and this is `batch_norm` outside of training.

    Shapes: input: (batch, channel, *), all others: (channel), y: as input

    Raises:
        ShapeError: one place only; something that is not one number a channel.
        ArgumentError: running statistics that are needed are missing.
        DTypeError: `input` holds integers, or others are of another kind; float16 may go with float32.

    >>> instance_norm([[[1.0, 3.0], [5.0, 5.0]]]).data.round(3)
    array([[[-1.,  1.],
            [ 0.,  0.]]], dtype=float32)
    """
    data: Any = input if hasattr(input, "grad_fn") else as_array(input)
    shape = data.shape
    if not use_input_stats:
        return batch_norm(data, running_mean, running_var, weight, bias, eps=eps)
    if len(shape) > 1 and prod(shape[2:]) == 1:
        raise ShapeError(explain("instance_norm: one place", got={"x": shape}, need="more than one place, to have a variance"))
    params: dict[str, Any] = {"groups": shape[1] if len(shape) > 1 and shape[1] else 1, "eps": eps}
    given: list[Any] = [s for s in (running_mean, running_var) if s is not None]
    if given:
        if len(given) == 1:
            raise ArgumentError(explain("instance_norm: running statistics are missing", got={"given": 1}, need="both or none"))
        arrays = [s.data if hasattr(s, "grad_fn") else as_array(s) for s in given]
        extent("instance_norm", data, params["groups"], running_mean=arrays[0], running_var=arrays[1])
        params |= {"running": tuple(arrays), "momentum": momentum}
    y = GroupNorm.apply(*_inputs(data, weight, bias), **params)
    for statistic in given:
        if hasattr(statistic, "bump"):
            statistic.bump()
    return y
