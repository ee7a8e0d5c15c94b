"""The state of a training as a dict, and back."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from ..backend import get_rng_state
from ..errors import StateError, explain
from .batch import described

if TYPE_CHECKING:
    from .trainer import Trainer

_PARTS = ("model", "optimizer", "scheduler", "rng", "history", "epoch", "step", "stopping", "position", "callbacks")


def state_of(trainer: Trainer) -> dict[str, Any]:
    """All that has to be known to go on bit by bit."""
    return {
        "version": 1,
        "model": trainer.model.state_dict(),
        "optimizer": trainer.optimizer.state_dict(),
        "scheduler": None if trainer.scheduler is None else trainer.scheduler.state_dict(),
        "rng": get_rng_state() if trainer.left is None else trainer.left,
        "history": {name: list(column) for name, column in trainer.history.items()},
        "epoch": trainer.epoch,
        "step": trainer.step,
        "stopping": trainer.stopping,
        "position": trainer.position(),
        "callbacks": [{"kind": type(one).__name__, "state": one.state_dict()} for one in trainer.callbacks],
    }


def put(trainer: Trainer, state: Any) -> None:
    """Stand where `state_of` was called, but for the position in the epoch.

    Raises:
        StateError: it is of another training; and what model, optimizer and schedule raise. Nothing is changed then.
    """
    what = "Trainer.load_state_dict"
    if not isinstance(state, Mapping) or not {*_PARTS} <= {*state}:
        missing = [part for part in _PARTS if isinstance(state, Mapping) and part not in state]
        got = {"state_dict": described(state), **({"missing": ", ".join(missing)} if missing else {})}
        raise StateError(explain(f"{what}: this is no saved training", got=got, need="what state_dict() returned, or save() wrote"))
    kinds = [saved["kind"] for saved in state["callbacks"]]
    own = [type(one).__name__ for one in trainer.callbacks]
    if kinds != own:
        got = {"saved with": ", ".join(kinds) or "none", "this has": ", ".join(own) or "none"}
        raise StateError(explain(f"{what}: other callbacks", got=got, need="the same, in the same order"))
    if (state["scheduler"] is None) != (trainer.scheduler is None):
        got = {"saved": "without a schedule" if state["scheduler"] is None else "with a schedule"}
        raise StateError(explain(f"{what}: a schedule is missing, or one too many", got=got, need="the same schedule"))
    parts: list[Any] = [trainer.model, trainer.optimizer, *trainer.callbacks]
    saved = [state["model"], state["optimizer"], *(one["state"] for one in state["callbacks"])]
    if trainer.scheduler is not None:
        parts.append(trainer.scheduler)
        saved.append(state["scheduler"])
    _all_or_none(parts, saved)
    trainer.history.clear()
    trainer.history.update({name: list(column) for name, column in state["history"].items()})
    trainer.epoch, trainer.step, trainer.stopping = state["epoch"], state["step"], state["stopping"]
    trainer.optimizer.has_stepped |= trainer.step > 0  # which schedules ask
    trainer.left = dict(state["rng"])


def _all_or_none(parts: list[Any], states: list[Any]) -> None:
    """Load a state into each part; where one refuses, all are as they were."""
    before = [deepcopy(part.state_dict()) for part in parts]
    try:
        for part, state in zip(parts, states, strict=True):
            part.load_state_dict(state)
    except BaseException:
        for part, state in zip(parts, before, strict=True):
            part.load_state_dict(state)
        raise
