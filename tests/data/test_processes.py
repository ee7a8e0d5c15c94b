"""Worker processes: started by spawn, as they are on every system, from tests/data/importable.py."""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
import types

import pytest

import gradlab as gl
from gradlab import data
from tests.data.importable import Lines, Noisy, begin, total


def read(loader):
    return [tuple(v.tolist() for v in batch) for batch in loader]


def spawned(dataset, **options):
    return data.DataLoader(dataset, 2, num_workers=1, multiprocessing_context="spawn", seed=4, **options)


def test_processes_give_the_batches_of_the_main_process_and_may_stay():
    loader = spawned(Noisy(), shuffle=True, persistent_workers=True, timeout=120)
    first, second = read(loader), read(loader)
    for _ in loader:
        break
    third = read(loader)
    processes = {pid for epoch in (first, second, third) for *_, pids in epoch for pid in pids}
    assert len(processes) == 1 and os.getpid() not in processes
    here = data.DataLoader(Noisy(), 2, shuffle=True, seed=4)
    for epoch in (first, second):
        assert [batch[:2] for batch in epoch] == [batch[:2] for batch in read(here)]
    drawn = [batch[2:4] for epoch in (first, second, third) for batch in epoch]
    assert len({r for pair in drawn for part in pair for r in part}) == 2 * 30, "Python's and NumPy's numbers are new in every item"
    del loader, here
    assert not multiprocessing.active_children()


def test_errors_come_with_the_traceback_of_their_process():
    with pytest.raises(KeyError, match="item three is broken") as raised:
        read(spawned(Noisy(bad="error"), worker_init_fn=begin))
    text = "".join(traceback.format_exception(raised.value))
    assert "importable.py" in text and 'raise KeyError("item three is broken")' in text and "in item 3 of Noisy" in text
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_errors_that_can_not_be_sent_are_shown_as_text_and_a_dead_process_is_named():
    with pytest.raises(gl.errors.DataError, match="a worker failed") as raised:
        read(spawned(Noisy(bad="two")))
    assert "TwoArgumentError: one two" in "".join(traceback.format_exception(raised.value))
    with pytest.raises(gl.errors.DataError, match=r"(?s)ended before its batch was made.*enough memory"):
        read(spawned(Noisy(bad="death")))
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_a_stream_is_read_by_one_process_and_batches_may_be_anything():
    loader = data.DataLoader(Lines(), 3, num_workers=2, multiprocessing_context="spawn", collate_fn=total, persistent_workers=True)
    assert list(loader) == list(loader) == [3, 12, 6]


def test_what_another_process_can_not_import_is_refused_at_once():
    class Local(Noisy):
        pass

    with pytest.raises(
        gl.errors.DataError, match=r"(?s)can't be sent to another process.*need: +a dataset, .*try: +multiprocessing_context=None"
    ):
        read(spawned(Local()))
    with pytest.raises(gl.errors.DataError, match="can't be sent"):
        read(spawned(Noisy(), collate_fn=lambda items: items))


def test_a_dataset_of_a_notebook_is_refused_at_once(monkeypatch):
    class Squares(Noisy):
        pass

    Squares.__module__, Squares.__qualname__ = "__main__", "Squares"
    session = types.ModuleType("__main__")  # without a file, as that of a kernel
    session.Squares = Squares
    monkeypatch.setitem(sys.modules, "__main__", session)
    with pytest.raises(gl.errors.DataError, match=r"(?s)another process could not import this.*multiprocessing_context=None, for threads"):
        read(spawned(Squares()))
