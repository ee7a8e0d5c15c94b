"""The dock: it follows the notebook in front, through everything that happens to a kernel and a page."""

from __future__ import annotations

import re

from labdriver import LOAD, Lab, expect, more, training


def test_the_dock_says_what_to_do_where_nothing_is_loaded(lab: Lab) -> None:
    lab.open("empty.ipynb", "1 + 1")
    lab.palette("GradLab: Toggle Tracing")
    expect(lab.dock).to_contain_text("Tracing is off. Run %load_ext gradlab in this notebook.")
    lab.shot("nothing-loaded")
    lab.dock.get_by_role("button", name="Insert cell").click()
    assert lab.sources() == [LOAD, "1 + 1"]
    expect(lab.dock.get_by_role("button", name="Go to cell")).to_be_visible()
    lab.run(0)
    expect(lab.panel("strip")).to_be_visible()
    expect(lab.dock).not_to_contain_text("Tracing is off")


def test_loading_docks_at_the_right_and_the_view_menu_has_the_commands(lab: Lab) -> None:
    lab.open("load.ipynb", LOAD)
    lab.run(0)
    box = lab.visible_dock()
    assert 430 <= box["width"] <= 450
    assert box["x"] > 700
    lab.page.get_by_role("menuitem", name="View", exact=True).click()
    menu = lab.page.locator(".lm-Menu")
    expect(menu.get_by_text("GradLab: Open Inspector")).to_be_visible()
    lab.shot("menu")
    expect(menu.locator('[data-command="gradlab:toggle-tracing"]')).to_have_class(re.compile("lm-mod-toggled"))
    lab.page.keyboard.press("Escape")
    lab.shut_down()
    expect(lab.dock).to_contain_text("No kernel. Run a cell to start one.")


def test_a_restarted_kernel_is_named_and_the_notebook_can_run_again(lab: Lab) -> None:
    lab.open("restart.ipynb", LOAD, training(steps=3))
    lab.run_all()
    lab.sees_step(3)
    lab.restart()
    expect(lab.dock).to_contain_text("Kernel restarted. Last step kept: 3. Run %load_ext gradlab to trace again.")
    lab.shot("restarted")
    lab.run(0)
    expect(lab.dock).not_to_contain_text("Kernel restarted.")
    lab.run(1)
    lab.sees_step(3)


def test_a_reloaded_page_has_the_dock_back_with_its_data(lab: Lab) -> None:
    lab.open("reload.ipynb", LOAD, training(steps=4))
    lab.run_all()
    lab.sees_step(4)
    lab.layout_saved()
    lab.reload()
    lab.sees_step(4)
    assert lab.points() == 4


def test_a_page_reloaded_while_a_cell_runs_says_so_and_fills_when_it_ends(lab: Lab) -> None:
    lab.open("busy.ipynb", LOAD, training(steps=2), "import pathlib, time\nwhile not pathlib.Path('go').exists():\n    time.sleep(0.05)")
    lab.run(0)
    lab.run(1)
    lab.layout_saved()
    lab.start(2)
    lab.wait_for_status("busy")
    lab.reload()
    expect(lab.dock).to_contain_text("The kernel is busy. The panel fills when this cell ends.")
    lab.shot("busy")
    (lab.server.root / "go").touch()
    lab.sees_step(2)


def test_the_dock_follows_the_notebook_in_front(lab: Lab) -> None:
    lab.open("first.ipynb", LOAD, training(steps=2))
    lab.run_all()
    lab.sees_step(2)
    lab.open("second.ipynb", LOAD, training(steps=5))
    expect(lab.dock).to_contain_text("Tracing is off.")
    lab.run_all()
    lab.sees_step(5)
    lab.show("first.ipynb")
    lab.sees_step(2)


def test_a_closed_dock_stays_closed_until_it_is_asked_for(lab: Lab) -> None:
    lab.open("closed.ipynb", LOAD, training(steps=2), more(steps=3))
    lab.run(0)
    lab.run(1)
    lab.sees_step(2)
    lab.close_dock()
    lab.run(2)
    expect(lab.dock).to_have_count(0)
    lab.palette("GradLab: Open Inspector")
    lab.sees_step(5)
    lab.close_dock()
    lab.run(0)
    lab.sees_step(5)
