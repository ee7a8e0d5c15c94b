"""A Trainer in a real kernel, with the inspector on: bars, Stop, going on, findings on validation."""

from __future__ import annotations

from typing import Any

SETUP = """
import numpy as np
import gradlab as gl
from gradlab import data, nn
from gradlab.trace import current_recorder

x = np.random.default_rng(0).standard_normal((200, 4)).astype("float32")
y = (x.sum(1) > 0).astype("int64")
def made():
    gl.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
    optimizer = gl.optim.Adam(model.parameters(), lr=0.01)
    return gl.Trainer(model, optimizer, nn.CrossEntropyLoss(), metrics={"accuracy": gl.metrics.accuracy})
train, validation = data.DataLoader((x[:160], y[:160]), 8, shuffle=True, seed=0), data.DataLoader((x[160:], y[160:]), 8)
trainer = made()
"""


def test_bars_are_widgets_and_the_steps_on_show_are_those_of_the_training(loaded: Any) -> None:
    assert loaded.run(SETUP, "setup").status == "ok"
    reply = loaded.run("history = trainer.fit(train, validation, epochs=3)", "fit")
    assert reply.status == "ok", reply.error
    assert any("HBox" in shown.get("text/plain", "") or "training" in shown.get("text/plain", "") for shown in reply.shown)
    assert loaded.value("(current_recorder().step, trainer.step)") == [60, 60]
    assert loaded.value("[op['name'] for op in current_recorder().structure()['ops']]") == [
        "linear",
        "relu",
        "dropout",
        "linear",
        "cross_entropy",
    ]
    assert loaded.value("[c['id'] for c in current_recorder().structure()['cells']]") == ["fit"]


def test_stop_leaves_the_trainer_whole_and_it_goes_on_to_the_last_bit(loaded: Any) -> None:
    loaded.run(SETUP, "setup")
    loaded.run("whole = made().fit(train, validation, epochs=40)", "whole")
    loaded.run(SETUP, "setup")
    request = loaded.start("history = trainer.fit(train, validation, epochs=40)", "fit")
    loaded.wait_for(lambda m: m["msg_type"] in ("display_data", "comm_open"))
    loaded.manager.interrupt_kernel()
    reply = loaded.finish(request)
    assert reply.status == "error"
    assert "training stopped after step" in reply.error and "Go on with fit(..., epochs=40, resume=True)" in reply.error
    assert loaded.value("{len(column) for column in trainer.history.values()} <= {trainer.epoch}")
    again = loaded.run("gl.rand(3); history = trainer.fit(train, validation, epochs=40, resume=True)", "again")
    assert again.status == "ok", again.error
    assert loaded.value("history == whole")
    assert loaded.value("trainer.step") == 800
