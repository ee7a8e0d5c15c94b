"""Powers and roots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, explain
from ..function import Function
from .casework import broadcasts, one_input
from .dtype import NUMBERS, as_pytorch, floating, floats, kept, need_no_booleans, numbers
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _power(a: Any, b: Any) -> Any:
    """a^b. A cube and an inverse square are products: the general power takes 5 times as long."""
    if type(b) in NUMBERS and b in (3, -2) and a.dtype.kind == "f":
        return a * a * a if b == 3 else 1 / (a * a)
    return a**b


class Pow(Broadcasting):
    """y = a^b;  da = g b a^(b-1), db = g y log a (0 where a is 0 and b >= 0)."""

    latex = r"y = a^b, \quad \bar a = \bar y\, b\, a^{b-1}, \quad \bar b = \bar y\, y \log a"
    cases = (
        Case(Draw((3, 4), 0.5, 2.0), Draw((3, 4))),
        Case(Draw((2, 3, 4), 0.5, 2.0), Draw((4,))),
        Case(Draw((3, 1), 0.5, 2.0), Draw((1, 4))),
        Case(Draw((), 0.5, 2.0), Draw((2, 3))),
        Case(Draw((2, 3), 0.5, 2.0), Draw(())),
        Case(Draw((), 0.5, 2.0), Draw(())),
        Case(Draw((0, 3), 0.5, 2.0), Draw((3,))),
    )
    aligns = True
    fresh = True

    def refuse(self, error: ValueError) -> None:
        """Say that integers have no fractions."""
        if "negative integer powers" in str(error):
            a = self.inputs[0]
            got, fix = {"a": getattr(a, "dtype", a), "b": self.inputs[1]}, "a.float() ** b" if hasattr(a, "dtype") else "float(a) ** b"
            raise ArgumentError(explain("pow: an integer to a negative power is no integer", got=got, need="floats", fix=fix)) from None
        super().refuse(error)

    @as_pytorch
    def forward(self, a: Any, b: Any) -> Array:
        need_no_booleans("pow", a, b)
        self.a, self.b = a, b
        self.y = _power(a, b)
        return self.y

    @as_pytorch
    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        xp, a, b = xp_of(g), self.a, self.b
        da = db = None
        if self.needs[0] and type(b) in NUMBERS:
            da = g * (b * _power(a, b - 1)) if b else xp.zeros_like(g)
        elif self.needs[0]:
            da = kept(g * (b * a ** (b - 1)), b != 0)  # where b is 0, a^-1 may be infinite, and 0 times that NaN
        if self.needs[1]:
            # Taken in g's dtype, which a Python number `a` has not.
            db = kept(g * self.y * xp.log(xp.asarray(a, dtype=g.dtype)), (a != 0) | ~(b >= 0))
        return da, db


def pow(input: TensorLike, exponent: TensorLike) -> Tensor:
    """Raise `input` to the power `exponent`, broadcasting; `input ** exponent`, with a number on either side too.

    The exponent's gradient is 0 where the base is 0 and the exponent is not negative, and NaN where the base is negative.

    Shapes: input: (*), exponent: (*), y: the shape both broadcast to

    Raises:
        ArgumentError: integers are raised to a negative integer.
        DTypeError: both hold truth values.

    >>> pow([1.0, -2.0, 3.0], 2).data
    array([1., 4., 9.], dtype=float32)
    >>> pow(2.0, [1.0, 3.0]).data
    array([2., 8.], dtype=float32)
    """
    return Pow.apply(input, exponent)


def _double(x: Any) -> Any:
    """float64, whatever it was; a number stays one beside a tensor."""
    return x if type(x) in NUMBERS else x.double() if hasattr(x, "grad_fn") else as_array(x).astype("float64")


def float_power(input: TensorLike, exponent: TensorLike) -> Tensor:
    """Raise `input` to the power `exponent` in float64, broadcasting.

    Shapes: input: (*), exponent: (*), y: the shape both broadcast to, float64

    >>> float_power([2, 3], -1).data
    array([0.5       , 0.33333333])
    """
    return Pow.apply(_double(input), _double(exponent) if type(input) not in NUMBERS else _double(as_array(exponent)))


class Sqrt(Function):
    """y = x^(1/2);  dx = g / (2 y), which is infinite at 0."""

    latex = r"y = \sqrt{x}, \quad \bar x = \frac{\bar y}{2y}"
    cases = one_input(0.5, 3.0)
    reads = ("output",)
    exact = True
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.y = xp_of(x).sqrt(floating(x))
        return self.y

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return 0.5 * g / self.y


def sqrt(input: TensorLike) -> Tensor:
    """Take the square root; NaN below 0.

    Shapes: input: (*), y: (*)

    >>> sqrt([0.0, 4.0]).data
    array([0., 2.], dtype=float32)
    """
    return Sqrt.apply(input)


class Rsqrt(Function):
    """y = x^(-1/2);  dx = -g y^3 / 2."""

    latex = r"y = \frac{1}{\sqrt{x}}, \quad \bar x = -\tfrac12 \bar y\, y^3"
    cases = one_input(0.5, 3.0)
    reads = ("output",)
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.y = 1 / xp_of(x).sqrt(floating(x))
        return self.y

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return -0.5 * g * (self.y * self.y * self.y)


def rsqrt(input: TensorLike) -> Tensor:
    """Take one over the square root: infinite at 0, NaN below.

    Shapes: input: (*), y: (*)

    >>> rsqrt([0.25, 4.0]).data
    array([2. , 0.5], dtype=float32)
    """
    return Rsqrt.apply(input)


class Reciprocal(Function):
    """y = 1 / x;  dx = -g y^2."""

    latex = r"y = \frac{1}{x}, \quad \bar x = -\bar y\, y^2"
    cases = one_input(gap=0.5)
    reads = ("output",)
    exact = True
    fresh = True

    @as_pytorch
    def forward(self, x: Array) -> Array:
        self.y = 1 / floating(x)
        return self.y

    @as_pytorch
    def backward(self, g: Array) -> Array:
        return -g * (self.y * self.y)


def reciprocal(input: TensorLike) -> Tensor:
    """Take one over `input`; integers give float32.

    Shapes: input: (*), y: (*)

    >>> reciprocal([0.25, -4.0]).data
    array([ 4.  , -0.25], dtype=float32)
    """
    return Reciprocal.apply(input)


class Square(Function):
    """y = x^2;  dx = 2 g x."""

    latex = r"y = x^2, \quad \bar x = 2 \bar y x"
    cases = one_input()
    reads = ("inputs",)
    exact = True
    fresh = True

    def forward(self, x: Array) -> Array:
        self.x = x = numbers(x)
        return x * x if x.dtype.kind != "b" else xp_of(x).asarray(x, dtype="int64")

    def backward(self, g: Array) -> Array:
        return 2 * g * self.x


def square(input: TensorLike) -> Tensor:
    """Multiply every value by itself.

    Shapes: input: (*), y: (*)

    >>> square([3.0, -0.5]).data
    array([9.  , 0.25], dtype=float32)
    """
    return Square.apply(input)


class Hypot(Broadcasting):
    """y = (a^2 + b^2)^(1/2);  da = g a / y, db = g b / y, which are NaN where both are 0."""

    latex = r"y = \sqrt{a^2 + b^2}, \quad \bar a = \bar y \frac{a}{y}, \quad \bar b = \bar y \frac{b}{y}"
    cases = broadcasts((-2, 2, 0.3), (-2, 2, 0.3))
    aligns = True
    fresh = True

    def forward(self, a: Any, b: Any) -> Array:
        self.a, self.b = floats(a, b)
        self.y = xp_of(self.a).hypot(self.a, self.b)
        return self.y

    @as_pytorch
    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        for_a, for_b = self.needs
        return g * (self.a / self.y) if for_a else None, g * (self.b / self.y) if for_b else None


def hypot(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the longest side of a right-angled triangle with the sides `input` and `other`, broadcasting; squares never overflow.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> hypot([3.0, 1e30], [4.0, 0.0]).data
    array([5.e+00, 1.e+30], dtype=float32)
    """
    return Hypot.apply(input, other)
