"""Whether two tensors are the same, or nearly so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, float64
from ..cases import Case, Given
from ..errors import ArgumentError, explain
from .argument import tensor_of
from .casework import broadcasts
from .dtype import NUMBERS, as_pytorch, floats, module_of
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _kind(x: Any) -> str:
    return x.dtype.kind if type(x) not in NUMBERS else ""


class IsClose(Broadcasting):
    """y = |a - b| <= atol + rtol |b|;  no gradient."""

    latex = r"y = [|a - b| \le t_a + t_r |b|]"
    cases = (*broadcasts(), Case(Given([1.0, 2.0]), Given([1.0 + 1e-6, 2.1])))
    aligns = True
    reads = ()

    @as_pytorch
    def forward(self, a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Array:
        close, xp = a == b, module_of(a, b)
        if rtol or atol:
            # Integers in float64: a difference of unsigned ones would start anew below 0, and float32 has 24 bits.
            x, y = floats(a, b) if "f" in (_kind(a), _kind(b)) else [xp.asarray(v, dtype=float64) for v in (a, b)]
            difference = xp.abs(x - y)
            close = close | (difference <= atol + xp.abs(rtol * y)) & xp.isfinite(difference)
        return close | (a != a) & (b != b) if equal_nan else close


def isclose(input: TensorLike, other: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Say where `input` is within `atol + rtol |other|` of `other`, broadcasting.

    Infinity is close to itself alone, NaN to nothing unless `equal_nan`.

    Shapes: input: (*), other: (*), y: the shape both broadcast to, boolean

    Raises:
        ArgumentError: a tolerance is negative.

    >>> isclose([1.0, 2.0], [1.000001, 2.1]).data
    array([ True, False])
    """
    if rtol < 0 or atol < 0:
        raise ArgumentError(explain("isclose: a distance is not negative", got={"rtol": rtol, "atol": atol}, need="0 or more"))
    return IsClose.apply(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)


def allclose(input: TensorLike, other: TensorLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Say whether every value of `input` is within `atol + rtol |other|` of `other`.

    Shapes: input: (*), other: broadcasts to or from input

    Raises:
        ArgumentError: a tolerance is negative.

    >>> allclose([1.0, 2.0], [1.000001, 2.0])
    True
    """
    return bool(isclose(input, other, rtol, atol, equal_nan).data.all())


def equal(input: TensorLike, other: TensorLike) -> bool:
    """Say whether two tensors have the same shape and the same values.

    Shapes: input: (*), other: (*)

    >>> equal([1.0, 2.0], [1.0, 2.0]), equal([1.0], [1.0, 1.0])
    (True, False)
    """
    a, b = tensor_of(input), tensor_of(other)
    return a.shape == b.shape and bool((a == b).data.all())
