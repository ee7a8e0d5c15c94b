"""A JupyterLab server of its own: free port, token, and a home directory that nobody else uses."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

START_TIMEOUT_S = 120


@dataclass
class Server:
    """A running server and where its files are."""

    url: str
    token: str
    root: Path
    home: Path

    @property
    def log(self) -> str:
        """Return what the server has printed so far."""
        return (self.home / "server.log").read_text(errors="replace")

    @contextlib.contextmanager
    def extension_disabled(self) -> Iterator[None]:
        """Serve pages without the gradlab extension, as `jupyter labextension disable gradlab` would."""
        with self.disabled("gradlab"):
            yield

    @contextlib.contextmanager
    def disabled(self, *names: str) -> Iterator[None]:
        """Serve pages without these extensions or plugins."""
        config = self.home / "config" / "labconfig" / "page_config.json"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(json.dumps({"disabledExtensions": dict.fromkeys(names, True)}))
        try:
            yield
        finally:
            config.unlink()


@contextlib.contextmanager
def serve(root: Path) -> Iterator[Server]:
    """Run `jupyter lab` on the notebooks in `root` until the block ends."""
    with tempfile.TemporaryDirectory(prefix="gradlab-ui-", ignore_cleanup_errors=True) as home:
        server = Server(f"http://127.0.0.1:{_free_port()}", secrets.token_hex(16), root, Path(home))
        _no_notifications(server.home)
        with open(server.home / "server.log", "wb") as log:
            process = subprocess.Popen(
                _command(server), env=_environment(server.home), stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        try:
            _wait_until_up(server, process)
            yield server
        finally:
            _stop(process)


def _command(server: Server) -> list[str]:
    port = server.url.rpartition(":")[2]
    return [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--ServerApp.ip=127.0.0.1"),
        *(f"--IdentityProvider.token={server.token}", f"--ServerApp.root_dir={server.root}"),
        # The driver talks to the application through window.jupyterapp.
        "--LabApp.expose_app_in_browser=True",
    ]


def _environment(home: Path) -> dict[str, str]:
    places = {
        "HOME": "",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    # One BLAS thread: the tests share the machine, and sums are the same in every run.
    return os.environ | {name: str(home / place) for name, place in places.items()} | {"OPENBLAS_NUM_THREADS": "1"}


def _no_notifications(home: Path) -> None:
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(server: Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{server.url}/api?token={server.token}", timeout=1).read()
            return
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{server.log[-3000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
