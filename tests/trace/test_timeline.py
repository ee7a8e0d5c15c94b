from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradlab.trace import MISSING, Timeline, is_missing


def filled(steps: int, **options: int) -> Timeline:
    timeline = Timeline(**options)
    timeline.add("step")
    for step in range(1, steps + 1):
        timeline.write(step, [step])
    return timeline


@given(st.integers(1, 1_500), st.integers(0, 1_500), st.integers(0, 20_000), st.floats(10, 1e30), st.data())
@settings(max_examples=60, deadline=None)
def test_no_spike_is_lost_however_few_spans_are_sent(steps, since, max_bytes, height, data):
    at = data.draw(st.integers(1, steps))
    timeline = Timeline()
    timeline.add("loss")
    timeline.add("grad_norm")
    for step in range(1, steps + 1):
        timeline.write(step, [height if step == at else 1.0, -height if step == at else 0.0])
    spans = timeline.since(since, max_bytes)
    covered = [step for a, b in zip(spans.first, spans.last, strict=True) for step in range(a, b + 1)]
    assert covered == list(range(since + 1, steps + 1))
    assert spans.data.shape == (len(spans.first), 3, 2)
    assert len(spans.first) <= 1 or spans.data[:, 2 if spans.exact else slice(None)].nbytes <= max_bytes
    if at > since:
        (hit,) = [i for i, (a, b) in enumerate(zip(spans.first, spans.last, strict=True)) if a <= at <= b]
        assert spans.data[hit, 1, 0] == np.float32(height) and spans.data[hit, 0, 1] == -np.float32(height)
    if covered:
        assert spans.data[-1, 2, 0] == np.float32(height if at == steps else 1.0)


def test_a_nan_is_not_lost_and_a_missing_value_is_no_nan():
    timeline = Timeline()
    timeline.add("loss")
    timeline.add("g/w")
    for step in range(1, 101):
        timeline.write(step, [math.nan if step == 30 else 1.0, MISSING if step % 2 else 2.0])
    spans = timeline.since(0, max_bytes=5 * 3 * 2 * 4)
    assert np.isnan(spans.data[1, :2, 0]).all() and not np.isnan(spans.data[[0, 2, 3, 4], :, 0]).any()
    assert (spans.data[:, :2, 1] == 2.0).all()
    assert float(timeline.rows(98)[1][0, 1]) != float(timeline.rows(98)[1][0, 1])  # step 99 alone is missing: NaN


def test_infinity_is_the_largest_value_of_its_span():
    timeline = filled(50)
    timeline.write(51, [math.inf])
    timeline.write(52, [1.0])
    assert timeline.since(0, 12).data[0].ravel().tolist() == [1.0, math.inf, 1.0]


def test_the_newest_ten_thousand_steps_are_kept_in_bounded_bytes():
    timeline = filled(25_000)
    first, rows = timeline.rows(0)
    assert (first, len(rows), rows[0, 0], rows[-1, 0]) == (15_001, 10_000, 15_001.0, 25_000.0)
    assert timeline.size_bytes <= 11_000 * 4


def test_wide_rows_keep_fewer_steps_rather_than_more_bytes():
    timeline = Timeline(limit_bytes=4_000_000)
    for i in range(1_000):
        timeline.add(f"g/{i}")
    for step in range(1, 3_001):
        timeline.write(step, [float(step)])
    assert timeline.size_bytes <= 4_000_000
    first, rows = timeline.rows(0)
    assert first + len(rows) - 1 == 3_000 and len(rows) >= 500


def test_a_column_added_later_is_missing_before():
    timeline = filled(3)
    assert timeline.add("g/late") == 1
    timeline.write(4, [4.0, 7.0])
    _, rows = timeline.rows(0)
    assert np.isnan(rows[:3, 1]).all() and rows[3].tolist() == [4.0, 7.0]
    assert timeline.columns() == ["step", "g/late"]


