"""Keeping values inside bounds, and replacing those that are no finite numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw, Given
from ..errors import DTypeError, explain
from ..function import Function
from .casework import one_input
from .dtype import NUMBERS, floating, kept, module_of, numbers
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Clamp(Function):
    """y = x, moved to the nearer of min and max where it is outside;  dx = g where min <= x <= max, else 0."""

    latex = r"y = \min(\max(x, a), b), \quad \bar x = \bar y\,[a \le x \le b]"
    cases = (
        Case(Given([[-1.5, 0.2, 0.9], [0.7, -0.1, 3.0]]), min=-0.5, max=1.0),
        Case(Draw((2, 3, 4), gap=0.1), min=0.0),
        Case(Draw((4,), gap=0.1), max=0.0),
        Case(Draw(()), min=-3.0, max=3.0),
        Case(Draw((0, 3)), min=0.0),
        Case(Draw((3,)), min=1.0, max=-1.0),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, min: float | None = None, max: float | None = None) -> Array:
        whole = type(min) is not float and type(max) is not float
        self.x, self.min, self.max = x, min, max = (numbers(x) if whole else floating(x)), min, max
        if x.dtype.kind == "b":
            x = xp_of(x).asarray(x, dtype="int64")
        return xp_of(x).clip(x, min, max)

    def backward(self, g: Array) -> Array:
        inside = self.x >= self.min if self.min is not None else self.x <= self.max
        if self.min is not None and self.max is not None:
            inside &= self.x <= self.max
        return kept(g, inside)


class ClampMin(Broadcasting):
    """y = max(x, a);  dx = g where x >= a, da = g where x < a."""

    latex = r"y = \max(x, a), \quad \bar x = \bar y\,[x \ge a], \quad \bar a = \bar y\,[x < a]"
    cases = (
        Case(Draw((2, 3)), Draw((2, 3))),
        Case(Draw((1, 4)), Draw((2, 3, 1))),
        Case(Draw(()), Draw((2,))),
        Case(Draw((2,)), Draw(())),
        Case(Draw((0, 3)), Draw((3,))),
    )
    called = "clamp"
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, a: Array) -> Array:
        self.x, self.a = x, a
        return module_of(x, a).maximum(x, a)

    def backward(self, g: Array) -> tuple[Array, Array]:
        return kept(g, self.x >= self.a), kept(g, self.x < self.a)


class ClampMax(Broadcasting):
    """y = min(x, b);  dx = g where x <= b, db = g where x > b."""

    latex = r"y = \min(x, b), \quad \bar x = \bar y\,[x \le b], \quad \bar b = \bar y\,[x > b]"
    cases = ClampMin.cases
    called = "clamp"
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, b: Array) -> Array:
        self.x, self.b = x, b
        return module_of(x, b).minimum(x, b)

    def backward(self, g: Array) -> tuple[Array, Array]:
        return kept(g, self.x <= self.b), kept(g, self.x > self.b)


class ClampBetween(Broadcasting):
    """y = min(max(x, a), b);  g goes to x where a <= x <= b, to a where x < a < b, to b where x > b or a > b."""

    latex = (
        r"y = \min(\max(x, a), b), \quad \bar x = \bar y\,[a \le x \le b], \quad \bar a = \bar y\,[x < a < b], "
        r"\quad \bar b = \bar y\,[x > b \lor a > b]"
    )
    cases = (
        Case(Draw((3, 4)), Draw((3, 4), -1, 0), Draw((3, 4), 0, 1)),
        Case(Draw((1, 4)), Draw((2, 3, 1), -1, 0.5), Draw((4,), 0.5, 1)),
        Case(Draw(()), Draw((2,)), Draw((2, 1))),
        Case(Draw((4,)), Draw(()), Draw(())),
        Case(Draw((0, 3)), Draw((3,)), Draw(())),
    )
    called = "clamp"
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, a: Array, b: Array) -> Array:
        self.x, self.a, self.b = x, a, b
        xp = module_of(x, a, b)
        return xp.minimum(xp.maximum(x, a), b)

    def backward(self, g: Array) -> tuple[Array, Array, Array]:
        x, a, b = self.x, self.a, self.b
        return kept(g, (a <= x) & (x <= b)), kept(g, (x < a) & (a < b)), kept(g, (x > b) | (b < a))


def clamp(input: TensorLike, min: Any = None, max: Any = None) -> Tensor:
    """Move values below `min` to `min` and values above `max` to `max`; what is moved gets no gradient.

    The bounds are numbers, or tensors, which broadcast and get the gradient of what was moved to them. Where min is above
    max, the result is max. NaN stays NaN.

    Shapes: input: (*), min and max: (*), y: the shape all broadcast to

    Raises:
        DTypeError: neither bound is given, or one is neither number nor tensor.

    >>> clamp([-2.0, 0.5, 3.0], min=0.0, max=1.0).data
    array([0. , 0.5, 1. ], dtype=float32)
    """
    bounds = [bound for bound in (min, max) if bound is not None]
    if bounds and all(type(bound) in NUMBERS for bound in bounds):
        return Clamp.apply(input, min=min, max=max)
    if not bounds or any(isinstance(bound, (str, complex)) for bound in bounds):
        got = {"min": min, "max": max}
        raise DTypeError(explain("clamp: the bounds are numbers or tensors", got=got, need="a number or tensor for min, max or both"))
    if min is None or max is None:
        return ClampMin.apply(input, min) if max is None else ClampMax.apply(input, max)
    return ClampBetween.apply(input, min, max)


def clamp_min(input: TensorLike, min: Any) -> Tensor:
    """Move values below `min` to `min`.

    Shapes: input: (*), min: (*), y: the shape both broadcast to

    >>> clamp_min([-2.0, 0.5], 0.0).data
    array([0. , 0.5], dtype=float32)
    """
    return clamp(input, min=min)


def clamp_max(input: TensorLike, max: Any) -> Tensor:
    """Move values above `max` to `max`.

    Shapes: input: (*), max: (*), y: the shape both broadcast to

    >>> clamp_max([-2.0, 0.5], 0.0).data
    array([-2.,  0.], dtype=float32)
    """
    return clamp(input, max=max)


class NanToNum(Function):
    """y = x, or the number given for NaN, inf and -inf;  dx = g where x is finite, else 0."""

    latex = r"y = x \text{ where } |x| < \infty, \quad \bar x = \bar y\,[|x| < \infty]"
    cases = one_input(nan=1.5)
    reads = ("inputs",)
    fresh = True

    def forward(self, x: Array, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Array:
        xp, self.x = xp_of(x), numbers(x)
        return xp.nan_to_num(self.x, nan=nan, posinf=posinf, neginf=neginf)

    def backward(self, g: Array) -> Array:
        return kept(g, xp_of(g).isfinite(self.x))


def nan_to_num(input: TensorLike, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """Replace NaN by `nan`, and infinities by `posinf` and `neginf`: the largest numbers there are, unless given.

    Shapes: input: (*), y: (*)

    >>> nan_to_num([float("nan"), 1.0, float("-inf")], neginf=-9.0).data
    array([ 0.,  1., -9.], dtype=float32)
    """
    return NanToNum.apply(input, nan=nan, posinf=posinf, neginf=neginf)
