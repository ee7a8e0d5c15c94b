"""In a real kernel: frames while a cell runs, the page heard while it runs, interrupts, errors, comms that don't pile up."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

VIEW = "application/vnd.jupyter.widget-view+json"
SETUP = """
import time
import numpy as np
import gradlab as gl
from gradlab.notebook import current_session
model = gl.nn.Sequential(gl.nn.Linear(8, 8), gl.nn.Tanh(), gl.nn.Linear(8, 1))
optimizer = gl.optim.AdamW(model.parameters(), lr=0.01)
x = gl.randn(16, 8)
def train(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        loss = (model(x) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def model_of(kernel: Any) -> str:
    """The id of the session's model."""
    return kernel.value("__import__('gradlab').notebook.current_session().model.model_ref")


def open_page(kernel: Any) -> None:
    """Do what a page does that has just drawn its first panel."""
    say(kernel, {"kind": "hello"})
    say(kernel, {"kind": "visible", "visible": True})


def say(kernel: Any, content: dict[str, Any]) -> None:
    """Say something to the idle kernel and wait until it was heard."""
    kernel.say(model_of(kernel), content)
    kernel.wait_for(lambda m: m["parent_header"]["msg_type"] == "comm_msg" and m["content"].get("execution_state") == "idle")


def frames(messages: list[dict[str, Any]], protocol_messages: Any) -> list[dict[str, Any]]:
    return [content for content, _ in protocol_messages(messages) if content["kind"] == "frame"]


def test_loading_leaves_one_panel_with_a_text_for_other_front_ends(kernel: Any) -> None:
    reply = kernel.run("%load_ext gradlab", "load")
    try:
        assert reply.status == "ok", reply.error
        assert [shown["text/plain"] for shown in reply.shown] == ["gradlab: tracing on", ""]  # the latter is room for a picture
        assert VIEW not in reply.shown[1]
        opened = {m["content"]["comm_id"]: m["content"]["data"]["state"] for m in reply.messages if m["msg_type"] == "comm_open"}
        output = opened[reply.shown[0][VIEW]["model_id"]]
        assert output["panel"] == "output"
        assert opened[output["session"]]["model_ref"] == output["session"]
        assert reply.text == ""
    finally:
        kernel.run("%unload_ext gradlab")


def test_a_page_that_has_docked_the_inspector_gets_a_line_that_needs_no_widget(kernel: Any) -> None:
    reply = kernel.run("%load_ext gradlab", "load")
    try:
        kernel.say(reply.shown[0][VIEW]["model_id"], {"kind": "docked"})
        message = kernel.wait_for(lambda m: m["msg_type"] == "update_display_data")[-1]
        assert VIEW not in message["content"]["data"]
        assert "inspector docked at the right" in message["content"]["data"]["text/plain"]
    finally:
        kernel.run("%unload_ext gradlab")


def test_the_model_knows_the_kernel_by_its_connection_file(loaded: Any) -> None:
    known = loaded.value("__import__('gradlab').notebook.current_session().model.kernel_id")
    assert known
    assert known in loaded.manager.connection_file


def test_nothing_is_sent_before_a_page_says_hello(loaded: Any, protocol_messages: Any) -> None:
    loaded.run(SETUP, "setup")
    reply = loaded.run("train(0.3)", "train")
    assert protocol_messages(reply.messages) == []


def test_hello_gets_structure_and_history_of_what_ran_unseen(loaded: Any, protocol_messages: Any) -> None:
    loaded.run(SETUP, "setup")
    loaded.run("train(0.2)", "train")
    loaded.say(model_of(loaded), {"kind": "hello"})
    heard = loaded.wait_for(lambda m: bool(frames([m], protocol_messages)))
    sent = protocol_messages(heard)
    assert [content["kind"] for content, _ in sent] == ["reset", "structure", "findings", "frame"]
    assert sent[1][0]["cells"]
    assert sent[2][0]["step"] > 1


def test_frames_arrive_while_the_cell_runs_and_a_last_one_when_it_ends(loaded: Any, protocol_messages: Any) -> None:
    loaded.run(SETUP, "setup")
    open_page(loaded)
    reply = loaded.run("train(1.0)", "train")
    got = frames(reply.messages, protocol_messages)
    states = [f["state"] for f in got]
    assert states[-1] == "idle"
    assert set(states[:-1]) == {"running"}
    assert 2 <= len(got) <= 13
    steps = [f["step"] for f in got]
    assert steps == sorted(steps)
    assert steps[0] < steps[-1]
    assert json.dumps(got, allow_nan=False)


def test_the_page_is_heard_while_a_cell_runs(loaded: Any, protocol_messages: Any) -> None:
    loaded.run(SETUP, "setup")
    model, subshell = model_of(loaded), loaded.subshell()
    open_page(loaded)
    request = loaded.start("train(60)", "train")
    loaded.wait_for(lambda m: bool(frames([m], protocol_messages)))
    loaded.say(model, {"kind": "visible", "visible": False}, subshell)
    quiet = any(not frames(loaded.heard(1.0), protocol_messages) for _ in range(10))
    assert quiet, "frames go on after the page said that it is hidden"
    loaded.say(model, {"kind": "trace", "on": False}, subshell)
    loaded.say(model, {"kind": "visible", "visible": True}, subshell)
    heard = loaded.wait_for(lambda m: bool(frames([m], protocol_messages)))
    shown = frames(heard, protocol_messages)[-1]
    assert shown["state"] == "running"
    assert shown["tracing"]["on"] is False
    loaded.manager.interrupt_kernel()
    assert loaded.finish(request).status == "error"


def test_of_two_pages_on_one_kernel_one_hides_and_the_other_gets_its_frames(loaded: Any, protocol_messages: Any) -> None:
    loaded.run(SETUP, "setup")
    say(loaded, {"kind": "hello", "page": "a", "visible": True})
    for visible in (True, False):
        say(loaded, {"kind": "visible", "page": "b", "visible": visible})
    assert frames(loaded.run("train(0.1)", "train").messages, protocol_messages)
    say(loaded, {"kind": "visible", "page": "a", "visible": False})
    assert not frames(loaded.run("train(0.1)", "train").messages, protocol_messages)


def test_an_interrupt_in_the_middle_of_backward_is_told_and_the_next_cell_is_fine(loaded: Any, protocol_messages: Any) -> None:
    loaded.run(SETUP, "setup")
    slow = """
class Slow(gl.Function):
    def forward(self, x):
        return x * 1.0
    def backward(self, g):
        time.sleep(20)
        return g
loss = Slow.apply(model(x)).sum()
print("going back", flush=True)
loss.backward()
"""
    open_page(loaded)
    request = loaded.start(slow, "slow")
    loaded.wait_for(lambda m: m["msg_type"] == "stream")
    time.sleep(0.3)
    loaded.manager.interrupt_kernel()
    reply = loaded.finish(request)
    assert reply.status == "error"
    assert frames(reply.messages, protocol_messages)[-1]["state"] == "interrupted"
    reply = loaded.run("train(0.3)", "train")
    assert reply.status == "ok", reply.error
    last = frames(reply.messages, protocol_messages)[-1]
    assert last["state"] == "idle"
    assert last["loss"] is not None
    assert loaded.value("current_session().recorder.on")


def test_an_error_inside_a_traced_cell_is_told_and_shown_at_its_op(loaded: Any, protocol_messages: Any) -> None:
    loaded.run(SETUP, "setup")
    open_page(loaded)
    reply = loaded.run("h = model(x)\nh @ gl.ones(3, 3)", "wrong")
    assert reply.status == "error"
    sent = protocol_messages(reply.messages)
    structure = next(c for c, _ in reversed(sent) if c["kind"] == "structure")
    assert sent[-1][0]["state"] == "error"
    bad = structure["ops"][-1]
    assert "inner sizes differ" in bad["error"]
    assert bad["line"] == 2
    assert loaded.run("train(0.1)", "train").status == "ok"


def test_comms_don_t_pile_up_over_twenty_runs(loaded: Any) -> None:
    loaded.run(SETUP, "setup")
    count = "len(__import__('comm').get_comm_manager().comms)"
    sizes = set()
    for _ in range(20):
        loaded.run("%load_ext gradlab", "load")
        loaded.run("%gradlab panel graph", "panel")
        loaded.run("train(0.01)", "train")
        sizes.add(loaded.value(count))
    assert len(sizes) == 1


def test_unloading_closes_every_comm(kernel: Any) -> None:
    count = "len(__import__('comm').get_comm_manager().comms)"
    before = kernel.value(count)
    kernel.run("%load_ext gradlab", "load")
    kernel.run("%gradlab panel", "panel")
    assert kernel.value(count) > before
    kernel.run("%unload_ext gradlab")
    assert kernel.value(count) == before


def test_re_running_a_training_cell_leaves_no_tape_behind(loaded: Any) -> None:
    loaded.run(SETUP, "setup")
    alive = "(__import__('gc').collect(), sum(isinstance(o, gl.Function) for o in __import__('gc').get_objects()))[1]"
    loaded.run("train(0.02)", "train")
    before = loaded.value(alive)
    for _ in range(10):
        loaded.run("train(0.02)", "train")
    assert loaded.value(alive) == before


def test_panels_compose_in_a_box(loaded: Any) -> None:
    loaded.run("from ipywidgets import HBox\nfrom gradlab.notebook import GraphPanel, StripPanel", "import")
    reply = loaded.run("HBox([GraphPanel(), StripPanel()])", "box")
    assert reply.status == "ok", reply.error
    panels = [m["content"]["data"]["state"].get("panel") for m in reply.messages if m["msg_type"] == "comm_open"]
    assert {"graph", "strip"} <= set(panels)
    assert VIEW in reply.shown[0]


@pytest.mark.parametrize("rubbish", [{}, {"kind": "nonsense"}, {"kind": "trace"}])
def test_rubbish_from_the_page_does_no_harm(loaded: Any, rubbish: dict[str, Any]) -> None:
    loaded.run(SETUP, "setup")
    say(loaded, rubbish)
    assert loaded.run("train(0.05)").status == "ok"
