"""Rectifiers: straight lines with a bend at 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, generator, total, xp_of
from ..cases import Case, Draw, Given
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import not_in_place
from .casework import one_input
from .dtype import floating, kept, need_one_dtype, numbers

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class ReLU(Function):
    """y = max(x, 0);  dx = g where x > 0, else 0."""

    latex = r"y = \max(x, 0), \quad \bar x = \bar y\,[x > 0]"
    cases = one_input(gap=0.1)
    reads = ("output",)
    exact = True
    fresh = True

    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).maximum(numbers(x), 0)
        return self.y

    def backward(self, g: Array) -> Array:
        return kept(g, self.y != 0)  # above 0, or NaN


def relu(input: TensorLike, inplace: bool = False) -> Tensor:
    """Set negative values to 0; NaN stays NaN. The gradient at 0 is 0.

    Shapes: input: (*), y: (*)

    Raises:
        KeywordError: `inplace` is asked for.

    >>> relu([-1.0, 2.0]).data
    array([0., 2.], dtype=float32)
    """
    not_in_place("relu", inplace)
    return ReLU.apply(input)


class LeakyReLU(Function):
    """y = x where x > 0, else s x;  dx = g where x > 0, else s g."""

    latex = r"y = x\,[x > 0] + s\,x\,[x \le 0], \quad \bar x = \bar y \left([x > 0] + s\,[x \le 0]\right)"
    cases = (*one_input(gap=0.1), Case(Draw((3,), gap=0.1), negative_slope=0.3), Case(Draw((3,), gap=0.1), negative_slope=-1.5))
    reads = ("inputs",)
    exact = True
    fresh = True

    @staticmethod
    def reference(x: Array, negative_slope: float = 0.01) -> Array:
        """The formula as printed."""
        return xp_of(x).where(x > 0, x, x * negative_slope)

    def forward(self, x: Array, negative_slope: float = 0.01) -> Array:
        self.x = x = floating(x)
        self.slope, self.usual = negative_slope, 0 < negative_slope <= 1
        # The larger of two is 4 times as fast as a choice, whose branches no processor can foresee.
        return xp_of(x).maximum(x, x * negative_slope) if self.usual else self.reference(x, negative_slope)

    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        if self.usual:
            return g * xp.maximum(xp.asarray(self.x > 0, dtype=g.dtype), self.slope)
        return xp.where(self.x > 0, g, g * self.slope)


def leaky_relu(input: TensorLike, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Scale negative values down instead of dropping them. The gradient at 0 is `negative_slope`.

    Shapes: input: (*), y: (*)

    Raises:
        KeywordError: `inplace` is asked for.

    >>> leaky_relu([-1.0, 2.0], 0.25).data
    array([-0.25,  2.  ], dtype=float32)
    """
    not_in_place("leaky_relu", inplace)
    return LeakyReLU.apply(input) if negative_slope == 0.01 else LeakyReLU.apply(input, negative_slope=negative_slope)


class PReLU(Function):
    """y = x where x > 0, else w x, one w a channel (axis 1);  dx = g or w g, dw = sum of g x where x <= 0."""

    latex = (
        r"y = x\,[x > 0] + w_c\,x\,[x \le 0], \quad \bar x = \bar y \left([x > 0] + w_c\,[x \le 0]\right), "
        r"\quad \bar w_c = \sum_{x \in c} \bar y\,x\,[x \le 0]"
    )
    cases = (
        Case(Draw((3, 4), gap=0.1), Draw((4,))),
        Case(Draw((2, 3, 4), gap=0.1), Draw((3,))),
        Case(Draw((2, 3, 4), gap=0.1), Draw((1,))),
        Case(Draw((5,), gap=0.1), Draw((1,))),
        Case(Draw(()), Draw(())),
        Case(Draw((0, 3)), Draw((3,))),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, w: Array) -> Array:
        x, w = floating(x), floating(w)
        need_one_dtype("prelu", x=x, weight=w)
        channels = x.shape[1] if x.ndim > 1 else 1
        if w.shape not in ((), (1,), (channels,)):
            need = f"one number, or one a channel: ({channels},)"
            raise ShapeError(explain("prelu: the slopes don't fit the channels", got={"x": x.shape, "weight": w.shape}, need=need))
        xp, self.x, self.shape = xp_of(x), x, w.shape
        self.w = w.reshape((-1,) + (1,) * (x.ndim - 2)) if x.ndim > 1 else w.reshape(())
        return xp.where(x > 0, x, self.w * x)

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        xp, x, dx, dw = xp_of(g), self.x, None, None
        if self.needs[0]:
            dx = xp.where(x > 0, g, self.w * g)
        if self.needs[1]:
            axes = None if len(self.shape) == 0 or self.shape[0] == 1 else (0, *range(2, x.ndim))
            dw = total(kept(g * x, ~(x > 0)), axes).reshape(self.shape)
        return dx, dw


