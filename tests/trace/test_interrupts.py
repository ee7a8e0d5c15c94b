"""Stop is pressed at any moment: the recorder stays on, unlocked and consistent."""

from __future__ import annotations

import sys
import threading

import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.trace import Recorder, frames, gradients, pace, recorder, run, steps, timeline, turning, writer

PLACES = {module.__file__ for module in (frames, gradients, pace, recorder, run, steps, timeline, turning, writer)}


class Model:
    """Two layers that train on fixed data."""

    def __init__(self):
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
        self.optimizer = optim.Adam(self.layers.parameters())

    def step(self):
        self.optimizer.zero_grad()
        (self.layers(gl.ones(4, 4)) ** 2).mean().backward()
        self.optimizer.step()


def interrupted_at(line, call):
    """Run `call` with a KeyboardInterrupt at the n-th line that the tracer runs; how many lines it ran till then."""
    count = 0

    def watch(frame, event, _):
        nonlocal count
        if frame.f_code.co_filename not in PLACES:
            return None
        if event == "line":
            count += 1
            if count == line and frame.f_code.co_name not in ("_repair", "abandon", "reset"):
                sys.settrace(None)
                raise KeyboardInterrupt
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        call()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return count


def is_free(lock):
    """Whether another thread gets the lock."""
    got = []

    def take():
        got.append(lock.acquire(timeout=1))
        if got[0]:
            lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return got[0]


def test_an_interrupt_at_any_line_of_the_tracer_leaves_it_whole():
    recorder = Recorder()
    recorder.attach()
    try:
        Model().step()
        line = 1
        while True:
            model = Model()  # a new one: its names, columns and series are made while the interrupt hits
            ran = interrupted_at(line, model.step)
            if ran < line:
                break
            line += 7
            assert recorder.on and is_free(recorder.lock)
            recorder.running = True
            recorder.running = False
            structure, numbers = recorder.structure(), recorder.numbers()
            assert (len(structure["ops"]), len(structure["leaves"])) == (len(numbers.ops), len(numbers.leaves))
            for _ in range(2):
                model.step()
            assert recorder.on and [op["module"] is None for op in recorder.structure()["ops"]] == [False, False, False, True, True]
            assert len(recorder.timeline.columns()) == len(set(recorder.timeline.columns()))
        assert line > 500
    finally:
        recorder.detach()


def test_an_interrupt_between_taking_the_lock_and_using_it_gives_it_back():
    class Lock:
        def __init__(self):
            self.inner, self.armed = threading.RLock(), True

        def acquire(self, *args, **options):
            self.inner.acquire(*args, **options)
            if self.armed:
                self.armed = False
                raise KeyboardInterrupt
            return True

        def release(self):
            self.inner.release()

        def __enter__(self):
            self.inner.acquire()

        def __exit__(self, *error):
            self.inner.release()

    recorder = Recorder()
    recorder.lock = Lock()
    recorder.attach()
    try:
        with pytest.raises(KeyboardInterrupt):
            gl.ones(2) * 2.0
        assert is_free(recorder.lock)
        gl.ones(2) * 3.0
        assert len(recorder.structure()["ops"]) == 1
    finally:
        recorder.detach()


def test_a_module_call_that_an_interrupt_left_open_is_gone_in_the_next_cell(notebook):
    notebook.recorder._module_began(nn.Linear(2, 2))
    notebook.run("gl.ones(2) * 2.0")
    assert [op["module"] for op in notebook.recorder.structure()["ops"]] == [None]
