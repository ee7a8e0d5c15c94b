"""What the tests on a GPU get; without CuPy and a GPU they are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

import gradlab as gl


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if here in Path(item.path).parents:
            item.add_marker(pytest.mark.gpu)


@pytest.fixture(autouse=True, scope="package")
def a_gpu():
    if not gl.cuda.is_available():
        pytest.skip("needs CuPy and a GPU")
    gl.ones(1, device="cuda").item()


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")
