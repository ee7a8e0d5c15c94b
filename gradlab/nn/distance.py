"""How far apart, or how alike, two rows are, as modules."""

from __future__ import annotations

from .. import ops
from .._tensor import Tensor
from ..ops.argument import need_number, whole
from .module import Module


class CosineSimilarity(Module):
    """The cosine of the angle between two rows along `dim`: x1 x2 / (|x1| |x2|), each length at least `eps`.

    Shapes: x1 and x2: (*, n, *), which broadcast, y: (*, *)

    Raises:
        ShapeError: shapes that don't broadcast.
        DimError: no such axis.

    >>> CosineSimilarity()(Tensor([[1.0, 0.0]]), Tensor([[0.0, 2.0]])).tolist()
    [0.0]
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        need_number("CosineSimilarity", eps=eps)
        self.dim, self.eps = whole("dim", dim), eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return ops.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last axis.

    Shapes: x1 and x2: (*, n), y: (*) or, with `keepdim`, (*, 1)

    Raises:
        ShapeError: shapes that don't broadcast.
        DimError: no such axis.

    >>> PairwiseDistance(eps=0.0)(Tensor([[3.0, 4.0]]), Tensor([[0.0, 0.0]])).tolist()
    [5.0]
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        need_number("PairwiseDistance", p=p, eps=eps)
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return ops.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
