"""Beside each panel's output a second one, that holds a picture: what is read where no kernel runs.

A page that shows the panel hides the picture beside it, see js/style/index.css and js/panels/panel.ts.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

from IPython.display import DisplayHandle, display

from ..trace import Recorder
from .picture import picture, step_of


class _Place(NamedTuple):
    handle: DisplayHandle
    view: str
    cell: str | None
    run: int | None  # its execution count


class Pictures:
    """The pictures in the outputs of one session's notebook."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._places: list[_Place] = []
        self._drawn: object = None

    def place(self, view: str, cell: str | None, count: int | None) -> None:
        """Leave room for a picture in the output of the running cell, below what is there already."""
        handle = display({"text/plain": ""}, raw=True, display_id=True)
        if handle is not None:
            self._places.append(_Place(handle, view, cell, count))
            self._drawn = None

    def forget(self, cell: str) -> None:
        """A cell runs again: its old output is gone."""
        self._places = [place for place in self._places if place.cell != cell]

    def renew(self) -> None:
        """Draw what is recorded now, where it is something new; called when a cell has ended."""
        if not self._places:
            return
        recorder = self._recorder
        with recorder.lock:
            state = recorder.run, recorder.step, recorder.structure()["key"], recorder.open
        if state == self._drawn or not (recorder.step or recorder.structure()["ops"]):
            return
        self._drawn = state
        for place in self._places:
            try:
                drawn = picture(recorder, place.view, place.run)
            except Exception as error:  # a picture is worth no cell's result
                warnings.warn(f"gradlab could not draw the picture of a panel: {error!r}", stacklevel=2)
                return
            text = f"gradlab: the {place.view} panel at step {step_of(recorder):,}, as a picture"
            place.handle.update({"image/svg+xml": drawn, "text/plain": text}, raw=True)
