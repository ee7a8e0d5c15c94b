"""Trainer: the loop around a model, which can be stopped anywhere and goes on bit by bit."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from .. import observe
from .._tensor import Tensor
from ..backend import get_rng_state, set_rng_state, xp_of
from ..data.given import count_of
from ..errors import AnomalyError, ArgumentError, KeywordError, ShapeError, StateError, explain
from ..files import load, save
from ..grad_mode import no_grad
from ..nn.module import Module
from ..nn.utils import clip_grad_norm_
from ..ops import cat
from ..ops.argument import need_number
from ..optim import Optimizer
from ..optim.lr_scheduler import CyclicLR, LRScheduler, OneCycleLR, ReduceLROnPlateau
from .batch import Batch, Unpack, batch_of, described, inputs_of
from .callback import Callback
from .checkpoint import LAST, Checkpoint
from .fault import message, source_of
from .feed import Feed, length_of, need_batches, nothing
from .history import History
from .interrupt import Interrupts
from .mark import Mark
from .means import Means
from .progress import Bars

Metric = Callable[[Any, Any], Any]
VERSION = 1


class Trainer:
    """Trains a model: epochs, validation, metrics, schedules, checkpoints.

    A batch is `(inputs, targets)` or `(*inputs, targets)`, and the loss is `loss_fn(model(*inputs), targets)`, its mean over the batch.
    Means over an epoch count every sample once, also where the last batch is shorter. A step whose loss or gradient is not finite is not
    made: training stops, and the error names the op. An interrupt leaves the model as it was after the last whole step.

    Args:
        metrics: functions of outputs and targets that give a number, by name.
        scheduler: stepped for you, after each epoch; OneCycleLR and CyclicLR after each update.
        accumulate: batches whose gradients make one update, as if they were one batch.
        clip_norm: how long all gradients together may be, see `nn.utils.clip_grad_norm_`.
        callbacks: `EarlyStopping`, `Checkpoint`, and your own `Callback`.
        progress: whether bars are drawn.
        schedule_per: "epoch" or "step", where the kind of schedule does not tell.
        schedule_on: what ReduceLROnPlateau looks at; "val_loss", or "loss" without validation.
        unpack: gives (inputs, targets) of a batch of another form, such as a dict.

    Attributes:
        history: numbers of each epoch, a dict of lists.
        epoch, step: whole epochs and updates that were made.
        stopping: why training ends after this epoch; empty where it does not.

    Raises:
        KeywordError: something that is no model, optimizer, function or schedule.
        ArgumentError: a schedule of another optimizer, a number that makes no sense.

    >>> import gradlab as gl
    >>> _ = gl.manual_seed(0)
    >>> x = gl.randn(64, 3)
    >>> model = gl.nn.Linear(3, 1)
    >>> trainer = Trainer(model, gl.optim.SGD(model.parameters(), lr=0.1), gl.nn.MSELoss(), progress=False)
    >>> history = trainer.fit(gl.data.DataLoader((x, x.sum(1, keepdim=True)), 16), epochs=20)
    >>> history["epoch"][-1], history["loss"][-1] < 1e-4
    (20, True)
    """

    def __init__(
        self,
        model: Module,
        optimizer: Optimizer,
        loss_fn: Metric,
        metrics: Mapping[str, Metric] | None = None,
        scheduler: LRScheduler | None = None,
        accumulate: int = 1,
        clip_norm: float | None = None,
        callbacks: Iterable[Callback] = (),
        progress: bool = True,
        *,
        schedule_per: str | None = None,
        schedule_on: str | None = None,
        unpack: Unpack | None = None,
    ) -> None:
        _need_kinds(model, optimizer, loss_fn, scheduler, unpack)
        self.model, self.optimizer, self.loss_fn, self.scheduler, self.unpack = model, optimizer, loss_fn, scheduler, unpack
        self.metrics = _metrics(metrics)
        self.accumulate = count_of("Trainer", "accumulate", accumulate)
        if clip_norm is not None:
            need_number("Trainer", clip_norm=clip_norm)
            if not clip_norm > 0:
                raise ArgumentError(explain("Trainer: gradients are cut to a length", got={"clip_norm": clip_norm}, need="above 0"))
        self.clip_norm = clip_norm
        self.callbacks = list(callbacks)
        for one in self.callbacks:
            if not isinstance(one, Callback):
                raise KeywordError(explain("Trainer: this is no callback", got={"type": type(one).__name__}, need="a gl.Callback"))
        self.progress = progress
        self.schedule_per, self.schedule_on = _schedule(scheduler, schedule_per, schedule_on)
        self.history = History()
        self.epoch = self.step = 0
        self.stopping = ""
        self._position: Mapping[str, Any] | None = None  # in an epoch that was broken off
        self._feed: Feed | None = None
        self._batches = 0  # of this epoch that are in the model
        self._means = Means()
        self._mark = Mark(model)
        self._interrupts = Interrupts()

    # Training

    def fit(self, train_loader: Any, val_loader: Any = None, epochs: int = 1, *, resume: bool | str | os.PathLike[str] = False) -> History:
        """Train for `epochs` more epochs, and return the history of all.

        The model is in training mode meanwhile; parts that you put in evaluation mode stay there, unless the whole model is. Afterwards
        each part is in the mode that it was in.

        Args:
            val_loader: is gone through after each epoch, in evaluation mode.
            resume: go on with a training that was stopped, up to `epochs` in all: the folder of a `Checkpoint` or one of its files, or
                True for the one that was stopped in this trainer. All is then as if it had never stopped, to the last bit.

        Raises:
            DataError: no batches come, or batches of another form.
            AnomalyError: a loss or gradient is not finite. Model and trainer stand before that step, and were saved by a `Checkpoint`.
            StateError: what is gone on with belongs to another training.
        """
        epochs = count_of("fit", "epochs", epochs)
        if isinstance(resume, (str, os.PathLike)):
            self.load(Path(resume) / LAST if Path(resume).is_dir() else resume)
        elif not resume:
            self._position, self.stopping = None, ""
        goal = epochs if resume else self.epoch + epochs
        need_batches("fit", train_loader, goal - self.epoch)
        if val_loader is not None:
            need_batches("evaluate", val_loader, goal - self.epoch)
        if self.epoch >= goal or self.stopping:
            return self.history
        modes = [(module, module.training) for module in self.model.modules()]
        if not self.model.training:
            self.model.train()
        self._tell("on_fit_begin")
        try:
            with Interrupts() as self._interrupts, Bars(self.progress, goal, self.epoch) as bars:
                while self.epoch < goal and not self.stopping:
                    self._one_epoch(train_loader, val_loader, bars)
            self._tell("on_fit_end")
        except BaseException as error:
            self._broken_off(error, goal)
            raise
        finally:
            for module, mode in modes:
                module.training = mode
        return self.history

    def _one_epoch(self, train_loader: Any, val_loader: Any, bars: Bars) -> None:
        self._mark = Mark(self.model)
        position, self._position = self._position, None
        self._batches = 0
        self._feed = None
        if position is None:
            self._means = Means()
        else:
            self._batches = position["batches"]
            self._means.load_state_dict(position["means"])
        self._feed = Feed(train_loader, position)
        bars.begin(f"epoch {self.epoch + 1}", length_of(train_loader), self._batches)
        for group in self._feed.groups(self.accumulate):
            numbers = self._step(group)
            bars.step(len(group), numbers)
        if not self._batches:
            raise nothing("fit", train_loader)
        row: dict[str, Any] = {"epoch": self.epoch + 1, **self._means.values()}
        if val_loader is not None:
            row |= {f"val_{name}": value for name, value in self._measured(val_loader, bars).items()}
        row["lr"] = self.optimizer.param_groups[0].get("lr", math.nan)
        with self._interrupts.held():
            self.epoch += 1
            self._feed, self._batches = None, 0
            self.history.add(row)
            if (told := observe.current) is not None:
                told.end(told.begin("epoch", self, (self.epoch,)), row, None)
            self._schedule(row)
            bars.epoch(row)
            self._mark = Mark(self.model)
            self._tell("on_epoch_end", row)

    def _step(self, group: list[Any]) -> dict[str, float]:
        """One update by the mean gradient of the batches of a group; its last loss and metrics."""
        batches = [batch_of("fit", one, self.unpack, self._place) for one in group]
        samples = sum(batch.size for batch in batches)
        self.optimizer.zero_grad()
        measured: list[dict[str, float]] = []
        for batch in batches:
            output, loss = self._forward(batch)
            value = loss.item()
            if not math.isfinite(value):
                self._not_finite("loss", value, batches)
            self._backward(loss, batch.size, samples)
            measured.append({"loss": value, **self._numbers(output, batch)})
            del output, loss
        self._need_finite_gradients(batches)
        with self._interrupts.held():
            self.optimizer.step()
            self.step += 1
            self._batches += len(group)
            for numbers, batch in zip(measured, batches, strict=True):
                self._means.add(numbers, batch.size)
            if self.scheduler is not None and self.schedule_per == "step":
                self.scheduler.step()
            self._mark = Mark(self.model)
            self._tell("on_step_end")
        return measured[-1]

    def _forward(self, batch: Batch) -> tuple[Any, Tensor]:
        output = self.model(*batch.inputs)
        loss = self.loss_fn(output, batch.targets)
        if not isinstance(loss, Tensor):
            raise KeywordError(explain("fit: loss_fn gave no tensor", got={"loss": described(loss)}, need="a tensor of one number"))
        if loss.numel() != 1:
            got = {"loss": loss.shape}
            raise ShapeError(explain("fit: a loss is one number", got=got, need="its mean over the batch: loss.mean(), reduction='mean'"))
        return output, loss

    def _backward(self, loss: Tensor, size: int, samples: int) -> None:
        if not loss.requires_grad:
            got = {"parameters that require a gradient": sum(p.requires_grad for p in self.model.parameters())}
            need = "a loss that is made from the model's output, and a parameter that is not frozen"
            raise ArgumentError(explain("fit: nothing leads from this loss to a parameter", got=got, need=need))
        if size == samples:
            loss.backward()
        else:
            loss.backward(Tensor.made(xp_of(loss._data).full_like(loss._data, size / samples), None))

    def _numbers(self, output: Any, batch: Batch) -> dict[str, float]:
        if not self.metrics:
            return {}
        with no_grad():
            return {name: _number(name, metric(output, batch.targets)) for name, metric in self.metrics.items()}

    @property
    def _place(self) -> Any:
        first = next(iter(self.model.parameters()), None)
        return None if first is None else first.device

    # What is not finite

    def _need_finite_gradients(self, batches: list[Batch]) -> None:
        parameters = [p for group in self.optimizer.param_groups for p in group["params"]]
        if self.clip_norm is not None:
            total = float(clip_grad_norm_(parameters, self.clip_norm))
        else:
            total = _square_sum([p._grad for p in parameters if p._grad is not None])
        if not math.isfinite(total):
            grads = [p._grad for p in parameters if p._grad is not None]
            if self.clip_norm is not None or not all(bool(xp_of(g).isfinite(g).all()) for g in grads):
                self._not_finite("gradient", total, batches)

    def _not_finite(self, what: str, value: float, batches: list[Batch]) -> None:
        self._back()

        def again() -> None:
            samples = sum(batch.size for batch in batches)
            for batch in batches:
                _, loss = self._forward(batch)
                self._backward(loss, batch.size, samples)

        traced = observe.current is not None
        source = source_of(self.model, again)
        self._back()
        kind = "NaN" if value != value else "Inf"
        files = [str(one.last) for one in self.callbacks if isinstance(one, Checkpoint)]
        state = "as before this step" + (f", saved in {files[0]}" if files else "; trainer.save(path) keeps it")
        where = f"step {self.step + 1} is {kind}, in epoch {self.epoch + 1}, batch {self._batches + 1}"
        what = f"fit: the {what} of {where}; the step was not made"
        raise AnomalyError(message(what, source, traced, state, ""))

    def _back(self) -> None:
        """Stand where the last whole step ended."""
        self._mark.back()
        self.optimizer.zero_grad()

    def _broken_off(self, error: BaseException, goal: int) -> None:
        with self._interrupts.held():
            self._back()
            self._position = self._standing()
            self._feed = None
            self._tell("on_stop")
        if isinstance(error, KeyboardInterrupt):
            files = [str(one.folder) for one in self.callbacks if isinstance(one, Checkpoint)]
            where = repr(files[0]) if files else "True"
            error.args = (
                f"training stopped after step {self.step}, in epoch {self.epoch + 1} of {goal}; the model is whole"
                f"{f' and saved in {files[0]}' if files else ''}. Go on with fit(..., epochs={goal}, resume={where})",
            )

    # Evaluation

    def evaluate(self, loader: Any) -> dict[str, float]:
        """The means of loss and metrics over a loader, in evaluation mode and without gradients.

        Raises:
            DataError: no batches come, or batches of another form.
        """
        need_batches("evaluate", loader)
        with Bars(self.progress) as bars:
            return self._measured(loader, bars)

    def _measured(self, loader: Any, bars: Bars) -> dict[str, float]:
        means = Means()
        bars.begin("validation", length_of(loader))
        with _evaluating(self.model), no_grad():
            for value in loader:
                batch = batch_of("evaluate", value, self.unpack, self._place)
                output, loss = self._forward(batch)
                means.add({"loss": loss.item(), **self._numbers(output, batch)}, batch.size)
                bars.step(1, {})
        bars.end()
        if not means.samples:
            raise nothing("evaluate", loader)
        return means.values()

    def predict(self, loader: Any) -> Tensor:
        """The outputs for all inputs of a loader, in evaluation mode, one after the other along the first axis.

        Args:
            loader: of batches as they are for training, of which the targets are left out, or of inputs alone; or one tensor of inputs.
        """
        batches = [loader] if isinstance(loader, Tensor) else loader
        need_batches("predict", batches)
        outputs: list[Tensor] = []
        with _evaluating(self.model), no_grad():
            for value in batches:
                output = self.model(*inputs_of(value, self.unpack, self._place))
                if not isinstance(output, Tensor):
                    got = {"output": described(output)}
                    raise KeywordError(explain("predict: the model gave no tensor", got=got, need="one tensor a batch"))
                outputs.append(output)
        if not outputs:
            raise nothing("predict", loader)
        return cat(outputs)

    # State

    def _standing(self) -> dict[str, Any] | None:
        """Where in an epoch training stands; None between two."""
        if self._feed is None or not self._batches:
            return dict(self._position) if self._position is not None else None
        return {**self._feed.position(self._batches), "means": self._means.state_dict()}

    def state_dict(self) -> dict[str, Any]:
        """All that has to be known to go on bit by bit, for `save` and `load_state_dict`."""
        return {
            "version": VERSION,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": None if self.scheduler is None else self.scheduler.state_dict(),
            "rng": get_rng_state(),
            "history": {name: list(column) for name, column in self.history.items()},
            "epoch": self.epoch,
            "step": self.step,
            "stopping": self.stopping,
            "position": self._standing(),
            "callbacks": [{"kind": type(one).__name__, "state": one.state_dict()} for one in self.callbacks],
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Stand where `state_dict` was taken.

        Raises:
            StateError: it is of another training: other parameters, callbacks, or with a schedule where there is none.
        """
        _need_state(self, state_dict)
        self.model.load_state_dict(state_dict["model"])
        self.optimizer.load_state_dict(state_dict["optimizer"])
        if self.scheduler is not None:
            self.scheduler.load_state_dict(state_dict["scheduler"])
        for one, saved in zip(self.callbacks, state_dict["callbacks"], strict=True):
            one.load_state_dict(saved["state"])
        self.history.clear()
        self.history.update({name: list(column) for name, column in state_dict["history"].items()})
        self.epoch, self.step, self.stopping = state_dict["epoch"], state_dict["step"], state_dict["stopping"]
        self._position = state_dict["position"]
        self._feed, self._batches = None, 0
        set_rng_state(state_dict["rng"])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, see `gl.save`."""
        save(self.state_dict(), path)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Stand where a file was saved."""
        self.load_state_dict(load(path))

    # Others

    def _schedule(self, row: Mapping[str, Any]) -> None:
        if self.scheduler is None or self.schedule_per == "step":
            return
        if not isinstance(self.scheduler, ReduceLROnPlateau):
            self.scheduler.step()
            return
        name = self.schedule_on or ("val_loss" if "val_loss" in row else "loss")
        if name not in row:
            got = {"schedule_on": name, "measured": ", ".join(row)}
            raise ArgumentError(explain("Trainer: this is not measured", got=got, need="one of those"))
        self.scheduler.step(row[name])

    def _tell(self, event: str, *args: Any) -> None:
        for one in sorted(self.callbacks, key=lambda one: one.runs_last):
            getattr(one, event)(self, *args)


