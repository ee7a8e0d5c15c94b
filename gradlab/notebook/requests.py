"""What the page asks the kernel, heard also while a cell runs, and how the answers get back.

A handler reads summaries at once, in the thread that hears it. One that evaluates Functions or reads whole arrays says
`evaluates=True`: it waits for the training thread to come to the end of a step, or for the running cell to end.
"""

from __future__ import annotations

import inspect
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .. import observe
from ..errors import ArgumentError, GradlabError
from . import control, protocol

if TYPE_CHECKING:
    from .session import Session

Reply = dict[str, Any] | tuple[dict[str, Any], list[bytes]]
"""What a handler returns: the content of the answer, or content and buffers."""

Handler = Callable[..., Reply]
Answering = TypeVar("Answering", bound=Handler)

_WAITING_MOST = 64


class _Known(NamedTuple):
    handler: Handler
    evaluates: bool


class _Waiting(NamedTuple):
    id: str
    call: Callable[[], Reply]


_handlers: dict[str, _Known] = {}


def answers(what: str, *, evaluates: bool = False) -> Callable[[Answering], Answering]:
    """Make a function the one that answers `store.ask(what, args)` of the page: it is called with the session and the args.

    Args:
        what: the word that the page asks with.
        evaluates: it runs Functions or reads whole arrays; then it runs on the training thread, with tracing suspended.

    >>> @answers("how many steps")
    ... def count(session, at_least=0):
    ...     return {"steps": max(session.recorder.step, at_least)}
    """

    def register(handler: Answering) -> Answering:
        _handlers[what] = _Known(handler, evaluates)
        return handler

    return register


class Requests:
    """Answers the requests of one session's page, each once and over the session's widget."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting: deque[_Waiting] = deque()

    def hear(self, message: Mapping[str, Any]) -> None:
        """Take one message of the kind `ask`, from whatever channel and in whatever thread it came."""
        request, what, args = str(message.get("id")), message.get("what"), message.get("args") or {}
        try:
            if not isinstance(what, str) or what not in _handlers:
                raise ArgumentError(f"the kernel has no answer to {what!r}; it knows: {', '.join(sorted(_handlers))}")
            known = _handlers[what]
            call = _bound(known.handler, what, self._session, args)
        except GradlabError as error:
            self._refuse(request, error)
            return
        if not known.evaluates:
            self._answer(request, lambda: self._under_lock(call))
            return
        if len(self._waiting) >= _WAITING_MOST:
            self._refuse(request, ArgumentError("too many requests are waiting for the end of a step"))
            return
        self._session.recorder.between_steps.append(self.evaluate)  # once for each that waits: nothing is called where none does
        self._waiting.append(_Waiting(request, call))
        if self._session.state == "running":
            self._session.post(protocol.pending(request))
        else:
            control.on_main_thread(self._evaluate_idle)

    def evaluate(self) -> None:
        """Answer what waits; called on the training thread between two steps, and when a cell has ended."""
        while (waiting := self._next()) is not None:
            with observe.paused():
                self._answer(waiting.id, waiting.call)

    def close(self) -> None:
        """Refuse what waits: the session ends."""
        while (waiting := self._next()) is not None:
            self._refuse(waiting.id, GradlabError("tracing ended before there was an answer"))

    def _next(self) -> _Waiting | None:
        try:
            waiting = self._waiting.popleft()
        except IndexError:  # also where another thread was quicker
            return None
        with suppress(ValueError):
            self._session.recorder.between_steps.remove(self.evaluate)
        return waiting

    def _evaluate_idle(self) -> None:
        # A cell that began in the meantime answers at its next step or its end.
        if self._session.state != "running" or threading.current_thread() is threading.main_thread():
            self.evaluate()

    def _under_lock(self, call: Callable[[], Reply]) -> Reply:
        with self._session.recorder.lock:
            return call()

    def _answer(self, request: str, call: Callable[[], Reply]) -> None:
        try:
            reply = call()
            content, buffers = reply if isinstance(reply, tuple) else (reply, [])
            self._session.post(protocol.answer(request, content, buffers))
        except Exception as error:
            self._refuse(request, error)
        except BaseException:
            self._refuse(request, GradlabError("interrupted"))
            raise

    def _refuse(self, request: str, error: Exception) -> None:
        text = str(error) if isinstance(error, GradlabError) else f"{type(error).__name__}: {error}"
        self._session.post(protocol.refusal(request, text))


def _bound(handler: Handler, what: str, session: Session, args: Any) -> Callable[[], Reply]:
    """The handler with its arguments.

    Raises: ArgumentError where it takes others.
    """
    parameters = list(inspect.signature(handler).parameters.values())[1:]
    takes = [f"{p.name}" if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters]
    if not isinstance(args, Mapping):
        raise ArgumentError(f"{what}: args must be an object, not {args!r}")
    known = {p.name for p in parameters}
    wrong = [str(name) for name in args if name not in known]
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in args]
    if wrong or missing:
        said = [f"unknown {', '.join(wrong)}"] * bool(wrong) + [f"missing {', '.join(missing)}"] * bool(missing)
        raise ArgumentError(f"{what}: {'; '.join(said)}\n  takes: {', '.join(takes) or 'nothing'}")
    return lambda: handler(session, **args)
