"""The panels move while the cell that trains still runs, and cost the notebook little."""

from __future__ import annotations

from labdriver import ENDLESS, LOAD, Lab, training


def test_points_grow_while_the_training_cell_still_runs(lab: Lab) -> None:
    lab.open("live.ipynb", LOAD, ENDLESS.format(stop="stop-live"))
    lab.run(0)
    lab.start(1)
    lab.eventually(lambda: lab.points() > 0)
    first = lab.points()
    assert (lab.kernel_status(), lab.prompt(1)) == ("busy", "[*]:")
    lab.shot("first")
    lab.eventually(lambda: lab.points() > first)
    second = lab.points()
    assert (lab.kernel_status(), lab.prompt(1)) == ("busy", "[*]:")
    assert second > first
    (lab.server.root / "stop-live").touch()
    lab.finish()
    assert "ended" in lab.output(1)


def test_a_long_run_sends_small_messages_and_saves_a_small_notebook(lab: Lab) -> None:
    lab.open("long.ipynb", LOAD, training(steps=3000))
    lab.run(0)
    # The bundle has come; what counts from here on are the frames.
    lab.message_sizes.clear()
    lab.run(1)
    lab.sees_step(3000)
    assert lab.points() > 100
    lab.command("docmanager:save")
    assert max(lab.message_sizes) < 1_000_000
    saved = (lab.server.root / "long.ipynb").read_text()
    assert len(saved) < 60_000
    assert "inspector docked at the right" in saved and "widget-view" not in saved  # shown again without a kernel, it is no error
