"""S-shaped curves from one level to another, their inverse and their integrals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given
from ..function import Function
from .casework import one_input
from .dtype import as_pytorch, floating, kept
from .logistic import logistic, softplus_of

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

SMOOTH = (*one_input(-6.0, 6.0), Case(Draw((4,), 12.0, 14.0)), Case(Draw((4,), -14.0, -12.0)))


class Sigmoid(Function):
    """y = 1 / (1 + e^-x);  dx = g y (1 - y)."""

    latex = r"\sigma(x) = \frac{1}{1 + e^{-x}}, \quad \bar x = \bar y\, y (1 - y)"
    cases = SMOOTH
    reads = ("output",)
    exact = True
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


def sigmoid(input: TensorLike) -> Tensor:
    """Squash every value into (0, 1).

    Shapes: input: (*), y: (*)

    >>> sigmoid([0.0, 2.0]).data.round(2)
    array([0.5 , 0.88], dtype=float32)
    """
    return Sigmoid.apply(input)


class Logit(Function):
    """y = ln(x / (1 - x)), x first moved into [e, 1 - e];  dx = g / (x (1 - x)), 0 where x was moved."""

    latex = r"y = \ln \frac{x}{1 - x}, \quad \bar x = \frac{\bar y}{x (1 - x)}"
    cases = (*one_input(0.1, 0.9), Case(Given([0.05, 0.5, 0.97]), eps=0.1))
    reads = ("inputs",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array, eps: float | None = None) -> Array:
        self.x = x = floating(x)
        self.eps = eps
        x = x if eps is None else xp_of(x).clip(x, eps, 1 - eps)
        return xp_of(x).log(x / (1 - x))

    @as_pytorch
    def backward(self, g: Array) -> Array:
        x, eps = self.x, self.eps
        if eps is None:
            return xp_of(g).where((x < 0) | (x > 1), xp_of(g).nan, g / (x * (1 - x)))
        return kept(g / (x * (1 - x)), ~((x < eps) | (x > 1 - eps)))


def logit(input: TensorLike, eps: float | None = None) -> Tensor:
    """Take the number whose sigmoid is `input`; NaN outside of 0 to 1, unless `eps` moves it to eps or 1 - eps.

    Shapes: input: (*), y: (*)

    >>> logit([0.5, 0.88]).data.round(3)
    array([0.   , 1.992], dtype=float32)
    """
    return Logit.apply(input, eps=eps) if eps is not None else Logit.apply(input)


class Softplus(Function):
    """y = log(1 + e^(b x)) / b, x where b x > threshold;  dx = g sigmoid(b x), g there."""

    latex = r"y = \tfrac{1}{\beta} \log\left(1 + e^{\beta x}\right), \quad \bar x = \bar y\,\sigma(\beta x)"
    cases = (*SMOOTH, Case(Draw((3,)), beta=2.0), Case(Given([-1.0, 0.5, 2.0]), beta=2.0, threshold=1.5))
    reads = ("inputs",)
    exact = True
    fresh = True

    def forward(self, x: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
        x = floating(x)
        self.z, self.threshold = x * beta, threshold
        return xp_of(x).where(self.z > threshold, x, softplus_of(self.z) / beta)

    def backward(self, g: Array) -> Array:
        return xp_of(g).where(self.z > self.threshold, g, g * logistic(self.z))


def softplus(input: TensorLike, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Bend relu into a smooth curve; the larger `beta`, the sharper. Where `beta * input` is above `threshold` it is `input` itself.

    Shapes: input: (*), y: (*)

    >>> softplus([-100.0, 0.0, 100.0]).data.round(3)
    array([  0.   ,   0.693, 100.   ], dtype=float32)
    """
    return Softplus.apply(input) if beta == 1 and threshold == 20 else Softplus.apply(input, beta=beta, threshold=threshold)


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


def logsigmoid(input: TensorLike) -> Tensor:
    """Take the logarithm of the sigmoid, right also where the sigmoid is too small to be a float.

    Shapes: input: (*), y: (*)

    >>> logsigmoid([-800.0, 800.0]).data
    array([-800.,   -0.], dtype=float32)
    """
    return LogSigmoid.apply(input)


class Softsign(Function):
    """y = x / (1 + |x|);  dx = g / (1 + |x|)^2."""

    latex = r"y = \frac{x}{1 + |x|}, \quad \bar x = \frac{\bar y}{(1 + |x|)^2}"
    cases = one_input(-6.0, 6.0, 0.01)
    reads = ()
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        x = floating(x)
        self.d = 1 + xp_of(x).abs(x)
        return x / self.d

    def backward(self, g: Array) -> Array:
        return g / self.d / self.d


def softsign(input: TensorLike) -> Tensor:
    """Squash every value into (-1, 1), more slowly than tanh.

    Shapes: input: (*), y: (*)

    >>> softsign([-1.0, 3.0]).data
    array([-0.5 ,  0.75], dtype=float32)
    """
    return Softsign.apply(input)
