"""What keeps graphs alive, as the page and `%gradlab alive` ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..trace.keeper import Alive, Keeper, alive
from ..trace.where import users_modules
from .reading import size
from .requests import Reply, answers

if TYPE_CHECKING:
    from .session import Session


@answers("alive", evaluates=True)
def keepers(session: Session) -> Reply:
    """Every variable that keeps graphs in memory, the largest first."""
    found = look(session)
    return {
        "keepers": [{**keeper._asdict(), "said": said(session, keeper)} for keeper in found.keepers],
        "unnamed": found.unnamed,
        "rest": unnamed(found),
    }


def look(session: Session) -> Alive:
    """Look through the user's variables, the results that IPython keeps, and the user's modules."""
    variables: dict[str, Any] = dict(session.variables())
    shown = None if session.shell is None else session.shell.user_ns.get("Out")
    if shown:
        variables["Out"] = dict(shown)
    structure = session.recorder.structure()
    return alive(variables, users_modules(), sum(op["grad"] for op in structure["ops"]))


def said(session: Session, keeper: Keeper) -> str:
    """One keeper in words: `losses` (In[9]) keeps 312 graphs, 1.4 GiB: append `loss.item()`."""
    variable = keeper.name.partition(".")[0].partition("(")[0].partition(":")[0]
    count = session.births.cell_of(variable)
    cell = "" if count is None else f" (In[{count}])"
    graphs = f"{keeper.graphs:,} graphs" if keeper.graphs != 1 else f"1 graph of {keeper.ops:,} op{'s' * (keeper.ops != 1)}"
    remedy = f": {keeper.remedy}" if keeper.remedy else ""
    return f"`{keeper.name}`{cell} keeps {graphs}, {size(keeper.size_bytes)}{remedy}."


def unnamed(found: Alive) -> str:
    """What is said of results that no variable leads to; empty where there are none."""
    if not found.unnamed:
        return ""
    by = f", most by a {found.unnamed_by}" if found.unnamed_by else ""
    return f"{found.unnamed:,} more result{'s' * (found.unnamed != 1)} with a graph, held where no variable leads to{by}."


def report(session: Session) -> str:
    """All of it as text."""
    found = look(session)
    lines = [said(session, keeper) for keeper in found.keepers]
    if rest := unnamed(found):
        lines.append(rest)
    return "\n".join(lines) if lines else "gradlab: no variable keeps a graph alive"
