"""Looking up rows of a table by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, counted, picked, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import ArgumentError, explain
from ..function import Function
from .dtype import wide
from .table import added_up, ids_of, need_row, shorten

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Embedding(Function):
    """y = weight[ids];  dweight[k] = sum of g where ids is k (with scale_grad_by_freq their mean), 0 for padding_idx."""

    latex = r"y_i = W_{k_i}, \quad \bar W_k = \sum_{i : k_i = k} \bar y_i"
    kind = "shape"
    cases = (
        Case(Ints((3,)), Draw((4, 2))),
        Case(Given([[1, 1, 0], [3, 1, 3]], "int64"), Draw((4, 2))),
        Case(Given([[1, 1, 0], [2, 1, 3]], "int32"), Draw((200, 2))),
        Case(Given([5, 5, 5, 5, 5, 0, 199], "int64"), Draw((200, 2))),
        Case(Ints(()), Draw((4, 2))),
        Case(Ints((2, 0)), Draw((4, 3))),
        Case(Ints((2, 3, 1)), Draw((4, 0))),
    )
    reads = ()  # the table may change before backward; the ids are copied
    fresh = True

    @staticmethod
    def reference(ids: Array, weight: Array) -> Array:
        """The formula as printed."""
        return weight[ids]

    def forward(self, ids: Array, weight: Array, padding_idx: int | None = None, scale_grad_by_freq: bool = False) -> Array:
        flat = ids_of("embedding", ids, weight)
        self.ids, self.shape, self.padding_idx, self.by_freq = flat, weight.shape, padding_idx, scale_grad_by_freq
        return picked(weight, ids)

    def backward(self, g: Array) -> tuple[None, Array]:
        xp, n = xp_of(g), self.shape[0]
        dw = added_up(wide(g).reshape((self.ids.shape[0], self.shape[1])), self.ids, n)
        if self.by_freq:
            dw /= xp.maximum(counted(self.ids, n), 1)[:, None]
        if self.padding_idx is not None:
            dw[self.padding_idx] = 0
        return None, dw


def embedding(
    input: TensorLike,
    weight: TensorLike,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Look up the rows of `weight` whose ids are in `input`.

    The row `padding_idx` gets no gradient; with `scale_grad_by_freq` a row gets the mean of its gradients, not their sum.
    `max_norm` first shortens, in `weight` itself and without a gradient, the rows looked up that are longer.

    Shapes: input: (*), weight: (id, feature), y: (*, feature)

    Raises:
        LabelError: an id that has no row.
        DTypeError: ids that are not integers.
        ArgumentError: a `padding_idx` that has no row; sparse gradients, which there are none of.

    >>> embedding([2, 0], [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]).tolist()
    [[3.0, 3.0], [1.0, 1.0]]
    """
    ids: Any = input if hasattr(input, "grad_fn") else as_array(input)
    table: Any = weight if hasattr(weight, "grad_fn") else as_array(weight)
    if sparse:
        raise ArgumentError(explain("embedding: there are no sparse gradients", got={"sparse": sparse}, need="sparse=False"))
    params: dict[str, Any] = {}
    if padding_idx is not None:
        need_row("embedding", padding_idx, table)
        params["padding_idx"] = padding_idx
    if scale_grad_by_freq:
        params["scale_grad_by_freq"] = True
    if max_norm is not None:
        shorten("embedding", table, ids, max_norm, norm_type)
    return Embedding.apply(ids, table, **params)
