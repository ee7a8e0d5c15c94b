from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.trace import recording
from gradlab.trace.history import History


def train(steps, each=lambda recorder: None, **more):
    gl.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 1)), gl.randn(8, 6)
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    with recording(**more) as r:
        for _ in range(steps):
            optimizer.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            each(r)
    return r


def test_every_step_can_be_read_again_as_it_was_shown():
    shown = {}
    r = train(12, lambda r: shown.update({r.step: (r.structure(), r.numbers())}))
    for step, (structure, numbers) in shown.items():
        found, again, then = r.at(step)
        assert (found, again["hash"]) == (step, structure["hash"])
        assert then.ops[:, :2].tolist() == numbers.ops[:, :2].tolist() and then.op_has.tolist() == numbers.op_has.tolist()
        assert np.array_equal(then.leaves, numbers.leaves, equal_nan=True) and then.leaf_has.tolist() == numbers.leaf_has.tolist()
        assert (then.loss, then.grad_norm) == (numbers.loss, numbers.grad_norm)
    assert r.at(3)[1]["key"] == r.structure()["key"], "a loop has one structure, and the page knows it already"


def test_a_step_that_is_gone_is_answered_by_the_newest_one_before_it_and_the_future_by_the_last():
    r = train(5)
    history = r._steps.run.history
    history._steps.remove(history.at(3))
    assert (r.at(3)[0], r.at(99)[0], r.at(0)) == (2, 5, None)


def test_not_a_number_stays_apart_from_not_measured():
    w = gl.tensor([0.0, 1.0], requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1)
    with recording() as r, np.errstate(all="ignore"):
        for _ in range(2):
            (w / (w * 0.0)).sum().backward()
            with gl.no_grad():
                w.sum()
            optimizer.step()
            optimizer.zero_grad()
    _, structure, numbers = r.at(1)
    assert [op["name"] for op in structure["ops"]] == ["mul", "div", "sum", "sum"]
    assert np.isnan(numbers.ops[1:3, 0]).all() and numbers.op_has.tolist() == [3, 3, 3, 1]


def test_its_bytes_are_bounded_and_the_oldest_steps_leave():
    r = train(40)
    tape = r._steps.tape
    history = History(limit_bytes=6_000)
    for step in range(1, 200):
        tape.step = step
        history.add(tape)
    kept = history.steps
    assert history.size_bytes <= 6_000 and kept == list(range(kept[0], 200)) and kept[0] > 1
    nodes = history._nodes
    assert len(nodes) == 1 and nodes[tape.node] == len(kept)


def test_it_keeps_no_tensor_alive():
    others = {id(o) for o in gc.get_objects() if isinstance(o, gl.Tensor)}  # those of other tests, and alive all the time
    r = train(3)
    tensors = [weakref.ref(o) for o in gc.get_objects() if isinstance(o, gl.Tensor) and o.grad_fn is not None and id(o) not in others]
    gc.collect()
    assert r.at(2) is not None and [t for t in tensors if t() is not None] == []


def test_without_norms_nothing_is_kept():
    assert train(3, norms=False).at(2) is None


@pytest.mark.parametrize("step", [1, 7])
def test_a_new_run_forgets_the_old_one(step):
    r = train(8)
    r.clear()
    assert r.at(step) is None
