"""What an optimizer is given: parameters, groups of them with options; mistakes are answered here."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..errors import ArgumentError, KeywordError, explain
from ..nn.parameter import Parameter
from ..ops.argument import need_number

BESIDE = ("params", "param_names", "name", "initial_lr", "max_lr", "min_lr", "max_momentum", "base_momentum")
"""Keys of a group that are no options of a method: whom it moves, what it is called, and what schedules note in it."""


MEANT = {
    **dict.fromkeys(("learning_rate", "step_size", "eta"), "lr"),
    **dict.fromkeys(("beta1", "beta2"), "betas=(0.9, 0.999)"),
    **dict.fromkeys(("epsilon", "tol"), "eps"),
    **dict.fromkeys(("decay", "wd", "l2"), "weight_decay"),
    **dict.fromkeys(("rho", "decay_rate"), "alpha"),
    **dict.fromkeys(("mu", "beta"), "momentum"),
}
"""What other libraries call an option, and what PyTorch calls it."""


def need_keywords(cls: type, given: Mapping[str, Any]) -> None:
    """Refuse options that a class does not take, and say how they are written."""
    known = inspect.signature(cls.__init__).parameters
    unknown = [key for key in given if key not in known]
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
        meant = [MEANT[key] for key in unknown if MEANT.get(key, "").partition("=")[0] in known]
        raise KeywordError(
            explain(
                f"{cls.__name__}: no such option as {', '.join(unknown)}",
                got={key: repr(given[key]) for key in unknown},
                need=", ".join([key for key in known if key != "self"]),
                fix=", ".join(dict.fromkeys(meant)),
            )
        )


def listed(name: str, params: Any) -> list[Any]:
    """The parameters or groups as a list; what is no list of parameters gets a clear answer."""
    if isinstance(params, Set):
        raise KeywordError(explain(f"{name}: a set has no order", got={"params": type(params).__name__}, need="a list of parameters"))
    if isinstance(params, (Tensor, str, Mapping)) or not isinstance(params, Iterable):
        fix = "model.parameters()" if hasattr(params, "parameters") or callable(params) else "[w]" if isinstance(params, Tensor) else ""
        raise KeywordError(
            explain(
                f"{name}: needs a list of parameters",
                got={"params": type(params).__name__},
                need="an iterable of parameters, or of dicts",
                fix=fix,
            )
        )
    return list(params)


def group_of(name: str, given: Any, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """A group with every option: what `given` says, the rest as in `defaults`; names of parameters in "param_names"."""
    if not isinstance(given, Mapping):
        raise KeywordError(explain(f"{name}: a group is a dict", got={"group": type(given).__name__}, need='{"params": [...], ...}'))
    if "params" not in given or any(key not in defaults and key not in BESIDE for key in given):
        raise ArgumentError(
            explain(
                f"{name}: a group has params and options", got={"group": ", ".join(map(str, given))}, need=", ".join(["params", *defaults])
            )
        )
    params = given["params"]
    members = listed(name, [params] if isinstance(params, Tensor) else params)
    named = [m for m in members if isinstance(m, tuple) and len(m) == 2 and isinstance(m[0], str)]
    if named and len(named) < len(members):
        raise ArgumentError(
            explain(f"{name}: some parameters have names", got={"named": f"{len(named)} of {len(members)}"}, need="all of them, or none")
        )
    found = unique(name, [m[1] for m in named] or members)
    group = {"params": found, **defaults, **{key: plain(value) for key, value in given.items() if key != "params"}}
    if named:
        names = {id(p): word for word, p in reversed(named)}
        group["param_names"] = [names[id(p)] for p in found]
    return group


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
        warnings.warn(f"{name}: {len(tensors) - len(found)} parameters came in twice; each is moved once a step", UserWarning, stacklevel=7)
    return list(found.values())


def plain(value: Any) -> Any:
    """A number of NumPy's or in a tensor as Python's: np.float64(0.1) * g would not keep float32.

    >>> import numpy as np
    >>> plain(np.float32(0.5)), plain([np.float64(0.9), 0.999])
    (0.5, [0.9, 0.999])
    """
    if isinstance(value, (tuple, list)):
        return type(value)([plain(v) for v in value])
    return value.item() if isinstance(value, (Tensor, np.generic)) and value.ndim == 0 else value


def need_at_least_0(name: str, group: Mapping[str, Any], *options: str) -> None:
    """Refuse options that are no numbers, or negative, or NaN.

    >>> need_at_least_0("SGD", {"lr": 0.1}, "lr")
    """
    need_number(name, **{option: group[option] for option in options})
    for option in options:
        if not group[option] >= 0:
            raise ArgumentError(explain(f"{name}: {option} can't be negative", got={option: group[option]}, need=">= 0"))
