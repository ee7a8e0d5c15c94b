"""Recorder: the observer that hears of events and turns them into tapes, runs and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from time import perf_counter_ns as clock
from typing import Any

from .. import observe
from .names import Names
from .run import Epoch
from .steps import Steps
from .turning import Turning
from .where import Places, Where
from .writer import ModuleCall, said

attached: list[Recorder] = []


class Recorder(Turning):
    """Records what every op, gradient and optimizer step did, step by step, as numbers: it keeps no tensor alive.

    Attach it, run code, and read `structure()`, `numbers()` and `timeline`: this is the half that listens, `Reader` the one that reads.

    Attributes:
        where: says where in the user's code the op being made is written.
        names: gives the user's names for objects, by id(); None where there is no namespace to look into.
        running: set it while a cell runs; then a half-finished step of a loop is not shown in place of the last complete one.
            Setting it also forgets module calls that an interrupt left open.

    >>> import gradlab as gl
    >>> recorder = Recorder()
    >>> recorder.attach()
    >>> y = gl.tensor([1.0, 2.0]) * 3.0
    >>> recorder.detach()
    >>> [op["name"] for op in recorder.structure()["ops"]]
    ['mul']
    """

    def __init__(self, observer: Any = observe, *, norms: bool = True) -> None:
        super().__init__(observer, norms)
        self.where: Callable[[], Where | None] = Places().of_op
        self._call: ContextVar[ModuleCall | None] = ContextVar("the innermost running module call", default=None)
        self._on = False

    # Switching

    @property
    def on(self) -> bool:
        """Whether it is attached."""
        return self._on and any(o is self for o in getattr(self._observer, "_attached", (self,)))

    def attach(self) -> None:
        """Begin to record, or go on with the run."""
        with self.lock:
            if not self.on:
                self._on = True
                self._call.set(None)
                self._pace.light, self.light = False, None
                tape = self._steps.tape
                if tape.n or tape.passes:
                    tape.stale = tape.turns = True
                attached.append(self)
                self._observer.attach(self)

    def detach(self) -> None:
        """Stop recording; what was recorded stays readable."""
        with self.lock:
            self._on = False
            self._steps.read_series()
            self._stop_capturing()
            attached[:] = [r for r in attached if r is not self]
            self._observer.detach(self)

    def clear(self) -> None:
        """Forget everything; the next step is the first of a new run."""
        with self.lock:
            run = self._steps.run.number + 1
            self._names = Names(self._names.lookup)
            self._steps = Steps(self._names, self.norms)
            self._steps.run.number = run
            self._structures.clear()
            self.release()
            self._glimpsed = None
            self._see_ops()

    @property
    def names(self) -> Callable[[], dict[int, str]] | None:
        """Gives the user's names for objects, by id(); called when a leaf or model is seen for the first time."""
        return self._names.lookup

    @names.setter
    def names(self, lookup: Callable[[], dict[int, str]] | None) -> None:
        self._names.lookup = lookup

    @property
    def running(self) -> bool:
        """Whether a cell runs."""
        return self._running

    @running.setter
    def running(self, value: bool) -> None:
        self._running = value
        self._call.set(None)
        self.governor.restart()
        self._see_ops()
        self._frames.restart()

    # Events

    @property
    def wants_updates(self) -> bool:
        """Whether the update of this step is read: the optimizer copies its parameters only then."""
        return self.norms and self._steps.tape.full

    def forward(self, fn: Any, output: Any, began: int, /) -> None:
        """An op was made."""
        try:
            now = clock()
            call = self._call.get()
            place = self.where() if call is None or not call.library else call.place
            steps = self._steps
            self.lock.acquire()  # this and release: half the time of a with block; where anything raises, _repair releases
            steps.op(fn, place, call, now - began, output)
            self.lock.release()
            if steps.tape is not self._tape:
                now = self._turned(now)
            if now >= self._frames.due or self._pace.timing:
                self._told(now)
        except BaseException:
            self._repair()
            raise

    def backward(self, fn: Any, g: Any, grads: Sequence[Any], began: int, /) -> None:
        """A gradient went through an op."""
        try:
            now = clock()
            self._steps.pulled(fn, g, grads, now - began)
            if now >= self._frames.due or self._pace.timing:
                self._told(now)
        except BaseException:
            self._repair()
            raise

    def accumulate(self, tensor: Any, d: Any, fn: Any, /) -> None:
        """A gradient came to a tensor that keeps it."""
        try:
            self._steps.collect(tensor, d, fn)
        except BaseException:
            self._repair()
            raise

    def failed(self, fn: Any, g: Any, error: BaseException, began: int, /) -> None:
        """An op or its rule raised."""
        try:
            now = clock()
            call = self._call.get()
            with self.lock:
                if g is None:
                    place = self.where() if call is None or not call.library else call.place
                    self._steps.failed(fn, place, call, now - began, error)
                else:
                    self._steps.pulled(fn, g, (), now - began, said(error))
            if self._steps.tape is not self._tape:
                now = self._turned(now)
            self._told(now)
        except BaseException:
            self._repair()
            raise

    def begin(self, kind: observe.Kind, target: Any, inputs: tuple[Any, ...], /) -> Any:
        """A pass, a module call or an optimizer's step begins; `end` gets back what this returns."""
        try:
            if kind == "module":
                return self._module_began(target)
            entered, steps = clock(), self._steps
            token = kind, target, steps.collects
            if kind == "pass":
                with self.lock:
                    steps.collects = inputs[1] is None
                    if not self._pace.light:
                        steps.backward_began(target)
                    elif steps.light_pass_began(target) and not steps.run.series:
                        self._glanced(clock())
                        self._between_steps()
                if self._pace.timing:
                    self._pace.own += clock() - entered
            return token
        except BaseException:
            self._repair()
            raise

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        """It is over, or raised."""
        try:
            if token.__class__ is ModuleCall:
                self._call.set(token.parent)
                return
            now, steps = clock(), self._steps
            kind, target, collects = token
            if kind == "pass":
                with self.lock:
                    steps.collects = collects
                    (steps.light_pass_ended if steps.tape.light else steps.backward_ended)()
            elif kind == "epoch":
                with self.lock:
                    steps.run.epochs.append(Epoch(id(target), steps.run.step, dict(output)))
            elif error is None:
                self._stepped(target, output, now)
            self._told(now)
        except BaseException:
            self._repair()
            raise

    def _repair(self) -> None:
        """An interrupt may hit anywhere, also between two writes that belong together: begin the open step anew."""
        with suppress(RuntimeError):  # raised where this thread holds it no more
            while True:
                self.lock.release()
        with self.lock:
            self._steps.abandon()
            self._see_ops()
        self._frames.open = False
        self._call.set(None)

    def _module_began(self, module: Any) -> ModuleCall:
        parent = self._call.get()
        if parent is not None:
            root, place = parent.root, parent.place if parent.library else self.where()
        else:
            with self.lock:
                root, place = self._names.root(module), self.where()
        call = ModuleCall(module, root, parent, place)
        self._call.set(call)
        return call
