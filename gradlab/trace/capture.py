"""Capture: every array of one step, kept until released. It watches as an observer of its own, for that step alone."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from .. import observe
from ..backend import Array, is_array, xp_of
from ..function import Constant
from .draws import Draws, draws, same
from .graph import Node
from .lost import Lost, is_plain
from .room import CAPTURE_BYTES
from .steps import Steps
from .tape import Tape
from .update import Update

_NOT_SAVED = frozenset({"params", "hooks", "retained", "output_version"})


class _FullError(Exception):
    """The next array goes past the limit."""


class CapturedOp:
    """One op of a captured step.

    Attributes:
        cls: its Function.
        params: the keyword arguments of `apply`.
        inputs: per input what it is: the index of an op of this step, -1 - j for leaf j, or the number or array itself.
        output, gradient: the arrays; None for a gradient that never came.
        saved: what the Function kept on itself for backward, by name.
        shared: names in `saved` that are inputs or the output, and so take no memory of their own.
        drawn: where the generators stood before it, if it drew from one.
    """

    __slots__ = ("cls", "drawn", "gradient", "inputs", "output", "params", "saved", "shared")

    def __init__(self, cls: Any, params: dict[str, Any], inputs: tuple[Any, ...], output: Array) -> None:
        self.cls, self.params, self.inputs, self.output = cls, params, inputs, output
        self.gradient: Array | None = None
        self.saved: dict[str, Any] = {}
        self.shared: dict[str, str] = {}
        self.drawn: Draws | None = None


class CapturedLeaf:
    """A leaf of a captured step: its value as the step read it, and its `.grad` after the last backward call."""

    __slots__ = ("gradient", "serial", "value")

    def __init__(self, serial: int, value: Array) -> None:
        self.serial, self.value = serial, value
        self.gradient: Array | None = None


class Capture:
    """Waits for the first op of a step, keeps copies of all its arrays, and leaves when the next step begins.

    Attributes:
        state: "armed" before the step, "open" while it runs, "complete" after it, "refused" where it grew past the limit.
        ops, leaves: as the tape numbers them; None for what was not kept.
        random_state: of `gradlab`'s generator before the first op.
        updates: the optimizer steps in it, in their order.
        step, run: of which step of which run.
        size_bytes: what the copies take.
    """

    wants_updates = False
    replays = True  # whether enough is kept to run the step once more

    def __init__(self, steps: Callable[[], Steps], limit_bytes: int = CAPTURE_BYTES, tell: Callable[[], None] = lambda: None) -> None:
        self._steps, self.limit_bytes, self._tell = steps, limit_bytes, tell
        self.state: Literal["armed", "open", "complete", "refused"] = "armed"
        self._tape: Tape | None = None
        self._id = 0
        self._drawn: dict[int, Draws] = {}  # where the generators stood before the op of that number
        self.before = self._note_draws if self.replays else None
        self.forget()

    def forget(self) -> None:
        """Let go of every array."""
        self.ops: list[CapturedOp | None] = []
        self.leaves: list[CapturedLeaf | None] = []
        self.random_state: dict[str, Any] | None = None
        self.step = self.run = self.size_bytes = 0
        self.node: Node | None = None
        self.updates: list[Update] = []
        self._at: dict[int, int] = {}

    # Events; the recorder, attached before, has heard of them already

    def _note_draws(self, fn: Any) -> None:
        if self.state in ("armed", "open"):
            self._drawn = {fn.seq: draws()}

    def forward(self, fn: Any, output: Any, began: int, /) -> None:
        """An op was made."""
        if self.state in ("armed", "open"):
            with self._room():
                self._forward(self._steps(), fn, output, self._drawn.get(fn.seq))

    def backward(self, fn: Any, g: Any, grads: Sequence[Any], began: int, /) -> None:
        """A gradient went through an op."""
        at = self._at.get(fn.seq)
        op = self.ops[at] if at is not None and at < len(self.ops) else None
        if op is not None and self.state == "open":
            with self._room():
                op.gradient = self._copy(g)

    def begin(self, kind: observe.Kind, target: Any, inputs: tuple[Any, ...], /) -> Any:
        """A pass, a module call or an optimizer's step begins."""
        return kind, target, Update(target) if kind == "step" and self.state == "open" and self.replays else None

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        """It is over."""
        kind, target, before = token
        if self.state != "open" or kind == "module":
            return
        steps = self._steps()
        with self._room():
            self._look(steps)
            if self.state == "open" and kind == "pass":
                self._gradients(steps)
            elif self.state == "open" and before is not None and error is None:
                self._update(before, target)

    @contextmanager
    def _room(self) -> Generator[None]:
        """Let go of the step where there is no room for the next array."""
        try:
            yield
        except _FullError:
            self.refuse()

    def _look(self, steps: Steps) -> None:
        """See whether the tape is still the one that is captured, or was rewound because a cell ran again."""
        tape = steps.tape
        if tape is not self._tape:
            self.close(steps)
        elif tape.id != self._id:
            self._id = tape.id
            del self.ops[tape.n :], self.leaves[tape.leaf_count :]
            self._at = {seq: at for seq, at in self._at.items() if at < tape.n}

    def _forward(self, steps: Steps, fn: Any, output: Any, before: Draws | None) -> None:
        tape = steps.tape
        at = tape.refs.get(fn.seq if output.grad_fn is fn else -output._serial)
        if self.state == "open":
            self._look(steps)
        if self.state == "armed" and at == 0:
            self.random_state, self._tape, self._id = before and before.own, tape, tape.id
            self.step, self.run, self.state = steps.run.step + 1, steps.run.number, "open"
            self._tell()
        if self.state != "open" or at is None or at < 0:
            return
        self.node = tape.node
        arrays: dict[int, tuple[Any, str]] = {}  # id of an array -> its copy, and what it is
        memory: dict[int, str] = {}  # id of what owns the memory -> what it is
        inputs: list[Any] = []
        for i, t in enumerate(fn.inputs):
            ref, kept = self._input(steps, tape, t)
            inputs.append(ref)
            if kept is not None:
                arrays[id(t._data)] = kept, f"input {i}"
                memory[id(_owner(t._data))] = f"input {i}"
        op = CapturedOp(
            type(fn), {name: self._kept(value, {}) for name, value in fn.params.items()}, tuple(inputs), self._copy(output._data)
        )
        arrays.setdefault(id(output._data), (op.output, "output"))
        memory.setdefault(id(_owner(output._data)), "output")
        for name, value in vars(fn).items():
            if name not in _NOT_SAVED:
                op.saved[name] = self._kept(value, arrays)
                if id(_owner(value)) in memory:
                    op.shared[name] = memory[id(_owner(value))]
        if before is not None and not same(before, draws()):
            op.drawn = before
        self.ops.extend([None] * (at + 1 - len(self.ops)))
        self.ops[at] = op
        self._at[fn.seq] = at

    def _input(self, steps: Steps, tape: Tape, t: Any) -> tuple[Any, Array | None]:
        """What an input is, and our copy of its array."""
        if t.__class__ is Constant:
            return t._data, None
        at = tape.refs.get(-t._serial if t.grad_fn is None else t.grad_fn.seq)
        if at is None:  # of an earlier step
            kept = self._copy(t._data)
            return kept, kept
        if at >= 0:
            op = self.ops[at] if at < len(self.ops) else None
            kept = op.output if op is not None else self._copy(t._data)
            return at if op is not None else kept, kept
        j = -1 - at
        self.leaves.extend([None] * (j + 1 - len(self.leaves)))
        leaf = self.leaves[j]
        if leaf is None:
            leaf = self.leaves[j] = CapturedLeaf(t.serial, self._copy(t._data))
        return at, leaf.value

    def _gradients(self, steps: Steps) -> None:
        """Keep what a backward call left in the leaves."""
        for leaf in self.leaves:
            param = None if leaf is None else steps.tape.touched.get(leaf.serial)
            tensor = None if param is None else param.ref()
            if leaf is not None and tensor is not None and tensor._grad is not None:
                leaf.gradient = self._copy(tensor._grad)

    def _update(self, update: Update, optimizer: Any) -> None:
        """Keep what an optimizer did."""
        update.finish(optimizer)
        self.size_bytes += update.size_bytes
        if self.size_bytes > self.limit_bytes:
            raise _FullError
        self.updates.append(update)

    def _kept(self, value: Any, arrays: dict[int, tuple[Any, str]]) -> Any:
        """A copy of what was saved; of what is no data, its type only, so that nothing of the user's is held."""
        if id(value) in arrays:
            return arrays[id(value)][0]
        if is_array(value):
            return self._copy(value)
        if isinstance(value, (list, tuple)):
            parts = [self._kept(v, arrays) for v in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, dict):
            return {name: self._kept(v, arrays) for name, v in value.items()}
        if is_plain(value):
            return value
        return self._copy(value._data) if hasattr(value, "_data") and is_array(value._data) else Lost(type(value).__name__)

    def _copy(self, array: Array) -> Array:
        strides = getattr(array, "strides", ())
        once = array[tuple([slice(1) if s == 0 else slice(None) for s in strides])] if 0 in strides else array
        self.size_bytes += once.nbytes
        if self.size_bytes > self.limit_bytes:
            raise _FullError
        kept = once.copy()
        return kept if kept.shape == array.shape else xp_of(array).broadcast_to(kept, array.shape)

    # Its end

    def refuse(self) -> None:
        """Let go of a step that is larger than the limit."""
        size = self.size_bytes
        self.forget()
        self.size_bytes, self.state = size, "refused"
        self._tape = None
        self._tell()

    def close(self, steps: Steps) -> None:
        """The step is over: watch no longer, and keep what there is."""
        if self.state == "open":
            tape = self._tape
            self.step = (tape.step if tape is not None else 0) or steps.run.step + 1
            self.run, self.state = steps.run.number, "complete"
            self._tape = None
            self._tell()

    def saved_bytes(self, at: int) -> list[tuple[str, tuple[int, ...], str, int, str]]:
        """What op `at` keeps for backward: name, shape, dtype, bytes, and which input or output it is, where it is one."""
        op = self.ops[at] if at < len(self.ops) else None
        found: list[tuple[str, tuple[int, ...], str, int, str]] = []
        for name, value in () if op is None else op.saved.items():
            for array in _arrays(value):
                found.append((name, array.shape, str(array.dtype), array.nbytes, op.shared.get(name, "") if op is not None else ""))
        return found


def _owner(array: Any) -> Any:
    base = getattr(array, "base", None)
    return array if base is None else base


def _arrays(value: Any) -> Iterator[Array]:
    if is_array(value):
        yield value
    elif isinstance(value, tuple):
        for v in value:
            yield from _arrays(v)
