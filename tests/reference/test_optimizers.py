"""Fifty steps of every optimizer, with every option, on several nets end where PyTorch's end."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import gradlab as gl
from tests.reference.optimizers import FILE, NETS, OPTIMIZERS, STEPS, WRITTEN, trained

STORED = np.load(FILE)


def test_the_file_has_its_trainings_and_says_what_made_it():
    assert {*STORED} - {"torch"} == {f"{key} {net}" for key, net in WRITTEN}, "python -m tests.reference.optimizers"
    assert str(STORED["torch"]) and FILE.stat().st_size < 200_000


@pytest.mark.parametrize("key, net", WRITTEN)
def test_fifty_steps_are_pytorchs_as_written_down(key, net):
    for step, ours, theirs in zip(STEPS, trained(gl, key, net), STORED[f"{key} {net}"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11, err_msg=f"step {step}")


@pytest.mark.torch
@pytest.mark.parametrize("net", NETS)
@pytest.mark.parametrize("key", OPTIMIZERS)
def test_fifty_steps_are_pytorchs_in_float32_too(key, net):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    exact, theirs, ours = trained(torch, key, net), trained(torch, key, net, "float32"), trained(gl, key, net, "float32")
    for step, e, t, o in zip(STEPS, exact, theirs, ours, strict=True):
        rounding = np.abs(t - e).max()  # where a loss is maximized it grows, and rounding with it
        np.testing.assert_allclose(o, t, rtol=1e-5, atol=1e-5 + 3 * rounding, err_msg=f"step {step}")
    for step, e, o in zip(STEPS, exact, trained(gl, key, net), strict=True):
        np.testing.assert_allclose(o, e, rtol=1e-9, atol=1e-11, err_msg=f"step {step} in float64")


HOW = {"foreach", "fused", "capturable", "differentiable"}  # how a step is computed, not what


@pytest.mark.torch
def test_optimizers_and_schedules_are_called_as_pytorchs():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    def arguments(c):
        found = [p for p in inspect.signature(c).parameters.values() if p.name not in HOW]
        return [(p.name, p.default) for p in sorted(found, key=lambda p: p.name == "maximize")]  # by its name alone, but in their RMSprop

    for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad"):
        assert sorted(arguments(getattr(gl.optim, name))) == sorted(arguments(getattr(torch.optim, name))), name
        places = [a for a, _ in arguments(getattr(torch.optim, name)) if a not in ("maximize", "decoupled_weight_decay")]
        assert [a for a, _ in arguments(getattr(gl.optim, name))][: len(places)] == places, name
    schedules = [name for name in vars(gl.optim.lr_scheduler) if name[0].isupper()]
    assert {*torch.optim.lr_scheduler.__all__} == {*schedules}
    for name in schedules:
        assert arguments(getattr(gl.optim.lr_scheduler, name)) == arguments(getattr(torch.optim.lr_scheduler, name)), name
