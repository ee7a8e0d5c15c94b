from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, observe, optim
from gradlab.trace import Recorder, Where, current_recorder, recording


def train(steps=3, model=None):
    gl.manual_seed(3)
    model = model or nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = optim.AdamW(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    x, y = gl.randn(16, 4), gl.tensor(np.arange(16) % 3)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    return [p.data.copy() for p in model.parameters()]


@pytest.mark.parametrize("norms", [True, False])
def test_recording_changes_no_number(norms):
    plain = train(5)
    with recording(norms=norms):
        watched = train(5)
    assert all((a == b).all() for a, b in zip(plain, watched, strict=True))


def test_no_tensor_is_kept_alive_past_its_last_use():
    gc.collect()
    gc.disable()
    try:
        with recording() as r:
            w = gl.ones(3, requires_grad=True)
            y = w * 2.0
            loss = y.sum()
            held = [weakref.ref(t) for t in (w, y, loss, y.grad_fn, loss.grad_fn)]
            loss.backward()
            arrays = [weakref.ref(y.data), weakref.ref(w._grad)]
            del w, y, loss
            assert all(ref() is None for ref in (*held, *arrays))
            assert r.numbers().grad_norm > 0
    finally:
        gc.enable()


def test_a_hundred_reruns_of_a_training_cell_leave_nothing_behind(notebook):
    models = []
    notebook.namespace["remember"] = lambda model: models.append(weakref.ref(model))
    for _ in range(100):
        notebook.run("""
model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 3))
remember(model)
optimizer = optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = (model(gl.ones(2, 4)) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
""", "train")  # fmt: skip
    notebook.namespace.clear()
    gc.collect()
    assert sum(ref() is not None for ref in models) == 0
    steps = notebook.recorder._steps
    assert notebook.recorder.run == 100 and len(steps._params) < 600 and len(notebook.recorder._structures) <= 8


def test_ops_of_several_threads_know_their_own_modules():
    models = [nn.Sequential(nn.Linear(2, 2), nn.Tanh()) for _ in range(4)]
    barrier, problems = threading.Barrier(4), []

    def work(model):
        try:
            barrier.wait(5)
            for _ in range(30):
                model(gl.ones(1, 2)).sum().backward()
        except Exception as error:
            problems.append(error)

    with recording(lambda: {id(m): f"m{i}" for i, m in enumerate(models)}) as r:
        threads = [threading.Thread(target=work, args=(m,)) for m in models]
        for t in threads:
            t.start()
        for t in threads:
            t.join(10)
        structure = r.structure()
    assert not problems and len(structure["ops"]) == 4 * 30 * 3
    for op in structure["ops"]:
        if op["name"] == "linear":
            path = structure["modules"][op["module"]]["path"]
            leaf = structure["leaves"][op["inputs"][1][1]]["name"]
            assert leaf.partition(".")[0] == path.partition(".")[0]


def test_a_reader_on_another_thread_sees_structure_and_numbers_that_belong_together():
    stop, problems, reads = threading.Event(), [], []

    def read(r):
        while not stop.is_set():
            with r.lock:
                structure, numbers = r.structure(), r.numbers()
            if len(structure["ops"]) != len(numbers.ops) or len(structure["leaves"]) != len(numbers.leaves):
                problems.append((len(structure["ops"]), len(numbers.ops)))
            reads.append(1)

    with recording() as r:
        thread = threading.Thread(target=read, args=(r,))
        thread.start()
        train(100)
        while not reads:
            train(10)
        stop.set()
        thread.join(10)
    assert reads and not problems


def test_frames_in_a_loop_show_complete_steps_only():
    recorder, seen = Recorder(), []
    recorder.frame_interval = 0.0

    def look():
        numbers = recorder.numbers()
        seen.append((recorder.step, len(recorder.structure()["ops"]), set(numbers.op_has.tolist()), len(numbers.optimizers), recorder.open))

    recorder.attach()
    recorder.on_frame = look
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    while len(seen) < 5:
        train(5, model)
    recorder.detach()
    after_first = [frame for frame in seen if frame[0] > 0]
    assert after_first and all(frame[1:] == (4, {3}, 1, False) for frame in after_first)


def test_a_frame_that_fails_stops_the_frames_and_nothing_else():
    recorder = Recorder()
    recorder.on_frame = lambda: 1 / 0
    recorder.attach()
    with pytest.warns(UserWarning, match="stopped following"):
        train(2)
    recorder.detach()
    assert recorder.step == 2 and recorder.on_frame is None


def test_pictures_cost_a_tenth_of_the_time_at_most():
    recorder, calls = Recorder(), []
    recorder.frame_interval = 0.0

    def slow():
        calls.append(1)
        threading.Event().wait(0.05)

    recorder.on_frame = slow
    recorder.attach()
    train(20)
    recorder.detach()
    assert len(calls) == 1 and recorder._frames.due > 0


def test_recorders_leave_in_any_order_and_see_what_they_were_there_for():
    a, b = Recorder(), Recorder()
    a.attach()
    gl.ones(2) * 1.0
    b.attach()
    assert current_recorder() is b
    gl.ones(2) * 2.0
    a.detach()
    assert current_recorder() is b and not a.on and b.on
    gl.ones(2) * 3.0
    b.detach()
    assert current_recorder() is None and observe.current is None
    assert (len(a.structure()["ops"]), len(b.structure()["ops"])) == (2, 2)


def test_two_recorders_at_once_see_the_same():
    with recording() as a, recording() as b:
        train(3)
    assert a.structure()["hash"] == b.structure()["hash"] and a.step == b.step == 3
    assert [m["path"] for m in a.structure()["modules"]] == [m["path"] for m in b.structure()["modules"]]


def test_attaching_twice_is_attaching_once():
    recorder = Recorder()
    recorder.attach()
    recorder.attach()
    gl.ones(2) * 1.0
    recorder.detach()
    recorder.detach()
    assert len(recorder.structure()["ops"]) == 1 and current_recorder() is None


def test_a_recorder_that_breaks_is_off_and_training_goes_on():
    recorder = Recorder()
    recorder.where = lambda: 1 / 0
    recorder.attach()
    with pytest.warns(UserWarning, match="training goes on"):
        train(1)
    assert not recorder.on
    recorder.detach()


def test_an_exception_inside_a_module_leaves_the_next_call_at_the_right_place():
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    with recording(lambda: {id(model): "model"}) as r:
        with pytest.raises(gl.ShapeError):
            model(gl.ones(1, 5))
        gl.ones(2) * 2.0
        model(gl.ones(1, 2))
    structure = r.structure()
    assert [(op["name"], op["module"] is None, op["error"] is None) for op in structure["ops"]] == [
        ("linear", False, False), ("mul", True, True), ("linear", False, True), ("linear", False, True),
    ]  # fmt: skip


def test_the_line_of_an_op_is_the_innermost_line_of_the_users_code():
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh())

    def helper(x):
        return x * 2.0

    with recording() as r:
        helper(model(gl.ones(1, 2)))
    structure = r.structure()
    start = helper.__code__.co_firstlineno
    assert [op["line"] for op in structure["ops"]] == [start + 4, start + 4, start + 1]
    assert [cell["file"] for cell in structure["cells"]] == ["test_recorder.py"]


