"""The browser that the tests drive, and what has to be installed for them."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-sync"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]


def launch(playwright: Playwright) -> Browser:
    """Start Chromium without a window; it talks to nobody but the tests."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)


def missing() -> str | None:
    """Say what the browser tests lack here, or None."""
    for module in ("jupyterlab", "playwright", "anywidget"):
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    if not Path(CHROMIUM).exists():
        return f"no Chromium at {CHROMIUM} (set CHROMIUM)"
    from jupyter_core.paths import jupyter_path

    if not any(Path(place, "gradlab", "package.json").exists() for place in jupyter_path("labextensions")):
        return "the gradlab extension of JupyterLab is not installed"
    return None
