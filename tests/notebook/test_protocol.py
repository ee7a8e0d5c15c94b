"""What is packed decodes, with a plain decoder, to the recorder's numbers."""

from __future__ import annotations

import json
import math
import struct
import time
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab.notebook import protocol, stream
from gradlab.notebook.stream import Stream
from gradlab.trace import recording


def strict(content: dict[str, Any]) -> dict[str, Any]:
    """The content as a page parses it; anything that is not JSON fails."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(json.dumps(content, allow_nan=False), parse_constant=refuse)


def decode(content: dict[str, Any], buffers: list[bytes]) -> dict[str, Any]:
    """A frame's buffers as lists of numbers, by struct alone."""
    floats = lambda b: struct.unpack(f"<{len(b) // 4}f", b)  # noqa: E731
    whole = lambda b: struct.unpack(f"<{len(b) // 4}i", b)  # noqa: E731
    ops, op_has, leaves, leaf_has, optimizers, first, last, data = buffers
    return {
        "ops": floats(ops),
        "op_has": list(op_has),
        "leaves": floats(leaves),
        "leaf_has": list(leaf_has),
        "optimizers": floats(optimizers),
        "first": whole(first),
        "last": whole(last),
        "data": floats(data),
    }


class Page:
    """Collects what a stream sends."""

    def __init__(self, recorder: Any) -> None:
        self.messages: list[protocol.Message] = []
        self.stream = Stream(recorder, self.messages.append)

    def hello(self) -> list[protocol.Message]:
        self.stream.recorder.frame_interval = 0.0
        return self._new(lambda: self.stream.hello("a", True, "idle", 3))

    def frames(self, act: Any) -> list[dict[str, Any]]:
        return [m.content for m in self._new(act) if m.content["kind"] == "frame"]

    def push(self, state: protocol.State = "idle") -> list[protocol.Message]:
        return self._new(lambda: self.stream.push(state, 3))

    def _new(self, act: Any) -> list[protocol.Message]:
        start = len(self.messages)
        act()
        return self.messages[start:]


def kinds(messages: list[protocol.Message]) -> list[str]:
    return [m.content["kind"] for m in messages]


def train(steps: int, layers: int = 2, width: int = 4, scale: float = 1.0) -> None:
    model = gl.nn.Sequential(*[gl.nn.Linear(width, width) for _ in range(layers)])
    optimizer = gl.optim.AdamW(model.parameters(), lr=0.01)
    x = scale * gl.randn(8, width)
    for _ in range(steps):
        loss = (model(x) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (float("nan"), "NaN"),
        (-math.inf, "-Infinity"),
        (np.float32("inf"), "Infinity"),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (2**53, 2**53),
        (2**53 + 1, "9007199254740993"),
        (-(2**60), "-1152921504606846976"),
        (True, True),
        (None, None),
        ((1, np.uint8(2)), [1, 2]),
        (np.array(2.5), 2.5),
        (np.array([1, 2]), [1, 2]),
        ({"a": {1: math.nan}}, {"a": {"1": "NaN"}}),
        ("<b>text</b>", "<b>text</b>"),
        (np.dtype("float32"), "float32"),
    ],
)
def test_values_become_strict_json(value: Any, wire: Any) -> None:
    plain = protocol.plain(value)
    assert plain == wire
    assert type(plain) is type(wire)
    strict({"value": plain})


