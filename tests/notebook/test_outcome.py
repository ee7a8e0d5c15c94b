"""What the page hears of each run of a cell: ops, lines with the shapes of what they made, and the op that failed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradlab.notebook import current_session

Heard = Callable[[], list[dict[str, Any]]]

SETUP = "import gradlab as gl\nimport numpy as np\nx = gl.ones(2, 3)\nw = gl.ones(3, 4, requires_grad=True)"


@pytest.fixture
def heard(run: Any, monkeypatch: pytest.MonkeyPatch) -> Heard:
    """The cell messages since the last call, as strict JSON."""
    run("%load_ext gradlab", "load")
    outcomes = current_session().outcomes
    messages: list[Any] = []
    monkeypatch.setattr(outcomes, "send", messages.append)
    outcomes.want("page", True)

    def heard() -> list[dict[str, Any]]:
        found = [json.loads(json.dumps(m.content, allow_nan=False)) for m in messages]
        messages.clear()
        return found

    run(SETUP, "setup")
    heard()
    return heard


def test_a_cell_is_told_at_its_start_and_at_its_end(run: Any, heard: Heard) -> None:
    run("y = x @ w\nloss = y.sum()", "a")
    start, end = heard()
    assert (start["kind"], start["id"], start["state"], start["source"]) == ("cell", "a", "running", "y = x @ w\nloss = y.sum()")
    assert "lines" not in start
    assert (end["state"], end["count"], end["ops"], end["steps"], end["error"]) == ("idle", start["count"], 2, 0, None)
    assert end["ms"] > 0
    assert end["lines"] == [[1, "y (2, 4) f32", 0], [2, "loss () f32", 1]]
    assert end["elsewhere"] == []


def test_lines_have_the_shapes_that_numpy_computes(run: Any, heard: Heard, shell: Any) -> None:
    run("a = (x @ w).tanh()\nb = a.sum(axis=0)\nc = gl.stack([b, b])[:, 1:]", "a")
    shapes = {"a": (np.ones((2, 3)) @ np.ones((3, 4))).shape, "b": (4,), "c": np.stack([np.ones(4)] * 2)[:, 1:].shape}
    assert [text for _, text, _ in heard()[-1]["lines"]] == [f"{name} {shape} f32" for name, shape in shapes.items()]


def test_a_name_that_was_bound_to_another_tensor_is_not_said(run: Any, heard: Heard) -> None:
    run("y = x @ w\ny = y.sum()\n(y * 2.0).item()", "a")
    assert [text for _, text, _ in heard()[-1]["lines"]] == ["(2, 4) f32", "y () f32", "() f32"]


def test_a_line_that_makes_several_tensors_names_them(run: Any, heard: Heard) -> None:
    run("p, q = x @ w, w.sum(axis=1)", "a")
    assert [text for _, text, _ in heard()[-1]["lines"]] == ["p (2, 4) f32, q (3,) f32"]


def test_ops_without_a_gradient_beside_a_graph_are_marked(run: Any, heard: Heard) -> None:
    run("y = (x @ w).sum()\nright = y.detach() * 2.0", "a")
    assert heard()[-1]["lines"][1][1] == "right () f32, no grad"


def test_a_loop_tells_the_ops_and_lines_of_one_step(run: Any, heard: Heard) -> None:
    run("opt = gl.optim.SGD([w], lr=0.1)", "opt")
    run("for _ in range(7):\n    loss = (x @ w).sum()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()", "loop")
    end = heard()[-1]
    assert (end["ops"], end["steps"]) == (2, 7)
    assert end["lines"] == [[2, "loss () f32", 1], [4, "‖g‖ 6.93 at step 7", None], [5, "1 parameter moved", None]]
    assert np.linalg.norm(np.full((3, 4), 2.0)) == pytest.approx(6.93, rel=1e-3)


MODEL = """class Net(gl.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = gl.nn.Linear(3, 4)
        self.fc2 = gl.nn.Linear(
            4, 2)
        self.size = 4
    def forward(self, x):
        return self.fc2(self.fc1(x).tanh())"""


def test_layers_models_and_optimizers_tell_their_parameters(run: Any, heard: Heard) -> None:
    run(MODEL, "class")
    heard()
    run("model = Net()\nopt = gl.optim.SGD(model.parameters(), lr=0.1)\nhalf = gl.optim.SGD(model.fc1.parameters(), lr=0.1)", "make")
    end = heard()[-1]
    assert [text for _, text, _ in end["lines"]] == ["26 parameters", "26 parameters, all held", "16 parameters, 2 of 4 tensors held"]
    assert [(e["id"], e["lines"]) for e in end["elsewhere"]] == [("class", [[4, "16 parameters", None], [5, "10 parameters", None]])]


def test_a_loader_tells_how_many_batches_it_has_and_of_what(run: Any, heard: Heard) -> None:
    run("import numpy as np\nfrom gradlab.data import DataLoader", "import")
    heard()
    run(
        "arrays = DataLoader((np.zeros((1450, 64), 'float32'), np.arange(1450)), batch_size=32)\n"
        "short = DataLoader((np.zeros((3, 2)),), batch_size=8)\n"
        "items = DataLoader([1, 2, 3])\n"
        "own = DataLoader((np.zeros((4, 2)),), batch_size=4, collate_fn=lambda items: 1 / 0)\n"
        "empty = DataLoader((np.zeros((0, 2)),))",
        "make",
    )
    texts = [text for _, text, _ in heard()[-1]["lines"]]
    assert texts == ["46 × (32, 64) f32, (32,) i64", "1 × (3, 2) f64", "3 batches of 1", "1 batch of 4", "0 batches of 1"]


def test_a_line_that_binds_what_a_function_made_tells_it(run: Any, heard: Heard) -> None:
    run("def f(t):\n    return (t @ w).tanh()", "def")
    run("for t in [x, x[:1]]:\n    y = f(t)", "a")
    end = heard()[-1]
    assert end["lines"][0][:2] == [1, "t (1, 3) f32, no grad"]
    assert end["lines"][1][:2] == [2, "y (1, 4) f32"]


def test_a_variable_that_the_cell_did_not_bind_anew_has_no_hint(run: Any, heard: Heard) -> None:
    run("y = x @ w", "a")
    run("if False:\n    y = x", "b")
    assert heard()[-1]["lines"] == []


def test_magics_and_odd_text_are_no_obstacle(run: Any, heard: Heard) -> None:
    run("%matplotlib --list\ny = x @ w\n", "a", ok=False)
    assert heard()[-1]["lines"] == [[2, "y (2, 4) f32", 0]]


def test_a_line_that_ran_several_times_in_a_step_says_so(run: Any, heard: Heard) -> None:
    run("h = x\nfor part in (w, w.T, w):\n    h = h @ part\n    h = h.tanh()", "a")
    assert [text for line, text, _ in heard()[-1]["lines"] if line == 3] == ["3 × (2, 4) f32 … (2, 3) f32"]


def test_lines_of_a_function_of_another_cell_are_told_with_its_cell(run: Any, heard: Heard) -> None:
    run("def f(t):\n    return t @ w", "def")
    run("y = f(x).sum()", "a")
    end = heard()[-1]
    assert end["lines"] == [[1, "y () f32", 1]]
    assert [(e["id"], e["lines"]) for e in end["elsewhere"]] == [("def", [[2, "(2, 4) f32", 0]])]


def test_a_cell_without_ops_has_none_whatever_ran_before(run: Any, heard: Heard) -> None:
    run("y = x @ w", "a")
    run("1 + 1", "b")
    end = heard()[-1]
    assert (end["id"], end["ops"], end["lines"], end["elsewhere"]) == ("b", 0, [], [])


def test_a_cell_that_runs_again_counts_its_own_ops_only(run: Any, heard: Heard) -> None:
    run("y = x @ w", "a")
    run("z = y.tanh()", "b")
    run("z = y.tanh()\nz = z.sum()", "b")
    assert heard()[-1]["ops"] == 2


def test_a_long_step_is_told_as_far_as_it_is_shown(run: Any, heard: Heard) -> None:
    current_session().recorder.frame_interval = 0
    current_session().stream.show("page", True, "idle", None)
    run("y = w\nfor _ in range(1000):\n    y = y * 1.0", "a")
    assert any(told["state"] == "running" and told.get("lines") for told in heard())
    assert current_session().recorder.on_frame is not None


def test_an_op_that_fails_tells_its_operands(run: Any, heard: Heard) -> None:
    run("y = x @ w\nz = y @ w", "a", ok=False)
    end = heard()[-1]
    assert end["state"] == "error"
    error = end["error"]
    assert (error["name"], error["id"], error["line"], error["op"]) == ("matmul", "a", 2, 1)
    assert error["operands"] == [{"name": "y", "shape": [2, 4], "dtype": "float32"}, {"name": "w", "shape": [3, 4], "dtype": "float32"}]
    assert error["text"].startswith("ShapeError: ")


def test_a_hook_that_fails_marks_the_op_whose_gradient_it_got(run: Any, heard: Heard) -> None:
    run("def refuse(g):\n    raise ValueError('no such gradient')", "a")
    run("h = x @ w\nh.register_hook(refuse)\nh.sum().backward()", "b", ok=False)
    error = heard()[-1]["error"]
    assert (error["name"], error["line"], error["text"]) == ("matmul", 1, "ValueError: no such gradient")
    assert [o["shape"] for o in error["operands"]] == [[2, 3], [3, 4]]


def test_a_function_that_refuses_its_arguments_tells_them(run: Any, heard: Heard) -> None:
    run("from gradlab.nn import functional as F\nz, y = gl.randn(4, 3), gl.tensor([1, 2])", "data")
    run("def f(a):\n    return F.cross_entropy(a, y)", "def")
    run("h = x @ w\nloss = f(z)", "a", ok=False)
    error = heard()[-1]["error"]
    assert (error["name"], error["op"], error["id"], error["line"]) == ("cross_entropy", None, "def", 2)
    assert [(o["name"], o["shape"]) for o in error["operands"]] == [("a", [4, 3]), ("target", [2])]


def test_findings_are_counted_with_the_cell_that_ran_and_the_cell_they_point_to(run: Any, heard: Heard) -> None:
    run("def wide(x, y):\n    return ((x - y) ** 2).mean()", "def")
    run("x, y = gl.randn(64, 1), gl.randn(64)\nv = gl.randn(1, 1, requires_grad=True)", "data")
    run("wide(x @ v, y).backward()", "a")
    end = heard()[-1]
    assert (end["findings"], end["severities"]["warning"] + end["severities"]["error"]) == (1, 1)
    assert [(e["id"], e["findings"]) for e in end["elsewhere"]] == [("def", 1)]


def test_an_error_outside_of_ops_names_no_op(run: Any, heard: Heard) -> None:
    run("y = x @ w\n1 / 0", "a", ok=False)
    end = heard()[-1]
    assert (end["state"], end["error"], end["lines"][0][1]) == ("error", None, "y (2, 4) f32")


def test_an_error_that_was_caught_is_not_told(run: Any, heard: Heard) -> None:
    run("try:\n    w @ w\nexcept ValueError:\n    pass\n1 / 0", "a", ok=False)
    assert heard()[-1]["error"] is None


def test_a_page_that_comes_later_gets_what_is_known(run: Any, heard: Heard) -> None:
    run("y = x @ w", "a")
    run("y = x @ w", "a")
    heard()
    current_session().outcomes.want("another", True)
    assert [m["id"] for m in heard()] == ["load", "setup", "a"]


def test_nobody_is_told_where_no_page_asks(run: Any, heard: Heard) -> None:
    current_session().outcomes.want("page", False)
    run("y = x @ w", "a")
    assert heard() == []


def test_no_tensor_is_kept(run: Any, heard: Heard, shell: Any) -> None:
    run("import weakref, gc\ny = x @ w\nalive = weakref.ref(y)", "a")
    run("del y; gc.collect()\nassert alive() is None", "b")
