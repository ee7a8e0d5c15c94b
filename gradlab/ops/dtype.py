"""The number type an op computes in. Not an op: what the files of this folder share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import DEFAULT_FLOAT, Array, as_array, bool_, float16, float32, int64, on_host, xp_of
from ..errors import ArgumentError, DTypeError, explain
from ..function import written

NUMBERS = {float, int, bool}
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
as_pytorch = np.errstate(divide="ignore", invalid="ignore")  # decorates a rule: 1/0 is inf and log(-1) is NaN, without a warning
saturating = np.errstate(over="ignore", invalid="ignore")  # the same where an infinite e^x is right, as in 1 / (1 + e^x) = 0


def floating(x: Any) -> Array:
    """`x` itself where it holds floats; integers, booleans and Python numbers as float32.

    >>> import numpy as np
    >>> floating(np.array([1, 2])).dtype
    dtype('float32')
    """
    try:
        if x.dtype.kind == "f":
            return x
    except AttributeError:
        pass
    return xp_of(x).asarray(x, dtype=DEFAULT_FLOAT)


def wide(x: Array) -> Array:
    """float16 as float32, anything else as it is: in float16 300 squared is infinite, and a sum of ones stops at 2048.

    >>> import numpy as np
    >>> wide(np.ones(2, "float16")).dtype
    dtype('float32')
    """
    return xp_of(x).asarray(x, dtype=float32) if x.dtype == float16 else x


def counted(x: Array, dtype: Any = None) -> Array:
    """What is to be added up or multiplied: in the dtype asked for, else integers and booleans as int64.

    >>> import numpy as np
    >>> counted(np.array([200, 200], "uint8")).dtype
    dtype('int64')
    """
    if dtype is None:
        return x if x.dtype.kind == "f" else xp_of(x).asarray(x, dtype=int64)
    return xp_of(x).asarray(x, dtype=dtype)


def times(a: Array, b: Array) -> Array:
    """`a @ b`; float16 in main memory by way of float32, which BLAS knows (90 times as fast for 256 x 256).

    >>> import numpy as np
    >>> times(np.ones((1, 300), "float16"), np.ones((300, 1), "float16"))
    array([[300.]], dtype=float16)
    """
    if a.dtype is float16 and b.dtype is float16 and on_host(a):
        return np.asarray(a.astype(float32) @ b.astype(float32)).astype(float16)
    return a @ b


def kept(g: Array, where: Array) -> Array:
    """`g` where `where` holds, else 0; also where `g` is inf or NaN, which 0 times `g` would spread.

    The bits of `g` are multiplied by 1 or 0: as fast as `g * where`, and up to 10 times as fast as NumPy's `where`.

    >>> import numpy as np
    >>> kept(np.float32([3.0, np.inf]), np.array([True, False]))
    array([3., 0.], dtype=float32)
    """
    if hasattr(g, "grad_fn"):
        return xp_of(g).where(where, g, 0.0)
    return (g.view(f"i{g.dtype.itemsize}") * where).view(g.dtype)


def parted(g: Array, where: Array) -> tuple[Array, Array]:
    """`g` where `where` holds, and `g` where it does not; 0 elsewhere, also beside inf and NaN.

    >>> import numpy as np
    >>> parted(np.float32([3.0, np.inf]), np.array([True, False]))
    (array([3., 0.], dtype=float32), array([ 0., inf], dtype=float32))
    """
    bits = g.view(f"i{g.dtype.itemsize}")
    some = bits * where
    return some.view(g.dtype), (bits - some).view(g.dtype)


def all_below(ids: Array, n: int) -> bool:
    """Whether every id is one of 0 to n - 1, in one pass: read without its sign, a negative id is a huge one.

    >>> import numpy as np
    >>> all_below(np.array([0, 2]), 3), all_below(np.array([0, -1]), 3)
    (True, False)
    """
    return bool(ids.view(_UNSIGNED[ids.dtype.itemsize]).max() < n)


def need_floats(op: str, x: Array) -> None:
    """Refuse integers and booleans where the result would have to be a fraction.

    Raises:
        DTypeError: `x` does not hold floats.
    """
    if x.dtype.kind != "f":
        raise DTypeError(explain(f"{op}: takes floating numbers", got={"x": x.dtype}, need="float16, float32 or float64", fix="x.float()"))


def beside(x: Any, other: Any) -> Any:
    """A list of numbers in the dtype of the tensor it meets: it was written without one. Anything else as it is."""
    if not isinstance(x, (list, tuple)):
        return x
    array, dtype = written(x), getattr(other, "dtype", DEFAULT_FLOAT)
    return xp_of(array).asarray(array, dtype=dtype) if dtype.kind == "f" else array


def need_one_dtype(op: str, **pair: Array) -> None:
    """Refuse a product of two kinds of numbers of which one is floating: widening would be slow, and silent.

    Raises:
        DTypeError: the dtypes differ. It suggests to change integers, else the first.
    """
    (a, x), (b, y) = [(name, array.dtype) for name, array in pair.items()]
    if x == y or "f" not in (x.kind, y.kind):
        return
    fix = f"{b}.astype({a}.dtype)" if y.kind != "f" else f"{a}.astype({b}.dtype)"
    raise DTypeError(explain(f"{op}: the dtypes differ", got={a: x, b: y}, need="one dtype for both", fix=fix))


def module_of(*operands: Any) -> Any:
    """The module whose functions take these operands of a step: arrays, and Python numbers beside at least one.

    >>> module_of(2.0, as_array([1.0])).__name__
    'numpy'
    """
    for x in operands:
        if type(x) not in NUMBERS:
            return xp_of(x)
    return np


def numbers(x: Any) -> Array:
    """`x` itself where it is an array; a Python number as an array: float32, int64 or boolean."""
    return x if type(x) not in NUMBERS else as_array(x)


def need_no_booleans(op: str, *operands: Any, fix: str = "") -> None:
    """Refuse truth values where only numbers have a meaning.

    Raises:
        DTypeError: an operand is boolean.
    """
    for x in operands:
        if getattr(x, "dtype", None) is bool_:
            got = {"xyz"[i]: getattr(v, "dtype", type(v).__name__) for i, v in enumerate(operands)}
            raise DTypeError(explain(f"{op}: truth values have no such thing", got=got, need="numbers", fix=fix))


def need_no_zero(op: str, a: Any, b: Any) -> None:
    """Refuse whole numbers divided by 0, where that can be seen without waiting for a device.

    Raises:
        ArgumentError: there is a 0 in `b`, and neither operand is floating.
    """
    whole = all(getattr(x, "dtype", bool_).kind != "f" for x in (a, b))
    if whole and (on_host(b) or type(b) in NUMBERS) and not np.all(b):
        raise ArgumentError(explain(f"{op}: whole numbers divided by 0", got={"divisor": 0}, need="another divisor, or floats"))


def floats(*operands: Any) -> list[Array]:
    """Aligned operands of a step as arrays of one floating dtype; integers and Python numbers alone are float32.

    >>> [x.dtype.name for x in floats(as_array([1, 2]), 0.5)]
    ['float32', 'float32']
    """
    dtypes = [x.dtype for x in operands if type(x) not in NUMBERS and x.dtype.kind == "f"]
    xp, dtype = module_of(*operands), dtypes[0] if dtypes else DEFAULT_FLOAT
    return [xp.asarray(x, dtype=dtype) for x in operands]
