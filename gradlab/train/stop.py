"""Stop: what is said where training is broken off, by a number that is not finite or by an interrupt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import observe
from ..errors import AnomalyError
from .batch import Batch
from .callback import Callback
from .checkpoint import Checkpoint
from .fault import message, source_of
from .gradient import NotFiniteError, backward
from .measure import Measure

if TYPE_CHECKING:
    from .trainer import Trainer


def fault(error: NotFiniteError, measure: Measure, batches: Sequence[Batch], where: str, folder: Path | None) -> AnomalyError:
    """The error for a step that is not finite; the step is run again to find the op.

    Args:
        where: which step it is.
        folder: where the training is saved.
    """
    samples = sum(batch.size for batch in batches)

    def again() -> None:
        for batch in batches:
            backward(measure, measure.forward(batch)[1], batch.size, samples)

    source = source_of(measure.model, again, [batch.named() for batch in batches])
    state = "as before this step, " + (f"saved in {folder}" if folder else "in the trainer: trainer.save(path) keeps it")
    return AnomalyError(message(f"fit: the {error.what} of {where}; the step was not made", source, observe.current is not None, state))


def farewell(trainer: Trainer, goal: int, folder: Path | None) -> str:
    """Where an interrupt left a training, and how it goes on."""
    saved, where = ("", "True") if folder is None else (f" and saved in {folder}", repr(str(folder)))
    last = f"after step {trainer.step}" + (f", in epoch {trainer.epoch + 1} of {goal}" if trainer.epoch < goal else "")
    return f"training stopped {last}; the model is whole{saved}. Go on with fit(..., epochs={goal}, resume={where})"


def folder_of(callbacks: Iterable[Callback]) -> Path | None:
    """Where a training is saved."""
    return next((one.folder for one in callbacks if isinstance(one, Checkpoint)), None)
