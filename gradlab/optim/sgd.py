"""Stochastic gradient descent, with momentum where asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from .._tensor import Tensor
from ..backend import Array, quiet, xp_of
from ..errors import ArgumentError, explain
from ..ops.argument import need_number
from .moment import rms
from .optimizer import Group, Optimizer, Params


class SGD(Optimizer):
    """p <- p - lr g, where momentum replaces g by a running sum of gradients.

    g <- g + weight_decay p;  b <- momentum b + (1 - dampening) g  (b = g at first);  g <- g + momentum b if nesterov, else b.

    Source: Sutskever et al. 2013, "On the importance of initialization and momentum in deep learning"; lr multiplies the
    buffer at the end, as in PyTorch, not when it is filled.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> optimizer = SGD([w], lr=0.1, momentum=0.9)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.data.round(3)
    array([0.8], dtype=float32)
    """

    remembers: ClassVar[tuple[str, ...] | None] = ("momentum_buffer",)

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(
            params, {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov}
        )

    def _check(self, group: Group) -> None:
        need_number("SGD", **{option: group[option] for option in ("lr", "momentum", "dampening", "weight_decay")})
        for option in ("lr", "momentum", "weight_decay"):
            if not group[option] >= 0:
                raise ArgumentError(explain(f"SGD: {option} can't be negative", got={option: group[option]}, need=">= 0"))
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ArgumentError(
                explain(
                    "SGD: nesterov looks ahead along the momentum",
                    got={k: group[k] for k in ("momentum", "dampening")},
                    need="momentum > 0 and dampening = 0",
                )
            )

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """("momentum",) where a group has momentum now."""
        return ("momentum",) if any(group["momentum"] for group in self.param_groups) else ()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient; returns what `closure` returned."""
        loss = None if closure is None else closure()
        with quiet():  # NaN and Inf in gradients are data
            for group, parameters in self._moving():
                for p in parameters:
                    p._data -= group["lr"] * self._direction(p, p._grad, group)
                    p.bump()
        return loss

    def _direction(self, p: Tensor, g: Array, group: Group) -> Array:
        momentum = group["momentum"]
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p._data
        if not momentum:
            return g
        state = self.state.setdefault(p, {})
        b = state.get("momentum_buffer")
        if b is None:
            b = state["momentum_buffer"] = xp_of(g).array(g)
        else:
            b = state["momentum_buffer"] = self._fitted(p, b)
            b *= momentum
            b += (1 - group["dampening"]) * g if group["dampening"] else g
        return g + momentum * b if group["nesterov"] else b

    def summary(self, p: Tensor) -> dict[str, float]:
        """{"momentum": rms of the buffer}, NaN before the first step; empty where no group has momentum."""
        b = self.state.get(p, {}).get("momentum_buffer")
        return dict.fromkeys(self.columns, math.nan if b is None else rms(b))
