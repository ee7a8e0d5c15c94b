"""Stop is pressed where a cell begins or ends: the session is whole afterwards, and the stop is not lost."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from gradlab.notebook import cells, current_session, outcome, session, stream

PLACES = {module.__file__ for module in (session, cells, stream, outcome)}
TRAIN = "loss = (w * w).sum()\nloss.backward()\noptimizer.step()"


def interrupting(entry: str, line: int, call: Callable[[], Any]) -> bool:
    """Run `call` with a KeyboardInterrupt at the n-th line of the session's code below `entry`; whether there was one."""
    count = 0

    def below(frame: FrameType | None) -> bool:
        while frame is not None and frame.f_code.co_name != entry:
            frame = frame.f_back
        return frame is not None

    def watch(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        # The few lines of the entry itself only call the others.
        if frame.f_code.co_filename not in PLACES or frame.f_code.co_name in (entry, "enter", "leave", "current", "nested"):
            return None
        if event == "line" and below(frame.f_back):
            count += 1
            if count == line:
                sys.settrace(None)
                raise KeyboardInterrupt
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        call()
    finally:
        sys.settrace(before)
    return count >= line


@pytest.mark.parametrize("entry", ["_pre_run_cell", "_post_run_cell"])
def test_an_interrupt_at_the_border_of_a_cell_leaves_the_session_whole(
    shell: Any, run: Any, ask: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    stops: list[int] = []
    monkeypatch.setattr(session, "stop_soon", lambda: stops.append(1))
    run("import gradlab as gl\nw = gl.ones(3, requires_grad=True)\noptimizer = gl.optim.SGD([w], lr=0.1)", "setup")
    current = current_session()
    assert current is not None and current.cells is not None
    current.stream.show("page", True, "idle", None)
    current.outcomes.want("page", True)
    line = 1
    while interrupting(entry, line, lambda: run(TRAIN, "train", ok=False)):
        assert len(stops) == (entry == "_pre_run_cell")
        stops.clear()
        assert (current.cells.current, current.recorder.running, current.state) == (None, False, "idle"), line
        assert current.outcomes._kept["train"]["state"] == "idle"
        run(TRAIN, "train")
        assert (current.cells.current, current.state) == (None, "idle")
        assert current.recorder.structure()["cells"][-1]["count"] == shell.execution_count - 1
        line += 5
    assert line > 10
    assert "Error in callback" not in capsys.readouterr().out


def test_a_stop_that_comes_before_the_cell_s_first_line_stops_the_cell(run: Any, ask: Any, capsys: Any) -> None:
    results: list[Any] = []
    begin = time.monotonic()
    assert interrupting("_pre_run_cell", 3, lambda: results.append(run("import time\ntime.sleep(60)", "long", ok=False)))
    assert isinstance(results[0].error_in_exec, KeyboardInterrupt)
    assert time.monotonic() - begin < 50  # it stopped the wait, and did not come after it
    assert "Error in callback" not in capsys.readouterr().out
    assert current_session().state == "interrupted"  # type: ignore[union-attr]


def test_a_cell_that_an_interrupt_kept_from_leaving_is_not_taken_for_one_around_the_next(shell: Any, run: Any) -> None:
    run("%load_ext gradlab")
    current = current_session()
    assert current is not None and current.cells is not None
    current.cells.leave = lambda: None  # type: ignore[method-assign]
    run("1 + 1", "stuck")
    del current.cells.leave
    run("2 + 2", "next")
    assert current.cells.current is None
