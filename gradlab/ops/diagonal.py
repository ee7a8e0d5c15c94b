"""Diagonals of matrices, taken out and put in; blocks along one."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..backend import Array, is_array, on_host, xp_of
from ..cases import Case, Draw
from ..errors import DimError, ShapeError, explain
from ..function import Function
from .argument import axis_of, tensor_of, whole

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _two_axes(op: str, x: Array, dim1: int, dim2: int, extra: int = 0) -> tuple[int, int]:
    a, b = axis_of(op, dim1, x, extra), axis_of(op, dim2, x, extra)
    if a == b:
        raise DimError(explain(f"{op}: two axes make a matrix", got={"x": x.shape, "dim1": dim1, "dim2": dim2}, need="two different axes"))
    return a, b


def _embedded(x: Array, offset: int, axes: tuple[int, int], shape: tuple[int, int] | None = None) -> Array:
    """Zeros with the last axis of x on a diagonal of the two axes."""
    xp, n = xp_of(x), x.shape[-1]
    i = xp.arange(n)
    size = n + abs(offset)
    y = xp.zeros((*x.shape[:-1], *(shape or (size, size))), dtype=x.dtype)
    y[(..., i + max(-offset, 0), i + max(offset, 0))] = x
    return xp.moveaxis(y, (-2, -1), axes)


def _writable(view: Array) -> Array:
    """NumPy hands diagonals out read-only; here a change of one is a change of the matrix, as in PyTorch."""
    if on_host(view) and (view.base is None or view.base.flags.writeable):
        view.flags.writeable = True
    return view


class Diagonal(Function):
    """y_i = x_{i,i+k} in the plane of two axes;  dx = g on that diagonal, 0 elsewhere."""

    latex = r"y_i = x_{i,\,i+k}, \quad \bar x_{ij} = \bar y_i\,[j = i + k]"
    kind = "shape"
    cases = (
        Case(Draw((3, 4))),
        Case(Draw((3, 4)), offset=1),
        Case(Draw((2, 3, 4)), offset=-1, dim1=-1, dim2=0),
        Case(Draw((2, 2)), offset=5),
        Case(Draw((0, 3))),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
        self.shape, self.offset = x.shape, offset
        self.axes = _two_axes("diagonal", x, dim1, dim2)
        return _writable(xp_of(x).diagonal(x, offset, *self.axes))

    def backward(self, g: Array) -> Array:
        a, b = self.axes
        return _embedded(g, self.offset, self.axes, (self.shape[a], self.shape[b]))


def diagonal(input: TensorLike, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Look at a diagonal of the plane of two axes, which comes last.

    Shapes: input: (a, b), y: (min(a, b)) for offset 0

    Raises:
        DimError: an axis is not there, or both are one.

    >>> diagonal([[1.0, 2.0], [3.0, 4.0]]).data
    array([1., 4.], dtype=float32)
    """
    return Diagonal.apply(input, offset=whole("offset", offset), dim1=dim1, dim2=dim2)


