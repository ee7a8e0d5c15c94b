"""The slots through which a tracer watches the core.

The core reads a slot once per event and calls it when it is not None; `gradlab.trace` fills them. `ops` hears of what happens many
times a step: of each op once, when it is done, and of module calls. `current` hears of passes and optimizer steps. An observer that
has `wants_ops` False for a while, and calls `renew`, hears of the latter only; where it is alone and has a `light`, that hears of plain
passes and of steps in its place, in fewer calls. This module imports nothing from gradlab, so a tracer that nobody uses costs one attribute
read per op and is never imported.

`begin` and `end` are told of what encloses other events:

| kind | target | inputs | output |
|---|---|---|---|
| pass | the root Tensor, the first of several | (retain_graph, what it is for, or None for all leaves) | the gradients of that |
| module | the Module | its arguments | its result |
| epoch | the Trainer | (its number,) | the numbers measured in it, by name: it is over when this begins |
| step | the Optimizer | () | a list of (parameter, update array), with None for the array where nobody `wants_updates` |
Where nobody `wants_ops` the list of a step is empty. A leaf's `.grad` is written when the pass ends, with the sum of what came together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, Literal, Protocol, TypeVar, cast

Kind = Literal["epoch", "pass", "module", "step"]
Result = TypeVar("Result")


class HaltError(Exception):
    """What an observer raises to stop the code that it watches: it reaches the user, where another error detaches the observer."""


class Observer(Protocol):
    """What a tracer implements; it may leave out what it needs not hear of. Times are those of `time.perf_counter_ns`."""

    def forward(self, fn: Any, output: Any, began: int, /) -> None:
        """An op, which began at that time, made its output Tensor from `fn.inputs`, its Tensors and Constants."""

    def backward(self, fn: Any, g: Any, grads: Sequence[Any], began: int, /) -> None:
        """Its rule made one gradient an input from the array `g`; in a pass for all leaves, those of leaves are added up in `.grad`."""

    def accumulate(self, tensor: Any, d: Any, fn: Any, /) -> None:
        """`d` is about to be added to `.grad` otherwise: of the result of `fn`, or of a tensor that the pass was for, where it is None."""

    def failed(self, fn: Any, g: Any, error: BaseException, began: int, /) -> None:
        """An op raised, or where a gradient `g` came to it its rule."""

    def begin(self, kind: Kind, target: Any, inputs: tuple[Any, ...], /) -> object:
        """Something starts in which others happen; what is returned comes back to `end`."""

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        """It is over, with an output or with an error."""


class Light(Protocol):
    """What hears of steps whose ops nobody wants, by as few and short calls as there may be.

    It lets no error of its own out but a `HaltError` and an interrupt, see `drop`.
    """

    def began(self, root: Any, /) -> bool:
        """A pass begins at that one Tensor, for all leaves.

        Where this says False it is told by `begin` and `end`, as all other passes are.
        """
        ...

    def ended(self) -> None:
        """That pass is over, or raised."""

    def stepped(self, optimizer: Any, /) -> None:
        """An optimizer made its step."""


class Told(Observer, Protocol):
    """What is in a slot: tells one observer or all. `before`, None as a rule, wants to be called with each op that is about to run."""

    before: Callable[[Any], None] | None


current: Told | None = None
ops: Told | None = None
light: Light | None = None
_attached: tuple[Any, ...] = ()
_guards: tuple[_Guard, ...] = ()
_watching: tuple[Told | None, Told | None, Light | None] = (None, None, None)  # what `current`, `ops` and `light` are, but in a pause
_pauses = 0
_changing = Lock()


def attach(observer: Any) -> None:
    """Start calling an `Observer`; several may be attached and leave in any order. Attaching one twice changes nothing."""
    if not any(o is observer for o in _attached):
        _refill((*_attached, observer))


def detach(observer: Any) -> None:
    """Stop calling `observer`; detaching one that is not attached does nothing."""
    _refill(tuple(o for o in _attached if o is not observer))


def drop(observer: Any, error: Exception) -> None:
    """Detach an observer that raised, with a warning; a `HaltError` goes on to the user."""
    guard = next((guard for guard in _guards if guard.observer is observer), None)
    (guard or _Guard(observer)).drop(error)  # it may have left meanwhile


def wants_updates() -> bool:
    """Whether somebody needs what the next step does to the parameters, which costs a copy of them.

    An observer says so by an attribute `wants_updates`; one without it always gets the updates.
    """
    return any(getattr(o, "wants_updates", True) for o in _attached)


def watched(told: Told, kind: Kind, target: object, inputs: tuple[Any, ...], call: Callable[[], Result]) -> Result:
    """Run `call()` between `begin` and `end`; an error reaches `end` and then the caller."""
    token = told.begin(kind, target, inputs)
    try:
        output = call()
    except BaseException as error:
        told.end(token, None, error)
        raise
    told.end(token, output, None)
    return output


@contextmanager
def paused() -> Generator[None]:
    """Tell nobody of what happens in this block: of a step that runs again, to be differentiated twice or to save memory."""
    _pause(1)
    try:
        yield
    finally:
        _pause(-1)


def open_pauses() -> int:
    """How many `paused` blocks are open."""
    return _pauses


def set_open_pauses(count: int) -> None:
    """So many are open: an interrupt that comes when a block ends can leave it open for ever."""
    _pause(count - _pauses)


@contextmanager
def alone(observer: Any) -> Generator[None]:
    """Tell nobody but `observer` of what happens in this block: of a step that runs again, to be looked into."""
    before = _attached
    _refill((observer,))
    try:
        yield
    finally:
        _refill(before)


def renew() -> None:
    """Ask every observer anew whether it `wants_ops`, and for its `light`; one without the former always does."""
    global _watching
    wanting = [guard for guard in _guards if getattr(guard.observer, "wants_ops", True)]
    alone_and_light = len(_guards) == 1 and not wanting
    _watching = _together(_guards), _together(wanting), getattr(_guards[0].observer, "light", None) if alone_and_light else None
    _pause(0)


def _pause(change: int) -> None:
    global _pauses, current, ops, light
    with _changing:  # another thread may pause too
        _pauses += change
        current, ops, light = (None, None, None) if _pauses else _watching


def _refill(observers: tuple[Any, ...]) -> None:
    global _attached, _guards
    _attached = observers
    _guards = tuple(map(_Guard, observers))
    renew()


def _together(guards: Sequence[_Guard]) -> Told | None:
    return None if not guards else guards[0] if len(guards) == 1 else _Fanout(guards)


def _nothing(*event: object) -> None:
    """What a detached observer is told."""


class _Guard:
    """One observer; if it raises it is detached with a warning, and training goes on with the same numbers."""

    __slots__ = ("_accumulate", "_backward", "_before", "_begin", "_end", "_failed", "_forward", "before", "observer")

    def __init__(self, observer: Any) -> None:
        self.observer = observer
        for name in ("forward", "backward", "accumulate", "failed", "begin", "end", "before"):
            setattr(self, f"_{name}", getattr(observer, name, None) or _nothing)
        self.before = None if self._before is _nothing else self._guarded_before

    # One frame more per event, so these are written out: a function of any arguments takes three times as long.

    def forward(self, fn: Any, output: Any, began: int, /) -> None:
        try:
            self._forward(fn, output, began)
        except Exception as error:
            self.drop(error)

    def backward(self, fn: Any, g: Any, grads: Sequence[Any], began: int, /) -> None:
        try:
            self._backward(fn, g, grads, began)
        except Exception as error:
            self.drop(error)

    def accumulate(self, tensor: Any, d: Any, fn: Any, /) -> None:
        try:
            self._accumulate(tensor, d, fn)
        except Exception as error:
            self.drop(error)

    def failed(self, fn: Any, g: Any, error: BaseException, began: int, /) -> None:
        try:
            self._failed(fn, g, error, began)
        except Exception as own_error:
            self.drop(own_error)

    def begin(self, kind: Kind, target: Any, inputs: tuple[Any, ...], /) -> object:
        try:
            return cast(object, self._begin(kind, target, inputs))
        except Exception as error:
            self.drop(error)
            return None

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        try:
            self._end(token, output, error)
        except Exception as own_error:
            self.drop(own_error)

    def _guarded_before(self, fn: Any) -> None:
        try:
            self._before(fn)
        except Exception as error:
            self.drop(error)

    def drop(self, error: Exception) -> None:
        if isinstance(error, HaltError):
            raise error
        detach(self.observer)
        for name in ("forward", "backward", "accumulate", "failed", "begin", "end", "before"):
            setattr(self, f"_{name}", _nothing)  # an event may still be open, and its end must not fail again
        name = type(self.observer).__name__
        warnings.warn(f"{name} raised {error!r} and was detached; training goes on", stacklevel=4)


class _Fanout:
    """Tells every guard; exists only where two or more observers are attached."""

    def __init__(self, guards: Sequence[_Guard]) -> None:
        self._guards = guards
        self.forward = _each([guard.forward for guard in guards])
        self.backward = _each([guard.backward for guard in guards])
        self.accumulate = _each([guard.accumulate for guard in guards])
        self.failed = _each([guard.failed for guard in guards])
        befores = [guard.before for guard in guards if guard.before is not None]
        self.before = _each(befores) if befores else None

    def begin(self, kind: Kind, target: Any, inputs: tuple[Any, ...], /) -> object:
        return [guard.begin(kind, target, inputs) for guard in self._guards]

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        for guard, its_token in zip(self._guards, token, strict=True):
            guard.end(its_token, output, error)


def _each(calls: Sequence[Callable[..., None]]) -> Callable[..., None]:
    def tell(*event: Any) -> None:
        for call in calls:
            call(*event)

    return tell
