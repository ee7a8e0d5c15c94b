"""What the detail panel gets to know, against NumPy and the notebook's own text."""

from __future__ import annotations

import numpy as np
import pytest

from gradlab.errors import GradlabError
from gradlab.notebook import detail, session
from gradlab.notebook.reading import plain

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
    assert source.startswith("def forward(self, x") and found["text"] == "logits = model(x)"
    (costs,) = found["tables"]
    tanh, step = costs["rows"][:2]
    assert tanh == ["this op", "128", "384", f"{(2 * 512 + 3 * 512) / 1024:.1f} KiB"]  # x, y; g, y, dx
    linear = 2 * 16 * 4 * 8 + 16 * 8 + 2 * 16 * 8 * 3 + 16 * 3
    assert step[0] == "step \u00b7 4 ops" and step[1] == f"{(linear + 128 + 5 * 16 * 3) / 1000:.1f} k"
    assert not found["captured"]


def test_a_parameter_has_value_gradient_and_ledger_at_any_time(run, ask):
    run(NET, "a")
    run(STEP, "b")
    model = session.current_session().shell.user_ns["model"]
    weight = dict(model.named_parameters())["0.weight"]
    for select in ("param:0.weight", "leaf:1"):
        seen = ask("values", select)
        assert seen["when"] == "as it is now, after step 3" and seen["step"] == 3
        assert (seen["value"]["values"] == weight.data).all() and (seen["gradient"]["values"] == weight.grad.data).all()
        assert seen["value"]["norm"] == pytest.approx(float(np.linalg.norm(weight.data)))
        assert (seen["value"]["counts"] == np.histogram(weight.data.astype(float), 64)[0]).all()
        (ledger,) = ask("detail", select)["tables"]
        assert ledger["title"] == "ledger of 0.weight.grad"
        assert ledger["rows"] == [["backward 3", "linear", plain(float(np.linalg.norm(weight.grad.data)))]]


def test_what_is_seen_is_said_and_can_be_moved(run, ask):
    run(NET + "\nbig = gl.randn(9, 7, 100, 200, requires_grad=True)\nz = big * 2.0\nv = gl.randn(5000, requires_grad=True) * 2.0", "a")
    big = session.current_session().shell.user_ns["big"].data
    seen = ask("values", "leaf:0", at=[3, 2, 90, 150])["value"]
    assert seen["seen"] == "[3, 2] of (9, 7, 100, 200), showing 64 \u00d7 64 of 100 \u00d7 200 from [36, 136] \u00b7 float32"
    assert seen["axes"] == [["axis 0", 8], ["axis 1", 6], ["row", 36], ["column", 136]]
    assert (seen["values"] == big[3, 2, 36:, 136:]).all() and seen["counted"] == "1,260,000 values"
    assert ask("values", "leaf:1", at=[10])["value"]["seen"] == "showing 4,096 of 5,000 from [10] \u00b7 float32"
    run("big.data[0, 0, 0, :2] = 0.0; big.data[1, 1, 1, :3] = np.nan, np.inf, -np.inf", "b")
    assert ask("values", "leaf:0")["value"]["counted"] == "2 exact zeros \u00b7 1 NaN \u00b7 1 Inf \u00b7 1 \u2212Inf"


def test_a_forgotten_zero_grad_is_a_stack_in_the_ledger(run, ask):
    run(NET, "a")
    run(STEP.replace("opt.zero_grad()", "pass"), "b")
    (ledger,) = ask("detail", "param:0.weight")["tables"]
    assert [row[0] for row in ledger["rows"]] == ["backward 1", "backward 2", "backward 3"]
    assert ledger["side"] == "sum of 3 calls"


@pytest.mark.parametrize(
    ("calls", "side"),
    [
        (24, "sum of 24 calls"),
        (60, "sum of 60 calls · the last 24"),
        (70, "sum of at least 64 calls · the last 24"),
    ],
)
def test_a_ledger_with_more_rows_than_are_shown_says_so(run, ask, calls, side):
    run(NET, "a")
    run(f"for _ in range({calls}): nn.functional.cross_entropy(model(x), y).backward()", "b")
    (ledger,) = ask("detail", "param:0.weight")["tables"]
    assert ledger["side"] == side
    assert [row[0] for row in ledger["rows"]] == [f"backward {n}" for n in range(calls - 23, calls + 1)]


def test_a_ledger_of_one_call_with_many_parts_says_that_they_are_parts(run, ask):
    run(NET, "a")
    run("w = gl.tensor([1.0, 2.0], requires_grad=True)\nsum([(w * i).sum() for i in range(30)]).backward()", "b")
    (ledger,) = ask("detail", "leaf:0")["tables"]
    assert (ledger["side"], len(ledger["rows"])) == ("since it was last None · the last 24 parts", 24)


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
    assert seen["when"] == "captured at step 4" and not seen["moves"] and seen["step"] == 4
    assert (seen["value"]["values"] == session.current_session().shell.user_ns["kept"]).all()
    assert seen["gradient"]["values"].shape == (16, 3) and abs(seen["gradient"]["values"].sum()) < 1e-6
    found = ask("detail", "op:1")
    assert found["captured"] and found["tables"][0]["rows"] == [["y", "(16, 8) float32", "is output"]]
    run("%gradlab release", "d")
    with pytest.raises(GradlabError, match="no step"):
        ask("captured", "op:2")


def test_the_numbers_of_a_small_graph_are_kept_while_a_page_looks(run, ask):
    run(NET, "a")
    now = session.current_session()
    now.stream.show("page", True, "idle", None)
    run(
        "a, b = gl.tensor(2.0, requires_grad=True), gl.tensor([1.0, -3.0], requires_grad=True)\n((a * b).tanh() * 2.0).sum().backward()",
        "b",
    )
    assert ask("captured", "op:1")["value"]["values"].tolist() == [np.tanh(np.float32([2.0, -6.0])).tolist()]
    assert ask("captured", "op:1")["when"] == "as in step 1"
    content, (numbers,) = detail.small(now, now.recorder.structure()["key"])
    assert [item[:2] for item in content["items"]] == [["op", 0], ["op", 1], ["op", 2], ["op", 3], ["leaf", 0], ["leaf", 1]]
    assert all(item[3] for item in content["items"])
    found = np.frombuffer(numbers, "<f8")
    slopes = 2.0 * (1.0 - np.tanh([2.0, -6.0]) ** 2)
    assert len(found) == 20 and found[:2].tolist() == [2.0, -6.0] and found[2:4] == pytest.approx(slopes, rel=1e-3)
    assert found[-2:] == pytest.approx(now.shell.user_ns["b"].grad.data)
    run(STEP, "c")
    assert ask("captured", "op:1")["value"]["values"].shape == (16, 8)
    run("big = gl.zeros(300, 300, requires_grad=True)\n(big * 2.0).sum().backward()", "d")
    with pytest.raises(GradlabError, match="no step"):
        ask("captured", "op:0")


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
