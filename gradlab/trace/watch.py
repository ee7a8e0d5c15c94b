"""Watch: an observer that is attached only while somebody waits for an op, a backward pass or a module's output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from .. import observe

Event = Literal["forward", "backward", "pass", "module"]
Told = Callable[[Event, Any, Any], None]
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

    def forward(self, fn: Any, output: Any, began: int, /) -> None:
        """An op ran."""
        self._told("forward", fn, output)

    def backward(self, fn: Any, g: Any, grads: Sequence[Any], began: int, /) -> None:
        """A gradient went through an op."""
        self._told("backward", fn, g)

    def begin(self, kind: observe.Kind, target: Any, inputs: tuple[Any, ...], /) -> tuple[Any, Any]:
        """A pass, a module call or an optimizer's step begins."""
        return kind, target

    def end(self, token: Any, output: Any, error: BaseException | None, /) -> None:
        """It is over."""
        if error is None and token[0] != "step":
            kind, target = token
            self._told(kind, target, output)
