"""Gradients cut to a length or to a range."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..._tensor import Tensor
from ...backend import Array, quiet, xp_of
from ...errors import AnomalyError, KeywordError, explain
from ...ops.argument import need_number

Tensors = Tensor | Iterable[Tensor]


def clip_grad_norm_(
    parameters: Tensors, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """Scale all gradients, in place, so that together they are no longer than `max_norm`; returns how long they were.

    The length is one for all: that of the vector of every entry of every gradient. Parameters without a gradient are passed
    over. With an infinite gradient everything is scaled to 0 or NaN, unless `error_if_nonfinite`.

    Args:
        norm_type: the p of the p-norm; `math.inf` for the largest entry.
        foreach: accepted, and without effect.

    Raises:
        AnomalyError: `error_if_nonfinite`, and the length is no finite number. Nothing is changed then.

    Source: Pascanu et al. 2013, "On the difficulty of training recurrent neural networks", arXiv:1211.5063, algorithm 1.

    >>> from gradlab import nn
    >>> p = nn.Parameter([0.0, 0.0])
    >>> p.grad = Tensor([3.0, 4.0])
    >>> clip_grad_norm_([p], 1.0), p.grad.data.round(3).tolist()
    (tensor(5., shape=()), [0.6000000238418579, 0.800000011920929])
    """
    grads = _grads("clip_grad_norm_", parameters)
    need_number("clip_grad_norm_", max_norm=max_norm)
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    _scale(grads, max_norm, total)
    return total


def clip_grads_with_norm_(parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None) -> None:
    """Scale all gradients, in place, by max_norm / total_norm where that is less than 1.

    Args:
        total_norm: how long they are, from `get_total_norm`.
        foreach: accepted, and without effect.
    """
    need_number("clip_grads_with_norm_", max_norm=max_norm, total_norm=total_norm)
    _scale(_grads("clip_grads_with_norm_", parameters), max_norm, total_norm)


def get_total_norm(tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """The length of the vector of every entry of all tensors: of gradients, before they are clipped.

    Args:
        norm_type: the p of the p-norm; `math.inf` for the largest entry.
        foreach: accepted, and without effect.

    Raises:
        AnomalyError: `error_if_nonfinite`, and the length is no finite number.

    >>> get_total_norm([Tensor([3.0]), Tensor([[4.0]])]).item()
    5.0
    """
    need_number("get_total_norm", norm_type=norm_type)
    lengths: Any = [_length(t._data, float(norm_type)) for t in listed("get_total_norm", tensors)]
    if not lengths:
        return Tensor(0.0)
    xp = xp_of(lengths[0])
    kind = max([length.dtype for length in lengths], key=lambda dtype: dtype.itemsize)
    total = _length(xp.stack([xp.asarray(length, dtype=kind) for length in lengths]), float(norm_type))
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise AnomalyError(
            explain(
                "clip_grad_norm_: the gradients have no finite length; nothing was changed",
                got={"norm": float(total)},
                need="finite gradients",
                fix="error_if_nonfinite=False to let them pass, or gl.autograd.detect_anomaly() to find where they come from",
            )
        )
    return Tensor.made(total, None)


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Cut every entry of every gradient, in place, to [-clip_value, clip_value].

    Args:
        foreach: accepted, and without effect.
    """
    need_number("clip_grad_value_", clip_value=clip_value)
    limit = float(clip_value)
    for grad in _grads("clip_grad_value_", parameters):
        xp_of(grad._data).clip(grad._data, -limit, limit, out=grad._data)
        grad.bump()


def _length(x: Array, p: float) -> Array:
    """The p-norm of all entries, in their dtype; that of float16 in float32, where squares of large ones are finite."""
    xp = xp_of(x)
    wide = xp.abs(x.reshape(-1)) if x.dtype.itemsize > 2 else xp.abs(xp.asarray(x, dtype="float32").reshape(-1))
    if p == math.inf or p == -math.inf:
        y = (xp.max(wide) if p > 0 else xp.min(wide)) if wide.size else xp.zeros(())
    elif p == 0:
        y = xp.sum(wide != 0)
    else:
        y = xp.sqrt(xp.sum(wide * wide)) if p == 2 else xp.sum(wide**p) ** (1 / p)
    return xp.asarray(y, dtype=x.dtype)


def _scale(grads: list[Tensor], max_norm: float, total: Tensor) -> None:
    for grad in grads:
        data, length = grad._data, total._data
        xp = xp_of(data)
        with quiet():  # 0 times an infinite entry is NaN, as in PyTorch
            data *= xp.asarray(xp.minimum(max_norm / (length + 1e-6), 1.0), dtype=data.dtype)  # no question to a device
        grad.bump()


def _grads(what: str, parameters: Any) -> list[Tensor]:
    """The gradients that are there, each once, however often its parameter is given."""
    return list({id(p): p.grad for p in listed(what, parameters) if p.grad is not None}.values())


def listed(what: str, given: Any) -> list[Any]:
    """One tensor or several as a list, which a generator gives only once.

    Raises:
        KeywordError: something among them is none.
    """
    found = [given] if isinstance(given, Tensor) else list(given) if isinstance(given, Iterable) else [given]
    for one in found:
        if not isinstance(one, Tensor):
            fix = "model.parameters()" if hasattr(one, "parameters") else ""
            raise KeywordError(explain(f"{what}: this is no tensor", got={"type": type(one).__name__}, need="parameters", fix=fix))
    return found
