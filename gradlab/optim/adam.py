"""Adam and AdamW."""

from __future__ import annotations

import math

from .._tensor import Tensor
from ..backend import Array, xp_of
from ..errors import ArgumentError, KeywordError, explain
from ..ops.argument import need_number
from .entrywise import Entrywise, slope
from .given import need_at_least_0
from .moment import mean, rms
from .optimizer import Group, Params


class Adam(Entrywise):
    """Gradient descent with a step size for every entry: its mean gradient over the size its gradients usually have.

    g <- g + weight_decay p
    m <- b1 m + (1 - b1) g;      m_hat = m / (1 - b1^t)
    v <- b2 v + (1 - b2) g^2;    v_hat = v / (1 - b2^t)
    p <- p - lr m_hat / (sqrt(v_hat) + eps)

    t counts the steps of each parameter by itself: those in which it had a gradient. With amsgrad v_hat is made of the largest
    v so far, so that a step size never grows again; with decoupled_weight_decay it is AdamW; with maximize g is -g.

    Source: Kingma and Ba 2015, arXiv:1412.6980, algorithm 1; amsgrad: Reddi et al. 2018, arXiv:1904.09237, with the largest v
    corrected as v is, as in PyTorch.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> optimizer = Adam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.data.round(3)
    array([0.9], dtype=float32)
    """

    columns: tuple[str, ...] = ("m_hat", "v_hat", "effective_lr")
    remembers: tuple[str, ...] = ("step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
    ) -> None:
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize}
        super().__init__(params, {**options, "decoupled_weight_decay": decoupled_weight_decay})

    def _check(self, group: Group) -> None:
        name, betas = type(self).__name__, group["betas"]
        need_at_least_0(name, group, "lr", "eps", "weight_decay")
        if not isinstance(betas, (tuple, list)):
            raise KeywordError(explain(f"{name}: one beta for each moment", got={"betas": repr(betas)}, need="two numbers"))
        need_number(name, **{f"b{i}": b for i, b in enumerate(betas, 1)})
        if len(betas) != 2 or not all(0 <= b < 1 for b in betas):
            raise ArgumentError(
                explain(f"{name}: betas say how much of each moment is kept", got={"betas": betas}, need="two numbers, 0 <= b < 1")
            )

    def moments_of(self, group: Group) -> tuple[str, ...]:  # noqa: D102 (explained in Optimizer)
        return self.remembers[1:] if group["amsgrad"] else self.remembers[1:3]

    @staticmethod
    def reference(
        p: Array, g: Array, m: Array, v: Array, t: int, *, lr: float, betas: tuple[float, float], eps: float, weight_decay: float,
        decoupled_weight_decay: bool = False,
    ) -> tuple[Array, Array, Array]:  # fmt: skip
        """The formula as it is printed: new p, m, v at step t, as new arrays. `step` computes the same in place."""
        b1, b2 = betas
        if decoupled_weight_decay:
            p = p - lr * weight_decay * p
        else:
            g = g + weight_decay * p
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
        return p - lr * m_hat / (xp_of(v).sqrt(v_hat) + eps), m, v

    def _move(self, p: Array, g: Array, moments: list[Array], t: int, group: Group) -> None:
        """`reference` in place: eps and the corrections are brought to where they are one number, not one an entry."""
        xp, lr, (b1, b2) = xp_of(p), group["lr"], group["betas"]
        m, v, *largest = moments
        c1, c2 = 1 - b1**t, math.sqrt(1 - b2**t)
        decoupled = group["decoupled_weight_decay"]
        g = slope(p, g, group, decay=not decoupled)
        if decoupled and group["weight_decay"]:
            p *= 1 - lr * group["weight_decay"]
        s = (1 - b1) * g
        m *= b1
        m += s
        xp.multiply(g, g, out=s)
        s *= 1 - b2
        v *= b2
        v += s
        for most in largest:
            xp.maximum(most, v, out=most)
            v = most
        xp.sqrt(v, out=s)
        s += group["eps"] * c2
        xp.divide(m, s, out=s)
        s *= lr * c2 / c1
        p -= s

    def summary(self, p: Tensor) -> dict[str, float]:
        """m_hat: rms of the first moment; v_hat: root of the mean second moment, both corrected; effective_lr: lr / (v_hat + eps)."""
        entry, group = self.state.get(p), self._group_of(p)
        if not entry or not entry["step"]:
            return dict.fromkeys(self.columns, math.nan)
        b1, b2 = group["betas"]
        t, v = entry["step"], entry[self.moments_of(group)[-1]]
        v_hat = math.sqrt(mean(v) / (1 - b2**t))
        return {"m_hat": rms(entry["exp_avg"]) / (1 - b1**t), "v_hat": v_hat, "effective_lr": group["lr"] / (v_hat + group["eps"])}


class AdamW(Adam):
    """Adam with weight decay that acts on the parameter itself: p <- p - lr weight_decay p, then Adam's step.

    Inside Adam the decay is divided by the gradient's usual size, so that entries with large gradients hardly decay.

    Source: Loshchilov and Hutter 2019, arXiv:1711.05101, algorithm 2; the decay is scaled by lr, as in PyTorch.

    >>> AdamW([Tensor([1.0], requires_grad=True)]).param_groups[0]["weight_decay"]
    0.01
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, decoupled_weight_decay=True)
