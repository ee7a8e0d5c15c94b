"""What to call things: modules by their place in the model, parameters likewise, bare tensors by the user's variable."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

_LOOKUPS_A_CLASS = 8  # modules without parameters made anew in every step are not looked up each time
_ROOTS_KEPT = 64


def readable(path: str) -> str:
    """A path as it can be shown: what leaves no mark is written as in Python.

    >>> print(readable("a\\nb"), readable("名前"))
    a\\nb 名前
    """
    return path if path.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in path)


class Leaf(NamedTuple):
    """A tensor that no traced op made, as it looks from outside: equal in every step of a loop.

    `root` is the label of the model that `name` is a path in; None for a tensor outside of modules.
    """

    root: str | None
    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: Any
    requires_grad: bool


class Spot:
    """A module inside a model: its path, and the records of the calls it got there, the first of a step first."""

    __slots__ = ("calls", "key", "path", "ref")

    def __init__(self, root: str, path: str | None, module: Any) -> None:
        self.path = path
        self.key = f"{root}/{path}" if path is not None else f"{root}?{type(module).__name__}"
        self.ref = weakref.ref(module)
        self.calls: list[Any] = []


class Root:
    """An outermost module in use: its label, and the paths of all modules and parameters inside it."""

    __slots__ = ("_misses", "buffers", "counted", "label", "modules", "parameters", "ref", "switches")

    def __init__(self, module: Any, label: str) -> None:
        self.ref = weakref.ref(module)
        self.label = label
        self.counted = False  # whether it took part in a complete step
        self._misses = 0
        self.learn()

    def learn(self) -> None:
        """Walk the module and note every path."""
        module = self.ref()
        modules: dict[int, Spot] = {}
        parameters: dict[int, str] = {}
        buffers: dict[int, str] = {}
        self.switches: list[str] = []  # parts that do something else in eval mode
        if module is not None:
            for path, part in module.named_modules():
                modules[id(part)] = Spot(self.label, readable(path) or "''" if part is not module else path, part)
                if (getattr(part, "p", 0) and "Dropout" in type(part).__name__) or getattr(part, "running_mean", None) is not None:
                    self.switches.append(readable(path))
            for path, parameter in module.named_parameters():
                parameters.setdefault(parameter.serial, readable(path))
            for path, buffer in module.named_buffers():
                buffers.setdefault(buffer.serial, readable(path))
        self.modules, self.parameters, self.buffers = modules, parameters, buffers

    def rename(self, label: str) -> None:
        """The user gave its name to another model."""
        self.label = label
        self.learn()

    def missed(self) -> bool:
        """Something was not found: walk again where that is worth its time, and say whether it was done."""
        self._misses += 1
        if self._misses & (self._misses - 1):
            return False
        self.learn()
        return True

    def spot(self, module: Any) -> Spot:
        """Where `module` is inside this one; a spot without a path where it isn't."""
        found = self.modules.get(id(module))
        if found is not None and found.ref() is module:
            return found
        if self.missed():
            found = self.modules.get(id(module))
        return found if found is not None and found.ref() is module else Spot(self.label, None, module)


class Names:
    """Looks names up in the user's namespace and in the models in use, each thing once."""

    def __init__(self, lookup: Callable[[], dict[int, str]] | None = None) -> None:
        self.lookup = lookup
        self._roots: dict[int, Root] = {}
        self._looked_up: Counter[str] = Counter()
        self._unnamed = 0
        self.made = 0  # models that were seen for the first time, so far

    def of(self, thing: Any) -> str | None:
        """The user's name for `thing`."""
        return None if self.lookup is None else self.lookup().get(id(thing))

    def root(self, module: Any) -> Root:
        """The record of an outermost module, made when it is first seen."""
        root = self._roots.get(id(module))
        if root is None or root.ref() is not module:
            self._forget_dead()
            has_parameters = next(iter(module.named_parameters()), None) is not None
            root = Root(module, self._label(module, has_parameters))
            self._roots[id(module)] = root
            self.made += 1
        return root

    def place_of(self, module: Any) -> tuple[str, str] | None:
        """The label of the model in use that a module is part of, and its path there; None for one of no known model."""
        for root in reversed(list(self._roots.values())):
            spot = root.modules.get(id(module))
            if spot is not None and spot.ref() is module and spot.path is not None:
                return root.label, spot.path
        return None

    def leaf(self, tensor: Any, look: bool = True) -> tuple[Leaf, Root | None]:
        """Describe a leaf, and say which model it belongs to. Without `look` the user's namespace is not read."""
        data, needs = tensor._data, tensor.requires_grad
        serial = tensor.serial
        for again in (False, True):
            for root in reversed(self._roots.values()):
                if again and not (needs and root.missed()):
                    continue
                if serial in root.parameters:
                    return self._parameter(tensor, root)
                if serial in root.buffers:
                    return Leaf(root.label, root.buffers[serial], "constant", data.shape, data.dtype, needs), None
        name = self.of(tensor) if look else None
        if needs and name is None:
            self._unnamed += 1
            name = f"tensor#{self._unnamed}"
        kind = "parameter" if needs else "input" if data.shape or name else "constant"
        return Leaf(None, name or kind, kind, data.shape, data.dtype, needs), None

    def owned(self, tensor: Any) -> tuple[Leaf, Root] | None:
        """Describe a parameter of a model in use; None for any other tensor."""
        root = next((root for root in reversed(self._roots.values()) if tensor.serial in root.parameters), None)
        return None if root is None else self._parameter(tensor, root)

    def _parameter(self, tensor: Any, root: Root) -> tuple[Leaf, Root]:
        data = tensor._data
        return Leaf(root.label, root.parameters[tensor.serial], "parameter", data.shape, data.dtype, tensor.requires_grad), root

    def _label(self, module: Any, has_parameters: bool) -> str:
        cls = type(module).__name__
        if has_parameters or self._looked_up[cls] < _LOOKUPS_A_CLASS:
            self._looked_up[cls] += 1
            name = self.of(module)
            if name is not None:
                for other in self._roots.values():
                    if other.label == name and other.parameters and other.ref() not in (None, module):
                        other.rename(self.of(other.ref()) or self._free(type(other.ref()).__name__))
                return name
        return self._free(cls) if has_parameters else cls

    def _free(self, cls: str) -> str:
        taken = {root.label for root in self._roots.values() if root.ref() is not None}
        n = 1
        while f"{cls}#{n}" in taken:
            n += 1
        return f"{cls}#{n}"

    def _forget_dead(self) -> None:
        if len(self._roots) >= _ROOTS_KEPT:
            self._roots = {key: root for key, root in self._roots.items() if root.ref() is not None}
