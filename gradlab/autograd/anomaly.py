"""Anomaly mode: says which step made the first NaN, where that step was written, and who wrote into saved memory.

The mode is an observer of the forward steps, so that it costs nothing while it is off; backward then runs in the general pass.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import linecache
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, cast

import numpy as np

from .. import observe
from ..backend import to_numpy
from ..errors import AnomalyError, explain
from ..function import Function

_PACKAGE = str(Path(__file__).resolve().parent.parent)


class _Note(NamedTuple):
    """What is known of a step that was seen."""

    place: str
    thaw: weakref.finalize[Any, Any]


class _Watch:
    """The observer: makes memory read-only that backward needs, and notes where a step was written."""

    def __init__(self) -> None:
        self.check_nan = True
        self.notes: weakref.WeakKeyDictionary[Function, _Note] = weakref.WeakKeyDictionary()
        self.frozen: dict[int, list[Any]] = {}  # by id, an array and how many living steps need it
        self.lock = RLock()  # a collection of garbage may thaw in the midst of this

    def forward(self, fn: Function, output: Any, began: int, /) -> None:
        """A step ran, as part of a graph or not."""
        if output.grad_fn is fn:
            ids = self._freeze(list(_needed(fn, output)))
            self.notes[fn] = _Note(place(), weakref.finalize(fn, self._thaw, ids))

    def _freeze(self, arrays: list[np.ndarray]) -> list[int]:
        with self.lock:
            for array in arrays:
                entry = self.frozen.setdefault(id(array), [array, 0])
                entry[1] += 1
                array.flags.writeable = False
        return [id(array) for array in arrays]

    def _thaw(self, ids: list[int]) -> None:
        with self.lock:
            for key in ids:
                self.frozen[key][1] -= 1
            # A view can be written to again only after what it looks at; where that has to wait, so has the view.
            for key in sorted(self.frozen, key=self._looks_at_another):
                entry = self.frozen.get(key)
                if entry is not None and entry[1] <= 0 and (not self._looks_at_another(key) or entry[0].base.flags.writeable):
                    entry[0].flags.writeable = True
                    del self.frozen[key]

    def _looks_at_another(self, key: int) -> bool:
        return isinstance(self.frozen[key][0].base, np.ndarray)

    def forget(self, fn: Function) -> None:
        """A step was freed: nobody needs its memory any more."""
        note = self.notes.pop(fn, None)
        if note is not None:
            note.thaw()

    def forget_all(self) -> None:
        """The mode ends."""
        for fn in list(self.notes):
            self.forget(fn)

    def where(self, fn: Function) -> str:
        """Where a step was written, as far as known."""
        note = self.notes.get(fn)
        return "outside of anomaly mode" if note is None else note.place

    def check(self, fn: Function, g: Any, grads: tuple[Any, ...]) -> None:
        """Refuse a gradient that is not finite.

        Raises:
            AnomalyError: naming the step that made it.
        """
        if not self.check_nan:
            return
        name, place = type(fn).__name__, self.where(fn)
        came = fault(g)
        if came:
            got = {"gradient": came, "written in": place}
            need = "a finite gradient from the root and from hooks"
            raise AnomalyError(explain(f"{name}: the gradient that came to its output is not finite", got=got, need=need))
        for i, d in enumerate(grads):
            bad = "" if d is None or not fn.needs[i] else fault(d)
            if bad:
                got = {
                    f"gradient of input {i}": bad,
                    "inputs": [t.shape for t in fn.inputs],
                    "output's gradient": f"finite, shape {g.shape}",
                    "written in": place,
                }
                need = "inputs at which the derivative is finite"
                raise AnomalyError(explain(f"{name}: its backward made a gradient that is not finite", got=got, need=need))


_watch = _Watch()
_depth = 0


def current() -> _Watch | None:
    """The mode, where it is on."""
    return _watch if _depth else None


def note(fn: Function, error: Exception) -> None:
    """Add to an error where the step was written that it came from, in this mode."""
    if _depth:
        error.add_note(f"{type(fn).__name__} was written in {_watch.where(fn)}")


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return bool(_depth)


class set_detect_anomaly:
    """Switch anomaly mode on or off: as a statement, or for a block.

    In this mode a NaN or Inf that a step's backward makes raises, with the op and the line that it was written in; arrays that
    backward needs can't be written to as long as the graph lives, so that `t.data[0] = 9` between forward and backward raises.
    Everything is slower: it is for finding a fault. It holds for all threads.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = _depth, _watch.check_nan
        _switch(int(mode), check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _switch(*self._before)


class detect_anomaly:
    """Anomaly mode for a block, see `set_detect_anomaly`.

    >>> import gradlab as gl
    >>> x = gl.tensor([0.0], requires_grad=True)
    >>> with detect_anomaly():
    ...     x.sqrt().sum().backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    gradlab.errors.AnomalyError: Sqrt: its backward made a gradient that is not finite
      gradient of input 0 inf in 1 of 1 entries, first at [0]
    ...
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan

    def __enter__(self) -> None:
        self._before = _depth, _watch.check_nan
        _switch(_depth + 1, self.check_nan)

    def __exit__(self, *error: object) -> None:
        _switch(*self._before)


def _switch(depth: int, check_nan: bool) -> None:
    global _depth
    _depth, _watch.check_nan = depth, check_nan
    if depth:
        observe.attach(_watch)
    else:
        observe.detach(_watch)
        _watch.forget_all()


def _needed(fn: Function, output: Any) -> Iterator[np.ndarray]:
    """The writable arrays that backward reads, bases first: inputs, output, and what forward saved."""
    values: list[Any] = list(vars(fn).values())
    if "inputs" in fn.reads:
        values += [t._data for t in fn.inputs]
    if "output" in fn.reads:
        values.append(output._data)
    seen: set[int] = set()
    for array in _arrays(values):
        chain: list[Any] = []
        link: Any = array
        while isinstance(link, np.ndarray):
            chain.append(cast("Any", link))
            link = link.base
        for link in reversed(chain):
            if id(link) not in seen and (link.flags.writeable or id(link) in _watch.frozen):
                seen.add(id(link))
                yield link


def _arrays(values: Any) -> Iterator[np.ndarray]:
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _arrays(cast("list[Any]", value))


def fault(d: Any) -> str:
    """What is wrong with an array or gradient; nothing where it is finite."""
    array = np.asarray(to_numpy(getattr(d, "_data", d)))
    bad = ~np.isfinite(array)
    if not bad.any():
        return ""
    kind = "NaN" if np.isnan(array).any() else "inf"
    first = [int(k) for k in np.unravel_index(int(np.argmax(bad)), array.shape)]
    return f"{kind} in {int(bad.sum())} of {array.size} entries, first at {first}"


def place() -> str:
    """The line of the user's code that is running, of a file or of a notebook cell."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, line, frame.f_globals).strip()
    where = f'File "{file}", line {line}'
    cells: list[str] = list(frame.f_globals.get("_ih", ()))  # what IPython has run
    for number in reversed(range(len(cells))):
        lines = cells[number].splitlines()
        if text and line <= len(lines) and lines[line - 1].strip() == text:
            where = f"Cell In[{number}], line {line}"
            break
    return f"{where}: {text}" if text else where
