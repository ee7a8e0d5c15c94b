"""The built JavaScript, where this checkout has it."""

from __future__ import annotations

import pytest

from gradlab.notebook import bundle

LIMITS = {"session.js": 150_000, "panel.js": 10_000, "more.js": 105_000}


@pytest.mark.parametrize("name", LIMITS)
def test_the_built_bundle_is_a_module_of_bounded_size(name: str) -> None:
    if not (bundle.STATIC / name).exists():
        pytest.skip(f"gradlab/static/{name} is not built in this checkout (npm run build)")
    text = bundle.read(name)
    assert "export" in text
    assert len(text.encode()) <= LIMITS[name]


def test_a_missing_file_is_named(tmp_path: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "STATIC", tmp_path)
    with pytest.raises(bundle.BundleError, match=r"panel\.js is missing"):
        bundle.read("panel.js")
