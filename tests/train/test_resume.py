"""A training that was stopped goes on, in a new process as it were, to the last bit as if it had never stopped."""

from __future__ import annotations

import signal
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.data import DataLoader
from gradlab.errors import ArgumentError, StateError
from gradlab.optim import lr_scheduler

from .trainings import loader, net, points, trainer_of

EPOCHS = 3
BATCHES = 7  # of an epoch


def same(a: Any, b: Any, path: str = "") -> None:
    """Assert that two states are the same, bit by bit."""
    assert type(a) is type(b), path
    if isinstance(a, dict):
        assert list(a) == list(b), path
        for key in a:
            same(a[key], b[key], f"{path}.{key}")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), path
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{path}[{i}]")
    elif isinstance(a, (int, str, type(None))):
        assert a == b, path
    else:
        x, y = (np.asarray(one.data if isinstance(one, gl.Tensor) else one) for one in (a, b))
        assert x.dtype == y.dtype and x.tobytes() == y.tobytes(), f"{path}: {a} and {b}"


class Mixed(nn.Module):
    """float16 inside of float32, and float64 at the end."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.small = nn.Linear(2, 16), nn.BatchNorm1d(16), nn.Linear(16, 16).to(dtype="float16")
        self.drop, self.last = nn.Dropout(0.2), nn.Linear(16, 3).to(dtype="float64")

    def forward(self, x):
        x = self.norm(self.first(x)).relu()
        return self.last(self.drop(self.small(x.to(gl.float16)).relu()).to(gl.float64))


def mixed(seed: int = 0) -> nn.Module:
    gl.manual_seed(seed)
    return Mixed()


class Stop(gl.Callback):
    """Interrupts after so many steps."""

    def __init__(self, after: int | None) -> None:
        self.after = after

    def on_step_end(self, trainer):
        if trainer.step == self.after:
            signal.raise_signal(signal.SIGINT)  # is held until the step is over


def adam(model: nn.Module) -> gl.optim.Optimizer:
    return gl.optim.Adam(model.parameters(), lr=0.02)


def coarse(model: nn.Module) -> gl.optim.Optimizer:
    return gl.optim.Adam(model.parameters(), lr=0.005, eps=1e-3)  # 1e-8 is 0 in float16


def momentum(model: nn.Module) -> gl.optim.Optimizer:
    return gl.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)


def one_cycle(optimizer: gl.optim.Optimizer) -> Any:
    return lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=EPOCHS * BATCHES)


def plateau(optimizer: gl.optim.Optimizer) -> Any:
    return lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)


def cosine(optimizer: gl.optim.Optimizer) -> Any:
    return lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)


CASES: dict[str, dict[str, Any]] = {
    "Adam, a seed of its own": {},
    "float16, float32 and float64": {"model": mixed, "optimizer": coarse},
    "gradlab's random numbers": {"data": lambda: loader(shuffle=True), "validation": lambda: loader(shuffle=True)},
    "one generator for both loaders": {"shared": True},
    "threads": {"data": lambda: loader(shuffle=True, num_workers=2, seed=1)},
    "a list of batches": {"data": lambda: list(loader())},
    "momentum, one cycle per step": {"optimizer": momentum, "scheduler": one_cycle},
    "a plateau per epoch": {"scheduler": plateau},
    "cosine per epoch, clipped": {"scheduler": cosine, "options": {"clip_norm": 0.5}},
    "accumulated": {"options": {"accumulate": 3}},
    "no validation": {"validation": lambda: None},
}


def made(case: dict[str, Any], callbacks: list[gl.Callback]) -> Callable[..., Any]:
    """A trainer and its loaders as a script makes them; returns `fit`."""
    model = case.get("model", net)()
    optimizer = case.get("optimizer", adam)(model)
    scheduler = case["scheduler"](optimizer) if "scheduler" in case else None
    trainer = gl.Trainer(
        model,
        optimizer,
        nn.CrossEntropyLoss(),
        {"accuracy": gl.metrics.accuracy},
        scheduler,
        callbacks=callbacks,
        progress=False,
        **case.get("options", {}),
    )
    if "shared" in case:
        generator = gl.Generator().manual_seed(6)
        train, validation = (loader(shuffle=True, generator=generator) for _ in range(2))
    else:
        train = case.get("data", lambda: loader(shuffle=True, seed=1))()
        validation = case.get("validation", lambda: loader(shuffle=True, seed=2))()

    def fit(**options: Any) -> gl.Trainer:
        trainer.fit(train, validation, epochs=EPOCHS, **options)
        return trainer

    fit.trainer = trainer  # type: ignore[attr-defined]
    return fit


def callbacks(folder: Any, after: int | None = None) -> list[gl.Callback]:
    watched = gl.EarlyStopping("loss", patience=9, restore_best=True)
    return [watched, Stop(after), gl.Checkpoint(folder)]


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """By the id of a case how a training ends that was never stopped, and what it saved; trained when it is asked for first."""
    cases = {id(case): case for case in CASES.values()}

    class Wholes(dict[int, dict[str, Any]]):
        def __missing__(self, key: int) -> dict[str, Any]:
            folder = tmp_path_factory.mktemp("whole")
            gl.manual_seed(3)
            end = made(cases[key], callbacks(folder))().state_dict()
            self[key] = {"end": end, **{name: gl.load(folder / f"{name}.safetensors") for name in ("last", "best")}}
            return self[key]

    return Wholes()


@pytest.mark.parametrize("after", [1, 3, BATCHES - 1, BATCHES, 2 * BATCHES + 2], ids="stopped after step {}".format)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_stopped_training_goes_on_to_the_last_bit(case, after, tmp_path, wholes):
    if "accumulate" in case.get("options", {}):
        after = 1 + after // 3
    whole = wholes[id(case)]
    gl.manual_seed(3)
    stopped = made(case, callbacks(tmp_path / "stopped", after))
    with pytest.raises(KeyboardInterrupt, match=f"training stopped after step {after}, in epoch"):
        stopped()
    assert stopped.trainer.step == after
    gl.manual_seed(99)
    again = made(case, callbacks(tmp_path / "stopped"))(resume=tmp_path / "stopped")
    same(again.state_dict(), whole["end"])
    for name in ("last", "best"):
        same(gl.load(tmp_path / f"stopped/{name}.safetensors"), whole[name], name)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_goes_on_in_the_same_trainer_too(case, tmp_path):
    gl.manual_seed(3)
    whole = made(case, [Stop(None)])()
    gl.manual_seed(3)
    stopped = made(case, [Stop(4)])
    with pytest.raises(KeyboardInterrupt, match="resume=True"):
        stopped()
    gl.rand(7)
    same(stopped(resume=True).state_dict(), whole.state_dict())


class Broken(nn.Module):
    """The net, interrupted in its `at`-th call: in the forward pass, in the backward pass, in validation."""

    def __init__(self, at: int, where: str) -> None:
        super().__init__()
        self.inner = net()
        self.at, self.where, self.calls = at, where, 0

    def forward(self, x):
        self.calls += self.training == (self.where != "validation")
        y = self.inner(x)  # the statistics of the batch are in the running ones now, and dropout has drawn
        if self.calls == self.at:
            self.calls += 1
            if self.where == "backward":
                y.register_hook(lambda g: signal.raise_signal(signal.SIGINT))
            else:
                signal.raise_signal(signal.SIGINT)
        return y


@pytest.mark.parametrize("at", [1, 4, 9])
@pytest.mark.parametrize("where", ["forward", "backward", "validation"])
def test_a_step_that_is_broken_off_leaves_no_trace(where, at, tmp_path):
    def case(at: int) -> dict[str, Any]:
        return {"model": lambda: Broken(at, where), "data": lambda: loader(shuffle=True)}

    gl.manual_seed(3)
    whole = made(case(-1), callbacks(tmp_path / "whole"))()
    gl.manual_seed(3)
    stopped = made(case(at), callbacks(tmp_path / "stopped"))
    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert all(p.grad is None for p in stopped.trainer.model.parameters())
    assert {len(column) for column in stopped.trainer.history.values()} <= {stopped.trainer.epoch}
    same(stopped(resume=True).state_dict(), whole.state_dict())


def test_an_interrupt_waits_until_the_update_is_whole():
    class Torn(gl.optim.SGD):
        def step(self, closure=None):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)  # pressed again, in impatience
            return super().step(closure)

    model, twin = net(), net()
    trainer = gl.Trainer(model, Torn(model.parameters(), lr=0.1), nn.CrossEntropyLoss(), progress=False)
    gl.manual_seed(2)
    with pytest.raises(KeyboardInterrupt, match="stopped after step 1, in epoch 1 of 2"):
        trainer.fit(loader(), epochs=2)
    optimizer = gl.optim.SGD(twin.parameters(), lr=0.1)
    gl.manual_seed(2)
    x, y = next(iter(loader()))
    nn.functional.cross_entropy(twin(x), y).backward()
    optimizer.step()
    same(model.state_dict(), twin.state_dict())


def test_what_handled_interrupts_before_does_so_afterwards():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        trainer_of(callbacks=Stop(2)).fit(loader())
    assert signal.getsignal(signal.SIGINT) is before


def test_early_stopping_waits_as_long_after_a_stop(tmp_path):
    def fit(after: int | None, **options: Any) -> gl.Trainer:
        watched = gl.EarlyStopping("val_loss", patience=2, min_delta=0.05)
        trainer = trainer_of(lr=0.1, callbacks=[watched, Stop(after), gl.Checkpoint(tmp_path)])
        trainer.fit(loader(shuffle=True, seed=1), loader(), epochs=40, **options)
        return trainer

    whole = fit(None)
    assert whole.epoch < 40 and whole.stopping.startswith("val_loss has not become better since epoch ")
    with pytest.raises(KeyboardInterrupt):
        fit((whole.epoch - 1) * BATCHES + 2)  # while it waits
    again = fit(None, resume=tmp_path)
    same(again.state_dict(), whole.state_dict())
    over = fit(None, resume=tmp_path)
    assert over.epoch == whole.epoch, "a training that was over does not go on"


def test_a_killed_training_goes_on_from_its_last_save(tmp_path):
    whole = trainer_of(callbacks=gl.Checkpoint(tmp_path / "whole"))
    gl.manual_seed(1)
    whole.fit(loader(shuffle=True, seed=1), epochs=2)
    killed = trainer_of(callbacks=gl.Checkpoint(tmp_path / "killed", every=3))
    gl.manual_seed(1)
    killed.fit(loader(shuffle=True, seed=1), epochs=1)  # its files are those of a process that is gone
    saved = gl.load(tmp_path / "killed/last.safetensors")
    assert saved["step"] == BATCHES
    again = trainer_of(callbacks=gl.Checkpoint(tmp_path / "killed", every=3))
    again.fit(loader(shuffle=True, seed=1), epochs=2, resume=tmp_path / "killed")
    same(again.state_dict(), whole.state_dict())


def test_what_belongs_to_another_training_is_refused(tmp_path):
    trainer = trainer_of(callbacks=gl.Checkpoint(tmp_path))
    trainer.fit(loader(), epochs=1)
    before = trainer.state_dict()
    for options, text in (
        ({}, "other callbacks\n  saved with Checkpoint\n  this has   none"),
        ({"callbacks": [gl.Checkpoint(tmp_path), Stop(None)]}, "this has   Checkpoint, Stop"),
        ({"model": nn.Linear(2, 3), "callbacks": gl.Checkpoint(tmp_path)}, "Linear"),
    ):
        other = trainer_of(**options)
        with pytest.raises(StateError, match=text):
            other.fit(loader(), epochs=2, resume=tmp_path)
    scheduled = made({"scheduler": cosine}, [gl.Checkpoint(tmp_path)])
    with pytest.raises(StateError, match="a schedule is missing"):
        scheduled(resume=tmp_path)
    with pytest.raises(StateError, match="another loader saved this\n  batch_size 8"):
        trainer_of(callbacks=gl.Checkpoint(tmp_path)).fit(DataLoader(points(), 10), epochs=2, resume=tmp_path)
    with pytest.raises(StateError, match="no saved training\n  state_dict a dict of 'model'\n  missing    optimizer"):
        trainer.load_state_dict({"model": {}})
    with pytest.raises(gl.MissingFileError, match="no such file"):
        trainer.fit(loader(), epochs=2, resume=tmp_path / "nowhere")
    same(trainer.state_dict(), before)


def test_a_list_of_batches_that_is_shorter_than_it_was_is_refused(tmp_path):
    batches = list(loader())
    with pytest.raises(KeyboardInterrupt):
        trainer_of(callbacks=[Stop(5), gl.Checkpoint(tmp_path)]).fit(batches, epochs=2)
    again = trainer_of(callbacks=[Stop(None), gl.Checkpoint(tmp_path)])
    with pytest.raises(StateError, match=r"this loader is shorter .*\n  batches used +5\n  batches that came 3"):
        again.fit(batches[:3], epochs=2, resume=tmp_path)


@pytest.mark.parametrize("event", ["on_step_end", "on_epoch_end"])
@pytest.mark.parametrize("first", [True, False], ids=["drawn, then interrupted", "interrupted, then drawn"])
def test_what_callbacks_draw_is_not_drawn_again(event, first, tmp_path):
    class Samples(gl.Callback):
        """Draws at random, as one does who looks at samples of a model; interrupted after 4 updates or later."""

        def __init__(self, stop: bool) -> None:
            self.stop = stop

        def draw(self, trainer, *row):
            gl.rand(3) if first else None
            if self.stop and trainer.step >= 4:
                self.stop = False
                signal.raise_signal(signal.SIGINT)
            gl.rand(3) if not first else None

    setattr(Samples, event, Samples.draw)

    def fit(stop: bool, folder: Any, **options: Any) -> gl.Trainer:
        trainer = trainer_of(callbacks=[Samples(stop), gl.Checkpoint(folder)])
        trainer.fit(loader(shuffle=True), epochs=3, **options)
        return trainer

    gl.manual_seed(4)
    whole = fit(False, tmp_path / "whole")
    gl.manual_seed(4)
    with pytest.raises(KeyboardInterrupt):
        fit(True, tmp_path / "stopped")
    same(fit(False, tmp_path / "stopped", resume=tmp_path / "stopped").state_dict(), whole.state_dict())


def test_a_schedule_that_is_used_up_leaves_the_step_whole():
    trainer = made({"scheduler": lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.05, total_steps=3)}, [])
    statistics: list[Any] = []

    def look(module: Any, inputs: Any, output: Any) -> None:
        statistics.append(trainer.trainer.model[1].running_mean.data.copy())

    trainer.trainer.model[1].register_forward_hook(look)
    with pytest.raises(ArgumentError):
        trainer()
    same(trainer.trainer.model[1].running_mean.data, statistics[trainer.trainer.step - 1])


def test_a_state_that_is_refused_changes_nothing():
    trainer = trainer_of()
    trainer.fit(loader(), epochs=1)
    model = net(1)
    other = gl.Trainer(model, gl.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), nn.CrossEntropyLoss(), progress=False)
    other.fit(loader(), epochs=1)
    before = deepcopy(other.state_dict())
    with pytest.raises(ArgumentError):
        other.load_state_dict(trainer.state_dict())
    same(other.state_dict(), before)


def test_an_error_when_training_is_over_takes_nothing_back(tmp_path):
    class Odd(gl.Callback):
        def on_fit_end(self, trainer):
            raise RuntimeError("odd")

    stopping = gl.EarlyStopping("loss", patience=2, mode="max", restore_best=True)  # the first epoch is the best
    trainer = trainer_of(lr=0.1, callbacks=[stopping, Odd(), gl.Checkpoint(tmp_path)])
    with pytest.raises(RuntimeError, match="odd"):
        trainer.fit(loader(), epochs=5)
    weights = stopping.state_dict()["weights"]
    same({name: t.data for name, t in trainer.model.state_dict().items()}, {name: t.data for name, t in weights.items()})
    saved = gl.load(tmp_path / "last.safetensors")["model"]
    assert not np.array_equal(saved["0.weight"].data, weights["0.weight"].data), "the last was the best"


@pytest.mark.parametrize("event", ["on_step_end", "on_epoch_end"])
def test_a_callback_may_measure_what_validation_measures(event, tmp_path):
    def fit(after: int | None, folder: Any, **options: Any) -> gl.Trainer:
        validation = loader(shuffle=True, seed=2)  # its order moves on each time it is used

        class Looks(gl.Callback):
            def look(self, trainer, *row):
                trainer.evaluate(validation)

        setattr(Looks, event, Looks.look)
        trainer = trainer_of(callbacks=[Looks(), Stop(after), gl.Checkpoint(folder)])
        trainer.fit(loader(shuffle=True, seed=1), validation, epochs=3, **options)
        return trainer

    gl.manual_seed(1)
    whole = fit(None, tmp_path / "whole")
    gl.manual_seed(1)
    with pytest.raises(KeyboardInterrupt):
        fit(BATCHES + 3, tmp_path / "stopped")
    same(fit(None, tmp_path / "stopped", resume=tmp_path / "stopped").state_dict(), whole.state_dict())
