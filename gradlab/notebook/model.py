"""The widget that carries the bundle and receives the frames; every panel of the page draws through it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import anywidget
import traitlets

from . import bundle
from .protocol import Message


class SessionModel(anywidget.AnyWidget):
    """The one model of a kernel that holds the inspector's JavaScript; `selected` is the op or parameter chosen in the page; `control`
    says that the kernel hears the page on its control channel.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    kernel_id = traitlets.Unicode().tag(sync=True)
    model_ref = traitlets.Unicode().tag(sync=True)
    selected = traitlets.Unicode().tag(sync=True)
    control = traitlets.Bool(False).tag(sync=True)

    def __init__(self, control: bool = False) -> None:
        # The page can't ask a model for its own id, so the id is made here and sent along.
        name = uuid4().hex
        super().__init__(_esm=bundle.read("session.js"), model_id=name, model_ref=name, kernel_id=kernel_id(), control=control)
        hear_while_busy(self)

    def post(self, message: Message) -> None:
        """Send one message of the protocol to the page."""
        self.send(message.content, buffers=message.buffers)

    def close(self) -> None:
        """Take the model and its layout off the page."""
        close(self)


def close(widget: anywidget.AnyWidget) -> None:
    """Close a widget with the layout model that came with it, which ipywidgets would leave open."""
    if widget.comm is not None:
        widget.layout.close()
        anywidget.AnyWidget.close(widget)


def hear_while_busy(widget: anywidget.AnyWidget) -> None:
    """Let the page's messages to this widget arrive while a cell runs.

    ipykernel 7.4 hands a message to the thread that last sent on the comm, which here is the busy one; 7.0 to 7.3 hand it
    to the subshell it is addressed to. This gives the latter back.
    """
    comm: Any = widget.comm
    if hasattr(comm, "_reply_subshell_for"):
        comm._reply_subshell_for = lambda data, default: default


def kernel_id() -> str:
    """The id JupyterLab knows this kernel by, or "" outside a kernel.

    Read from the connection file, which the server names `kernel-<id>.json`.
    """
    from IPython.core.getipython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        return ""
    path = kernel.config.get("IPKernelApp", {}).get("connection_file") or os.environ.get("JUPYTER_CONNECTION_FILE", "")
    return Path(str(path)).stem.removeprefix("kernel-")
