"""Reader: what is read of a recording, the step on show or an earlier one, its ops, leaves and optimizers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from zlib import crc32

from . import alive
from .cost import Cost, costs
from .frames import Frames
from .graph import Node
from .history import numbers_at
from .holding import Birth, Holding, holdings
from .ledger import Contribution
from .names import Names
from .numbers import Numbers, numbers_of
from .steps import Steps
from .structure import describe
from .tape import Tape
from .timeline import Timeline

_STRUCTURES_KEPT = 8
_DESCRIBED_KEPT = 50_000  # ops of them together, about 30 MB
_SHORT = 256  # ops that are described at once


class Reader:
    """The reading half of a recorder: nothing here hears of an event. Readers on other threads hold `lock`.

    Attributes:
        held: set it while training waits inside a step for somebody to look: then all that is known of the open step is shown.
        norms: False records the graph only.
        objects: gives the user's variables, where tensors are looked for.
        diagnosis: what the rules say of it, filled by `gradlab.trace.rules` when somebody asks.
    """

    def __init__(self, norms: bool) -> None:
        self.lock = threading.RLock()
        self.norms = norms
        self.held = False
        self.objects: Callable[[], Iterable[Any]] | None = None
        self.diagnosis: Any = None
        self._running = False
        self._frames = Frames()
        self._names = Names()
        self._steps = Steps(self._names, norms)
        self._structures: dict[str, dict[str, Any]] = {}

    @property
    def run(self) -> int:
        """The number of the run, counted up where a model was built anew and by `clear`."""
        return self._settled().run.number

    @property
    def step(self) -> int:
        """How many steps of this run are complete: have got their update."""
        return self._settled().run.step

    @property
    def timeline(self) -> Timeline:
        """Loss, gradients and updates of this run's steps; at the end of a cell also what is known of the open step."""
        return self._settled().run.timeline

    @property
    def open(self) -> bool:
        """Whether the step on show has not got its update yet."""
        with self.lock:
            return not self._shown().updated

    def structure(self) -> dict[str, Any]:
        """The graph of the step on show, in plain lists and dicts; the same object as long as `key` is the same.

        On show is the open step if it has ops with a graph, else the last complete one; inside `on_frame`, and while
        `running`, a loop's half-finished step is not shown.
        """
        with self.lock:
            tape = self._shown()
            node, folded = self._end_shown(tape), tape.folded
            if self._live and folded:
                folded = 1 << folded.bit_length() - 1  # else every frame of an evaluation would be a new structure
            return self._described(node, folded, tape.folded_graph, tape.errors)

    def _described(self, node: Node, folded: int, folded_graph: int, errors: dict[int, str]) -> dict[str, Any]:
        steps = self._steps
        key = f"{node.number:x}.{steps.tree.epoch:x}.{folded:x}.{steps.run.number:x}"
        if errors:
            key += f".{crc32(repr(errors).encode()):x}"
        found = self._structures.get(key)
        if found is None:
            found = describe(node, steps.run, key, folded, folded_graph, errors)
            while self._structures and (len(self._structures) >= _STRUCTURES_KEPT or self._ops_described() > _DESCRIBED_KEPT):
                del self._structures[next(iter(self._structures))]
            self._structures[key] = found
        return found

    def at(self, step: int) -> tuple[int, dict[str, Any], Numbers] | None:
        """An earlier step of this run: its number, structure and numbers; of the newest one before it where its own are gone.

        None where nothing was kept. Durations and optimizers are those of no step: NaN and none.
        """
        with self.lock:
            steps = self._settled()
            tape = steps.tape
            if tape.step and tape.step <= step:
                return (
                    tape.step,
                    self._described(tape.node, tape.folded, tape.folded_graph, tape.errors),
                    numbers_of(tape, tape.node, (), step),
                )
            kept = steps.run.history.at(step)
            if kept is None:
                return None
            return kept.step, self._described(kept.node, kept.folded, kept.folded_graph, {}), numbers_at(kept)

    def _ops_described(self) -> int:
        return sum(len(known["ops"]) for known in self._structures.values())

    def lens(self) -> list[dict[str, Any]]:
        """What each optimizer of this run did to its parameters in its last step; see `microscope.COLUMNS`.

        Where nothing runs it is read now, and what a gradient says only where no later backward call may have changed it; while a
        cell runs, steps are looked at for some seconds from now on, and the answer is what was seen at the last of them. Dicts with
        "label", "lr", "step", "names", "numbers" (parameter numbers) and "rows".
        """
        with self.lock:
            steps = self._steps
            steps.lens.ask()
            if not self._live:
                for series in steps.run.series.values():
                    optimizer = series.ref()
                    if optimizer is not None and series.step:
                        updates = {id(p): u for p, u in getattr(optimizer, "last_updates", ())}
                        moved = [(p, updates.get(id(p))) for p in series.tensors()]
                        stale = {id(p) for p, _ in moved if not steps.is_of(series, p)}
                        steps.lens.look(optimizer, moved, series.step, series.rates_of(optimizer), stale)
            found: list[dict[str, Any]] = []
            for series in steps.run.series.values():
                optimizer = series.ref()
                step, rows = steps.lens.seen.get(id(optimizer), (0, {}))
                if optimizer is not None and rows:
                    columns = [(serial, steps.run.column(param.identity)) for serial in rows if (param := steps._params.get(serial))]
                    kept = [(serial, column) for serial, column in columns if column is not None]
                    found.append({
                        "label": series.label, "lr": series.lr, "step": step, "names": [column.label for _, column in kept],
                        "numbers": [column.number for _, column in kept], "rows": [rows[serial] for serial, _ in kept],
                    })  # fmt: skip
            return found

    def holdings(self, births: Mapping[int, Birth]) -> list[Holding]:
        """What each optimizer that stepped in this run holds, beside what the step on show read; `births` by serial of a parameter."""
        with self.lock:
            steps = self._steps
            alive = [(series.label, optimizer) for series in steps.run.series.values() if (optimizer := series.ref()) is not None]
            return holdings(alive, self._shown(), steps._params, births)

    def read_zeros(self, seconds: float) -> None:
        """Read the share of zeros in gradients for some seconds, in steps that are read in full; and of the last step, if it was."""
        with self.lock:
            steps = self._steps
            steps.run.zeros.ask(seconds)
            if steps.tape.step and steps.tape.full:
                steps.run.write(steps.tape, steps.tape.step)

    def numbers(self) -> Numbers:
        """The numbers of the same step, copied; loss and norm of the gradients those of `step`, where no op of that was read."""
        with self.lock:
            tape, run = self._shown(), self._steps.run
            numbers = numbers_of(tape, self._end_shown(tape), run.series.values(), run.step)
            if tape.step and tape.step != run.step:
                numbers.of = tape.step
                numbers.loss, numbers.grad_norm = run.totals(run.step)
            return numbers

    def structure_of(self, key: str) -> dict[str, Any] | None:
        """A structure that `structure()` gave lately."""
        with self.lock:
            return self._structures.get(key)

    def nodes(self) -> list[Node]:
        """The ops of the step on show, in tape order."""
        with self.lock:
            return self._end_shown(self._shown()).path()

    def tensor(self, ref: int) -> Any:
        """The tensor that op `ref` made, or that leaf -1 - ref is, in the step on show; None where it is no longer there.

        Nothing is kept for this: leaves that require a gradient are known by weak references, others are found where the user's
        `objects` hold them or a graph that was made with them.
        """
        with self.lock:
            tape = self._shown()
            serial = next((-key for key, at in tape.refs.items() if at == ref and key < 0), 0)
            tensor = self._steps.living(serial) if serial else None
        return alive.find(tape, ref, self.objects()) if tensor is None and self.objects is not None else tensor

    def parameter(self, label: str) -> Any:
        """The tensor that a parameter of the timeline is now, by its label; None where it is no longer there."""
        with self.lock:
            column = self._steps.run.labelled(label)
            return None if column is None else column.param.ref()

    def costs(self) -> list[Cost]:
        """Floating-point operations and bytes of every op of the same step."""
        with self.lock:
            return costs(self.nodes())

    @property
    def tape(self) -> Tape:
        """The tape that `structure()` describes; read it under `lock`."""
        return self._shown()

    def ledger(self, tensor: Any) -> list[Contribution]:
        """Which backward calls added what to `tensor.grad` since it was last None, oldest first."""
        with self.lock:
            return self._steps.ledger.of(tensor.serial)

    @property
    def steps(self) -> Steps:
        """Tapes and run as they are now, also half-way through a step: for other parts of the tracer, under `lock`."""
        return self._steps

    def ledgers(self) -> list[tuple[str, list[Contribution]]]:
        """The same for every parameter of the run, by its name in the timeline."""
        with self.lock:
            return [(label, self._steps.ledger.of(serial)) for label, serial in self._steps.run.shown()]

    @property
    def _live(self) -> bool:
        return self._frames.open or (self._running and not self.held)

    def _settled(self) -> Steps:
        """The steps; where nothing runs, with an update by hand that came after the last op, and all that is known of the open step."""
        if not self._live:
            with self.lock:
                self._steps.settle()
                self._steps.complete()
                self._steps.sketch()
        return self._steps

    def _shown(self) -> Tape:
        steps = self._settled()
        tape, last = steps.tape, steps.last
        if self._live:
            return self._of_loop()
        return tape if (tape.graphs and not tape.light) or last is None else last

    def _end_shown(self, tape: Tape) -> Node:
        """How far a tape is shown: a long one that grows, only to a round length, else each picture would describe all of it anew."""
        growing = self._live and tape is self._steps.tape and not tape.updated and tape.n > _SHORT
        return tape.node.above(1 << tape.n.bit_length() - 1) if growing else tape.node

    def _of_loop(self) -> Tape:
        """The tape on show while something runs."""
        tape, last = self._steps.tape, self._steps.last
        if tape.light and last is not None:
            return last
        if last is None or tape.updated or (tape.graphs and _cell(tape) != _cell(last)):
            return tape
        return last


def _cell(tape: Tape) -> tuple[Any, ...]:
    """The run of a cell that a step's first op is written in."""
    place = tape.node.above(1).place if tape.n else None
    return () if place is None else (place.cell, place.count, place.file)
