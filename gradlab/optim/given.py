"""What an optimizer is given: parameters, or groups of them with options; mistakes are answered here."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from .._tensor import Tensor
from ..errors import ArgumentError, KeywordError, explain
from ..nn.parameter import Parameter


def listed(params: Any) -> list[Any]:
    """The parameters or groups as a list; what is no list of parameters gets a clear answer."""
    if isinstance(params, Tensor) or not isinstance(params, Iterable) or isinstance(params, (str, Mapping)):
        fix = "model.parameters()" if hasattr(params, "parameters") else "[w]" if isinstance(params, Tensor) else ""
        raise KeywordError(
            explain(
                "optimizer: needs a list of parameters",
                got={"params": type(params).__name__},
                need="an iterable of parameters, or of dicts",
                fix=fix,
            )
        )
    return list(params)


def unique(name: str, tensors: list[Any]) -> list[Tensor]:
    """Each once, in order; one that no gradient can reach is refused."""
    found: dict[int, Tensor] = {}
    for t in tensors:
        if not isinstance(t, Tensor):
            raise KeywordError(
                explain(
                    f"{name}: moves tensors only", got={"params": type(t).__name__}, need="Parameters, or tensors with requires_grad=True"
                )
            )
        if not t.is_leaf:
            raise ArgumentError(
                explain(
                    f"{name}: can't move the result of {t.grad_fn!r}",
                    got={"shape": t.shape},
                    need="a leaf: a Parameter, or a tensor that no op made",
                    fix="t.detach().requires_grad_()",
                )
            )
        if not (t.requires_grad or isinstance(t, Parameter)):  # a frozen Parameter is fine: it is skipped
            raise ArgumentError(
                explain(
                    f"{name}: this tensor requires no gradient", got={"shape": t.shape}, need="requires_grad=True", fix="t.requires_grad_()"
                )
            )
        found[id(t)] = t
    if len(found) < len(tensors):
        warnings.warn(f"{name}: {len(tensors) - len(found)} parameters came in twice; each is moved once a step", UserWarning, stacklevel=6)
    return list(found.values())
