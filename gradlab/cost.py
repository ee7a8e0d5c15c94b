"""What an op costs: floating-point operations and bytes, from its class and shapes alone.

A multiplication and an addition are one operation each, so a product of matrices (n, k) and (k, m) takes 2 n k m, as in PyTorch's
counter. A function such as exp or tanh counts as one. Rules that an array library fuses or skips are counted as they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

Shape = tuple[int, ...]


class Cost(NamedTuple):
    """Operations and bytes of one op; None for operations where there is no formula.

    Attributes:
        forward, backward: floating-point operations.
        moved_bytes: read and written by forward, inputs and output each once; 0 for a view.
        moved_back_bytes: the same by backward: what comes in, what the rule reads, and the gradients it gives.
    """

    forward: float | None
    backward: float | None
    moved_bytes: int
    moved_back_bytes: int


class Shapes(NamedTuple):
    """What the formulas are written in: the inputs' shapes, whether each wants a gradient, and the output's shape."""

    inputs: Sequence[Shape]
    wants: Sequence[bool]
    out: Shape

    @property
    def n(self) -> int:
        """Entries of the output."""
        return prod(self.out)

    def size(self, i: int) -> int:
        """Entries of input i; 0 where there is none."""
        return prod(self.inputs[i]) if i < len(self.inputs) else 0

    def wanted(self, *which: int) -> int:
        """How many of these inputs want a gradient."""
        return sum(self.wants[i] for i in which if i < len(self.wants))

    @property
    def summed(self) -> int:
        """Additions that sum broadcast gradients back to their inputs."""
        return sum(self.n - prod(s) for s, want in zip(self.inputs, self.wants, strict=True) if want and prod(s) < self.n)


Formula = Callable[[Shapes], tuple[float, float]]


def _product(inner: Callable[[Shapes], int], operands: tuple[int, int] = (0, 1), bias: int = -1) -> Formula:
    """Each output entry sums `inner` products; each operand's gradient costs as much again, a bias one addition an entry."""

    def count(s: Shapes) -> tuple[float, float]:
        products = 2 * s.n * inner(s)
        has_bias = bias >= 0 and s.size(bias) > 0
        return products + s.n * has_bias, products * s.wanted(*operands) + (s.n - s.size(bias)) * (has_bias and s.wanted(bias))

    return count


def _transposed(s: Shapes) -> tuple[float, float]:
    # Every input entry meets one row of the weight (in, out / groups, kernel).
    products = 2 * s.size(0) * prod(s.inputs[1][1:])
    bias = s.size(2) > 0
    return products + s.n * bias, products * s.wanted(0, 1) + (s.n - s.size(2)) * (bias and s.wanted(2))


def _attention(s: Shapes) -> tuple[float, float]:
    scores = prod(s.inputs[0][:-1]) * s.inputs[1][-2]
    asked, given = 2 * scores * s.inputs[0][-1], 2 * scores * s.inputs[2][-1]  # q k^T, and the weights times v
    to_scores = s.wanted(0, 1) > 0  # g v^T, and softmax's rule
    return asked + given + 6 * scores, asked * s.wanted(0, 1) + given * s.wanted(2) + (given + 5 * scores) * to_scores


def _recurrent(gates: int, entries: int) -> Formula:
    """`gates` products with x and with h a step, and `entries` more operations per hidden entry; an LSTM has c before its weights."""

    def count(s: Shapes) -> tuple[float, float]:
        at = 3 if gates == 4 else 2
        w_ih, w_hh = s.inputs[at], s.inputs[at + 1]
        rows = prod(s.inputs[0][:-1])  # time steps x batch
        products = 2 * rows * (prod(w_ih) + prod(w_hh))
        extra = rows * (w_hh[1] * entries + w_hh[0] * (len(s.inputs) - at - 1))  # sums of the two products and the biases
        return products + extra, 2 * (products + extra)

    return count


def _each(forward: float, backward: float = 1, over: int = -1) -> Formula:
    """So many operations per entry, of the output or of input `over`; backward per gradient that is wanted."""

    def count(s: Shapes) -> tuple[float, float]:
        n = s.n if over < 0 else s.size(over)
        return forward * n, backward * n * sum(s.wants) + s.summed

    return count


def _reduced(backward: float) -> Formula:
    """One operation for each entry that joins another; backward per entry of the input."""
    return lambda s: (s.size(0) - s.n, backward * s.size(0) * s.wanted(0))


def _free(s: Shapes) -> tuple[float, float]:
    return 0, s.summed


