"""Callbacks, schedules, files and bars of a training."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.errors import ArgumentError, PackageError
from gradlab.optim import lr_scheduler
from gradlab.train import History

from .trainings import loader, net, trainer_of


class Told(gl.Callback):
    """Writes down what it is told."""

    def __init__(self):
        self.events = []

    def on_fit_begin(self, trainer):
        self.events.append("begin")

    def on_step_end(self, trainer):
        self.events.append(trainer.step)

    def on_epoch_end(self, trainer, row):
        assert trainer.history.last() == row
        self.events.append(f"epoch {row['epoch']}")

    def on_stop(self, trainer):
        self.events.append("stop")

    def on_fit_end(self, trainer):
        self.events.append("end")


def test_callbacks_are_told_in_order():
    told = Told()
    trainer_of(callbacks=told).fit(loader(batch_size=25), epochs=2)
    assert told.events == ["begin", 1, 2, "epoch 1", 3, 4, "epoch 2", "end"]


def test_a_callback_that_raises_ends_the_training_and_the_trainer_stays_consistent():
    class Odd(gl.Callback):
        def on_epoch_end(self, trainer, row):
            raise RuntimeError("odd")

    told = Told()
    trainer = trainer_of(callbacks=[Odd(), told])
    with pytest.raises(RuntimeError, match="odd"):
        trainer.fit(loader(), epochs=3)
    assert told.events[-1] == "stop" and trainer.epoch == 1 and trainer.history["epoch"] == [1]


def test_training_stops_where_a_number_does_not_become_better_and_the_best_comes_back():
    best = {}

    class Keep(gl.Callback):
        def on_epoch_end(self, trainer, row):
            if row["val_loss"] <= min(trainer.history["val_loss"]):
                best.update({name: t.data.copy() for name, t in trainer.model.state_dict().items()})

    stopping = gl.EarlyStopping("val_loss", patience=2, restore_best=True)
    trainer = trainer_of(lr=0.2, callbacks=[Keep(), stopping])
    history = trainer.fit(loader(shuffle=True, seed=0), loader(20), epochs=100)
    assert len(history["epoch"]) < 100
    assert stopping.best_epoch == int(np.argmin(history["val_loss"])) + 1 == history["epoch"][-1] - 2
    for name, t in trainer.model.state_dict().items():
        np.testing.assert_array_equal(t.data, best[name], err_msg=name)


def test_more_is_better_of_an_accuracy_and_nan_never_is():
    monitor = gl.EarlyStopping("val_accuracy").monitor
    assert [monitor.better({"val_accuracy": a}) for a in (math.nan, 0.5, 0.4, 0.6, math.nan)] == [False, True, False, True, False]
    with pytest.raises(ArgumentError, match="is more of this better, or less\\?\n  monitor val_f1"):
        gl.EarlyStopping("val_f1")
    assert gl.EarlyStopping("val_f1", mode="max").monitor.mode == "max"


def test_a_number_that_is_not_measured_is_refused_before_anything_is_trained(tmp_path):
    with pytest.raises(
        ArgumentError, match=r"EarlyStopping: this is not measured\n  monitor  val_loss\n.*\n.*\n  try:     fit\(train_loader, val_loader\)"
    ):
        trainer_of(callbacks=gl.EarlyStopping()).fit(loader(), epochs=2)
    for options, text in (
        ({"callbacks": gl.EarlyStopping()}, "EarlyStopping: this is not measured"),
        ({"callbacks": gl.Checkpoint(tmp_path / "run", monitor="val_accuracy")}, "Checkpoint: this is not measured"),
        ({"schedule_on": "val_loss"}, "what the schedule looks at is not measured\n  schedule_on val_loss\n  measured    epoch, loss, lr"),
    ):
        model = net()
        optimizer = gl.optim.Adam(model.parameters())
        trainer = gl.Trainer(
            model, optimizer, nn.CrossEntropyLoss(), scheduler=lr_scheduler.ReduceLROnPlateau(optimizer), progress=False, **options
        )
        with pytest.raises(ArgumentError, match=text):
            trainer.fit(loader(), epochs=2)
        assert trainer.step == 0 and not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"patience": "3"}, gl.DataError, "EarlyStopping: patience counts"),
        ({"patience": 0}, gl.DataError, "whole number, 1 or more"),
        ({"min_delta": -0.1}, ArgumentError, "a change has a size\n  min_delta -0.1"),
        ({"min_delta": math.nan}, ArgumentError, "a change has a size"),
        ({"min_delta": "small"}, gl.KeywordError, "min_delta is no number"),
        ({"monitor": 3}, gl.KeywordError, "monitor is the name of a number\n  monitor 3"),
    ],
)
def test_early_stopping_refuses_what_makes_no_sense(options, error, text):
    with pytest.raises(error, match=text):
        gl.EarlyStopping(**options)


def test_callbacks_of_one_training_serve_another_as_if_new(tmp_path):
    used = [gl.EarlyStopping("loss", patience=2, restore_best=True), gl.Checkpoint(tmp_path, monitor="loss")]
    trainer_of(lr=0.05, callbacks=used).fit(loader(), epochs=8)
    gl.manual_seed(7)
    second = trainer_of(lr=1e-5, callbacks=used).fit(loader(), epochs=3)
    gl.manual_seed(7)
    fresh = trainer_of(lr=1e-5, callbacks=[gl.EarlyStopping("loss", patience=2, restore_best=True)]).fit(loader(), epochs=3)
    assert second == fresh
    best = gl.load(tmp_path / "best.safetensors")
    assert best["history"]["loss"][-1] == min(second["loss"])


def test_a_stopped_training_that_is_told_to_train_more_has_all_its_patience_again():
    trainer = trainer_of(callbacks=gl.EarlyStopping("loss", patience=2, mode="max"))  # after the first, none is better
    assert len(trainer.fit(loader(), epochs=9)["epoch"]) == 3
    assert len(trainer.fit(loader(), epochs=9)["epoch"]) == 5


def test_a_stop_before_the_first_step_saves_nothing_over_what_is_there(tmp_path):
    def stop(output, target):
        raise KeyboardInterrupt

    trainer = trainer_of(callbacks=gl.Checkpoint(tmp_path), loss_fn=stop)
    with pytest.raises(KeyboardInterrupt, match=r"the model is whole\. Go on with fit\(\.\.\., epochs=1, resume=True\)"):
        trainer.fit(loader())
    assert list(tmp_path.iterdir()) == []


def test_the_best_and_the_last_are_saved(tmp_path):
    checkpoint = gl.Checkpoint(tmp_path / "deep" / "run", monitor="val_loss")
    trainer = trainer_of(lr=0.3, callbacks=checkpoint)
    history = trainer.fit(loader(shuffle=True, seed=0), loader(20), epochs=12)
    best = int(np.argmin(history["val_loss"])) + 1
    assert best < 12, "else this shows nothing"
    assert gl.load(checkpoint.best)["epoch"] == best
    assert gl.load(checkpoint.last)["epoch"] == 12
    model = net(seed=5)
    model.load_state_dict(gl.load(checkpoint.best)["model"])
    assert trainer_of(model).evaluate(loader(20))["loss"] == pytest.approx(history["val_loss"][best - 1], rel=1e-6)


def test_a_folder_that_can_not_be_made_is_refused_before_anything_is_trained(tmp_path):
    (tmp_path / "file").write_text("")
    trainer = trainer_of(callbacks=gl.Checkpoint(tmp_path / "file" / "run"))
    with pytest.raises(gl.FileError, match="this folder can't be made"):
        trainer.fit(loader())
    assert trainer.step == 0
    with pytest.raises(gl.DataError, match="every counts"):
        gl.Checkpoint(tmp_path, every=0)
    with pytest.raises(gl.KeywordError, match="Checkpoint"):
        gl.Checkpoint(3)


def rates(scheduler, epochs=3, **options):
    model = net()
    optimizer = gl.optim.SGD(model.parameters(), lr=0.1)
    seen = []

    class Look(gl.Callback):
        def on_step_end(self, trainer):
            seen.append(optimizer.param_groups[0]["lr"])

    trainer = gl.Trainer(
        model, optimizer, nn.CrossEntropyLoss(), scheduler=scheduler(optimizer), callbacks=Look(), progress=False, **options
    )
    return trainer.fit(loader(batch_size=25), loader(batch_size=25), epochs=epochs)["lr"], seen


def test_a_schedule_goes_on_after_each_epoch_and_the_history_has_the_rate_of_the_epoch():
    lr, _ = rates(lambda o: lr_scheduler.StepLR(o, 1, 0.5))
    assert lr == [0.1, 0.05, 0.025]


def test_a_schedule_goes_on_after_each_update_where_that_is_asked_for_or_its_kind_says_so():
    def halved(optimizer):
        return lr_scheduler.StepLR(optimizer, 1, 0.5)

    assert rates(halved, schedule_per="step")[1] == [0.1 * 0.5**i for i in range(1, 7)]
    _, one_cycle = rates(lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=6))
    assert len({*one_cycle}) > 4


def test_a_plateau_is_told_the_loss_of_validation_or_what_was_asked_for():
    def flat(optimizer):
        return lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=0, threshold=10.0, threshold_mode="abs")

    assert rates(flat)[0] == pytest.approx([0.1, 0.1, 0.01])
    with pytest.raises(ArgumentError, match="what the schedule looks at is not measured\n  schedule_on val_accuracy"):
        rates(flat, schedule_on="val_accuracy")


def test_a_history_is_drawn_training_and_validation_together():
    pytest.importorskip("matplotlib")
    history = trainer_of().fit(loader(), loader(), epochs=3)
    figure = history.plot()
    assert [ax.get_title() for ax in figure.axes] == ["loss", "accuracy", "lr"]
    assert [line.get_label() for line in figure.axes[0].lines] == ["training", "validation"]
    np.testing.assert_array_equal(figure.axes[0].lines[1].get_ydata(), history["val_loss"])
    again = history.plot(figure.subplots(1, 3))
    assert again is figure


def test_without_matplotlib_a_plot_says_what_to_install(monkeypatch):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    history = History({"epoch": [1], "loss": [0.5]})
    with pytest.raises(PackageError, match=r"this needs matplotlib\n.*\n.*\n  try: .*pip install matplotlib"):
        history.plot()
    with pytest.raises(gl.DataError, match="there is nothing to draw yet"):
        History().plot()


def test_bars_are_drawn_and_can_be_left_out(capsys):
    trainer_of(progress=True).fit(loader(), loader(), epochs=2)
    drawn = capsys.readouterr()
    assert "training: 100%" in drawn.err and "validation" in drawn.err and "val_accuracy" in drawn.err and not drawn.out
    trainer_of(progress=False).fit(loader(), loader(), epochs=2)
    assert capsys.readouterr() == ("", "")


def test_a_bar_that_was_broken_off_is_closed(capsys):
    def odd(output, target):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="stopped after step 0, in epoch 1 of 1"):
        trainer_of(loss_fn=odd, progress=True).fit(loader())
    assert capsys.readouterr().err.endswith("\n")
