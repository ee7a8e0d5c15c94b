"""Watch: an observer that is attached only while somebody waits for an op, a backward pass or a module's output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import observe

Told = Callable[[observe.Kind, Any, Any], None]
"""Called after an event with its kind, its target, and what it made: for a backward event, the gradient that came in."""


class Watch:
    """Tells of ops, backward passes and module calls that went well, after the recorder has taken them in."""

    wants_updates = False

    def __init__(self, observer: Any, told: Told) -> None:
        self._observer, self._told = observer, told
        self.on = False

    def switch(self, on: bool) -> None:
        """Attach it behind all others, or detach it."""
        if on != self.on:
            self.on = on
            (self._observer.attach if on else self._observer.detach)(self)

    def behind(self) -> None:
        """Go behind a recorder that was attached later."""
        if self.on:
            self._observer.detach(self)
            self._observer.attach(self)

    def begin(self, kind: observe.Kind, target: Any, inputs: tuple[Any, ...], /) -> tuple[Any, ...] | None:
        """Called by the core before something happens."""
        if kind == "forward" or kind == "pass" or kind == "module":
            return kind, target, None
        return (kind, target, inputs[0]) if kind == "backward" else None

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        """Called by the core after it happened."""
        if token is not None and error is None:
            kind, target, g = token
            self._told(kind, target, output if g is None else g)
