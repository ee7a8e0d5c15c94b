"""Reading safetensors files: those of gl.save, and those of other programs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from .._tensor import Tensor
from ..backend import Device, as_array, moved
from ..errors import DTypeError, FileError, FormatError, MissingFileError, explain
from .layout import unpacked
from .saving import path_of

_OTHERS = (  # how files of other kinds begin, and what leads from there to here
    (b"PK\x03\x04", "a zip, as torch.save and np.savez write", "safetensors.torch.save_file(torch.load(path), new_path)"),
    (b"\x80", "a pickle, which could run any code: gradlab never opens one", "safetensors.torch.save_file(torch.load(path), new_path)"),
    (b"\x93NUMPY", "a NumPy array", "gl.from_numpy(np.load(path))"),
    (b"\x89HDF", "HDF5", ""),
    (b"\x1f\x8b", "gzip", ""),
    (b"version https://git-lfs", "a Git LFS pointer: the file itself was not fetched", "git lfs pull"),
    (b"GGUF", "GGUF", ""),
    (b"<", "a page of the web", ""),
)

_READ = {"BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "BF16", "F16", "F32", "F64", "C64"}


def load(f: str | os.PathLike[str], map_location: Any = None, *, weights_only: bool = True) -> Any:
    """Read back what `gl.save` wrote; or the tensors of any safetensors file, as a dict by their names.

    Nothing in a file can run code. Tied tensors are one tensor again. bfloat16, which NumPy does not have, becomes
    float32 without a loss. What is loaded requires no gradient, and shares no memory with the file.

    Args:
        map_location: the device that tensors go to; the cpu without it.
        weights_only: taken for PyTorch's sake; what False would allow there is in no file here.

    Raises:
        MissingFileError: there is no such file.
        FormatError: it is cut off, damaged or of another kind: a pickle, a zip.
        DTypeError: it holds numbers that NumPy does not have, such as float8.
        DeviceError: there is no such device.
    """
    path = path_of("load", f)
    place = Device("cpu" if map_location is None else map_location)
    _ = place.xp  # raises before anything is read
    arrays, metadata = read(path)

    def tensor_of(array: np.ndarray) -> Tensor:
        return Tensor.made(moved(as_array(array), place), None)  # whatever device a `with` block names

    if "gradlab" in metadata:
        return unpacked(metadata["gradlab"], arrays, tensor_of)
    return {name: tensor_of(array) for name, array in arrays.items()}


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays of a safetensors file in the order in which they lie there, and its metadata.

    Raises: see `load`.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with path.open("rb") as file:
            _need_kind(path, file)
            with safe_open(path, "np") as opened:
                names: list[str] = opened.offset_keys()
                kinds = {name: opened.get_slice(name).get_dtype() for name in names}
                _need_known(path, kinds)
                arrays = {name: opened.get_tensor(name) for name in names if kinds[name] != "BF16"}
                metadata = opened.metadata() or {}
            if len(arrays) < len(names):
                arrays |= _widened(file, [name for name in names if name not in arrays])
    except FileNotFoundError:
        need = "a path that is there" if path.parent.is_dir() else f"a folder {path.parent}"
        raise MissingFileError(explain("load: there is no such file", got={"path": path}, need=need)) from None
    except SafetensorError as error:
        got = {"path": path, "bytes": path.stat().st_size, "safetensors says": error}
        raise FormatError(explain("load: this file is cut off or damaged", got=got, need="a whole safetensors file")) from None
    except OSError as error:
        raise FileError(
            explain(f"load: could not read {path}", got={type(error).__name__: error}, need="a file that can be read")
        ) from error
    return {name: arrays[name] for name in names}, metadata


def _need_kind(path: Path, file: BinaryIO) -> None:
    head = file.read(24)
    for start, kind, fix in _OTHERS:
        # A safetensors file begins with the length of its header, in 8 bytes, and a brace.
        if head.startswith(start) and head[8:9] != b"{":
            got = {"path": path, "it is": kind}
            raise FormatError(explain("load: this is no safetensors file", got=got, need="what gl.save or safetensors wrote", fix=fix))


def _need_known(path: Path, kinds: dict[str, str]) -> None:
    for name, kind in kinds.items():
        if kind not in _READ:
            got = {"path": path, name: kind}
            raise DTypeError(explain("load: NumPy has no such numbers", got=got, need="float16, bfloat16, float32 or float64"))


def _widened(file: BinaryIO, names: list[str]) -> dict[str, np.ndarray]:
    """Arrays of bfloat16 as float32, whose upper half they are; the header was found right before."""
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    header = json.loads(file.read(length))
    found: dict[str, np.ndarray] = {}
    for name in names:
        start, end = header[name]["data_offsets"]
        file.seek(8 + length + start)
        halves = np.frombuffer(file.read(end - start), "<u2")
        found[name] = (halves.astype(np.uint32) << 16).view(np.float32).reshape(header[name]["shape"])
    return found
