"""Comparisons: boolean results, which carry no gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array
from ..cases import Case, Draw, Given
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

PAIRS = (
    Case(Given([[1.0, 2.0], [2.0, 1.0]]), Given([[1.0, 1.0], [3.0, 1.0]])),
    Case(Draw((2, 3, 4)), Draw((4,))),
    Case(Draw((1, 4)), Draw((2, 3, 1))),
    Case(Draw(()), Draw((2, 3))),
    Case(Draw(()), Draw(())),
    Case(Draw((0, 3)), Draw((3,))),
)


class Lt(Broadcasting):
    """y = a < b;  no gradient."""

    latex = r"y = [a < b]"
    cases = PAIRS
    aligns = True
    reads = ()

    def forward(self, a: Array, b: Array) -> Array:
        return a < b


def lt(input: TensorLike, other: TensorLike) -> Tensor:
    """Say where `input` is smaller than `other`, broadcasting; `input < other`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to, boolean

    >>> lt([1.0, 2.0, 3.0], 2.0).data
    array([ True, False, False])
    """
    return Lt.apply(input, other)


class Le(Broadcasting):
    """y = a <= b;  no gradient."""

    latex = r"y = [a \le b]"
    cases = PAIRS
    aligns = True
    reads = ()

    def forward(self, a: Array, b: Array) -> Array:
        return a <= b


def le(input: TensorLike, other: TensorLike) -> Tensor:
    """Say where `input` is at most `other`, broadcasting; `input <= other`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to, boolean

    >>> le([1.0, 2.0, 3.0], 2.0).data
    array([ True,  True, False])
    """
    return Le.apply(input, other)


class Gt(Broadcasting):
    """y = a > b;  no gradient."""

    latex = r"y = [a > b]"
    cases = PAIRS
    aligns = True
    reads = ()

    def forward(self, a: Array, b: Array) -> Array:
        return a > b


def gt(input: TensorLike, other: TensorLike) -> Tensor:
    """Say where `input` is larger than `other`, broadcasting; `input > other`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to, boolean

    >>> gt([1.0, 2.0, 3.0], 2.0).data
    array([False, False,  True])
    """
    return Gt.apply(input, other)


class Ge(Broadcasting):
    """y = a >= b;  no gradient."""

    latex = r"y = [a \ge b]"
    cases = PAIRS
    aligns = True
    reads = ()

    def forward(self, a: Array, b: Array) -> Array:
        return a >= b


def ge(input: TensorLike, other: TensorLike) -> Tensor:
    """Say where `input` is at least `other`, broadcasting; `input >= other`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to, boolean

    >>> ge([1.0, 2.0, 3.0], 2.0).data
    array([False,  True,  True])
    """
    return Ge.apply(input, other)


class Eq(Broadcasting):
    """y = a == b;  no gradient."""

    latex = r"y = [a = b]"
    cases = PAIRS
    aligns = True
    reads = ()

    def forward(self, a: Array, b: Array) -> Array:
        return a == b


def eq(input: TensorLike, other: TensorLike) -> Tensor:
    """Say where `input` is equal to `other`, broadcasting; `input == other`. NaN is equal to nothing, itself included.

    Shapes: input: (*), other: (*), y: the shape both broadcast to, boolean

    >>> eq([1.0, 2.0, 3.0], 2.0).data
    array([False,  True, False])
    """
    return Eq.apply(input, other)


class Ne(Broadcasting):
    """y = a != b;  no gradient."""

    latex = r"y = [a \ne b]"
    cases = PAIRS
    aligns = True
    reads = ()

    def forward(self, a: Array, b: Array) -> Array:
        return a != b


def ne(input: TensorLike, other: TensorLike) -> Tensor:
    """Say where `input` is different from `other`, broadcasting; `input != other`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to, boolean

    >>> ne([1.0, 2.0, 3.0], 2.0).data
    array([ True, False,  True])
    """
    return Ne.apply(input, other)