class DiagEmbed(Function):
    """y = zeros with x on a diagonal of two new axes;  dx = g on that diagonal."""

    latex = r"y_{i,\,i+k} = x_i, \quad \bar x_i = \bar y_{i,\,i+k}"
    kind = "shape"
    cases = (
        Case(Draw((3,))),
        Case(Draw((2, 3)), offset=1),
        Case(Draw((2, 1, 3)), offset=-2, dim1=0, dim2=-2),
        Case(Draw((0, 3))),
        Case(Draw((0,)), offset=1),
    )
    reads = ()

    def forward(self, x: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
        if not x.ndim:
            raise ShapeError(explain("diag_embed: a number is no diagonal", got={"x": x.shape}, need="one axis or more"))
        self.offset, self.axes = offset, _two_axes("diag_embed", x, dim1, dim2, extra=1)
        return _embedded(x, offset, self.axes)

    def backward(self, g: Array) -> Array:
        return xp_of(g).diagonal(g, self.offset, *self.axes)


def diag_embed(input: TensorLike, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Put the last axis on a diagonal of two new axes, among zeros.

    Shapes: input: (*, a), y: (*, a + |offset|, a + |offset|)

    Raises:
        ShapeError: `input` is 0-d.

    >>> diag_embed([1.0, 2.0]).data
    array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    return DiagEmbed.apply(input, offset=offset, dim1=dim1, dim2=dim2)


def diag(input: TensorLike, diagonal: int = 0) -> Tensor:
    """Make a matrix with this diagonal, or take the diagonal of this matrix.

    Shapes: input: (a), y: (a + |diagonal|, a + |diagonal|); input: (a, a), y: (a) for diagonal 0

    Raises:
        ShapeError: `input` has neither one axis nor two.

    >>> diag([1.0, 2.0]).tolist(), diag([[1.0, 2.0], [3.0, 4.0]]).tolist()
    ([[1.0, 0.0], [0.0, 2.0]], [1.0, 4.0])
    """
    x = tensor_of(input)
    if x.ndim not in (1, 2):
        raise ShapeError(explain("diag: neither a diagonal nor a matrix", got={"x": x.shape}, need="one axis or two"))
    return DiagEmbed.apply(x, offset=diagonal) if x.ndim == 1 else Diagonal.apply(x, offset=diagonal).clone()


class BlockDiag(Function):
    """y = zeros with the inputs as blocks along the diagonal;  each input gets its block of g."""

    latex = r"y = \mathrm{diag}(a, b, \ldots), \quad \bar a = \bar y_{a\text{'s block}}, \ldots"
    kind = "shape"
    cases = (
        Case(Draw((2, 3)), Draw((1, 2))),
        Case(Draw(()), Draw((3,)), Draw((2, 2))),
        Case(Draw((0, 3)), Draw((2, 1))),
    )
    aligns = True
    reads = ()

    def forward(self, *xs: Array) -> Array:
        xp, blocks = xp_of(xs[0]), [_block(x) for x in xs]
        ends = [(sum(b.shape[0] for b in blocks[:i]), sum(b.shape[1] for b in blocks[:i])) for i in range(len(blocks) + 1)]
        self.shapes = [xp.shape(x) for x in xs]
        self.places = [(slice(i, m), slice(j, n)) for (i, j), (m, n) in pairwise(ends)]
        y = xp.zeros(ends[-1], dtype=blocks[0].dtype)
        for place, block in zip(self.places, blocks, strict=True):
            y[place] = block
        return y

    def backward(self, g: Array) -> tuple[Array, ...]:
        return tuple([xp_of(g).reshape(g[place], shape) for place, shape in zip(self.places, self.shapes, strict=True)])


def _block(x: Any) -> Array:
    """A matrix; a vector is one row, a number one entry."""
    xp = xp_of(x)
    if xp.ndim(x) > 2:
        raise ShapeError(explain("block_diag: this is no block", got={"x": x.shape}, need="two axes at the most"))
    return xp.atleast_2d(x) if is_array(x) else xp.full((1, 1), x)


def block_diag(*tensors: TensorLike) -> Tensor:
    """Put matrices along the diagonal of a larger one, among zeros; a vector is one row.

    Shapes: inputs: (a, b), (c, d), ...; y: (a + c + ..., b + d + ...)

    Raises:
        ShapeError: an input has more than two axes, or there is none.

    >>> block_diag([[1.0]], [[2.0, 3.0]]).data
    array([[1., 0., 0.],
           [0., 2., 3.]], dtype=float32)
    """
    if not tensors:
        raise ShapeError(explain("block_diag: there is nothing to join", got={"tensors": "none"}, need="at least one tensor"))
    return BlockDiag.apply(*[tensor_of(x) for x in tensors])


def diagflat(input: TensorLike, offset: int = 0) -> Tensor:
    """Make a matrix with the entries, row by row, on a diagonal.

    Shapes: input: (*) of n entries, y: (n + |offset|, n + |offset|)

    >>> diagflat([[1.0, 2.0]]).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    return DiagEmbed.apply(tensor_of(input).reshape(-1), offset=offset)
