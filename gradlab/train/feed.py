"""Feed: the batches of one epoch, from its beginning or from the middle, where a stopped training goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ..backend import get_rng_state, set_rng_state
from ..errors import DataError, StateError, explain


class Feed:
    """Reads a loader once.

    A loader with `state_dict` and `load_state_dict`, as DataLoader has them, goes on where it stood. Any other iterable has to give
    the same batches again, as a list does: those that were used are passed over.

    Args:
        position: what `position` gave, to go on there.

    Raises:
        DataError: it is nothing that batches come from.
        StateError: fewer batches come than were used already.

    >>> position = Feed([1, 2, 3]).position(2)
    >>> list(Feed([1, 2, 3], position).groups(1))
    [[3]]
    """

    def __init__(self, loader: Any, position: Mapping[str, Any] | None = None) -> None:
        self._keeps = keeps(loader)
        used = 0 if position is None else int(position["batches"])
        now = self._began = get_rng_state()
        self._loader = None
        if position is not None and self._keeps and position["loader"] is not None:
            loader.load_state_dict(position["loader"])
        if used and position is not None:
            self._began = position["began"]
            set_rng_state(dict(self._began))
        self._iterator = iter(loader)
        if self._keeps:
            self._loader = loader.state_dict()
        if not used:
            return
        passed = used if self._keeps else sum(1 for _ in islice(self._iterator, used))
        set_rng_state(now)  # passing over may have drawn some
        if passed < used:
            got = {"batches used": used, "batches that came": passed}
            raise StateError(explain("fit: this loader is shorter than the one that training was stopped with", got=got, need="the same"))

    def groups(self, size: int) -> Iterator[list[Any]]:
        """Lists of `size` batches, the last of which may be shorter."""
        while group := list(islice(self._iterator, size)):
            yield group

    def position(self, batches: int) -> dict[str, Any]:
        """Where it stands when so many batches are used, all of the epoch counted."""
        began = self._began if batches else None  # else the epoch begins anew, and draws what it drew
        loader = self._loader and {**self._loader, "batches": batches} | ({} if batches else {"random": None})
        return {"batches": batches, "began": began, "loader": loader}


def between(loader: Any) -> dict[str, Any]:
    """Where a loader stands between two epochs."""
    return {"batches": 0, "began": None, "loader": loader.state_dict() if keeps(loader) else None}


def stand(loader: Any, state: Mapping[str, Any]) -> None:
    """Put a loader where `between` found it."""
    if keeps(loader) and state["loader"] is not None:
        loader.load_state_dict(state["loader"])


def keeps(loader: Any) -> bool:
    """Whether it says where it stands."""
    return hasattr(loader, "state_dict") and hasattr(loader, "load_state_dict")


def length_of(loader: Any) -> int | None:
    """How many batches an epoch has; None where nobody knows."""
    try:
        return len(loader)
    except TypeError:
        return None


def need_batches(what: str, loader: Any, epochs: int = 1) -> None:
    """Refuse what no batches come from, or no more in a second epoch.

    Raises:
        DataError: it is not iterable, empty, or can be read only once where it has to be read again.
    """
    if not hasattr(loader, "__iter__"):
        got = {"loader": type(loader).__name__}
        raise DataError(explain(f"{what}: no batches come from this", got=got, need="a DataLoader, or an iterable of batches"))
    if length_of(loader) == 0:
        raise nothing(what, loader)
    if epochs > 1 and hasattr(loader, "__next__"):
        got = {"loader": type(loader).__name__, "epochs": epochs}
        need = "what begins anew in each `for`: a DataLoader, a list, a class with __iter__"
        raise DataError(explain(f"{what}: this can be read only once, so the second epoch would be empty", got=got, need=need))


def nothing(what: str, loader: Any) -> DataError:
    """The error where no batch came."""
    dropped = getattr(loader, "drop_last", False)
    got: dict[str, object] = {"batches": 0}
    try:
        got["samples"] = len(loader.dataset)
        got["batch_size"] = loader.batch_size
    except (AttributeError, TypeError):
        pass
    fix = "drop_last=False" if dropped and got.get("samples") else ""
    return DataError(explain(f"{what}: the loader is empty", got=got, need="at least one batch", fix=fix))
