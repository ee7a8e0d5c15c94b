"""Worker processes: started by spawn, as they are on every system, from tests/data/importable.py."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
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


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="groups of processes are POSIX's")
def test_an_interrupt_ends_the_workers_too(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("""
import gradlab as gl
from tests.data.importable import Noisy
if __name__ == "__main__":
    while True:
        for ids, *_ in gl.data.DataLoader(Noisy(), 2, num_workers=2, multiprocessing_context="spawn", persistent_workers=True):
            print(ids.tolist(), flush=True)
""")
    command, here = [sys.executable, script], os.getcwd()
    env = {**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=env)
    assert running.stdout.readline() == "[0, 1]\n"
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=60)  # returns only when no worker holds the pipes any more
    assert running.returncode != 0 and said.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.slow
def test_a_script_that_workers_would_run_again_is_told_of_its_guard(tmp_path):
    (tmp_path / "script.py").write_text("""
import gradlab as gl
from tests.data.importable import Noisy
list(gl.data.DataLoader(Noisy(), 2, num_workers=1, multiprocessing_context="spawn"))
""")
    env = {**os.environ, "PYTHONPATH": f"{os.getcwd()}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, env=env, timeout=100, check=False)
    assert 'if __name__ == "__main__":' in done.stderr and "a worker process ended before its batch was made" in done.stderr
