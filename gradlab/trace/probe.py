"""Probes: one number a step of a parameter, a gradient or a module's output, as a further column of the timeline."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..backend import xp_of
from ..errors import GradlabError
from .summary import norm, rms

if TYPE_CHECKING:
    from .steps import Steps

MEASURES = ("norm", "rms", "mean", "max", "zeros")
"""What a probe reads: L2 norm, root mean square, mean, largest magnitude, share of exact zeros."""

_FORM = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([^\s"']+))\s+(\w+)\s*""")
_MOST = 32


class ProbeError(GradlabError, ValueError):
    """A probe that can't be read, or one too many."""


class Probe(NamedTuple):
    """What is read: `target` is the name of a parameter or module, with `.grad` where its gradient is meant.

    >>> parse('"fc1.weight.grad" max')
    Probe(target='fc1.weight', gradient=True, measure='max')
    """

    target: str
    gradient: bool
    measure: str

    @property
    def name(self) -> str:
        """What it is called in the panel; its column is `p/` and this."""
        return f"{self.target}{'.grad' * self.gradient} {self.measure}"

    def fits(self, label: str | None, path: str) -> bool:
        """Whether it means the thing of that path in the model of that label."""
        return self.target in (path, label if not path else f"{label}.{path}")


def parse(text: str) -> Probe:
    """Read a name and a measure.

    Raises: ProbeError, with what may stand there.
    """
    found = _FORM.fullmatch(text)
    takes = f"  takes: a name and one of {', '.join(MEASURES)}, as in fc1 rms, fc1.weight norm or fc1.weight.grad zeros"
    if found is None:
        raise ProbeError(f"probe: {text.strip()!r} is no name and measure\n{takes}")
    target, measure = found[1] or found[2] or found[3], found[4]
    if measure not in MEASURES:
        raise ProbeError(f"probe: there is no measure {measure!r}\n{takes}")
    return Probe(target.removesuffix(".grad"), target.endswith(".grad"), measure)


def measured(array: Any, measure: str) -> float:
    """One number of an array; an empty one has 0.

    >>> import numpy as np
    >>> [measured(np.array([0.0, -4.0, 3.0, 0.0]), m) for m in MEASURES]
    [5.0, 2.5, -0.25, 4.0, 0.5]
    """
    if measure in ("norm", "rms"):
        size = norm(array)
        return size if measure == "norm" else rms(size, array.size)
    if not array.size:
        return 0.0
    xp = xp_of(array)
    if measure == "mean":
        return float(array.mean(dtype=xp.float64))
    return float(xp.abs(array).max()) if measure == "max" else 1.0 - int(xp.count_nonzero(array)) / array.size


class Probes:
    """The probes of a recorder. What they read is noted in its run, which writes it into the row of the step."""

    def __init__(self) -> None:
        self.all: list[Probe] = []
        self._made: dict[int, list[Probe]] = {}  # sequence number of the op that made a probed module's output

    def add(self, text: str) -> Probe:
        """Add one; the same again changes nothing.

        Raises: ProbeError where it can't be read, or there are enough.
        """
        probe = parse(text)
        if probe not in self.all:
            if len(self.all) >= _MOST:
                raise ProbeError(f"probe: there are {_MOST} already; clear some")
            self.all = [*self.all, probe]
        return probe

    def clear(self) -> int:
        """Remove all; how many there were."""
        gone, self.all, self._made = len(self.all), [], {}
        return gone

    def called(self, steps: Steps, module: Any, output: Any) -> None:
        """A module was called: the last call of a step counts."""
        place = steps.names.place_of(module)
        wanted = [] if place is None else [probe for probe in self.all if probe.fits(*place)]
        tensor = output if hasattr(output, "grad_fn") else next((t for t in _parts(output) if hasattr(t, "grad_fn")), None)
        if not wanted or tensor is None or steps.tape.updated:
            return  # what is called after the update, as to test, is not of this step
        self._note(steps, [p for p in wanted if not p.gradient], tensor._data)
        gradients = [p for p in wanted if p.gradient]
        if gradients and tensor.grad_fn is not None:
            if len(self._made) > 1_000:
                self._made.clear()
            self._made[tensor.grad_fn.seq] = gradients

    def pulled(self, steps: Steps, fn: Any, g: Any) -> None:
        """A gradient arrived at an op."""
        if self._made and (wanted := self._made.pop(fn.seq, None)) is not None:
            self._note(steps, wanted, g)

    def passed(self, steps: Steps) -> None:
        """A backward pass ended: every gradient is there, and no update has moved a parameter yet."""
        params = [(param, param.ref()) for param in steps.params()]
        for probe in self.all:
            for param, tensor in params:
                if tensor is not None and probe.fits(param.leaf.root, param.leaf.name):
                    array = tensor._grad if probe.gradient else tensor._data
                    if array is not None:
                        self._note(steps, [probe], array)

    def _note(self, steps: Steps, probes: list[Probe], array: Any) -> None:
        for probe in probes:
            steps.run.probes[f"p/{probe.name}"] = (steps.tape.id, measured(array, probe.measure))


def _parts(output: Any) -> Any:
    return output if isinstance(output, (tuple, list)) else output.values() if isinstance(output, dict) else ()
