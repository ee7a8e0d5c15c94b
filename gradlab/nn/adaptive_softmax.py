"""A softmax over very many classes, most of them rare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import ops
from .._tensor import Tensor, TensorLike
from ..backend import to_numpy
from ..create import tensor
from ..errors import ArgumentError, DTypeError, LabelError, ShapeError, explain
from ..ops.argument import need_number, tensor_of, whole
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module


class Losses(NamedTuple):
    """What AdaptiveLogSoftmaxWithLoss gives: the log-probability of each target, and their mean with the other sign."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """log softmax over classes sorted by how frequent they are: rare ones stand in clusters, which have smaller layers of their own.

    The head knows the classes below cutoffs[0] and one entry for each cluster; only clusters that a batch asks for are computed.

    Args:
        cutoffs: where the clusters begin, rising; each is from 1 to n_classes - 1.
        div_value: how much smaller the layer of each cluster is than that of the one before.
        head_bias: whether the head has a bias.

    Shapes: x: (batch, in_features) or (in_features,), target: (batch,) or (); output: as target, loss: ()

    Raises:
        LabelError: a class id that is none of the classes.

    Source: Grave et al. 2016, arXiv:1609.04309, section 4.
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        name, place = "AdaptiveLogSoftmaxWithLoss", {"device": device, "dtype": dtype}
        self.in_features, self.n_classes = whole("in_features", in_features), whole("n_classes", n_classes)
        need_number(name, div_value=div_value)
        ends = [whole("cutoffs", c) for c in cutoffs]
        if not ends or ends != sorted(set(ends)) or ends[0] < 1 or ends[-1] >= n_classes:
            got, need = {"cutoffs": cutoffs, "n_classes": n_classes}, "rising numbers from 1 to n_classes - 1, at least one"
            raise ArgumentError(explain(f"{name}: these cutoffs make no clusters", got=got, need=need))
        self.cutoffs, self.div_value, self.head_bias = [*ends, self.n_classes], div_value, head_bias
        self.shortlist_size, self.n_clusters = ends[0], len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(self.in_features, self.head_size, bias=head_bias, **place)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden, classes = int(self.in_features // div_value ** (i + 1)), self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(Linear(self.in_features, hidden, bias=False, **place), Linear(hidden, classes, bias=False, **place))
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        for module in self.modules():
            if isinstance(module, Linear):
                module.reset_parameters()

    def forward(self, x: Tensor, target: TensorLike) -> Losses:
        classes = to_numpy(tensor_of(target)._data)
        if classes.dtype.kind not in "iu":
            raise DTypeError(explain("AdaptiveLogSoftmaxWithLoss: class ids are integers", got={"target": classes.dtype}, need="integers"))
        if classes.ndim > 1 or x.ndim != classes.ndim + 1 or x.shape[:-1] != classes.shape:
            got, need = {"x": x.shape, "target": classes.shape}, "(batch, in_features) and (batch,), or both without batch"
            raise ShapeError(explain("AdaptiveLogSoftmaxWithLoss: the shapes don't fit", got=got, need=need))
        rows, ids = (x, classes) if classes.ndim else (x[None], classes[None])
        if ids.size and not (ids.min() >= 0 and ids.max() < self.n_classes):
            wrong = ids[(ids < 0) | (ids >= self.n_classes)][0]
            raise LabelError(explain("AdaptiveLogSoftmaxWithLoss: no such class", got={"id": wrong}, need=f"0 to {self.n_classes - 1}"))
        cluster = np.searchsorted(self.cutoffs, ids, side="right")  # 0 is the head's own
        found = np.where(cluster == 0, ids, self.shortlist_size + cluster - 1)
        output = _picked(ops.log_softmax(self.head(rows), 1), found)
        for i in range(self.n_clusters):
            at = np.flatnonzero(cluster == i + 1)
            if at.size:
                inner = ops.log_softmax(self.tail[i](rows[tensor(at, device=rows.device)]), 1)
                output = ops.index_add(output, 0, tensor(at, device=rows.device), _picked(inner, ids[at] - self.cutoffs[i]))
        loss = -output.mean()
        return Losses(output if classes.ndim else output[0], loss)

    def log_prob(self, x: Tensor) -> Tensor:
        """The log-probability of every class.

        Shapes: x: (batch, in_features), y: (batch, n_classes)
        """
        head = ops.log_softmax(self.head(x), 1)
        parts = [head[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            parts.append(ops.log_softmax(self.tail[i](x), 1) + head[:, self.shortlist_size + i : self.shortlist_size + i + 1])
        return ops.cat(parts, 1)

    def predict(self, x: Tensor) -> Tensor:
        """The likeliest class.

        Shapes: x: (batch, in_features), y: (batch,)
        """
        return ops.argmax(self.log_prob(x), 1)


def _picked(log_probs: Tensor, ids: np.ndarray) -> Tensor:
    return ops.gather(log_probs, 1, tensor(ids[:, None].astype(np.int64), device=log_probs.device))[:, 0]