FORMULAS: dict[str, Formula] = {
    # products
    "MatMul": _product(lambda s: s.inputs[0][-1]),
    "Linear": _product(lambda s: s.inputs[0][-1], bias=2),
    "AddMM": _product(lambda s: s.inputs[1][-1], (1, 2), bias=0),
    "Conv": _product(lambda s: prod(s.inputs[1][1:]), bias=2),
    "ConvTranspose": _transposed,
    "Kron": _each(1, 2),
    "Attention": _attention,
    "LSTM": _recurrent(4, 13),
    "LSTMCell": _recurrent(4, 13),
    "GRU": _recurrent(3, 11),
    "GRUCell": _recurrent(3, 11),
    "RNN": _recurrent(1, 1),
    "RNNCell": _recurrent(1, 1),
    # one number from many
    "Sum": _reduced(0),
    "Trace": lambda s: (s.inputs[0][-1] - 1, 0),
    "Mean": lambda s: (s.size(0), s.n * s.wanted(0)),
    **dict.fromkeys(("Max", "Min", "AMax", "AMin", "Median", "ArgMax", "ArgMin", "AllOf", "AnyOf"), _reduced(0)),
    "Var": lambda s: (4 * s.size(0), 2 * s.size(0) * s.wanted(0)),
    "Std": lambda s: (4 * s.size(0) + s.n, 2 * s.size(0) * s.wanted(0)),
    "LogSumExp": lambda s: (4 * s.size(0), 3 * s.size(0) * s.wanted(0)),
    "Softmax": _each(5, 4),  # the largest, less it, exp, sum, quotient; y (g - sum g y)
    "LogSoftmax": _each(5, 4),
    "LayerNorm": _each(9, 11, over=0),
    "BatchNorm": _each(9, 11, over=0),
    "GroupNorm": _each(9, 11, over=0),
    "RMSNorm": _each(5, 8, over=0),
    "RunningNorm": _each(3, 2, over=0),  # less the mean, times a factor, plus the bias
    # windows, as if none overlapped: their size is not known here
    **dict.fromkeys(
        ("MaxPool", "MaxPoolPlaces", "AvgPool", "AdaptiveMaxPool", "AdaptiveMaxPoolPlaces", "AdaptiveAvgPool"), _each(1, 1, over=0)
    ),
    "LPPool": _each(2, 3, over=0),
    # losses
    "CrossEntropy": _each(5, 3, over=0),
    "NLLLoss": lambda s: (s.size(1), s.size(1) * s.wanted(0)),
    "MSELoss": _each(3, 2, over=0),
    "L1Loss": _each(3, 2, over=0),
    "BinaryCrossEntropyWithLogits": _each(6, 4, over=0),
    # entry by entry, where it is not one operation each way
    "Add": _each(1, 0),
    "Sub": _each(1, 0),
    "Div": _each(1, 2),
    "Pow": _each(1, 3),
    "Sqrt": _each(1, 2),
    "Sigmoid": _each(4, 3),
    "Tanh": _each(1, 3),
    "SiLU": _each(5, 6),
    "GELU": _each(5, 8),
    "GELUTanh": _each(8, 14),
    "Softplus": _each(3, 4),
    "Where": _free,
}
"""Operations forward and backward by the name of the Function's class; other elementwise ops take one each way, those of shape none."""

VIEWS = frozenset({"Reshape", "Transpose", "Permute", "Expand", "Squeeze", "Unsqueeze", "Flatten", "Narrow", "Slice", "Diagonal", "Unfold"})
"""Ops whose output looks at the input's memory, so that forward moves nothing."""


def cost(op: type, shapes: Shapes, sizes: tuple[Sequence[int], int], grad: bool) -> Cost:
    """The cost of one op by the class of its Function: `sizes` are the bytes of its inputs and output.

    >>> from gradlab.ops.linalg import MatMul
    >>> cost(MatMul, Shapes([(32, 64), (64, 10)], [False, True], (32, 10)), ([8192, 2560], 1280), True)[:2]
    (40960, 40960)
    """
    kind, reads = getattr(op, "kind", "elementwise"), getattr(op, "reads", ("inputs", "output"))
    name = op.__name__ if op.__module__.startswith("gradlab.") else ""  # of a user's own op only the shapes are known
    formula = FORMULAS.get(name) or ({"elementwise": _each(1, 1), "shape": _free}.get(kind) if name else None)
    forward, backward = (None, None) if formula is None else formula(shapes)
    inputs, out = sizes
    moved = 0 if name in VIEWS else sum(inputs) + out
    wanted = sum(size for size, want in zip(inputs, shapes.wants, strict=True) if want)
    moved_back = out + wanted + (sum(inputs) if "inputs" in reads else 0) + (out if "output" in reads else 0)
    return Cost(forward, backward if grad else 0 if backward is not None else None, moved, moved_back if grad else 0)
