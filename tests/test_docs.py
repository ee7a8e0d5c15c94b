"""The page of all ops is what the classes say."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path

import pytest

from gradlab import ops
from gradlab.function import Function

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("docs_ops", ROOT / "docs/ops.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_ops_is_up_to_date(script):
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "write it again: python docs/ops.py"


def test_the_page_lists_every_op_and_every_formula(script):
    text = script.page()
    for name, f in vars(ops).items():
        if isinstance(f, type) and issubclass(f, Function):
            assert f"`{name}`: " in text and f.latex in text, name
        elif inspect.isfunction(f) and name != "raw_index":
            assert f"`{name}(" in text, name


def test_every_file_of_ops_has_its_family(script):
    assert "Others" not in script.families()


def test_the_readme_leads_to_the_page():
    assert "docs/ops.md" in (ROOT / "README.md").read_text(encoding="utf-8")
