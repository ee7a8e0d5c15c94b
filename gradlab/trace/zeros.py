"""The share of exact zeros in each parameter's gradient, read only while somebody looks."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic

from ..backend import Array, xp_of
from .tape import Param


def share_of_zeros(array: Array) -> float:
    """How much of an array is exactly zero, 0 to 1; of an empty one nothing is.

    >>> import numpy as np
    >>> share_of_zeros(np.array([0.0, -0.0, 1.0, float("nan")], np.float32))
    0.5
    """
    return 1.0 - int(xp_of(array).count_nonzero(array)) / array.size if array.size else 0.0


class Zeros:
    """Reads shares in steps that are read in full, for as long as it was last asked to: the page asks again while it shows them.

    >>> zeros = Zeros()
    >>> zeros.wanted
    False
    >>> zeros.ask(60.0)
    >>> zeros.wanted
    True
    """

    def __init__(self) -> None:
        self._until = 0.0
        self.shares: dict[int, float] = {}
        self.tape = 0

    @property
    def wanted(self) -> bool:
        """Whether somebody looks."""
        return monotonic() < self._until

    def ask(self, seconds: float) -> None:
        """Read from now on, for some seconds."""
        self._until = monotonic() + seconds

    def read(self, params: Iterable[Param], tape: int) -> None:
        """Read the gradients that these parameters have now."""
        self.shares, self.tape = {}, tape
        for param in params:
            tensor = param.ref()
            if tensor is not None and tensor._grad is not None:
                self.shares[param.serial] = share_of_zeros(tensor._grad)
