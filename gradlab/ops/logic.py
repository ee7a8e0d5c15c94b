"""Questions about values, and about truth values: boolean results, which carry no gradient."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Given
from ..function import Function
from .casework import broadcasts, one_input
from .dtype import module_of, numbers
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

PAIRS = (Case(Given([[1.0, 0.0], [2.0, 0.0]]), Given([[1.0, 1.0], [0.0, 0.0]])), *broadcasts())


class IsNan(Function):
    """y = whether x is no number;  no gradient."""

    latex = r"y = [x \ne x]"
    cases = one_input()
    reads = ()

    def forward(self, x: Array) -> Array:
        x = numbers(x)
        return x != x


def isnan(input: TensorLike) -> Tensor:
    """Say where a value is NaN.

    Shapes: input: (*), y: (*)

    >>> isnan([1.0, float("nan")]).data
    array([False,  True])
    """
    return IsNan.apply(input)


class IsFinite(Function):
    """y = whether x is neither infinite nor NaN;  no gradient."""

    latex = r"y = [|x| < \infty]"
    cases = one_input()
    reads = ()

    def forward(self, x: Array) -> Array:
        x = numbers(x)
        return xp_of(x).isfinite(x)


def isfinite(input: TensorLike) -> Tensor:
    """Say where a value is neither infinite nor NaN.

    Shapes: input: (*), y: (*)

    >>> isfinite([1.0, float("inf"), float("nan")]).data
    array([ True, False, False])
    """
    return IsFinite.apply(input)


class IsInf(Function):
    """y = whether x is infinite;  no gradient."""

    latex = r"y = [|x| = \infty]"
    cases = one_input()
    reads = ()

    def forward(self, x: Array) -> Array:
        x = numbers(x)
        return xp_of(x).isinf(x)


def isinf(input: TensorLike) -> Tensor:
    """Say where a value is infinite, of either sign.

    Shapes: input: (*), y: (*)

    >>> isinf([1.0, float("inf"), float("-inf")]).data
    array([False,  True,  True])
    """
    return IsInf.apply(input)


class IsPosInf(Function):
    """y = whether x is inf;  no gradient."""

    latex = r"y = [x = \infty]"
    cases = one_input()
    reads = ()

    def forward(self, x: Array) -> Array:
        return numbers(x) == inf


def isposinf(input: TensorLike) -> Tensor:
    """Say where a value is inf.

    Shapes: input: (*), y: (*)

    >>> isposinf([1.0, float("inf"), float("-inf")]).data
    array([False,  True, False])
    """
    return IsPosInf.apply(input)


class IsNegInf(Function):
    """y = whether x is -inf;  no gradient."""

    latex = r"y = [x = -\infty]"
    cases = one_input()
    reads = ()

    def forward(self, x: Array) -> Array:
        return numbers(x) == -inf


def isneginf(input: TensorLike) -> Tensor:
    """Say where a value is -inf.

    Shapes: input: (*), y: (*)

    >>> isneginf([1.0, float("inf"), float("-inf")]).data
    array([False, False,  True])
    """
    return IsNegInf.apply(input)


class LogicalNot(Function):
    """y = whether x is 0;  no gradient."""

    latex = r"y = [x = 0]"
    cases = one_input()
    reads = ()

    def forward(self, x: Array) -> Array:
        return numbers(x) == 0


def logical_not(input: TensorLike) -> Tensor:
    """Say where a value is 0, or false.

    Shapes: input: (*), y: (*)

    >>> logical_not([0.0, 2.0]).data
    array([ True, False])
    """
    return LogicalNot.apply(input)


class LogicalAnd(Broadcasting):
    """y = whether neither a nor b is 0;  no gradient."""

    latex = r"y = [a \ne 0 \land b \ne 0]"
    cases = PAIRS
    called = "logical_and"
    aligns = True
    reads = ()

    def forward(self, a: Any, b: Any) -> Array:
        return module_of(a, b).logical_and(a, b)


def logical_and(input: TensorLike, other: TensorLike) -> Tensor:
    """Say where both values are true, or other than 0, broadcasting.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> logical_and([1.0, 1.0, 0.0], [2.0, 0.0, 0.0]).data
    array([ True, False, False])
    """
    return LogicalAnd.apply(input, other)


class LogicalOr(Broadcasting):
    """y = whether a or b is not 0;  no gradient."""

    latex = r"y = [a \ne 0 \lor b \ne 0]"
    cases = PAIRS
    called = "logical_or"
    aligns = True
    reads = ()

    def forward(self, a: Any, b: Any) -> Array:
        return module_of(a, b).logical_or(a, b)


def logical_or(input: TensorLike, other: TensorLike) -> Tensor:
    """Say where at least one of two values is true, or other than 0, broadcasting.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> logical_or([1.0, 1.0, 0.0], [2.0, 0.0, 0.0]).data
    array([ True,  True, False])
    """
    return LogicalOr.apply(input, other)


class LogicalXor(Broadcasting):
    """y = whether one of a and b is 0, and the other not;  no gradient."""

    latex = r"y = [a \ne 0] \ne [b \ne 0]"
    cases = PAIRS
    called = "logical_xor"
    aligns = True
    reads = ()

    def forward(self, a: Any, b: Any) -> Array:
        return module_of(a, b).logical_xor(a, b)


def logical_xor(input: TensorLike, other: TensorLike) -> Tensor:
    """Say where exactly one of two values is true, or other than 0, broadcasting.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    >>> logical_xor([1.0, 1.0, 0.0], [2.0, 0.0, 0.0]).data
    array([False,  True, False])
    """
    return LogicalXor.apply(input, other)
