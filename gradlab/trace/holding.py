"""Which parameters an optimizer holds that the graph does not read, and the reverse: the mark of a model or optimizer made anew."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .tape import Param, Tape


class Birth(NamedTuple):
    """Where a parameter came into the notebook: the variable of its model, its path in it, and the count of the cell."""

    owner: str
    path: str
    cell: int | None


class Holding(NamedTuple):
    """What one optimizer holds beside what the last step read.

    Attributes:
        held: how many parameters it holds.
        unread: names of those that the graph does not read.
        unheld: names of those in the graph that no optimizer holds.
        stale: what to do where the two are parameters of different objects; empty otherwise.
    """

    label: str
    held: int
    unread: list[str]
    unheld: list[str]
    stale: str


def holdings(optimizers: Iterable[tuple[str, Any]], tape: Tape, params: Mapping[int, Param], births: Mapping[int, Birth]) -> list[Holding]:
    """Compare the optimizers, by label, with the leaves that a step read."""
    pairs = list(optimizers)
    read = {-key for key, at in tape.refs.items() if key < 0 and at < 0 and -key in params and params[-key].leaf.requires_grad}
    every = {p.serial for _, optimizer in pairs for group in optimizer.param_groups for p in group["params"]}
    unheld = [serial for serial in sorted(read, key=lambda s: -tape.refs[-s]) if serial not in every]
    found: list[Holding] = []
    for label, optimizer in pairs:
        held = [p.serial for group in optimizer.param_groups for p in group["params"]]
        unread = [serial for serial in held if serial not in read]
        stale = _stale(label, unread, unheld, births) if tape.graphs and len(unread) == len(held) and unheld else ""
        found.append(
            Holding(label, len(held), [_name(s, params, births) for s in unread], [_name(s, params, births) for s in unheld], stale)
        )
    return found


def _stale(label: str, held: list[int], read: list[int], births: Mapping[int, Birth]) -> str:
    old, new = _owner(held, births), _owner(read, births)
    after = "Make the optimizer anew after the model: nothing that it moves is trained."
    if old is None or new is None:
        return f"{label} holds no parameter that the loss uses. {after}"
    return f"{label} holds the parameters of {_of(old, 'made in')}; the loss uses {_of(new, 'of')}. {after}"


def _owner(serials: list[int], births: Mapping[int, Birth]) -> Birth | None:
    found = Counter((b.owner, b.cell) for s in serials if (b := births.get(s)) is not None)
    if not found:
        return None
    owner, cell = found.most_common(1)[0][0]
    return Birth(owner, "", cell)


def _of(birth: Birth, word: str) -> str:
    return f"the `{birth.owner}`" + ("" if birth.cell is None else f" {word} In[{birth.cell}]")


def _name(serial: int, params: Mapping[int, Param], births: Mapping[int, Birth]) -> str:
    birth = births.get(serial)
    if birth is not None:
        cell = "" if birth.cell is None else f" (In[{birth.cell}])"
        return f"{birth.owner}.{birth.path}{cell}" if birth.path else f"{birth.owner}{cell}"
    param = params.get(serial)
    return param.leaf.name if param is not None else "a parameter"