def test_a_frame_decodes_to_the_recorders_numbers() -> None:
    with recording() as recorder:
        train(5)
    structure, _, frame = Page(recorder).hello()[-3:]
    numbers, tape, spans = recorder.numbers(), recorder.structure(), recorder.timeline.since(0, 10**9)
    assert strict(structure.content) == {"v": 1, "kind": "structure", **protocol.plain(tape)}
    content, got = strict(frame.content), decode(frame.content, frame.buffers)
    assert content["key"] == tape["key"]
    assert (content["run"], content["step"], content["state"], content["cell"]) == (recorder.run, 5, "idle", 3)
    assert np.array_equal(got["ops"], numbers.ops.ravel(), equal_nan=True)
    assert got["op_has"] == list(numbers.op_has)
    assert np.array_equal(got["leaves"], numbers.leaves.ravel(), equal_nan=True)
    assert got["leaf_has"] == list(numbers.leaf_has)
    assert np.array_equal(got["optimizers"], numbers.optimizers[0]["values"].ravel(), equal_nan=True)
    assert content["loss"] == pytest.approx(numbers.loss)
    assert content["grad_norm"] == pytest.approx(numbers.grad_norm)
    assert content["columns"] == recorder.timeline.columns()
    assert content["series"] == {"spans": 5, "width": len(content["columns"]), "exact": True}
    assert got["first"] == got["last"] == (1, 2, 3, 4, 5)
    assert np.array_equal(got["data"], spans.data[:, 2].ravel(), equal_nan=True)


def test_the_gradient_norm_in_a_frame_is_numpys() -> None:
    with recording() as recorder:
        w = gl.tensor([3.0, 4.0], requires_grad=True)
        (w * w).sum().backward()
    frame = Page(recorder).hello()[-1]
    got = decode(frame.content, frame.buffers)
    assert got["leaves"] == pytest.approx((5.0, 10.0))  # |w| and |2 w|
    assert got["leaf_has"] == [3]


def test_a_frame_says_when_tracing_takes_far_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    with recording() as recorder:
        train(2)
    page = Page(recorder)
    monkeypatch.setattr(type(recorder), "share", 0.3)
    page.hello()
    seen: list[dict[str, Any]] = []
    for budget in (None, 0.05, 0.1):
        recorder.governor.budget = budget
        seen += [frame["tracing"] for frame in page.frames(lambda: page.stream.push("running", 3))]
    assert [(t["share"], t.get("much", False)) for t in seen] == [(0.3, False), (0.3, True), (0.3, False)]


def test_spans_travel_with_min_max_and_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HISTORY_BYTES", 10_000)
    with recording() as recorder:
        train(200, layers=2)
    frame = Page(recorder).hello()[-1]
    series, got = frame.content["series"], decode(frame.content, frame.buffers)
    assert not series["exact"]
    assert len(got["first"]) == series["spans"] < 200
    assert (got["first"][0], got["last"][-1]) == (1, 200)
    data = np.reshape(got["data"], (series["spans"], 3, series["width"]))
    assert (data[:, 0, 0] <= data[:, 2, 0]).all()
    assert (data[:, 2, 0] <= data[:, 1, 0]).all()
    losses = recorder.timeline.since(0, 10**9).data[:, 2, 0]
    for first, last, row in zip(got["first"], got["last"], data, strict=True):
        assert (row[0, 0], row[1, 0]) == (losses[first - 1 : last].min(), losses[first - 1 : last].max())


def test_nan_and_inf_travel_as_words_in_json_and_as_themselves_in_buffers() -> None:
    with recording() as recorder, np.errstate(all="ignore"):
        w = gl.tensor([0.0, 1.0], requires_grad=True)
        (w / w).sum().backward()
    page = Page(recorder)
    frame = page.hello()[-1]
    assert strict(frame.content)["loss"] == "NaN"
    assert np.isnan(decode(frame.content, frame.buffers)["ops"]).any()
    for message in page.messages:
        strict(message.content)


def test_a_long_graph_is_drawn_before_anybody_looks_for_findings() -> None:
    with recording() as recorder:
        y = gl.ones(2, requires_grad=True)
        for _ in range(1_200):
            y = y * 1.0
        found = kinds(Page(recorder).hello())
    assert found.index("frame") < found.index("findings")


def test_the_structure_is_sent_once_a_key_and_columns_once() -> None:
    with recording() as recorder:
        page = Page(recorder)
        train(3)
        assert kinds(page.hello()) == ["reset", "structure", "findings", "frame"]
        assert kinds(page.push()) == ["frame"]
        assert "columns" not in page.messages[-1].content
        assert page.messages[-1].content["series"]["spans"] == 1