def prelu(input: TensorLike, weight: TensorLike) -> Tensor:
    """Scale negative values by a slope that is learned: one for all, or one for each channel, which is axis 1.

    Shapes: input: (batch, channel, *), weight: (channel,) or (1,), y: as input

    Raises:
        ShapeError: there are other slopes than channels.
        DTypeError: `input` and `weight` have two dtypes.

    >>> prelu([[-1.0, -2.0]], [0.5, 0.25]).data
    array([[-0.5, -0.5]], dtype=float32)
    """
    return PReLU.apply(input, weight)


class RReLU(Function):
    """y = x where x >= 0, else s x with a drawn s of each entry;  dx = g where x >= 0, else s g."""

    latex = r"y = x\,[x \ge 0] + s\,x\,[x < 0], \quad s \sim U(l, u), \quad \bar x = \bar y \left([x \ge 0] + s\,[x < 0]\right)"
    cases = one_input(gap=0.1, lower=0.25, upper=0.25)
    reads = ()
    fresh = True
    slope: Array | None = None

    def forward(self, x: Array, lower: float, upper: float) -> Array:
        xp, x = xp_of(x), floating(x)
        if self.slope is None:  # a node that runs again keeps what it drew
            drawn = xp.asarray(generator().uniform(lower, upper, x.shape), dtype=x.dtype)
            self.slope = xp.where(x < 0, drawn, xp.asarray(1.0, dtype=x.dtype))
        return x * self.slope

    def backward(self, g: Array) -> Array:
        return g * self.slope


def rrelu(input: TensorLike, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False) -> Tensor:
    """Scale each negative value by a slope drawn evenly from `lower` to `upper` in training, by their mean otherwise.

    Shapes: input: (*), y: (*)

    Raises:
        ArgumentError: `lower` is above `upper`.
        KeywordError: `inplace` is asked for.

    >>> rrelu([-1.0, 2.0], lower=0.25, upper=0.75).data
    array([-0.5,  2. ], dtype=float32)
    """
    not_in_place("rrelu", inplace)
    if not lower <= upper:
        raise ArgumentError(
            explain("rrelu: the bounds are the wrong way round", got={"lower": lower, "upper": upper}, need="lower <= upper")
        )
    return RReLU.apply(input, lower=lower, upper=upper) if training else LeakyReLU.apply(input, negative_slope=(lower + upper) / 2)


class Threshold(Function):
    """y = x where x > t, else a number v;  dx = g where x > t, else 0."""

    latex = r"y = x\,[x > t] + v\,[x \le t], \quad \bar x = \bar y\,[x > t]"
    cases = (*one_input(gap=0.1, threshold=0.0, value=-3.0), Case(Given([0.2, 1.7, -1.0]), threshold=1.5, value=0.5))
    reads = ()
    fresh = True

    def forward(self, x: Array, threshold: float, value: float) -> Array:
        x = numbers(x)
        self.above = ~(x <= threshold)
        return xp_of(x).where(self.above, x, xp_of(x).asarray(value, dtype=x.dtype))

    def backward(self, g: Array) -> Array:
        return kept(g, self.above)


def threshold(input: TensorLike, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Keep what is above `threshold`, and replace the rest by `value`.

    Shapes: input: (*), y: (*)

    Raises:
        KeywordError: `inplace` is asked for.

    >>> threshold([-1.0, 2.0], 0.0, 9.0).data
    array([9., 2.], dtype=float32)
    """
    not_in_place("threshold", inplace)
    return Threshold.apply(input, threshold=threshold, value=value)
