"""Writing a safetensors file so that a crash, a full disk or an interrupt leaves the old one as it was."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, FileError, KeywordError, explain
from .layout import packed

_LONGEST = 90_000_000  # bytes of layout; readers refuse a header above 100 MB


def save(obj: Any, f: str | os.PathLike[str]) -> None:
    """Write tensors, arrays, numbers and text, nested in lists and dicts, to a safetensors file.

    A state_dict is written under its own names, as other programs expect it; the rest of the layout goes into the file's
    metadata, see `gradlab.files.layout`. The file is written beside its place, forced to the disk, and then put there at
    once. Gradients and graphs are not kept, tensors on a device come from there.

    Args:
        obj: what to keep; of modules and optimizers the `state_dict()`.
        f: the path. A file that is there is replaced, and keeps its permissions.

    Raises:
        KeywordError: something in it is no number, text, array, list or dict; or `f` is no path.
        DTypeError: arrays of something that a file can't hold.
        FileError: the folder is not there or can't be written, the disk is full. The old file is untouched.

    >>> import gradlab as gl, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gl.save({"epoch": 3, "order": (2, 0, 1)}, f"{folder}/run.safetensors")
    ...     gl.load(f"{folder}/run.safetensors")
    {'epoch': 3, 'order': (2, 0, 1)}
    """
    place = path_of("save", f)
    layout, arrays = packed(obj)
    if len(layout) > _LONGEST:
        got = {"numbers and text, in bytes": len(layout)}
        raise ArgumentError(explain("save: too much beside the arrays", got=got, need=f"at most {_LONGEST}; long lists as arrays"))
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    place = Path(os.path.realpath(place))  # where a link leads, so that the link stays
    beside = place.with_name(f".{place.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        if place.is_dir():
            raise IsADirectoryError("this is a folder")
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # with the permissions of a new file
        mode = (place if place.exists() else beside).stat().st_mode
        # "pt" tells other programs that names and shapes are PyTorch's.
        save_file(arrays, beside, {"format": "pt", "gradlab": layout})
        _force(beside, os.O_RDWR)  # Windows forces only what could be written
        beside.chmod(mode)
        beside.replace(place)
    except (OSError, SafetensorError) as error:
        need = "a folder that can be written, with room for it; what was there before is untouched"
        raise FileError(explain(f"save: could not write {place}", got={type(error).__name__: error}, need=need)) from error
    finally:
        with suppress(OSError):
            beside.unlink()
    if os.name == "posix":
        with suppress(OSError):  # not every file system can; the file is whole either way
            _force(place.parent, os.O_RDONLY)


def path_of(what: str, f: Any) -> Path:
    """`f` as a path.

    Raises:
        KeywordError: it is none.
    """
    if not isinstance(f, (str, os.PathLike)):
        swapped = isinstance(f, dict)
        raise KeywordError(
            explain(
                f"{what}: f is a path",
                got={"f": type(f).__name__},
                need="a string or a Path",
                fix="gl.save(state, path), in this order" if swapped else "",
            )
        )
    return Path(os.fspath(f))


def _force(path: Path, access: int) -> None:
    """Wait until the disk has it."""
    handle = os.open(path, access)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
