from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.trace import Recorder, recording
from gradlab.trace.tape import OPS_KEPT


def traced(step, **names):
    with recording(lambda: {id(value): name for name, value in names.items()}) as r:
        step()
    return r


def edges(r: Recorder) -> list[list[list[object]]]:
    return [op["inputs"] for op in r.structure()["ops"]]


def test_every_edge_equals_the_functions_inputs():
    x, w, b = gl.randn(4, 3), gl.randn(3, 5), gl.zeros(5)
    w.requires_grad_()
    r = traced(lambda: ((x @ w + b) * 2.0 - (x @ w)).sum(), x=x, w=w, b=b)
    leaves = [leaf["name"] for leaf in r.structure()["leaves"]]
    assert leaves == ["x", "w", "b"]
    assert edges(r) == [
        [["leaf", 0], ["leaf", 1]], [["op", 0], ["leaf", 2]], [["op", 1], ["scalar", "2.0"]], [["leaf", 0], ["leaf", 1]],
        [["op", 2], ["op", 3]], [["op", 4]],
    ]  # fmt: skip
    first = r.structure()["ops"][0]
    assert (first["name"], first["kind"], first["shape"], first["dtype"], first["bytes"]) == ("matmul", "matmul", [4, 5], "float32", 80)


def test_norms_equal_numpys_computed_without_the_tracer():
    rng = np.random.default_rng(5)
    x, w = rng.normal(size=(6, 4)).astype(np.float32), rng.normal(size=(4, 3)).astype(np.float32)
    tw = gl.tensor(w, requires_grad=True)
    r = traced(lambda: (gl.tensor(x) @ tw).tanh().sum().backward())
    z = x.astype(np.float64) @ w
    y = np.tanh(z)
    dz = 1 - y**2
    dw = x.T.astype(np.float64) @ dz
    numbers = r.numbers()
    assert numbers.ops[:, 0] == pytest.approx([np.linalg.norm(z), np.linalg.norm(y), abs(y.sum())], rel=1e-5)
    assert numbers.ops[:, 1] == pytest.approx([np.linalg.norm(dz), np.sqrt(y.size), 1.0], rel=1e-5)
    assert numbers.leaves[1] == pytest.approx([np.linalg.norm(w), np.linalg.norm(dw)], rel=1e-5)
    assert numbers.grad_norm == pytest.approx(np.linalg.norm(dw), rel=1e-5) and numbers.loss == pytest.approx(y.sum(), rel=1e-5)
    assert (numbers.ops[:, 2:] > 0).all() and numbers.op_has.tolist() == [3, 3, 3] and numbers.leaf_has.tolist() == [1, 3]


def test_a_leaf_used_twice_has_the_norm_of_the_whole_gradient():
    a = gl.tensor([1.0, 2.0], requires_grad=True)
    r = traced(lambda: (a * a + a * 3.0).sum().backward(), a=a)
    assert r.numbers().leaves[0, 1] == pytest.approx(np.linalg.norm([5.0, 7.0]))
    assert [c.op for c in r.ledger(a)] == ["mul", "mul", "mul"] and {c.backward for c in r.ledger(a)} == {1}


def test_the_same_graph_has_the_same_hash_and_key_in_every_step():
    w, seen = gl.randn(3, 2, requires_grad=True), set()
    with recording() as r:
        for _ in range(5):
            loss = (gl.randn(4, 3) @ w).sum()
            loss.backward()
            seen.add((r.structure()["hash"], r.structure()["key"].split(".")[0], len(r.structure()["ops"])))
            w.data -= 0.1 * w.grad.data
            w.grad = None
    assert len(seen) == 1


def hash_of(step) -> str:
    with recording() as r:
        step()
    return r.structure()["hash"]


def test_the_hash_differs_where_shape_dtype_or_wiring_differ_and_only_there():
    def graph(n=4, wired=True, dtype=gl.float32, factor=2.0, before=False):
        a, b = gl.ones(n, requires_grad=True, dtype=dtype), gl.ones(n, requires_grad=True, dtype=dtype)
        if before:
            gl.ones(3) * 3.0
        h = a * factor
        return ((h + a) if wired else (h + b)).sum()

    same = {hash_of(graph), hash_of(lambda: graph(factor=3.0)), hash_of(lambda: graph(before=True))}
    others = {hash_of(lambda: graph(n=5)), hash_of(lambda: graph(wired=False)), hash_of(lambda: graph(dtype=gl.float64))}
    assert len(same) == 1 and len(others) == 3 and not same & others


def test_an_input_prepared_without_a_graph_does_not_change_the_hash():
    w, x = gl.ones(3, requires_grad=True), gl.ones(3)
    assert hash_of(lambda: (x * w).sum()) == hash_of(lambda: ((x / 16.0) * w).sum())


def test_a_number_that_varies_from_step_to_step_gives_one_structure():
    w, keys = gl.ones(3, requires_grad=True), []
    with recording() as r:
        for i in range(6):
            (w * (0.5 + i)).sum().backward()
            keys.append(r.structure()["key"].split(".")[0])
            w.data -= 0.0 * w.grad.data
        assert edges(r)[0][1] == ["scalar", "varies"]
    assert len(set(keys)) == 1


def test_alternating_graphs_keep_a_structure_each():
    w, keys = gl.ones(3, 2, requires_grad=True), []
    with recording() as r:
        for i in range(8):
            (gl.ones(5 if i % 4 == 3 else 8, 3) @ w).sum().backward()
            keys.append(r.structure()["key"].rsplit(".", 3)[0])
            w.data -= 0.1 * w.grad.data
    assert len(set(keys)) == 2 and keys[0] == keys[1] == keys[4] and keys[3] == keys[7]


