"""IDX files, in which MNIST and its like are published: a few sizes, then the numbers."""

from __future__ import annotations

import gzip
import math
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, FormatError, KeywordError, MissingFileError, explain

_KINDS = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str | os.PathLike[str]) -> np.ndarray:
    """The array of an IDX file, packed by gzip or not.

    Raises:
        MissingFileError: there is no such file.
        FormatError: it is no IDX file, is cut off, or holds more or fewer numbers than it says.

    Source: Y. LeCun, C. Cortes, C. Burges, "The MNIST database", section on file formats.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(f"{folder}/labels").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
    ...     read_idx(f"{folder}/labels")
    array([7, 2, 1], dtype=uint8)
    """
    return parsed(content_of("read_idx", path), str(path))


def parsed(content: bytes, name: str) -> np.ndarray:
    """The array that the bytes of an IDX file hold.

    Raises:
        FormatError: see `read_idx`.
    """
    content = unzipped(content, name)
    kind, axes = (_KINDS.get(content[2]), content[3]) if len(content) > 3 and content[:2] == b"\0\0" else (None, 0)
    if kind is None:
        got = {"file": name, "it begins with": content[:4].hex(" ") or "nothing"}
        need = f"0, 0, a kind ({', '.join(f'{k:02x}' for k in _KINDS)}) and the number of axes"
        raise FormatError(explain("read_idx: this is no IDX file", got=got, need=need))
    begin = 4 + 4 * axes
    sizes = tuple(np.frombuffer(content[4:begin][: 4 * ((len(content) - 4) // 4)], ">u4").tolist())
    if len(sizes) < axes:
        raise FormatError(
            explain("read_idx: this file ends in its header", got={"file": name, "bytes": len(content)}, need=f"{begin} bytes at least")
        )
    stated, there = math.prod(sizes) * np.dtype(kind).itemsize, len(content) - begin
    if stated != there:
        what = "ends early" if there < stated else "goes on after its end"
        got = {"file": name, "sizes it states": sizes, "bytes they take": stated, "bytes there are": there}
        raise FormatError(explain(f"read_idx: this file {what}", got=got, need="as many numbers as its header says"))
    array = np.frombuffer(content, kind, offset=begin).reshape(sizes)
    return array.astype(array.dtype.newbyteorder("="))


def content_of(what: str, path: Any) -> bytes:
    """The bytes of a file.

    Raises:
        KeywordError: this is no path.
        MissingFileError, FileError: it is not there, or can't be read.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise KeywordError(explain(f"{what}: this is no path", got={"path": type(path).__name__}, need="a string or a Path"))
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise MissingFileError(explain(f"{what}: there is no such file", got={"path": path}, need="a path that is there")) from None
    except OSError as error:
        got = {type(error).__name__: error}
        raise FileError(explain(f"{what}: could not read {path}", got=got, need="a file that can be read")) from error


def unzipped(content: bytes, name: str) -> bytes:
    """The bytes themselves, or what gzip packed into them.

    Raises:
        FormatError: the packing is cut off or damaged.
    """
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, OSError, zlib.error) as error:
        got = {"file": name, "bytes": len(content), "gzip says": error}
        raise FormatError(explain("gzip: this file is cut off or damaged", got=got, need="a whole one")) from None
