"""Nonlinearities as modules; the formulas are in `ops`."""

from __future__ import annotations

from typing import Any, Literal

from .. import ops
from .._tensor import Tensor
from ..create import full
from ..errors import ArgumentError, explain
from ..ops.argument import need_number
from . import init
from .module import Module
from .option import applied, need_sizes, shown
from .parameter import Parameter


class InPlace(Module):
    """What activations share that can write their result over their input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""

    def _with(self, names: str) -> str:
        return shown(self, names) + (", inplace=True" if self.inplace else "")


class ReLU(InPlace):
    """max(x, 0).

    Shapes: x: (*), y: as x

    >>> ReLU()(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.relu, x)


class ReLU6(InPlace):
    """min(max(x, 0), 6).

    Shapes: x: (*), y: as x

    Source: Krizhevsky 2010, "Convolutional deep belief networks on CIFAR-10".
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.relu6, x)


class LeakyReLU(InPlace):
    """x where x is positive, else `negative_slope` times x.

    Shapes: x: (*), y: as x

    Source: Maas et al. 2013, "Rectifier nonlinearities improve neural network acoustic models".

    >>> LeakyReLU(0.5)(Tensor([-1.0, 2.0])).tolist()
    [-0.5, 2.0]
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        need_number("LeakyReLU", negative_slope=negative_slope)
        self.negative_slope = negative_slope

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.leaky_relu, x, self.negative_slope)

    def extra_repr(self) -> str:
        return self._with("negative_slope")


class PReLU(Module):
    """x where x is positive, else w x with a slope w that is learned: one for all, or one a channel.

    Args:
        num_parameters: 1, or the number of channels.
        init: the first slope.

    Shapes: x: (batch, channel, *) or (*), y: as x, weight: (num_parameters,)

    Raises:
        ShapeError: another number of channels than slopes.

    Source: He et al. 2015, arXiv:1502.01852, eq. 1.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        need_number("PReLU", init=init)
        (self.num_parameters,) = need_sizes("PReLU", num_parameters=num_parameters)
        self.init = init
        self.weight = Parameter(full((num_parameters,), float(init), device=device, dtype=dtype))

    def reset_parameters(self) -> None:
        """All slopes as they were first."""
        init.constant_(self.weight, self.init)

    def forward(self, x: Tensor) -> Tensor:
        return ops.prelu(x, self.weight)

    def extra_repr(self) -> str:
        return shown(self, "num_parameters")


class RReLU(InPlace):
    """x where x is positive, else a x; while training a is drawn for each entry from [lower, upper), in eval it is the middle.

    Shapes: x: (*), y: as x

    Source: Xu et al. 2015, arXiv:1505.00853, section 2.4.
    """

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        need_number("RReLU", lower=lower, upper=upper)
        self.lower, self.upper = lower, upper

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.rrelu, x, self.lower, self.upper, self.training)

    def extra_repr(self) -> str:
        return self._with("lower upper")


class ELU(InPlace):
    """x where x is positive, else alpha (e^x - 1).

    Shapes: x: (*), y: as x

    Source: Clevert et al. 2015, arXiv:1511.07289, eq. 15.
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        need_number(type(self).__name__, alpha=alpha)
        self.alpha = alpha

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.elu, x, self.alpha)

    def extra_repr(self) -> str:
        return self._with("alpha")


class CELU(ELU):
    """x where x is positive, else alpha (e^(x / alpha) - 1): smooth for every alpha.

    Shapes: x: (*), y: as x

    Source: Barron 2017, arXiv:1704.07483, eq. 2.
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.celu, x, self.alpha)


class SELU(InPlace):
    """ELU scaled so that mean 0 and variance 1 come back layer by layer.

    Shapes: x: (*), y: as x

    Source: Klambauer et al. 2017, arXiv:1706.02515, eq. 2.
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.selu, x)


class GELU(Module):
    """x Phi(x), with Phi the normal distribution function.

    Args:
        approximate: "none" for the exact form, "tanh" for the usual approximation.

    Shapes: x: (*), y: as x

    Raises:
        ArgumentError: another word.

    Source: Hendrycks and Gimpel 2016, arXiv:1606.08415.
    """

    def __init__(self, approximate: Literal["none", "tanh"] = "none") -> None:
        super().__init__()
        if approximate not in ("none", "tanh"):
            raise ArgumentError(explain("GELU: which form?", got={"approximate": repr(approximate)}, need="'none' or 'tanh'"))
        self.approximate: Literal["none", "tanh"] = approximate

    def forward(self, x: Tensor) -> Tensor:
        return ops.gelu(x, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SiLU(InPlace):
    """x / (1 + e^-x), also known as swish.

    Shapes: x: (*), y: as x

    Source: Elfwing et al. 2017, arXiv:1702.03118, eq. 10.
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.silu, x)


class Mish(InPlace):
    """x tanh(log(1 + e^x)).

    Shapes: x: (*), y: as x

    Source: Misra 2019, arXiv:1908.08681.
    """

    def forward(self, x: Tensor) -> Tensor:
        return applied(self, ops.mish, x)


class Tanh(Module):
    """tanh(x), in (-1, 1).

    Shapes: x: (*), y: as x
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.tanh(x)


class Sigmoid(Module):
    """1 / (1 + e^-x), in (0, 1).

    Shapes: x: (*), y: as x
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.sigmoid(x)


class LogSigmoid(Module):
    """log(1 / (1 + e^-x)), in a form that doesn't overflow.

    Shapes: x: (*), y: as x
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.logsigmoid(x)


class Softsign(Module):
    """x / (1 + |x|), in (-1, 1).

    Shapes: x: (*), y: as x
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.softsign(x)


class Tanhshrink(Module):
    """x - tanh(x).

    Shapes: x: (*), y: as x
    """

    def forward(self, x: Tensor) -> Tensor:
        return ops.tanhshrink(x)


class Softplus(Module):
    """log(1 + e^(beta x)) / beta: a smooth max(x, 0); x itself where beta x is above `threshold`.

    Shapes: x: (*), y: as x
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        need_number("Softplus", beta=beta, threshold=threshold)
        self.beta, self.threshold = beta, threshold

    def forward(self, x: Tensor) -> Tensor:
        return ops.softplus(x, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return shown(self, "beta threshold")
