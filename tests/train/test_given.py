"""What a trainer is given in another form is taken, or refused with what to do, before anything is changed."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import data, nn
from gradlab.errors import ArgumentError, DataError, KeywordError, ShapeError
from gradlab.optim import lr_scheduler

from .trainings import loader, net, points, trainer_of


def test_an_empty_loader_is_refused():
    empty = data.DataLoader((np.zeros((3, 2)), np.zeros(3)), 8, drop_last=True)
    with pytest.raises(
        DataError, match=r"fit: the loader is empty\n  batches +0\n  samples +3\n  batch_size +8\n.*\n  try: +drop_last=False"
    ):
        trainer_of().fit(empty)
    with pytest.raises(DataError, match="fit: the loader is empty"):
        trainer_of().fit([])
    with pytest.raises(DataError, match="evaluate: the loader is empty"):
        trainer_of().fit(loader(), [])

    class Nothing:
        def __iter__(self):
            return iter(())

    for call in ("fit", "evaluate", "predict"):
        with pytest.raises(DataError, match=f"{call}: the loader is empty\n  batches 0"):
            getattr(trainer_of(), call)(Nothing())


def test_what_can_be_read_once_is_good_for_one_epoch():
    trainer = trainer_of()
    trainer.fit(iter(list(loader())), epochs=1)
    assert trainer.step == 7
    with pytest.raises(DataError, match=r"fit: this can be read only once, so the second epoch would be empty\n  loader list_iterator"):
        trainer.fit(iter(list(loader())), epochs=2)
    with pytest.raises(DataError, match="evaluate: this can be read only once"):
        trainer.fit(loader(), iter(list(loader())), epochs=2)
    with pytest.raises(DataError, match="fit: no batches come from this\n  loader int"):
        trainer.fit(3)


def test_a_loader_without_a_length_will_do(capsys):
    class Stream(data.IterableDataset):
        def __iter__(self):
            yield from zip(*points(20), strict=True)

    trainer = trainer_of(progress=True)
    trainer.fit(data.DataLoader(Stream(), 8), data.DataLoader(Stream(), 8), epochs=2)
    assert trainer.step == 6
    assert "epoch 2" in capsys.readouterr().err


def test_a_dict_needs_unpack_and_the_error_writes_it():
    batches = [{"x": x, "label": y} for x, y in loader()]
    with pytest.raises(
        DataError,
        match=r"a batch is inputs and targets\n  batch a dict of 'x', 'label'\n.*\n.*lambda batch: \(batch\['x'\], batch\['label'\]\)",
    ):
        trainer_of().fit(batches)
    trainer = trainer_of(unpack=lambda batch: (batch["x"], batch["label"]))
    trainer.fit(batches, batches)
    assert trainer.step == 7 and trainer.predict(batches).shape == (50, 3)
    with pytest.raises(DataError, match=r"unpack gives two things\n  unpack gave one tensor of shape \(8, 2\)"):
        trainer_of(unpack=lambda batch: batch["x"]).fit(batches)


def test_one_tensor_needs_unpack_as_an_autoencoder_has_it():
    x, _ = points()
    with pytest.raises(DataError, match=r"batch one tensor of shape \(8, 2\)\n.*\n +try: +unpack=lambda batch: \(batch, batch\)"):
        trainer_of().fit(data.DataLoader(x, 8))
    model = nn.Sequential(nn.Linear(2, 1), nn.Linear(1, 2))
    trainer = trainer_of(model, loss_fn=nn.MSELoss(), metrics=None, unpack=lambda batch: (batch, batch))
    trainer.fit(data.DataLoader(x, 8), epochs=2)
    assert trainer.history["loss"][1] < trainer.history["loss"][0]


def test_several_inputs_come_before_the_targets():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = net()

        def forward(self, x, scale):
            return self.inner(x * scale)

    x, y = points()
    scale = gl.ones(50, 1)
    trainer = trainer_of(Two())
    trainer.fit(data.DataLoader((x, scale, y), 8), epochs=1)
    assert trainer.predict([(x, scale, y)]).shape == (50, 3)


def test_arrays_are_batches_too():
    trainer = trainer_of()
    trainer.fit([(x.data, y.data) for x, y in loader()])
    assert trainer.step == 7


@pytest.mark.parametrize(
    ("loss_fn", "error", "text"),
    [
        (lambda o, y: nn.functional.cross_entropy(o, y, reduction="none"), ShapeError, r"a loss is one number\n  loss +\(8,\)"),
        (lambda o, y: 0.5, KeywordError, "loss_fn gave no tensor\n  loss +float"),
        (lambda o, y: gl.tensor(0.5), ArgumentError, "nothing leads from this loss to a parameter\n  parameters that require a gradient 6"),
    ],
)
def test_a_loss_that_is_none_is_refused_and_nothing_is_changed(loss_fn, error, text):
    trainer = trainer_of(loss_fn=loss_fn)
    before = {name: t.data.copy() for name, t in trainer.model.state_dict().items()}
    rng = gl.get_rng_state()
    with pytest.raises(error, match=text):
        trainer.fit(loader())
    assert gl.get_rng_state() == rng and trainer.step == 0
    for name, t in trainer.model.state_dict().items():
        np.testing.assert_array_equal(t.data, before[name], err_msg=name)


def test_a_model_in_evaluation_mode_is_trained_and_is_in_it_again_afterwards():
    trainer = trainer_of()
    modes = []
    trainer.callbacks.append(Look(lambda: modes.append(trainer.model[3].training)))
    trainer.model.eval()
    trainer.fit(loader(), loader(), epochs=2)
    assert modes == [True] * 14 and not any(module.training for module in trainer.model.modules())


class Look(gl.Callback):
    def __init__(self, look):
        self.look = look

    def on_step_end(self, trainer):
        self.look()


def test_a_part_in_evaluation_mode_stays_there():
    trainer = trainer_of()
    trainer.model[1].eval()  # a norm whose statistics are those that were loaded
    trainer.fit(loader(), loader(), epochs=2)
    assert trainer.model[1].running_mean.tolist() == [0.0] * 16
    assert trainer.model.training and not trainer.model[1].training


def test_frozen_parameters_stay_and_the_others_move():
    trainer = trainer_of()
    trainer.model[0].requires_grad_(False)
    frozen, free = trainer.model[0].weight.data.copy(), trainer.model[4].weight.data.copy()
    trainer.fit(loader(), epochs=1)
    np.testing.assert_array_equal(trainer.model[0].weight.data, frozen)
    assert (trainer.model[4].weight.data != free).all()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"model": lambda x: x}, KeywordError, "this is no model"),
        ({"optimizer": gl.optim.SGD}, KeywordError, "this is no optimizer"),
        ({"loss_fn": 3}, KeywordError, "loss_fn is called\n  loss_fn int"),
        ({"metrics": [gl.metrics.accuracy]}, KeywordError, "metrics have names"),
        ({"metrics": {"loss": gl.metrics.accuracy}}, ArgumentError, "no metric can have this name\n  metric 'loss'"),
        ({"metrics": {"accuracy": 1}}, KeywordError, "a metric is called"),
        ({"scheduler": 0.1}, KeywordError, "this is no schedule"),
        ({"accumulate": 0}, DataError, "accumulate counts"),
        ({"clip_norm": 0.0}, ArgumentError, "gradients are cut to a length\n  clip_norm 0.0"),
        ({"clip_norm": "1"}, KeywordError, "clip_norm"),
        ({"callbacks": [print]}, KeywordError, "this is no callback"),
        ({"schedule_per": "batch"}, ArgumentError, "when is the rate set\\?\n  schedule_per 'batch'"),
        ({"unpack": 1}, KeywordError, "unpack is called"),
    ],
)
def test_parts_that_are_none_are_refused(options, error, text):
    model = net()
    parts = {"model": model, "optimizer": gl.optim.SGD(model.parameters(), lr=0.1), "loss_fn": nn.CrossEntropyLoss()}
    with pytest.raises(error, match=text):
        gl.Trainer(**(parts | options))


def test_parts_that_do_not_belong_together_are_refused():
    model, other = net(), net()
    optimizer = gl.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(ArgumentError, match="this optimizer moves another model"):
        gl.Trainer(other, optimizer, nn.CrossEntropyLoss())
    schedule = lr_scheduler.StepLR(gl.optim.SGD(other.parameters(), lr=0.1), 1)
    with pytest.raises(ArgumentError, match="this schedule sets the rates of another optimizer"):
        gl.Trainer(model, optimizer, nn.CrossEntropyLoss(), scheduler=schedule)
    plateau = lr_scheduler.ReduceLROnPlateau(optimizer, mode="max")
    with pytest.raises(ArgumentError, match="of what is more better\\?"):
        gl.Trainer(model, optimizer, nn.CrossEntropyLoss(), scheduler=plateau)
    with pytest.raises(ArgumentError, match="this schedule looks at numbers of an epoch"):
        gl.Trainer(model, optimizer, nn.CrossEntropyLoss(), scheduler=plateau, schedule_per="step")


def test_a_metric_that_is_no_number_is_refused():
    with pytest.raises(KeywordError, match=r"a metric gives one number\n  odd +one tensor of shape \(3,\)"):
        trainer_of(metrics={"odd": lambda o, y: gl.zeros(3)}).fit(loader())
    history = trainer_of(metrics={"one": lambda o, y: gl.ones(())}).fit(loader())
    assert history["one"] == [1.0]


def test_epochs_are_counted():
    for wrong in (0, 1.5, "3", None):
        with pytest.raises(DataError, match="fit: epochs counts"):
            trainer_of().fit(loader(), epochs=wrong)


def test_a_prediction_that_is_no_tensor_is_refused():
    class Pair(nn.Module):
        def forward(self, x):
            return x, x

    model = Pair()
    model.weight = nn.Parameter(gl.ones(1))
    with pytest.raises(KeywordError, match="predict: the model gave no tensor\n  output a tuple of 2"):
        trainer_of(model).predict(loader())


def test_a_batch_goes_where_the_model_is():
    gl.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3)).to("sim")
    trainer = trainer_of(model, clip_norm=1.0)
    gl.manual_seed(1)
    trainer.fit(loader(), loader(), epochs=2)
    gl.manual_seed(0)
    here = trainer_of(nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3)), clip_norm=1.0)
    gl.manual_seed(1)
    here.fit(loader(), loader(), epochs=2)
    assert all(p.device == "sim" for p in trainer.model.parameters())
    np.testing.assert_allclose(trainer.history["loss"], here.history["loss"], rtol=1e-6)
    np.testing.assert_allclose(trainer.history["val_accuracy"], here.history["val_accuracy"], rtol=1e-6)
    assert trainer.predict(loader()).device == "sim"


@pytest.mark.parametrize("options", [{"metrics": None}, {"metrics": None, "clip_norm": 1.0}, {}], ids=["plain", "clipped", "accuracy"])
def test_a_step_asks_a_device_for_the_loss_the_length_and_each_metric_once(options):
    model = nn.Linear(2, 3).to("sim")
    batches = [(x.to("sim"), y.to("sim")) for x, y in loader()]
    trainer = trainer_of(model, **options)
    with gl.sim.stats() as stats:
        trainer.fit(batches)
    assert stats.syncs == len(batches) * (2 + ("metrics" not in options))


def test_a_training_on_a_device_goes_on_to_the_last_bit(tmp_path):
    def made():
        return trainer_of(net().to("sim"), callbacks=gl.Checkpoint(tmp_path))

    whole, stopped = made(), made()
    gl.manual_seed(1)
    whole.fit(loader(shuffle=True, seed=1), epochs=2)
    gl.manual_seed(1)
    stopped.fit(loader(shuffle=True, seed=1), epochs=1)
    again = made()
    again.fit(loader(shuffle=True, seed=1), epochs=2, resume=tmp_path)
    for name, t in whole.model.state_dict().items():
        assert t.cpu().data.tobytes() == again.model.state_dict()[name].cpu().data.tobytes(), name
