"""Dropout as modules: noise while training, nothing in eval."""

from __future__ import annotations

from .. import ops
from .._tensor import Tensor
from .activation import InPlace
from .option import applied, need_probability, shown


class Dropout(InPlace):
    """While training, set each entry to 0 with probability `p` and scale the rest by 1 / (1 - p); in eval do nothing.

    Shapes: x: (*), y: as x

    Raises:
        ArgumentError: `p` is no probability.

    Source: Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from overfitting" (there the
    scaling is at test time; here, as in PyTorch, at training time).

    >>> Dropout(0.5).eval()(Tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__(inplace)
        need_probability(type(self).__name__, p)
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.dropout, x, self.p, self.training)

    def extra_repr(self) -> str:
        return shown(self, "p inplace")


class Dropout1d(Dropout):
    """While training, set whole channels of sequences to 0 with probability `p` and scale the rest; in eval do nothing.

    Shapes: x: (batch, channel, length) or (channel, length), y: as x

    Raises:
        ArgumentError: `p` is no probability.
        ShapeError: another number of axes.

    Source: Tompson et al. 2014, arXiv:1411.4280, section 3.2.
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.dropout1d, x, self.p, self.training)


class Dropout2d(Dropout):
    """While training, set whole channels of images to 0 with probability `p` and scale the rest; in eval do nothing.

    Shapes: x: (batch, channel, height, width), y: as x

    Raises:
        ArgumentError: `p` is no probability.
        ShapeError: another number of axes.

    Source: Tompson et al. 2014, arXiv:1411.4280, section 3.2.
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.dropout2d, x, self.p, self.training)


class Dropout3d(Dropout):
    """While training, set whole channels of volumes to 0 with probability `p` and scale the rest; in eval do nothing.

    Shapes: x: (batch, channel, depth, height, width) or without batch, y: as x

    Raises:
        ArgumentError: `p` is no probability.
        ShapeError: another number of axes.

    Source: Tompson et al. 2014, arXiv:1411.4280, section 3.2.
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.dropout3d, x, self.p, self.training)


class AlphaDropout(Dropout):
    """While training, drop entries to what SELU tends to at -inf, so that mean 0 and variance 1 stay; in eval do nothing.

    Shapes: x: (*), y: as x

    Raises:
        ArgumentError: `p` is no probability.

    Source: Klambauer et al. 2017, arXiv:1706.02515, section 2.
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.alpha_dropout, x, self.p, self.training)


class FeatureAlphaDropout(Dropout):
    """While training, drop whole channels as AlphaDropout drops entries; in eval do nothing.

    Shapes: x: (batch, channel, *), y: as x

    Raises:
        ArgumentError: `p` is no probability.
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.feature_alpha_dropout, x, self.p, self.training)
