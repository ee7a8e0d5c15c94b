"""Shells and kernels to run cells in, with a two-line bundle in place of the built one."""

from __future__ import annotations

import base64
import json
import os
import queue
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import ipywidgets
import pytest
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from traitlets.config import Config

import gradlab
from gradlab.notebook import bundle, current_session, end_session

ESM = "export default { render({ el }) { el.textContent = 'here'; } };\n"


@pytest.fixture
def static(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for gradlab/static."""
    for name in ("session.js", "panel.js", "more.js"):
        (tmp_path / name).write_text(ESM)
    monkeypatch.setattr(bundle, "STATIC", tmp_path)
    return tmp_path


@pytest.fixture
def shell(static: Path, tmp_path: Path) -> Iterator[InteractiveShell]:
    """An IPython of its own, as it runs in a kernel but without one."""
    InteractiveShell.clear_instance()
    config = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell.instance(config=config, ipython_dir=str(tmp_path / "ipython"), user_module=ModuleType("notebook"))
    yield shell
    end_session()
    InteractiveShell.clear_instance()


@pytest.fixture
def run(shell: InteractiveShell) -> Callable[..., Any]:
    """Run a cell as a notebook does and fail where it fails."""

    def run(source: str, cell_id: str | None = None, ok: bool = True) -> Any:
        result = shell.run_cell(source, store_history=True, cell_id=cell_id)
        if ok:
            result.raise_error()
        return result

    return run


@pytest.fixture
def ask(run: Callable[..., Any]) -> Callable[..., list[Any]]:
    """Ask as the page does, in a session that reads every step in full; returns the messages that come back."""
    run("%load_ext gradlab")
    session = current_session()
    assert session is not None
    session.recorder.governor.budget = None
    sent: list[Any] = []
    session.post = sent.append  # type: ignore[method-assign]
    session.stream._send = sent.append

    def ask(what: str, **args: Any) -> list[Any]:
        sent.clear()
        session.requests.hear({"kind": "ask", "id": "1", "what": what, "args": args})
        return sent

    return ask


@pytest.fixture
def widgets() -> Callable[[], int]:
    """How many widget models are open in this process."""
    return lambda: len(ipywidgets.widgets.widget._instances)


@dataclass
class Reply:
    """What came back for one cell."""

    status: str
    messages: list[dict[str, Any]]
    error: str = ""

    @property
    def text(self) -> str:
        return "".join(m["content"]["text"] for m in self.messages if m["msg_type"] == "stream")

    @property
    def shown(self) -> list[dict[str, Any]]:
        return [m["content"]["data"] for m in self.messages if m["msg_type"] in ("display_data", "execute_result")]


@dataclass
class Kernel:
    """A real ipykernel and what a front end does with it."""

    client: Any
    manager: KernelManager
    aside: list[dict[str, Any]] = field(default_factory=list)

    def start(self, source: str, cell_id: str | None = None) -> str:
        content = {"code": source, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        message = self.client.session.msg("execute_request", content, metadata={} if cell_id is None else {"cellId": cell_id})
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def finish(self, request: str, timeout: float = 60) -> Reply:
        messages: list[dict[str, Any]] = []
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            message = self.client.get_iopub_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") != request:
                self.aside.append(message)
                continue
            messages.append(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        while True:
            reply = self.client.get_shell_msg(timeout=timeout)
            if reply["parent_header"].get("msg_id") == request:
                content = reply["content"]
                return Reply(content["status"], messages, content.get("evalue", ""))

    def run(self, source: str, cell_id: str | None = None) -> Reply:
        return self.finish(self.start(source, cell_id))

    def value(self, expression: str) -> Any:
        """The value of an expression in the kernel, through its text."""
        reply = self.run(f"import json; print(json.dumps({expression}))")
        assert reply.status == "ok", reply.error
        return json.loads(reply.text)

    def say(self, comm_id: str, content: dict[str, Any], subshell: str | None = None) -> None:
        """Send a custom widget message, as the page does."""
        message = self.client.session.msg("comm_msg", {"comm_id": comm_id, "data": {"method": "custom", "content": content}})
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        self.client.shell_channel.send(message)

    def subshell(self) -> str:
        """Open a subshell, as JupyterLab does for comms."""
        self.client.control_channel.send(self.client.session.msg("create_subshell_request", {}))
        while True:
            reply = self.client.get_control_msg(timeout=30)
            if reply["msg_type"] == "create_subshell_reply":
                return reply["content"]["subshell_id"]

    def heard(self, seconds: float) -> list[dict[str, Any]]:
        """Everything the kernel publishes in the next while."""
        found, until = [], time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            try:
                found.append(self.client.get_iopub_msg(timeout=left))
            except queue.Empty:
                break
        return found

    def wait_for(self, test: Callable[[dict[str, Any]], bool], timeout: float = 30) -> list[dict[str, Any]]:
        """Everything published until a message passes the test; the last one does."""
        found, until = [], time.monotonic() + timeout
        while (left := until - time.monotonic()) > 0:
            try:
                found.append(self.client.get_iopub_msg(timeout=left))
            except queue.Empty:
                break
            if test(found[-1]):
                return found
        raise AssertionError(f"not heard in {timeout} s; {[m['msg_type'] for m in found]}")


@contextmanager
def running_kernel(home: Path, python: str = sys.executable) -> Iterator[Kernel]:
    """A kernel of this interpreter, or of another one that has ipykernel."""
    manager = KernelManager()
    manager._kernel_spec = KernelSpec(argv=[python, "-m", "ipykernel_launcher", "-f", "{connection_file}"], display_name="test")
    manager.start_kernel(env=kernel_environment(home))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield Kernel(client, manager)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


@pytest.fixture(scope="session")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """One kernel for all tests that need a real one; each test loads and unloads gradlab in it."""
    with running_kernel(tmp_path_factory.mktemp("kernel")) as running:
        yield running


@pytest.fixture(scope="session")
def start_kernel() -> Callable[..., Any]:
    """Starts a kernel of its own; see `running_kernel`."""
    return running_kernel


@pytest.fixture
def loaded(kernel: Kernel) -> Iterator[Kernel]:
    """The kernel with gradlab loaded and nothing of an earlier test in its namespace."""
    assert kernel.run("%reset -f").status == "ok"
    reply = kernel.run("%load_ext gradlab", "load")
    assert reply.status == "ok", reply.error
    yield kernel
    kernel.run("%unload_ext gradlab")


def kernel_environment(home: Path) -> dict[str, str]:
    """The environment of a kernel that reads nobody's settings, imports this gradlab and needs no built bundle."""
    startup = home / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    for name in ("session.js", "second.js", "panel.js"):
        (home / name).write_text(ESM)
    (startup / "bundle.py").write_text(f"import pathlib, gradlab.notebook.bundle as b\nb.STATIC = pathlib.Path({str(home)!r})\n")
    return {
        **os.environ,
        "PYTHONPATH": str(Path(gradlab.__file__).parents[1]),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_CONFIG_DIR": str(home),
        "JUPYTER_DATA_DIR": str(home / "data"),
    }


def custom(messages: list[dict[str, Any]]) -> list[tuple[dict[str, Any], list[bytes]]]:
    """The messages of the protocol among those of a kernel: content and buffers."""
    return [
        (m["content"]["data"]["content"], [bytes(b) for b in m["buffers"]])
        for m in messages
        if m["msg_type"] == "comm_msg" and m["content"]["data"].get("method") == "custom"
    ]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """For kernels and shells that a test starts by itself."""
    return kernel_environment(tmp_path)


@pytest.fixture
def protocol_messages() -> Callable[..., Any]:
    return custom


@pytest.fixture(scope="session")
def examples() -> dict[str, list[dict[str, Any]]]:
    """The example messages that both sides decode, by file name: content and decoded buffers."""
    folder = Path(__file__).parent.parent / "protocol"
    found = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    for messages in found.values():
        for message in messages:
            message["buffers"] = [base64.b64decode(b) for b in message["buffers"]]
    return found
