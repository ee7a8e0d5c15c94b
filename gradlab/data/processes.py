"""Batches made in other processes, for datasets whose items take long in Python itself."""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.context import BaseContext
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ..errors import DataError, explain
from .worker import Job, Maker, WorkerInfo, seed_others, working

_NEED = "a dataset, collate_fn and worker_init_fn that other processes can import: at the top level of a module of their own"
_FIX = "multiprocessing_context=None, for threads"


class WorkerTraceback(Exception):  # noqa: N818 - it is where, not what
    """Where in a worker process an error came up."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Processes:
    """A pool of `count` processes, each with its own copy of the dataset."""

    def __init__(self, maker: Maker, count: int, init: Callable[[int], object] | None, context: BaseContext) -> None:
        state = (maker.dataset, maker.combine, init)
        sent = state if context.get_start_method() == "fork" else _pickled(state)
        numbers = context.Value("i", 0)
        self._pool = ProcessPoolExecutor(count, context, _begin, (sent, count, numbers))
        self._sent: set[Future[Any]] = set()

    def submit(self, job: Job) -> Future[Any]:
        """Have a batch made."""
        try:
            future = self._pool.submit(_work, job)
        except BrokenProcessPool as error:
            raise _dead(error) from error
        self._sent.add(future)
        return future

    def result(self, future: Future[Any], timeout: float | None) -> Any:
        """The batch, or the error that came in its place, with the traceback of its process.

        Raises:
            TimeoutError: it took longer.
            DataError: the process ended.
        """
        try:
            batch, error, text = future.result(timeout)
        except BrokenProcessPool as broken:
            raise _dead(broken) from broken
        self._sent.discard(future)
        if text:
            raise (pickle.loads(error) if error else DataError("DataLoader: a worker failed")) from WorkerTraceback(text)
        return batch

    def cancel(self) -> None:
        """Forget the jobs that wait, and let those end that run."""
        running = [future for future in self._sent if not future.cancel()]
        wait(running)
        self._sent.clear()

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def context_of(name: Any) -> BaseContext:
    """The way to start processes that `multiprocessing_context` names.

    Raises:
        DataError: there is none of that name.
    """
    if isinstance(name, BaseContext):
        return name
    ways = multiprocessing.get_all_start_methods()
    if name not in ways:
        need = f"{', '.join(ways)}, or a context of multiprocessing"
        raise DataError(explain("DataLoader: no such way to start processes", got={"multiprocessing_context": name}, need=need, fix=_FIX))
    return multiprocessing.get_context(name)


def _pickled(state: Any) -> bytes:
    """What a new process is sent.

    Raises:
        DataError: it can't be sent, or could not be found there.
    """
    try:
        sent = bytes(ForkingPickler.dumps(state))
    except Exception as error:
        got = {type(state[0]).__name__: f"{type(error).__name__}: {error}"}
        raise DataError(explain("DataLoader: this can't be sent to another process", got=got, need=_NEED, fix=_FIX)) from None
    main = sys.modules["__main__"]
    if b"__main__" in sent and getattr(main, "__spec__", None) is None and not hasattr(main, "__file__"):
        got = {type(state[0]).__name__: "it, or what it is made of, is known to this session only"}
        raise DataError(explain("DataLoader: another process could not import this", got=got, need=_NEED, fix=_FIX))
    return sent


def _dead(error: BaseException) -> DataError:
    got = {"multiprocessing says": error}
    need = 'enough memory; in a script the loop under `if __name__ == "__main__":`, since each worker reads the script'
    return DataError(explain("DataLoader: a worker process ended before its batch was made", got=got, need=need, fix=_FIX))


# In the other process

_here: dict[str, Any] = {}


def _begin(sent: Any, count: int, numbers: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the main process's, which ends this one
    with numbers.get_lock():
        _here.update(sent=sent, count=count, number=numbers.value)
        numbers.value += 1


def _work(job: Job) -> tuple[Any, bytes | None, str]:
    """The batch; or an error, if it can be sent, and its traceback."""
    try:
        if "maker" not in _here:
            sent = _here["sent"]
            dataset, combine, init = pickle.loads(sent) if isinstance(sent, bytes) else sent
            _here["maker"] = Maker(dataset, combine)
            if init is not None:
                with working(WorkerInfo(_here["number"], _here["count"], job.seed, dataset)):
                    init(_here["number"])
        maker: Maker = _here["maker"]
        seed_others(job)
        with working(WorkerInfo(_here["number"], _here["count"], job.seed, maker.dataset)):
            return maker(job), None, ""
    except Exception as error:
        return None, _sendable(error), traceback.format_exc()


def _sendable(error: Exception) -> bytes | None:
    """The error as it is sent; None for one that can't be, or can't be made again there."""
    with suppress(Exception):
        sent = pickle.dumps(error)
        pickle.loads(sent)
        return sent
    return None
