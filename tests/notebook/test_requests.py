"""What the page asks and what comes back: over the comm, over the control channel, at once or at the end of a step."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from gradlab import observe
from gradlab.errors import ArgumentError
from gradlab.notebook import current_session, requests
from gradlab.notebook.requests import answers

TRAIN = """
import gradlab as gl
layer = gl.nn.Linear(3, 2)
optimizer = gl.optim.SGD(layer.parameters(), lr=0.1)
def train(steps, each=lambda i: None):
    for i in range(steps):
        optimizer.zero_grad()
        layer(gl.randn(4, 3)).pow(2).mean().backward()
        optimizer.step()
        each(i)
"""


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Handlers that a test registers are gone after it."""
    monkeypatch.setattr(requests, "_handlers", dict(requests._handlers))


@pytest.fixture
def asked(run: Any, known: None) -> Any:
    """Ask as the page does; returns what came back so far."""
    run("%load_ext gradlab")
    session = current_session()
    assert session is not None
    sent: list[Any] = []
    session.post = sent.append  # type: ignore[method-assign]

    def ask(what: Any, args: Any = None, request: str = "1") -> list[dict[str, Any]]:
        session.requests.hear({"kind": "ask", "id": request, "what": what, "args": args})
        return [message.content for message in sent if message.content["kind"] == "answer"]

    ask.messages = sent  # type: ignore[attr-defined]
    return ask


def test_a_handler_s_dict_is_the_answer_in_strict_json(asked: Any) -> None:
    @answers("numbers")
    def numbers(session: Any, n: int) -> dict[str, Any]:
        return {"n": n, "worst": float("nan"), "lock": session.recorder.lock._is_owned()}

    assert asked("numbers", {"n": 3}) == [{"v": 1, "kind": "answer", "id": "1", "ok": True, "n": 3, "worst": "NaN", "lock": True}]


def test_buffers_travel_beside_the_content(asked: Any) -> None:
    @answers("bytes")
    def data(session: Any) -> tuple[dict[str, Any], list[bytes]]:
        return {"count": 2}, [b"\x01\x02"]

    asked("bytes")
    assert asked.messages[-1].buffers == [b"\x01\x02"]


