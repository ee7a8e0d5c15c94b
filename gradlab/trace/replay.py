"""A captured step once more: its Functions in their order, on its leaves, without the user's code.

What was drawn is drawn again as it was. In float64 where asked, for differences. Nothing of the run is read or written: the
Functions get copies, and generators stand where they stood.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from .. import observe
from ..backend import Array, is_array, quiet, to_numpy
from ..errors import GradlabError, explain
from ..function import Constant, made
from ..grad_mode import enable_grad, no_grad
from ..order import sequence
from .capture import Capture, CapturedOp
from .draws import drawing
from .graph import Node
from .lost import Lost

DROPOUTS = frozenset({"Dropout", "AlphaDropout"})


class ReplayError(GradlabError, RuntimeError):
    """A captured step, or an op of it, that cannot be run again."""


class Replay:
    """A captured step that can run again, whole or from a change on.

    Attributes:
        nodes, ops: as the capture numbers them.
        double: whether floating numbers are float64.
        without_dropout: whether dropouts hand on what they get.
        values: the arrays of this replay so far: the op's index or -1 - j for leaf j, and its array.
    """

    def __init__(self, capture: Capture, *, double: bool = True, without_dropout: bool = False) -> None:
        if capture.node is None:
            raise ReplayError("no step is captured")
        self._capture = capture
        self.nodes: list[Node] = capture.node.path()
        self.ops = capture.ops[: len(self.nodes)]
        self.leaves = capture.leaves
        self.double, self.without_dropout = double, without_dropout
        self.values: dict[int, Array] = {}

    # Values

    def leaf(self, j: int) -> Array:
        """A copy of a leaf's values as the step read them."""
        leaf = self.leaves[j] if j < len(self.leaves) else None
        if leaf is None:
            raise ReplayError("a value that the step read was not captured")
        return self.cast(leaf.value)

    def cast(self, value: Any) -> Any:
        """A copy of an array, in float64 where this replay is and it holds floats; what is no array, as it is."""
        if not is_array(value):
            return value
        return value.astype("float64") if self.double and value.dtype.kind == "f" else value.copy()

    def recorded(self, ref: int) -> Array:
        """What the step itself had there."""
        if ref < 0:
            return self.leaf(-1 - ref)
        return self.cast(self.op(ref).output)

    def op(self, at: int) -> CapturedOp:
        """A captured op.

        Raises: ReplayError where it was not kept.
        """
        op = self.ops[at] if 0 <= at < len(self.ops) else None
        if op is None:
            raise ReplayError("an op of the step was not captured")
        return op

    def ref(self, at: int, i: int) -> int | None:
        """Which op or leaf of the step input `i` of op `at` is; None for numbers and what came from elsewhere."""
        captured = self.op(at).inputs[i]
        return captured if isinstance(captured, int) and isinstance(self.nodes[at].inputs[i], int) else None

    # Running

    def run(self, changed: Mapping[int, Array] | None = None) -> dict[int, Array]:
        """The arrays of all ops and leaves; with changes, those of what depends on them, and of the changes themselves.

        Changed is a leaf (-1 - j) or what an op gave.
        """
        found: dict[int, Array] = {} if changed is None else dict(changed)
        with observe.paused(), no_grad(), drawing(), quiet():
            for at in range(len(self.ops)):
                if at in found or not (changed is None or any(self.ref(at, i) in found for i in range(len(self.op(at).inputs)))):
                    continue
                found[at] = self.apply(at, [_input(x) for x in self._read(at, found)])._data
        if changed is None:
            self.values = found
        return found

    def gradients(self) -> tuple[dict[int, Array], dict[int, Array]]:
        """Run the step with its backward calls: the gradients of the leaves that want one, and all values."""
        wants = [leaf.requires_grad for node in self.nodes for leaf in node.leaves]
        tensors: dict[int, Any] = {}
        with observe.paused(), drawing(), quiet():
            for at, node in enumerate(self.nodes):
                inputs: list[Any] = []
                for i, x in enumerate(self.op(at).inputs):
                    ref = self.ref(at, i)
                    if ref is not None and ref < 0 and ref not in tensors:
                        tensors[ref] = made(self.leaf(-1 - ref)).requires_grad_(wants[-1 - ref])
                    inputs.append(_input(self.cast(x)) if ref is None else tensors[ref])
                with enable_grad() if node.graph else no_grad():
                    tensors[at] = self.apply(at, inputs)
            for root, seed in self.roots():
                if tensors[root].requires_grad:
                    tensors[root].backward(made(self.cast(seed)), retain_graph=True)
        found = {ref: t._grad for ref, t in tensors.items() if ref < 0 and t._grad is not None}
        return found, {ref: t._data for ref, t in tensors.items()}

    def apply(self, at: int, inputs: Sequence[Any]) -> Any:
        """One op on these inputs."""
        op = self.op(at)
        if self.without_dropout and op.cls.__name__ in DROPOUTS:
            return inputs[0]
        fn = op.cls()
        fn.seq = next(sequence)
        fn.inputs = tuple(inputs)
        fn.params = self._params(op)
        for name, value in op.saved.items():  # a node that runs again keeps what it drew
            if name not in op.shared and not isinstance(value, Lost):
                fn.__dict__[name] = value
        if op.drawn is None:
            return fn._run()
        with drawing(op.drawn):
            return fn._run()

    def _params(self, op: CapturedOp) -> dict[str, Any]:
        params: dict[str, Any] = {}
        for name, value in op.params.items():
            if lost := _lost(value):
                need = "numbers, strings, arrays, tensors, classes or plain functions"
                got = {name: lost}
                raise ReplayError(explain(f"{op.cls.__name__}: a parameter of it was not captured", got=got, need=need))
            params[name] = self._param(value)
        if self.without_dropout and op.cls.__name__ == "Attention":
            params.pop("drawn", None)
        return params

    def _param(self, value: Any) -> Any:
        """A parameter of a Function; a dtype it names becomes float64 too."""
        if is_array(value):
            return value.copy()
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            return tuple(map(self._param, cast("tuple[Any, ...]", value)))
        named = isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic))
        if self.double and named and np.dtype(value).kind == "f":
            return np.dtype("float64")
        return cast("Any", value)

    def _read(self, at: int, found: Mapping[int, Array]) -> list[Any]:
        inputs: list[Any] = []
        for i, x in enumerate(self.op(at).inputs):
            ref = self.ref(at, i)
            if ref is None:
                inputs.append(self.cast(x))
            elif ref in found:
                inputs.append(found[ref])
            else:
                inputs.append(self._value(ref))
        return inputs

    def _value(self, ref: int) -> Array:
        if ref not in self.values:
            self.values[ref] = self.leaf(-1 - ref) if ref < 0 else self.recorded(ref)
        return self.values[ref]

    # The loss

    def roots(self) -> list[tuple[int, Array]]:
        """Where backward calls began, and the gradients they began with: what got a gradient from no op after it."""
        reached = {at: (op, op.gradient) for at, op in enumerate(self.ops) if op is not None and op.gradient is not None}
        used = {self.ref(at, i) for at, (op, _) in reached.items() for i in range(len(op.inputs))}
        return [(at, seed) for at, (_, seed) in reached.items() if at not in used]

    def loss(self, values: Mapping[int, Array]) -> float:
        """What the backward calls began at, in these values; where nothing leads there, as it was in this replay."""
        total = 0.0
        for at, seed in self.roots():
            y = values[at] if at in values else self._value(at)
            total += float((y * seed).sum())
        return total

    def change(self, values: Mapping[int, Array]) -> float:
        """By how much these values move the loss from that of this replay; entry by entry, so that few digits are lost."""
        return sum(float(((values[at] - self._value(at)) * seed).sum()) for at, seed in self.roots() if at in values)

    def need_loss(self) -> None:
        """Refuse a step without a backward call.

        Raises: ReplayError
        """
        if not self.roots():
            raise ReplayError("the captured step has no backward call, so there is no loss to compare")

    def verify(self, only: Iterable[int] | None = None) -> None:
        """Run ops once more on what they got, and refuse a step of which one gives other numbers now.

        Raises: ReplayError that names the op.
        """
        plain = Replay(self._capture, double=False)
        for at in range(len(self.ops)) if only is None else only:
            op = plain.op(at)
            inputs = [plain.cast(x) if (ref := plain.ref(at, i)) is None else plain.recorded(ref) for i, x in enumerate(op.inputs)]
            with observe.paused(), no_grad(), drawing(), quiet():
                y = plain.apply(at, [_input(x) for x in inputs])._data
            if not _near(to_numpy(y), to_numpy(op.output)):
                need = "a Function of its inputs, or one that draws from gradlab's, NumPy's or Python's own generator"
                got = {"op": at, "shape": op.output.shape}
                raise ReplayError(explain(f"{op.cls.__name__}: it gives other numbers when it runs again", got=got, need=need))


def _input(x: Any) -> Any:
    return made(x) if is_array(x) else Constant(x)


def _near(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal but for rounding, which another layout in memory may change."""
    if a.shape != b.shape or a.dtype.kind != "f":
        return a.shape == b.shape and bool((a == b).all())
    finite = np.isfinite(b)
    size = float(np.abs(b[finite]).max(initial=0.0))
    slack = float(np.sqrt(np.finfo(b.dtype).eps)) * (np.abs(b) + size)
    with np.errstate(invalid="ignore"):
        return bool(((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= slack)).all())


def _lost(value: Any) -> str:
    if isinstance(value, Lost):
        return value.name
    if isinstance(value, tuple):
        return next((name for name in map(_lost, cast("tuple[Any, ...]", value)) if name), "")
    return ""
