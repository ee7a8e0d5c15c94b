"""Bits of integers, and truth values as single bits; no gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, bool_
from ..cases import Case, Ints
from ..errors import DTypeError, explain
from ..function import Function
from .casework import PAIRS
from .dtype import need_no_booleans, numbers
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


INTEGERS = tuple(Case(Ints(a, 0, 9), Ints(b, 0, 9)) for a, b in PAIRS)


def _need_bits(op: str, *operands: Any) -> None:
    for x in operands:
        if getattr(x, "dtype", bool_).kind == "f":
            got = {"ab"[i]: getattr(v, "dtype", type(v).__name__) for i, v in enumerate(operands)}
            raise DTypeError(explain(f"{op}: only integers and truth values have bits", got=got, need="no floats"))


class BitwiseAnd(Broadcasting):
    """y = the bits that a and b have;  no gradient."""

    latex = r"y = a \mathbin{\&} b"
    cases = INTEGERS
    called = "bitwise_and"
    aligns = True
    reads = ()

    def forward(self, a: Any, b: Any) -> Array:
        _need_bits("a & b", a, b)
        return a & b


def bitwise_and(input: TensorLike, other: TensorLike) -> Tensor:
    """Keep the bits that both integers have, broadcasting; `input & other`. Of truth values: whether both hold.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    Raises:
        DTypeError: an operand is floating.

    >>> bitwise_and([6, 5], 3).data
    array([2, 1])
    """
    return BitwiseAnd.apply(input, other)


class BitwiseOr(Broadcasting):
    """y = the bits that a or b has;  no gradient."""

    latex = r"y = a \mathbin{|} b"
    cases = INTEGERS
    called = "bitwise_or"
    aligns = True
    reads = ()

    def forward(self, a: Any, b: Any) -> Array:
        _need_bits("a | b", a, b)
        return a | b


def bitwise_or(input: TensorLike, other: TensorLike) -> Tensor:
    """Join the bits of two integers, broadcasting; `input | other`. Of truth values: whether one holds.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    Raises:
        DTypeError: an operand is floating.

    >>> bitwise_or([6, 5], 3).data
    array([7, 7])
    """
    return BitwiseOr.apply(input, other)


class BitwiseXor(Broadcasting):
    """y = the bits that one of a and b has;  no gradient."""

    latex = r"y = a \oplus b"
    cases = INTEGERS
    called = "bitwise_xor"
    aligns = True
    reads = ()

    def forward(self, a: Any, b: Any) -> Array:
        _need_bits("a ^ b", a, b)
        return a ^ b


def bitwise_xor(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the bits in which two integers differ, broadcasting; `input ^ other`. Of truth values: whether exactly one holds.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    Raises:
        DTypeError: an operand is floating.

    >>> bitwise_xor([6, 5], 3).data
    array([5, 6])
    """
    return BitwiseXor.apply(input, other)


class BitwiseNot(Function):
    """y = the bits that x has not;  no gradient."""

    latex = r"y = \neg x"
    cases = tuple(Case(case.inputs[0]) for case in INTEGERS)
    reads = ()

    def forward(self, x: Array) -> Array:
        x = numbers(x)
        _need_bits("~x", x)
        return ~x


def bitwise_not(input: TensorLike) -> Tensor:
    """Turn every bit over; `~input`. Of truth values: whether it does not hold.

    Shapes: input: (*), y: (*)

    Raises:
        DTypeError: `input` is floating.

    >>> bitwise_not([True, False]).data, bitwise_not([6]).data
    (array([False,  True]), array([-7]))
    """
    return BitwiseNot.apply(input)


class LeftShift(Broadcasting):
    """y = a 2^b;  no gradient."""

    latex = r"y = a \cdot 2^b"
    cases = INTEGERS
    called = "bitwise_left_shift"
    aligns = True
    reads = ()

    def forward(self, a: Any, b: Any) -> Array:
        _need_bits("a << b", a, b)
        need_no_booleans("a << b", a, b)
        return a << b


def bitwise_left_shift(input: TensorLike, other: TensorLike) -> Tensor:
    """Move the bits of `input` up by `other` places, broadcasting; `input << other`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    Raises:
        DTypeError: an operand is floating, or both are boolean.

    >>> bitwise_left_shift([1, 3], 2).data
    array([ 4, 12])
    """
    return LeftShift.apply(input, other)


class RightShift(Broadcasting):
    """y = floor(a / 2^b);  no gradient."""

    latex = r"y = \lfloor a / 2^b \rfloor"
    cases = INTEGERS
    called = "bitwise_right_shift"
    aligns = True
    reads = ()

    def forward(self, a: Any, b: Any) -> Array:
        _need_bits("a >> b", a, b)
        need_no_booleans("a >> b", a, b)
        return a >> b


def bitwise_right_shift(input: TensorLike, other: TensorLike) -> Tensor:
    """Move the bits of `input` down by `other` places, broadcasting; `input >> other`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to

    Raises:
        DTypeError: an operand is floating, or both are boolean.

    >>> bitwise_right_shift([8, -8], 1).data
    array([ 4, -4])
    """
    return RightShift.apply(input, other)
