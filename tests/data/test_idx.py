"""IDX files: what is read, and what is refused in words."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

import gradlab as gl
from gradlab import data

CODES = {"u1": 0x08, "i1": 0x09, ">i2": 0x0B, ">i4": 0x0C, ">f4": 0x0D, ">f8": 0x0E}


def idx(array, kind="u1"):
    array = np.asarray(array)
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, CODES[kind], array.ndim, *array.shape) + array.astype(kind).tobytes()


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("shape", [(5,), (2, 3, 4), (0, 3), ()], ids=str)
def test_every_kind_and_shape_is_read_packed_or_not(kind, shape, packed, tmp_path):
    want = (np.random.default_rng(0).random(shape) * 100).astype(kind)
    content = idx(want, kind)
    (tmp_path / "a").write_bytes(gzip.compress(content) if packed else content)
    got = data.read_idx(tmp_path / "a")
    np.testing.assert_array_equal(got, want)
    assert got.dtype == np.dtype(kind).newbyteorder("=") and got.shape == shape and got.flags.writeable
    assert gl.tensor(got).shape == shape


GOOD = idx(np.arange(12).reshape(3, 4))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", r"(?s)no IDX file.*it begins with nothing"),
        (b"\0\0", "no IDX file"),
        (b"PK\x03\x04rest", r"(?s)no IDX file.*50 4b 03 04"),
        (b"<html>", "no IDX file"),
        (b"\0\0\x07\x01" + b"\0" * 8, "no IDX file"),
        (b"\0\1\x08\x01" + b"\0" * 8, "no IDX file"),
        (GOOD[:9], r"(?s)ends in its header.*12 bytes at least"),
        (GOOD[:-1], r"(?s)ends early.*\(3, 4\).*bytes they take +12.*bytes there are +11"),
        (GOOD[:12], "ends early"),
        (GOOD + b"x", r"(?s)goes on after its end.*bytes there are +13"),
        (struct.pack(">BBBBIII", 0, 0, 8, 3, 2**32 - 1, 2**32 - 1, 2**32 - 1), "ends early"),
        (gzip.compress(GOOD)[:-9], "cut off or damaged"),
        (gzip.compress(GOOD)[:12] + b"\xff" * 30, "cut off or damaged"),
        (b"\x1f\x8b", "cut off or damaged"),
        (gzip.compress(b"text"), "no IDX file"),
    ],
    ids=range(15),
)
def test_what_is_no_idx_file_is_refused(content, match, tmp_path):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(gl.FormatError, match=match):
        data.read_idx(tmp_path / "a")


def test_what_can_not_be_read_is_a_clear_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        data.read_idx(tmp_path / "nothing")
    with pytest.raises(gl.FileError, match="could not read"):
        data.read_idx(tmp_path)
    with pytest.raises(gl.KeywordError, match="no path"):
        data.read_idx(3)
