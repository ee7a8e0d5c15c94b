"""Questions and commands reach the kernel while the training cell runs."""

from __future__ import annotations

from labdriver import LOAD, Lab

HANDLER = """
from gradlab.notebook.requests import answers
@answers("test state")
def state(session):
    import threading
    return {"state": session.state, "step": session.recorder.step, "thread": threading.current_thread().name}
"""

ENDLESS = """
import pathlib, time
import gradlab as gl
layer = gl.nn.Linear(3, 2)
optimizer = gl.optim.SGD(layer.parameters(), lr=0.1)
while not pathlib.Path("{stop}").exists():
    loss = layer(gl.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.002)
print("ended")
"""

ASK = """what => {
    const [session] = Object.values(globalThis[Symbol.for('gradlab')].sessions);
    return session.ask(what, {}).then(answer => answer.content);
}"""


def test_a_question_is_answered_while_the_training_cell_runs(lab: Lab) -> None:
    lab.open("ask.ipynb", LOAD, HANDLER, ENDLESS.format(stop="stop-ask"))
    lab.run(0)
    lab.run(1)
    lab.start(2)
    lab.eventually(lambda: lab.points() > 0)
    first = lab.page.evaluate(ASK, "test state")
    second = lab.page.evaluate(ASK, "test state")
    assert lab.prompt(2) == "[*]:"
    assert (first["state"], second["state"]) == ("running", "running")
    assert second["step"] > first["step"] > 0
    assert first["thread"] != "MainThread"
    (lab.server.root / "stop-ask").touch()
    lab.finish()
