"""Writer: puts ops on the tape, quickest where a step repeats what an earlier one did."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any

from ..function import Constant
from .alarm import Alarm
from .graph import VARIES, Call, Node, Tree
from .names import Leaf, Names, Root, Spot
from .structure import op_name
from .summary import norm
from .symptoms import Symptoms
from .tape import ASIDE_KEPT, Param, Tape
from .where import Where

_NAMES_A_TAPE = 256  # leaves that are looked up in the user's namespace, which may be large
_CALLS_KEPT = 20_000
_TEXT_KEPT = 500


@lru_cache(maxsize=1_024)
def _is_ours(cls: type) -> bool:
    return cls.__module__.startswith("gradlab.")


class ModuleCall:
    """A module call that is running in some thread."""

    __slots__ = ("library", "module", "parent", "place", "record", "root", "tape")

    def __init__(self, module: Any, root: Root, parent: ModuleCall | None, place: Where | None) -> None:
        self.module, self.root, self.parent, self.place = module, root, parent, place
        # A layer of gradlab's own makes its ops where the user's code calls it.
        self.library = _is_ours(type(module))
        self.record: Call | None = None
        self.tape = 0


class Writer(ABC):
    """Keeps the open tape, and knows the leaves and module calls that it reads about."""

    def __init__(self, names: Names, norms: bool) -> None:
        self.names, self.norms = names, norms
        self.tree = Tree()
        self.tape = Tape(self.tree.root)
        self.alarm, self.symptoms = Alarm(), Symptoms()
        self._params: dict[int, Param] = {}
        self._calls: dict[tuple[Any, ...], Call] = {}

    @abstractmethod
    def _turn(self, fn: Any) -> Tape:
        """The tape that an op with a graph belongs to: the open one, or a new one."""

    @property
    @abstractmethod
    def now(self) -> tuple[int, int]:
        """The run, and the step that is being made."""

    def op(self, fn: Any, place: Where | None, call: ModuleCall | None, duration_ns: int, output: Any) -> None:
        """Add an op to the tape; one that begins a new step closes the old one first."""
        tape = self.tape
        graph = output.grad_fn is fn
        if graph:
            if tape.turns:
                tape = self._turn(fn)
        elif tape.aside >= ASIDE_KEPT:
            tape.folded += 1
            return
        n = tape.n
        if n == len(tape.values) and not tape.grow():
            tape.folded += 1
            tape.folded_graph += graph
            return
        node, expected = None, tape.node.next
        if expected is None or (expected.place is not place and expected.place != place):
            expected = tape.turn_to(place)
            n = tape.n
        record = None
        if call is not None:
            record = call.record if call.tape == tape.id else self._enter(call, tape)
        refs = tape.refs
        fresh: tuple[Leaf, ...] = ()
        data = output._data
        if (
            expected is not None
            and expected.cls is fn.__class__
            and expected.dtype is data.dtype
            and expected.call is record
            and expected.graph is graph
            and len(expected.inputs) == len(fn.inputs)
            and expected.shape == data.shape
            and expected.error is None
        ):
            for t, ref in zip(fn.inputs, expected.inputs):  # noqa: B905 - checked above, and this loop is hot
                maker = t.grad_fn
                if maker is not None:
                    if refs.get(maker.seq) != ref:
                        break
                elif t.__class__ is Constant:
                    if ref.__class__ is not tuple or (ref[0] != t._data and ref[0] is not VARIES):
                        break
                else:
                    at = refs.get(-t._serial)
                    if at is None:
                        fresh = (*fresh, self._meet(tape, t, expected, len(fresh)))
                        at = -tape.leaf_count
                    if at != ref:
                        break
            else:
                node = expected if expected.leaves == fresh else None
        if node is None:
            node = self._other(fn, output, place, record, graph, expected, fresh)
        if self.norms:
            tape.values[n] = size = norm(data)
            if size - size:  # NaN where it is NaN or infinite
                self.alarm.forward(tape, node, n, fn, data, size, self.now)
        tape.forward_ns[n] = duration_ns
        if graph:
            refs[fn.seq] = n
        else:
            refs[-output.serial] = n
            tape.aside += 1
        tape.node = node
        tape.n = n + 1

    def _other(
        self, fn: Any, output: Any, place: Where | None, record: Call | None, graph: bool, expected: Node | None, fresh: tuple[Leaf, ...]
    ) -> Node:
        """The node of an op that is not the one that came here last time. Leaves that are `fresh` have been met already."""
        tape, new, data = self.tape, list(fresh), output._data
        inputs = tuple([self._ref(tape, t, new, expected) for t in fn.inputs])
        if graph and not _is_ours(fn.__class__):
            self.symptoms.meet(fn)
        return self.tree.follow(tape.node, fn.__class__, inputs, tuple(new), data.shape, data.dtype, place, record, graph)

    def failed(self, fn: Any, place: Where | None, call: ModuleCall | None, duration_ns: int, error: BaseException) -> None:
        """Add an op that raised, with what it said; also where further ops without a graph are only counted."""
        tape = self.tape
        if tape.n == len(tape.values) and not tape.grow():
            tape.folded += 1
            return
        tape.turn_to(place)
        record = None
        if call is not None:
            record = call.record if call.tape == tape.id else self._enter(call, tape)
        fresh: list[Leaf] = []
        inputs = tuple([self._ref(tape, t, fresh) for t in fn.inputs])
        node = self.tree.follow(tape.node, fn.__class__, inputs, tuple(fresh), (), None, place, record, False, said(error))
        tape.forward_ns[tape.n] = duration_ns
        tape.aside += 1
        tape.node = node
        tape.n += 1

    def _ref(self, tape: Tape, t: Any, fresh: list[Leaf], expected: Node | None = None) -> Any:
        if t.__class__ is Constant:
            return (t._data,)
        ref = tape.refs.get(-t._serial if t.grad_fn is None else t.grad_fn.seq)
        if ref is None and t.grad_fn is not None:
            return op_name(t.grad_fn.__class__)
        if ref is None:
            fresh.append(self._meet(tape, t, expected, len(fresh)))
            ref = -tape.leaf_count
        return ref

    def _meet(self, tape: Tape, t: Any, expected: Node | None, k: int) -> Leaf:
        """Take in a leaf that this step has not read before: as last time where it looks the same, else by its name."""
        data, needs, version = t._data, t._requires_grad, t._version
        serial = t._serial or t.serial
        param = self._params.get(serial)
        if param is not None:
            if param.root is None and param.models != self.names.made:
                # It was met in a step that was only glimpsed at, before a call of its model was seen.
                param.models = self.names.made
                param.leaf, param.root = self.names.owned(t) or (param.leaf, None)
            leaf = param.leaf
            if (leaf.shape != data.shape or leaf.dtype is not data.dtype or leaf.requires_grad is not needs
                    or (param.root is not None and param.root.label is not leaf.root)):  # fmt: skip
                root_label = leaf.root if param.root is None else param.root.label
                leaf = param.leaf = Leaf(root_label, leaf.name, leaf.kind, data.shape, data.dtype, needs)
                param.size = data.size
        else:
            root = None
            leaf = expected.leaves[k] if expected is not None and k < len(expected.leaves) else None
            if (
                leaf is None
                or leaf.shape != data.shape
                or leaf.dtype != data.dtype
                or leaf.requires_grad is not needs
                or (leaf.root and needs)
            ):
                leaf, root = self.names.leaf(t, tape.leaf_count < _NAMES_A_TAPE)
                if leaf.kind == "input" and leaf.name == "input":
                    # `lr * w.grad` in a hand-written update: each read of `.grad` is a new tensor around the same array.
                    source = next((p for p in tape.touched.values() if p.array == id(data)), None)
                    leaf = leaf if source is None else leaf._replace(name=f"{source.leaf.name}.grad")
            if needs:
                param = self._params[serial] = Param(t, leaf, root, self.names.made)
        j = tape.leaf_count
        if j == len(tape.leaf_values):
            tape.grow_leaves()
        if self.norms:
            if param is None:
                tape.leaf_values[j] = norm(data)
                if tape.looks:
                    self.symptoms.see_input(leaf, data)
            elif tape.full:
                tape.leaf_values[j] = param.w = norm(data)
                param.w_tape = tape.id
        tape.leaf_versions[j] = 0 if version is None else version.count
        tape.refs[-serial] = -1 - j
        tape.leaf_count = j + 1
        return leaf

    def _enter(self, call: ModuleCall, tape: Tape) -> Call:
        """Give a running module call its place in the tape, at its first op there."""
        above, root, up = call.parent, call.root, None
        if above is not None:
            up = above.record if above.tape == tape.id else self._enter(above, tape)
        elif root.parameters:
            tape.roots[root] = None
        spot = root.spot(call.module)
        nth = tape.calls[spot.key] = tape.calls.get(spot.key, 0) + 1
        known = spot.calls
        record = known[nth - 1] if nth <= len(known) else None
        if record is None or record.parent is not up:
            record = self._new_call(call.module, up, root, spot, nth)
            known[nth - 1 :] = [record]
        call.record, call.tape = record, tape.id
        return record

    def _new_call(self, module: Any, up: Call | None, root: Root, spot: Spot, nth: int) -> Call:
        is_model = bool(root.parameters)
        key = (up, root.label, spot.path, spot.key, type(module).__name__, _one_line(module), nth, is_model)
        if len(self._calls) > _CALLS_KEPT:
            self._calls.clear()
        if key not in self._calls:
            self._calls[key] = Call(up, root.label, *key[2:])
        return self._calls[key]


def said(error: BaseException) -> str:
    """What an error says, in one short text.

    >>> said(ValueError("no"))
    'ValueError: no'
    """
    name = type(error).__name__
    return f"{name}: {error}"[:_TEXT_KEPT] if str(error) else name


def _one_line(module: Any) -> str:
    cls = type(module).__name__
    try:
        text = repr(module)
    except Exception:  # a user's own __repr__
        return cls
    return text if "\n" not in text and len(text) <= 100 else f"{cls}(\u2026)"
