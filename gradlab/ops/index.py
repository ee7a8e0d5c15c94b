"""Reading, replacing and choosing entries."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, align, is_array, on_host, scatter_add, xp_of
from ..cases import Case, Draw, Given
from ..errors import ShapeError, explain
from ..function import Function
from .dtype import kept, wide
from .refusal import Broadcasting

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def raw_index(index: Any) -> Any:
    """An index as arrays understand it: Tensors in it become arrays, a whole number in one becomes an int.

    >>> raw_index((slice(None), [0, 0]))
    (slice(None, None, None), [0, 0])
    """
    return tuple([_raw(i) for i in index]) if isinstance(index, tuple) else _raw(index)


def _raw(i: Any) -> Any:
    array = i.data if hasattr(i, "grad_fn") else i
    if on_host(array) and not array.ndim and array.dtype.kind in "iu":
        return int(array)
    return [_raw(j) for j in array] if isinstance(array, list) else array


def _is_basic(index: Any) -> bool:
    """Whether only ints, slices, None and ... are in it, so that NumPy answers with a view."""
    for i in index if isinstance(index, tuple) else (index,):
        if not (i is None or i is Ellipsis or isinstance(i, (slice, int, np.integer))) or isinstance(i, bool):
            return False
    return True


class Slice(Function):
    """y = x[index] for ints, slices, None and ...;  dx = g there, 0 elsewhere."""

    latex = r"y = x_I, \quad \bar x_I = \bar y, \quad \bar x_{\neg I} = 0"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), index=1),
        Case(Draw((3, 4)), index=(-1, 2)),
        Case(Draw((5, 4)), index=(slice(None, None, -2), None, slice(1, 3))),
        Case(Draw((2, 3, 4)), index=(..., None, 1)),
        Case(Draw(()), index=...),
        Case(Draw((0, 3)), index=(slice(None), 1)),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, index: Any) -> Array:
        parts = index if isinstance(index, tuple) else (index,)
        # With an ellipsis a single entry is a 0-d view too, not a number.
        self.index = parts if Ellipsis in parts else (*parts, ...)
        self.shape = x.shape
        return x[self.index]

    def backward(self, g: Array) -> Array:
        dx = xp_of(g).zeros(self.shape, dtype=g.dtype)
        dx[self.index] = g
        return dx


def _copied(index: Any, xp: Any) -> tuple[Any, ...]:
    """The index with arrays of its own, so that filling one anew does not move the gradient."""
    return tuple([_copy(i, xp) for i in (index if isinstance(index, tuple) else (index,))])


def _copy(i: Any, xp: Any) -> Any:
    if is_array(i):
        return xp.array(i)
    if not isinstance(i, list):
        return i
    array = xp.array(i)
    return array if prod(array.shape) else xp.zeros(array.shape, dtype=int)  # an empty list would be one of floats


class Gather(Function):
    """y = x[index] for arrays of places or of truth values;  dx = g added up at each place."""

    latex = r"y = x_I, \quad \bar x_i = \sum_{k : I_k = i} \bar y_k"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), index=[0, 0, 2]),
        Case(Draw((3, 4)), index=([1, -1, 0], [2, 2, 0])),
        Case(Draw((2, 3, 4)), index=(slice(None), [[0, 1], [1, 0]])),
        Case(Draw((2, 3)), index=([[True, False, True], [False, True, True]],)),
        Case(Draw((2, 3, 4)), index=([0, 1], slice(None), [3, 3])),
        Case(Draw(()), index=True),
        Case(Draw((0, 3)), index=(slice(None), [0, 0])),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, index: Any) -> Array:
        self.index, self.shape = _copied(index, xp_of(x)), x.shape
        return x[self.index]

    def backward(self, g: Array) -> Array:
        g = wide(g)
        dx = xp_of(g).zeros(self.shape, dtype=g.dtype)
        scatter_add(dx, self.index, g)
        return dx


def getitem(x: TensorLike, index: Any) -> Tensor:
    """Read entries: `x[index]` with ints, slices, None, ..., lists, integer and boolean tensors or arrays, mixed.

    Ints and slices look at the memory of `x`; lists, arrays and tensors copy. A place that is read twice gets both gradients.

    Shapes: as NumPy's indexing

    Raises:
        IndexError: a place that `x` does not have.

    >>> getitem([1.0, 2.0, 3.0], [0, 0, -1]).data
    array([1., 1., 3.], dtype=float32)
    """
    index = raw_index(index)
    return Slice.apply(x, index=index) if _is_basic(index) else Gather.apply(x, index=index)


def _last_writer(shape: tuple[int, ...], index: Any, order: Array) -> Array:
    """Per place, the number of the last value that is written to it."""
    xp = xp_of(order)
    last = xp.zeros(shape, dtype=order.dtype)
    if on_host(order):
        last[index] = order
    else:
        xp.maximum.at(last, index, order)
    return last


class SetIndex(Function):
    """y = x with y[index] = v;  dx = g with 0 there, dv = g[index]."""

    latex = r"y_I = v, \; y_{\neg I} = x_{\neg I}, \quad \bar v = \bar y_I, \quad \bar x_I = 0, \; \bar x_{\neg I} = \bar y_{\neg I}"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), Draw((4,)), index=1),
        Case(Draw((3, 4)), Draw(()), index=(slice(None), -1)),
        Case(Draw((2, 3, 4)), Draw((2, 1, 4)), index=...),
        Case(Draw((5,)), Draw((2,)), index=[0, 3]),
        Case(Draw((5,)), Draw((3,)), index=[1, 1, 2]),
        Case(Draw((2, 3)), Draw((1, 1, 3)), index=0),
        Case(Draw((2, 3)), Draw(()), index=([[True, False, True], [False, True, True]],)),
        Case(Draw(()), Draw(()), index=...),
        Case(Draw((0, 3)), Draw((3,)), index=slice(None)),
    )
    reads = ()

    def forward(self, x: Array, v: Any, index: Any) -> Array:
        xp = xp_of(x)
        self.index = index = _copied(index, xp)
        y = xp.array(x)
        try:
            y[index] = v if on_host(x) or not xp.ndim(v) or _is_basic(index) else self._last_values(x, index, v)
        except ValueError:
            raise ShapeError(
                explain(
                    "x[i] = v: the value doesn't fit there",
                    got={"x[i]": x[index].shape, "v": xp.shape(v)},
                    need="a value that broadcasts to x[i]",
                )
            ) from None
        self.shape, self.value_shape = x.shape, xp.shape(v)
        return y

    @staticmethod
    def _last_values(x: Array, index: Any, v: Array) -> Array:
        """The values to write: where a place is written twice, the last one both times, as a device keeps no order."""
        xp, shape = xp_of(x), x[index].shape
        order = xp.reshape(xp.arange(prod(shape)), shape)
        flat = xp.ravel(xp.broadcast_to(xp.reshape(v, v.shape[max(0, v.ndim - len(shape)) :]), shape))
        return flat[_last_writer(x.shape, index, order)[index]]

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        xp, index = xp_of(g), self.index
        dx = dv = None
        if self.needs[0]:
            dx = xp.array(g)
            dx[index] = 0
        if self.needs[1]:
            dv = xp.asarray(g[index])
            if not _is_basic(index):
                # Where a place is written twice the last value stays; the one before it gets nothing.
                order = xp.reshape(xp.arange(prod(dv.shape)), dv.shape)
                dv = xp.where(_last_writer(self.shape, index, order)[index] == order, dv, 0.0)
            ones_in_front = len(self.value_shape) - dv.ndim
            dv = xp.reshape(dv, (1,) * ones_in_front + dv.shape) if ones_in_front > 0 else dv
        return dx, dv


def set_index(x: TensorLike, index: Any, value: TensorLike) -> Tensor:
    """Copy `x` with the entries at `index` replaced by `value`: what `x[index] = value` records.

    Shapes: x: (*), value: broadcasts to x[index], y: (*)

    Raises:
        ShapeError: the value does not fit.

    >>> set_index([1.0, 2.0, 3.0], 1, 9.0).data
    array([1., 9., 3.], dtype=float32)
    """
    return SetIndex.apply(x, value, index=raw_index(index))


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
        self.c = c
        return xp_of(c).where(c, *align([a, b]))

    def backward(self, g: Array) -> tuple[None, Array, Array]:
        # Chosen, not multiplied: the branch that was not taken may hold NaN or inf.
        return None, kept(g, self.c), kept(g, ~self.c)


def where(condition: TensorLike, a: TensorLike, b: TensorLike) -> Tensor:
    """Take `a` where `condition` holds and `b` elsewhere, broadcasting all three.

    Shapes: condition: (*), a: (*), b: (*), y: the shape all broadcast to

    >>> where([True, False], [1.0, 2.0], 0.0).data
    array([1., 0.], dtype=float32)
    """
    return Where.apply(condition, a, b)


def masked_fill(x: Tensor, mask: TensorLike, value: TensorLike) -> Tensor:
    """Replace the entries where `mask` holds by one value; they get no gradient.

    Shapes: x: (*), mask: broadcasts to x, y: (*)

    Raises:
        ShapeError: the mask is larger than `x`.

    >>> import gradlab as gl
    >>> masked_fill(gl.tensor([1.0, 2.0]), [False, True], 0.0).data
    array([1., 0.], dtype=float32)
    """
    y = Where.apply(mask, value, x)
    if y.shape != x.shape:
        raise ShapeError(
            explain(
                "masked_fill: the mask does not fit",
                got={"x": x.shape, "result": y.shape},
                need="a mask that broadcasts to x, and one value",
            )
        )
    return y
