"""Pause, step, resume and breakpoints in a real ipykernel, over the control channel and over the comm.

The kernels: that of this environment, and with `-m slow` those of the interpreters in GRADLAB_KERNELS (paths, joined by the
path separator), as of environments with ipykernel 6.31, 7.3 and 7.4.
"""

from __future__ import annotations

import os
import queue
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

LOOP = """
import threading, time
from gradlab.notebook.requests import answers
@answers("test evaluate", evaluates=True)
def evaluate(session):
    return {"y": layer(gl.ones(1, 3)).data.tolist(), "main": threading.current_thread() is threading.main_thread()}
import gradlab as gl
gl.manual_seed(0)
layer = gl.nn.Linear(3, 2)
optimizer = gl.optim.SGD(layer.parameters(), lr=0.01)
done = 0
def train(steps):
    global done
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (layer(gl.ones(4, 3)).exp() + 1.0).log().mean()
        loss.backward()
        optimizer.step()
        done += 1
        time.sleep(0.001)
"""
FOREVER = 10**9
PATIENCE_S = 60


def interpreters() -> list[Any]:
    given = [path for path in os.environ.get("GRADLAB_KERNELS", "").split(os.pathsep) if path]
    return [pytest.param(sys.executable, id="here"), *(pytest.param(path, id=path, marks=pytest.mark.slow) for path in given)]


class Page:
    """What a page with the extension does: it asks over the control channel, and reads the frames."""

    def __init__(self, kernel: Any, custom: Callable[..., Any]) -> None:
        self.kernel, self.custom = kernel, custom
        self.frames: list[dict[str, Any]] = []
        self.answers: dict[str, dict[str, Any]] = {}
        self.count = 0
        self.model = kernel.value("__import__('gradlab').notebook.current_session().model.model_ref")
        self.say = self.over_control

    def over_control(self, message: dict[str, Any], model: str | None = "") -> None:
        content = {"model_id": self.model if model == "" else model, "message": message}
        self.kernel.client.control_channel.send(self.kernel.client.session.msg("gradlab_request", content))

    def over_comm(self, subshell: str | None) -> Callable[[dict[str, Any]], None]:
        return lambda message: self.kernel.say(self.model, message, subshell)

    def open(self) -> None:
        self.say({"kind": "hello", "page": "p", "visible": True})
        self.until(lambda: self.frames)

    def ask(self, what: str, wait: bool = True, **args: Any) -> dict[str, Any]:
        self.count += 1
        request = str(self.count)
        self.say({"kind": "ask", "id": request, "what": what, "args": args})
        return self.until(lambda: self.answers.get(request)) if wait else {}

    def listen(self, seconds: float) -> None:
        try:
            message = self.kernel.client.get_iopub_msg(timeout=seconds)
        except queue.Empty:
            return
        self.kernel.aside.append(message)
        for content, _ in self.custom([message]):
            if content["kind"] == "frame":
                self.frames.append(content)
            elif content["kind"] == "answer":
                self.answers.update({content["id"]: content} if "ok" in content else {})

    def until(self, holds: Callable[[], Any]) -> Any:
        end = time.monotonic() + PATIENCE_S
        while not (found := holds()):
            assert time.monotonic() < end, f"waited in vain; last frame: {self.frames[-1:]}"
            self.listen(0.1)
        return found

    @property
    def held(self) -> dict[str, Any] | None:
        return self.frames[-1]["gate"]["held"] if self.frames else None

    def held_anew(self, ask: Callable[[], Any]) -> dict[str, Any]:
        """Ask, and wait until training is held after it had gone on."""
        seen = len(self.frames)
        ask()

        def again() -> Any:
            states = [f["gate"]["held"] for f in self.frames[seen:]]
            went_on = next((i for i, h in enumerate(states) if h is None), None)
            return None if went_on is None else next((h for h in states[went_on:] if h), None)

        return self.until(again)

    def finish(self, request: str) -> Any:
        """The outcome of a cell; its messages on the way may have been read."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            self.listen(0.05)
            try:
                reply = self.kernel.client.get_shell_msg(timeout=0.05)
            except queue.Empty:
                continue
            if reply["parent_header"].get("msg_id") == request:
                return reply["content"]
        raise AssertionError("the cell did not end")


@pytest.fixture(scope="module", params=interpreters())
def interpreter(request: pytest.FixtureRequest, start_kernel: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A kernel, and the version of its ipykernel."""
    with start_kernel(tmp_path_factory.mktemp("kernel"), request.param) as running:
        running.version = tuple(int(n) for n in running.value("__import__('ipykernel').__version__").split(".")[:2])
        yield running


