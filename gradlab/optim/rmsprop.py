"""RMSprop."""

from __future__ import annotations

import math

from .._tensor import Tensor
from ..backend import Array, xp_of
from ..errors import ArgumentError, explain
from .entrywise import Entrywise, slope
from .given import need_at_least_0
from .moment import mean, rms
from .optimizer import Group, Params


class RMSprop(Entrywise):
    """Gradient descent with a step size for every entry: the gradient over the size that it had of late.

    g <- g + weight_decay p
    v <- alpha v + (1 - alpha) g^2
    u = g / (sqrt(v) + eps);     with momentum b <- momentum b + u, and u = b
    p <- p - lr u

    Centered, what is divided by is how much g varies: sqrt(v - a^2), a <- alpha a + (1 - alpha) g. v begins at 0 and is not
    corrected as Adam's is, so the first steps are the longest: 1 / sqrt(1 - alpha) times lr. With maximize g is -g.

    Source: Tieleman and Hinton 2012, Coursera, "Neural Networks for Machine Learning", lecture 6.5; centered: Graves 2013,
    arXiv:1308.0850, equations 38 to 41. eps is added to the root, as in PyTorch.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> optimizer = RMSprop([w], lr=0.01)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.data.round(3)
    array([0.9], dtype=float32)
    """

    remembers: tuple[str, ...] = ("step", "square_avg", "momentum_buffer", "grad_avg")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay}
        super().__init__(params, {**options, "maximize": maximize})

    def _check(self, group: Group) -> None:
        need_at_least_0("RMSprop", group, "lr", "alpha", "eps", "weight_decay", "momentum")
        if group["alpha"] > 1:
            raise ArgumentError(explain("RMSprop: alpha says how much of v is kept", got={"alpha": group["alpha"]}, need="0 <= alpha <= 1"))

    def moments_of(self, group: Group) -> tuple[str, ...]:  # noqa: D102 (explained in Optimizer)
        wanted = {"square_avg": True, "momentum_buffer": group["momentum"], "grad_avg": group["centered"]}
        return tuple([name for name, is_wanted in wanted.items() if is_wanted])

    def _move(self, p: Array, g: Array, moments: list[Array], t: int, group: Group) -> None:
        xp, alpha, [v, *rest] = xp_of(p), group["alpha"], moments
        g = slope(p, g, group)
        s = (1 - alpha) * g
        if group["centered"]:
            a = rest[-1]
            a *= alpha
            a += s
        s *= g
        v *= alpha
        v += s
        xp.sqrt(_spread(v, rest[-1]) if group["centered"] else v, out=s)
        s += group["eps"]
        xp.divide(g, s, out=s)
        if group["momentum"]:
            b = rest[0]
            b *= group["momentum"]
            b += s
            s = group["lr"] * b
        else:
            s *= group["lr"]
        p -= s

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """("v", "effective_lr"), and first "momentum" where a group has momentum now."""
        return ("momentum", "v", "effective_lr") if any(group["momentum"] for group in self.param_groups) else ("v", "effective_lr")

    def summary(self, p: Tensor) -> dict[str, float]:
        """momentum: rms of b; v: root of the mean of what is divided by; effective_lr: lr / (v + eps)."""
        entry, group = self.state.get(p), self._group_of(p)
        row = dict.fromkeys(self.columns, math.nan)
        if entry and entry.get("step"):
            v = entry["square_avg"]
            row["v"] = math.sqrt(max(mean(_spread(v, entry["grad_avg"]) if group["centered"] else v), 0.0))
            row["effective_lr"] = group["lr"] / (row["v"] + group["eps"])
            if "momentum" in row and "momentum_buffer" in entry:
                row["momentum"] = rms(entry["momentum_buffer"])
        return row


def _spread(v: Array, a: Array) -> Array:
    """The variance of gradients: their mean square without the square of their mean."""
    return v - a * a