def test_a_users_own_module_shows_the_lines_of_its_forward():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)

        def forward(self, x):
            x = self.fc(x)
            return x.tanh()

    net = Net()
    with recording() as r:
        net(gl.ones(1, 2))
    start = Net.forward.__code__.co_firstlineno
    assert [op["line"] for op in r.structure()["ops"]] == [start + 1, start + 2]


def test_ops_of_cells_know_cell_count_and_line(notebook):
    notebook.run("def double(x):\n    return x * 2.0", "defs")
    notebook.run("w = gl.ones(2, requires_grad=True)\n\ny = double(w).sum()", "use")
    structure = notebook.recorder.structure()
    places = [(structure["cells"][op["cell"]]["id"], structure["cells"][op["cell"]]["count"], op["line"]) for op in structure["ops"]]
    assert places == [("defs", 1, 2), ("use", 2, 3)]


def test_a_where_that_makes_new_objects_each_time_is_understood_too():
    recorder, keys = Recorder(), set()
    recorder.where = lambda: Where("a", 1, None, 7)
    recorder.attach()
    w = gl.ones(2, requires_grad=True)
    for _ in range(3):
        (w * 2.0).sum().backward()
        keys.add(recorder.structure()["key"].split(".")[0])
        w.data -= 0.1 * w.grad.data
    recorder.detach()
    assert len(keys) == 1