@pytest.fixture
def page(interpreter: Any, protocol_messages: Callable[..., Any]) -> Iterator[Page]:
    """A page that is open on a kernel with a training to run."""
    assert interpreter.run("%load_ext gradlab", "load").status == "ok"
    assert interpreter.run(LOOP, "loop").status == "ok"
    page = Page(interpreter, protocol_messages)
    page.open()
    yield page
    interpreter.manager.interrupt_kernel()
    unloaded = interpreter.run("%unload_ext gradlab")
    while unloaded.status == "aborted":  # with the interrupted cell, as everything that was asked for before it had ended
        unloaded = interpreter.run("%unload_ext gradlab")
    assert unloaded.status == "ok"


@pytest.fixture
def busy(page: Page) -> str:
    """The request of a cell that trains for ever."""
    request = page.kernel.start(f"train({FOREVER})", "train")
    page.until(lambda: page.frames[-1]["state"] == "running" and page.frames[-1]["step"] > 2)
    return request


def interrupted(page: Page, request: str) -> None:
    page.kernel.manager.interrupt_kernel()
    reply = page.finish(request)
    assert (reply["status"], reply.get("ename")) == ("error", "KeyboardInterrupt")


def test_pause_step_three_and_resume_while_the_cell_runs(page: Page, busy: str) -> None:
    page.ask("pause")
    first = page.until(lambda: page.held)
    assert first["op"] is None
    page.listen(0.3)
    assert page.frames[-1]["step"] == first["step"]
    second = page.held_anew(lambda: page.ask("step", count=3))
    assert second["step"] == first["step"] + 3
    for n in range(1, 4):
        assert page.held_anew(lambda: page.ask("step"))["step"] == second["step"] + n
    page.ask("resume")
    page.until(lambda: page.frames[-1]["gate"]["held"] is None and page.frames[-1]["step"] > second["step"] + 10)
    interrupted(page, busy)
    page.until(lambda: page.frames[-1]["state"] == "interrupted")
    assert page.held is None


def test_step_op_stops_at_each_op_with_its_cell_and_line(page: Page, busy: str) -> None:
    page.ask("pause")
    page.until(lambda: page.held)
    page.held_anew(lambda: page.ask("step"))
    walked = [page.held_anew(lambda: page.ask("step op")) for _ in range(6)]
    assert [h["op"] for h in walked[:5]] == ["linear", "exp", "add", "log", "mean"]
    line = 1 + next(i for i, text in enumerate(LOOP.split("\n")) if "loss = " in text)
    assert all(h["where"].startswith("In[") and h["where"].endswith(f"]:{line}") for h in walked)
    assert (walked[5]["op"], walked[5]["backward"]) == ("mean", True)
    interrupted(page, busy)


def test_an_interrupt_while_paused_ends_the_cell_and_the_next_one_runs_freely(page: Page, busy: str) -> None:
    page.ask("pause")
    page.until(lambda: page.held)
    interrupted(page, busy)
    before = page.kernel.value("done")
    assert page.kernel.run("train(20)").status == "ok"
    assert page.kernel.value("done") == before + 20


def test_a_breakpoint_pauses_and_says_which_condition_op_and_line(page: Page) -> None:
    page.kernel.run('%gradlab break op("log") and step == 30')
    request = page.kernel.start("train(50)", "train")
    held = page.until(lambda: page.held)
    assert (held["step"], held["op"], held["reason"]) == (30, "log", 'op("log") and step == 30')
    page.ask("resume")
    assert page.finish(request)["status"] == "ok"


