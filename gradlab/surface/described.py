"""What `help(t.exp)` says: the first sentence of the op."""

from __future__ import annotations

from typing import TypeVar

from .. import ops

Methods = TypeVar("Methods", bound=type)


def described(cls: Methods) -> Methods:
    """Give each method without a description the first sentence of the op of its name."""
    for name, method in vars(cls).items():
        if callable(method) and method.__doc__ is None and hasattr(ops, name):
            method.__doc__ = (getattr(ops, name).__doc__ or "").partition("\n")[0]
    return cls
