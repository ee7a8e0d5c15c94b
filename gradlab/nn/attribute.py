"""What may become an attribute of a module, and under which name."""

from __future__ import annotations

from inspect import isfunction
from typing import Any

from .._tensor import Tensor
from ..errors import ArgumentError, KeywordError, explain
from .parameter import Parameter


def need_fitting(module: Any, name: str, value: Any, base: type) -> None:
    """Refuse to set what would hide a method, or take the place of a parameter, a module or a buffer for good.

    Args:
        base: the class Module.

    Raises:
        AttributeError: super().__init__() was not called before the first part of the model.
        ArgumentError: a method has that name.
        KeywordError: a parameter, module or buffer has it, and this is another kind of thing.
    """
    own = module.__dict__
    if "_buffers" not in own and isinstance(value, (base, Parameter)):
        raise AttributeError(
            explain(
                f"{type(module).__name__}: {name} was set before super().__init__()",
                got={name: type(value).__name__},
                need="super().__init__() as the first line of __init__",
            )
        )
    if isfunction(getattr(type(module), name, None)) and (isinstance(value, base) or (hasattr(base, name) and not callable(value))):
        raise ArgumentError(
            explain(f"{type(module).__name__}.{name} is a method", got={name: type(value).__name__}, need="another name for this attribute")
        )
    if isinstance(own.get(name), Parameter) and not (value is None or isinstance(value, (Parameter, base))):
        raise KeywordError(
            explain(
                f"{type(module).__name__}.{name} is a Parameter and can't become anything else",
                got={name: type(value).__name__},
                need="a Parameter, or None to remove it",
                fix=f"nn.Parameter(...), or write the numbers: {name}.data[...] = ..." if isinstance(value, Tensor) else "",
            )
        )
    if isinstance(own.get(name), base) and not (value is None or isinstance(value, (Parameter, base))):
        raise KeywordError(
            explain(
                f"{type(module).__name__}.{name} is a Module and can't become anything else",
                got={name: type(value).__name__},
                need="a Module, or None to remove it",
                fix=f"del model.{name} first",
            )
        )
    if name in own.get("_buffers", ()) and not (value is None or isinstance(value, Tensor)):
        raise KeywordError(
            explain(f"{type(module).__name__}.{name} is a buffer", got={name: type(value).__name__}, need="a tensor, or None")
        )


def need_name(what: str, name: Any) -> None:
    """Refuse what can't be the name of a part.

    Raises:
        ArgumentError: it is empty, no text, or has a dot, which leads to children.
    """
    if not isinstance(name, str) or not name or "." in name:
        raise ArgumentError(
            explain(f"{what}: this can't be a name", got={"name": repr(name)}, need="text without a dot: dots lead to children")
        )
