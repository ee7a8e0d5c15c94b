"""The picture beside a panel: out of the way while the panel lives, and in its place when the kernel is gone."""

from __future__ import annotations

import pytest
from labdriver import LOAD, Lab, expect, training

PICTURE = "img[src*='data-gradlab']"


@pytest.mark.slow
def test_pictures_take_the_place_of_panels_whose_kernel_is_gone(lab: Lab) -> None:
    lab.open("pictures.ipynb", LOAD, "%gradlab panel graph", training(steps=3))
    lab.run_all()
    outputs = lab.page.locator(".jp-Notebook")
    expect(outputs.locator('[data-panel="graph"] [data-op="0"]')).to_be_visible()
    expect(outputs.locator(PICTURE)).to_have_count(2)
    for i in range(2):
        expect(outputs.locator(PICTURE).nth(i)).to_be_hidden()
    # No empty line is left where a picture will be.
    assert outputs.locator(".jp-OutputArea-child:visible").count() == 2
    lab.command("docmanager:save")
    lab.restart()
    expect(outputs.locator(PICTURE).first).to_be_visible()
    lab.shot("restarted")
    lab.shut_down()
    lab.close_everything()
    lab.show("pictures.ipynb")
    for i in range(2):
        expect(outputs.locator(PICTURE).nth(i)).to_be_visible()
    for words in ("model not found", "Loading widget", "inspector docked"):
        expect(outputs.get_by_text(words).locator("visible=true")).to_have_count(0)
    assert lab.page.locator(PICTURE).first.evaluate("image => decodeURIComponent(image.src).includes('not connected to a kernel')")
    lab.shot("reopened")
    lab.run_all()
    expect(outputs.locator('[data-panel="graph"] [data-op="0"]')).to_be_visible()
    expect(outputs.locator(PICTURE).first).to_be_hidden()
    # What ipywidgets says of the model that went with its kernel.
    lab.console_errors[:] = [e for e in lab.console_errors if "widget model not found" not in e]
