"""R21: one batch learned by heart, and what can't."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.errors import ArgumentError
from gradlab.nn import functional as F
from gradlab.trace import overfit, recording

from .plants import Dropping
from .training import CNN, Attention, Reader, curve, digits, mlp, sgd

MODELS: dict[str, Callable[[], nn.Module]] = {
    "mlp": lambda: mlp(64, 64, 10),
    "cnn": lambda: CNN(8),
    "lstm": lambda: Reader(24),
    "attention": lambda: Attention(16, 2),
    "dropout": lambda: Dropping(0.2),
}


def batch(n: int = 16) -> tuple[gl.Tensor, gl.Tensor]:
    x, y = digits()
    return gl.tensor(x[:n]), gl.tensor(y[:n])


@pytest.fixture(autouse=True)
def seed() -> None:
    gl.manual_seed(2)


@pytest.mark.parametrize("name", MODELS)
def test_sound_networks_learn_a_batch_by_heart(name: str) -> None:
    assert overfit(MODELS[name](), batch(), F.cross_entropy) is None


def test_a_curve_is_learned_by_heart_too() -> None:
    assert overfit(mlp(2, 64, 64, 1, bend=nn.Tanh), curve(16), F.mse_loss) is None


def alike() -> tuple[nn.Module, tuple[gl.Tensor, gl.Tensor]]:
    x, y = batch()
    return mlp(64, 32, 10), (gl.tensor(np.broadcast_to(x.data[:1], x.shape).copy()), y)


def dead() -> tuple[nn.Module, tuple[gl.Tensor, gl.Tensor]]:
    model = CNN(4)
    model.b2.data[:] = -50.0
    return model, batch()


class Cut(nn.Module):
    """Attention whose scores are rounded, so that no gradient comes back."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = Attention(16, 2)

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        return self.inside(x).round()


@pytest.mark.parametrize("made", [alike, dead, lambda: (Cut(), batch())], ids=["inputs alike", "dead channels", "gradient cut"])
def test_what_can_not_be_learned_is_an_error_with_its_numbers(made: Callable[[], tuple[nn.Module, tuple[gl.Tensor, gl.Tensor]]]) -> None:
    model, data = made()
    finding = overfit(model, data, F.cross_entropy, steps=200)
    assert finding is not None
    assert (finding.rule, finding.severity) == ("R21", "error")
    assert finding.trend is not None
    assert finding.numbers[0].value == finding.trend.values[-1]
    assert finding.numbers[0].value > 0.05 * np.log(10)
    assert finding.learn
    assert finding.code


def test_a_learning_rate_far_off_is_found_with_the_optimizer_that_is_given() -> None:
    assert overfit(mlp(64, 32, 10), batch(), F.cross_entropy, optimizer=sgd(1e-7)) is not None
    assert overfit(mlp(64, 32, 10), batch(), F.cross_entropy, optimizer=sgd(0.2)) is None


def test_everything_is_put_back_and_nothing_is_recorded() -> None:
    model = Dropping()
    x, y = batch()
    F.cross_entropy(model(x), y).backward()
    values = [p.data.copy() for p in model.parameters()]
    grads = [p.grad.data.copy() for p in model.parameters()]
    before = gl.get_rng_state()
    with recording(dict) as recorder:
        overfit(model, (x, y), F.cross_entropy, steps=30)
        assert recorder.step == 0
        assert recorder.structure()["ops"] == []
    for p, value, grad in zip(model.parameters(), values, grads, strict=True):
        np.testing.assert_array_equal(p.data, value)
        np.testing.assert_array_equal(p.grad.data, grad)
    assert repr(gl.get_rng_state()) == repr(before)
    assert model.training


def test_it_is_put_back_where_the_loss_raises() -> None:
    model = mlp(64, 8, 10)
    values = [p.data.copy() for p in model.parameters()]
    calls = []

    def loss_of(scores: gl.Tensor, y: gl.Tensor) -> gl.Tensor:
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("enough")
        return F.cross_entropy(scores, y)

    with pytest.raises(RuntimeError, match="enough"):
        overfit(model, batch(), loss_of)
    for p, value in zip(model.parameters(), values, strict=True):
        np.testing.assert_array_equal(p.data, value)


def test_what_is_no_batch_gets_a_clear_answer() -> None:
    with pytest.raises(ArgumentError, match="a batch is two things"):
        overfit(mlp(4, 2), (gl.ones(2, 4),), F.mse_loss)
    with pytest.raises(ArgumentError, match="nothing to train"):
        overfit(nn.ReLU(), (gl.ones(2, 4), gl.ones(2, 4)), F.mse_loss)


def test_it_has_a_short_name() -> None:
    assert gl.overfit is overfit
