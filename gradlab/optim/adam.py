"""Adam and AdamW."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from .._tensor import Tensor
from ..backend import Array, Device, device_of, quiet, xp_of
from ..errors import ArgumentError, KeywordError, explain
from ..ops.argument import need_number
from .flat import SMALL, Flat, parts
from .moment import mean, rms
from .optimizer import Group, Optimizer, Params


class Adam(Optimizer):
    """Gradient descent with a step size for every entry: its mean gradient over the size its gradients usually have.

    g <- g + weight_decay p
    m <- b1 m + (1 - b1) g;      m_hat = m / (1 - b1^t)
    v <- b2 v + (1 - b2) g^2;    v_hat = v / (1 - b2^t)
    p <- p - lr m_hat / (sqrt(v_hat) + eps)

    t counts the steps of each parameter by itself: those in which it had a gradient.

    Source: Kingma and Ba 2015, arXiv:1412.6980, algorithm 1.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> optimizer = Adam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.data.round(3)
    array([0.9], dtype=float32)
    """

    columns: tuple[str, ...] = ("m_hat", "v_hat", "effective_lr")
    remembers: ClassVar[tuple[str, ...] | None] = ("step", "exp_avg", "exp_avg_sq")
    decoupled: ClassVar[bool] = False  # whether weight decay acts on the parameter itself, past the moments

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self._flats: dict[Tensor, Flat] = {}  # by the first of its parameters, which it keeps alive

    def _check(self, group: Group) -> None:
        name = type(self).__name__
        need_number(name, **{option: group[option] for option in ("lr", "eps", "weight_decay")})
        for option in ("lr", "eps", "weight_decay"):
            if not group[option] >= 0:
                raise ArgumentError(explain(f"{name}: {option} can't be negative", got={option: group[option]}, need=">= 0"))
        if not isinstance(group["betas"], (tuple, list)):
            raise KeywordError(explain(f"{name}: one beta for each moment", got={"betas": repr(group["betas"])}, need="two numbers"))
        need_number(name, **{f"b{i}": b for i, b in enumerate(group["betas"], 1)})
        if len(group["betas"]) != 2 or not all(0 <= b < 1 for b in group["betas"]):
            raise ArgumentError(
                explain(f"{name}: betas say how much of each moment is kept", got={"betas": group["betas"]}, need="two numbers, 0 <= b < 1")
            )

    @classmethod
    def reference(
        cls, p: Array, g: Array, m: Array, v: Array, t: int, *, lr: float, betas: tuple[float, float], eps: float, weight_decay: float
    ) -> tuple[Array, Array, Array]:
        """The formula as it is printed: new p, m, v at step t, as new arrays. `step` computes the same in place."""
        b1, b2 = betas
        if cls.decoupled:
            p = p - lr * weight_decay * p
        else:
            g = g + weight_decay * p
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        m_hat, v_hat = m / (1 - b1**t), v / (1 - b2**t)
        return p - lr * m_hat / (xp_of(v).sqrt(v_hat) + eps), m, v

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient; returns what `closure` returned."""
        loss = None if closure is None else closure()
        with quiet():  # NaN and Inf in gradients are data
            for group, moving in self._moving():
                together: dict[tuple[int, Any, Device], list[Tensor]] = {}  # small ones of one dtype and device, and as many steps
                for p in moving:
                    t = self._counted(p)
                    if p._data.size < SMALL:
                        together.setdefault((t, p._data.dtype, device_of(p._data)), []).append(p)
                    else:
                        self._move_large(p, t, group)
                for (t, *_), parameters in together.items():
                    self._move_small(parameters, t, group)
        return loss

    def _counted(self, p: Tensor) -> int:
        """Count a step of `p`; its moments start at 0 and follow it to another dtype or device."""
        entry, data = self.state.get(p), p._data
        if not entry:
            xp = xp_of(data)
            entry = self.state[p] = {"step": 0, "exp_avg": xp.zeros(data.shape, data.dtype), "exp_avg_sq": xp.zeros(data.shape, data.dtype)}
        m = entry["exp_avg"]
        if m.shape != data.shape or m.dtype != data.dtype or m.device != data.device:
            entry["exp_avg"], entry["exp_avg_sq"] = self._fitted(p, m), self._fitted(p, entry["exp_avg_sq"])
        entry["step"] = t = entry["step"] + 1
        return t

    def _move_small(self, parameters: list[Tensor], t: int, group: Group) -> None:
        flat = self._flats.get(parameters[0])
        if flat is None or not flat.serves(parameters, self.state):
            flat = self._flats[parameters[0]] = Flat(parameters, self.state)
        flat.gather()
        for part in parts(flat.p.size):
            self._move(flat.p[part], flat.g[part], flat.m[part], flat.v[part], t, group)
        flat.scatter()

    def _move_large(self, p: Tensor, t: int, group: Group) -> None:
        entry, g = self.state[p], p._grad
        arrays = (p._data, entry["exp_avg"], entry["exp_avg_sq"])
        if all(x.flags.c_contiguous for x in arrays):
            data, m, v = [x.reshape(-1) for x in arrays]
            g = g.reshape(-1)  # type: ignore[union-attr]
            for part in parts(data.size):
                self._move(data[part], g[part], m[part], v[part], t, group)
        else:  # a flat view of it would be a copy
            self._move(p._data, g, entry["exp_avg"], entry["exp_avg_sq"], t, group)
        p.bump()

    def _move(self, p: Array, g: Array, m: Array, v: Array, t: int, group: Group) -> None:
        """`reference` in place: eps and the corrections are brought to where they are one number, not one an entry."""
        xp, lr, (b1, b2), decay = xp_of(p), group["lr"], group["betas"], group["weight_decay"]
        c1, c2 = 1 - b1**t, math.sqrt(1 - b2**t)
        if decay and self.decoupled:
            p *= 1 - lr * decay
        elif decay:
            g = g + decay * p
        s = (1 - b1) * g
        m *= b1
        m += s
        xp.multiply(g, g, out=s)
        s *= 1 - b2
        v *= b2
        v += s
        xp.sqrt(v, out=s)
        s += group["eps"] * c2
        xp.divide(m, s, out=s)
        s *= lr * c2 / c1
        p -= s

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:  # noqa: D102 (explained in Optimizer)
        super().load_state_dict(state_dict)
        self._flats.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_flats": {}}  # a copy's moments would no longer be views into the copy's long arrays

    def summary(self, p: Tensor) -> dict[str, float]:
        """m_hat: rms of the first moment; v_hat: root of the mean second moment, both corrected; effective_lr: lr / (v_hat + eps)."""
        entry, group = self.state.get(p), self._group_of(p)
        if not entry or not entry["step"]:
            return dict.fromkeys(self.columns, math.nan)
        b1, b2 = group["betas"]
        t = entry["step"]
        v_hat = math.sqrt(mean(entry["exp_avg_sq"]) / (1 - b2**t))
        return {"m_hat": rms(entry["exp_avg"]) / (1 - b1**t), "v_hat": v_hat, "effective_lr": group["lr"] / (v_hat + group["eps"])}


class AdamW(Adam):
    """Adam with weight decay that acts on the parameter itself: p <- p - lr weight_decay p, then Adam's step.

    Inside Adam the decay is divided by the gradient's usual size, so that entries with large gradients hardly decay.

    Source: Loshchilov and Hutter 2019, arXiv:1711.05101, algorithm 2; the decay is scaled by lr, as in PyTorch.

    >>> AdamW([Tensor([1.0], requires_grad=True)]).param_groups[0]["weight_decay"]
    0.01
    """

    decoupled: ClassVar[bool] = True

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.01
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)
