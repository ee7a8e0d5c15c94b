"""A notebook without Jupyter: cells that are compiled under names of their own and run in one namespace."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType

import numpy as np
import pytest

import gradlab as gl
from gradlab import observe
from gradlab.trace import Places, Recorder, Where


class Notebook:
    """Runs cells while a recorder watches."""

    def __init__(self) -> None:
        self.recorder = Recorder()
        self.namespace = {"gl": gl, "np": np, "nn": gl.nn, "optim": gl.optim}
        self._count = 0
        self._cells: dict[str, Where] = {}
        self.recorder.where = Places(self._source).of_op
        self.recorder.names = lambda: {id(value): name for name, value in self.namespace.items()}
        self.recorder.attach()

    def _source(self, code: CodeType) -> Where | None:
        return self._cells.get(code.co_filename)

    def run(self, code: str, cell: str | None = None) -> Recorder:
        """Run `code` as the cell of that id; the text is the id where none is given."""
        self._count += 1
        name = f"<cell {self._count}>"
        self._cells[name] = Where(cell or code, self._count)
        self.recorder.running = True
        try:
            exec(compile(code, name, "exec"), self.namespace)
        finally:
            self.recorder.running = False
        return self.recorder

    @property
    def ops(self) -> list[str]:
        """The names of the ops on show; those without a graph in parentheses."""
        return [op["name"] if op["grad"] else f"({op['name']})" for op in self.recorder.structure()["ops"]]

    @property
    def leaves(self) -> list[str]:
        """The names of the leaves on show."""
        return [leaf["name"] for leaf in self.recorder.structure()["leaves"]]

    def row(self, step: int = -1) -> dict[str, float]:
        """A row of the timeline by column: of the newest step, or of that one."""
        timeline = self.recorder.timeline
        _, rows = timeline.rows(0)
        return dict(zip(timeline.columns(), rows[step].tolist(), strict=True))


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    one = Notebook()
    yield one
    one.recorder.detach()


@pytest.fixture(params=[3, 9])
def thrifty(request: pytest.FixtureRequest) -> Iterator[Recorder]:
    """A recorder whose every third or ninth step is full, once its cell is under way; `Glance` reads from the third light one on."""
    recorder = Recorder()
    recorder.governor.budget = 0.0
    recorder.governor._period = lambda: request.param
    recorder.running = True
    recorder.attach()
    yield recorder
    recorder.detach()
    assert observe.current is None and observe.ops is None
