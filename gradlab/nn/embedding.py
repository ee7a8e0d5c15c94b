"""Tables that are looked up by ids: a row for each, and sums of rows."""

from __future__ import annotations

from typing import Any, Literal

from .. import ops
from .._tensor import Tensor, TensorLike
from ..create import as_tensor, empty
from ..errors import ArgumentError, ShapeError, explain
from ..ops.argument import need_number, whole
from . import init
from .module import Module
from .option import need_sizes
from .parameter import Parameter

Mode = Literal["sum", "mean", "max"]


class Table(Module):
    """What Embedding and EmbeddingBag share: the table, its first values, and which of its rows is for padding."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, max_norm: float | None, norm_type: float,
        scale_grad_by_freq: bool, sparse: bool, weight: Any, device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        name = type(self).__name__
        sizes = need_sizes(name, num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        self.num_embeddings, self.embedding_dim = sizes
        if padding_idx is not None:
            padding_idx = whole("padding_idx", padding_idx)
            if not -sizes[0] <= padding_idx < sizes[0]:
                got = {"padding_idx": padding_idx, "num_embeddings": sizes[0]}
                raise ArgumentError(explain(f"{name}: padding_idx has no row", got=got, need="the id of a row"))
            padding_idx %= sizes[0]
        need_number(name, norm_type=norm_type, max_norm=0.0 if max_norm is None else max_norm)
        if sparse:
            raise ArgumentError(explain(f"{name}: there are no sparse gradients", got={"sparse": sparse}, need="sparse=False"))
        self.padding_idx, self.max_norm, self.norm_type, self.sparse = padding_idx, max_norm, norm_type, False
        self.scale_grad_by_freq = scale_grad_by_freq
        if weight is None:
            self.weight = Parameter(empty(*sizes, device=device, dtype=dtype))
            self.reset_parameters()
        else:
            given = as_tensor(weight)
            if given.shape != sizes:
                raise ShapeError(explain(f"{name}: the table has other sizes", got={"weight": given.shape}, need=f"{sizes}"))
            self.weight = Parameter(given._data)  # as PyTorch does, it is shared

    def reset_parameters(self) -> None:
        """Draw the table anew from the normal distribution; the row for padding is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight._data[self.padding_idx] = 0

    def _with(self, names: str) -> str:
        """Both sizes, and those options that are not as usual."""
        usual = {"norm_type": 2, "scale_grad_by_freq": False}
        text = [f"{name}={getattr(self, name)}" for name in names.split() if getattr(self, name) != usual.get(name)]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *text])


def _rows(name: str, embeddings: TensorLike) -> Tensor:
    table = as_tensor(embeddings)
    if table.ndim != 2:
        raise ShapeError(explain(f"{name}.from_pretrained: this is no table", got={"embeddings": table.shape}, need="(id, feature)"))
    return table


class Embedding(Table):
    """Look up one row of a table for each id: words, users, places as vectors that are learned.

    The rows start from the normal distribution.

    Args:
        padding_idx: a row that starts at 0 and gets no gradient; it is an ordinary row otherwise.
        max_norm: rows that are longer are shortened to this, in the table itself, whenever they are looked up.
        norm_type: the p of that length.
        scale_grad_by_freq: give a row the mean of its gradients in a batch, not their sum.

    Shapes: ids: (*), y: (*, embedding_dim), weight: (num_embeddings, embedding_dim)

    Raises:
        LabelError: an id that has no row, negative ones too.
        DTypeError: ids that are not integers.

    >>> layer = Embedding.from_pretrained([[0.0, 0.0], [1.0, 2.0]])
    >>> layer([[1, 0]]).tolist()
    [[[1.0, 2.0], [0.0, 0.0]]]
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None, _freeze: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight, device, dtype
        )
        self.weight.requires_grad_(not _freeze)

    @classmethod
    def from_pretrained(
        cls, embeddings: TensorLike, freeze: bool = True, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
    ) -> Embedding:  # fmt: skip
        """An embedding with a table that is there already, which it shares.

        Args:
            freeze: keep the table as it is in training.

        Shapes: embeddings: (num_embeddings, embedding_dim)
        """
        table = _rows("Embedding", embeddings)
        return cls(table.shape[0], table.shape[1], padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, table, freeze)

    def forward(self, ids: TensorLike) -> Tensor:
        return ops.embedding(ids, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq)

    def extra_repr(self) -> str:
        return self._with("padding_idx max_norm norm_type scale_grad_by_freq")


class EmbeddingBag(Table):
    """Look up rows of a table and sum, average or take the largest of them, bag by bag, without an array for the rows.

    Args:
        mode: "sum", "mean" or "max".
        include_last_offset: whether the last of the offsets is where the last bag ends.
        padding_idx: a row that counts for nothing.

    Shapes: ids: (bag, n) or, with offsets: (bag,) where each begins, (n,); y: (bag, embedding_dim);
    per_sample_weights: as ids, for "sum" alone

    Raises:
        LabelError: an id that has no row.

    >>> EmbeddingBag.from_pretrained([[1.0], [3.0], [5.0]], mode="mean")([[0, 1], [2, 2]]).tolist()
    [[2.0], [5.0]]
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: Mode = "mean", sparse: bool = False, _weight: Any = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight, device, dtype
        )
        if mode not in ("sum", "mean", "max"):
            raise ArgumentError(explain("EmbeddingBag: unknown mode", got={"mode": repr(mode)}, need="'sum', 'mean' or 'max'"))
        self.mode, self.include_last_offset = mode, include_last_offset

    @classmethod
    def from_pretrained(
        cls, embeddings: TensorLike, freeze: bool = True, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: Mode = "mean", sparse: bool = False, include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:  # fmt: skip
        """A layer with a table that is there already, which it shares.

        Args:
            freeze: keep the table as it is in training.
        """
        table = _rows("EmbeddingBag", embeddings)
        layer = cls(
            table.shape[0], table.shape[1], max_norm, norm_type, scale_grad_by_freq, mode, sparse, table, include_last_offset, padding_idx
        )  # fmt: skip
        layer.weight.requires_grad_(not freeze)
        return layer

    def forward(self, ids: TensorLike, offsets: TensorLike | None = None, per_sample_weights: TensorLike | None = None) -> Tensor:
        return ops.embedding_bag(
            ids, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, False, per_sample_weights,
            self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        text = self._with("max_norm norm_type scale_grad_by_freq")
        return f"{text}, mode={self.mode!r}" + ("" if self.padding_idx is None else f", padding_idx={self.padding_idx}")
