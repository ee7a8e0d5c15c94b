"""What an optimizer did to one parameter in its last step, in numbers that its state gives."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from time import monotonic
from types import MappingProxyType
from typing import Any

import numpy as np

from ..backend import Array, xp_of
from .timeline import MISSING

COLUMNS = ("g", "m_hat", "v_hat", "effective_lr", "update", "update:weight", "cos", "eps", "decay:gradient")
"""What `look` says of a parameter: root mean squares of g, m_hat (or the momentum), sqrt(v_hat) (or whatever root the method divides
by) and of the real update; lr / (v_hat + eps); the size of the update beside that of the weights before it; the cosine between the
update and -g (g where the loss is maximized); the share of entries whose sqrt(v_hat) is below eps; and how large the pull of weight
decay is beside that of the gradient."""

_LOOKED_AT_S = 5.0
_LEAST_S = 0.1
_LARGEST_SHARE = 20  # looks take at most a twentieth of the time


def look(optimizer: Any, p: Any, update: Array | None = None, *, lr: float | None = None, stale: bool = False) -> dict[str, float]:
    """The numbers of one parameter right after a step; those that the method has not are missing.

    Args:
        optimizer: knows the group of `p` and its state, by PyTorch's names: `exp_avg`, `exp_avg_sq` and `step`, `square_avg`,
            `sum`, or `momentum_buffer`.
        update: what the step really added to `p`; computed from the state where nobody measured it.
        lr: the learning rate of that step, where that of the group may be another one by now.
        stale: whether the gradient may be another one than that of the step: then what it says is missing.

    >>> import gradlab as gl
    >>> w = gl.tensor([3.0, 4.0], requires_grad=True)
    >>> optimizer = gl.optim.SGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> row = look(optimizer, w)
    >>> round(row["update:weight"], 3), round(row["cos"], 3)
    (0.2, 1.0)
    """
    row: dict[str, float] = dict.fromkeys(COLUMNS, MISSING)
    xp = xp_of(p._data)
    with np.errstate(all="ignore"):
        w = p._data.astype(xp.float64)
        g = None if p._grad is None or stale else p._grad.astype(xp.float64)
        group, state = optimizer._group_of(p), optimizer.state.get(p) or {}
        lr, decay = float(group.get("lr", math.nan) if lr is None else lr), float(group.get("weight_decay", 0.0))
        decoupled = bool(group.get("decoupled_weight_decay"))
        row["effective_lr"] = lr if lr == lr else MISSING
        if g is not None:
            row["g"] = _rms(g)
            g = -g if group.get("maximize") else g
        if "exp_avg_sq" in state:
            step = _adam(row, group, state, lr, xp)
        elif ("square_avg" in state and "alpha" in group) or ("sum" in state and "lr_decay" in group):
            step = _divided(row, group, state, g, w, lr, decay, xp)
        else:
            step = _momentum(row, group, state, g, w, lr, decay)
        if step is not None and decoupled and decay:
            step = (step - lr * decay * w) / (1 - lr * decay)  # w is what decay has shrunk already
        u = step if update is None else update.astype(xp.float64)
        if u is None:
            return row
        before = w - u
        row["update"] = _rms(u)
        row["update:weight"] = _quotient(_rms(u), _rms(before))
        if g is not None:
            row["cos"] = _quotient(-float(xp.vdot(u, g)), float(xp.sqrt(xp.vdot(u, u) * xp.vdot(g, g))))
            pulled, pulling = (lr * decay * before, u + lr * decay * before) if decoupled else (decay * before, g)
            row["decay:gradient"] = _quotient(_rms(pulled), _rms(pulling)) if decay else 0.0
    return row


def _adam(row: dict[str, float], group: Mapping[str, Any], state: Mapping[str, Any], lr: float, xp: Any) -> Array | None:
    """Fill in the moments; returns the step that they make."""
    t, (b1, b2), eps = state["step"], group["betas"], group["eps"]
    if not t:
        return None
    m_hat = state["exp_avg"].astype(xp.float64) / (1 - b1**t)
    v = state["max_exp_avg_sq" if group.get("amsgrad") else "exp_avg_sq"]
    root = xp.sqrt(v.astype(xp.float64) / (1 - b2**t))
    row["m_hat"] = _rms(m_hat)
    _note_root(row, root, lr, eps)
    return -lr * m_hat / (root + eps)


def _divided(
    row: dict[str, float], group: Mapping[str, Any], state: Mapping[str, Any], g: Array | None, w: Array, lr: float, decay: float, xp: Any
) -> Array | None:
    """Fill in what RMSprop or Adagrad divides by, and the momentum; returns the step that they make."""
    v, eps = state["sum" if "sum" in state else "square_avg"].astype(xp.float64), group["eps"]
    if "sum" in state:
        lr = lr / (1 + (state["step"] - 1) * group["lr_decay"])
    elif group["centered"]:
        v = v - state["grad_avg"].astype(xp.float64) ** 2
    root = xp.sqrt(v)
    _note_root(row, root, lr, eps)
    if group.get("momentum"):
        b = state["momentum_buffer"].astype(xp.float64)
        row["m_hat"] = _rms(b)
        return -lr * b
    if g is None:
        return None
    rates = lr / (root + eps)
    return -rates * (g + decay * w) / (1 - rates * decay)  # decay saw the weights before the step


def _note_root(row: dict[str, float], root: Array, lr: float, eps: float) -> None:
    row["v_hat"] = _rms(root)
    row["effective_lr"] = lr / (row["v_hat"] + eps)
    row["eps"] = float((root < eps).mean()) if root.size else 0.0


def _momentum(
    row: dict[str, float], group: Mapping[str, Any], state: Mapping[str, Any], g: Array | None, w: Array, lr: float, decay: float
) -> Array | None:
    """Fill in the momentum; returns the step of gradient descent, None where the method is another one."""
    if "dampening" not in group or g is None:
        return None
    b, momentum = state.get("momentum_buffer"), float(group["momentum"])
    if momentum and b is not None:
        b = b.astype(w.dtype)
        row["m_hat"] = _rms(b)
        if not group.get("nesterov"):
            return -lr * b
        g = g + momentum * b
    # With L2 decay the step is -lr (g + decay (w - step)): solved for the step, since w is known after it.
    return -lr * (g + decay * w) / (1 - lr * decay)


def _rms(x: Array) -> float:
    return math.sqrt(float(xp_of(x).vdot(x, x)) / x.size) if x.size else 0.0


def _quotient(a: float, b: float) -> float:
    return a / b if b else (math.inf if a > 0 else MISSING)


class Lens:
    """Looks at the steps of optimizers while a page asks: at full steps only, and never more than a twentieth of the time."""

    def __init__(self) -> None:
        self._until = self._next = 0.0
        self.seen: dict[int, tuple[int, dict[int, dict[str, float]]]] = {}  # id of an optimizer -> step, rows by serial

    def ask(self) -> None:
        """Go on looking, for some seconds."""
        self._until = monotonic() + _LOOKED_AT_S

    @property
    def wanted(self) -> bool:
        """Whether the next full step is to be looked at."""
        return self._until > 0 and self._next < monotonic() < self._until

    def look(
        self,
        optimizer: Any,
        moved: list[tuple[Any, Array | None]],
        step: int,
        rates: Mapping[int, float] = MappingProxyType({}),
        stale: Collection[int] = (),
    ) -> None:
        """Look at what moved in this step; its learning rates, and whose gradients may be others by now, by id()."""
        began = monotonic()
        self.seen[id(optimizer)] = (
            step,
            {
                p.serial: look(optimizer, p, update, lr=rates.get(id(p)), stale=id(p) in stale)
                for p, update in moved
                if p._data.dtype.kind == "f"
            },
        )
        ended = monotonic()
        self._next = ended + max(_LEAST_S, _LARGEST_SHARE * (ended - began))
