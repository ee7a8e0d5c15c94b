"""Options of layers: read, checked and printed in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensor import Tensor
from ..errors import ArgumentError, ShapeError, explain
from ..inplace import become
from ..ops.argument import need_number, whole
from .module import Module


def shown(module: Module, names: str) -> str:
    """Options as they are printed.

    >>> from gradlab import nn
    >>> shown(nn.Flatten(), "start_dim end_dim")
    'start_dim=1, end_dim=-1'
    """
    return ", ".join([f"{name}={getattr(module, name)}" for name in names.split()])


def need_sizes(op: str, least: int = 0, **given: Any) -> tuple[int, ...]:
    """Sizes as ints.

    Raises:
        KeywordError: one is no whole number.
        ShapeError: one is below `least`.
    """
    found = {name: whole(name, value) for name, value in given.items()}
    if min(found.values()) < least:
        what = "are above 0" if least else "can't be negative"
        raise ShapeError(explain(f"{op}: sizes {what}", got=found, need=f">= {least}"))
    return tuple(found.values())


def need_probability(op: str, p: Any, name: str = "p") -> None:
    """Refuse what is no probability.

    Raises:
        KeywordError: no number.
        ArgumentError: a number outside of [0, 1].
    """
    need_number(op, **{name: p})
    if not 0 <= p <= 1:
        raise ArgumentError(explain(f"{op}: {name} is a probability", got={name: p}, need=f"0 <= {name} <= 1"))


def need_axes(module: Module, x: Any, ndims: tuple[int, ...], what: str) -> None:
    """Refuse an input with another number of axes than the layer is for.

    Raises:
        ShapeError: saying which layer is meant for it, where there is one.
    """
    shape = getattr(x, "shape", ())
    if len(shape) not in ndims:
        name, n = type(module).__name__, len(shape) - max(ndims)
        other = f"{name[:-2]}{int(name[-2]) + n}d" if name[-2:-1].isdigit() and 1 <= int(name[-2]) + n <= 3 else ""
        fix = f"nn.{other}" if other and n else ""
        raise ShapeError(explain(f"{name}: this has another number of axes", got={"x": shape}, need=what, fix=fix))


def applied(module: Any, op: Callable[..., Tensor], x: Tensor, *arguments: Any) -> Tensor:
    """`op(x, *arguments)`; with `inplace` the input itself becomes it."""
    return become(x, f"nn.{type(module).__name__}(inplace=True)", op, *arguments) if module.inplace else op(x, *arguments)
