"""The loss of a sequence whose labels are known but not when each of them is said."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import Array, as_array, asarray_like, on_host, to_numpy, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import ArgumentError, DTypeError, LabelError, ShapeError, explain
from ..function import Function
from .argument import need_reduction, reduced, tensor_of
from .dtype import wide

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

NEVER = -1e30  # the logarithm of no chance: unlike -inf it has differences


class CTCLoss(Function):
    """y = -log of the sum, over all ways to say the labels in time, of the product of e^x;  dx_tk = -g P(k said at t | labels).

    The labels stand with a blank before, between and after them; a way moves through that line, staying, going on by one, or
    past a blank between two labels that differ. a_ts is the logarithm of the chance to be at s at time t: a_ts = x_ts +
    log(e^a_(t-1)s + e^a_(t-1)(s-1) + e^a_(t-1)(s-2) where that may be). The gradient goes the same ways back.

    Source: Graves, Fernandez, Gomez and Schmidhuber (2006), Connectionist temporal classification, doi 10.1145/1143844.1143891.
    """

    latex = (r"y = -\log \sum_{\pi \in \mathcal{B}^{-1}(l)} \prod_t e^{x_{t \pi_t}}, \quad "
             r"\bar x_{tk} = -\bar y\, P(\pi_t = k \mid l)")  # fmt: skip
    kind = "loss"
    cases = (
        Case(Draw((4, 2, 3)), Given([[1, 2], [1, 1]], "int64"), input_lengths=[4, 4], target_lengths=[2, 2]),
        Case(Draw((5, 2, 4)), Given([[3, 1, 2], [2, 0, 0]], "int64"), input_lengths=[5, 3], target_lengths=[3, 1], reduction="none"),
        Case(Draw((3, 1, 3)), Given([[0, 1]], "int64"), input_lengths=[3], target_lengths=[2], blank=2, reduction="sum"),
        Case(Draw((3, 1, 3)), Given([[1, 1]], "int64"), input_lengths=[2], target_lengths=[2], zero_infinity=True),
        Case(Draw((3, 1, 3)), Ints((1, 0)), input_lengths=[3], target_lengths=[0]),
        Case(Draw((3, 0, 3)), Ints((0, 2)), input_lengths=[], target_lengths=[], reduction="sum"),
    )
    fresh = True

    def forward(
        self, x: Array, labels: Array, input_lengths: Any, target_lengths: Any, blank: int = 0, zero_infinity: bool = False,
        reduction: str = "mean",
    ) -> Array:  # fmt: skip
        xp, logs = xp_of(x), wide(x)
        time, n, self.classes = x.shape
        length = 2 * labels.shape[1] + 1
        self.ends, sizes = asarray_like(input_lengths, x, np.int64) - 1, asarray_like(target_lengths, x, np.int64)
        # Blank, label, blank, label ... blank.
        spread = xp.stack([xp.full(labels.shape, blank, dtype=np.int64), labels], axis=2)
        self.line = xp.concatenate([spread.reshape((n, length - 1)), xp.full((n, 1), blank, dtype=np.int64)], axis=1)
        self.emit = xp.maximum(xp.take_along_axis(logs, xp.broadcast_to(self.line, (time, n, length)), axis=2), NEVER)
        before = xp.concatenate([self.line[:, :1], self.line[:, :1], self.line], axis=1)[:, :length]
        place = xp.arange(length)
        self.may_skip = (self.line != before) & (place > 1)
        a = xp.where(place < 2, self.emit[0], NEVER)
        ways = [a]
        for t in range(1, time):
            a = self.emit[t] + self._arrived(a)
            ways.append(a)
        self.ways = xp.stack(ways)
        last = xp.where((place == 2 * sizes[:, None]) | (place == 2 * sizes[:, None] - 1), self.ways[self.ends, xp.arange(n)], NEVER)
        top = xp.max(last, axis=1)
        losses = -(top + xp.log(xp.sum(xp.exp(last - top[:, None]), axis=1)))
        impossible = losses > -0.1 * NEVER
        self.share = xp.where(impossible[:, None], 0.0, xp.exp(last + losses[:, None]))
        losses = xp.where(impossible, 0.0 if zero_infinity else inf, losses)
        self.scale = 1.0
        if reduction == "mean":  # each loss by its number of labels first
            self.scale = 1.0 / (xp.asarray(xp.maximum(sizes, 1), dtype=losses.dtype) * max(n, 1))
            losses = losses * self.scale * max(n, 1)
        return reduced(losses, reduction, n, (n,), x.dtype)

    def _arrived(self, a: Array) -> Array:
        """The chance to have come to each place: from itself, from the one before, and past a blank."""
        xp = xp_of(a)
        near = xp.logaddexp(a, _moved(a, 1, NEVER))
        return xp.where(self.may_skip, xp.logaddexp(near, _moved(a, 2, NEVER)), near)

    def backward(self, g: Array) -> tuple[Array, None]:
        xp, time = xp_of(g), self.emit.shape[0]
        at_end = -(g * self.scale).reshape((-1, 1)) * self.share
        back: Any = 0.0
        grads: list[Array] = []
        for t in range(time - 1, -1, -1):
            d = xp.where((self.ends == t)[:, None], at_end, 0.0) + back
            grads.append(d)
            if t:
                a = self.ways[t - 1]
                z = self._arrived(a)
                back = d * xp.exp(a - z)
                back = back + _moved(d, -1, 0.0) * xp.exp(a - _moved(z, -1, -NEVER))
                back = back + _moved(d, -2, 0.0) * xp.exp(a - _moved(xp.where(self.may_skip, z, -NEVER), -2, -NEVER))
        said = xp.asarray(self.line[:, :, None] == xp.arange(self.classes), dtype=self.emit.dtype)
        found = xp.swapaxes(xp.stack(grads[::-1]), 0, 1) @ said
        return xp.swapaxes(found, 0, 1), None


def _moved(x: Array, by: int, fill: float) -> Array:
    """The places moved to the right (left for by < 0), with `fill` where none comes from."""
    xp, length = xp_of(x), x.shape[1]
    room = xp.full((x.shape[0], abs(by)), fill, dtype=x.dtype)
    return xp.concatenate([room, x], axis=1)[:, :length] if by > 0 else xp.concatenate([x, room], axis=1)[:, -by:]


def ctc_loss(
    log_probs: TensorLike,
    targets: TensorLike,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Charge the labels of a sequence when nobody says at which time each of them comes (connectionist temporal classification).

    "mean" divides each loss by its number of labels, then averages. Where there are more labels than times, the loss is inf,
    or 0, without a gradient, with `zero_infinity`.

    Shapes: log_probs: (time, batch, class) or (time, class), from `log_softmax`; targets: (batch, label), or all labels in one line;
        input_lengths, target_lengths: (batch); y: (), or (batch) for reduction="none"

    Raises:
        ShapeError: the shapes don't belong together.
        LabelError: a label that is no class.
        ArgumentError: lengths beyond what there is, or a blank that is no class.

    >>> round(ctc_loss([[[-0.5, -1.0]], [[-0.5, -1.0]]], [[1]], [2], [1]).item(), 3)
    0.542
    """
    need_reduction("ctc_loss", reduction)
    x, labels = tensor_of(log_probs), as_array(getattr(targets, "data", targets) if hasattr(targets, "grad_fn") else targets)
    single = x.ndim == 2
    x = x.unsqueeze(1) if single else x
    times, sizes = [
        np.atleast_1d(to_numpy(as_array(getattr(v, "data", v) if hasattr(v, "grad_fn") else v))) for v in (input_lengths, target_lengths)
    ]
    if x.ndim != 3 or not x.shape[0] or times.shape != (x.shape[1],) or sizes.shape != times.shape:
        got = {"log_probs": x.shape, "input_lengths": times.shape, "target_lengths": sizes.shape}
        raise ShapeError(
            explain("ctc_loss: the shapes don't fit", got=got, need="log_probs: (time, batch, class), a length each: (batch,)")
        )
    if x.dtype.kind != "f" or labels.dtype.kind not in "iu":
        got = {"log_probs": x.dtype, "targets": labels.dtype}
        raise DTypeError(explain("ctc_loss: logarithms and labels", got=got, need="floating numbers, and integers"))
    if labels.ndim == 1:
        labels = labels[None] if single else _in_rows(labels, sizes)
    if labels.ndim != 2 or labels.shape[0] != len(sizes):
        raise ShapeError(explain("ctc_loss: a row of labels each", got={"targets": labels.shape}, need=f"({len(sizes)}, label)"))
    if len(sizes) and (times.min() < 1 or times.max() > x.shape[0] or sizes.min() < 0 or sizes.max() > labels.shape[1]):
        got = {"time": x.shape[0], "input_lengths": times, "labels": labels.shape[1], "target_lengths": sizes}
        raise ArgumentError(explain("ctc_loss: a length beyond what there is", got=got, need="1 to time, and 0 to the number of labels"))
    if not 0 <= blank < x.shape[2]:
        raise ArgumentError(explain("ctc_loss: the blank is no class", got={"blank": blank}, need=f"0 to {x.shape[2] - 1}"))
    if on_host(labels):
        labels = np.where(np.arange(labels.shape[1]) < sizes[:, None], labels, blank)  # what stands behind a row's labels is never read
        if labels.size and (labels.min() < 0 or labels.max() >= x.shape[2]):
            got = {"smallest": labels.min(), "largest": labels.max()}
            raise LabelError(explain("ctc_loss: a label is none of the classes", got=got, need=f"0 to {x.shape[2] - 1}"))
    y = CTCLoss.apply(x, labels, input_lengths=times, target_lengths=sizes, blank=blank, zero_infinity=zero_infinity, reduction=reduction)
    return y.squeeze(0) if single and reduction == "none" else y


def _in_rows(labels: Array, sizes: np.ndarray) -> Array:
    """Labels in one line as a row each, filled up with 0."""
    if labels.shape[0] != sizes.sum():
        need = f"{sizes.sum()} labels, the sum of target_lengths"
        raise ShapeError(explain("ctc_loss: how many labels?", got={"targets": labels.shape}, need=need))
    line = to_numpy(labels)
    rows = np.zeros((len(sizes), int(sizes.max(initial=0))), np.int64)
    for row, size, end in zip(rows, sizes, np.cumsum(sizes), strict=True):
        row[:size] = line[end - size : end]
    return asarray_like(rows, labels)
