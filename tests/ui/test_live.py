"""What a training costs the notebook: small messages, and a small file."""

from __future__ import annotations

from labdriver import LOAD, Lab, training


def test_a_long_run_sends_small_messages_and_saves_a_small_notebook(lab: Lab) -> None:
    lab.open("costs.ipynb", LOAD, training(steps=3000))
    lab.run(0)
    # The bundle has come; what counts from here on are the frames.
    lab.message_sizes.clear()
    lab.run(1)
    lab.sees_step(3000)
    assert lab.points() > 100
    lab.command("docmanager:save")
    assert max(lab.message_sizes) < 1_000_000
    saved = (lab.server.root / "costs.ipynb").read_text()
    assert len(saved) < 60_000
    assert "inspector docked at the right" in saved and "widget-view" not in saved  # shown again without a kernel, it is no error
