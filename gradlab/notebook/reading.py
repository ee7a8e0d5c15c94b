"""Numbers as people read them, in the words and digits of the panels."""

from __future__ import annotations

import math
from unicodedata import bidirectional


def plain(x: float) -> str:
    """Three digits between 0.01 and 1000, scientific outside.

    >>> [plain(x) for x in (0.0441, 17.84, 705.2, 1430.0, 0.0, float("nan"))]
    ['0.044', '17.8', '705', '1.4e3', '0', 'NaN']
    """
    if not math.isfinite(x):
        return "NaN" if x != x else "Inf" if x > 0 else "\u2212Inf"
    size = abs(x)
    if size == 0:
        return "0"
    if size >= 999.5 or size < 0.00995:
        mantissa, exponent = f"{x:.1e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
    else:
        text = f"{x:.{0 if size >= 99.95 else 1 if size >= 9.995 else 2 if size >= 0.9995 else 3}f}"
    return text.replace("-", "\u2212", 1) if x < 0 else text


def size(count: float) -> str:
    """Bytes in the unit that keeps the number short.

    >>> size(4), size(1300), size(16 * 1024)
    ('4 B', '1.3 KiB', '16 KiB')
    """
    return _short(count, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))


def operations(count: float | None) -> str:
    """A count of operations.

    >>> operations(999), operations(40_960), operations(2_100_000), operations(None)
    ('999', '41 k', '2.1 M', 'no formula')
    """
    return "no formula" if count is None else _short(count, 1000, ("", "k", "M", "G", "T")).rstrip()


def _short(count: float, step: int, units: tuple[str, ...]) -> str:
    unit = 0
    while count >= step and unit < len(units) - 1:
        count, unit = count / step, unit + 1
    return f"{count:.{1 if unit and count < 9.95 else 0}f} {units[unit]}"


def isolated(name: str) -> str:
    """A name that may be written from right to left, so that what follows it in a line stays behind it.

    >>> isolated("fc1"), isolated("\u05d0") == "\u2068\u05d0\u2069"
    ('fc1', True)
    """
    return f"\u2068{name}\u2069" if any(bidirectional(letter) in ("R", "AL") for letter in name) else name
