"""Parameter: a tensor that a module owns and an optimizer moves."""

from __future__ import annotations

from .._tensor import Tensor, TensorLike


class Parameter(Tensor):
    """A leaf tensor that modules find by itself: in attributes, lists, tuples and dicts.

    It shares memory with the array or tensor it is made from, and is cut from that tensor's graph.

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
        super().__init__(data._data if isinstance(data, Tensor) else data, requires_grad=requires_grad)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()
