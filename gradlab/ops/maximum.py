"""The larger and the smaller of two entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from .casework import broadcasts
from .dtype import kept, module_of
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Maximum(Broadcasting):
    """y = max(a, b);  g goes to the larger of the two, half to each at a tie."""

    latex = r"y = \max(a, b), \quad \bar a = \bar y\,[a > b] + \tfrac12 \bar y\,[a = b]"
    cases = broadcasts()
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Any, b: Any) -> Array:
        self.a, self.b = a, b
        return module_of(a, b).maximum(a, b)

    def backward(self, g: Array) -> tuple[Array, Array]:
        where, a, b = xp_of(g).where, self.a, self.b
        tie, half = a == b, 0.5 * g
        return where(tie, half, kept(g, ~(a < b))), where(tie, half, kept(g, ~(b < a)))


def maximum(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the larger of two entries, broadcasting; NaN wins. At a tie each side gets half the gradient.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> maximum([1.0, 5.0], 3.0).data
    array([3., 5.], dtype=float32)
    """
    return Maximum.apply(input, other)


class Minimum(Broadcasting):
    """y = min(a, b);  g goes to the smaller of the two, half to each at a tie."""

    latex = r"y = \min(a, b), \quad \bar a = \bar y\,[a < b] + \tfrac12 \bar y\,[a = b]"
    cases = broadcasts()
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Any, b: Any) -> Array:
        self.a, self.b = a, b
        return module_of(a, b).minimum(a, b)

    def backward(self, g: Array) -> tuple[Array, Array]:
        where, a, b = xp_of(g).where, self.a, self.b
        tie, half = a == b, 0.5 * g
        return where(tie, half, kept(g, ~(a > b))), where(tie, half, kept(g, ~(b > a)))


def minimum(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the smaller of two entries, broadcasting; NaN wins. At a tie each side gets half the gradient.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> minimum([1.0, 5.0], 3.0).data
    array([1., 3.], dtype=float32)
    """
    return Minimum.apply(input, other)


class Fmax(Broadcasting):
    """y = max(a, b), a number rather than NaN;  g goes to a where a >= b or b is NaN, else to b."""

    latex = r"y = \max(a, b), \quad \bar a = \bar y\,[a \ge b], \quad \bar b = \bar y\,[a < b]"
    cases = broadcasts()
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Any, b: Any) -> Array:
        self.left = (a >= b) | (b != b)
        return module_of(a, b).fmax(a, b)

    def backward(self, g: Array) -> tuple[Array, Array]:
        return kept(g, self.left), kept(g, ~self.left)


def fmax(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the larger of two entries, broadcasting; a number wins over NaN. At a tie `input` gets the gradient.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> fmax([1.0, float("nan")], 3.0).data
    array([3., 3.], dtype=float32)
    """
    return Fmax.apply(input, other)


class Fmin(Broadcasting):
    """y = min(a, b), a number rather than NaN;  g goes to a where a <= b or b is NaN, else to b."""

    latex = r"y = \min(a, b), \quad \bar a = \bar y\,[a \le b], \quad \bar b = \bar y\,[a > b]"
    cases = broadcasts()
    aligns = True
    reads = ("inputs",)
    fresh = True

    def forward(self, a: Any, b: Any) -> Array:
        self.left = (a <= b) | (b != b)
        return module_of(a, b).fmin(a, b)

    def backward(self, g: Array) -> tuple[Array, Array]:
        return kept(g, self.left), kept(g, ~self.left)


def fmin(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the smaller of two entries, broadcasting; a number wins over NaN. At a tie `input` gets the gradient.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> fmin([1.0, float("nan")], 3.0).data
    array([1., 3.], dtype=float32)
    """
    return Fmin.apply(input, other)
