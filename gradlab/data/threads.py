"""Batches made in threads: they see the dataset as it is, and end by themselves when there is nothing to do."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from .worker import Job, Maker, WorkerInfo, working

_PATIENCE_S = 5.0  # for an item that is being read when nobody wants it any more


class Slip:
    """Where a batch will be."""

    def __init__(self, job: Job) -> None:
        self.job, self.done = job, threading.Event()
        self.batch: Any = None
        self.error: BaseException | None = None


class Threads:
    """At most `count` threads. One starts when a job comes and none is free, and ends when no job waits, so none is ever idle."""

    def __init__(self, maker: Maker, count: int, init: Callable[[int], object] | None) -> None:
        self._maker, self._count, self._init = maker, count, init
        self._lock = threading.Lock()
        self._waiting: deque[Slip] = deque()
        self._free = list(range(count - 1, -1, -1))
        self._running: dict[int, threading.Thread] = {}
        self._begun: set[int] = set()

    def submit(self, job: Job) -> Slip:
        """Have a batch made."""
        slip = Slip(job)
        with self._lock:
            self._waiting.append(slip)
            if self._free:
                number = self._free.pop()
                thread = threading.Thread(target=self._work, args=(number,), name=f"gradlab-data-{number}", daemon=True)
                self._running[number] = thread
                thread.start()
        return slip

    def result(self, slip: Slip, timeout: float | None) -> Any:
        """The batch, or the error that came in its place, with the traceback of its thread.

        Raises:
            TimeoutError: it took longer.
        """
        if not slip.done.wait(timeout):
            raise TimeoutError
        error, slip.error = slip.error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # whose traceback holds this frame
        return slip.batch

    def cancel(self) -> None:
        """Forget the jobs that wait, and let those end that run."""
        with self._lock:
            self._waiting.clear()
            running = list(self._running.values())
        until = time.monotonic() + _PATIENCE_S
        for thread in running:
            if thread is not threading.current_thread():
                thread.join(max(0.0, until - time.monotonic()))

    close = cancel  # no thread outlives its job

    def _work(self, number: int) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._free.append(number)
                    self._running.pop(number, None)
                    return
                slip = self._waiting.popleft()
            try:
                with working(WorkerInfo(number, self._count, slip.job.seed, self._maker.dataset)):
                    if self._init is not None and number not in self._begun:
                        self._init(number)
                    self._begun.add(number)
                    slip.batch = self._maker(slip.job)
            except BaseException as error:
                slip.error = error
            slip.done.set()
