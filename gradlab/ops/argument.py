"""Arguments that several ops take, read in one place: dim and keepdim, sizes, reduction. Not an op."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from .. import function
from ..backend import Array, is_array, is_kind, total, xp_of
from ..errors import ArgumentError, DimError, DTypeError, KeywordError, ShapeError, explain

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

Dim: TypeAlias = int | tuple[int, ...] | None


def spelled(dim: Any, keepdim: bool, numpy: dict[str, Any], dtype: Any = None) -> dict[str, Any]:
    """`dim` and `keepdim` (and `dtype`) as params, where NumPy's spellings `axis` and `keepdims` were also taken.

    Raises:
        TypeError: a keyword that no reduction has.
    """
    if numpy:
        axis, keepdims = numpy.pop("axis", None), numpy.pop("keepdims", False)
        if numpy:
            raise KeywordError(
                explain(f"reduction: no such keyword as {', '.join(numpy)}", got=numpy, need="dim and keepdim (or axis and keepdims)")
            )
        dim, keepdim = axis if dim is None else dim, keepdim or bool(keepdims)
    if dim is not None and dim.__class__ is not int:
        dim = _whole(dim)
    params: dict[str, Any] = {"dim": dim, "keepdim": True} if keepdim else {"dim": dim} if dim is not None else {}
    if dtype is not None:
        if not is_kind(dtype):
            raise DTypeError(
                explain("dtype: no kind of number of a tensor", got={"dtype": dtype}, need="gl.float32, gl.int64, gl.bool ...")
            )
        params["dtype"] = dtype
    return params


def one_dim(op: str, dim: Any, numpy: dict[str, Any]) -> int:
    """The axis of an op that works along one, where NumPy's `axis` was also taken.

    Raises:
        KeywordError: none was given, or several.
    """
    dim = spelled(dim, False, numpy).get("dim")
    if not isinstance(dim, int):
        raise KeywordError(explain(f"{op}: along which axis?", got={"dim": dim}, need="one axis"))
    return dim


def _whole(dim: Any) -> Dim:
    """An axis as an int, several as a tuple of ints; no axes are all of them, as in PyTorch, and one in a tuple is one."""
    axes = [whole("dim", d) for d in dim] if isinstance(dim, (tuple, list)) else whole("dim", dim)
    return axes if isinstance(axes, int) else tuple(axes) if len(axes) > 1 else axes[0] if axes else None


def whole(what: str, value: Any) -> int:
    """An argument that has to be a whole number.

    Raises:
        KeywordError: it is none.

    >>> import numpy as np
    >>> whole("dim", np.int64(1))
    1
    """
    try:
        return index(cast("Any", None) if isinstance(value, bool) else value)
    except (TypeError, ShapeError):  # a tensor of many
        raise KeywordError(explain(f"{what}: this is no whole number", got={what: repr(value)}, need="an integer")) from None


def need_number(op: str, **given: Any) -> None:
    """Refuse what is no number, nor a tensor of one.

    >>> need_number("clip", limit=0.5)

    Raises:
        KeywordError: text, None, a list.
    """
    for name, value in given.items():
        if not isinstance(value, (int, float, np.number, np.bool_)) and (getattr(value, "ndim", 1) or not hasattr(value, "dtype")):
            raise KeywordError(explain(f"{op}: {name} is no number", got={name: repr(value)}, need="a number"))


def sizes(given: tuple[Any, ...], named: Any = None) -> tuple[int, ...]:
    """The ints, whether they came one by one, as one tuple or list, or by name.

    >>> sizes((2, 3)), sizes(((2, 3),)), sizes((), (2, 3))
    ((2, 3), (2, 3), (2, 3))

    Raises:
        KeywordError: they came twice.
    """
    if named is not None:
        if given:
            raise KeywordError(explain("sizes: given twice", got={"by place": given, "by name": named}, need="one of them"))
        given = (named,)
    shape = tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    for n in shape:
        if n.__class__ is not int:
            return tuple([whole("size", n) for n in shape])
    return shape


def tensor_of(x: TensorLike) -> Tensor:
    """`x` as a tensor, for functions that are only another spelling of a tensor's methods."""
    if hasattr(x, "grad_fn"):
        return x  # type: ignore[return-value]
    return function._tensor_type.made(function.written(x), None)  # pyright: ignore[reportPrivateUsage]