def test_an_op_that_raises_is_on_the_tape_with_what_it_said():
    with recording() as r, pytest.raises(gl.ShapeError):
        gl.ones(2, 3, requires_grad=True) @ gl.ones(2, 3)
    (op,) = r.structure()["ops"]
    assert op["name"] == "matmul" and "inner sizes" in op["error"] and op["inputs"] == [["leaf", 0], ["leaf", 1]] and not op["grad"]
    assert r.numbers().op_has.tolist() == [0]


def test_an_interrupt_is_recorded_and_passed_on():
    class Slow(gl.Function):
        def forward(self, x):
            raise KeyboardInterrupt

    with recording() as r:
        with pytest.raises(KeyboardInterrupt):
            Slow.apply(gl.ones(2))
        (gl.ones(2, requires_grad=True) * 2.0).sum().backward()
    assert [op["error"] for op in r.structure()["ops"]] == ["KeyboardInterrupt", None, None]


def test_a_backward_that_raises_leaves_what_it_did_and_the_next_one_is_whole():
    class Broken(gl.Function):
        def forward(self, x):
            return x * 2.0

        def backward(self, g):
            raise ZeroDivisionError

    w = gl.ones(2, requires_grad=True)
    with recording() as r:
        with pytest.raises(ZeroDivisionError):
            (Broken.apply(w) + w).sum().backward()
        w.grad = None
        w.data -= 0.0
        (w * 3.0).sum().backward()
    assert r.numbers().grad_norm == pytest.approx(np.sqrt(18))


def test_nan_and_infinity_reach_the_numbers():
    w = gl.tensor([1.0, 0.0], requires_grad=True)
    with np.errstate(all="ignore"):
        r = traced(lambda: (w * float("nan")).sum().backward())
        assert np.isnan(r.numbers().ops[:, 0]).all() and np.isnan(r.numbers().loss) and np.isnan(r.numbers().grad_norm)
        r = traced(lambda: (w / 0.0).sum())
    assert r.numbers().op_has.tolist() == [1, 1]


@pytest.mark.parametrize("ops", [40_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_a_step_of_very_many_ops_is_kept_in_part_and_counted_in_full(ops):
    w = gl.ones(1, requires_grad=True)
    with recording(norms=False) as r:
        y = w
        for _ in range(ops):
            y = y + w
        y.sum().backward()
        w.data -= 0.1 * w.grad.data
        (w * 2.0).sum().backward()
        assert len(r.structure()["ops"]) == 2 and r.step == 1
    assert r._steps.last.n == OPS_KEPT and r._steps.last.folded == ops + 1 - OPS_KEPT


def test_without_norms_there_is_the_graph_only():
    w = gl.ones(3, requires_grad=True)
    with recording(norms=False) as r:
        (w * 2.0).sum().backward()
        w.data -= 0.1 * w.grad.data
    assert [op["name"] for op in r.structure()["ops"]] == ["mul", "sum"] and r.step == 1
    assert r.numbers().op_has.tolist() == [0, 0] and r.numbers().grad_norm is None and (r.numbers().ops[:, 2] > 0).all()


def test_names_of_functions_are_those_a_user_calls():
    class TwiceAsMuch(gl.Function):
        def forward(self, x):
            return x * 2.0

    x = gl.ones(2, 2)
    r = traced(lambda: (x @ x, gl.log_softmax(x, 1), x.relu(), TwiceAsMuch.apply(x), x.max(1), x.logsumexp(1)))
    names = [op["name"] for op in r.structure()["ops"]]
    assert names[:4] == ["matmul", "log_softmax", "relu", "twice_as_much"] and "logsumexp" in names


def test_an_op_that_raises_after_a_long_evaluation_is_shown(notebook):
    notebook.run("with gl.no_grad():\n    for _ in range(400): gl.ones(2) * 2.0")
    with pytest.raises(gl.ShapeError):
        notebook.run("gl.ones(2) + gl.ones(3)")
    assert "ShapeError" in notebook.recorder.structure()["ops"][-1]["error"]


def test_an_op_whose_backward_raises_says_so_until_the_next_backward():
    class Fails(gl.Function):
        def forward(self, x):
            return x * 1.0

        def backward(self, g):
            raise ValueError("no")

    w = gl.ones(2, requires_grad=True)
    with recording() as r:
        y = Fails.apply(w * 2.0)
        before = r.structure()
        with pytest.raises(ValueError, match="no"):
            y.sum().backward(retain_graph=True)
        after = r.structure()
        assert [op["error"] for op in before["ops"]] == [None, None]
        assert [op["error"] for op in after["ops"]] == [None, "ValueError: no", None]
        assert before["key"] != after["key"] and r.structure() is after and len(r.numbers().ops) == 3
        (w * 3.0).sum().backward()
        assert {op["error"] for op in r.structure()["ops"]} == {None}


def test_the_description_of_a_growing_step_is_made_a_few_times_only():
    recorder, described = Recorder(), {}
    recorder.frame_interval = 0.0

    def look():
        with recorder.lock:
            structure, numbers = recorder.structure(), recorder.numbers()
        assert (len(structure["ops"]), len(structure["leaves"])) == (len(numbers.ops), len(numbers.leaves))
        described[structure["key"]] = len(structure["ops"])

    recorder.running = True
    recorder.attach()
    y = gl.ones(2, requires_grad=True)
    for i in range(20_000):
        if i % 250 == 0 and i >= 300:
            look()
        y = y * 1.0001
    recorder.running = False
    recorder.detach()
    structure = recorder.structure()
    assert len(described) < 20 and set(described.values()) == {256, 512, 1024, 2048, 4096, 8192, 16384}
    assert len(structure["ops"]) + structure["folded"] == 20_000