class _evaluating:
    """A block in which a model is in evaluation mode; then each part is in the mode that it was in."""

    def __init__(self, model: Module) -> None:
        self._model = model

    def __enter__(self) -> None:
        self._modes = [(module, module.training) for module in self._model.modules()]
        self._model.eval()

    def __exit__(self, *error: object) -> None:
        for module, mode in self._modes:
            module.training = mode


def _square_sum(grads: list[Any]) -> float:
    """The sum of the squares of all entries: one pass over them, finite unless an entry is not, or squares overflow."""
    total: Any = 0.0
    for g in grads:
        flat = g.reshape(-1)
        total = total + xp_of(g).dot(flat, flat)
    return float(total)


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        got = {name: described(value)}
        raise KeywordError(explain("fit: a metric gives one number", got=got, need="a number, or a tensor of one")) from None


def _metrics(metrics: Any) -> dict[str, Metric]:
    if metrics is None:
        return {}
    if not isinstance(metrics, Mapping):
        got = {"metrics": described(metrics)}
        raise KeywordError(explain("Trainer: metrics have names", got=got, need="a dict", fix='metrics={"accuracy": gl.metrics.accuracy}'))
    for name, metric in metrics.items():
        if name in ("epoch", "loss", "lr") or str(name).startswith("val_") or not isinstance(name, str):
            got = {"metric": repr(name)}
            raise ArgumentError(explain("Trainer: this name is taken", got=got, need="another one; validation puts val_ in front"))
        if not callable(metric):
            got = {name: described(metric)}
            raise KeywordError(explain("Trainer: a metric is called", got=got, need="a function of outputs and targets"))
    return dict(metrics)


