"""A captured step: all its arrays, none of another's, and nothing once it is released."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, observe, optim
from gradlab.trace import CaptureError, recording
from gradlab.trace.window import summary, window


def training(seen=None):
    """Steps of a small net, each kept by hand as a capture should: what the step read, made and got."""
    gl.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 3))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = gl.randn(16, 4), gl.tensor(np.arange(16) % 3)
    while True:
        optimizer.zero_grad()
        before = [p.data.copy() for p in model.parameters()]
        state = gl.get_rng_state()
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
        loss.backward()
        if seen is not None:
            seen.append(
                {
                    "weights": before,
                    "grads": [p.grad.data.copy() for p in model.parameters()],
                    "logits": logits.data.copy(),
                    "loss": loss.item(),
                    "state": state,
                }
            )
        del logits, loss
        optimizer.step()
        yield model


def run(steps, n):
    for _ in range(n):
        next(steps)


def test_the_next_step_is_kept_and_no_other():
    seen = []
    with recording() as r:
        steps = training(seen)
        run(steps, 3)
        r.capture_next()
        assert r.captured is None
        run(steps, 3)
        kept = r.captured
        assert kept is not None and kept.state == "complete" and (kept.step, kept.run) == (4, 1)
        truth = seen[3]
        names = [op["name"] for op in r.structure()["ops"]]
        assert len(kept.ops) == len(names) and [op.cls.__name__ for op in kept.ops][:2] == ["Linear", "Tanh"]
        assert (kept.ops[-2].output == truth["logits"]).all() and kept.ops[-1].output == np.float32(truth["loss"])
        structure = r.structure()
        parameters = [leaf for leaf, s in zip(kept.leaves, structure["leaves"], strict=True) if s["kind"] == "parameter"]
        for leaf, w, g in zip(parameters, truth["weights"], truth["grads"], strict=True):
            assert (leaf.value == w).all() and (leaf.gradient == g).all()
        assert kept.random_state == truth["state"]
        r.release()


def test_gradients_of_results_are_those_that_retain_grad_finds():
    with recording() as r:
        w = gl.randn(3, 4, requires_grad=True)
        r.capture_next()
        h = gl.tanh(w)
        y = h * h
        h.retain_grad()
        y.retain_grad()
        y.sum().backward()
        kept = r.captured
        assert kept.state == "open"
        assert (kept.ops[0].gradient == h.grad.data).all() and (kept.ops[1].gradient == y.grad.data).all()
        assert (kept.leaves[0].gradient == w.grad.data).all() and kept.ops[1].inputs == (0, 0)
        r.release()


def test_saved_arrays_are_told_from_inputs_and_output():
    with recording() as r:
        r.capture_next()
        x = gl.randn(5, 4, requires_grad=True)
        gl.nn.functional.dropout(gl.tanh(x), 0.5)
        tanh, dropout = r.captured.saved_bytes(0), r.captured.saved_bytes(1)
        assert [(s[3], s[4]) for s in tanh] == [(80, "output")]
        assert [(s[0], s[1], s[4]) for s in dropout] == [("mask", (5, 4), "")]
        r.release()


def test_a_step_changes_no_number_by_being_captured():
    plain, watched = training(), training()
    run(plain, 4)
    expected = [p.data.copy() for p in next(plain).parameters()]
    with recording() as r:
        run(watched, 1)
        r.capture_next()
        run(watched, 3)
        r.release()
    for a, b in zip(expected, next(watched).parameters(), strict=True):
        assert (a == b.data).all()


def test_nothing_is_alive_after_the_release_and_no_tensor_ever():
    gc.collect()
    gc.disable()
    try:
        with recording() as r:
            r.capture_next()
            w = gl.ones(3, requires_grad=True)
            y = w * 2.0
            loss = y.sum()
            tensors = [weakref.ref(t) for t in (w, y, loss, y.grad_fn, loss.grad_fn)]
            arrays = [weakref.ref(y.data), weakref.ref(w.data)]
            loss.backward()
            arrays.append(weakref.ref(w._grad))
            del w, y, loss
            assert all(ref() is None for ref in (*tensors, *arrays))
            kept = r.captured
            copies = [weakref.ref(a) for a in (kept.ops[0].output, kept.ops[0].gradient, kept.leaves[0].value, kept.leaves[0].gradient)]
            assert all(ref() is not None for ref in copies) and kept.size_bytes >= 4 * 3 * 4
            r.release()
            assert all(ref() is None for ref in copies) and kept.size_bytes == 0
    finally:
        gc.enable()


def test_only_the_captured_step_has_a_second_observer():
    with recording() as r:
        steps = training()
        run(steps, 2)
        before = observe._attached
        r.capture_next()
        assert len(observe._attached) == len(before) + 1
        run(steps, 3)
        assert observe._attached == before and r.captured.state == "complete"
        r.release()


def test_a_step_larger_than_the_limit_is_refused_before_and_while_it_runs():
    with recording() as r:
        r.capture_next(limit_bytes=2_000)  # nothing ran yet: nothing is known
        w = gl.zeros(100, 10, requires_grad=True)
        (w * 2.0).sum().backward()
        assert r.captured is None and r.capture.state == "refused" and not r.capture.ops
        with pytest.raises(CaptureError, match="step  0 MiB or more"):
            r.capture_next(limit_bytes=2_000)
    with pytest.raises(CaptureError, match="tracing is off"):
        r.capture_next()


def test_between_cells_the_next_cell_is_the_step(notebook):
    notebook.run("w = gl.tensor([1.0, 2.0], requires_grad=True)\n(w * 3.0).sum().backward()", "a")
    notebook.recorder.capture_next()
    notebook.run("loss = (w * 5.0).sum()", "b")
    notebook.run("loss.backward()", "c")
    kept = notebook.recorder.captured
    assert [op.cls.__name__ for op in kept.ops] == ["Mul", "Sum"]
    assert kept.ops[0].output.tolist() == [5.0, 10.0] and kept.ops[0].gradient.tolist() == [1.0, 1.0]
    assert kept.leaves[0].gradient.tolist() == [8.0, 8.0]
    notebook.recorder.release()


def test_a_cell_that_runs_again_replaces_its_part(notebook):
    notebook.run("w = gl.tensor([1.0, 2.0], requires_grad=True)")
    notebook.recorder.capture_next()
    notebook.run("h = w * 3.0", "a")
    notebook.run("y = h + 1.0", "b")
    notebook.run("y = h * 7.0", "b")
    kept = notebook.recorder.captured
    assert [op.cls.__name__ for op in kept.ops] == ["Mul", "Mul"] and kept.ops[1].output.tolist() == [21.0, 42.0]
    notebook.run("h = w * 4.0", "a")
    assert [op.output.tolist() for op in kept.ops] == [[4.0, 8.0]]
    notebook.recorder.release()


def test_an_expanded_array_is_kept_once():
    with recording() as r:
        r.capture_next()
        x = gl.ones(1, 4, requires_grad=True)
        x.expand(1000, 4)
        assert r.captured.ops[0].output.shape == (1000, 4) and r.captured.size_bytes < 200
        r.release()


def test_a_glimpse_keeps_a_small_step_unasked_and_leaves():
    with recording() as r:
        steps = training()
        run(steps, 2)
        alone = observe._attached
        r.glimpse()
        run(steps, 3)
        seen = r.glimpsed
        assert seen.state == "complete" and seen.step == 3 and seen.size_bytes < 64 * 1024 and observe._attached == alone
        assert len(seen.ops) == len(r.structure()["ops"]) and r.captured is None
        r.clear()
        assert r.glimpsed is None


def test_a_glimpse_lets_go_of_what_is_large_before_it_copies_it():
    with recording() as r:
        r.glimpse()
        w = gl.zeros(200, 200, requires_grad=True)
        alone = len(observe._attached)
        (w * 2.0).sum().backward()
        assert r.glimpsed is None and len(observe._attached) == alone - 1
        with gl.no_grad():
            x = gl.ones(2)
            for _ in range(300):
                x = x * 1.0
        r.glimpse()  # the last step was large
        assert len(observe._attached) == alone - 1


def test_a_glimpse_that_meets_no_step_gives_up():
    with recording() as r:
        a = gl.ones(2, requires_grad=True) * 2.0
        r.glimpse()
        watching = len(observe._attached)
        for _ in range(300):
            a = a * 1.0
        assert len(observe._attached) == watching - 1 and r.glimpsed is None


def test_a_step_on_a_device_is_kept_there_and_looked_at_from_here():
    with recording() as r:
        r.capture_next()
        w = gl.randn(3, 4, requires_grad=True, device="sim")
        h = (gl.randn(5, 4, device="sim") @ w.T).tanh()
        h.retain_grad()
        h.sum().backward()
        op = next(op for op in r.captured.ops if op.cls.__name__ == "Tanh")
        assert type(op.output) is type(h.data) is not np.ndarray
        assert (window(op.output).values == np.asarray(h.detach().cpu().data)).all()
        assert summary(op.gradient).counts.sum() == 15 and (window(op.gradient).values == 1.0).all()
        r.release()