@pytest.mark.parametrize(
    ("what", "args", "said"),
    [
        ("nothing of that name", {}, "no answer to 'nothing of that name'; it knows: "),
        (None, {}, "no answer to None"),
        ([1], {}, "no answer to [1]"),
        ("take", {}, "take: missing a\n  takes: a, b=2"),
        ("take", {"a": 1, "c": 2}, "take: unknown c"),
        ("take", {"c": 2}, "take: unknown c; missing a"),
        ("take", [1, 2], "args must be an object"),
        ("take", {"a": "no"}, "a must be a number"),
        ("fail", {}, "ZeroDivisionError: "),
    ],
)
def test_what_can_t_be_answered_is_refused_in_words(asked: Any, what: Any, args: Any, said: str) -> None:
    @answers("take")
    def take(session: Any, a: Any, b: int = 2) -> dict[str, Any]:
        if isinstance(a, str):
            raise ArgumentError("a must be a number")
        return {}

    @answers("fail")
    def fail(session: Any) -> dict[str, Any]:
        return {"x": 1 // 0}

    (refusal,) = asked(what, args)
    assert refusal["ok"] is False
    assert said in refusal["error"]


def test_what_evaluates_runs_at_once_when_no_cell_runs_and_leaves_no_trace(asked: Any, run: Any) -> None:
    @answers("evaluate", evaluates=True)
    def evaluate(session: Any) -> dict[str, Any]:
        assert observe.current is None
        return {"y": float((session.shell.user_ns["layer"].weight * 0.0).sum().item())}

    run(TRAIN + "train(2)")
    before = current_session().recorder.structure()["key"]  # type: ignore[union-attr]
    assert asked("evaluate")[-1]["y"] == 0.0
    assert current_session().recorder.structure()["key"] == before  # type: ignore[union-attr]


def test_what_evaluates_waits_for_the_end_of_the_running_step(asked: Any, shell: Any, run: Any) -> None:
    seen: list[Any] = []

    @answers("evaluate", evaluates=True)
    def evaluate(session: Any) -> dict[str, Any]:
        assert observe.current is None
        return {"step": session.recorder.step, "thread": threading.current_thread().name}

    def each(i: int) -> None:
        if i == 1:
            other = threading.Thread(target=lambda: seen.extend(asked("evaluate", request="in time")))
            other.start()
            other.join()
            assert seen == [{"v": 1, "kind": "answer", "id": "in time", "pending": True}]

    shell.user_ns["each"] = each
    run(TRAIN + "train(4, each)")
    (_, answer) = [m.content for m in asked.messages if m.content["kind"] == "answer"]
    assert answer["step"] == 2
    assert answer["thread"] == threading.current_thread().name
    assert current_session().recorder.between_steps == []  # type: ignore[union-attr]


def test_what_waits_when_the_cell_ends_is_answered_then(asked: Any, shell: Any, run: Any) -> None:
    @answers("evaluate", evaluates=True)
    def evaluate(session: Any) -> dict[str, Any]:
        return {"done": True}

    shell.user_ns["ask"] = lambda: asked("evaluate")
    run("ask()")
    assert [m.content.get("done") for m in asked.messages if m.content["kind"] == "answer"] == [None, True]


def test_what_waits_when_the_session_ends_is_refused(asked: Any, shell: Any, run: Any) -> None:
    @answers("evaluate", evaluates=True)
    def evaluate(session: Any) -> dict[str, Any]:
        return {}

    shell.user_ns["ask"] = lambda: asked("evaluate")
    run("ask()\n%unload_ext gradlab")
    last = asked.messages[-1].content
    assert (last["kind"], last["ok"]) == ("answer", False)
    assert "tracing ended" in last["error"]


def test_an_interrupt_of_what_evaluates_reaches_the_cell_and_the_page(asked: Any, shell: Any, run: Any) -> None:
    @answers("evaluate", evaluates=True)
    def evaluate(session: Any) -> dict[str, Any]:
        raise KeyboardInterrupt

    shell.user_ns["ask"] = lambda i: i == 0 and asked("evaluate")
    result = run(TRAIN + "train(3, ask)", ok=False)
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert [m.content["error"] for m in asked.messages if "error" in m.content] == ["interrupted"]
    assert observe.current is not None


def control_request(kernel: Any, content: dict[str, Any]) -> dict[str, Any]:
    """Say something on the control channel and wait for the reply there."""
    message = kernel.client.session.msg("gradlab_request", content)
    kernel.client.control_channel.send(message)
    while True:
        reply = kernel.client.get_control_msg(timeout=30)
        if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
            return reply


DEFINE = """
from gradlab.notebook.requests import answers
@answers("test state")
def state(session):
    return {"state": session.state, "step": session.recorder.step}
@answers("test evaluate", evaluates=True)
def evaluate(session):
    import threading
    return {"main": threading.current_thread() is threading.main_thread(), "state": session.state}
"""


@pytest.fixture
def defined(loaded: Any) -> Iterator[Any]:
    loaded.run(DEFINE + TRAIN)
    yield loaded
    loaded.run("import gradlab.notebook.requests as r\n[r._handlers.pop(k) for k in list(r._handlers) if k.startswith('test ')]")


def answered(kernel: Any, protocol_messages: Any, request: str) -> list[dict[str, Any]]:
    """Everything said on this request, up to the answer."""

    def is_answer(message: dict[str, Any]) -> bool:
        return any(c.get("id") == request and "ok" in c for c, _ in protocol_messages([message]))

    return [c for c, _ in protocol_messages(kernel.wait_for(is_answer)) if c.get("id") == request]


def test_a_running_cell_s_kernel_answers_over_the_control_channel(defined: Any, protocol_messages: Any) -> None:
    model = defined.value("__import__('gradlab').notebook.current_session().model.model_ref")
    request = defined.start("train(10**9)")
    defined.wait_for(lambda m: m["msg_type"] == "execute_input")
    reply = control_request(defined, {"model_id": model, "message": {"kind": "ask", "id": "a", "what": "test state", "args": {}}})
    assert reply["content"]["status"] == "ok"
    assert answered(defined, protocol_messages, "a")[-1]["state"] == "running"
    control_request(defined, {"model_id": model, "message": {"kind": "ask", "id": "b", "what": "test evaluate", "args": {}}})
    said = answered(defined, protocol_messages, "b")
    assert said[0] == {"v": 1, "kind": "answer", "id": "b", "pending": True}
    assert (said[1]["main"], said[1]["state"]) == (True, "running")
    defined.manager.interrupt_kernel()
    assert defined.finish(request).status == "error"


def test_an_idle_kernel_evaluates_on_its_main_thread(defined: Any, protocol_messages: Any) -> None:
    model = defined.value("__import__('gradlab').notebook.current_session().model.model_ref")
    control_request(defined, {"model_id": model, "message": {"kind": "ask", "id": "c", "what": "test evaluate", "args": {}}})
    assert answered(defined, protocol_messages, "c") == [{"v": 1, "kind": "answer", "id": "c", "ok": True, "main": True, "state": "idle"}]


def test_the_comm_answers_where_the_extension_is_not(defined: Any, protocol_messages: Any) -> None:
    model = defined.value("__import__('gradlab').notebook.current_session().model.model_ref")
    defined.say(model, {"kind": "ask", "id": "d", "what": "test state", "args": {}})
    assert answered(defined, protocol_messages, "d")[-1]["ok"] is True


@pytest.mark.parametrize("rubbish", [{}, {"model_id": 3, "message": "no"}, {"model_id": "another", "message": {"kind": "ask"}}])
def test_rubbish_on_the_control_channel_does_no_harm(loaded: Any, rubbish: dict[str, Any]) -> None:
    assert control_request(loaded, rubbish)["content"]["status"] == "ok"
    assert json.dumps(loaded.value("1")) == "1"


def test_nothing_listens_on_the_control_channel_after_the_extension_is_unloaded(loaded: Any) -> None:
    assert loaded.value("'gradlab_request' in get_ipython().kernel.control_handlers") is True
    loaded.run("%unload_ext gradlab")
    assert loaded.value("'gradlab_request' in get_ipython().kernel.control_handlers") is False
