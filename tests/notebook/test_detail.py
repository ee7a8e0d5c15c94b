"""What the detail panel gets to know, against NumPy and the notebook's own text."""

from __future__ import annotations

import numpy as np
import pytest

from gradlab.errors import GradlabError
from gradlab.notebook import detail, session

NET = """
%load_ext gradlab
import numpy as np, gradlab as gl
from gradlab import nn, optim
gl.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
opt = optim.SGD(model.parameters(), lr=0.1)
x, y = gl.randn(16, 4), gl.tensor(np.arange(16) % 3)
"""
STEP = """
for _ in range(3):
    opt.zero_grad()
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    loss.backward()
    opt.step()
"""


@pytest.fixture
def ask(run):
    """Ask as the page does, and read what comes back."""

    def ask(what, select, **args):
        now = session.current_session()
        reply = getattr(detail, what)(now, select, now.recorder.structure()["key"], **args)
        if not isinstance(reply, tuple):
            return reply
        content, buffers = reply
        arrays = iter(buffers)
        for name in ("value", "gradient"):
            if content[name] is not None:
                content[name]["values"] = np.frombuffer(next(arrays), "<f8").reshape(content[name]["values"])
                content[name]["counts"] = np.frombuffer(next(arrays), "<i4")
        return content

    return ask


def test_an_op_is_told_with_formula_source_line_and_cost(run, ask):
    run(NET, "a")
    run(STEP, "b")
    found = ask("detail", "op:1")
    assert len(found["formula"]) == 2 and all(part.startswith("<math") for part in found["formula"])
    source = "".join(text for _, text in found["sources"][0]["tokens"])
    assert source.startswith("def forward(self, x") and found["doc"].startswith("y = ")
    assert found["text"] == "logits = model(x)"
    assert found["cost"][:2] == [16 * 8, 3 * 16 * 8]
    assert found["modules"][0][:2] == ["step", 4] and found["modules"][0][2] > 2 * 16 * (4 * 8 + 8 * 3)
    assert [row[0] for row in found["modules"]][1:3] == ["model", "0"] or len(found["modules"]) > 1
    assert found["saved"] is None and not found["captured"]


def test_a_parameter_has_value_gradient_and_ledger_at_any_time(run, ask):
    run(NET, "a")
    run(STEP, "b")
    model = session.current_session().shell.user_ns["model"]
    weight = dict(model.named_parameters())["0.weight"]
    for select in ("param:0.weight", "leaf:1"):
        seen = ask("values", select)
        assert seen["when"] == "now" and seen["step"] == 3
        assert (seen["value"]["values"] == weight.data).all() and (seen["gradient"]["values"] == weight.grad.data).all()
        assert seen["value"]["norm"] == pytest.approx(float(np.linalg.norm(weight.data)))
        assert (seen["value"]["counts"] == np.histogram(weight.data.astype(float), 64)[0]).all()
        ledger = ask("detail", select)["ledger"]
        assert ledger["name"] == "0.weight" and [entry[:2] for entry in ledger["entries"]] == [[3, "linear"]]
        assert ledger["entries"][0][2] == pytest.approx(float(np.linalg.norm(weight.grad.data)))


def test_a_forgotten_zero_grad_is_a_stack_in_the_ledger(run, ask):
    run(NET, "a")
    run(STEP.replace("opt.zero_grad()", "pass"), "b")
    entries = ask("detail", "param:0.weight")["ledger"]["entries"]
    assert [entry[0] for entry in entries] == [1, 2, 3]


def test_an_intermediate_value_is_read_where_a_variable_or_a_graph_holds_it(run, ask):
    run(NET, "a")
    run("h = model(x)", "b")
    h = session.current_session().shell.user_ns["h"]
    assert (ask("values", "op:2")["value"]["values"] == h.data).all()
    assert (ask("values", "op:1")["value"]["values"] == h.grad_fn.inputs[0].data).all()
    assert (ask("values", "leaf:0")["value"]["values"] == session.current_session().shell.user_ns["x"].data).all()
    run("loss = nn.functional.cross_entropy(h, y); loss.backward(); del h", "c")
    with pytest.raises(GradlabError, match="capture the next step"):
        ask("values", "op:1")


def test_a_captured_step_shows_every_op_and_what_it_saved(run, ask):
    run(NET, "a")
    run(STEP, "b")
    run("%gradlab capture", "c")
    run(STEP + "    if _ == 0:\n        kept = logits.data.copy()", "b")
    seen = ask("captured", "op:2")
    assert seen["when"] == "captured" and seen["step"] == 4
    assert (seen["value"]["values"] == session.current_session().shell.user_ns["kept"]).all()
    assert seen["gradient"]["values"].shape == (16, 3) and abs(seen["gradient"]["values"].sum()) < 1e-6
    found = ask("detail", "op:1")
    assert found["captured"] and [(entry[1], entry[3], entry[4]) for entry in found["saved"]] == [((16, 8), 512, "output")]
    run("%gradlab release", "d")
    with pytest.raises(GradlabError, match="no step"):
        ask("captured", "op:2")


def test_what_cannot_be_captured_is_refused_in_words(run, ask, capsys):
    run(NET, "a")
    run(STEP, "b")
    run("%gradlab capture 0.001", "c", ok=False)
    assert "the step is larger than the limit" in capsys.readouterr().err
    run("%gradlab capture much", "c", ok=False)
    assert "no number of MiB" in capsys.readouterr().err


def test_a_class_of_the_user_in_a_cell_shows_its_own_source(run, ask):
    run(NET, "a")
    run(
        """
from gradlab.function import Function
class Twice(Function):
    \"\"\"y = 2 x;  dx = 2 g.\"\"\"
    latex = r"y = 2x, \\quad \\bar x = 2 \\bar y"
    def forward(self, x):
        return 2.0 * x
    def backward(self, g):
        return 2.0 * g
""",
        "b",
    )
    run("z = Twice.apply(gl.randn(3, requires_grad=True))", "c")
    found = ask("detail", "op:0")
    assert ["".join(text for _, text in part["tokens"]) for part in found["sources"]] == [
        "def forward(self, x):\n    return 2.0 * x",
        "def backward(self, g):\n    return 2.0 * g",
    ]
    assert len(found["formula"]) == 2 and found["text"].startswith("z = Twice")


def test_a_wrong_question_is_an_error_in_words(run, ask):
    run(NET, "a")
    run(STEP, "b")
    for select, text in (("op:99", "select again"), ("op:x", "nothing can be selected"), ("param:none", "no parameter")):
        with pytest.raises(GradlabError, match=text):
            ask("detail", select)
    now = session.current_session()
    with pytest.raises(GradlabError, match="select again"):
        detail.detail(now, "op:0", "gone")


def test_every_formula_of_the_library_is_mathml():
    import importlib
    import pkgutil

    import gradlab.ops
    from gradlab.function import Function
    from gradlab.notebook import mathml
    from gradlab.trace.source import formulas

    for module in pkgutil.iter_modules(gradlab.ops.__path__):
        importlib.import_module(f"gradlab.ops.{module.name}")
    classes, found = [Function], 0
    while classes:
        cls = classes.pop()
        classes.extend(cls.__subclasses__())
        for part in formulas(cls) if cls.__module__.startswith("gradlab.") else ():
            made = mathml.of(part)
            assert made.startswith("<math") and "\\" not in made, (cls, part)
            found += 1
    assert found > 400
