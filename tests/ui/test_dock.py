"""The dock: it follows the notebook in front, through everything that happens to a kernel and a page."""

from __future__ import annotations

from labdriver import Lab
from playwright.sync_api import expect

LOAD = "%load_ext gradlab"


def test_the_dock_says_what_to_do_where_nothing_is_loaded(lab: Lab) -> None:
    lab.open("empty.ipynb", "1 + 1")
    lab.palette("GradLab: Open Inspector")
    expect(lab.dock).to_contain_text("Tracing is off. Run %load_ext gradlab in this notebook.")
    lab.dock.get_by_role("button", name="Insert cell").click()
    assert lab.sources() == [LOAD, "1 + 1"]
    expect(lab.dock.get_by_role("button", name="Go to cell")).to_be_visible()
    lab.run(0)
    expect(lab.dock).not_to_contain_text("Tracing is off")


def test_loading_docks_at_the_right_wide_enough_to_read(lab: Lab) -> None:
    lab.open("load.ipynb", LOAD)
    lab.run(0)
    expect(lab.dock).to_be_visible()
    box = lab.dock.bounding_box()
    assert box is not None
    assert 430 <= box["width"] <= 450
    assert box["x"] > 700