def axis_of(op: str, dim: int, x: Array, extra: int = 0) -> int:
    """`dim` counted from the front."""
    n = x.ndim + extra
    dim = whole("dim", dim)
    if not -n <= dim < n:
        raise DimError(explain(f"{op}: there is no axis {dim}", got={"x": x.shape}, need=f"a dim from {-n} to {n - 1}"))
    return dim % n


def axes_of(x: Array, dim: Any) -> Any:
    """`dim` as every array library takes it: a 0-d array has the axes 0 and -1 for PyTorch and NumPy, but no axis for CuPy.

    >>> axes_of(np.ones(()), -1), axes_of(np.ones(2), -1)
    (None, -1)
    """
    return dim if x.ndim or dim not in (0, -1, (0,), (-1,)) else None


def need_reduction(op: str, reduction: str) -> None:
    """Refuse a word that names no reduction.

    Raises:
        ArgumentError: neither mean, sum nor none.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ArgumentError(explain(f"{op}: which reduction?", got={"reduction": repr(reduction)}, need='"mean", "sum" or "none"'))


def need_same_shape(op: str, a: Any, b: Any) -> None:
    """Refuse what would broadcast: (4, 1) against (4,) is 16 differences."""
    x, t = [v.shape if hasattr(v, "shape") else np.shape(v) for v in (a, b)]
    if x != t:
        # Only axes of size 1 apart: else (2, 3) and (3, 2) would be read in another order.
        fix = "target.reshape(input.shape)" if [n for n in x if n != 1] == [n for n in t if n != 1] else ""
        raise ShapeError(
            explain(f"{op}: input and target have different shapes", got={"input": x, "target": t}, need="the same shape", fix=fix)
        )


def need_letters(op: str, need: str, **given: Any) -> None:
    """Refuse other numbers of axes, and sizes under one letter that differ, where an op takes nothing that broadcasts.

    >>> need_letters("mm", "(n k), (k m)", a=np.ones((2, 3)), b=np.ones((3, 1)))

    Raises:
        ShapeError: the shapes are others.
    """
    shapes = {name: np.shape(x) if isinstance(x, (list, tuple)) else getattr(x, "shape", ()) for name, x in given.items()}
    wanted = dict(zip(shapes, need.split(", "), strict=True))
    size: dict[str, int] = {}
    for name, shape in shapes.items():
        letters = wanted[name].strip("()").split()
        if len(letters) != len(shape) or any(size.setdefault(c, n) != n for c, n in zip(letters, shape, strict=True)):
            text = ", ".join([f"{name}: {letters.replace(' ', ', ')}" for name, letters in wanted.items()])
            raise ShapeError(explain(f"{op}: the shapes don't fit", got=shapes, need=text))


def reduced(losses: Array, reduction: str, n: Any, shape: tuple[int, ...], dtype: Any) -> Array:
    """One loss an entry as asked for, in that dtype; a mean over nothing is NaN.

    Raises:
        DTypeError: the inputs hold integers, of which a mean would be cut.
    """
    if dtype.kind != "f":
        raise DTypeError(
            explain("loss: takes floating numbers", got={"dtype": dtype}, need="float16, float32 or float64", fix="input.float()")
        )
    xp = xp_of(losses)
    if reduction == "none":
        return xp.asarray(losses.reshape(shape), dtype=dtype)
    y = total(losses)
    return xp.asarray(y if reduction == "sum" else y / n if is_array(n) or n else y + xp.nan, dtype=dtype)


def not_in_place(op: str, inplace: bool) -> None:
    """Refuse to write a result over its input, which PyTorch does to save memory.

    Raises:
        KeywordError: `inplace` is true.
    """
    if inplace:
        need = f"inplace=False, the default; the method {op}_ changes a tensor in place, where there is one"
        raise KeywordError(explain(f"{op}: the result is always a new tensor", got={"inplace": inplace}, need=need))
