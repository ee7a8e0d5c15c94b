"""Modules made of modules: in a row, in a list, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import index as whole
from typing import Any, TypeVar, overload

from ..errors import ArgumentError, KeywordError, explain
from .module import Module

Self = TypeVar("Self", bound="Row")


def need_free(module: Module, name: Any) -> None:
    """Refuse a name that would hide something of `module`, or lead elsewhere.

    Raises:
        ArgumentError: it is no text, has a dot, or is that of a method.
    """
    there = isinstance(name, str) and (hasattr(type(module), name) or name in ("_buffers", "_hooks", "_keys"))
    if not isinstance(name, str) or not name or "." in name or there:
        got, need = {"name": repr(name)}, "text without dots, no method's name"
        raise ArgumentError(explain(f"{type(module).__name__}: this can't be the name of a part", got=got, need=need))


def put(module: Module, name: Any, part: Any) -> None:
    """Register a module in a container.

    Raises:
        ArgumentError: see `need_free`.
        KeywordError: `part` is no module.
    """
    need_free(module, name)
    if not isinstance(part, Module):
        row = isinstance(module, Sequential)
        raise KeywordError(
            explain(
                f"{type(module).__name__}: every part must be a Module",
                got={name: type(part).__name__},
                need="modules, or one dict of modules" if row else "modules",
                fix="Sequential(*parts)" if row and isinstance(part, (list, tuple)) else "",
            )
        )
    setattr(module, name, part)


class Row(Module):
    """Modules in an order, under numbers or under names of their own; what Sequential and ModuleList share."""

    def __iter__(self) -> Iterator[Module]:
        return iter([module for module in self.__dict__.values() if isinstance(module, Module)])

    def __len__(self) -> int:
        return len(self._names())

    @overload
    def __getitem__(self: Self, index: slice) -> Self: ...
    @overload
    def __getitem__(self, index: int) -> Module: ...
    def __getitem__(self, index: int | slice) -> Module:
        if isinstance(index, slice):
            return self._of({name: getattr(self, name) for name in self._names()[index]})
        return getattr(self, self._name(index))

    def _of(self: Self, named: Mapping[str, Module]) -> Self:
        """Another one of the same kind, or, where that is made with other arguments, of the kind that it is built on."""
        kind = Sequential if isinstance(self, Sequential) else ModuleList
        made: Any = type(self) if type(self).__init__ is kind.__init__ else kind
        return made(named) if isinstance(self, Sequential) else made(named.values())

    def __setitem__(self, index: int, module: Module) -> None:
        put(self, self._name(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = self._names()
        for name in names[index] if isinstance(index, slice) else [self._name(index)]:
            delattr(self, name)
        self._arrange([(name, getattr(self, name)) for name in self._names()])

    def _arrange(self, parts: list[tuple[str, Module]]) -> None:
        """Put the parts in this order; numbers are counted anew, names stay."""
        for name in self._names():
            delattr(self, name)
        for i, (name, module) in enumerate(parts):
            put(self, str(i) if name.isdecimal() else name, module)

    def append(self: Self, module: Module) -> Self:
        """Put one more module at the end.

        >>> from gradlab import nn
        >>> len(nn.Sequential(nn.Identity()).append(nn.Identity()))
        2
        """
        put(self, next(str(i) for i in range(len(self), 2 * len(self) + 1) if str(i) not in self.__dict__), module)
        return self

    def extend(self: Self, modules: Iterable[Module]) -> Self:
        """Put more modules at the end.

        Raises:
            KeywordError: what is given is no row of modules; nothing is added then.
        """
        parts = list(modules) if isinstance(modules, Iterable) else [modules]  # pyright: ignore[reportUnnecessaryIsInstance]
        if not isinstance(modules, Iterable) or not all(isinstance(part, Module) for part in parts):  # pyright: ignore[reportUnnecessaryIsInstance]
            got = {"modules": type(modules).__name__, "of": ", ".join(sorted({type(part).__name__ for part in parts}))}
            raise KeywordError(explain(f"{type(self).__name__}.extend: every part must be a Module", got=got, need="modules"))
        for part in parts:
            self.append(part)
        return self

    def insert(self: Self, index: int, module: Module) -> Self:
        """Put a module before the one at `index`.

        Raises:
            IndexError: `index` is outside.
        """
        names = self._names()
        if not -len(names) <= whole(index) <= len(names):
            raise IndexError(f"{type(self).__name__}: index {index} is outside of its {len(names)} modules")
        parts = [(name, getattr(self, name)) for name in names]
        self.append(module)  # says what is wrong with it, before anything moves
        parts.insert(index, ("0", module))
        self._arrange(parts)
        return self

    def pop(self, key: int) -> Module:
        """Take out the module at `key` and return it."""
        module = self[key]
        del self[key]
        return module

    def __iadd__(self: Self, other: Iterable[Module]) -> Self:
        return self.extend(other)

    def __add__(self: Self, other: Iterable[Module]) -> Self:
        return self._of({}).extend(self).extend(other)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdecimal()]

    def _names(self) -> list[str]:
        return [name for name, module in self.__dict__.items() if isinstance(module, Module)]

    def _name(self, index: int) -> str:
        names = self._names()
        if not -len(names) <= whole(index) < len(names):
            raise IndexError(f"{type(self).__name__}: index {index} is outside of its {len(names)} modules")
        return names[index]


class Sequential(Row):
    """Modules in a row: each gets what the one before it returned.

    Takes modules, or one dict that names them; a name that would hide a method is refused. Indexing gives a module,
    slicing a shorter Sequential that shares them. `a + b` joins two, `a * 3` repeats one, with the same parameters.

    >>> from gradlab import nn
    >>> len(nn.Sequential(nn.Identity(), nn.Flatten()))
    2
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], Mapping) and not isinstance(modules[0], Module):
            named = modules[0]
        else:
            named = {str(i): module for i, module in enumerate(modules)}
        for name, module in named.items():
            put(self, name, module)

    def forward(self, x: Any) -> Any:
        for module in self:
            x = module(x)
        return x

    def __mul__(self, times: int) -> Sequential:
        if whole(times) < 1:
            raise ArgumentError(explain("Sequential: how many times?", got={"times": times}, need="1 or more"))
        return Sequential(*[module for _ in range(times) for module in self])

    __rmul__ = __mul__


class ModuleList(Row):
    """A list of modules that are registered: as attributes of a Module they are trained, saved and moved with it.

    Works as a list (index, slice, `append`, `extend`, `insert`, `pop`, `del`); it is not called itself.

    >>> from gradlab import nn
    >>> [name for name, _ in nn.ModuleList([nn.Linear(1, 1), nn.ReLU()]).named_parameters()]
    ['0.weight', '0.bias']
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _rows(self, children: list[tuple[str, Any]]) -> list[str]:
        runs: list[list[Any]] = []  # first and last index, and the text, of neighbours that are printed alike
        for i, (_, text) in enumerate(children):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        return [f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}" for a, b, text in runs]
