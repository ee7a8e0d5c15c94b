"""Parameter: a tensor that a module owns and an optimizer moves."""

from __future__ import annotations

from .._tensor import Tensor, TensorLike
from ..errors import DTypeError, explain


class Parameter(Tensor):
    """A leaf tensor that modules find by itself: in their attributes, in a ParameterList and in a ParameterDict.

    It shares memory with the array it is made from; of a tensor it copies the numbers.

    Args:
        data: a tensor, an array, or nested lists of numbers.
        requires_grad: False makes a frozen parameter: saved and loaded, never moved.

    Raises:
        DTypeError: integers and booleans have no gradient.

    >>> Parameter([1.0, 2.0]).requires_grad
    True
    """

    __slots__ = ()

    def __init__(self, data: TensorLike, requires_grad: bool = True) -> None:
        dtype = getattr(data, "dtype", None)
        if requires_grad and dtype is not None and dtype.kind in "biu":
            raise DTypeError(
                explain(
                    "Parameter: integers and booleans have no gradient",
                    got={"dtype": dtype},
                    need="floating numbers, or requires_grad=False",
                    fix="data.astype('float32')",
                )
            )
        super().__init__(data, requires_grad=requires_grad)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()
