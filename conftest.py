"""What every test gets: no observer, no grad mode and no random state left behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import gradlab as gl
from gradlab import observe


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """Fail a test, or an example of a docstring, that leaves something."""
    gl.manual_seed(0)
    before = observe.current
    yield
    assert observe.current is before, "the test left an observer attached"
    assert gl.is_grad_enabled(), "the test left gradients off"
