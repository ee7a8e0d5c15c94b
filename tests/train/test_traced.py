"""A training that a tracer watches: its steps are those of the training, and its numbers are the same to the last bit."""

from __future__ import annotations

import pytest

import gradlab as gl
from gradlab import observe
from gradlab.trace import recording

from .test_resume import same
from .trainings import loader, trainer_of


def test_numbers_are_the_same_with_and_without_a_tracer():
    plain, seen = trainer_of(clip_norm=1.0), trainer_of(clip_norm=1.0)
    gl.manual_seed(1)
    plain.fit(loader(shuffle=True, seed=0), loader(), epochs=3)
    gl.manual_seed(1)
    with recording():
        seen.fit(loader(shuffle=True, seed=0), loader(), epochs=3)
    same(plain.state_dict(), seen.state_dict())


def test_validation_is_no_step_and_adds_nothing_to_what_is_on_show():
    trainer = trainer_of()
    with recording() as recorder:
        trainer.fit(loader(), loader(), epochs=2)
        assert recorder.step == trainer.step == 14 and recorder.run == 1
        ops = [op["name"] for op in recorder.structure()["ops"]]
        assert ops == ["linear", "batch_norm", "relu", "dropout", "linear", "cross_entropy"]
        trainer.evaluate(loader())
        shown = [op["name"] for op in recorder.structure()["ops"]]
        assert shown == [*ops, "linear", "running_norm", "relu", "linear", "cross_entropy"], "one batch of seven"
        assert recorder.step == 14
    assert observe.current is None


def test_accumulated_batches_are_one_step():
    trainer = trainer_of(accumulate=3)
    with recording() as recorder:
        trainer.fit(loader(), epochs=2)
    assert recorder.step == trainer.step == 6
    assert not [one.rule for one in gl.trace.diagnose(recorder) if one.rule == "R8"], "zero_grad is not missing"


def test_a_tracer_that_comes_in_the_middle_counts_from_there_and_hears_of_epochs():
    class Late(gl.Callback):
        def on_epoch_end(self, trainer, row):
            if row["epoch"] == 1:
                recorder.attach()

    recorder = gl.trace.Recorder()
    try:
        trainer_of(callbacks=Late()).fit(loader(), loader(), epochs=3)
    finally:
        recorder.detach()
    assert recorder.step == 14
    assert [epoch.numbers["epoch"] for epoch in recorder.steps.run.epochs] == [2, 3]


def test_a_breakpoint_leaves_the_trainer_whole():
    class Halt:
        """An observer that stops the second step, after its update."""

        steps = 0

        def begin(self, kind, target, inputs, /):
            return kind

        def end(self, token, output, error, /):
            self.steps += token == "step"
            if token == "step" and self.steps == 2:
                raise observe.HaltError("stop")

    whole, halted, halt = trainer_of(), trainer_of(), Halt()
    gl.manual_seed(1)
    whole.fit(loader(), epochs=1)
    gl.manual_seed(1)
    observe.attach(halt)
    try:
        with pytest.raises(observe.HaltError):
            halted.fit(loader(), epochs=1)
    finally:
        observe.detach(halt)
    assert halted.step == 2
    halted.fit(loader(), epochs=1, resume=True)
    same(halted.state_dict(), whole.state_dict())
