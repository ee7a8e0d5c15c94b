"""The JavaScript of the widgets, read from `gradlab/static` when a widget is made."""

from __future__ import annotations

from pathlib import Path

from ..errors import GradlabError

STATIC = Path(__file__).parent.parent / "static"
"""Where the built bundle lies; it is part of every wheel and not in git."""


class BundleError(GradlabError):
    """The panels' JavaScript is not there: gradlab runs from a checkout where it was not built."""


def read(name: str) -> str:
    """The text of one built file, such as `session.js`.

    Raises: BundleError where the file is missing; the text says how to build it.
    """
    try:
        return (STATIC / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        message = f"the panels are not built: {STATIC / name} is missing\n  try:  pip install -e .   (in the checkout; it builds them)"
        raise BundleError(message) from None
