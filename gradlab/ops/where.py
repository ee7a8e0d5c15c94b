"""Choosing between two values at each entry, and finding where something holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, align, asarray_like, is_array, xp_of
from ..cases import Case, Draw, Given
from ..errors import DTypeError, ShapeError, explain
from ..function import Function
from .argument import tensor_of
from .dtype import kept
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Where(Broadcasting):
    """y = a where c, else b;  da = g where c, db = g where not c (0 in the other places)."""

    latex = r"y = c\,?\,a : b, \quad \bar a = \bar y\,[c], \quad \bar b = \bar y\,[\neg c]"
    cases = (
        Case(Given([[True, False], [False, True]], "bool"), Draw((2, 2)), Draw((2, 2))),
        Case(Given([True, False, True], "bool"), Draw((2, 1)), Draw((3,))),
        Case(Given([[True], [False]], "bool"), Draw((2, 1, 3)), Draw(())),
        Case(Given(True, "bool"), Draw(()), Draw(())),
        Case(Given([True, False, True], "bool"), Draw((0, 3)), Draw((3,))),
    )
    reads = ("inputs",)
    fresh = True

    def forward(self, c: Array, a: Any, b: Any) -> Array:
        if not is_array(c):
            c = asarray_like(c, a if is_array(a) else b)
        if c.dtype.kind != "b":
            got = {"condition": c.dtype}
            raise DTypeError(explain("where: a condition holds truth values", got=got, need="bool", fix="condition != 0"))
        self.c = c
        numbers = not hasattr(a, "dtype") and not hasattr(b, "dtype")
        a, b = align([a, b])
        if numbers:  # of which `align` made arrays on the host
            a, b = asarray_like(a, c), asarray_like(b, c)
        return xp_of(b if hasattr(b, "grad_fn") else a if hasattr(a, "grad_fn") else c).where(c, a, b)

    def backward(self, g: Array) -> tuple[None, Array, Array]:
        # Chosen, not multiplied: the branch that was not taken may hold NaN or inf.
        return None, kept(g, self.c), kept(g, ~self.c)


def where(condition: TensorLike, input: TensorLike | None = None, other: TensorLike | None = None) -> Any:
    """Take `input` where `condition` holds and `other` elsewhere, broadcasting all three; of a condition alone, its places.

    Shapes: condition: (*), input: (*), other: (*), y: the shape all broadcast to

    Raises:
        DTypeError: the condition holds no truth values.

    >>> where([True, False], [1.0, 2.0], 0.0).data
    array([1., 0.], dtype=float32)
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return Where.apply(condition, input, other)


def masked_fill(input: TensorLike, mask: TensorLike, value: TensorLike) -> Tensor:
    """Replace the entries where `mask` holds by one value; they get no gradient.

    Shapes: input: (*), mask: broadcasts to input, y: (*)

    Raises:
        DTypeError: the mask holds no truth values.
        ShapeError: the mask is larger than `input`.

    >>> masked_fill([1.0, 2.0], [False, True], 0.0).data
    array([1., 0.], dtype=float32)
    """
    x = tensor_of(input)
    y = Where.apply(mask, value, x)
    if y.dtype != x.dtype:  # x keeps its dtype, so the value has to be one of it
        if x.dtype.kind != "f" and tensor_of(value).to(x.dtype).item() != tensor_of(value).item() and x.dtype.kind != "b":
            got = {"x": x.dtype, "value": value}
            raise DTypeError(explain("masked_fill: integers can't hold this value", got=got, need="a whole number", fix="x.float()"))
        y = y.to(x.dtype)
    if y.shape != x.shape:
        raise ShapeError(
            explain(
                "masked_fill: the mask does not fit",
                got={"x": x.shape, "result": y.shape},
                need="a mask that broadcasts to x, and one value",
            )
        )
    return y


class NonZero(Function):
    """y = the places of the x that are not 0, one a row;  no gradient."""

    latex = r"y = \{i : x_i \ne 0\}"
    kind = "shape"
    cases = (
        Case(Given([[0.0, 1.0], [2.0, 0.0]])),
        Case(Given([True, False, True], "bool")),
        Case(Draw((2, 3, 4))),
        Case(Draw(())),
        Case(Draw((0, 3))),
    )
    reads = ()

    def forward(self, x: Array) -> Array:
        xp = xp_of(x)
        if not x.ndim:
            return xp.zeros((1 if x else 0, 0), dtype="int64")
        return xp.asarray(xp.stack(xp.nonzero(x), axis=-1), dtype="int64")


def nonzero(input: TensorLike, *, as_tuple: bool = False) -> Any:
    """List the places of the entries that are not 0, one a row, or with `as_tuple` one tensor an axis, which is an index.

    Shapes: input: (a, b), y: (number of places, 2), int64; or two of (number of places)

    >>> nonzero([[0.0, 1.0], [2.0, 0.0]]).tolist()
    [[0, 1], [1, 0]]
    """
    if not as_tuple:
        return NonZero.apply(input)
    x = tensor_of(input)
    return NonZero.apply(x if x.ndim else x.reshape(1)).unbind(1)


def argwhere(input: TensorLike) -> Tensor:
    """List the places of the entries that are not 0, one a row, as `nonzero`.

    Shapes: input: (a, b), y: (number of places, 2), int64

    >>> argwhere([0.0, 3.0]).tolist()
    [[1]]
    """
    return NonZero.apply(input)
