"""Elementwise arithmetic; inputs broadcast, and `Function.pull` sums the gradients back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given
from ..function import Function
from .dtype import as_pytorch, floating
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _broadcasts(gap: float = 0.0) -> tuple[Case, ...]:
    """Two operands in every way they can meet; entries of the second stay `gap` away from 0."""
    shapes = (
        ((3, 4), (3, 4)),
        ((2, 3, 4), (4,)),
        ((1, 4), (2, 3, 1)),
        ((1, 1), (3,)),
        ((), (2, 3)),
        ((2, 3), ()),
        ((), ()),
        ((0, 3), (3,)),
    )
    return tuple(Case(Draw(a), Draw(b, gap=gap)) for a, b in shapes)


ONE_INPUT = (Case(Draw((3, 4))), Case(Draw((2, 3, 4))), Case(Draw(())), Case(Draw((0, 3))))


class Add(Broadcasting):
    """y = a + b;  da = g, db = g."""

    latex = r"y = a + b, \quad \bar a = \bar b = \bar y"
    cases = _broadcasts()
    aligns = True
    reads = ()

    def forward(self, a: Array, b: Array) -> Array:
        return a + b

    def backward(self, g: Array) -> tuple[Array, Array]:
        return g, g


def add(a: TensorLike, b: TensorLike) -> Tensor:
    """Add two tensors, broadcasting; `a + b`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> add([1.0, 2.0], 10.0).data
    array([11., 12.], dtype=float32)
    """
    return Add.apply(a, b)


class Sub(Broadcasting):
    """y = a - b;  da = g, db = -g."""

    latex = r"y = a - b, \quad \bar a = \bar y, \quad \bar b = -\bar y"
    cases = _broadcasts()
    aligns = True
    reads = ()

    def forward(self, a: Array, b: Array) -> Array:
        return a - b

    def backward(self, g: Array) -> tuple[Array, Array | None]:
        return g, -g if self.needs[1] else None


def sub(a: TensorLike, b: TensorLike) -> Tensor:
    """Subtract `b` from `a`, broadcasting; `a - b`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> sub(10.0, [1.0, 2.0]).data
    array([9., 8.], dtype=float32)
    """
    return Sub.apply(a, b)


class Mul(Broadcasting):
    """y = a b;  da = g b, db = g a."""

    latex = r"y = ab, \quad \bar a = \bar y b, \quad \bar b = \bar y a"
    cases = _broadcasts()
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Array, b: Array) -> Array:
        self.a, self.b = a, b
        return a * b

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        for_a, for_b = self.needs
        return g * self.b if for_a else None, g * self.a if for_b else None


def mul(a: TensorLike, b: TensorLike) -> Tensor:
    """Multiply two tensors, broadcasting; `a * b`.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> mul([1.0, 2.0], [[3.0], [4.0]]).data
    array([[3., 6.],
           [4., 8.]], dtype=float32)
    """
    return Mul.apply(a, b)


NUMBERS = {float, int, bool}


class Div(Broadcasting):
    """y = a / b;  da = g / b, db = -g a / b^2."""

    latex = r"y = \frac{a}{b}, \quad \bar a = \frac{\bar y}{b}, \quad \bar b = -\bar y \frac{a}{b^2}"
    cases = _broadcasts(gap=0.5)
    aligns = True
    fresh = True

    @as_pytorch
    def forward(self, a: Any, b: Any) -> Array:
        # A Python number stays one, so that it does not widen; integer tensors become float32, not NumPy's float64.
        self.b = b if type(b) in NUMBERS else floating(b)
        self.y = (a if type(a) in NUMBERS else floating(a)) / self.b
        return self.y

    @as_pytorch
    def backward(self, g: Array) -> tuple[Array, Array | None]:
        da = g / self.b
        return da, -da * self.y if self.needs[1] else None


def div(a: TensorLike, b: TensorLike) -> Tensor:
    """Divide `a` by `b`, broadcasting; `a / b`. Integers give float32.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> div([1, 2], 2).data
    array([0.5, 1. ], dtype=float32)
    """
    return Div.apply(a, b)


class Neg(Function):
    """y = -x;  dx = -g."""

    latex = r"y = -x, \quad \bar x = -\bar y"
    cases = ONE_INPUT
    reads = ()
    fresh = True

    def forward(self, x: Array) -> Array:
        return -x

    def backward(self, g: Array) -> Array:
        return -g


def neg(x: TensorLike) -> Tensor:
    """Change the sign; `-x`.

    Shapes: x: (*), y: (*)

    >>> neg([1.0, -2.0]).data
    array([-1.,  2.], dtype=float32)
    """
    return Neg.apply(x)


class Abs(Function):
    """y = |x|;  dx = g sign(x), which is 0 at 0."""

    latex = r"y = |x|, \quad \bar x = \bar y\, \mathrm{sign}(x)"
    cases = tuple(Case(Draw(c.inputs[0].shape, gap=0.1)) for c in ONE_INPUT)
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array) -> Array:
        self.x = x
        return abs_of(x)

    def backward(self, g: Array) -> Array:
        return g * xp_of(g).sign(self.x)


abs_of = abs  # the built-in, kept under a name of its own: below, `abs` is the op


def abs(x: TensorLike) -> Tensor:
    """Take the absolute value.

    Shapes: x: (*), y: (*)

    >>> abs([1.0, -2.0]).data
    array([1., 2.], dtype=float32)
    """
    return Abs.apply(x)


TIES = Case(Given([[1.0, 2.0, 3.0], [0.0, 5.0, -1.0]]), Given([1.0, 2.0, -1.0]))  # central differences give half to each


class Maximum(Broadcasting):
    """y = max(a, b);  g goes to the larger of the two, half to each at a tie."""

    latex = r"y = \max(a, b), \quad \bar a = \bar y\,[a > b] + \tfrac12 \bar y\,[a = b]"
    cases = (*_broadcasts(), TIES)
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Array, b: Array) -> Array:
        self.a, self.b = a, b
        return xp_of(b if xp_of(a).ndim(a) == 0 else a).maximum(a, b)

    def backward(self, g: Array) -> tuple[Array, Array]:
        where, a, b = xp_of(g).where, self.a, self.b
        tie, half = a == b, 0.5 * g
        return where(tie, half, where(a < b, 0.0, g)), where(tie, half, where(b < a, 0.0, g))


def maximum(a: TensorLike, b: TensorLike) -> Tensor:
    """Take the larger of two entries, broadcasting; NaN wins. At a tie each side gets half the gradient.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> maximum([1.0, 5.0], 3.0).data
    array([3., 5.], dtype=float32)
    """
    return Maximum.apply(a, b)


class Minimum(Broadcasting):
    """y = min(a, b);  g goes to the smaller of the two, half to each at a tie."""

    latex = r"y = \min(a, b), \quad \bar a = \bar y\,[a < b] + \tfrac12 \bar y\,[a = b]"
    cases = (*_broadcasts(), TIES)
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Array, b: Array) -> Array:
        self.a, self.b = a, b
        return xp_of(b if xp_of(a).ndim(a) == 0 else a).minimum(a, b)

    def backward(self, g: Array) -> tuple[Array, Array]:
        where, a, b = xp_of(g).where, self.a, self.b
        tie, half = a == b, 0.5 * g
        return where(tie, half, where(a > b, 0.0, g)), where(tie, half, where(b > a, 0.0, g))


def minimum(a: TensorLike, b: TensorLike) -> Tensor:
    """Take the smaller of two entries, broadcasting; NaN wins. At a tie each side gets half the gradient.

    Shapes: a: (*), b: (*), y: the shape both broadcast to

    >>> minimum([1.0, 5.0], 3.0).data
    array([1., 3.], dtype=float32)
    """
    return Minimum.apply(a, b)
