"""Every schedule gives the rates that PyTorch's gives, for 200 epochs."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from tests.reference.schedules import FILE, SCHEDULES, followed

STORED = np.load(FILE)


def test_the_file_has_every_schedule_and_says_what_made_it():
    assert {*STORED} - {"torch"} == {*SCHEDULES}, "python -m tests.reference.schedules"
    assert str(STORED["torch"]) and FILE.stat().st_size < 200_000
    words = {key.partition(",")[0] for key in SCHEDULES}
    assert words == {name for name in vars(gl.optim.lr_scheduler) if name[0].isupper()} - {"LRScheduler"}


@pytest.mark.parametrize("key", SCHEDULES)
def test_two_hundred_epochs_are_pytorchs_as_written_down(key):
    theirs, ours = STORED[key], followed(gl, key)
    np.testing.assert_allclose(ours[:, : theirs.shape[1]], theirs, rtol=1e-9, atol=1e-15)
    assert theirs.shape[1] == 4 or (ours[:, 2:] == 0.9).all()


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
@pytest.mark.parametrize("key", SCHEDULES)
def test_two_hundred_epochs_are_pytorchs(key, kind):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    np.testing.assert_allclose(followed(gl, key, kind), followed(torch, key, kind), rtol=1e-9, atol=1e-15)
