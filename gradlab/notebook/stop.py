"""Stop, pressed where a cell begins or ends: IPython prints what that breaks off as our error, and lets the cell run."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

_SOON = 0.02  # seconds, after which IPython runs the cell's own code


def each(*parts: Callable[[], object]) -> bool:
    """Call one after the other; one that an interrupt breaks off is called once more. Says whether there was an interrupt.

    >>> presses = iter([KeyboardInterrupt])
    >>> def part():
    ...     for error in presses:
    ...         raise error
    ...     print("done")
    >>> each(part, part)
    done
    done
    True
    """
    interrupted = False
    for part in parts:
        try:
            part()
        except KeyboardInterrupt:
            interrupted = True
            with suppress(KeyboardInterrupt):  # pressed again: this part is not worth it
                part()
    return interrupted


def stop_soon() -> None:
    """Interrupt the cell that is about to begin."""
    timer = threading.Timer(_SOON, _interrupt)
    timer.daemon = True
    timer.start()


def _interrupt() -> None:
    """Interrupt the main thread, also where it waits."""
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:  # `interrupt_main` only leaves word, which a `sleep` reads when it is over
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
