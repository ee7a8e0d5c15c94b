"""An interrupt at any line of the trainer leaves it whole: it goes on to the last bit as if nothing had been."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import gradlab as gl
import gradlab.train

from .test_resume import same
from .trainings import loader, trainer_of

CODE = str(Path(gradlab.train.__file__).parent)
LINES = 1_500  # of the trainer's code that run in the training below, at least


def interrupted_at(line: int, call: Callable[[], Any]) -> int:
    """Run `call` with an interrupt at the n-th line of the trainer's code; returns how many lines ran."""
    count = 0

    def watch(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith(CODE):
            return None
        if event == "line":
            count += 1
            if count == line:
                signal.raise_signal(signal.SIGINT)
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        call()
    except KeyboardInterrupt:
        assert count >= line
    finally:
        sys.settrace(before)
    return count


def made() -> tuple[gl.Trainer, Any, Any]:
    trainer = trainer_of(callbacks=gl.EarlyStopping("val_loss", patience=5), clip_norm=1.0, accumulate=2)
    gl.manual_seed(1)
    return trainer, loader(shuffle=True, batch_size=10), loader(shuffle=True, batch_size=25)


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    trainer, train, validation = made()
    trainer.fit(train, validation, epochs=2)
    return trainer.state_dict()


def goes_on(line: int, whole: dict[str, Any]) -> None:
    trainer, train, validation = made()
    handler = signal.getsignal(signal.SIGINT)
    assert interrupted_at(line, lambda: trainer.fit(train, validation, epochs=2)) >= min(line, LINES)
    assert signal.getsignal(signal.SIGINT) is handler
    assert {len(column) for column in trainer.history.values()} <= {trainer.epoch}
    assert all(module.training for module in trainer.model.modules())
    trainer.fit(train, validation, epochs=2, resume=True)
    same(trainer.state_dict(), whole)


@pytest.mark.parametrize("line", range(1, LINES, 71))
def test_an_interrupt_at_a_line_of_the_trainer_leaves_it_whole(line, whole):
    goes_on(line, whole)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1, LINES + 200, 100))
def test_an_interrupt_at_any_line_of_the_trainer_leaves_it_whole(first, whole):
    for line in range(first, first + 100):
        goes_on(line, whole)


def test_an_interrupt_before_the_first_step_says_how_to_go_on():
    class Pressed(gl.train.Callback):
        def on_fit_begin(self, trainer: gl.Trainer) -> None:
            signal.raise_signal(signal.SIGINT)

    trainer = trainer_of(callbacks=Pressed())
    with pytest.raises(KeyboardInterrupt, match=r"after step 0, in epoch 1 of 2; .* fit\(\.\.\., epochs=2, resume=True\)"):
        trainer.fit(loader(), epochs=2)
