"""Adagrad."""

from __future__ import annotations

import math

from .._tensor import Tensor
from ..backend import Array, xp_of
from .entrywise import Entrywise, slope
from .given import need_at_least_0
from .moment import mean
from .optimizer import Group, Params


class Adagrad(Entrywise):
    """Gradient descent with a step size for every entry that only shrinks: by all gradients that the entry ever had.

    g <- g + weight_decay p
    v <- v + g^2        (v = initial_accumulator_value at first)
    p <- p - lr / (1 + (t - 1) lr_decay) g / (sqrt(v) + eps)

    Entries that seldom have a gradient, such as the rows of an embedding, keep long steps. With maximize g is -g.

    Source: Duchi, Hazan and Singer 2011, "Adaptive Subgradient Methods", JMLR 12, equation 1 with a diagonal G; lr_decay is
    PyTorch's. t counts the steps of each parameter by itself.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> optimizer = Adagrad([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.data.round(3)
    array([0.9], dtype=float32)
    """

    columns: tuple[str, ...] = ("v", "effective_lr")
    remembers: tuple[str, ...] = ("step", "sum")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**options, "initial_accumulator_value": initial_accumulator_value, "maximize": maximize})

    def _check(self, group: Group) -> None:
        need_at_least_0("Adagrad", group, "lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps")

    def moments_of(self, group: Group) -> tuple[str, ...]:  # noqa: D102 (explained in Optimizer)
        return ("sum",)

    def _first(self, name: str, group: Group) -> float:
        return group["initial_accumulator_value"]

    def _move(self, p: Array, g: Array, moments: list[Array], t: int, group: Group) -> None:
        g, [v] = slope(p, g, group), moments
        s = g * g
        v += s
        xp_of(p).sqrt(v, out=s)
        s += group["eps"]
        xp_of(p).divide(g, s, out=s)
        s *= rate(group, t)
        p -= s

    def summary(self, p: Tensor) -> dict[str, float]:
        """v: root of the mean of v; effective_lr: the learning rate at this step / (v + eps)."""
        entry, group = self.state.get(p), self._group_of(p)
        if not entry or not entry["step"]:
            return dict.fromkeys(self.columns, math.nan)
        v = math.sqrt(mean(entry["sum"]))
        return {"v": v, "effective_lr": rate(group, entry["step"]) / (v + group["eps"])}


def rate(group: Group, t: int) -> float:
    """The learning rate at step t."""
    return group["lr"] / (1 + (t - 1) * group["lr_decay"])
