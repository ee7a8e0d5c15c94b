"""Formulas as MathML, which a browser typesets by itself."""

from __future__ import annotations

from functools import lru_cache

import latex2mathml.converter


@lru_cache(maxsize=1_024)
def of(latex: str) -> str:
    r"""The MathML of a formula; "" where the LaTeX can't be read.

    >>> of(r"y = x^2")[:5]
    '<math'
    """
    try:
        return latex2mathml.converter.convert(latex.replace(r"\arg", r"\operatorname{arg}").replace(r"\top", r"\text{T}"))
    except Exception:  # a user's own LaTeX
        return ""
