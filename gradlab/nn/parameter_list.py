"""Parameters in a list that modules look into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import index as whole
from typing import Any, TypeVar

from .._tensor import Tensor
from ..errors import KeywordError, explain
from .module import Module
from .parameter import Parameter

Self = TypeVar("Self", bound="ParameterList")


def registered(value: Any) -> Any:
    """A tensor as a parameter; anything else as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def entry(name: str, value: Any) -> str:
    """The line of a parameter in what a list or dict of them prints."""
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    place = "" if value.device == "cpu" else f" ({value.device})"
    return f"  ({name}): Parameter containing: [{value.dtype} of size {'x'.join(map(str, value.shape))}{place}]"


class ParameterList(Module):
    """A list of parameters that are registered; tensors that are put in become parameters, other values stay what they are.

    Works as a list (index, slice, `append`, `extend`, `+=`); it is not called itself.

    >>> from gradlab import nn
    >>> [name for name, _ in nn.ParameterList([nn.Parameter([1.0]), nn.Parameter([2.0])]).named_parameters()]
    ['0', '1']
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _name(self, index: int) -> str:
        if not -self._size <= whole(index) < self._size:
            raise IndexError(f"{type(self).__name__}: index {index} is outside of its {self._size} entries")
        return str(index % self._size)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)([getattr(self, str(i)) for i in range(self._size)[index]])
        return getattr(self, self._name(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name(index), registered(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(self._size)])

    def __iadd__(self: Self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdecimal()]

    def append(self: Self, value: Any) -> Self:
        """Put one more at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self: Self, values: Iterable[Any]) -> Self:
        """Put more at the end.

        Raises:
            KeywordError: a single tensor, whose rows nobody means.
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            got = {"values": type(values).__name__}
            raise KeywordError(explain("ParameterList: takes several at once", got=got, need="a list of parameters", fix="[values]"))
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join([entry(str(i), value) for i, value in enumerate(self)])
