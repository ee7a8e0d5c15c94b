"""What a Trainer is given: refused here, before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import ArgumentError, KeywordError, explain
from ..nn.module import Module
from ..ops.argument import need_number
from ..optim import Optimizer
from ..optim.lr_scheduler import CyclicLR, LRScheduler, OneCycleLR, ReduceLROnPlateau
from .batch import described
from .callback import Callback

Metric = Callable[[Any, Any], Any]


def need_parts(model: Any, optimizer: Any, loss_fn: Any, unpack: Any) -> None:
    """Refuse what is no model, optimizer or function, and an optimizer of another model."""
    for name, value, kind in (("model", model, Module), ("optimizer", optimizer, Optimizer)):
        if not isinstance(value, kind):
            fix = f"{described(value)}()" if isinstance(value, type) else ""
            raise KeywordError(explain(f"Trainer: this is no {name}", got={name: described(value)}, need=f"a {kind.__name__}", fix=fix))
    for name, value, of in (("loss_fn", loss_fn, "outputs and targets"), ("unpack", unpack, "a batch")):
        if not callable(value) and not (name == "unpack" and value is None):
            raise KeywordError(explain(f"Trainer: {name} is called", got={name: described(value)}, need=f"a function of {of}"))
    own = {id(p) for p in model.parameters()}
    held = [p for group in optimizer.param_groups for p in group["params"]]
    if own and not any(id(p) in own for p in held):
        got = {"parameters of the model": len(own), "of them in the optimizer": 0}
        raise ArgumentError(explain("Trainer: this optimizer moves another model", got=got, need="one that is made of model.parameters()"))


def metrics_of(metrics: Any) -> dict[str, Metric]:
    """Metrics by name."""
    if metrics is None:
        return {}
    if not isinstance(metrics, Mapping):
        fix = 'metrics={"accuracy": gl.metrics.accuracy}'
        raise KeywordError(explain("Trainer: metrics have names", got={"metrics": described(metrics)}, need="a dict", fix=fix))
    for name, metric in metrics.items():
        if not isinstance(name, str) or name in ("epoch", "loss", "lr") or name.startswith("val_"):
            need = "a text; validation puts val_ in front, and epoch, loss and lr are there already"
            raise ArgumentError(explain("Trainer: no metric can have this name", got={"metric": repr(name)}, need=need))
        if not callable(metric):
            got = {name: described(metric)}
            raise KeywordError(explain("Trainer: a metric is called", got=got, need="a function of outputs and targets"))
    return dict(metrics)


def clip_of(clip_norm: Any) -> float | None:
    """The length that gradients are cut to."""
    if clip_norm is not None:
        need_number("Trainer", clip_norm=clip_norm)
        if not clip_norm > 0:
            raise ArgumentError(explain("Trainer: gradients are cut to a length", got={"clip_norm": clip_norm}, need="above 0"))
    return clip_norm


def callbacks_of(callbacks: Any) -> list[Callback]:
    """Callbacks as a list."""
    found: list[Any] = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
    for one in found:
        if not isinstance(one, Callback):
            raise KeywordError(explain("Trainer: this is no callback", got={"type": described(one)}, need="gl.Callback, or a subclass"))
    return found


def schedule_of(scheduler: Any, optimizer: Optimizer, per: str | None, on: str | None) -> tuple[str, str | None]:
    """When a schedule is stepped, and what it looks at."""
    if scheduler is not None and not isinstance(scheduler, LRScheduler):
        got = {"scheduler": described(scheduler)}
        raise KeywordError(explain("Trainer: this is no schedule", got=got, need="one of gl.optim.lr_scheduler"))
    if getattr(scheduler, "optimizer", optimizer) is not optimizer:
        got = {"scheduler": type(scheduler).__name__}
        raise ArgumentError(explain("Trainer: this schedule sets the rates of another optimizer", got=got, need="the trainer's optimizer"))
    if per not in ("epoch", "step", None):
        raise ArgumentError(explain("Trainer: when is the rate set?", got={"schedule_per": repr(per)}, need="'epoch' or 'step'"))
    if isinstance(scheduler, ReduceLROnPlateau):
        if per == "step":
            got = {"scheduler": "ReduceLROnPlateau", "schedule_per": per}
            raise ArgumentError(explain("Trainer: this schedule looks at numbers of an epoch", got=got, need="schedule_per='epoch'"))
        if scheduler.mode == "max" and on is None:
            got = {"scheduler": "ReduceLROnPlateau, mode 'max'", "schedule_on": None}
            fix = "schedule_on='val_accuracy'"
            raise ArgumentError(explain("Trainer: of what is more better?", got=got, need="a name in the history", fix=fix))
    return per or ("step" if isinstance(scheduler, (OneCycleLR, CyclicLR)) else "epoch"), on


def watched_of(scheduler: LRScheduler | None, on: str | None, measured: Sequence[str]) -> str | None:
    """The number of an epoch that a schedule is told; None where it wants none."""
    if not isinstance(scheduler, ReduceLROnPlateau):
        return None
    name = on or ("val_loss" if "val_loss" in measured else "loss")
    if name not in measured:
        got = {"schedule_on": name, "measured": ", ".join(measured)}
        raise ArgumentError(explain("fit: what the schedule looks at is not measured", got=got, need="one of those"))
    return name
