"""One session a kernel: it owns the recorder, tells ops their cell, and keeps the page up to date."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping
from typing import Any

from IPython.core.getipython import get_ipython

from .. import observe
from ..trace import Debugger, Recorder, Where
from ..trace.debugger import place_text
from ..trace.where import file_of
from . import bundle, control, protocol
from .births import Births
from .cells import Cell, Cells, loads_gradlab
from .model import SessionModel
from .outcome import Outcomes
from .pictures import Pictures
from .protocol import Message, State
from .requests import Requests
from .stop import each, stop_soon
from .stream import Stream

_IPYTHON_KEEPS = re.compile(r"_+|_i*\d*|_[iod]h|_exit_code|__.*__|In|Out|exit|quit|get_ipython|open")


BUDGET = 0.05
"""The share of a step's time that tracing may take, unless `%gradlab budget` says otherwise."""


_GLIMPSE_EVERY = 1.0  # seconds between two small steps whose values are kept for the panels


class Session:
    """Tracing in one shell, from `%load_ext gradlab` to `%unload_ext gradlab`.

    `shell` is None where there is no IPython (marimo, a script): then ops are told by file and line, and panels still work.
    """

    def __init__(self, shell: Any = None) -> None:
        # First what can fail, so that a missing bundle leaves nothing half loaded.
        self._kernel = control.kernel_of(shell)
        self.model: SessionModel | None = None if control.is_terminal(shell) else SessionModel(self._kernel is not None)
        self.shell = shell
        self.cells = None if shell is None else Cells(shell)
        self.recorder = Recorder(observe)
        self.recorder.governor.budget = BUDGET
        self.stream = Stream(self.recorder, self.post)
        place = file_of if self.cells is None else self.cells.source
        self.outcomes = Outcomes(self.recorder, self.post, lambda: {} if shell is None else shell.user_ns, place)
        self.pictures = Pictures(self.recorder)
        self._pages: set[str] = set()  # that have all of the bundle
        self.state: State = "idle"
        self._last_count: int | None = None
        self.panels: set[Any] = set()
        self.output: Any = None
        self.recorder.on_frame = self._on_frame
        self.recorder.on_capture = self.tell_capture
        self._glimpsed_at = 0.0
        self.requests = Requests(self)
        self._heard = self._heard_aside = False  # whether any page spoke, and whether it did beside the main thread
        self.debugger = Debugger(self.recorder, observe, self._gate_changed)
        self.debugger.meanwhile, self.debugger.hindrance = self.requests.evaluate, self._hindrance
        self.stream.gate = self.gate
        self.births = Births()
        if self.model is not None:
            self.model.on_msg(self._on_message)
            if self._kernel is not None:
                control.listen(self._kernel, self._on_request, lambda: self.state == "running")
        if shell is not None and self.cells is not None:
            self.recorder.where, self.recorder.names = self.cells.where.of_op, self.names
            self.recorder.objects = lambda: list(shell.user_ns.values())
            self.cells.adopt_running()
            self.births.note(self.variables(), None)  # made before anybody looked
            if self.cells.current is not None:
                self.state, self.recorder.running = "running", True
                self._outcome_began(self.cells.current)
            shell.events.register("pre_run_cell", self._pre_run_cell)
            shell.events.register("post_run_cell", self._post_run_cell)
        self.recorder.attach()

    @property
    def cell_key(self) -> str | None:
        """The id of the cell that runs now, where the front end gives cells one."""
        cell = None if self.cells is None else self.cells.current
        return None if cell is None else cell.id

    def trace(self, on: bool) -> None:
        """Switch tracing on or off and let the page know."""
        if on:
            self.recorder.attach()
            self.debugger.follow()
        else:
            self.recorder.detach()
            self.debugger.release()
        self.stream.push(self.state, self._count)

    def refresh(self) -> None:
        """Send the page the newest numbers once more: something was read that it did not have."""
        self.stream.push(self.state, self._count)

    def clear(self) -> None:
        """Forget everything recorded, here and in the page."""
        self.recorder.clear()
        self.stream.push(self.state, self._count)

    def place_picture(self, view: str) -> None:
        """Leave room in the running cell's output for a picture of a panel."""
        if hasattr(self.shell, "kernel"):
            self.pictures.place(view, self.cell_key, self._count)

    def variables(self) -> dict[str, Any]:
        """The user's variables, without IPython's own."""
        return {} if self.shell is None else {n: v for n, v in dict(self.shell.user_ns).items() if not _IPYTHON_KEEPS.fullmatch(n)}

    def names(self) -> dict[int, str]:
        """The user's names for objects, by id(): public names win, IPython's own (`_`, `Out`, `In`) don't count."""
        found: dict[int, str] = {}
        for name, value in sorted(self.variables().items(), key=lambda pair: pair[0].startswith("_")):
            found.setdefault(id(value), name)
        return found

    def tell_capture(self) -> None:
        """Let the page know how the capture of a step stands."""
        self.post(protocol.capture(self.recorder.capture))

    def line_of(self, place: Where | None) -> str:
        """The line of a cell, as it stood when it ran; "" for one that is not known."""
        return "" if place is None or self.cells is None else self.cells.line(place)

    def close(self) -> None:
        """Stop tracing, take the widgets off the page and leave the shell as it was."""
        self.debugger.close()
        self.recorder.detach()
        self.recorder.on_frame = self.recorder.on_capture = None
        self.recorder.release()
        self.requests.close()
        if self._kernel is not None:
            control.stop_listening(self._kernel)
        if self.shell is not None:
            self.shell.events.unregister("pre_run_cell", self._pre_run_cell)
            self.shell.events.unregister("post_run_cell", self._post_run_cell)
        for panel in list(self.panels):
            panel.close()
        if self.model is not None:
            self.model.close()

    @property
    def _count(self) -> int | None:
        cell = None if self.cells is None else self.cells.current
        return self._last_count if cell is None else cell.count

    def post(self, message: Message) -> None:
        """Send one message to the page, where there is one."""
        if self.model is not None:
            self.model.post(message)

    def _on_frame(self) -> None:
        # Between cells only a thread of the user's can be training.
        self.stream.follow("running", self._count)
        if self.stream.visible:
            self.outcomes.grew()
            if time.monotonic() - self._glimpsed_at > _GLIMPSE_EVERY:
                self._glimpsed_at = time.monotonic()
                self.recorder.glimpse()

    def _on_message(self, widget: Any, content: Any, buffers: Any) -> None:
        if not isinstance(content, dict):
            return
        self._heard = True
        self._heard_aside |= not control.in_main_thread()
        kind, page, visible = content.get("kind"), str(content.get("page")), bool(content.get("visible"))
        if kind == "hello":
            self.stream.hello(page, visible, self.state, self._count)
            if page not in self._pages:
                self._pages.add(page)
                self.post(protocol.code(bundle.read("more.js")))
            if self.recorder.capture is not None:
                self.tell_capture()
        elif kind == "visible":
            self.stream.show(page, visible, self.state, self._count)
        elif kind == "cells":
            self.outcomes.want(page, bool(content.get("on")))
        elif kind == "trace":
            self.trace(bool(content.get("on")))
        elif kind == "ask":
            self.requests.hear(content)

    def _on_request(self, content: Mapping[str, Any]) -> Mapping[str, Any]:
        """Hear what came over the control channel, in its thread; the reply says whether training is held."""
        message = content.get("message")
        # A page that was loaded again while a cell runs knows the kernel, but not its session.
        if self.model is not None and content.get("model_id") in (self.model.model_ref, None):
            self._on_message(self.model, message, [])
        return {"gate": self.gate()}

    def gate(self) -> dict[str, Any]:
        """Whether training is held, where and why, and what it is asked for."""
        gate = self.debugger.gate
        spot = gate.held
        held = None if spot is None else {**spot._asdict(), "where": None if spot.where is None else place_text(spot.where)}
        return {"wanted": gate.wanted, "held": held, "aside": self._heard_aside}

    def _gate_changed(self) -> None:
        self.stream.push("running" if self.debugger.gate.waiting else self.state, self._count)

    def _hindrance(self) -> str | None:
        """Why a thread that is held here could not be resumed by any page; None where it could."""
        if not self._heard:
            return "no panel is open that could resume it"
        if control.in_main_thread() and not self._heard_aside:
            return "here the kernel hears the page only when a cell has ended"
        return None

    def _pre_run_cell(self, info: Any) -> None:
        if each(lambda: self._begin(info)):
            stop_soon()

    def _begin(self, info: Any) -> None:
        assert self.cells is not None
        cell = self.cells.enter(info)
        if self.cells.nested:
            return
        if self.stream.visible:
            self.recorder.glimpse(again=True)
        self.state, self._last_count = "running", cell.count
        self.recorder.running = True
        self._outcome_began(cell)
        if cell.id is not None:
            self.pictures.forget(cell.id)
            for panel in [p for p in self.panels if p.goes_with(cell.id)]:
                panel.close()
        if loads_gradlab(cell.source):
            # IPython would answer "already loaded" where the output of the first run stood; loading is idempotent here.
            self.shell.extension_manager.loaded.discard("gradlab")

    def _post_run_cell(self, result: Any) -> None:
        assert self.cells is not None
        cell = self.cells.current
        self.cells.leave()
        if cell is None or self.cells.current is not None:
            return
        error = result and (result.error_in_exec or result.error_before_exec)
        self.state = "interrupted" if isinstance(error, KeyboardInterrupt) else "error" if error else "idle"
        each(
            lambda: self._rest(cell.count),
            self.requests.evaluate,
            lambda: self.stream.push(self.state, self._last_count),
            self.stream.diagnosis.look,
            self.pictures.renew,
            lambda: self.outcomes.ended(cell.id, self.state, error or None),
        )

    def _rest(self, count: int | None) -> None:
        self.recorder.running = False
        self.births.note(self.variables(), count)
        if self.recorder.captured is not None:
            self.tell_capture()

    def _outcome_began(self, cell: Cell) -> None:
        self.outcomes.began(cell.id, cell.count, cell.source)


_current: Session | None = None
_lock = threading.Lock()


def current_session() -> Session | None:
    """The session of this kernel, or None before `%load_ext gradlab`."""
    return _current


def ensure_session(shell: Any = None) -> Session:
    """The session of this kernel, begun now if there is none. `shell` defaults to the running IPython."""
    global _current
    with _lock:
        shell = shell if shell is not None else get_ipython()
        if _current is not None and _current.shell is not shell:
            _current.close()
            _current = None
        if _current is None:
            _current = Session(shell)
        return _current


def end_session() -> None:
    """End the session of this kernel; without one nothing happens."""
    global _current
    with _lock:
        if _current is not None:
            _current.close()
        _current = None
