"""The size of an array in one number: its L2 norm, which is also its finite test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from math import hypot, sqrt
from struct import Struct
from typing import Any

import numpy as np

from ..backend import Array, float32, float64, xp_of

_INF = math.inf
_ndarray = np.ndarray
_vdot = getattr(np.vdot, "_implementation", np.vdot)  # without the look for other array types, half of its time on a small array
_PIECE = 1 << 18  # entries of which a float32 dot product still has all its digits
_TINY = 1_024  # entries that are copied sooner than looked at from the side
_SMALL = 16_384  # entries of an array that is copied together with others, to be read in one go
_FEW = 17  # entries that Python reads sooner than NumPy
_UNPACK = {dtype: [Struct(f"{n}{dtype.char}").unpack for n in range(_FEW)] for dtype in (float32, float64)}
_EXACT_BELOW = 1e-30  # a float32 sum of squares this small has lost digits to underflow


def norm(array: Array) -> float:
    """The L2 norm over all entries; NaN or infinite exactly where an entry is. An empty array has norm 0.

    One pass: a dot product of the flat array with itself, in pieces where it is long. Where it over- or underflows, one more pass
    in float64.

    >>> norm(np.array([3.0, 4.0], np.float32)), norm(np.array([3e30, 4e30], np.float32)) > 4.9e30
    (5.0, True)
    """
    dtype, size = array.dtype, array.size
    plain = array.__class__ is _ndarray
    if plain and size > _PIECE:
        return _in_pieces(array)
    if dtype is float32 or dtype is float64:
        if size == 1:
            return abs(array.item())
        # Order "K": a transposed array is read as it lies, where vdot would copy it. vdot: unlike dot it warns of no overflow.
        flat = array if plain and size <= _TINY else array.ravel("K")
        squares = float(_vdot(flat, flat) if plain else xp_of(flat).vdot(flat, flat))
        if _EXACT_BELOW < squares < _INF:
            return sqrt(squares)
        if not squares and not flat.any():
            return 0.0
    return _careful(array.ravel("K"))


def norm_of_all(arrays: Iterable[Array]) -> float:
    """The L2 norm over the entries of all arrays together; small ones are read in one go.

    >>> norm_of_all([np.array([3.0]), np.array([[4.0]]), np.array([12.0])])
    13.0
    """
    small: list[np.ndarray] = []
    norms: list[float] = []
    dtype: Any = None
    for array in arrays:
        if array.__class__ is _ndarray and array.size <= _SMALL:
            if array.dtype is dtype:
                small.append(array)
                continue
            if not small and array.dtype in _UNPACK:
                dtype = array.dtype
                small.append(array)
                continue
        norms.append(norm(array))
    if small:
        try:  # one copy of all bytes: a call of NumPy for each array takes several times as long
            data = b"".join(small)  # pyright: ignore[reportCallIssue, reportArgumentType]: what lies in line is a buffer
        except TypeError:
            data = b"".join([array.ravel("K").data for array in small])
        count = len(data) // dtype.itemsize
        together = _hypot(_UNPACK[dtype][count](data)) if count < _FEW else norm(np.frombuffer(data, dtype))
        if not norms:
            return together
        norms.append(together)
    return _hypot(norms)


def _hypot(numbers: Sequence[float]) -> float:
    size = hypot(*numbers)
    return math.nan if size == _INF and any(x != x for x in numbers) else size  # hypot alone holds Inf for worse than NaN


def few_as_bytes(arrays: Sequence[Array]) -> Callable[[bytes], tuple[float, ...]] | None:
    """What reads the entries of arrays like these from their bytes, one array after the other; None for many, or several kinds.

    Another number of bytes is refused by struct.error.

    >>> a, b = np.array([3.0, 0.0]), np.array([[4.0]])
    >>> few_as_bytes([a, b])(b"".join([a, b]))
    (3.0, 0.0, 4.0)
    """
    count = sum(int(array.size) for array in arrays)
    kinds: set[Any] = {array.dtype if array.__class__ is _ndarray else None for array in arrays}
    known = _UNPACK.get(kinds.pop()) if len(kinds) == 1 else None
    return known[count] if known is not None and count < _FEW else None


def rms(size_of: float, count: int) -> float:
    """The root of the mean square, from the norm and the number of entries.

    >>> rms(6.0, 9)
    2.0
    """
    return size_of / count**0.5 if count else 0.0


def _in_pieces(array: np.ndarray) -> float:
    """The norm of a long array; along an axis that repeats one entry, as `expand` makes it, only that one is read."""
    once = array[tuple([slice(1) if stride == 0 else slice(None) for stride in array.strides])]
    flat = once.ravel("K")
    norms = [norm(flat[i : i + _PIECE]) for i in range(0, flat.size, _PIECE)]
    return math.nan if any(n != n for n in norms) else hypot(*norms) * (array.size / once.size) ** 0.5


def _careful(flat: Any) -> float:
    """The norm in float64, scaled by the largest entry where the squares would leave its range."""
    xp = xp_of(flat)
    if not flat.size:
        return 0.0
    with np.errstate(all="ignore"):
        wide = flat.astype(xp.float64)
        squares = float(wide.dot(wide))
        if 1e-280 < squares < _INF:
            return squares**0.5
        largest = float(xp.max(xp.abs(wide)))
        if largest == 0.0 or not math.isfinite(largest):
            return largest
        scaled = wide / largest
        return largest * float(scaled.dot(scaled)) ** 0.5
