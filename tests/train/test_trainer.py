"""Trainer: what a training does and measures."""

from __future__ import annotations

import numpy as np

import gradlab as gl
from gradlab import nn

from .trainings import loader, net, points, trainer_of


def test_a_training_learns_and_its_history_is_a_dict_of_lists():
    trainer = trainer_of()
    history = trainer.fit(loader(shuffle=True, seed=0), loader(), epochs=30)
    assert list(history) == ["epoch", "loss", "accuracy", "val_loss", "val_accuracy", "lr"]
    assert isinstance(history, dict) and all(type(column) is list and len(column) == 30 for column in history.values())
    assert history["epoch"] == list(range(1, 31))
    assert history["val_accuracy"][-1] > 0.9 > history["val_accuracy"][0]
    assert history is trainer.history
    assert (trainer.epoch, trainer.step) == (30, 30 * 7)


def test_a_second_fit_goes_on_where_the_first_ended():
    trainer, whole = trainer_of(), trainer_of()
    data = loader(shuffle=True, seed=0)
    gl.manual_seed(5)
    trainer.fit(data, epochs=2)
    trainer.fit(data, epochs=1)
    gl.manual_seed(5)
    whole.fit(loader(shuffle=True, seed=0), epochs=3)
    assert trainer.history == whole.history
    assert trainer.history["epoch"] == [1, 2, 3]


def test_it_does_what_the_loop_that_people_write_does():
    trainer = trainer_of()
    gl.manual_seed(1)
    trainer.fit(loader(), epochs=2)
    model = net()
    optimizer = gl.optim.Adam(model.parameters(), lr=0.01)
    gl.manual_seed(1)
    for _ in range(2):
        for x, y in loader():
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    for name, t in model.state_dict().items():
        np.testing.assert_array_equal(trainer.model.state_dict()[name].data, t.data, err_msg=name)


def test_means_count_each_sample_once_also_in_a_shorter_last_batch():
    trainer = trainer_of(net(dropout=0.0))
    x, y = points()
    trainer.model.eval()
    loss = nn.functional.cross_entropy(trainer.model(x), y).item()
    share = float((trainer.model(x).data.argmax(1) == y.data).mean())
    measured = trainer.evaluate(loader())
    assert abs(measured["loss"] - loss) < 1e-6
    assert abs(measured["accuracy"] - share) < 1e-12


def test_predictions_are_those_of_all_batches_in_evaluation_mode():
    trainer = trainer_of()
    x, _ = points()
    trainer.model.eval()
    wanted = trainer.model(x).data
    trainer.model.train()
    np.testing.assert_allclose(trainer.predict(loader()).data, wanted, rtol=1e-6)
    np.testing.assert_allclose(trainer.predict([x[:30], x[30:]]).data, wanted, rtol=1e-6)
    np.testing.assert_allclose(trainer.predict(x).data, wanted, rtol=1e-6)
    assert trainer.model.training


def test_accumulated_batches_make_the_update_of_one_large_batch_also_in_the_short_last_group():
    def plain() -> nn.Module:
        gl.manual_seed(0)
        return nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 3))

    small = trainer_of(plain(), accumulate=4)
    large = trainer_of(plain())
    small.fit(loader(batch_size=8), epochs=2)
    large.fit(loader(batch_size=32), epochs=2)  # 50 points: groups of 32 and 18 samples
    assert small.step == large.step == 4
    for a, b in zip(small.model.parameters(), large.model.parameters(), strict=True):
        np.testing.assert_allclose(a.data, b.data, atol=2e-6)


def test_gradients_are_cut_to_the_length_given():
    lengths = []

    class Look(gl.Callback):
        def on_step_end(self, trainer):
            lengths.append(gl.nn.utils.get_total_norm([p.grad for p in trainer.model.parameters()]).item())

    trainer_of(clip_norm=0.01, callbacks=[Look()]).fit(loader(), epochs=1)
    assert max(lengths) <= 0.01 * (1 + 1e-5)
