"""Measure: what a model makes of a batch, held against its targets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from .._tensor import Tensor
from ..errors import KeywordError, ShapeError, explain
from ..grad_mode import no_grad
from ..nn.module import Module
from ..observe import paused
from ..ops import cat
from .batch import Batch, Unpack, batch_of, described, inputs_of
from .feed import length_of, need_batches, nothing
from .given import Metric
from .means import Means
from .progress import Bars


class Measure:
    """A model with its loss and its metrics.

    Attributes:
        place: the device of the model, where batches are brought; None where it has no parameters.

    >>> import gradlab as gl
    >>> measure = Measure(gl.nn.Identity(), gl.nn.functional.mse_loss, {}, None)
    >>> measure.over([(gl.zeros(2), gl.ones(2)), (gl.zeros(1), gl.zeros(1))], Bars(False))["loss"].__round__(6)
    0.666667
    """

    def __init__(self, model: Module, loss_fn: Metric, metrics: dict[str, Metric], unpack: Unpack | None) -> None:
        self.model, self.loss_fn, self.metrics, self.unpack = model, loss_fn, metrics, unpack
        self.look()

    def look(self) -> None:
        """See where the model is now."""
        first = next(iter(self.model.parameters()), None)
        self.place: Any = None if first is None else first.device

    def names(self, validated: bool) -> tuple[str, ...]:
        """The columns of a history, with those of validation or without."""
        own = ("loss", *self.metrics)
        return ("epoch", *own, *(f"val_{name}" for name in own if validated), "lr")

    def batch(self, what: str, value: Any) -> Batch:
        """The parts of a batch, see `batch_of`."""
        return batch_of(what, value, self.unpack, self.place)

    def forward(self, batch: Batch) -> tuple[Any, Tensor]:
        """The outputs and the loss.

        Raises:
            KeywordError: loss_fn gave no tensor.
            ShapeError: it gave more than one number.
        """
        output = self.model(*batch.inputs)
        loss = self.loss_fn(output, batch.targets)
        if not isinstance(loss, Tensor):
            raise KeywordError(explain("fit: loss_fn gave no tensor", got={"loss": described(loss)}, need="a tensor of one number"))
        if loss.numel() != 1:
            need = "its mean over the batch: loss.mean(), or reduction='mean'"
            raise ShapeError(explain("fit: a loss is one number", got={"loss": loss.shape}, need=need))
        return output, loss

    def numbers(self, output: Any, batch: Batch) -> dict[str, float]:
        """The metrics."""
        if not self.metrics:
            return {}
        with no_grad():
            return {name: _number(name, metric(output, batch.targets)) for name, metric in self.metrics.items()}

    def over(self, loader: Any, bars: Bars, seen: int = 0) -> dict[str, float]:
        """The means over a loader, in evaluation mode and without gradients.

        Args:
            seen: batches that tracers hear of: ops without gradients stand on show beside those of the step before them.

        Raises:
            DataError: no batches come, or batches of another form.
        """
        self.look()
        means = Means()
        bars.begin("validation", length_of(loader))
        with evaluating(self.model), no_grad():
            for i, value in enumerate(loader):
                batch = self.batch("evaluate", value)
                with nullcontext() if i < seen else paused():
                    output, loss = self.forward(batch)
                    numbers = self.numbers(output, batch)
                means.add({"loss": loss.item(), **numbers}, batch.size)
                bars.step(1, {})
        bars.end()
        if not means.samples:
            raise nothing("evaluate", loader)
        return means.values()

    def outputs(self, loader: Any) -> Tensor:
        """The outputs for all inputs of a loader, in evaluation mode and without gradients, one after the other along the first axis.

        Raises:
            DataError: no batches come, or batches of another form.
            KeywordError: the model gives no tensor.
        """
        need_batches("predict", loader)
        self.look()
        outputs: list[Tensor] = []
        with evaluating(self.model), no_grad():
            for value in loader:
                inputs = inputs_of(value, self.unpack, self.place)
                with paused() if outputs else nullcontext():  # a tracer shows the first of so many
                    output = self.model(*inputs)
                if not isinstance(output, Tensor):
                    got = {"output": described(output)}
                    raise KeywordError(explain("predict: the model gave no tensor", got=got, need="one tensor a batch"))
                outputs.append(output)
        if not outputs:
            raise nothing("predict", loader)
        return cat(outputs)


class evaluating:
    """A block in which a model is in evaluation mode; then each part is in the mode that it was in.

    >>> from gradlab import nn
    >>> model = nn.Dropout()
    >>> with evaluating(model):
    ...     print(model.training)
    False
    >>> model.training
    True
    """

    def __init__(self, model: Module, switch: Callable[[Module], object] = Module.eval) -> None:
        self._model, self._switch = model, switch

    def __enter__(self) -> None:
        self._modes = [(module, module.training) for module in self._model.modules()]
        self._switch(self._model)

    def __exit__(self, *error: object) -> None:
        for module, mode in self._modes:
            module.training = mode


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        got = {name: described(value)}
        raise KeywordError(explain("fit: a metric gives one number", got=got, need="a number, or a tensor of one")) from None