def test_the_newest_row_may_be_written_again_and_steps_that_were_left_out_are_missing():
    timeline = filled(3)
    timeline.write(3, [30.0])
    assert timeline.rows(2)[1].tolist() == [[30.0]]
    timeline.write(6, [6.0])
    assert np.isnan(timeline.rows(3)[1][:2]).all() and timeline.rows(5)[1].tolist() == [[6.0]]
    with pytest.raises(ValueError, match="can't follow"):
        timeline.write(5, [5.0])


def test_columns_that_exist_are_not_added_again():
    timeline = Timeline()
    assert [timeline.add("loss"), timeline.add("g/w", "w/w", "u/w"), timeline.add("g/w", "w/w", "u/w"), timeline.add("lr")] == [0, 1, 1, 4]
    assert timeline.columns() == ["loss", "g/w", "w/w", "u/w", "lr"]


def test_an_empty_timeline_has_no_spans():
    spans = Timeline().since(-1, 1_000)
    assert (len(spans.first), spans.data.shape, spans.exact) == (0, (0, 3, 0), True)


def test_what_the_reader_has_already_is_not_sent_again():
    timeline = filled(10)
    assert timeline.since(8, 1_000).first.tolist() == [9, 10]
    assert len(timeline.since(10, 1_000).first) == 0


def test_a_few_numbers_put_are_what_a_row_written_would_be() -> None:
    rng = np.random.default_rng(0)
    one, other = Timeline(), Timeline()
    for t in (one, other):
        t.add("loss")
        t.add("grad_norm")
    step = 0
    for i in range(1500):
        step += int(rng.choice([0, 1, 1, 1, 3])) if step else 1
        if i == 700:
            for t in (one, other):
                t.add("lr/SGD")
        values = [
            (c, v) for c, v in enumerate(rng.choice([0.5, -2.0, np.nan, np.inf, 1e39, -1e300, MISSING], one.width)) if rng.random() < 0.9
        ]
        one.put(step, tuple(c for c, _ in values), tuple(float(v) for _, v in values))
        row = other.rows(step - 1)[1][0].tolist() if step == other.rows(0)[0] + len(other.rows(0)[1]) - 1 else [MISSING] * other.width
        kept = np.array(row + [MISSING] * (other.width - len(row)))
        for c, v in values:
            kept[c] = v
        other.write(step, kept.tolist())
    assert np.array_equal(one.rows(0)[1].view(np.uint32), other.rows(0)[1].view(np.uint32))


def test_rows_put_together_reach_columns_that_came_later_and_the_next_block() -> None:
    timeline = filled(3)
    for step in range(4, 490):
        timeline.put(step, (0,), (step,))
    timeline.rows(0)
    late = timeline.add("late")
    for step in range(490, 520):
        timeline.put(step, (0, late), (step, -step))
    first, rows = timeline.rows(0)
    assert first == 1 and rows[:, 0].tolist() == list(range(1, 520)) and rows[489:, late].tolist() == [-s for s in range(490, 520)]
    assert is_missing(rows[:489, late]).all()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("storing", ["_put", "_put_together"])
def test_an_interrupt_while_rows_are_stored_loses_none(monkeypatch, storing, after) -> None:
    timeline = filled(3)
    store, calls = getattr(Timeline, storing), []

    def stopped(self: Timeline, *row: Any) -> Any:
        calls.append(row)
        if len(calls) == 1 and not after:
            raise KeyboardInterrupt
        done = store(self, *row)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(Timeline, storing, stopped)
    timeline.put(3, (0,), (30.0,))
    for step in (4, 5, 6, 8):
        timeline.put(step, (0,), (step,))
    with pytest.raises(KeyboardInterrupt):
        timeline.rows(0)
    timeline.put(9, (0,), (9.0,))
    rows = timeline.rows(0)[1][:, 0]
    assert rows[[0, 1, 2, 3, 4, 5, 7, 8]].tolist() == [1, 2, 30, 4, 5, 6, 8, 9] and np.isnan(rows[6])
    assert len(calls) > 1