@pytest.fixture
def shapes() -> Any:
    """Train on batches of these sizes and show each step; the sizes whose structure was sent."""
    w = gl.ones(2, requires_grad=True)
    optimizer = gl.optim.SGD([w], lr=1e-6)

    def run(page: Page, sizes: Any, ops: int = 1) -> list[int]:
        sent = []
        for size in sizes:
            y = gl.ones(size, 2) * w
            for _ in range(ops):
                y = y * 1.0
            y.sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            if "structure" in kinds(page.push()):
                sent.append(size)
        return sent

    return run


def test_of_sixty_shapes_in_turn_each_structure_is_sent_once(shapes: Any) -> None:
    with recording() as recorder:
        page = Page(recorder)
        page.hello()
        assert len(shapes(page, range(1, 61))) == 60
        assert shapes(page, range(1, 61)) == []


def test_structures_count_as_known_to_the_page_up_to_64_and_to_a_number_of_ops_and_leaves(
    shapes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_ITEMS_KEPT", 10_000)
    with recording() as recorder:
        page = Page(recorder)
        page.hello()
        shapes(page, range(1, 80))
        assert len(page.stream._structures) == 64
        shapes(page, range(1, 8), ops=1_500)
        assert list(page.stream._structures.values()) == [1_504] * 6


def test_only_the_newest_row_and_new_steps_travel() -> None:
    with recording() as recorder:
        page = Page(recorder)
        w = gl.tensor([1.0], requires_grad=True)
        optimizer = gl.optim.SGD([w], lr=0.1)
        sent = []
        page.hello()
        for _ in range(6):
            (w * w).sum().backward()
            optimizer.step()
            page.push("running")
            sent.append(decode(*page.messages[-1])["last"])
    assert sent == [(1,), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)]


def test_nothing_is_sent_while_no_page_is_visible_and_all_of_it_when_one_is() -> None:
    with recording() as recorder:
        page = Page(recorder)
        train(2)
        assert page.push() == []
        page.stream.hello("a", False, "idle", 3)
        assert kinds(page.messages) == ["reset", "structure", "findings", "frame"]
        assert page.push() == []
        page.stream.show("a", True, "idle", 3)
        page.stream.show("a", False, "idle", 3)
        sent = len(page.messages)
        train(4)
        assert page.push() == []
        page.stream.show("a", True, "idle", 3)
        frames = [m for m in page.messages[sent:] if m.content["kind"] == "frame"]
    assert decode(frames[-1].content, frames[-1].buffers)["last"][-1] == recorder.step


def test_of_two_pages_one_hides_and_the_other_goes_on() -> None:
    with recording() as recorder:
        page = Page(recorder)
        page.hello()
        page.stream.hello("b", False, "idle", 3)
        page.stream.show("b", True, "idle", 3)
        page.stream.show("b", False, "idle", 3)
        train(2)
        assert kinds(page.push())[-1] == "frame"
        page.stream.show("a", False, "idle", 3)
        assert page.push() == []


def test_a_page_that_says_hello_is_hidden_until_it_says_that_it_is_seen() -> None:
    with recording() as recorder:
        page = Page(recorder)
        page.hello()
        page.stream.hello("a", False, "idle", 3)
        assert page.push() == []


def test_many_hellos_get_one_answer_at_once_and_one_with_the_next_frame() -> None:
    with recording() as recorder:
        recorder.frame_interval, recorder.running = 1.0, True
        page = Page(recorder)
        train(3)
        flood = lambda: [page.stream.hello("a", False, "running", 3) for _ in range(200)]  # noqa: E731
        assert len(page.frames(flood)) == 1
        (answer,) = page.frames(lambda: page.stream.push("running", 3))
        assert answer["columns"]
        time.sleep(1.2)
        assert page.push() == []


def test_many_hellos_to_an_idle_kernel_get_their_last_answer_after_the_interval() -> None:
    with recording() as recorder:
        recorder.frame_interval = 0.05
        page = Page(recorder)
        flood = lambda: [page.stream.hello("a", False, "idle", 3) for _ in range(200)]  # noqa: E731
        assert 1 <= len(page.frames(flood)) <= 3
        until = time.monotonic() + 10
        while page.stream._asked and time.monotonic() < until:
            time.sleep(0.01)
        assert not page.stream._asked
        assert "columns" in page.messages[-1].content


