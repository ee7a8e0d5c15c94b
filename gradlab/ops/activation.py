"""Elementwise non-linearities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..function import Function
from .dtype import floating, kept
from .logistic import logistic, softplus_of

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

SHAPES = ((3, 4), (2, 3, 4), (), (0, 3))
SMOOTH = (*[Case(Draw(s, -6.0, 6.0)) for s in SHAPES], Case(Draw((4,), 12.0, 14.0)), Case(Draw((4,), -14.0, -12.0)))
KINKED = tuple(Case(Draw(s, gap=0.1)) for s in SHAPES)  # a difference quotient across a kink is no derivative


class Sigmoid(Function):
    """y = 1 / (1 + e^-x);  dx = g y (1 - y)."""

    latex = r"\sigma(x) = \frac{1}{1 + e^{-x}}, \quad \bar x = \bar y\, y (1 - y)"
    cases = SMOOTH
    reads = ("output",)
    fresh = True

    @staticmethod
    def reference(x: Array) -> Array:
        """The formula as printed."""
        return 1 / (1 + xp_of(x).exp(-x))

    def forward(self, x: Array) -> Array:
        self.y = logistic(floating(x))
        return self.y

    def backward(self, g: Array) -> Array:
        return g * (self.y * (1 - self.y))


def sigmoid(x: TensorLike) -> Tensor:
    """Squash every value into (0, 1).

    Shapes: x: (*), y: (*)

    >>> sigmoid([0.0, 2.0]).data.round(2)
    array([0.5 , 0.88], dtype=float32)
    """
    return Sigmoid.apply(x)


class ReLU(Function):
    """y = max(x, 0);  dx = g where x > 0, else 0."""

    latex = r"y = \max(x, 0), \quad \bar x = \bar y\,[x > 0]"
    cases = KINKED
    reads = ("output",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).maximum(x, 0)
        return self.y

    def backward(self, g: Array) -> Array:
        return kept(g, self.y > 0)


def relu(x: TensorLike) -> Tensor:
    """Set negative values to 0; NaN stays NaN. The gradient at 0 is 0.

    Shapes: x: (*), y: (*)

    >>> relu([-1.0, 2.0]).data
    array([0., 2.], dtype=float32)
    """
    return ReLU.apply(x)


class LeakyReLU(Function):
    """y = x where x > 0, else s x;  dx = g where x > 0, else s g."""

    latex = r"y = x\,[x > 0] + s\,x\,[x \le 0], \quad \bar x = \bar y \left([x > 0] + s\,[x \le 0]\right)"
    cases = (*KINKED, Case(Draw((3,), gap=0.1), negative_slope=0.3))
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, negative_slope: float = 0.01) -> Array:
        self.x, self.slope = floating(x), negative_slope
        return xp_of(x).where(self.x > 0, self.x, self.x * negative_slope)

    def backward(self, g: Array) -> Array:
        return xp_of(g).where(self.x > 0, g, g * self.slope)


def leaky_relu(x: TensorLike, negative_slope: float = 0.01) -> Tensor:
    """Scale negative values down instead of dropping them. The gradient at 0 is `negative_slope`.

    Shapes: x: (*), y: (*)

    >>> leaky_relu([-1.0, 2.0], 0.25).data
    array([-0.25,  2.  ], dtype=float32)
    """
    return LeakyReLU.apply(x, negative_slope=negative_slope)


class SiLU(Function):
    """y = x s with s = sigmoid(x);  dx = g s (1 + x (1 - s))."""

    latex = r"y = x\,\sigma(x), \quad \bar x = \bar y\,\sigma(x) \left(1 + x (1 - \sigma(x))\right)"
    cases = SMOOTH
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        self.s = logistic(self.x)
        return self.x * self.s

    def backward(self, g: Array) -> Array:
        return g * (self.s * (1 + self.x * (1 - self.s)))


def silu(x: TensorLike) -> Tensor:
    """Weigh every value by its own sigmoid; also called swish.

    Shapes: x: (*), y: (*)

    >>> silu([-1.0, 0.0, 2.0]).data.round(3)
    array([-0.269,  0.   ,  1.762], dtype=float32)
    """
    return SiLU.apply(x)


class Softplus(Function):
    """y = log(1 + e^(b x)) / b;  dx = g sigmoid(b x)."""

    latex = r"y = \tfrac{1}{\beta} \log\left(1 + e^{\beta x}\right), \quad \bar x = \bar y\,\sigma(\beta x)"
    cases = (*SMOOTH, Case(Draw((3,)), beta=2.0))
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, beta: float = 1.0) -> Array:
        self.z = floating(x) * beta
        return softplus_of(self.z) / beta

    def backward(self, g: Array) -> Array:
        return g * logistic(self.z)


def softplus(x: TensorLike, beta: float = 1.0) -> Tensor:
    """Bend relu into a smooth curve; the larger `beta`, the sharper.

    Shapes: x: (*), y: (*)

    >>> softplus([-100.0, 0.0, 100.0]).data.round(3)
    array([  0.   ,   0.693, 100.   ], dtype=float32)
    """
    return Softplus.apply(x, beta=beta)


class LogSigmoid(Function):
    """y = log(1 / (1 + e^-x));  dx = g sigmoid(-x)."""

    latex = r"y = \log \sigma(x), \quad \bar x = \bar y\,\sigma(-x)"
    cases = SMOOTH
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.x = floating(x)
        return -softplus_of(-self.x)

    def backward(self, g: Array) -> Array:
        return g * logistic(-self.x)


def logsigmoid(x: TensorLike) -> Tensor:
    """Take the logarithm of the sigmoid, right also where the sigmoid is too small to be a float.

    Shapes: x: (*), y: (*)

    >>> logsigmoid([-800.0, 800.0]).data
    array([-800.,   -0.], dtype=float32)
    """
    return LogSigmoid.apply(x)
