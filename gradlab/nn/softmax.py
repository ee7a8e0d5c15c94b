"""Activations that look along an axis, as modules."""

from __future__ import annotations

from .. import ops
from .._tensor import Tensor
from ..errors import KeywordError, explain
from ..ops.argument import whole
from .module import Module
from .option import shown


class Along(Module):
    """What activations share that look along one axis."""

    def __init__(self, dim: int | None = -1) -> None:
        super().__init__()
        if dim is None:
            need = "an axis; the last is -1"
            raise KeywordError(explain(f"{type(self).__name__}: along which axis?", got={"dim": dim}, need=need))
        self.dim = whole("dim", dim)

    def extra_repr(self) -> str:
        return shown(self, "dim")


class GLU(Along):
    """a / (1 + e^-b), a and b the two halves of x along `dim`: one half says how much of the other passes.

    Shapes: x: (*, 2 n, *), y: (*, n, *)

    Raises:
        DimError: no such axis.
        KeywordError: `dim` is None: the axis is not guessed.

    Source: Dauphin et al. 2016, arXiv:1612.08083, section 2.
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.glu(x, self.dim)


class Softmax(Along):
    """e^x / sum(e^x) along `dim`: positive numbers that sum to 1.

    Shapes: x: (*, n, *), y: as x

    Raises:
        DimError: no such axis.
        KeywordError: `dim` is None: the axis is not guessed.
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.softmax(x, self.dim)


class Softmin(Along):
    """e^-x / sum(e^-x) along `dim`: the smallest gets the most.

    Shapes: x: (*, n, *), y: as x

    Raises:
        DimError: no such axis.
        KeywordError: `dim` is None: the axis is not guessed.
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.softmin(x, self.dim)


class LogSoftmax(Along):
    """x - log(sum(e^x)) along `dim`, in a form that doesn't overflow.

    Shapes: x: (*, n, *), y: as x

    Raises:
        DimError: no such axis.
        KeywordError: `dim` is None: the axis is not guessed.
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.log_softmax(x, self.dim)


class Softmax2d(Module):
    """Softmax over the channels of an image, place by place.

    Shapes: x: (batch, channel, height, width) or (channel, height, width), y: as x
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.softmax(x, -3)
