from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.trace import recording

MODEL = """
gl.manual_seed(0)
x, y = gl.randn(8, 3), gl.tensor(np.array([0, 1] * 4))
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
criterion = nn.CrossEntropyLoss()
optimizer = optim.AdamW(model.parameters(), lr=0.01)
"""
FORWARD = "loss = criterion(model(x), y)"
BACKWARD = "loss.backward()"
UPDATE = "optimizer.step()"
ZERO = "optimizer.zero_grad()"
GRAPH = ["linear", "tanh", "linear", "cross_entropy"]


def test_forward_alone_shows_graph_and_shapes(notebook):
    notebook.run(MODEL)
    r = notebook.run(FORWARD)
    numbers = r.numbers()
    assert notebook.ops == GRAPH and [op["shape"] for op in r.structure()["ops"]] == [[8, 4], [8, 4], [8, 2], []]
    assert numbers.op_has.tolist() == [1, 1, 1, 1] and numbers.loss is None and numbers.grad_norm is None and numbers.optimizers == []
    assert (r.step, r.open) == (0, True)


def test_backward_adds_gradients_and_an_update_the_optimizer(notebook):
    notebook.run(MODEL)
    notebook.run(FORWARD)
    shape_of_graph = notebook.recorder.structure()["hash"]
    r = notebook.run(BACKWARD)
    assert r.structure()["hash"] == shape_of_graph
    assert r.numbers().op_has.tolist() == [3, 3, 3, 3] and r.numbers().loss == pytest.approx(notebook.namespace["loss"].item())
    r = notebook.run(UPDATE)
    assert (r.step, r.open, notebook.ops) == (1, False, GRAPH)
    assert [o["label"] for o in r.numbers().optimizers] == ["AdamW"] and len(r.timeline.since(0, 10_000).first) == 1


def test_the_gradients_of_an_open_step_stand_in_the_timeline_until_its_update_writes_them_again(notebook):
    notebook.run(MODEL)
    notebook.run(FORWARD)
    assert len(notebook.recorder.timeline.since(0, 10_000).first) == 0
    r = notebook.run(BACKWARD)
    spans, columns = r.timeline.since(0, 10_000), r.timeline.columns()
    row = dict(zip(columns, spans.data[0, 2].tolist(), strict=True))
    weight = notebook.namespace["model"][0].weight
    assert spans.last.tolist() == [1] and r.step == 0 and columns[2:5] == ["g/0.weight", "w/0.weight", "u/0.weight"]
    assert row["g/0.weight"] == pytest.approx(np.linalg.norm(weight.grad.data), rel=1e-6) and np.isnan(row["u/0.weight"])
    r = notebook.run(UPDATE)
    spans = r.timeline.since(0, 10_000)
    row = dict(zip(r.timeline.columns(), spans.data[0, 2].tolist(), strict=True))
    assert spans.last.tolist() == [1] and r.step == 1 and row["u/0.weight"] > 0


def test_zero_grad_and_looking_around_leave_the_step_on_show(notebook):
    for cell in (MODEL, FORWARD, BACKWARD, UPDATE):
        notebook.run(cell)
    r = notebook.run(ZERO)
    assert notebook.ops == GRAPH and r.numbers().op_has.tolist() == [3, 3, 3, 3] and r.numbers().grad_norm > 0


def test_the_first_op_with_a_graph_after_an_update_begins_the_next_step(notebook):
    for cell in (MODEL, FORWARD, BACKWARD, UPDATE, ZERO):
        notebook.run(cell)
    r = notebook.run(FORWARD)
    assert (r.step, r.open, notebook.ops) == (1, True, GRAPH)
    assert r.numbers().op_has.tolist() == [1, 1, 1, 1] and len(r.numbers().optimizers) == 1
    notebook.run(BACKWARD)
    assert notebook.run(UPDATE).step == 2


@pytest.mark.parametrize("order", [(ZERO, FORWARD, BACKWARD, UPDATE), (FORWARD, ZERO, BACKWARD, UPDATE), (FORWARD, BACKWARD, UPDATE, ZERO)])
def test_zero_grad_may_stand_anywhere(notebook, order):
    notebook.run(MODEL)
    for _ in range(3):
        for cell in order:
            notebook.run(cell)
    assert notebook.recorder.step == 3 and notebook.ops == GRAPH


def test_a_cell_that_runs_again_before_backward_replaces_its_ops(notebook):
    notebook.run(MODEL)
    notebook.run("h = nn.functional.relu(model(x))")
    notebook.run("z = h * 2.0")
    notebook.run("w = z.sum()")
    notebook.run("z = h * 2.0")
    assert notebook.ops == ["linear", "tanh", "linear", "relu", "mul"]
    notebook.run("w = z.sum()")
    assert notebook.ops == ["linear", "tanh", "linear", "relu", "mul", "sum"]
    inputs = [op["inputs"] for op in notebook.recorder.structure()["ops"]]
    assert inputs[4:] == [[["op", 3], ["scalar", "2.0"]], [["op", 4]]]