def test_the_share_of_tracing_is_measured():
    with recording() as r:
        train(30)
    assert 0.0 < r.share < 1.0


def test_the_ledger_shows_a_forgotten_zero_grad_as_a_growing_list():
    w = gl.ones(2, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1)
    with recording() as r:
        for _ in range(3):
            (w * 3.0).sum().backward()
            optimizer.step()
        assert [(c.backward, c.op) for c in r.ledger(w)] == [(1, "mul"), (2, "mul"), (3, "mul")]
        optimizer.zero_grad()
        (w * 3.0).sum().backward()
        assert [c.backward for c in r.ledger(w)] == [4] and r.ledger(w)[0].norm == pytest.approx(np.sqrt(18))


def test_retained_gradients_of_results_are_in_the_ledger():
    w = gl.ones(2, requires_grad=True)
    with recording() as r:
        y = w * 3.0
        y.retain_grad()
        y.sum().backward()
    assert [c.norm for c in r.ledger(y)] == [pytest.approx(np.sqrt(2))]


def test_structure_is_the_same_object_while_the_graph_is_the_same():
    with recording() as r:
        train(2)
        one = r.structure()
        train(0)
    assert r.structure() is one


@pytest.mark.parametrize("reset", ["none", "zeros", "never"])
def test_a_gradient_of_several_backward_calls_is_marked_and_one_of_a_single_call_is_not(reset):
    model, x = nn.Linear(3, 2), gl.randn(4, 3)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    with recording() as r:
        for _ in range(4):
            if reset != "never":
                optimizer.zero_grad(set_to_none=reset == "none")
            before = {name: 0.0 if p.grad is None else np.array(p.grad.data) for name, p in model.named_parameters()}
            model(x).pow(2).mean().backward()
            own = {name: float(np.linalg.norm(p.grad.data - before[name])) for name, p in model.named_parameters()}
            optimizer.step()
    for numbers in (r.numbers(), r.at(4)[2], r.at(3)[2]):
        leaves = [leaf["name"] for leaf in r.structure()["leaves"]]
        marked = {name for name, has in zip(leaves, numbers.leaf_has, strict=True) if has & 4}
        assert marked == ({"weight", "bias"} if reset == "never" else set())
    names = {
        name: (float(number), bool(has & 4))
        for name, number, has in zip(leaves, r.numbers().leaves[:, 1], r.numbers().leaf_has, strict=True)
    }
    for name, norm in own.items():
        number, is_sum = names[name]
        assert (number == pytest.approx(norm, rel=1e-5)) is not is_sum


def test_two_backward_calls_before_one_update_mark_the_sum_and_a_weight_read_twice_is_no_sum():
    w = gl.tensor([1.0, 2.0], requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1)
    marks = []
    with recording() as r:
        for calls in (1, 2, 1):
            optimizer.zero_grad()
            for _ in range(calls):
                (w.exp() * w).sum().backward()
            marks.append(int(r.numbers().leaf_has[0]) & 4)
            optimizer.step()
    assert marks == [0, 4, 0]
