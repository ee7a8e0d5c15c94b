from __future__ import annotations

import pytest

BUILD = "model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))\noptimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)"
TRAIN = """
for _ in range(3):
    optimizer.zero_grad()
    loss = (model(gl.ones(5, 3)) ** 2).mean()
    loss.backward()
    optimizer.step()
"""
PARAMETERS = ["0.weight", "0.bias", "1.weight", "1.bias"]


def parameters(notebook) -> list[str]:
    return [name[2:] for name in notebook.recorder.timeline.columns() if name.startswith("g/")]


def test_training_on_continues_the_run(notebook):
    notebook.run(BUILD)
    notebook.run(TRAIN)
    r = notebook.run(TRAIN)
    assert (r.run, r.step) == (1, 6) and parameters(notebook) == PARAMETERS


def test_a_model_built_anew_begins_a_run(notebook):
    for _ in range(3):
        notebook.run(BUILD)
        notebook.run(TRAIN)
    r = notebook.recorder
    assert (r.run, r.step) == (3, 3) and parameters(notebook) == PARAMETERS and len(r.timeline.since(0, 9_999).first) == 3
    assert [o["label"] for o in r.numbers().optimizers] == ["SGD"]
    assert [leaf["column"] for leaf in r.structure()["leaves"] if leaf["kind"] == "parameter"] == [0, 1, 2, 3]


def test_a_new_optimizer_on_the_same_model_continues_the_run(notebook):
    notebook.run(BUILD)
    notebook.run(TRAIN)
    notebook.run("optimizer = optim.Adam(model.parameters(), lr=0.01)")
    r = notebook.run(TRAIN)
    assert (r.run, r.step) == (1, 6)
    assert r.timeline.columns()[2] == "lr/SGD" and r.timeline.columns()[-1] == "lr/Adam"


def test_a_second_model_with_the_same_names_gets_its_own_run_and_then_both_share_one(notebook):
    notebook.run(BUILD)
    notebook.run(TRAIN)
    notebook.run("first, optimizer1 = model, optimizer\n" + BUILD)
    r = notebook.run(TRAIN)
    assert r.run == 2
    notebook.run("model, optimizer = first, optimizer1\n" + TRAIN)
    assert r.run == 2 and r.step == 6 and parameters(notebook)[:4] == PARAMETERS and len(parameters(notebook)) == 8


def test_bare_tensors_bound_anew_by_a_hand_written_loop_continue_the_run(notebook):
    notebook.run("W = gl.tensor([[1.0], [2.0]], requires_grad=True)\nb = gl.zeros(1, requires_grad=True)\nx = gl.ones(4, 2)")
    code = """
for _ in range(4):
    loss = ((x @ W + b) ** 2).mean()
    loss.backward()
    W = gl.tensor(W.data - 0.1 * W.grad.data, requires_grad=True)
    b = gl.tensor(b.data - 0.1 * b.grad.data, requires_grad=True)
"""
    notebook.run(code)
    r = notebook.run(code)
    assert (r.run, r.step) == (1, 8) and parameters(notebook) == ["W", "b"] and notebook.leaves[:3] == ["x", "W", "b"]
    assert notebook.row(0)["g/W"] > notebook.row()["g/W"] > 0


def test_bare_tensors_made_anew_for_a_new_optimizer_begin_a_run(notebook):
    for _ in range(2):
        notebook.run("W = gl.tensor([1.0, 2.0], requires_grad=True)\noptimizer = optim.SGD([W], lr=0.1)")
        r = notebook.run("for _ in range(2):\n    optimizer.zero_grad()\n    (W * W).sum().backward()\n    optimizer.step()")
    assert (r.run, r.step) == (2, 2) and r.timeline.columns() == ["loss", "grad_norm", "lr/SGD", "g/W", "w/W", "u/W"]


def test_clear_begins_a_run_and_forgets_what_was(notebook):
    notebook.run(BUILD)
    r = notebook.run(TRAIN)
    r.clear()
    assert (r.run, r.step, r.structure()["ops"], len(r.numbers().ops)) == (2, 0, [], 0) and len(r.timeline.since(0, 999).first) == 0
    notebook.run(TRAIN)
    assert (r.run, r.step) == (2, 3) and parameters(notebook) == PARAMETERS


