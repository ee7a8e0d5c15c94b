"""Fault: which op made the first number of a step that is not finite, found by running that step again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .. import observe
from .._tensor import Tensor
from ..autograd.anomaly import fault, place
from ..backend import on_host, quiet, to_numpy, xp_of
from ..errors import explain
from ..nn.module import Module


class Source(NamedTuple):
    """An op that made NaN or Inf from finite numbers, or passed on what came in.

    Attributes:
        op, module: its class, and the path of the module that it ran in.
        phase: "forward" or "backward".
        what: what it made.
        inputs: what it was given, in words.
        spoilt: which of them, of the parameters and the batch, was not finite already.
        clean: whether all of them were finite.
        written: the line that called for it.
    """

    op: str
    module: str
    phase: str
    what: str
    inputs: str
    spoilt: str
    clean: bool
    written: str

    def rows(self) -> Iterator[tuple[str, str]]:
        """Lines of an error."""
        yield "made by", f"{self.op}{f' in {self.module}' if self.module else ''}, {self.phase}"
        yield "it made", self.what
        yield "out of", self.inputs
        if self.spoilt:
            yield "because", f"{self.spoilt} was not finite already"
        if self.written:
            yield "written in", self.written


class _Watch:
    """The observer: notes the first ops that made something that is not finite.

    Attributes:
        found: the first one that made NaN, or infinity out of finite numbers.
        spoilt: the first one that read a parameter, or a part of the batch, that was not finite.
        passed_on: infinity in, infinity out: a mask of attention, if nothing else is found.
    """

    def __init__(self, model: Module, known: Mapping[int, str]) -> None:
        self.found: Source | None = None
        self.spoilt: Source | None = None
        self.passed_on: Source | None = None
        self._known = known
        self._names = {id(module): name or type(module).__name__ for name, module in model.named_modules()}
        self._path: list[str] = []
        self._places: dict[int, tuple[str, str]] = {}

    def begin(self, kind: observe.Kind, target: Any, inputs: tuple[Any, ...], /) -> Any:
        if kind == "module":
            self._path.append(self._names.get(id(target), type(target).__name__))
        return kind

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        if token == "module":
            self._path.pop()

    def forward(self, fn: Any, output: Any, began: int, /) -> None:
        module, written = self._path[-1] if self._path else "", place()
        if output.grad_fn is fn:
            self._places[fn.seq] = module, written
        if self.found is not None or _finite(output._data):
            return
        source = self._source(fn, module, "forward", fault(output._data), written)
        if source.spoilt:
            self.spoilt = self.spoilt or source
        if _has_nan(output._data) or (source.clean and not _infinite(fn.params)):
            self.found = source
        else:
            self.passed_on = self.passed_on or source

    def backward(self, fn: Any, g: Any, grads: Any, began: int, /) -> None:
        if self.found is not None or not _finite(g):
            return
        bad = next((d for d in grads if d is not None and not _finite(d)), None)
        if bad is not None:
            self.found = self._source(fn, *self._at(fn), f"a gradient with {fault(bad)}")

    def _at(self, fn: Any) -> tuple[str, str]:
        return self._places.get(fn.seq, ("", ""))[0], "backward"

    def _source(self, fn: Any, module: str, phase: str, what: str, written: str = "") -> Source:
        tensors = [t for t in fn.inputs or () if isinstance(t, Tensor)]
        said = [f"{name} {_range(t._data)}" if (name := self._known.get(id(t), "")) else _range(t._data) for t in tensors]
        bad = [t for t in tensors if not _finite(t._data)]
        spoilt = next((name for t in bad if (name := self._known.get(id(t), ""))), "")
        written = written or self._places.get(fn.seq, ("", ""))[1]
        return Source(type(fn).__name__, module, phase, what, "; ".join(said) or "nothing", spoilt, not bad, written)

    def answer(self) -> Source | None:
        """The op to name."""
        if self.found is not None and self.found.clean:
            return self.found
        return self.spoilt or self.found or self.passed_on


def source_of(model: Module, again: Callable[[], object], batches: Sequence[Mapping[str, Any]]) -> Source | None:
    """The first op that makes NaN or Inf in `again`, which runs a step; tracers do not hear of it. None where none did.

    Args:
        batches: what comes in, by what it is called.

    >>> import gradlab as gl
    >>> x = gl.tensor([0.0, 1.0], requires_grad=True)
    >>> source_of(gl.nn.Identity(), lambda: x.sqrt().sum().backward(), []).op
    'Sqrt'
    """
    known = {id(value): name for batch in batches for name, value in batch.items()}
    known |= {id(p): f"parameter {name}" for name, p in model.named_parameters()}
    watch = _Watch(model, known)
    with observe.alone(watch), quiet():
        again()
    return watch.answer()


def told(source: Source | None, traced: bool) -> Mapping[str, str]:
    """What is known of the op, as lines of an error."""
    if source is not None:
        return dict(source.rows())
    look = "the findings of the tracer name the op (R1)" if traced else "gl.autograd.detect_anomaly() around one step names the op"
    return {"made by": f"not found: the same batch was finite when it ran again; {look}"}


def message(what: str, source: Source | None, traced: bool, state: str) -> str:
    """The whole error."""
    need = "finite numbers: inputs at which that op and its derivative are finite, a smaller step, or clip_norm="
    return explain(what, got={**told(source, traced), "state": state}, need=need)


def _finite(array: Any) -> bool:
    if array.dtype.kind not in "fc":
        return True
    xp = xp_of(array)
    return bool(xp.isfinite(array).all())


def _has_nan(array: Any) -> bool:
    return array.dtype.kind in "fc" and bool(xp_of(array).isnan(array).any())


def _infinite(params: Mapping[str, Any]) -> bool:
    return any(isinstance(value, float) and math.isinf(value) for value in params.values())


def _range(array: Any) -> str:
    host = array if on_host(array) else to_numpy(array)
    shape = f"shape {tuple(host.shape)}"
    if not host.size:
        return f"{shape}, empty"
    bad = fault(host) if host.dtype.kind in "fc" else ""
    return f"{shape}, {bad}" if bad else f"{shape}, {host.min():.4g} to {host.max():.4g}"
