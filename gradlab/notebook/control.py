"""The kernel's control channel, on which the page is heard while a cell runs, and its main thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

REQUEST = "gradlab_request"
"""The message type of the page's requests; content is {model_id, message}."""


def kernel_of(shell: Any) -> Any:
    """The ipykernel that a shell runs in, None for another kernel or none."""
    kernel = getattr(shell, "kernel", None)
    return kernel if hasattr(kernel, "control_handlers") else None


Heard = Mapping[str, Any]


def listen(kernel: Any, hear: Callable[[Heard], Heard], busy: Callable[[], bool]) -> None:
    """Call `hear` with the content of each request that arrives on the control channel, in that channel's thread.

    What it returns goes into the reply, which says only that the request was heard: answers go over the widget. `busy` says
    whether a cell runs: after each request the kernel calls itself idle, and the page would show a busy kernel so.
    """

    async def gradlab_request(stream: Any, ident: Any, parent: Heard) -> None:
        content = parent.get("content")
        try:
            reply = {"status": "ok", **hear(content if isinstance(content, Mapping) else {})}
        except Exception as error:
            reply = {"status": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": []}
        kernel.session.send(stream, "gradlab_reply", reply, parent, ident)
        asyncio.get_running_loop().call_soon(correct, parent)

    def correct(parent: Heard) -> None:
        if busy():
            state("busy", parent)
            if not busy():  # the cell ended meanwhile, and this came after its last word
                state("idle", parent)

    def state(name: str, parent: Heard) -> None:
        kernel.session.send(kernel.iopub_socket, "status", {"execution_state": name}, parent=parent)

    kernel.control_handlers[REQUEST] = gradlab_request


def stop_listening(kernel: Any) -> None:
    """Answer no more requests."""
    kernel.control_handlers.pop(REQUEST, None)


def on_main_thread(call: Callable[[], None]) -> None:
    """Call in the kernel's main thread: now where this is it, else after the message that it works on.

    Where there is no event loop of a kernel, in this thread.
    """
    from IPython.core.getipython import get_ipython

    loop = getattr(getattr(get_ipython(), "kernel", None), "io_loop", None)
    if loop is None or threading.current_thread() is threading.main_thread():
        call()
    else:
        loop.add_callback(call)


def in_main_thread() -> bool:
    """Whether this is the thread that runs cells."""
    return threading.current_thread() is threading.main_thread()


def is_terminal(shell: Any) -> bool:
    """Whether this shell has no page to draw in."""
    return any(cls.__name__ == "TerminalInteractiveShell" for cls in type(shell).__mro__)