def test_several_models_are_told_apart_by_their_names(notebook):
    notebook.run("G, D = nn.Linear(2, 3), nn.Linear(3, 1)\noptimizer = optim.SGD([*G.parameters(), *D.parameters()], lr=0.1)")
    notebook.run("D(G(gl.ones(4, 2))).mean().backward()\noptimizer.step()")
    assert parameters(notebook) == ["G.weight", "G.bias", "D.weight", "D.bias"]
    structure = notebook.recorder.structure()
    assert [(m["path"], m["name"], m["parent"]) for m in structure["modules"]] == [("G", "G", None), ("D", "D", None)]
    assert [leaf["name"] for leaf in structure["leaves"] if leaf["column"] is not None] == parameters(notebook)


def test_a_model_without_a_name_is_called_by_its_class(notebook):
    notebook.run("models = [nn.Linear(2, 3), nn.Linear(3, 1)]\nmodels[1](models[0](gl.ones(4, 2))).mean().backward()")
    assert [m["name"] for m in notebook.recorder.structure()["modules"]] == ["Linear#1", "Linear#2"]
    assert "Linear#2.bias" in notebook.leaves


def test_tensors_without_a_name_still_have_one(notebook):
    notebook.run("def loss():\n    return (gl.ones(3) * gl.ones(3, requires_grad=True)).sum() * gl.tensor(2.0)\nloss().backward()")
    assert notebook.leaves == ["input", "tensor#1", "constant"]
    assert [leaf["kind"] for leaf in notebook.recorder.structure()["leaves"]] == ["input", "parameter", "constant"]


def test_modules_used_twice_and_tied_weights_appear_as_they_are(notebook):
    notebook.run("""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Linear(3, 3)
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.shared.weight
    def forward(self, x):
        x = self.shared(x)
        x = self.shared(x)
        return self.tied(x)
net = Net()
loss = net(gl.ones(2, 3)).sum()
loss.backward()
""")
    structure = notebook.recorder.structure()
    modules = [(m["path"], m["cls"], m["call"], m["parent"]) for m in structure["modules"]]
    assert modules == [("", "Net", 1, None), ("shared", "Linear", 1, 0), ("shared", "Linear", 2, 0), ("tied", "Linear", 1, 0)]
    assert [op["module"] for op in structure["ops"]] == [1, 2, 3, None]
    assert [leaf["name"] for leaf in structure["leaves"]] == ["input", "shared.weight", "shared.bias", "tied.bias"]
    assert [c.op for c in notebook.recorder.ledger(notebook.namespace["net"].shared.weight)] == ["linear"] * 3


def test_parameters_know_the_module_that_owns_them(notebook):
    notebook.run("model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))\nmodel(gl.ones(2, 3))")
    structure = notebook.recorder.structure()
    owners = {leaf["name"]: structure["modules"][leaf["module"]]["path"] for leaf in structure["leaves"] if leaf["module"] is not None}
    assert owners == {"0.weight": "0", "0.bias": "0", "2.weight": "2", "2.bias": "2"}


def test_a_layer_replaced_in_the_model_keeps_its_columns(notebook):
    notebook.run(BUILD)
    notebook.run(TRAIN)
    notebook.run("for p in model.parameters(): p.data = p.data * 0.5")
    r = notebook.run(TRAIN)
    assert (r.run, r.step, parameters(notebook)) == (1, 6, PARAMETERS)


@pytest.mark.parametrize("made", ["nn.MSELoss()", "nn.Sequential(nn.Tanh())"])
def test_modules_without_parameters_made_anew_in_each_step_change_no_structure(notebook, made):
    notebook.run(BUILD.replace("0.1", "0.001"))
    hook = f"({made})(out, gl.ones(5, 2))" if "Loss" in made else f"({made})(out).mean()"
    step = f"out = model(gl.ones(5, 3)); {hook}.backward(); optimizer.step()"
    code = f"keys = set()\nfor _ in range(20):\n    {step}\n    keys.add(r.structure()['hash'] + r.structure()['key'].split('.')[0])"
    notebook.namespace["r"] = notebook.recorder
    notebook.run(code)
    assert len(notebook.namespace["keys"]) == 1
