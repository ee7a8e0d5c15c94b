"""Whether ops build a graph: `no_grad`, `enable_grad`, `set_grad_enabled`, per thread and context."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

recording: ContextVar[tuple[bool, ...]] = ContextVar("recording", default=(True,))  # the modes entered, the last one counts
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class _Mode:
    """Build a graph, or not, in a block or a decorated function; the former state comes back however it ends.

    It holds for this thread and context only. On a generator function it holds while the generator runs, not between.
    """

    mode: bool

    def __enter__(self) -> None:
        recording.set((*recording.get(), self.mode))

    def __exit__(self, *error: object) -> None:
        recording.set(recording.get()[:-1])

    def __call__(self, function: Decorated) -> Decorated:
        """Run `function` in this mode; what makes this a decorator."""
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def generate(*args: Any, **kwargs: Any) -> Any:
                generator = function(*args, **kwargs)
                try:
                    with self:
                        item = next(generator)
                    while True:
                        try:
                            sent = yield item  # pyright: ignore[reportUnknownVariableType]
                        except GeneratorExit:
                            with self:
                                generator.close()
                            raise
                        except BaseException as error:
                            with self:
                                item = generator.throw(error)
                        else:
                            with self:
                                item = generator.send(sent)
                except StopIteration as stop:
                    return stop.value

            return generate  # type: ignore[return-value]

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return call  # type: ignore[return-value]


class set_grad_enabled(_Mode):
    """Build a graph from here on, or no longer: as a statement, for a block, or for a decorated function.

    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._before: bool | None = recording.get()[-1]
        recording.set((*recording.get()[:-1], self.mode))

    def _undo(self) -> None:
        """It was no statement after all, but the head of a block or of a function."""
        if self._before is not None:
            recording.set((*recording.get()[:-1], self._before))
            self._before = None

    def __enter__(self) -> None:
        self._undo()
        super().__enter__()

    def __call__(self, function: Decorated) -> Decorated:
        """Run `function` in this mode; what makes this a decorator."""
        self._undo()
        return super().__call__(function)


class no_grad(_Mode):
    """Compute without building a graph, in this thread and block only; also a decorator, with or without brackets."""

    mode = False

    def __new__(cls, function: Any = None) -> Any:
        """A mode, or the function that it decorates."""
        self = super().__new__(cls)
        return self if function is None else self(function)


class enable_grad(no_grad):
    """Build a graph again inside a `no_grad` block; also a decorator, with or without brackets."""

    mode = True


class inference_mode(_Mode):
    """PyTorch's name for `no_grad` around code that only predicts; here the two do the same. `inference_mode(False)` records."""

    def __new__(cls, mode: Any = True) -> Any:
        """A mode, or the function that it decorates."""
        self = super().__new__(cls)
        if callable(mode):
            self.mode = False
            return self(mode)
        self.mode = not mode
        return self


def is_grad_enabled() -> bool:
    """Whether ops on tensors that require a gradient build a graph here."""
    return recording.get()[-1]