def test_clear_resets_the_page_once() -> None:
    with recording() as recorder:
        page = Page(recorder)
        train(2)
        page.hello()
        recorder.clear()
        assert kinds(page.push())[0] == "reset"
        assert page.messages[-1].content["run"] == recorder.run
        assert "reset" not in kinds(page.push())


def test_a_frame_of_200_parameters_stays_below_50_kb_and_history_below_200_kb() -> None:
    with recording() as recorder:
        page = Page(recorder)
        page.hello()
        train(30, layers=100, width=2)
        size = lambda m: m.size_bytes + len(json.dumps(m.content))  # noqa: E731
        page.stream._behind = False
        frame = page.push()[-1]
        assert frame.content["columns"].count("loss") == 1
        assert len(frame.content["optimizers"][0]["rows"]) == 200
        assert size(frame) <= protocol.FRAME_BYTES
        assert size(page.hello()[-1]) <= protocol.HISTORY_BYTES


def test_the_example_messages_are_strict_json_and_decode(examples: dict[str, Any]) -> None:
    assert set(examples) >= {"empty", "forward", "digits", "nan", "spans", "cells"}
    for messages in examples.values():
        kinds = [m["content"]["kind"] for m in messages]
        if "frame" in kinds:
            assert kinds[:2] == ["reset", "structure"]
        structure = messages[1]["content"]
        packed = [len(b) // 4 for b in messages[1]["buffers"]]
        ops, leaves = (packed[0], packed[4]) if "faces" in structure else [len(structure.get(k, ())) for k in ("ops", "leaves")]
        for message in messages:
            content = strict(message["content"])
            assert content["v"] == protocol.VERSION
            if content["kind"] == "frame":
                got = decode(content, message["buffers"])
                assert len(got["ops"]) == 4 * ops
                assert len(got["leaves"]) == 2 * leaves
                assert len(got["data"]) == content["series"]["width"] * len(got["first"]) * (1 if content["series"]["exact"] else 3)


def test_the_row_of_an_open_step_is_sent_and_sent_again_when_it_is_complete() -> None:
    w = gl.tensor([1.0, 2.0], requires_grad=True)
    with recording() as recorder:
        page = Page(recorder)
        page.hello()
        (w * w).sum().backward()
        (message,) = [m for m in page.push() if m.content["kind"] == "frame"]
        sketch = decode(*message)
        w.data -= 0.1 * w.grad
        (message,) = [m for m in page.push() if m.content["kind"] == "frame"]
        row = decode(*message)
    assert sketch["last"] == row["last"] == (1,)
    assert row["data"][2] == sketch["data"][2] == pytest.approx(20**0.5)


def test_a_row_that_a_second_optimizer_fills_later_is_sent_again() -> None:
    first, second = gl.ones(2, requires_grad=True), gl.ones(2, requires_grad=True)
    optimizers = [gl.optim.SGD([w], lr=0.1) for w in (first, second)]
    with recording() as recorder:
        page = Page(recorder)
        page.hello()
        (first * second).sum().backward()
        page.push("running")
        for optimizer in optimizers:
            optimizer.step()
            (message,) = [m for m in page.push("running") if m.content["kind"] == "frame"]
            row = decode(*message)
            assert row["last"] == (1,)
            assert row["data"] == pytest.approx(recorder.timeline.since(0, 10**9).data[0, 2], nan_ok=True)
    columns = recorder.timeline.columns()
    assert all(math.isfinite(row["data"][i]) for i, name in enumerate(columns) if name.startswith("u/"))


def test_the_newest_step_has_a_span_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HISTORY_BYTES", 10_000)
    with recording() as recorder:
        train(200, layers=2)
    got = decode(*Page(recorder).hello()[-1])
    assert (got["first"][-1], got["last"][-1]) == (200, 200)
    assert list(got["first"][1:]) == [last + 1 for last in got["last"][:-1]]
