"""What is inside a module: its parameters, buffers and modules, where they are, and how they are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, ClassVar

import numpy as np

from .._tensor import Tensor
from ..errors import RegistrationError, explain
from .parameter import Parameter

Named = tuple[str, Any]
_PLAIN = {str, int, float, bool, bytes, type(None), np.ndarray}  # passed over at once: a vocabulary may have 100,000 entries
_CONTAINERS = (list, tuple, dict, set)


class Tree:
    """The part of a Module that knows what it holds; every walk is a loop, so that a module may be thousands deep."""

    _later: ClassVar[tuple[str, ...]] = ()  # entries that states saved by earlier versions lack, and that may stay as they are
    _buffers: dict[str, bool]  # name -> saved in state_dict; the tensor itself is an attribute like any other

    def named_modules(self, prefix: str = "", remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """This module and every module below, each once (or under every path), with the path that leads to it."""
        return reached([(prefix, self)], lambda module: _modules(_members(module)), not remove_duplicate)

    def modules(self) -> Iterator[Any]:
        """This module and every module below, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules directly inside, each once, with their names."""
        seen: set[int] = set()
        for name, child in _modules(_members(self)):
            if id(child) not in seen:
                seen.add(id(child))
                yield name, child

    def children(self) -> Iterator[Any]:
        """The modules directly inside, each once."""
        return (child for _, child in self.named_children())

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Every parameter once, with its name; a shared one under the first of its names, or under each."""
        return self._tensors(prefix, recurse, remove_duplicate, lambda module: [m for m in _members(module) if isinstance(m[1], Parameter)])

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Every parameter once: what an optimizer takes.

        Raises:
            RegistrationError: parameters that could be trained are in a plain list, tuple, dict or set, where no module finds them.

        >>> from gradlab import nn
        >>> sum(p.numel() for p in nn.Linear(3, 2).parameters())
        8
        """
        if not recurse:
            return (parameter for _, parameter in self.named_parameters(recurse=False))
        modules = list(self.named_modules())
        found = {id(m): m for _, module in modules for _, m in _members(module) if isinstance(m, Parameter)}
        _need_registered(self, modules, set(found))
        return iter(list(found.values()))

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Every buffer once, with its name."""
        return self._tensors(prefix, recurse, remove_duplicate, _own_buffers)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Every buffer once."""
        return (tensor for _, tensor in self.named_buffers(recurse=recurse))

    def _tensors(self, prefix: str, recurse: bool, once: bool, own: Callable[[Tree], list[Named]]) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for path, module in self.named_modules(prefix, once) if recurse else [(prefix, self)]:
            for name, tensor in own(module):
                if not once or id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield join(path, name), tensor

    def get_submodule(self, target: str) -> Any:
        """The module at the end of a path such as "encoder.0.attention"; "" is this one.

        Raises:
            AttributeError: there is none.
        """
        module = self
        for name in target.split(".") if target else []:
            module = getattr(module, name)
            if not isinstance(module, Tree):
                raise AttributeError(f"{type(self).__name__}: {name!r} in {target!r} is no module")
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at the end of a path.

        Raises:
            AttributeError: there is none.
        """
        return self._leaf(target, lambda module, name: isinstance(module.__dict__.get(name), Parameter), "parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at the end of a path.

        Raises:
            AttributeError: there is none.
        """
        return self._leaf(target, lambda module, name: name in module.__dict__.get("_buffers", ()), "buffer")

    def _leaf(self, target: str, fits: Callable[[Tree, str], bool], kind: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if getattr(module, name) is None or not fits(module, name):
            raise AttributeError(f"{type(self).__name__}: {target!r} is no {kind}")
        return getattr(module, name)

    def _state(self, prefix: str = "") -> dict[str, Tensor]:
        """Every parameter and saved buffer under each of its names: own ones first, then those of the modules inside."""
        found: dict[str, Tensor] = {}
        members = cache(_members)  # a shared module is read once, however many paths lead to it
        for path, module in reached([(prefix, self)], lambda module: _modules(members(module)), every=True):
            saved = [(name, getattr(module, name)) for name, persistent in module.__dict__.get("_buffers", {}).items() if persistent]
            for name, tensor in [*(m for m in members(module) if isinstance(m[1], Parameter)), *saved]:
                if tensor is not None:
                    found[join(path, name)] = tensor
        return found

    def _may_miss(self) -> set[str]:
        """The names that a state may lack without being incomplete."""
        found = self.named_modules(remove_duplicate=False) if any(part._later for part in self.modules()) else ()
        return {join(path, name) for path, part in found for name in part._later}

    def extra_repr(self) -> str:
        """What stands in the parentheses of the module's line: its sizes and options."""
        return ""

    def _rows(self, children: list[Named]) -> list[str]:
        """The lines of the modules inside, of which the text is given."""
        return [f"({name}): {text}" for name, text in children]

    def __repr__(self) -> str:
        return _printed(self, ())


def need_registered(module: Tree) -> None:
    """Refuse a module with parameters that would never be trained: nothing but a plain list or dict holds them.

    Frozen ones may be there, and those that are registered too.

    Raises:
        RegistrationError: with the path of each, and the container that registers what it holds.
    """
    modules = list(module.named_modules())
    _need_registered(module, modules, {id(m) for _, part in modules for _, m in _members(part) if isinstance(m, Parameter)})


def _need_registered(module: Tree, modules: list[tuple[str, Any]], known: set[int]) -> None:
    hidden = [(path, value) for path, part in modules for path, value in _hidden(path, part)]
    found = {path: p for path, part in hidden for path, p in _trainable(path, part) if id(p) not in known}
    if found:
        parts = any(isinstance(part, Tree) for _, part in hidden)
        named = [*found][:5]
        raise RegistrationError(
            explain(
                f"{type(module).__name__}: parameters in a plain list or dict are not found, and would not be trained or saved",
                got={name: f"shape {found[name].shape}" for name in named} | ({"and": f"{len(found) - 5} more"} if len(found) > 5 else {}),
                need="nn.ModuleList or nn.ModuleDict" if parts else "nn.ParameterList or nn.ParameterDict",
            )
        )


def reached(start: Iterable[Named], inside: Callable[[Any], list[Named]], every: bool = False) -> Iterator[Named]:
    """What is in and below `start`, depth first: once, or under `every` path; no cycle is followed around."""
    passed: set[int] = set()
    waiting: list[tuple[str | None, Any]] = [*start]
    waiting.reverse()
    while waiting:
        path, value = waiting.pop()
        if path is None:  # all that is inside was given: another path may lead here again
            passed.discard(id(value))
        elif id(value) not in passed:
            passed.add(id(value))
            yield path, value
            if every:
                waiting.append((None, value))
            children = inside(value)
            if children:
                waiting += [(join(path, name), child) for name, child in reversed(children)]


def join(path: str, name: str) -> str:
    """The path of what is called `name` inside of what is at `path`."""
    return f"{path}.{name}" if path else name


def _members(module: Tree) -> list[Named]:
    return [pair for pair in module.__dict__.items() if isinstance(pair[1], (Parameter, Tree))]


def _modules(members: list[Named]) -> list[Named]:
    return [pair for pair in members if isinstance(pair[1], Tree)]


def _own_buffers(module: Tree) -> list[Named]:
    pairs = [(name, getattr(module, name)) for name in module.__dict__.get("_buffers", ())]
    return [pair for pair in pairs if pair[1] is not None]


def _held(value: Any) -> list[Named]:
    """What a list, tuple, set or dict holds, without what can't be part of a model."""
    if isinstance(value, dict):
        return [(str(key), item) for key, item in value.items() if type(item) not in _PLAIN]
    if isinstance(value, (list, tuple, set)):
        return [(str(i), item) for i, item in enumerate(value) if type(item) not in _PLAIN]
    return []


def _hidden(path: str, module: Tree) -> list[Named]:
    """The modules and parameters in plain lists and dicts among the attributes, however nested."""
    held = [(join(path, name), v) for name, v in module.__dict__.items() if isinstance(v, _CONTAINERS) and _may_hold(v)]
    return [(where, part) for where, part in reached(held, _held) if isinstance(part, (Parameter, Tree))] if held else []


def _may_hold(value: Any) -> bool:
    return not _PLAIN.issuperset(map(type, value.values() if isinstance(value, dict) else value))


def _trainable(path: str, part: Any) -> list[Named]:
    pairs = [(path, part)] if isinstance(part, Parameter) else part.named_parameters(path)
    return [(name, p) for name, p in pairs if p.requires_grad]


def _printed(module: Tree, above: tuple[Tree, ...]) -> str:
    extra = [line for line in module.extra_repr().split("\n") if line]
    children: list[Named] = []
    for name, child in _modules(_members(module)):
        if child is module or any(child is m for m in above):
            text = "..."
        else:
            text = _printed(child, (*above, module)) if type(child).__repr__ is Tree.__repr__ else repr(child)
        children.append((name, text.replace("\n", "\n  ")))
    if not children and len(extra) < 2:
        return f"{type(module).__name__}({''.join(extra)})"
    return "\n  ".join([f"{type(module).__name__}(", *extra, *module._rows(children)]) + "\n)"
