"""Schedules: when a rate holds, what is refused, and going on from a saved state; tests/reference has their numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.errors import ArgumentError, KeywordError, StateError
from gradlab.optim import lr_scheduler as s
from tests.reference.schedules import SCHEDULES, optimizer_of


def sgd(lr=1.0, **options):
    return optim.SGD([nn.Parameter([0.0])], lr=lr, **options)


def test_the_first_rate_is_used_by_the_first_step():
    p = nn.Parameter([0.0])
    optimizer = optim.SGD([p], lr=1.0)
    schedule, path = s.StepLR(optimizer, 1, gamma=0.5), []
    for _ in range(4):
        p.grad = [1.0]
        optimizer.step()
        schedule.step()
        path.append(p.item())
    assert path == [-1.0, -1.5, -1.75, -1.875] and schedule.last_epoch == 4 and schedule.get_last_lr() == [0.0625]


@pytest.mark.parametrize("key", [key for key in SCHEDULES if not key.startswith("Reduce")])
def test_a_schedule_that_steps_first_warns_once_and_in_the_right_order_never(key):
    optimizer = optimizer_of(gl)
    schedule = SCHEDULES[key](s, optimizer)
    with pytest.warns(UserWarning, match=r"came before the first optimizer\.step") as found:
        schedule.step()
    schedule.step()
    assert len(found) == 1 and found[0].filename == __file__
    optimizer = optimizer_of(gl)
    schedule = SCHEDULES[key](s, optimizer)
    optimizer.step()
    schedule.step()


def test_an_optimizer_knows_whether_it_stepped_and_a_step_that_raises_is_none():
    class Breaking(optim.SGD):
        def step(self):
            raise ZeroDivisionError

    optimizer = sgd()
    assert not optimizer.has_stepped
    optimizer.step()
    assert optimizer.has_stepped
    breaking = Breaking([nn.Parameter([0.0])])
    with pytest.raises(ZeroDivisionError):
        breaking.step()
    assert not breaking.has_stepped


def test_groups_keep_their_ratio_and_a_rate_set_by_hand_stays_in_proportion():
    optimizer = optim.SGD([{"params": [nn.Parameter([0.0])]}, {"params": [nn.Parameter([0.0])], "lr": 0.01}], lr=1.0)
    schedule = s.ExponentialLR(optimizer, 0.5)
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [0.5, 0.005] and schedule.base_lrs == [1.0, 0.01]
    optimizer.param_groups[0]["lr"] = 8.0
    schedule.step()
    assert [g["lr"] for g in optimizer.param_groups] == [4.0, 0.0025]


def test_two_schedules_of_one_optimizer_multiply():
    optimizer = sgd()
    a, b = s.StepLR(optimizer, 2, 0.1), s.ExponentialLR(optimizer, 0.5)
    for want in (0.5, 0.025, 0.0125):
        optimizer.step()
        a.step()
        b.step()
        assert optimizer.param_groups[0]["lr"] == pytest.approx(want)


@pytest.mark.parametrize("key", SCHEDULES)
@pytest.mark.parametrize("through", [lambda state: state, lambda state: json.loads(json.dumps(state))], ids=["memory", "json"])
def test_a_loaded_schedule_goes_on_bit_for_bit(key, through):
    def some(optimizer, schedule, epochs):
        for epoch in epochs:
            optimizer.step()
            schedule.step(*([1.0 + 1 / (1 + epoch % 9)] if key.startswith("Reduce") else []))

    optimizer = optimizer_of(gl)
    schedule = SCHEDULES[key](s, optimizer)
    some(optimizer, schedule, range(33))
    states = through(schedule.state_dict()), through(optimizer.state_dict())
    other = optimizer_of(gl)
    resumed = SCHEDULES[key](s, other)
    resumed.load_state_dict(states[0])
    other.load_state_dict(states[1])
    for optimizer_, schedule_ in ((optimizer, schedule), (other, resumed)):
        some(optimizer_, schedule_, range(33, 90))
    assert resumed.get_last_lr() == schedule.get_last_lr() and resumed.last_epoch == schedule.last_epoch == 90
    assert other.param_groups[0]["momentum"] == optimizer.param_groups[0]["momentum"]


def test_a_saved_state_is_a_copy_and_functions_that_are_objects_are_saved_by_their_attributes():
    class Decay:
        def __init__(self, by):
            self.by = by

        def __call__(self, epoch):
            return self.by**epoch

    schedule = s.LambdaLR(sgd(), Decay(0.5))
    state = schedule.state_dict()
    assert state["lr_lambdas"] == [{"by": 0.5}] and s.LambdaLR(sgd(), lambda e: 1.0).state_dict()["lr_lambdas"] == [None]
    other = s.LambdaLR(sgd(), Decay(0.1))
    other.load_state_dict(state)
    assert other.lr_lambdas[0].by == 0.5
    state["base_lrs"][0] = 9.0
    assert schedule.base_lrs == other.base_lrs == [1.0]


def test_a_state_of_another_schedule_or_of_other_groups_is_refused_and_nothing_is_changed():
    schedule = s.StepLR(sgd(), 3)
    before = schedule.state_dict()
    for state, error, text in [
        (s.ExponentialLR(sgd(), 0.5).state_dict(), StateError, r"(?s)another schedule saved this.*missing +step_size"),
        ({**before, "more": 1}, StateError, r"unexpected +more"),
        ({**before, "base_lrs": [1.0, 2.0]}, StateError, r"(?s)saved for other groups.*base_lrs 2, not 1"),
        ([1], KeywordError, "a state is a dict"),
    ]:
        with pytest.raises(error, match=text):
            schedule.load_state_dict(state)
        assert schedule.state_dict() == before
    both = s.SequentialLR(schedule.optimizer, [schedule, s.ExponentialLR(schedule.optimizer, 0.5)], [3])
    before = both.state_dict()
    with pytest.raises(ArgumentError, match="other schedules came"):
        both.load_state_dict({**before, "_schedulers": before["_schedulers"][:1]})
    with pytest.raises(StateError, match="another schedule saved this"):
        both.load_state_dict({**before, "last_epoch": 7, "_schedulers": before["_schedulers"][::-1]})
    assert both.state_dict() == before


@pytest.mark.parametrize("make", [
    lambda o, e: s.StepLR(o, 7, 0.7, last_epoch=e), lambda o, e: s.ExponentialLR(o, 0.9, last_epoch=e),
    lambda o, e: s.LinearLR(o, last_epoch=e),
    lambda o, e: s.CosineAnnealingLR(o, 10, 0.001, last_epoch=e), lambda o, e: s.LambdaLR(o, lambda t: 0.5**t, last_epoch=e),
    lambda o, e: s.CyclicLR(o, 1.0, 3.0, 4, cycle_momentum=False, last_epoch=e), lambda o, e: s.OneCycleLR(o, 25.0, 30, last_epoch=e),
    lambda o, e: s.CosineAnnealingWarmRestarts(o, 3, 2, last_epoch=e),
    lambda o, e: s.SequentialLR(o, [s.ConstantLR(o), s.ExponentialLR(o, 0.9)], [6], last_epoch=e),
], ids=["step", "exponential", "linear", "cosine", "lambda", "cyclic", "one", "restarts", "sequential"])  # fmt: skip
def test_with_last_epoch_a_schedule_goes_on_from_the_first_rates(make):
    optimizer = sgd(momentum=0.5)
    schedule = make(optimizer, -1)
    for _ in range(9):
        optimizer.step()
        schedule.step()
    again = sgd(momentum=0.5)
    again.param_groups[0]["initial_lr"] = optimizer.param_groups[0]["initial_lr"]
    resumed = make(again, 8)
    assert resumed.last_epoch == 9 and resumed.get_last_lr() == pytest.approx(schedule.get_last_lr())


def test_without_first_rates_there_is_nothing_to_go_on_with():
    optimizer = sgd()
    with pytest.raises(ArgumentError, match=r"(?s)no schedule to go on with.*initial_lr"):
        s.StepLR(optimizer, 3, last_epoch=8)
    assert "initial_lr" not in optimizer.param_groups[0]


def test_a_step_to_an_epoch_sets_its_rate_from_anywhere():
    optimizer = sgd()
    schedule = s.CosineAnnealingLR(optimizer, 4)
    optimizer.step()
    schedule.step(2)
    assert schedule.get_last_lr() == pytest.approx([0.5]) and schedule.last_epoch == 2
    waves = s.CosineAnnealingWarmRestarts(optimizer, 2, 3)
    waves.step(3.5)
    assert waves.get_last_lr() == pytest.approx([0.5 * (1 + np.cos(np.pi * 1.5 / 6))]) and (waves.T_cur, waves.T_i) == (1.5, 6)
    waves.step()
    assert waves.T_cur == 2.5 and waves.last_epoch == 4
    for epoch in (-1, 0.5, "a", gl.tensor(0.25), True):
        with pytest.raises(KeywordError, match="this is no epoch"):
            schedule.step(epoch)
    with pytest.raises(KeywordError, match="this is no epoch"):
        waves.step(float("nan"))
    assert schedule.last_epoch == 2 and waves.last_epoch == 4


def test_a_one_cycle_that_is_over_says_so_and_stays():
    optimizer = sgd(momentum=0.9)
    schedule = s.OneCycleLR(optimizer, 1.0, total_steps=3)
    optimizer.step()
    for _ in range(3):
        schedule.step()
    last = schedule.get_last_lr()
    with pytest.raises(ArgumentError, match=r"(?s)the training is over.*total_steps 3"):
        schedule.step()
    assert schedule.last_epoch == 3 and schedule.get_last_lr() == last == pytest.approx([0.04 / 1e4])
    peak_at_once = s.OneCycleLR(sgd(momentum=0.9), 1.0, total_steps=10, pct_start=0.1)  # a way up of no length
    assert peak_at_once.get_last_lr() == [1.0]


def test_a_warm_up_of_no_length_is_over_at_once():
    assert s.LinearLR(sgd(), total_iters=0).get_last_lr() == [1.0] and s.ConstantLR(sgd(), total_iters=0).get_last_lr() == [1.0]


def test_a_constant_of_nothing_comes_to_the_first_rate():
    optimizer = sgd()
    schedule = s.ConstantLR(optimizer, factor=0.0, total_iters=1)
    assert schedule.get_last_lr() == [0.0]
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [1.0]


def test_a_plateau_counts_nan_as_no_better_and_takes_a_tensor():
    optimizer = sgd()
    schedule = s.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    optimizer.step()
    for loss in (gl.tensor(2.0), np.float32(1.0), float("nan"), float("nan")):
        schedule.step(loss)
    assert schedule.get_last_lr() == [0.5] and schedule.best == 1.0 and schedule.last_epoch == 4
    for wrong in (None, "1.0", gl.ones(2)):
        with pytest.raises(KeywordError, match="this is no loss"):
            schedule.step(wrong)
    assert schedule.last_epoch == 4
    optimizer.add_param_group({"params": [nn.Parameter([1.0])]})
    schedule.step(3.0)
    schedule.step(3.0)
    assert schedule.get_last_lr() == [0.25, 0.5]


def test_rates_that_a_function_gives_are_numbers_and_not_negative():
    for f, error, text in [
        (lambda epoch: None, TypeError, "unsupported operand"), (lambda epoch: np.ones(2), KeywordError, "rate 0 is no number"),
        (lambda epoch: -1.0, ArgumentError, "rates can't be negative"),
        (lambda epoch: float("nan"), ArgumentError, "rates can't be negative"),
    ]:  # fmt: skip
        optimizer = sgd()
        schedule = s.LambdaLR(optimizer, lambda epoch, f=f: f(epoch) if epoch else 1.0)
        optimizer.step()
        with pytest.raises(error, match=text):
            schedule.step()
        assert (schedule.last_epoch, optimizer.param_groups[0]["lr"]) == (0, 1.0)
    schedule = s.LambdaLR(sgd(), lambda epoch: np.float64(0.5))
    assert type(schedule.optimizer.param_groups[0]["lr"]) is float


def test_a_group_that_comes_later_asks_for_a_new_schedule():
    optimizer = sgd()
    schedule = s.LambdaLR(optimizer, lambda epoch: 1.0)
    optimizer.add_param_group({"params": [nn.Parameter([1.0])]})
    optimizer.step()
    with pytest.raises(ValueError, match="groups"):
        schedule.step()
    assert schedule.last_epoch == 0


def test_a_nested_sequence_begins_where_its_turn_comes():
    optimizer = sgd()
    inner = s.SequentialLR(optimizer, [s.ConstantLR(optimizer, 0.5, 2), s.ExponentialLR(optimizer, 0.1)], [2])
    outer = s.SequentialLR(optimizer, [s.ConstantLR(optimizer, 0.25, 9), inner], [2])
    found = []
    for _ in range(6):
        found += outer.get_last_lr()
        optimizer.step()
        outer.step()
    assert found == pytest.approx([0.25, 0.25, 0.5, 0.5, 1.0, 0.1])


P = nn.Parameter([0.0])
ADAGRAD = optim.Adagrad([P])
WRONG = [
    (lambda o: s.StepLR("adam", 3), KeywordError, r"StepLR: sets the rates of an optimizer\n  optimizer str"),
    (lambda o: s.StepLR(optim.Optimizer([P], {}), 3), ArgumentError, "Optimizer has no learning rate"),
    (lambda o: s.LRScheduler(o), NotImplementedError, "must define get_lr"),
    (lambda o: s.StepLR(o, 0), ArgumentError, r"step_size counts epochs\n  step_size 0\n  need: +1 or more"),
    (lambda o: s.StepLR(o, 2.5), KeywordError, "step_size: this is no whole number"),
    (lambda o: s.StepLR(o, 2, gamma="a"), KeywordError, "StepLR: gamma is no number"),
    (lambda o: s.ExponentialLR(o, -1), ArgumentError, "gamma can't be negative"),
    (lambda o: s.ExponentialLR(o, float("nan")), ArgumentError, "gamma can't be negative"),
    (lambda o: s.ExponentialLR(o, 0.5, last_epoch="a"), KeywordError, "last_epoch: this is no whole number"),
    (lambda o: s.MultiStepLR(o, 3), KeywordError, "MultiStepLR: milestones are epochs"),
    (lambda o: s.MultiStepLR(o, [1.5]), KeywordError, "milestones: this is no whole number"),
    (lambda o: s.ConstantLR(o, 2.0), ArgumentError, r"factor is a part of the rate\n  factor 2.0\n  need:  0 to 1"),
    (lambda o: s.LinearLR(o, 0.0), ArgumentError, "the first rate can't be 0"),
    (lambda o: s.LinearLR(o, 0.5, 1.5), ArgumentError, "end_factor is a part of the rate"),
    (lambda o: s.LinearLR(o, total_iters=-1), ArgumentError, "total_iters counts epochs"),
    (lambda o: s.PolynomialLR(o, 0), ArgumentError, "total_iters counts epochs"),
    (lambda o: s.CosineAnnealingLR(o, 0), ArgumentError, "half a wave takes time"),
    (lambda o: s.CosineAnnealingLR(o, 3, eta_min="a"), KeywordError, "eta_min is no number"),
    (lambda o: s.CosineAnnealingWarmRestarts(o, 0), ArgumentError, "T_0 counts epochs"),
    (lambda o: s.CosineAnnealingWarmRestarts(o, 1, 1.5), KeywordError, "T_mult: this is no whole number"),
    (lambda o: s.LambdaLR(o, 0.5), KeywordError, "lr_lambda is called with the epoch"),
    (lambda o: s.MultiplicativeLR(o, [abs, abs]), ArgumentError, r"one lr_lambda a group\n  lr_lambda 2\n  groups +1"),
    (lambda o: s.OneCycleLR(o, 0.1), ArgumentError, "how long is the training"),
    (lambda o: s.OneCycleLR(o, 0.1, epochs=3), ArgumentError, "how long is the training"),
    (lambda o: s.OneCycleLR(o, 0.1, 0), ArgumentError, "total_steps counts epochs"),
    (lambda o: s.OneCycleLR(o, 0.1, 9, pct_start=1.5), ArgumentError, "pct_start is a part"),
    (lambda o: s.OneCycleLR(o, 0.1, 9, anneal_strategy="sin"), ArgumentError, r"which anneal_strategy\?"),
    (lambda o: s.OneCycleLR(o, 0.1, 9, div_factor=0), ArgumentError, "rates are divided by these"),
    (lambda o: s.OneCycleLR(o, [0.1, 0.2], 9), ArgumentError, "one max_lr a group"),
    (lambda o: s.OneCycleLR(o, "a", 9), KeywordError, "max_lr.* is no number"),
    (lambda o: s.OneCycleLR(ADAGRAD, 0.1, 9), ArgumentError, "(?s)no momentum to go along.*try: +cycle_momentum=False"),
    (lambda o: s.CyclicLR(o, 0.1, 0.2, mode="square"), ArgumentError, r"which mode\?"),
    (lambda o: s.CyclicLR(o, 0.1, 0.2, scale_fn=3), KeywordError, "scale_fn is called with a number"),
    (lambda o: s.CyclicLR(o, 0.1, 0.2, 0), ArgumentError, "step_size_up counts epochs"),
    (lambda o: s.SequentialLR(o, [], []), ArgumentError, "of which schedules"),
    (lambda o: s.SequentialLR(o, [s.StepLR(o, 1), s.StepLR(o, 1)], []), ArgumentError, "every schedule but the first begins at a mile"),
    (lambda o: s.SequentialLR(o, [s.StepLR(sgd(), 1)], []), ArgumentError, "the schedules are of several optimizers"),
    (lambda o: s.ChainedScheduler([s.ReduceLROnPlateau(o)]), ArgumentError, "ReduceLROnPlateau needs a loss"),
    (lambda o: s.ChainedScheduler([3]), KeywordError, "is made of schedules"),
    (lambda o: s.ReduceLROnPlateau(o, "least"), ArgumentError, r"which mode\?"),
    (lambda o: s.ReduceLROnPlateau(o, factor=1.0), ArgumentError, "factor makes rates smaller"),
    (lambda o: s.ReduceLROnPlateau(o, patience=-1), ArgumentError, "patience counts epochs"),
    (lambda o: s.ReduceLROnPlateau(o, min_lr=[1, 2]), ArgumentError, "one min_lr a group"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "error", "text"), WRONG, ids=[text for _, _, text in WRONG])
def test_what_makes_no_sense_is_refused_and_the_optimizer_stays_as_it_was(make, error, text):
    optimizer = sgd(momentum=0.9)
    before = optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["momentum"]
    with pytest.raises(error, match=text):
        make(optimizer)
    assert (optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["momentum"]) == before
