"""The slots through which a tracer watches the core.

The core reads a slot once per event and calls it when it is not None; `gradlab.trace` fills them. `ops` hears of forward, backward,
accumulate and module, which happen many times a step, `current` of pass and step: an observer that has `wants_ops` False for a while,
and calls `renew`, hears of the latter only. This module imports nothing from gradlab, so a tracer that nobody uses costs one
attribute read per op and is never imported.

| kind | target | inputs | output |
|---|---|---|---|
| forward | the Function | its input Tensors and Constants | the output Tensor |
| pass | the root Tensor, the first of several | (retain_graph,) | the gradients that were asked for, if they were |
| backward | the Function | (g,) | the gradients, one an input |
| accumulate | a leaf or retained Tensor | (d, the Function it came from or None) | None |
| module | the Module | its arguments | its result |
| step | the Optimizer | () | a list of (parameter, update array), with None for the array where nobody `wants_updates` |
Where nobody `wants_ops` the list of a step is empty. A leaf's `.grad` is written when the pass ends, with the sum of what came together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, Literal, Protocol, TypeVar

Kind = Literal["forward", "pass", "backward", "accumulate", "module", "step"]
Result = TypeVar("Result")


class HaltError(Exception):
    """What an observer raises to stop the code that it watches: it reaches the user, where another error detaches the observer."""


class Observer(Protocol):
    """What a tracer implements: `begin` returns a token that `end` gets back, also after an error."""

    def begin(self, kind: Kind, target: Any, inputs: tuple[Any, ...], /) -> object:
        """An event starts; what is returned comes back to `end`."""

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        """The event is over, with an output or with an error."""


current: Observer | None = None
ops: Observer | None = None
_attached: tuple[Observer, ...] = ()
_guards: tuple[_Guard, ...] = ()
_watching: tuple[Observer | None, Observer | None] = (None, None)  # what `current` and `ops` are, but in a pause
_pauses = 0
_changing = Lock()


def attach(observer: Observer) -> None:
    """Start calling `observer`; several may be attached and leave in any order. Attaching one twice changes nothing."""
    if not any(o is observer for o in _attached):
        _refill((*_attached, observer))


def detach(observer: Observer) -> None:
    """Stop calling `observer`; detaching one that is not attached does nothing."""
    _refill(tuple(o for o in _attached if o is not observer))


def wants_updates() -> bool:
    """Whether somebody needs what the next step does to the parameters, which costs a copy of them.

    An observer says so by an attribute `wants_updates`; one without it always gets the updates.
    """
    return any(getattr(o, "wants_updates", True) for o in _attached)


def watched(observer: Observer, kind: Kind, target: object, inputs: tuple[Any, ...], call: Callable[[], Result]) -> Result:
    """Run `call()` between the observer's `begin` and `end`; an error reaches `end` and then the caller."""
    token = observer.begin(kind, target, inputs)
    try:
        output = call()
    except BaseException as error:
        observer.end(token, None, error)
        raise
    observer.end(token, output, None)
    return output


@contextmanager
def paused() -> Generator[None]:
    """Tell nobody of what happens in this block: of a step that runs again, to be differentiated twice or to save memory."""
    _pause(1)
    try:
        yield
    finally:
        _pause(-1)


def renew() -> None:
    """Ask every observer anew whether it `wants_ops`; one without that attribute always does."""
    global _watching
    _watching = _together(_guards), _together([guard for guard in _guards if getattr(guard.observer, "wants_ops", True)])
    _pause(0)


def _pause(change: int) -> None:
    global _pauses, current, ops
    with _changing:  # another thread may pause too
        _pauses += change
        current, ops = (None, None) if _pauses else _watching


def _refill(observers: tuple[Observer, ...]) -> None:
    global _attached, _guards
    _attached = observers
    _guards = tuple(map(_Guard, observers))
    renew()


def _together(guards: Sequence[_Guard]) -> Observer | None:
    return None if not guards else guards[0] if len(guards) == 1 else _Fanout(guards)


def _nothing(*event: object) -> None:
    """What a detached observer is told."""


class _Guard:
    """One observer; if it raises it is detached with a warning, and training goes on with the same numbers."""

    __slots__ = ("_begin", "_end", "observer")

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._begin: Callable[..., object] = observer.begin
        self._end: Callable[..., object] = observer.end

    def begin(self, kind: Kind, target: Any, inputs: tuple[Any, ...], /) -> object:
        """Pass it on."""
        try:
            return self._begin(kind, target, inputs)
        except HaltError:
            raise
        except Exception as error:
            self._drop(error)
            return None

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        """Pass it on."""
        try:
            self._end(token, output, error)
        except HaltError:
            raise
        except Exception as own_error:
            self._drop(own_error)

    def _drop(self, error: Exception) -> None:
        detach(self.observer)
        self._begin = self._end = _nothing  # an event may still be open, and its end must not fail again
        name = type(self.observer).__name__
        warnings.warn(f"{name} raised {error!r} and was detached; training goes on", stacklevel=4)


class _Fanout:
    """Passes each event to every guard; exists only where two or more observers are attached."""

    __slots__ = ("_guards",)

    def __init__(self, guards: Sequence[_Guard]) -> None:
        self._guards = guards

    def begin(self, kind: Kind, target: Any, inputs: tuple[Any, ...], /) -> object:
        """Pass it to all."""
        return [guard.begin(kind, target, inputs) for guard in self._guards]

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        """Pass it to all, each with its own token."""
        for guard, its_token in zip(self._guards, token, strict=True):
            guard.end(its_token, output, error)
