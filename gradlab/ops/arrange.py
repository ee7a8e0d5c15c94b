"""The same values in another order: turned, rolled, rotated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import DimError, ShapeError, explain
from ..function import Function
from .argument import axis_of, sizes, tensor_of, whole

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _axes(op: str, dims: Any, x: Array) -> tuple[int, ...]:
    """Axes counted from the front, each named once; a 0-d array has none, whichever is named."""
    axes = tuple([axis_of(op, d, x) for d in dims if x.ndim or d not in (0, -1)])
    if len(set(axes)) < len(axes):
        raise DimError(explain(f"{op}: an axis is named twice", got={"x": x.shape, "dims": tuple(dims)}, need="every axis once"))
    return axes


class Flip(Function):
    """y_i = x_{n-1-i} along dims;  dx_i = g_{n-1-i}."""

    latex = r"y_i = x_{n - 1 - i}, \quad \bar x_i = \bar y_{n - 1 - i}"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), dims=(0,)),
        Case(Draw((2, 3, 4)), dims=(0, -1)),
        Case(Draw(()), dims=(0,)),
        Case(Draw((3,)), dims=()),
        Case(Draw((0, 3)), dims=(1,)),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, dims: tuple[int, ...]) -> Array:
        xp = xp_of(x)
        self.axes = _axes("flip", dims, x)
        return xp.array(xp.flip(x, axis=self.axes))  # a copy as in PyTorch: a change of y is none of x

    def backward(self, g: Array) -> Array:
        xp = xp_of(g)
        return xp.array(xp.flip(g, axis=self.axes))


def flip(input: TensorLike, *axes: int | tuple[int, ...], dims: tuple[int, ...] | None = None) -> Tensor:
    """Turn the order of the entries along axes around.

    Shapes: input: (*), y: (*)

    Raises:
        DimError: an axis is not there, or named twice.

    >>> flip([[1.0, 2.0], [3.0, 4.0]], 1).data
    array([[2., 1.],
           [4., 3.]], dtype=float32)
    """
    return Flip.apply(input, dims=sizes(axes, dims))


def fliplr(input: TensorLike) -> Tensor:
    """Turn the order of the columns around: `flip` along axis 1.

    Shapes: input: (a, b), y: (a, b)

    >>> fliplr([[1.0, 2.0]]).tolist()
    [[2.0, 1.0]]
    """
    return flip(input, 1)


def flipud(input: TensorLike) -> Tensor:
    """Turn the order of the rows around: `flip` along axis 0.

    Shapes: input: (a, b), y: (a, b)

    >>> flipud([[1.0], [2.0]]).tolist()
    [[2.0], [1.0]]
    """
    if not tensor_of(input).ndim:
        raise DimError(explain("flipud: a 0-d tensor has no rows", got={"x": ()}, need="one axis or more"))
    return flip(input, 0)


class Roll(Function):
    """y_{(i+s) mod n} = x_i along dims;  dx_i = g_{(i+s) mod n}."""

    latex = r"y_{(i + s) \bmod n} = x_i, \quad \bar x_i = \bar y_{(i + s) \bmod n}"
    kind = "shape"
    cases = (
        Case(Draw((3, 4)), shifts=2),
        Case(Draw((2, 3, 4)), shifts=(1, -2), dims=(0, -1)),
        Case(Draw((5,)), shifts=7, dims=0),
        Case(Draw(()), shifts=1),
        Case(Draw(()), shifts=(1,), dims=(0,)),
        Case(Draw((0, 3)), shifts=1, dims=1),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, shifts: Any, dims: Any = None) -> Array:
        xp = xp_of(x)
        self.shifts = tuple(shifts) if isinstance(shifts, (tuple, list)) else (shifts,)
        self.axes = None if dims is None else tuple([axis_of("roll", d, x) for d in _listed(dims) if x.ndim or d not in (0, -1)])
        if len(self.shifts) != (1 if dims is None else len(_listed(dims))):
            got = {"shifts": shifts, "dims": dims}
            raise ShapeError(explain("roll: one shift an axis, please", got=got, need="as many shifts as dims"))
        return self._rolled(xp, x, 1)

    def backward(self, g: Array) -> Array:
        return self._rolled(xp_of(g), g, -1)

    def _rolled(self, xp: Any, x: Array, sign: int) -> Array:
        if self.axes is None:
            return xp.roll(x, sign * self.shifts[0])
        return xp.roll(x, tuple([sign * s for s in self.shifts]), axis=self.axes) if self.axes else xp.array(x)


def _listed(dims: Any) -> tuple[int, ...]:
    return tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)


def roll(input: TensorLike, shifts: int | tuple[int, ...], dims: int | tuple[int, ...] | None = None) -> Tensor:
    """Move the entries along axes; what leaves at one end comes in at the other. Without `dims`, row by row.

    Shapes: input: (*), y: (*)

    Raises:
        ShapeError: there are not as many shifts as axes.

    >>> roll([1.0, 2.0, 3.0], 1).data
    array([3., 1., 2.], dtype=float32)
    """
    wholes = tuple([whole("shifts", n) for n in shifts]) if isinstance(shifts, (tuple, list)) else whole("shifts", shifts)
    return Roll.apply(input, shifts=wholes, dims=dims)


def rot90(input: TensorLike, k: int = 1, dims: tuple[int, int] = (0, 1)) -> Tensor:
    """Turn a plane by 90 degrees, `k` times, from the first towards the second axis of `dims`.

    Shapes: input: (a, b), y: (b, a) for odd k

    Raises:
        DimError: the two axes are one.

    >>> rot90([[1.0, 2.0], [3.0, 4.0]]).data
    array([[2., 4.],
           [1., 3.]], dtype=float32)
    """
    x = tensor_of(input)
    if len(dims) != 2 or x.ndim < 2:
        raise DimError(explain("rot90: a plane has two axes", got={"x": x.shape, "dims": tuple(dims)}, need="two axes of x"))
    a, b = _axes("rot90", dims, x.data)
    turns = whole("k", k) % 4
    if turns == 2:
        return flip(x, a, b)
    return flip(x.transpose(a, b), a) if turns == 1 else flip(x, a).transpose(a, b) if turns == 3 else x.clone()
