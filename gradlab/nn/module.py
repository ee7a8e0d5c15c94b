"""Module: a function with parameters, made of other modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from inspect import isfunction
from typing import Any, TypeVar

import numpy as np

from .. import observe
from .._tensor import Tensor
from ..backend import Array, Device, is_place, moved
from ..errors import ArgumentError, DTypeError, KeywordError, explain
from .parameter import Parameter
from .state import Keys, copied, load

Self = TypeVar("Self", bound="Module")
Named = tuple[str, Any]
_PLAIN = {str, int, float, bool, bytes, type(None), np.ndarray}  # passed over at once: a vocabulary may have 100,000 entries


def _no_forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(f"{type(self).__name__} must define forward(self, ...)")


class Module:
    """A layer or a whole model: parameters in attributes, and `forward`, which says what it computes.

    Parameters and modules are found in attributes, also inside lists, tuples and dicts there, however nested; their
    names say where: `fc.weight`, `hidden.0.weight`, `table.a.weight`. They are looked up anew each time, so a list may
    grow later. Plain tensors are not parameters; `register_buffer` makes one part of the saved state.

    >>> class Double(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = Parameter([2.0])
    ...
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> [name for name, _ in Double().named_parameters()]
    ['factor']
    """

    forward: Callable[..., Any] = _no_forward
    training: bool = True
    _buffers: dict[str, bool]  # name -> saved in state_dict; the tensor itself is an attribute like any other

    def __init__(self) -> None:
        object.__setattr__(self, "_buffers", {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`; a tracer that is attached sees the call."""
        observer = observe.ops
        if observer is None:
            return self.forward(*args, **kwargs)
        return observe.watched(observer, "module", self, args, lambda: self.forward(*args, **kwargs))

    # Attributes

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if "_buffers" not in own and _parts([(name, value)]):
            raise AttributeError(
                explain(
                    f"{type(self).__name__}: {name} was set before super().__init__()",
                    got={name: type(value).__name__},
                    need="super().__init__() as the first line of __init__",
                )
            )
        if isfunction(getattr(type(self), name, None)) and (isinstance(value, Module) or (hasattr(Module, name) and not callable(value))):
            raise ArgumentError(
                explain(
                    f"{type(self).__name__}.{name} is a method", got={name: type(value).__name__}, need="another name for this attribute"
                )
            )
        if isinstance(own.get(name), Parameter) and not (value is None or isinstance(value, (Parameter, Module))):
            raise KeywordError(
                explain(
                    f"{type(self).__name__}.{name} is a Parameter and can't become anything else",
                    got={name: type(value).__name__},
                    need="a Parameter, or None to remove it",
                    fix=f"nn.Parameter(...), or write the numbers: {name}.data[...] = ..." if isinstance(value, Tensor) else "",
                )
            )
        if name in own.get("_buffers", ()) and not (value is None or isinstance(value, Tensor)):
            raise KeywordError(
                explain(f"{type(self).__name__}.{name} is a buffer", got={name: type(value).__name__}, need="a tensor, or None")
            )
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self.__dict__.get("_buffers", {}).pop(name, None)
        object.__delattr__(self, name)

    def __getattr__(self, name: str) -> Any:  # only called where the ordinary lookup raised AttributeError
        if hasattr(type(self), name):
            return object.__getattribute__(self, name)  # a property whose code failed: once more, for the error in there
        public = [] if name.startswith("_") else [key for key in dir(self) if not key.startswith("_")]
        near = get_close_matches(name, public, n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{hint}")

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make `tensor` part of the module's state but not of its parameters: running means, masks.

        Args:
            persistent: False leaves it out of `state_dict`.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}: call super().__init__() in __init__ before register_buffer({name!r}, ...)")
        if not (tensor is None or isinstance(tensor, Tensor)) or isinstance(tensor, Parameter):
            raise KeywordError(
                explain(f"register_buffer: {name} can't be a buffer", got={name: type(tensor).__name__}, need="a plain tensor, or None")
            )
        if "." in name:
            raise ArgumentError(
                explain("register_buffer: a name with a dot", got={"name": name}, need="a name without: dots lead to children")
            )
        if name not in self._buffers and (name in self.__dict__ or hasattr(type(self), name)):
            raise KeyError(f"register_buffer: {type(self).__name__} already has an attribute {name!r}")
        self._buffers[name] = persistent
        object.__setattr__(self, name, tensor)

    # What is inside

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and every module below, each once, with the path that leads to it."""
        return _reached([(prefix, self)], lambda module: _modules(_members(module)))

    def modules(self) -> Iterator[Module]:
        """This module and every module below, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly inside, each once, with their names."""
        return iter(_modules(_members(self)))

    def children(self) -> Iterator[Module]:
        """The modules directly inside, each once."""
        return (child for _, child in self.named_children())

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Every parameter once, with its name; a shared one under the first of its names."""
        seen: set[int] = set()
        for path, module in self.named_modules(prefix) if recurse else [(prefix, self)]:
            for name, member in _members(module):
                if isinstance(member, Parameter) and id(member) not in seen:
                    seen.add(id(member))
                    yield _join(path, name), member

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Every parameter once: what an optimizer takes.

        >>> sum(p.data.size for p in Module().parameters())
        0
        """
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
        """Every buffer, with its name."""
        for path, module in self.named_modules(prefix):
            for name in module.__dict__.get("_buffers", ()):
                tensor = getattr(module, name)
                if tensor is not None:
                    yield _join(path, name), tensor

    def buffers(self) -> Iterator[Tensor]:
        """Every buffer."""
        return (tensor for _, tensor in self.named_buffers())

    # What is done to all of it

    def apply(self: Self, fn: Callable[[Module], object]) -> Self:
        """Call `fn` on every module, the innermost first, and return this one."""
        for module in reversed(list(self.modules())):
            fn(module)
        return self

    def train(self: Self, mode: bool = True) -> Self:
        """Switch this module and all below to training: dropout drops, running means move."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: Self) -> Self:
        """Switch this module and all below to evaluation: the same input gives the same output."""
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Freeze (False) or unfreeze every parameter."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget every parameter's gradient, or fill it with zeros."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.zero_()

    def to(self: Self, *target: Any, device: Any = None, dtype: Any = None, non_blocking: bool = False) -> Self:
        """Move every parameter, buffer and gradient to a device, convert the floating ones to a dtype, or both, in place.

        The parameters stay the same objects: an optimizer made before goes on with them, and moves its moments itself.

        Args:
            target: a device ("cuda", "cpu", "sim"), a dtype, or both.

        Raises:
            DTypeError: the dtype is no floating one.
            DeviceError: a device that is not there. Nothing is changed then.
        """
        for given in target:
            device, dtype = (given, dtype) if is_place(given) else (device, given)
        if dtype is not None:
            try:
                wanted = np.dtype(dtype)
            except TypeError:
                wanted = None
            if wanted is None or wanted.kind != "f":
                raise DTypeError(explain("to: parameters are floating numbers", got={"dtype": dtype}, need="float16, float32 or float64"))
            dtype = wanted
        place = None if device is None else Device(device)
        if place is not None:
            _ = place.xp  # raises before anything changes

        def brought(array: Array) -> Array:
            array = array if place is None else moved(array, place, non_blocking)
            return array.astype(dtype) if dtype is not None and array.dtype.kind == "f" and array.dtype != dtype else array

        for tensor in [*self.parameters(), *self.buffers()]:
            grad, array = tensor._grad, brought(tensor._data)
            if array is not tensor._data:
                tensor.data = array
                tensor.grad = None if grad is None else brought(grad)
        return self

    def cpu(self: Self) -> Self:
        """Move to main memory, see `to`."""
        return self.to("cpu")

    def cuda(self: Self, device: int | None = None) -> Self:
        """Move to a GPU, see `to`."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    # State

    def _state(self) -> dict[str, Tensor]:
        """Every parameter and saved buffer under each of its names: own ones first, then those of the modules inside."""
        found: dict[str, Tensor] = {}
        members = cache(lambda module: _members(module, every=True))  # a shared module is read once, however many paths lead to it
        for path, module in _reached([("", self)], lambda module: _modules(members(module)), every=True):
            saved = [name for name, persistent in module.__dict__.get("_buffers", {}).items() if persistent]
            own = [*((n, m) for n, m in members(module) if isinstance(m, Parameter)), *((n, getattr(module, n)) for n in saved)]
            for name, tensor in own:
                key = _join(path, name)
                if key in found:
                    raise KeyError(f"{type(self).__name__}: two entries are both called {key!r}; rename one")
                if tensor is not None:
                    found[key] = tensor
        return found

    def state_dict(self) -> dict[str, Tensor]:
        """A copy of every parameter and buffer by name; a shared one is there under each of its names.

        Sixteen times `m = Sequential(m, m)` therefore makes 65,536 names of one weight, as in PyTorch.

        >>> Module().state_dict()
        {}
        """
        return {name: copied(tensor) for name, tensor in self._state().items()}

    def load_state_dict(self, state_dict: Mapping[str, Tensor | Array], strict: bool = True) -> Keys:
        """Copy saved values into this module's own arrays, so that optimizers keep their parameters.

        Returns:
            The names that were missing and those that were unexpected (both empty if `strict`).

        Raises:
            StateError: `strict`, and the names differ; or something in the state is no array.
            ShapeError: a shape differs, also where it would broadcast.
            DTypeError: values that the module's own dtype can't hold: complex numbers, text, fractions for a buffer of integers.
            Nothing is changed then.
        """
        return load(type(self).__name__, self._state(), state_dict, strict)

    # Text

    def extra_repr(self) -> str:
        """What stands in the parentheses of the module's line: its sizes and options."""
        return ""

    def __repr__(self) -> str:
        return _tree(self, ())


def _reached(start: Iterable[Named], inside: Callable[[Any], list[Named]], every: bool = False) -> Iterator[Named]:
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
                waiting += [(_join(path, name), child) for name, child in reversed(children)]


def _held(value: Any) -> list[Named]:
    """What a list, tuple or dict holds, without what can't be part of a model."""
    if isinstance(value, dict):
        return [(str(key), item) for key, item in value.items() if type(item) not in _PLAIN]
    if isinstance(value, (list, tuple)):
        return [(str(i), item) for i, item in enumerate(value) if type(item) not in _PLAIN]
    return []


def _parts(pairs: Iterable[Named], every: bool = False) -> list[Named]:
    """The parameters and modules in `pairs`, each of which may be one or may hold some, with their names."""
    found = _reached([(name, value) for name, value in pairs if type(value) not in _PLAIN], _held, every)
    return [(name, part) for name, part in found if isinstance(part, (Parameter, Module))]


def _members(module: Module, every: bool = False) -> list[Named]:
    return _parts([pair for pair in module.__dict__.items() if pair[0] != "_buffers"], every)


def _modules(members: list[Named]) -> list[Named]:
    return [(name, member) for name, member in members if isinstance(member, Module)]


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _tree(module: Module, above: tuple[Module, ...]) -> str:
    extra = [line for line in module.extra_repr().split("\n") if line]
    children: list[str] = []
    for name, child in _modules(_members(module, every=True)):
        text = "..." if child is module or any(child is m for m in above) else _tree(child, (*above, module))
        children.append(f"({name}): " + text.replace("\n", "\n  "))
    if not children and len(extra) < 2:
        return f"{type(module).__name__}({''.join(extra)})"
    return "\n  ".join([f"{type(module).__name__}(", *extra, *children]) + "\n)"
