"""Reading entries: x[index]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, scatter_add, xp_of
from ..cases import Case, Draw
from ..function import Function
from .argument import tensor_of
from .dtype import wide
from .place import copied, in_two_steps, is_basic, misplaced, raw_index

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class Slice(Function):
    """y = x[index] for ints, slices, None and ...;  dx = g there, 0 elsewhere."""

    latex = r"y = x_I, \quad \bar x_I = \bar y, \quad \bar x_{\neg I} = 0"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), index=1),
        Case(Draw((3, 4)), index=(-1, 2)),
        Case(Draw((5, 4)), index=(slice(None, None, -2), None, slice(1, 3))),
        Case(Draw((2, 3, 4)), index=(..., None, 1)),
        Case(Draw(()), index=...),
        Case(Draw((0, 3)), index=(slice(None), 1)),
    )
    reads = ()
    fresh = True
    joins = True

    def forward(self, x: Array, index: Any) -> Array:
        parts = index if isinstance(index, tuple) else (index,)
        # With an ellipsis a single entry is a 0-d view too, not a number.
        self.index = parts if Ellipsis in parts else (*parts, ...)
        self.shape = x.shape
        try:
            return x[self.index]
        except IndexError as error:
            raise misplaced(x, index, error) from None

    def backward(self, g: Array) -> Array:
        dx = xp_of(g).zeros(self.shape, dtype=g.dtype)
        dx[self.index] = g
        return dx

    def add_into(self, total: Array, g: Array) -> None:
        """The same, added to what came from elsewhere: many slices of one tensor would else make many arrays of its size."""
        total[self.index] += g


class Pick(Function):
    """y = x[index] for arrays of places or of truth values;  dx = g added up at each place."""

    latex = r"y = x_I, \quad \bar x_i = \sum_{k : I_k = i} \bar y_k"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), index=[0, 0, 2]),
        Case(Draw((3, 4)), index=([1, -1, 0], [2, 2, 0])),
        Case(Draw((2, 3, 4)), index=(slice(None), [[0, 1], [1, 0]])),
        Case(Draw((2, 3)), index=([[True, False, True], [False, True, True]],)),
        Case(Draw((2, 3, 4)), index=([0, 1], slice(None), [3, 3])),
        Case(Draw(()), index=True),
        Case(Draw((0, 3)), index=(slice(None), [0, 0])),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, index: Any) -> Array:
        self.index, self.shape = copied(index, x), x.shape
        try:
            return x[self.index]
        except IndexError as error:
            raise misplaced(x, index, error) from None

    def backward(self, g: Array) -> Array:
        g = wide(g)
        dx = xp_of(g).zeros(self.shape, dtype=g.dtype)
        scatter_add(dx, self.index, g)
        return dx


def getitem(x: TensorLike, index: Any) -> Tensor:
    """Read entries: `x[index]` with ints, slices, None, ..., lists, integer and boolean tensors or arrays, mixed.

    Ints and slices look at the memory of `x`; lists, arrays and tensors copy. A place that is read twice gets both gradients.

    Shapes: as PyTorch's indexing. NumPy's differs where arrays stand apart from a number or a truth value, which are taken
    first here (x[0, :, [0, 1]] is x[0][:, [0, 1]]), and from each other by a ... that stands for no axis.

    Raises:
        PlaceError: a place that `x` does not have (an IndexError).
        DimError: more indices than axes, or a mask of another shape (an IndexError too).

    >>> getitem([1.0, 2.0, 3.0], [0, 0, -1]).data
    array([1., 1., 3.], dtype=float32)
    """
    index = raw_index(index)
    if is_basic(index):
        return Slice.apply(x, index=index)
    x = tensor_of(x)
    steps = in_two_steps(index, x.ndim)
    return Pick.apply(x, index=index) if steps is None else Pick.apply(Slice.apply(x, index=steps[0]), index=steps[1])
