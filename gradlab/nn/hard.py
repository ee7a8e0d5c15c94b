"""Nonlinearities of straight pieces, as modules."""

from __future__ import annotations

from .. import ops
from .._tensor import Tensor
from ..errors import ArgumentError, explain
from ..ops.argument import need_number
from .activation import InPlace
from .module import Module
from .option import applied


class Hardtanh(InPlace):
    """x, cut to [min_val, max_val].

    Shapes: x: (*), y: as x

    Raises:
        ArgumentError: nothing is between the limits.
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        need_number("Hardtanh", min_val=min_val, max_val=max_val)
        if not min_val < max_val:
            got = {"min_val": min_val, "max_val": max_val}
            raise ArgumentError(explain("Hardtanh: there is nothing between the limits", got=got, need="min_val < max_val"))
        self.min_val, self.max_val = min_val, max_val

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.hardtanh, x, self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return self._with("min_val max_val")


class Hardsigmoid(InPlace):
    """x / 6 + 1/2, cut to [0, 1].

    Shapes: x: (*), y: as x

    Source: Howard et al. 2019, arXiv:1905.02244, section 5.2.
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.hardsigmoid, x)


class Hardswish(InPlace):
    """x times hardsigmoid(x).

    Shapes: x: (*), y: as x

    Source: Howard et al. 2019, arXiv:1905.02244, section 5.2.
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.hardswish, x)


class Hardshrink(Module):
    """x where |x| is above `lambd`, else 0.

    Shapes: x: (*), y: as x
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        need_number(type(self).__name__, lambd=lambd)
        self.lambd = lambd

    def forward(self, x: Tensor) -> Tensor:
        return ops.hardshrink(x, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(Hardshrink):
    """x, `lambd` closer to 0; 0 where |x| is below it.

    Shapes: x: (*), y: as x
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.softshrink(x, self.lambd)


class Threshold(InPlace):
    """x where it is above `threshold`, else `value`.

    Shapes: x: (*), y: as x
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        need_number("Threshold", threshold=threshold, value=value)
        self.threshold, self.value = threshold, value

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.threshold, x, self.threshold, self.value)

    def extra_repr(self) -> str:
        return self._with("threshold value")
