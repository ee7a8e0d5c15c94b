"""The state of everything that the built JavaScript depends on, as one hash.

Content, not dates: an unpacked sdist, a fresh clone and a changed branch all have new dates.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = ("package.json", "package-lock.json", "js/build.mjs", "js/install.json", "js/env.d.ts")
FOLDERS = ("js/protocol", "js/draw", "js/panels", "js/lab", "js/style", "js/stubs")


def fingerprint(root: Path = ROOT, extra: tuple[str, ...] = ()) -> str:
    """Hash the names and contents of the JavaScript sources, and of `extra` files, below `root`."""
    paths = [root / name for name in (*FILES, *extra)]
    for folder in FOLDERS:
        paths += (root / folder).rglob("*")
    digest = hashlib.sha256()
    for path in sorted(path for path in paths if path.is_file()):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()
