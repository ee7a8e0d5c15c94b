"""What the page is told of experiments on a captured step: words and tables, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gradlab.errors import GradlabError
from gradlab.notebook import experiments, session

NET = """
%load_ext gradlab
import numpy as np, gradlab as gl
from gradlab import nn, optim
from gradlab.function import Function
class Half(Function):
    def forward(self, x):
        return 0.5 * x
    def backward(self, g):
        return 0.6 * g
gl.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.25), nn.Linear(8, 3))
opt = optim.AdamW(model.parameters(), lr=0.1)
x, y = gl.randn(16, 4), gl.tensor(np.arange(16) % 3)
x.data[0] = 0.0
model[0].bias.data[:] = 0.0
"""
STEP = """
for _ in range(3):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(FORWARD, y)
    loss.backward()
    opt.step()
"""


@pytest.fixture
def ask(run):
    """Ask as the page does."""

    def ask(what, *args, **more):
        now = session.current_session()
        found = experiments.again(now, **more) if what == "again" else None
        return found or getattr(experiments, what)(now, args[0], now.recorder.structure()["key"], **more)

    return ask


def train(run, forward="model(x)"):
    run(NET, "a")
    run(STEP.replace("FORWARD", forward), "b")
    run("%gradlab capture", "c")
    run(STEP.replace("FORWARD", forward), "b")


def test_a_verdict_is_said_in_words_with_the_worst_entry(run, ask):
    train(run, "Half.apply(model(x))")
    good = ask("check", "op:0")
    assert (
        good["state"] == "good"
        and good["word"] == "\u2713 agrees"
        and good["text"].startswith("with finite differences \u00b7 rel. error ")
    )
    assert [row[0].split("[")[0] for row in good["tables"][0]["rows"]] == ["0.weight", "0.bias"]
    assert good["tables"][0]["rows"][1][4] == "all 8"
    wrong = ask("check", "op:4")
    assert wrong["state"] == "wrong" and wrong["text"].endswith("rel. error 0.167")
    weight = ask("check", "param:0.weight")
    assert weight["state"] == "wrong" and weight["tables"][0]["rows"][0][0].startswith("0.weight[")


def test_a_kink_is_said_in_words(run, ask):
    train(run)
    run("model[0].bias.data[:] = 0.0\n%gradlab capture", "c")
    run(STEP.replace("FORWARD", "model(x)").replace("range(3)", "range(1)"), "b")
    told = ask("check", "op:1")
    assert told["state"] == "good"
    assert (
        told["notes"][0].startswith("not differentiable at linear[0, ") and "more): slope 0 from below, 1.00 from above" in told["notes"][0]
    )
    assert told["notes"][0].endswith("backward says 0, a slope between the two")


def test_terms_add_up_and_their_bars_are_their_sizes(run, ask):
    train(run)
    kept = session.current_session().recorder.captured
    told = ask("terms", "op:3", at=[2, 1])
    assert told["text"] == "sum of 8 products, row \u00d7 row of the weight, plus the bias"
    rows = told["tables"][0]["rows"]
    assert [row[0] for row in rows[-2:]] == ["together", "stored"]
    stored = float(kept.ops[3].output[2, 1])
    assert float(rows[-1][1].replace("\u2212", "-")) == pytest.approx(stored, rel=1e-5)
    assert abs(told["bars"][0]) == 1.0 and np.all(np.diff(np.abs(told["bars"])) <= 0) and len(told["bars"]) == 9
    with pytest.raises(GradlabError, match="a leaf is given"):
        ask("terms", "leaf:0", at=[0, 0])


def test_a_nudge_and_the_step_once_more_are_told_beside_the_real_ones(run, ask):
    train(run)
    kept = session.current_session().recorder.captured
    told = ask("nudged", "param:3.bias", at=[1], eps=1e-4)
    (up, down) = told["tables"][0]["rows"]
    assert up[0] == "+1.0e-4" and down[0] == "\u22121.0e-4"
    j = next(j for j, leaf in enumerate(session.current_session().recorder.structure()["leaves"]) if leaf["name"] == "3.bias")
    expected = float(kept.leaves[j].gradient[1]) * 1e-4
    assert [float(row[2].replace("\u2212", "-")) for row in (up, down)] == pytest.approx([expected, -expected], rel=1e-5)
    assert float(up[1].replace("\u2212", "-")) == pytest.approx(expected, rel=1e-2)
    again = ask("again", lr_times=2)
    step, updates = again["tables"]
    assert step["rows"][3] == ["lr", "0.1", "0.2"] and "than after the real step" in again["text"]
    assert [row[3] for row in updates["rows"]] == ["\u00d7 2"] * 4
    for wrong in ({"lr": float("nan")}, {"clip": -1}, {"lr": "much"}):
        with pytest.raises(GradlabError, match="has to be a number"):
            ask("again", **wrong)
    with pytest.raises(GradlabError, match="eps has to be a number"):
        ask("nudged", "param:3.bias", at=[1], eps=float("inf"))


def test_without_a_captured_step_it_says_so(run, ask):
    run(NET, "a")
    run(STEP.replace("FORWARD", "model(x)"), "b")
    for what in ("check", "terms", "nudged"):
        with pytest.raises(GradlabError, match="no step with this in it is captured"):
            ask(what, "op:0", **({} if what == "check" else {"at": [0, 0]}))
    with pytest.raises(GradlabError, match="no step is captured"):
        ask("again")
