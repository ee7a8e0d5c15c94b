"""Steps: what every event means for the tape of the current step, and when one step ends and the next begins."""

from __future__ import annotations

import weakref
from functools import lru_cache
from typing import Any

from ..function import Constant
from .graph import Call, Node, Tree
from .ledger import Ledger
from .names import Leaf, Names, Root
from .run import Run
from .structure import op_name
from .summary import norm
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


class Steps:
    """The open tape, the last complete one, and the run they belong to.

    A step closes at the first op with a graph after an update. An update is an optimizer's step, or new values in leaves that
    got a gradient.
    """

    def __init__(self, names: Names, norms: bool) -> None:
        self.names, self.norms = names, norms
        self.tree, self.ledger, self.run = Tree(), Ledger(), Run(1)
        self.tape = Tape(self.tree.root)
        self.last: Tape | None = None
        self.passes = 0
        self.wants_all = False  # the next step is to be read in full
        self._spare = Tape(self.tree.root)
        self._params: dict[int, Param] = {}
        self._purge_at = 256
        # What the running backward call added: tensor, norm, the op it came from, whether the gradient was None before.
        self.pending: list[tuple[Any, float | None, Any, bool]] = []
        self._optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self._calls: dict[tuple[Any, ...], Call] = {}

    # Ops

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
        expected = tape.node.next
        if expected is None or (expected.place is not place and expected.place != place):
            expected = tape.turn_to(place)
            n = tape.n
        record = None
        if call is not None:
            record = call.record if call.tape == tape.id else self._enter(call, tape)
        refs = tape.refs
        inputs: Any = []
        fresh: tuple[Leaf, ...] = ()
        for t in fn.inputs:
            maker = t.grad_fn
            if maker is not None:
                ref = refs.get(maker.seq)
                if ref is None:
                    ref = op_name(maker.__class__)
            elif t.__class__ is Constant:
                ref = (t._data,)
            else:
                ref = refs.get(-t._serial)
                if ref is None:
                    fresh = (*fresh, self._meet(tape, t, expected, len(fresh)))
                    ref = -tape.leaf_count
            inputs.append(ref)
        inputs = tuple(inputs)
        data = output._data
        shape = data.shape
        if (
            expected is None
            or expected.inputs != inputs
            or expected.cls is not fn.__class__
            or expected.shape != shape
            or expected.dtype is not data.dtype
            or expected.call is not record
            or expected.graph is not graph
            or expected.leaves != fresh
            or expected.error is not None
        ):
            expected = self.tree.follow(tape.node, fn.__class__, inputs, fresh, shape, data.dtype, place, record, graph)
        if self.norms:
            tape.values[n] = norm(data)
        tape.forward_ns[n] = duration_ns
        if graph:
            refs[fn.seq] = n
        else:
            refs[-output.serial] = n
            tape.aside += 1
        tape.node = expected
        tape.n = n + 1

    def failed(self, fn: Any, place: Where | None, call: ModuleCall | None, duration_ns: int, error: BaseException) -> None:
        """Add an op that raised, with what it said."""
        tape = self.tape
        if tape.aside >= ASIDE_KEPT or (tape.n == len(tape.values) and not tape.grow()):
            tape.folded += 1
            return
        tape.turn_to(place)
        record = None
        if call is not None:
            record = call.record if call.tape == tape.id else self._enter(call, tape)
        fresh: list[Leaf] = []
        inputs = tuple([self._ref(tape, t, fresh) for t in fn.inputs])
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        node = self.tree.follow(tape.node, fn.__class__, inputs, tuple(fresh), (), None, place, record, False, text[:_TEXT_KEPT])
        tape.forward_ns[tape.n] = duration_ns
        tape.aside += 1
        tape.node = node
        tape.n += 1

    def _ref(self, tape: Tape, t: Any, fresh: list[Leaf]) -> Any:
        if t.__class__ is Constant:
            return (t._data,)
        ref = tape.refs.get(-t._serial if t.grad_fn is None else t.grad_fn.seq)
        if ref is None and t.grad_fn is not None:
            return op_name(t.grad_fn.__class__)
        if ref is None:
            fresh.append(self._meet(tape, t, None, len(fresh)))
            ref = -tape.leaf_count
        return ref

    def _meet(self, tape: Tape, t: Any, expected: Node | None, k: int) -> Leaf:
        """Take in a leaf that this step has not read before: as last time where it looks the same, else by its name."""
        data, needs = t._data, t.requires_grad
        serial = t._serial or t.serial
        param = self._params.get(serial)
        if param is not None:
            leaf = param.leaf
            if (leaf.shape != data.shape or leaf.dtype is not data.dtype or leaf.requires_grad is not needs
                    or (param.root is not None and param.root.label is not leaf.root)):  # fmt: skip
                root_label = leaf.root if param.root is None else param.root.label
                leaf = param.leaf = Leaf(root_label, leaf.name, leaf.kind, data.shape, data.dtype, needs)
                param.size = data.size
        else:
            root = None
            leaf = expected.leaves[k] if expected is not None and k < len(expected.leaves) else None
            if leaf is None or leaf.shape != data.shape or leaf.dtype != data.dtype or leaf.requires_grad is not needs or (leaf.root and needs):
                leaf, root = self.names.leaf(t, tape.leaf_count < _NAMES_A_TAPE)
            if needs:
                param = self._params[serial] = Param(t, leaf, root)
        j = tape.leaf_count
        if j == len(tape.leaf_values):
            tape.grow_leaves()
        if self.norms:
            if param is None:
                tape.leaf_values[j] = norm(data)
            elif tape.full:
                tape.leaf_values[j] = param.w = norm(data)
                param.w_tape = tape.id
            elif param.w_tape:
                tape.leaf_values[j] = param.w
        tape.leaf_versions[j] = t._version[0]
        tape.refs[-serial] = -1 - j
        tape.leaf_count = j + 1
        return leaf

    def _enter(self, call: ModuleCall, tape: Tape) -> Call:
        """Give a running module call its place in the tape, at its first op there."""
        above, root, up = call.parent, call.root, None
        path: str | None = ""
        if above is not None:
            up = above.record if above.tape == tape.id else self._enter(above, tape)
            path = root.path_of(call.module)
        elif root.parameters:
            tape.roots[root] = None
        cls = type(call.module).__name__
        nth = tape.calls[root.label, path] = tape.calls.get((root.label, path), 0) + 1
        record = root.calls.get((up, path, cls, nth))
        if record is None:
            text = _one_line(call.module)
            key = (up, root.label, path, cls, text, nth, bool(root.parameters))
            if len(self._calls) > _CALLS_KEPT:
                self._calls.clear()
            record = self._calls.get(key)
            if record is None:
                record = self._calls[key] = Call(up, root.label, path, cls, text, nth, bool(root.parameters))
            root.calls[up, path, cls, nth] = record
        call.record, call.tape = record, tape.id
        return record

    # Backward

    def backward_began(self, root: Any) -> None:
        """Note the loss."""
        data = root._data
        self.tape.loss = float(data.item()) if data.size == 1 else None

    def backward_ended(self) -> None:
        """Note every gradient that the call left in a leaf."""
        tape = self.tape
        pending, self.pending = self.pending, []
        self.passes += 1
        for tensor, g, source, fresh in pending:
            if g is not None:
                self.ledger.add(tensor.serial, fresh, (self.passes, None if source is None else op_name(source.__class__), g))
            if tensor.grad_fn is None:
                param = self._params.get(tensor.serial) or self.param(tensor)
                gradient = tensor._grad
                if not fresh and g is not None:
                    g = norm(gradient)  # what was added is not all of it
                param.array = id(gradient)
                tape.gradient(param, g)
        tape.passes += 1
        tape.check = tape.turns = True
        if self.norms:
            tape.sum_up()
        if tape.step:
            self.run.write(tape)

    def param(self, tensor: Any) -> Param:
        """The record of a leaf that requires a gradient, also of one that no traced op read."""
        param = self._params.get(tensor.serial)
        if param is None:
            leaf, root = self.names.leaf(tensor)
            param = self._params[tensor.serial] = Param(tensor, leaf, root)
        return param

    # Steps and runs

    def stepped(self, optimizer: Any, output: list[tuple[Any, Any]]) -> None:
        """An optimizer moved these parameters by these amounts."""
        tape = self.tape
        if not (tape.graphs or tape.passes):
            return  # nothing that it could be the update of was traced
        moved = [self.param(tensor) for tensor, _ in output]
        if not self.run.knows(optimizer) or not self.run.bound.issuperset([p.serial for p in moved]) or not self.run.bound.issuperset(tape.touched):
            self._begin_run_if_rebuilt(moved, optimizer not in self._optimizers)
            self._optimizers.add(optimizer)
            self.run.series_of(optimizer)
            self._enroll(moved)
        series = self.run.series_of(optimizer)
        series.read_lr(optimizer, output)
        if tape.full and self.norms:
            columns = [self.run.column(param.identity) for param in moved]
            series.read(optimizer, [(t, u, p, c.number) for (t, u), p, c in zip(output, moved, columns, strict=True) if c is not None], tape.id)
        series.tape = tape.id
        self._count()

    def settle(self) -> None:
        """Count a hand-written update that came after the last op."""
        tape = self.tape
        if tape.passes and not tape.updated and tape.rewritten(self.names.lookup):
            self._updated_by_hand()

    def _turn(self, fn: Any) -> Tape:
        """The tape that an op with a graph belongs to."""
        tape = self.tape
        if tape.updated:
            return self.close(True)
        if tape.passes and self._rewritten(tape, fn):
            self._updated_by_hand()
            return self.close(True)
        if tape.stale:
            tape.stale = False
            tape.turns = tape.passes > 0
            if not any(t.grad_fn is not None and t.grad_fn.seq in tape.refs for t in fn.inputs):
                return self.close(False)  # tracing was off in between
        return tape

    def _rewritten(self, tape: Tape, fn: Any) -> bool:
        if tape.check:  # all leaves once after each backward call
            tape.check = False
            if tape.rewritten(self.names.lookup):
                return True
        for t in fn.inputs:
            if t.grad_fn is None and t.requires_grad and t._serial in tape.touched:
                at = tape.refs.get(-t._serial)
                if at is not None and t._version[0] != tape.leaf_versions[-1 - at]:
                    return True
        return False

    def _updated_by_hand(self) -> None:
        moved = self.tape.moved()
        self._begin_run_if_rebuilt(moved, False)
        self._enroll(moved)
        self._count()

    def _begin_run_if_rebuilt(self, moved: list[Param], optimizer_is_new: bool) -> None:
        if not self.tape.step and self.run.is_rebuilt([*moved, *self.tape.touched.values()], optimizer_is_new):
            self.begin_run()

    def begin_run(self) -> None:
        """Forget the timeline; the open tape becomes the first step of a new run."""
        self.run = Run(self.run.number + 1)
        self.last = None
        self.tree.epoch += 1

    def _enroll(self, moved: list[Param]) -> None:
        params = list(dict.fromkeys([*moved, *self.tape.moved()]))
        for param in params:
            if param.root is not None:
                param.root.counted = True
        if self.run.enroll(params, len(self.tape.roots) > 1):
            self.tree.epoch += 1

    def _count(self) -> None:
        tape = self.tape
        if not tape.step:
            self.run.step += 1
            tape.step = self.run.step
        tape.updated = tape.turns = True
        self.run.write(tape)

    def close(self, complete: bool) -> Tape:
        """End the tape and begin an empty one; only a complete one is kept to be shown."""
        done, self.tape = self.tape, self._spare
        if complete:
            self._spare, self.last = self.last or Tape(self.tree.root), done
        else:
            self._spare = done
        self.tree.prune()
        self.tape.reset(self.tree.root)
        self.tape.full = self.run.is_full(self.wants_all)
        self.wants_all = False
        if len(self._params) > self._purge_at:
            self._params = {serial: param for serial, param in self._params.items() if param.ref() is not None}
            self._purge_at = 2 * len(self._params) + 256
        return self.tape


def _one_line(module: Any) -> str:
    cls = type(module).__name__
    try:
        text = repr(module)
    except Exception:  # a user's own __repr__
        return cls
    return text if "\n" not in text and len(text) <= 100 else f"{cls}(\u2026)"
