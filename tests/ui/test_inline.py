"""Without the JupyterLab extension the inspector stands in the notebook."""

from __future__ import annotations

from labdriver import LOAD, Lab, expect, training


def test_without_the_extension_the_inspector_shows_inline(lab_without_extension: Lab) -> None:
    lab = lab_without_extension
    lab.open("inline.ipynb", LOAD, training(steps=3))
    lab.run_all()
    expect(lab.page.locator("#gradlab-dock")).to_have_count(0)
    inspector = lab.page.locator(".jp-OutputArea-output")
    expect(inspector.locator('[data-panel="graph"] [data-op="0"]')).to_be_visible()
    assert "gradlab:open" not in lab.page.evaluate("() => window.jupyterapp.commands.listCommands()")
