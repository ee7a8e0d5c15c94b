"""Stochastic gradient descent, with momentum where asked for."""

from __future__ import annotations

import math

from .._tensor import Tensor
from ..backend import Array
from ..errors import ArgumentError, explain
from ..ops.argument import need_number
from .entrywise import Entrywise, slope
from .given import need_at_least_0
from .moment import rms
from .optimizer import Group, Params


class SGD(Entrywise):
    """p <- p - lr g, where momentum replaces g by a running sum of gradients.

    g <- g + weight_decay p;  b <- momentum b + (1 - dampening) g  (b = g at first);  g <- g + momentum b if nesterov, else b.
    With maximize g is -g from the beginning.

    Source: Sutskever et al. 2013, "On the importance of initialization and momentum in deep learning"; lr multiplies the
    buffer at the end, as in PyTorch, not when it is filled.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> optimizer = SGD([w], lr=0.1, momentum=0.9)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.data.round(3)
    array([0.8], dtype=float32)
    """

    remembers: tuple[str, ...] = ("momentum_buffer",)
    gathers: bool = False  # two to five calls a parameter: a copy there and back takes as long up to some 20 parameters

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov}
        super().__init__(params, {**options, "maximize": maximize})

    def _check(self, group: Group) -> None:
        need_number("SGD", dampening=group["dampening"])
        need_at_least_0("SGD", group, "lr", "momentum", "weight_decay")
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise ArgumentError(
                explain(
                    "SGD: nesterov looks ahead along the momentum",
                    got={k: group[k] for k in ("momentum", "dampening")},
                    need="momentum > 0 and dampening = 0",
                )
            )

    def moments_of(self, group: Group) -> tuple[str, ...]:  # noqa: D102 (explained in Optimizer)
        return ("momentum_buffer",) if group["momentum"] else ()

    def _move(self, p: Array, g: Array, moments: list[Array], t: int, group: Group) -> None:
        g, momentum = slope(p, g, group), group["momentum"]
        if moments:
            [b] = moments
            if t == 1:
                b[...] = g
            else:
                b *= momentum
                b += (1 - group["dampening"]) * g if group["dampening"] else g
            g = g + momentum * b if group["nesterov"] else b
        p -= group["lr"] * g

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """("momentum",) where a group has momentum now."""
        return ("momentum",) if any(group["momentum"] for group in self.param_groups) else ()

    def summary(self, p: Tensor) -> dict[str, float]:
        """{"momentum": rms of the buffer}, NaN before the first step; empty where no group has momentum."""
        b = self.state.get(p, {}).get("momentum_buffer")
        return dict.fromkeys(self.columns, math.nan if b is None else rms(b))
