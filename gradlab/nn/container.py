"""Modules made of modules, and the two that only pass things on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, overload

from .._tensor import Tensor
from ..errors import ArgumentError, KeywordError, explain
from ..ops import flatten
from .module import Module


class Sequential(Module):
    """Modules in a row: each gets what the one before it returned.

    Takes modules, or one dict that names them; a name that would hide a method is refused. Indexing gives a module,
    slicing a shorter Sequential that shares them.

    >>> len(Sequential(Identity(), Flatten()))
    2
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping):
            named = modules[0]
        else:
            named = {str(i): module for i, module in enumerate(modules)}
        for name, module in named.items():
            if not isinstance(name, str) or not name or "." in name or name == "_buffers" or hasattr(type(self), name):
                raise ArgumentError(
                    explain(
                        "Sequential: this can't be the name of a part", got={"name": repr(name)}, need="text without dots, no method's name"
                    )
                )
            self._put(name, module)

    def _put(self, name: str, module: Any) -> None:
        if not isinstance(module, Module):
            raise KeywordError(
                explain(
                    "Sequential: every part must be a Module",
                    got={name: type(module).__name__},
                    need="modules, or one dict of modules",
                    fix="Sequential(*parts)" if isinstance(module, (list, tuple)) else "",
                )
            )
        setattr(self, name, module)

    def forward(self, x: Any) -> Any:
        for module in self:
            x = module(x)
        return x

    def __iter__(self) -> Iterator[Module]:
        return iter([module for module in self.__dict__.values() if isinstance(module, Module)])

    def __len__(self) -> int:
        return len(self._names())

    @overload
    def __getitem__(self, index: int) -> Module: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return Sequential({name: getattr(self, name) for name in self._names()[index]})
        return getattr(self, self._name(index))

    def __setitem__(self, index: int, module: Module) -> None:
        self._put(self._name(index), module)

    def __delitem__(self, index: int) -> None:
        delattr(self, self._name(index))

    def append(self, module: Module) -> Sequential:
        """Put one more module at the end.

        >>> len(Sequential(Identity()).append(Identity()))
        2
        """
        free = (str(i) for i in range(len(self), 2 * len(self) + 1) if str(i) not in self.__dict__)
        self._put(next(islice(free, 1)), module)
        return self

    def _names(self) -> list[str]:
        return [name for name, module in self.__dict__.items() if isinstance(module, Module)]

    def _name(self, index: int) -> str:
        names = self._names()
        if not -len(names) <= index < len(names):
            raise IndexError(f"Sequential: index {index} is outside of its {len(names)} modules")
        return names[index]


class Identity(Module):
    """Returns what it gets: a place holder for a layer that is left out."""

    def forward(self, x: Any) -> Any:
        return x


class Flatten(Module):
    """Join the axes `start_dim` to `end_dim` into one; without options all but the batch axis.

    Shapes: x: (batch, *), y: (batch, n)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Tensor) -> Tensor:
        return flatten(x, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
