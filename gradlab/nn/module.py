"""Module: a function with parameters, made of other modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np

from .. import observe
from .._tensor import Tensor
from ..backend import Array, Device, is_place, moved
from ..errors import DTypeError, KeywordError, explain
from .attribute import need_fitting, need_name
from .hook import Hooked, called
from .parameter import Parameter
from .state import Keys, copied, load
from .tree import Tree, need_registered

Self = TypeVar("Self", bound="Module")


def _no_forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(f"{type(self).__name__} must define forward(self, ...)")


class Module(Hooked, Tree):
    """A layer or a whole model: parameters in attributes, and `forward`, which says what it computes.

    Parameters and modules are found in attributes, and below those that are modules; their names say where: `fc.weight`,
    `hidden.0.weight`. Lists and dicts of them are `ModuleList`, `ModuleDict`, `ParameterList` and `ParameterDict`; what a
    plain list or dict holds is not registered, and `parameters` refuses a model that would so leave some untrained. Plain
    tensors are not parameters; `register_buffer` makes one part of the saved state.

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

    def __init__(self) -> None:
        object.__setattr__(self, "_buffers", {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, with the hooks around it; a tracer that is attached sees the call."""
        told, hooks = observe.ops, self._hooks
        if told is None:
            return self.forward(*args, **kwargs) if hooks is None else called(self, hooks, args, kwargs)
        token = told.begin("module", self, args)
        try:
            output = self.forward(*args, **kwargs) if hooks is None else called(self, hooks, args, kwargs)
        except BaseException as error:
            told.end(token, None, error)
            raise
        told.end(token, output, None)
        return output

    # Attributes

    def __setattr__(self, name: str, value: Any) -> None:
        need_fitting(self, name, value, Module)
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
        need_name("register_buffer", name)
        if name not in self._buffers and (name in self.__dict__ or hasattr(type(self), name)):
            raise KeyError(f"register_buffer: {type(self).__name__} already has an attribute {name!r}")
        self._buffers[name] = persistent
        object.__setattr__(self, name, tensor)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Set a parameter by name; None keeps its place free."""
        if not (param is None or isinstance(param, Parameter)):
            raise KeywordError(explain("register_parameter: this is none", got={name: type(param).__name__}, need="a Parameter, or None"))
        self._register("register_parameter", name, param, Parameter)

    def register_module(self, name: str, module: Module | None) -> None:
        """Set a module by name; None keeps its place free."""
        self.add_module(name, module)

    def add_module(self, name: str, module: Module | None) -> None:
        """Set a module by name; None keeps its place free."""
        if not (module is None or isinstance(module, Module)):
            raise KeywordError(explain("add_module: this is none", got={name: type(module).__name__}, need="a Module, or None"))
        self._register("add_module", name, module, Module)

    def _register(self, what: str, name: str, value: Any, kind: type) -> None:
        need_name(what, name)
        if "_buffers" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}: call super().__init__() in __init__ before {what}({name!r}, ...)")
        if hasattr(self, name) and not isinstance(self.__dict__.get(name, 0), (kind, type(None))):
            raise KeyError(f"{what}: {type(self).__name__} already has an attribute {name!r}")
        setattr(self, name, value)

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

    def state_dict(self, *, destination: dict[str, Tensor] | None = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Tensor]:
        """A copy of every parameter and buffer by name; a shared one is there under each of its names, as one tensor.

        Sixteen times `m = Sequential(m, m)` therefore makes 65,536 names of one weight, as in PyTorch.

        Args:
            destination: the dict to add them to.
            prefix: what all names begin with: "encoder.".
            keep_vars: give the parameters themselves, not copies.

        Raises:
            RegistrationError: parameters in a plain list or dict would not be saved.

        >>> Module().state_dict()
        {}
        """
        need_registered(self)
        found = {} if destination is None else destination
        own = self._state()
        copies = {} if keep_vars else {id(tensor): copied(tensor) for tensor in {id(t): t for t in own.values()}.values()}
        for name, tensor in own.items():
            found[prefix + name] = copies.get(id(tensor), tensor)
        return found

    def load_state_dict(self, state_dict: Mapping[str, Tensor | Array], strict: bool = True) -> Keys:
        """Copy saved values into this module's own arrays, so that optimizers keep their parameters.

        PyTorch's `state_dict()` is taken as it is: any tensors that share memory by DLPack are.

        Returns:
            The names that were missing and those that were unexpected (both empty if `strict`).

        Raises:
            StateError: `strict`, and the names differ; or something in the state is no array.
            ShapeError: a shape differs, also where it would broadcast.
            DTypeError: values that the module's own dtype can't hold: complex numbers, text, fractions for a buffer of integers.
            Nothing is changed then.
        """
        return load(type(self).__name__, self._state(), state_dict, strict, self._may_miss())

    # Kinds of numbers, last: `float` is a name that the annotations above need

    def type(self: Self, dst_type: Any) -> Self:
        """Convert every floating parameter, buffer and gradient to a dtype, see `to`."""
        return self.to(dtype=dst_type)

    def half(self: Self) -> Self:
        """Convert to float16, see `to`."""
        return self.to(dtype=np.float16)

    def double(self: Self) -> Self:
        """Convert to float64, see `to`."""
        return self.to(dtype=np.float64)

    def float(self: Self) -> Self:
        """Convert to float32, see `to`."""
        return self.to(dtype=np.float32)
