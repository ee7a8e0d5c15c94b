"""Writing entries: copies of a tensor with some of them replaced, or added to."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, on_host, scatter_add, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, DTypeError, ShapeError, explain
from ..function import Function
from .argument import axis_of, tensor_of
from .dtype import beside
from .place import copied, in_two_steps, is_basic, misplaced, need_places, raw_index

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _led(dv: Array, shape: tuple[int, ...]) -> Array:
    """The gradient of a value that had axes of size 1 in front, which NumPy lets it have."""
    more = len(shape) - dv.ndim
    return dv.reshape((1,) * more + dv.shape) if more > 0 else dv


def _unfit(x: Array, v: Any, index: Any) -> ShapeError:
    got = {"x[i]": x[index].shape, "v": xp_of(x).shape(v)}
    return ShapeError(explain("x[i] = v: the value doesn't fit there", got=got, need="a value that broadcasts to x[i]"))


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
        self.index = index = copied(index, x)
        y = xp.array(x)
        try:
            y[index] = v if on_host(x) or not xp.ndim(v) or is_basic(index) else self._last_values(x, index, v)
        except IndexError as error:
            raise misplaced(x, index, error) from None
        except ValueError:
            raise _unfit(x, v, index) from None
        self.shape, self.value_shape = x.shape, xp.shape(v)
        return y

    @staticmethod
    def _last_values(x: Array, index: Any, v: Array) -> Array:
        """The values to write: where a place is written twice, the last one both times, as a device keeps no order."""
        xp, shape = xp_of(x), x[index].shape
        order = xp.arange(prod(shape)).reshape(shape)
        flat = xp.broadcast_to(v.reshape(v.shape[max(0, v.ndim - len(shape)) :]), shape).reshape(-1)
        return flat[_last_writer(x.shape, index, order)[index]]

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        xp, index = xp_of(g), self.index
        dx = dv = None
        if self.needs[0]:
            dx = xp.array(g)
            dx[index] = 0
        if self.needs[1]:
            dv = xp.asarray(g[index])
            if not is_basic(index):
                # Where a place is written twice the last value stays; the one before it gets nothing.
                order = xp.arange(prod(dv.shape)).reshape(dv.shape)
                dv = xp.where(_last_writer(self.shape, index, order)[index] == order, dv, 0.0)
            dv = _led(dv, self.value_shape)
        return dx, dv


def set_index(x: TensorLike, index: Any, value: TensorLike) -> Tensor:
    """Copy `x` with the entries at `index` replaced by `value`: what `x[index] = value` records.

    Shapes: x: (*), value: broadcasts to x[index], y: (*)

    Raises:
        ShapeError: the value does not fit.
        PlaceError: a place that `x` does not have.

    >>> set_index([1.0, 2.0, 3.0], 1, 9.0).data
    array([1., 9., 3.], dtype=float32)
    """
    index = raw_index(index)
    x = tensor_of(x)
    steps = in_two_steps(index, x.ndim)
    if steps is not None:
        index, value = steps[0], SetIndex.apply(x[steps[0]], value, index=steps[1])
    return SetIndex.apply(x, value, index=index)


class AddIndex(Function):
    """y = x with y[index] += v, where a place named twice gets both;  dx = g, dv = g[index]."""

    latex = r"y_i = x_i + \sum_{k : I_k = i} v_k, \quad \bar x = \bar y, \quad \bar v = \bar y_I"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), Draw((4,)), index=1),
        Case(Draw((5,)), Draw((3,)), index=[1, 1, -1]),
        Case(Draw((2, 3, 4)), Draw((2, 2, 4)), index=(slice(None), [0, 0])),
        Case(Draw((2, 3)), Draw(()), index=([[True, False, True], [False, True, True]],)),
        Case(Draw(()), Draw(()), index=...),
        Case(Draw((0, 3)), Draw((3,)), index=slice(None)),
    )
    aligns = True
    reads = ()

    def forward(self, x: Array, v: Any, index: Any) -> Array:
        xp = xp_of(x)
        self.index = index = copied(index, x)
        y = xp.array(x)
        try:
            scatter_add(y, index, v)
        except IndexError as error:
            raise misplaced(x, index, error) from None
        except ValueError:
            raise _unfit(x, v, index) from None
        return y

    def backward(self, g: Array) -> tuple[Array | None, Array | None]:
        return g, xp_of(g).asarray(g[self.index]) if self.needs[1] else None


def index_put(input: TensorLike, indices: Any, values: TensorLike, accumulate: bool = False) -> Tensor:
    """Copy `input` with the entries at a tuple of index tensors replaced, or with `accumulate` added to.

    Shapes: input: (*), values: broadcasts to input[indices], y: (*)

    Raises:
        ShapeError: the values do not fit.
        PlaceError: a place that `input` does not have.

    >>> index_put([1.0, 2.0], ([0, 0],), [10.0, 20.0], accumulate=True).data
    array([31.,  2.], dtype=float32)
    """
    index = raw_index(tuple(indices))
    return (AddIndex if accumulate else SetIndex).apply(input, values, index=index)


def put(input: TensorLike, index: TensorLike, source: TensorLike, accumulate: bool = False) -> Tensor:
    """Copy `input` with entries counted row by row replaced, or with `accumulate` added to.

    Shapes: input: (*), index and source: of one shape, y: (*)

    >>> put([[1.0, 2.0], [3.0, 4.0]], [0, -1], [9.0, 8.0]).tolist()
    [[9.0, 2.0], [3.0, 8.0]]
    """
    x, places = tensor_of(input), tensor_of(index)
    need_places("put", places.data, x.numel(), negative=True)
    y = index_put(x.reshape(-1), (places.reshape(-1),), tensor_of(source).reshape(-1), accumulate)
    return y.reshape(x.shape)


def _along(op: str, x: Tensor, dim: int, index: TensorLike, *, negative: bool = False) -> tuple[Any, ...]:
    """The index that names places along one axis; of a 0-d tensor the only one."""
    places: Any = as_array(getattr(index, "data", index))
    if places.ndim > 1:
        raise ShapeError(explain(f"{op}: places along one axis", got={"index": places.shape}, need="one axis, or none"))
    places = places.reshape(-1)
    if not prod(places.shape):
        places = xp_of(places).asarray(places, dtype=int)
    axis = axis_of(op, dim, x) if x.ndim else 0
    need_places(op, places, x.shape[axis] if x.ndim else 1, negative=negative)
    return (*(slice(None),) * axis, places)


def _need_source(op: str, x: Tensor, dim: int, index: tuple[Any, ...], source: Tensor) -> None:
    if source.dtype != x.dtype:
        got = {"x": x.dtype, "source": source.dtype}
        raise DTypeError(explain(f"{op}: the dtypes differ", got=got, need="one dtype for both", fix="source.to(x.dtype)"))
    axis, n = len(index) - 1, index[-1].shape[0]
    want = (*x.shape[:axis], n, *x.shape[axis + 1 :]) if x.ndim else () if op == "index_add" and n == 1 else (n,)
    if source.shape != want and (op == "index_add" or source.ndim or want != (1,)):
        got = {"x": x.shape, "dim": dim, "index": index[-1].shape, "source": source.shape}
        raise ShapeError(explain(f"{op}: the source doesn't fit", got=got, need=f"shape {want}"))


def index_add(input: TensorLike, dim: int, index: TensorLike, source: TensorLike, *, alpha: float = 1) -> Tensor:
    """Copy `input` with `alpha` times the entries of `source` along `dim` added at the places of `index`; one named twice gets both.

    Shapes: input: (a, b), index: (n), source: (n, b) for dim 0, y: (a, b)

    Raises:
        ShapeError: the source does not fit.
        DTypeError: `input` and source differ in dtype, or the index holds no integers.
        PlaceError: a place that the axis does not have.

    >>> index_add([1.0, 2.0], 0, [0, 0], [10.0, 20.0]).data
    array([31.,  2.], dtype=float32)
    """
    x = tensor_of(input)
    source = tensor_of(beside(source, x))
    i = _along("index_add", x, dim, index)
    _need_source("index_add", x, dim, i, source)
    y = AddIndex.apply(x if x.ndim else x.reshape(1), source if alpha == 1 else source * alpha, index=i)
    return y if x.ndim else y.reshape(())


def index_copy(input: TensorLike, dim: int, index: TensorLike, source: TensorLike) -> Tensor:
    """Copy `input` with entries along `dim` replaced by those of `source`; of two for one place the last stays.

    Shapes: input: (a, b), index: (n), source: (n, b) for dim 0, y: (a, b)

    Raises:
        ShapeError: the source does not fit.
        DTypeError: `input` and source differ in dtype, or the index holds no integers.
        PlaceError: a place that the axis does not have.

    >>> index_copy([1.0, 2.0], 0, [1], [9.0]).data
    array([1., 9.], dtype=float32)
    """
    x = tensor_of(input)
    source = tensor_of(beside(source, x))
    i = _along("index_copy", x, dim, index)
    _need_source("index_copy", x, dim, i, source)
    y = SetIndex.apply(x if x.ndim else x.reshape(1), source, index=i)
    return y if x.ndim else y.reshape(())


def index_fill(input: TensorLike, dim: int, index: TensorLike, value: TensorLike) -> Tensor:
    """Copy `input` with entries along `dim` replaced by one value.

    Shapes: input: (a, b), index: (n), value: (), y: (a, b)

    Raises:
        ShapeError: `value` is more than one.
        PlaceError: a place that the axis does not have.

    >>> index_fill([1.0, 2.0], 0, [1], 9.0).data
    array([1., 9.], dtype=float32)
    """
    x = tensor_of(input)
    if getattr(value, "ndim", 0):
        raise ShapeError(explain("index_fill: one value, please", got={"value": value.shape}, need="a number or a 0-d tensor"))  # type: ignore[union-attr]
    y = SetIndex.apply(x if x.ndim else x.reshape(1), value, index=_along("index_fill", x, dim, index, negative=True))
    return y if x.ndim else y.reshape(())


def masked_scatter(input: TensorLike, mask: TensorLike, source: TensorLike) -> Tensor:
    """Copy `input` with the entries where `mask` holds replaced by those of `source`, one after the other.

    Shapes: input: (*), mask: broadcasts to input, source: as many entries as the mask has, or more

    Raises:
        DTypeError: the mask holds no truth values.
        ShapeError: the mask is larger than `input`.
        ArgumentError: `source` has too few entries.

    >>> masked_scatter([1.0, 2.0, 3.0], [True, False, True], [8.0, 9.0]).data
    array([8., 2., 9.], dtype=float32)
    """
    x, mask, source = tensor_of(input), tensor_of(mask), tensor_of(source)
    if mask.dtype.kind != "b":
        raise DTypeError(explain("masked_scatter: a mask holds truth values", got={"mask": mask.dtype}, need="bool", fix="mask != 0"))
    where = mask.expand(x.shape).data
    n = int(xp_of(where).sum(where))
    if n > source.numel():
        raise ArgumentError(explain("masked_scatter: too few entries", got={"source": source.shape, "places": n}, need=f"{n} or more"))
    return SetIndex.apply(x, source.reshape(-1)[:n], index=where)