def test_running_backward_again_before_an_update_adds_up_and_stays_one_step(notebook):
    notebook.run(MODEL)
    for _ in range(3):
        notebook.run(f"{FORWARD}\n{BACKWARD}", "both")
    r = notebook.run(UPDATE)
    assert r.step == 1 and notebook.ops == GRAPH * 3
    grads = [p.grad.data for p in notebook.namespace["model"].parameters()]
    expected = np.sqrt(sum(float((g.astype(np.float64) ** 2).sum()) for g in grads))
    assert r.numbers().grad_norm == pytest.approx(expected, rel=1e-5)


def test_a_hand_written_update_ends_the_step_too(notebook):
    notebook.run("w = gl.tensor([3.0, 4.0], requires_grad=True)")
    for step in range(1, 4):
        notebook.run("loss = (w * w).sum()\nloss.backward()")
        r = notebook.run("w.data -= 0.1 * w.grad.data\nw.grad = None")
        assert r.step == step and notebook.row()["loss"] == pytest.approx(25 * 0.64 ** (step - 1), rel=1e-5)
    assert r.timeline.columns() == ["loss", "grad_norm", "g/w", "w/w", "u/w"] and r.numbers().optimizers == []


@pytest.mark.parametrize("update", [
    "w.data -= 0.1 * w.grad",
    "w.data = w.data - 0.1 * w.grad.data",
    "with gl.no_grad():\n        w -= 0.1 * w.grad",
    "w = gl.tensor(w.data - 0.1 * w.grad.data, requires_grad=True)",
    "old.append(w); w = gl.tensor(w.data - 0.1 * w.grad.data, requires_grad=True)",
    "w = (w - 0.1 * w.grad).detach(); w.requires_grad = True",
    "w = gl.tensor((w - 0.1 * w.grad).data, requires_grad=True)",
    "w.data[...] -= 0.1 * w.grad.data",
    "w.data[:] = w.data - 0.1 * w.grad.data",
    "np.subtract(w.data, 0.1 * w.grad.data, out=w.data)",
])  # fmt: skip
def test_every_way_to_write_an_update_counts_the_steps_of_a_loop(notebook, update):
    notebook.run("old = []\nw = gl.tensor([3.0, 4.0], requires_grad=True)")
    r = notebook.run(f"for _ in range(5):\n    w.grad = None\n    loss = (w * w).sum()\n    loss.backward()\n    {update}")
    assert (r.run, r.step) == (1, 5)
    assert [n for n in r.timeline.columns() if n[0] in "gwu"][-3:] == ["g/w", "w/w", "u/w"] and len(r.timeline.columns()) == 5
    assert notebook.row()["g/w"] == pytest.approx(10 * 0.8**4, rel=1e-5)


def test_a_gradient_read_by_a_hand_written_update_is_called_so(notebook):
    notebook.run("w = gl.tensor([3.0, 4.0], requires_grad=True)\n(w * w).sum().backward()\nw.data -= 0.1 * w.grad")
    assert notebook.leaves == ["w", "w.grad"] and notebook.ops == ["mul", "sum", "(mul)"]


def test_gradients_of_several_backward_calls_in_a_hand_written_loop_are_one_step(notebook):
    notebook.run("w = gl.tensor([3.0, 4.0], requires_grad=True)\nv = gl.tensor([1.0, 1.0], requires_grad=True)")
    update = "w.data -= 0.1 * w.grad.data\n    v.data -= 0.1 * v.grad.data"
    code = f"for _ in range(4):\n    for _ in range(3):\n        (w * v).sum().backward()\n    {update}"
    assert notebook.run(code).step == 4


def test_evaluation_after_the_update_stays_with_the_step_before(notebook):
    notebook.run(MODEL)
    notebook.run(f"for _ in range(2):\n    {ZERO}\n    {FORWARD}\n    {BACKWARD}\n    {UPDATE}", "loop")
    before = notebook.recorder.structure()["hash"]
    r = notebook.run("with gl.no_grad():\n    right = model(x).argmax(1)")
    assert notebook.ops == [*GRAPH, "(linear)", "(tanh)", "(linear)", "(argmax)"]
    assert r.structure()["hash"] == before and r.step == 2
    assert r.structure()["ops"][5]["inputs"] == [["op", 4]] and not r.structure()["ops"][5]["grad"]


def test_of_many_ops_without_a_graph_256_are_kept_and_the_rest_counted(notebook):
    notebook.run("w = gl.ones(2, requires_grad=True)\n(w * 2.0).sum().backward()\nwith gl.no_grad():\n    for _ in range(300): w * 2.0")
    r = notebook.recorder
    assert len(r.structure()["ops"]) == 2 + 256 and r.structure()["folded"] == 44
    key = r.structure()["key"]
    notebook.run("with gl.no_grad(): w * 2.0")
    assert r.structure()["folded"] == 45 and r.structure()["key"] != key


