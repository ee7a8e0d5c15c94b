"""Switching tracing on and off, loading, loading again and unloading."""

from __future__ import annotations

from labdriver import LOAD, Lab, expect, more, training

STATUS = "%gradlab status"


def test_the_toggle_stops_tracing_and_resumes_it(lab: Lab) -> None:
    lab.open("toggle.ipynb", LOAD, training(steps=2), STATUS, more(steps=3))
    lab.run(0)
    lab.run(1)
    lab.sees_step(2)
    lab.palette("GradLab: Toggle Tracing")
    expect(lab.panel("strip")).to_contain_text("off")
    assert "tracing off" in lab.run(2)
    lab.run(3)
    assert "2 steps" in lab.run(2)
    lab.palette("GradLab: Toggle Tracing")
    expect(lab.panel("strip")).not_to_contain_text("off")
    lab.run(3)
    lab.sees_step(2 + 3)


def test_loading_again_and_reloading_leave_one_panel_and_unloading_none(lab: Lab) -> None:
    lab.open("again.ipynb", LOAD, training(steps=2), "%reload_ext gradlab", training(steps=3), "%unload_ext gradlab")
    for _ in range(5):
        lab.run(0)
    lab.run(1)
    lab.sees_step(2)
    expect(lab.page.locator('[data-panel="strip"]')).to_have_count(1)
    expect(lab.page.locator("#gradlab-dock")).to_have_count(1)
    lab.run(2)
    lab.run(3)
    lab.sees_step(3)
    expect(lab.page.locator('[data-panel="strip"]')).to_have_count(1)
    lab.run(4)
    expect(lab.dock).to_contain_text("Tracing is off.")
    expect(lab.page.locator('[data-panel="strip"]')).to_have_count(0)
