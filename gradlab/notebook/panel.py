"""What every panel shares: a small widget that finds the session in the page and draws one view of it."""

from __future__ import annotations

from typing import Any, ClassVar

import anywidget
import traitlets
from IPython.display import DisplayHandle, display

from . import bundle, model
from .session import ensure_session


class Panel(anywidget.AnyWidget):
    """Base of the panels. Making one begins tracing where `%load_ext gradlab` has not yet run.

    When the cell that made a panel runs again, the panel goes unless another cell's output shows it: re-running leaves no
    widgets behind.
    """

    view: ClassVar[str] = ""
    text: ClassVar[str] = "gradlab panel"
    _esm = traitlets.Unicode().tag(sync=True)
    panel = traitlets.Unicode().tag(sync=True)
    session = traitlets.Unicode().tag(sync=True)

    def __init__(self, **kwargs: Any) -> None:
        owner = ensure_session()
        reference = "" if owner.model is None else owner.model.model_ref
        super().__init__(_esm=bundle.read("panel.js"), panel=self.view, session=reference, **kwargs)
        self._made_in = owner.cell_key
        self._shown_in: set[str | None] = set()
        self._owner = owner
        owner.panels.add(self)

    def __repr__(self) -> str:
        return self.text

    def _ipython_display_(self) -> None:
        self.show()

    def show(self) -> DisplayHandle | None:
        """Display it as an output of the running cell, and below it room for a picture, see `gradlab.notebook.pictures`."""
        data, metadata = self._repr_mimebundle_()
        handle = display(data, raw=True, metadata=metadata, display_id=True)
        self._owner.place_picture(self.view)
        return handle

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        self._shown_in.add(self._owner.cell_key)
        return super()._repr_mimebundle_(**kwargs)

    def goes_with(self, cell_key: str) -> bool:
        """Whether this panel has no place left, now that the old output of a cell is replaced."""
        self._shown_in.discard(cell_key)
        return self._made_in == cell_key and not self._shown_in

    def close(self) -> None:
        """Take the panel off the page."""
        self._owner.panels.discard(self)
        model.close(self)