def test_a_breakpoint_that_raises_ends_the_cell_with_its_words(page: Page) -> None:
    page.kernel.run("%gradlab break step == 5 --raise")
    reply = page.kernel.run("train(50)")
    assert reply.status == "error"
    assert "step == 5 at step 5" in reply.error
    page.kernel.run("%gradlab break --clear")
    assert page.kernel.run("train(50)").status == "ok"


def test_what_evaluates_is_answered_while_training_is_paused(page: Page, busy: str) -> None:
    page.ask("pause")
    held = page.until(lambda: page.held)
    answer = page.ask("test evaluate")
    assert answer["main"] is True
    assert len(answer["y"][0]) == 2
    page.listen(0.3)
    assert page.held == held
    interrupted(page, busy)


def test_a_page_that_was_loaded_again_resumes_without_knowing_the_session(page: Page, busy: str) -> None:
    page.ask("pause")
    first = page.until(lambda: page.held)
    page.over_control({"kind": "ask", "id": "anyone", "what": "resume", "args": {}}, model=None)
    page.until(lambda: page.frames[-1]["step"] > first["step"] + 3)
    interrupted(page, busy)


def test_over_the_comm_it_works_where_the_kernel_hears_it_and_never_hangs_where_not(page: Page) -> None:
    """A front end without the extension: with subshells as JupyterLab has them, or without, as on ipykernel 6."""
    subshell = page.kernel.subshell() if page.kernel.version >= (7, 0) else None
    page.say = page.over_comm(subshell)
    page.kernel.run("from gradlab.notebook import current_session\ncurrent_session()._heard_aside = False")
    request = page.kernel.start("train(1500)", "train")
    page.until(lambda: page.frames[-1]["state"] == "running")
    page.ask("pause", wait=False)
    if subshell is None:
        assert page.finish(request)["status"] == "ok"  # heard when the cell has ended
        reply = page.kernel.run("train(100)")
        assert reply.status == "ok"  # and held nowhere, since nobody could resume
    else:
        first = page.until(lambda: page.held)
        assert page.held_anew(lambda: page.ask("step"))["step"] == first["step"] + 1
        page.ask("resume")
        assert page.finish(request)["status"] == "ok"


def test_where_the_page_is_not_heard_while_a_cell_runs_a_breakpoint_raises(page: Page) -> None:
    page.kernel.run("from gradlab.notebook import current_session\ncurrent_session()._heard_aside = False")
    page.kernel.run("%gradlab break step == 5")
    reply = page.kernel.run("train(50)")
    assert reply.status == "error"
    assert "only when a cell has ended" in reply.error


def test_unloading_in_a_subshell_or_thread_lets_a_paused_cell_go(page: Page) -> None:
    page.kernel.run("thread = threading.Thread(target=train, args=(10**9,), daemon=True)\nthread.start()")
    page.until(lambda: page.frames[-1]["step"] > 3)
    page.ask("pause")
    page.until(lambda: page.held)
    assert page.kernel.run("%unload_ext gradlab").status == "ok"
    before = page.kernel.value("done")
    time.sleep(0.3)
    assert page.kernel.value("done") > before
    page.kernel.run("del layer, optimizer")  # ends the thread
    assert page.kernel.value("(thread.join(20), thread.is_alive())[1]") is False


def test_switching_tracing_off_lets_a_paused_cell_go(page: Page) -> None:
    request = page.kernel.start("train(800)", "train")
    page.until(lambda: page.frames[-1]["step"] > 3 and page.frames[-1]["state"] == "running")
    page.ask("pause")
    page.until(lambda: page.held)
    page.say({"kind": "trace", "on": False})
    assert page.finish(request)["status"] == "ok"


def test_a_restart_while_paused_ends_the_kernel(page: Page, busy: str) -> None:
    page.ask("pause")
    page.until(lambda: page.held)
    page.kernel.manager.restart_kernel(now=False)
    page.kernel.client.wait_for_ready(timeout=60)
    page.kernel.run("%load_ext gradlab")
    assert page.kernel.run(LOOP + "train(5)").status == "ok"
