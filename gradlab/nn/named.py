"""Modules and parameters by name, in dicts that modules look into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from .container import need_free, put
from .module import Module
from .parameter_list import entry, registered


class Named(Module, MutableMapping[str, Any]):
    """A module that is a dict too; equal only to itself, so that it can be a key as other modules can."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __getitem__(self, key: str) -> Any:
        if key not in self._names():
            raise KeyError(key)
        return getattr(self, key)

    def __delitem__(self, key: str) -> None:
        _ = self[key]
        delattr(self, key)

    def _names(self) -> list[str]:
        return [name for name, part in self.__dict__.items() if isinstance(part, Module)]


class ModuleDict(Named):
    """A dict of modules that are registered: as attributes of a Module they are trained, saved and moved with it.

    Takes a dict, or pairs of a name and a module. It works as a dict; it is not called itself.

    >>> from gradlab import nn
    >>> list(nn.ModuleDict({"act": nn.ReLU(), "norm": nn.Identity()}))
    ['act', 'norm']
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __setitem__(self, key: str, module: Module) -> None:
        put(self, key, module)


class ParameterDict(Named):
    """A dict of parameters that are registered; tensors that are put in become parameters, other values stay what they are.

    Takes a dict, or pairs of a name and a parameter. It works as a dict; it is not called itself.

    >>> from gradlab import nn
    >>> [name for name, _ in nn.ParameterDict({"scale": nn.Parameter([1.0])}).named_parameters()]
    ['scale']
    """

    def __init__(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _names(self) -> list[str]:
        return list(self._keys)

    def __setitem__(self, key: str, value: Any) -> None:
        need_free(self, key)
        setattr(self, key, registered(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        del self._keys[key]

    def __or__(self, other: Mapping[str, Any]) -> ParameterDict:
        return ParameterDict({**self, **other})

    def __ior__(self, other: Mapping[str, Any]) -> ParameterDict:
        self.update(other)
        return self

    def popitem(self) -> tuple[str, Any]:
        """Take the last one out and return it with its name."""
        key = next(reversed(self), "")
        return key, self.pop(key)

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters."""
        return ParameterDict(self)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dict with one value under every name."""
        return ParameterDict(dict.fromkeys(keys, default))

    def extra_repr(self) -> str:
        return "\n".join([entry(key, value) for key, value in self.items()])
