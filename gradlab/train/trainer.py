"""Trainer: the loop around a model, which can be stopped anywhere and goes on bit by bit."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from .. import observe
from .._tensor import Tensor
from ..backend import get_rng_state, set_rng_state
from ..data.given import count_of
from ..errors import AnomalyError
from ..files import load, save
from ..nn.module import Module
from ..optim import Optimizer
from ..optim.lr_scheduler import LRScheduler
from .batch import Batch, Unpack
from .callback import Callback
from .checkpoint import LAST
from .feed import Feed, between, length_of, need_batches, nothing, stand
from .given import Metric, callbacks_of, clip_of, metrics_of, need_parts, schedule_of, watched_of
from .gradient import NotFiniteError, clipped, gradients
from .history import History
from .interrupt import Around, Interrupts
from .mark import Mark, places
from .means import Means
from .measure import Measure, evaluating
from .progress import Bars
from .state import put, state_of
from .stop import farewell, fault, folder_of


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
        measured: names of the numbers of an epoch; known when `fit` begins.
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
        callbacks: Iterable[Callback] | Callback = (),
        progress: bool = True,
        *,
        schedule_per: str | None = None,
        schedule_on: str | None = None,
        unpack: Unpack | None = None,
    ) -> None:
        need_parts(model, optimizer, loss_fn, unpack)
        self.model, self.optimizer, self.scheduler, self.progress = model, optimizer, scheduler, progress
        self.accumulate, self.clip_norm = count_of("Trainer", "accumulate", accumulate), clip_of(clip_norm)
        self.callbacks = callbacks_of(callbacks)
        self.schedule_per, self.schedule_on = schedule_of(scheduler, optimizer, schedule_per, schedule_on)
        self.history = History()
        self.epoch = self.step = 0
        self.stopping = ""
        self.measured: tuple[str, ...] = ()
        self._watched: str | None = None  # by the schedule
        self.left: dict[str, Any] | None = None  # where random numbers were when it was stopped or loaded
        self._measure = Measure(model, loss_fn, metrics_of(metrics), unpack)
        self._interrupts = Interrupts()
        self._buffers = places(model)
        self._mark = Mark(self._buffers)
        # Of the epoch that is being trained; where it has not begun, what was loaded or left says where it goes on.
        self._feed: Feed | None = None
        self._batches, self._means = 0, Means()
        self._position: Mapping[str, Any] | None = None
        self._validation: Callable[[], Mapping[str, Any]] | None = None  # says in `fit` where its loader goes on

    # Training

    def fit(self, train_loader: Any, val_loader: Any = None, epochs: int = 1, *, resume: bool | str | os.PathLike[str] = False) -> History:
        """Train for `epochs` more epochs, and return the history of all.

        The model is in training mode meanwhile; parts that you put in evaluation mode stay there, unless the whole model is. Afterwards
        each part is in the mode that it was in.

        Args:
            val_loader: is gone through after each epoch, in evaluation mode.
            resume: go on with a training that was stopped, up to `epochs` in all: the folder of a `Checkpoint` or one of its files, or
                True for the one that was stopped in this trainer. All is then as if it had never stopped, to the last bit. That asks
                for the same loaders: a DataLoader, or what gives the same batches again. Random numbers that are not gradlab's are not
                kept.

        Raises:
            DataError: no batches come, or batches of another form.
            ArgumentError: a schedule or callback looks at a number that is not measured.
            AnomalyError: a loss or gradient is not finite. Model and trainer stand before that step, and a `Checkpoint` has saved them.
            KeyboardInterrupt: they stand after the last whole step, and a `Checkpoint` has saved them.
            StateError: what is gone on with belongs to another training.
        """
        epochs = count_of("fit", "epochs", epochs)
        goal = epochs if resume else self.epoch + epochs
        for what, loader in (("fit", train_loader), *((("evaluate", val_loader),) if val_loader is not None else ())):
            need_batches(what, loader, goal - self.epoch)
        self.measured = self._measure.names(val_loader is not None)
        self._watched = watched_of(self.scheduler, self.schedule_on, self.measured)
        if isinstance(resume, (str, os.PathLike)):
            self.load(Path(resume) / LAST if Path(resume).is_dir() else resume)
        elif not resume:
            self._position, self.stopping, self.left = None, "", None
        self._stand(val_loader)
        if self.left is not None:
            set_rng_state(self.left)
        self._mark = Mark(places(self.model))
        began, around = self.step, Around()
        with evaluating(self.model, _training), Interrupts() as self._interrupts, Bars(self.progress, goal, self.epoch) as bars:
            try:
                self.left = None
                self._tell("on_fit_begin")
                bars.open()
                while self.epoch < goal and not self.stopping:
                    self._one_epoch(train_loader, val_loader, bars)
            except BaseException as error:
                with self._interrupts.ignored():
                    around.back()
                    self._back()
                    told = self.step > began or isinstance(error, AnomalyError)
                    if told:
                        self._tell("on_stop")
                if isinstance(error, KeyboardInterrupt):
                    error.args = (farewell(self, goal, folder_of(self.callbacks) if told else None),)
                raise
            else:  # training is whole now: what goes wrong in here takes nothing of it back
                with self._interrupts.held():
                    self._tell("on_fit_end")
            finally:
                self._position, self._feed, self._validation, self.left = self.position(), None, None, get_rng_state()
        return self.history

    def _one_epoch(self, train_loader: Any, val_loader: Any, bars: Bars) -> None:
        self._buffers = places(self.model)
        self._mark = Mark(self._buffers)
        self._measure.look()
        position, means = self._position, Means()
        if position is not None and position["means"] is not None:
            means.load_state_dict(position["means"])
        feed = Feed(train_loader, None if position is None else position["train"])
        with self._interrupts.held():
            self._feed, self._means, self._batches = feed, means, 0 if position is None else position["train"]["batches"]
        bars.begin(f"epoch {self.epoch + 1}", length_of(train_loader), self._batches)
        for group in feed.groups(self.accumulate):
            bars.step(len(group), self._step(group))
        if not self._batches:
            raise nothing("fit", train_loader)
        row: dict[str, Any] = {"epoch": self.epoch + 1, **self._means.values()}
        if val_loader is not None:
            self._validation = partial(dict, between(val_loader))  # until the epoch counts: else validation begins anew
            row |= {f"val_{name}": value for name, value in self._measure.over(val_loader, bars).items()}
        row["lr"] = self.optimizer.param_groups[0].get("lr", math.nan)
        watched = () if self._watched is None else (row[self._watched],)
        with self._interrupts.held():
            self.epoch += 1
            self.history.add(row)
            self._validation = partial(between, val_loader)  # callbacks may use it too
            self._feed, self._position = None, {"train": between(train_loader), "means": None}
            self._mark = Mark(self._buffers)
            if self.scheduler is not None and self.schedule_per == "epoch":
                self.scheduler.step(*watched)
            if (told := observe.current) is not None:
                told.end(told.begin("epoch", self, (self.epoch,)), row, None)
            self._tell("on_epoch_end", row)
            self._mark = Mark(self._buffers)  # callbacks may have drawn random numbers, which are not drawn again
            bars.epoch(row)

    def _step(self, group: list[Any]) -> dict[str, float]:
        """One update by the mean gradient of the batches of a group; loss and metrics of the last."""
        batches = [self._measure.batch("fit", one) for one in group]
        parameters = [p for group in self.optimizer.param_groups for p in group["params"]]
        self.optimizer.zero_grad()
        try:
            measured = gradients(self._measure, batches)
            clipped(parameters, self.clip_norm)
        except NotFiniteError as error:
            self._back()
            where = f"step {self.step + 1} is {error.kind}, in epoch {self.epoch + 1}, batch {self._batches + 1}"
            raise fault(error, self._measure, batches, where, folder_of(self.callbacks)) from None
        versions = [p.version for p in parameters]
        with self._interrupts.held():
            try:
                self.optimizer.step()
            except BaseException:
                if versions != [p.version for p in parameters]:  # an observer stopped it when it was done
                    self._count(batches, measured)
                raise
            self._count(batches, measured)
            if self.callbacks:
                self._tell("on_step_end")
                self._mark = Mark(self._buffers)  # as after an epoch
        return measured[-1]

    def _count(self, batches: list[Batch], measured: list[dict[str, float]]) -> None:
        self.step += 1
        self._batches += len(batches)
        for numbers, batch in zip(measured, batches, strict=True):
            self._means.add(numbers, batch.size)
        self._mark = Mark(self._buffers)
        if self.scheduler is not None and self.schedule_per == "step":
            self.scheduler.step()

    def _tell(self, event: str, *args: Any) -> None:
        for one in sorted(self.callbacks, key=lambda one: one.runs_last):
            getattr(one, event)(self, *args)

    # Stops

    def _back(self) -> None:
        """Stand where the last whole step ended."""
        self._mark.back()
        self.optimizer.zero_grad()

    # Evaluation

    def evaluate(self, loader: Any) -> dict[str, float]:
        """The means of loss and metrics over a loader, in evaluation mode and without gradients.

        Raises:
            DataError: no batches come, or batches of another form.
        """
        need_batches("evaluate", loader)
        with Bars(self.progress) as bars:
            return self._measure.over(loader, bars, seen=1)

    def predict(self, loader: Any) -> Tensor:
        """The outputs for all inputs of a loader, in evaluation mode, one after the other along the first axis.

        Args:
            loader: of batches as they are for training, of which the targets are left out, or of inputs alone; or one tensor of inputs.

        Raises:
            DataError: no batches come, or batches of another form.
            KeywordError: the model gives no tensor.
        """
        return self._measure.outputs([loader] if isinstance(loader, Tensor) else loader)

    # State

    def position(self) -> dict[str, Any] | None:
        """Where training stands in an epoch and in its loaders; None before the first."""
        if self._feed is not None:
            train = self._feed.position(self._batches)
            position: dict[str, Any] = {"train": train, "means": self._means.state_dict() if self._batches else None}
        elif self._position is None:
            return None
        else:
            position = dict(self._position)
        return position if self._validation is None else {**position, "validation": self._validation()}

    def _stand(self, val_loader: Any) -> None:
        """Let validation go on where it stood, or note where it stands."""
        if self._position is not None and self._position["validation"] is not None:
            stand(val_loader, self._position["validation"])
        self._validation = partial(between, val_loader)

    def state_dict(self) -> dict[str, Any]:
        """All that has to be known to go on bit by bit: numbers, texts and tensors, as `gl.save` takes them."""
        return state_of(self)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Stand where `state_dict` was taken; `fit(..., resume=True)` goes on from there.

        Raises:
            StateError: it is of another training: other parameters, callbacks, or with a schedule where there is none.
        """
        put(self, state_dict)
        self._feed, self._position = None, state_dict["position"]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, see `gl.save`."""
        save(self.state_dict(), path)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Stand where a file was saved, see `load_state_dict`."""
        self.load_state_dict(load(path))


def _training(model: Module) -> None:
    """Switch a model to training, unless some of it is there already."""
    if not model.training:
        model.train()
