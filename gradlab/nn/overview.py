"""A model as a table: what each layer gives, how many parameters it has and how many operations it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

from .. import observe
from .._tensor import Tensor
from ..cost import Shapes, cost
from ..create import zeros
from ..errors import KeywordError, explain
from ..grad_mode import no_grad
from .module import Module
from .tree import need_registered


@dataclass
class Layer:
    """One module of the table.

    Attributes:
        path: where it is, "" for the model itself.
        name: its class.
        depth: how many modules it is in.
        parameters: how many numbers it and the modules below have to learn or keep, each once.
        trainable: how many of them require a gradient.
        calls: how often it was called.
        shapes: of what it returned at its first call, one a tensor.
        flops: floating-point operations of all its calls, forward.
        whole: False where an op without a formula was left out of them.
    """

    path: str
    name: str
    depth: int
    parameters: int
    trainable: int
    calls: int = 0
    shapes: list[tuple[int, ...]] = field(default_factory=list)
    flops: float = 0
    whole: bool = True


class Summary:
    """The table of a model: `str` or `print` shows it, `layers` has its rows, the first is the model itself."""

    def __init__(self, layers: list[Layer], size_bytes: int) -> None:
        self.layers, self.size_bytes = layers, size_bytes

    @property
    def parameters(self) -> int:
        """How many numbers the model has in its parameters."""
        return self.layers[0].parameters

    @property
    def flops(self) -> float:
        """Floating-point operations of one forward pass; a multiplication and an addition are one each."""
        return self.layers[0].flops

    def __repr__(self) -> str:
        rows = [("layer", "output", "parameters", "FLOPs")]
        for layer in self.layers:
            name = "  " * layer.depth + (f"{layer.path.rpartition('.')[2]}: " if layer.path else "") + layer.name
            times = f" x {layer.calls}" if layer.calls > 1 else ""
            shapes = ", ".join(map(str, layer.shapes)) + times if layer.calls else "not called"
            flops = f"{'' if layer.whole else '>= '}{layer.flops:,.0f}" if layer.calls else ""
            rows.append((name, shapes, f"{layer.parameters:,}" if layer.parameters else "", flops))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d:>{widths[3]}}".rstrip() for a, b, c, d in rows]
        frozen = self.parameters - self.layers[0].trainable
        rule = "-" * max(map(len, lines))
        total = (
            f"{self.parameters:,} parameters" + (f", {frozen:,} of them frozen" if frozen else "") + f", {self.size_bytes / 1e6:,.2f} MB"
        )
        return "\n".join([lines[0], rule, *lines[1:], rule, total])


def summary(model: Module, *inputs: Any, **kwargs: Any) -> Summary:
    """Call the model once, in eval and without a graph, and list what each of its modules gave and took.

    Args:
        inputs: what the model is called with; a tuple of ints stands for zeros of that shape.

    Returns:
        A table: print it, or read its `layers`, `parameters` and `flops`. Operations are counted from the shapes of every op
        that runs; ops without a formula are left out, and the numbers marked.

    Raises:
        KeywordError: `model` is no module.

    >>> from gradlab import nn
    >>> summary(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), (1, 4))
    layer        output  parameters  FLOPs
    --------------------------------------
    Sequential   (1, 2)          58    114
      0: Linear  (1, 8)          40     72
      1: ReLU    (1, 8)                  8
      2: Linear  (1, 2)          18     34
    --------------------------------------
    58 parameters, 0.00 MB
    """
    if not isinstance(model, Module):  # pyright: ignore[reportUnnecessaryIsInstance]
        got = {"model": type(model).__name__}
        raise KeywordError(explain("summary: this is no module", got=got, need="a module, and what it is called with"))
    need_registered(model)
    arguments = [_zeros(model, x) if _is_shape(x) else x for x in inputs]
    layers = {id(module): _layer(path, module) for path, module in model.named_modules()}
    meter = _Meter(layers)
    with _in_eval(model), no_grad():
        observe.attach(meter)
        try:
            model(*arguments, **kwargs)
        finally:
            observe.detach(meter)
    stored = [t._data for t in (*model.parameters(), *model.buffers())]
    return Summary(list(layers.values()), sum(array.nbytes for array in stored))


class _Meter:
    """An observer that adds the cost of every op to the modules that are running."""

    def __init__(self, layers: dict[int, Layer]) -> None:
        self.layers = layers
        self.running: list[Layer] = []

    def begin(self, kind: str, target: Any, inputs: tuple[Any, ...], /) -> Layer | None:
        """A call starts."""
        layer = self.layers.get(id(target)) if kind == "module" else None
        if layer is not None:
            self.running.append(layer)
        return layer

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        """It is over."""
        if token is not None:
            self.running.pop()
            token.calls += 1
            if token.calls == 1:
                token.shapes = [tuple(t.shape) for t in _tensors(output)]

    def forward(self, fn: Any, output: Any, began: int, /) -> None:
        """An op ran."""
        inputs = [tuple(x.shape) for x in fn.inputs]
        shapes = Shapes(inputs, [False] * len(inputs), tuple(output.shape))
        flops = cost(type(fn), shapes, ([0] * len(inputs), 0), grad=False).forward
        for layer in {id(layer): layer for layer in self.running}.values():
            layer.flops += flops or 0
            layer.whole &= flops is not None


def _layer(path: str, module: Module) -> Layer:
    sizes = {id(p): (prod(p.shape), p.requires_grad) for _, p in module.named_parameters()}.values()
    return Layer(path, type(module).__name__, path.count(".") + bool(path), sum(n for n, _ in sizes), sum(n for n, live in sizes if live))


def _is_shape(x: Any) -> bool:
    return isinstance(x, (tuple, list)) and bool(x) and all(type(n) is int for n in x)


def _zeros(model: Module, shape: Sequence[int]) -> Tensor:
    first = next((p for _, p in model.named_parameters()), None)
    return zeros(tuple(shape)) if first is None else zeros(tuple(shape), dtype=first.dtype, device=first.device)


def _tensors(output: Any) -> Iterator[Any]:
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, (tuple, list, dict)):
        parts: Iterable[Any] = output.values() if isinstance(output, dict) else output
        for part in parts:
            yield from _tensors(part)


@contextmanager
def _in_eval(model: Module) -> Iterator[None]:
    """Every module in eval, and afterwards in the mode that it was in."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
