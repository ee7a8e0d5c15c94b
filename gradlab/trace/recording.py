"""Tracing in plain Python, and the recorder that is attached now."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .recorder import Recorder, attached

if TYPE_CHECKING:
    from types import FrameType


@contextmanager
def recording(names: Callable[[], dict[int, str]] | None = None, *, norms: bool = True) -> Iterator[Recorder]:
    """Trace what runs in this block; the recorder stays readable afterwards.

    Args:
        names: gives the user's names for objects, by id(); the default reads the global variables of the module that calls.
        norms: False records the graph only.

    >>> import gradlab as gl
    >>> w = gl.tensor([3.0, 4.0], requires_grad=True)
    >>> with recording() as r:
    ...     (w * w).sum().backward()
    >>> [op["name"] for op in r.structure()["ops"]], r.numbers().grad_norm
    (['mul', 'sum'], 10.0)
    """
    recorder = Recorder(norms=norms)
    recorder.names = names if names is not None else _global_names(sys._getframe(2))
    recorder.attach()
    try:
        yield recorder
    finally:
        recorder.detach()


def current_recorder() -> Recorder | None:
    """The recorder attached last of those still attached, None where nobody traces."""
    return attached[-1] if attached else None


def _global_names(frame: FrameType) -> Callable[[], dict[int, str]]:
    """The public global names of a module, kept no longer than the module."""
    module = sys.modules.get(frame.f_globals.get("__name__", ""))
    if module is None or vars(module) is not frame.f_globals:
        namespace = frame.f_globals
        return lambda: _by_id(namespace)
    reference = weakref.ref(module)

    def names() -> dict[int, str]:
        living = reference()
        return {} if living is None else _by_id(vars(living))

    return names


def _by_id(namespace: dict[str, object]) -> dict[int, str]:
    return {id(value): name for name, value in list(namespace.items()) if not name.startswith("__")}