def test_ops_without_a_graph_and_without_a_step_go_when_the_next_cell_runs(notebook):
    notebook.run("a = gl.ones(3) * 2.0")
    assert notebook.ops == ["(mul)"]
    notebook.run("b = a + 1.0")
    assert notebook.ops == ["(add)"] and notebook.leaves == ["a"]


def test_an_input_from_an_earlier_step_is_named_by_its_op(notebook):
    notebook.run("w = gl.ones(3, requires_grad=True)\nh = w.tanh()\nh.sum().backward(retain_graph=True)\nw.data -= 0.1")
    notebook.run("z = h * 2.0")
    assert notebook.recorder.structure()["ops"][0]["inputs"] == [["past", "tanh"], ["scalar", "2.0"]]


def test_several_optimizers_are_several_series_of_one_step(notebook):
    notebook.run(
        MODEL + "first = optim.SGD(list(model.parameters())[:2], lr=0.1)\nsecond = optim.Adam(list(model.parameters())[2:], lr=0.01)"
    )
    r = notebook.run(
        f"for _ in range(3):\n    first.zero_grad(); second.zero_grad()\n    {FORWARD}\n    {BACKWARD}\n    first.step(); second.step()"
    )
    assert r.step == 3 and [o["label"] for o in r.numbers().optimizers] == ["SGD", "Adam"]
    assert [o["rows"] for o in r.numbers().optimizers] == [[0, 1], [2, 3]]
    assert notebook.row()["lr/SGD"] == pytest.approx(0.1) and notebook.row()["lr/Adam"] == pytest.approx(0.01)
    assert all(notebook.row()[f"u/{name}"] > 0 for name in ("0.weight", "2.bias"))


def test_tracing_switched_off_in_between_leaves_no_half_step(notebook):
    notebook.run(MODEL)
    notebook.run(FORWARD)
    notebook.recorder.detach()
    notebook.run(FORWARD)
    notebook.recorder.attach()
    notebook.run(f"{FORWARD}\n{BACKWARD}\n{UPDATE}")
    assert notebook.ops == GRAPH and notebook.recorder.step == 1


def test_tracing_switched_off_and_on_before_backward_still_adds_the_gradients(notebook):
    notebook.run(MODEL)
    notebook.run(FORWARD)
    notebook.recorder.detach()
    notebook.recorder.attach()
    notebook.run(f"(loss * 1.0).backward()\n{UPDATE}")
    assert notebook.ops == [*GRAPH, "mul"] and notebook.recorder.numbers().op_has.tolist() == [3] * 5


def test_zero_grad_forward_and_backward_again_without_an_update_replace_what_was_there(notebook):
    notebook.run(MODEL)
    for _ in range(4):
        r = notebook.run(f"{ZERO}\n{FORWARD}\n{BACKWARD}", "both")
        assert notebook.ops == GRAPH and r.step == 0 and r.numbers().op_has.tolist() == [3, 3, 3, 3]
    assert notebook.run(UPDATE).step == 1
    r = notebook.run(f"for _ in range(50):\n    {ZERO}\n    {FORWARD}\n    {BACKWARD}")
    assert notebook.ops == GRAPH and (r.step, r.open) == (1, True)


@pytest.mark.parametrize("rest", ["", "; loss * 1.0"])
def test_an_update_in_place_is_seen_also_where_the_gradient_is_set_to_none_after_it(notebook, rest):
    notebook.run("w = gl.tensor([3.0, 4.0], requires_grad=True)")
    r = notebook.run(
        f"for _ in range(5):\n    loss = (w * w).sum(); loss.backward(){rest}\n    w.data[...] -= 0.1 * w.grad.data; w.grad = None"
    )
    assert r.step == 5


def test_a_generator_that_learns_through_a_discriminator_has_gradients_and_the_names_of_two_models():
    gl.manual_seed(0)
    models = {"G": gl.nn.Linear(2, 2), "D": gl.nn.Linear(2, 1)}
    optimizers = {name: gl.optim.Adam(model.parameters()) for name, model in models.items()}
    with recording(lambda: {id(model): name for name, model in models.items()}) as r:
        for _ in range(3):
            fake = models["G"](gl.randn(4, 2))
            optimizers["D"].zero_grad()
            (models["D"](fake.detach()) ** 2).mean().backward()
            optimizers["D"].step()
            made_in = r._steps.tape
            optimizers["G"].zero_grad()
            ((models["D"](fake) - 1) ** 2).mean().backward()
            optimizers["G"].step()
    of_g = made_in.refs[-models["G"].weight.serial]
    assert made_in.grads[0] > 0 and made_in.leaf_grads[-1 - of_g] == pytest.approx(np.linalg.norm(models["G"].weight.grad.data), rel=1e-5)
    columns = [name for name in r.timeline.columns() if name[0] == "g" and name != "grad_norm"]
    assert sorted(columns) == ["g/D.bias", "g/D.weight", "g/G.bias", "g/G.weight"]
    assert {leaf["name"] for leaf in r.structure()["leaves"] if leaf["kind"] == "parameter"} <= {name[2:] for name in columns}