def _need_kinds(model: Any, optimizer: Any, loss_fn: Any, scheduler: Any, unpack: Any) -> None:
    wanted = (("model", model, Module), ("optimizer", optimizer, Optimizer))
    for name, value, kind in wanted:
        if not isinstance(value, kind):
            got = {name: described(value)}
            raise KeywordError(explain(f"Trainer: this is no {name}", got=got, need=f"a gl {kind.__name__}"))
    for name, value in (("loss_fn", loss_fn), ("unpack", unpack)):
        if not callable(value) and not (name == "unpack" and value is None):
            what = "outputs and targets" if name == "loss_fn" else "a batch"
            raise KeywordError(explain(f"Trainer: {name} is called", got={name: described(value)}, need=f"a function of {what}"))
    if scheduler is not None and not isinstance(scheduler, LRScheduler):
        got = {"scheduler": described(scheduler)}
        raise KeywordError(explain("Trainer: this is no schedule", got=got, need="one of gl.optim.lr_scheduler"))
    if scheduler is not None and getattr(scheduler, "optimizer", optimizer) is not optimizer:
        got = {"scheduler": "another optimizer's"}
        raise ArgumentError(explain("Trainer: this schedule sets the rates of another optimizer", got=got, need="the trainer's optimizer"))


def _schedule(scheduler: Any, per: str | None, on: str | None) -> tuple[str, str | None]:
    if per not in ("epoch", "step", None):
        raise ArgumentError(explain("Trainer: when is the rate set?", got={"schedule_per": repr(per)}, need="'epoch' or 'step'"))
    plateau = isinstance(scheduler, ReduceLROnPlateau)
    if plateau and per == "step":
        got = {"scheduler": "ReduceLROnPlateau", "schedule_per": per}
        raise ArgumentError(explain("Trainer: this schedule looks at the loss of an epoch", got=got, need="schedule_per='epoch'"))
    if plateau and scheduler.mode == "max" and on is None:
        got = {"scheduler": "ReduceLROnPlateau, mode 'max'", "schedule_on": None}
        raise ArgumentError(
            explain("Trainer: of what is more better?", got=got, need="the name of a metric", fix="schedule_on='val_accuracy'")
        )
    return per or ("step" if isinstance(scheduler, (OneCycleLR, CyclicLR)) else "epoch"), on


def _need_state(trainer: Trainer, state: Any) -> None:
    what = "Trainer.load_state_dict"
    if not isinstance(state, Mapping) or not {"model", "optimizer", "position", "callbacks", "rng"} <= {*state}:
        got = {"state_dict": described(state)}
        raise StateError(explain(f"{what}: this is no saved training", got=got, need="what state_dict() returned"))
    kinds = [saved["kind"] for saved in state["callbacks"]]
    own = [type(one).__name__ for one in trainer.callbacks]
    if kinds != own:
        got = {"saved with": ", ".join(kinds) or "none", "this has": ", ".join(own) or "none"}
        raise StateError(explain(f"{what}: other callbacks", got=got, need="the same, in the same order"))
    if (state["scheduler"] is None) != (trainer.scheduler is None):
        got = {"saved": "without a schedule" if state["scheduler"] is None else "with a schedule"}
        raise StateError(explain(f"{what}: a schedule is missing, or too many", got=got, need="the same schedule"))
