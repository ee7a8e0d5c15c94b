"""The limit for networks on sequences: forward and backward by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problems import BATCH, FEATURES, HEADS, LAYERS, TOKENS, F, Net
from ..problems import gpt as gpt_problem
from ..problems import lstm as lstm_problem
from .numpy_by_hand import AdamW, cross_entropy, gelu, gelu_backward

Step = Callable[[], float]


def _norm(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Layer norm: y, and x̂ and 1/σ for backward; the means are products with a vector."""
    mean = np.full(x.shape[-1], F(1 / x.shape[-1]))
    hat = x - (x @ mean)[:, None]
    r = 1 / np.sqrt(np.einsum("ij,ij->i", hat, hat) * F(1 / x.shape[-1]) + F(1e-5))
    hat *= r[:, None]
    y = hat * scale
    y += shift
    return y, hat, r


def _norm_backward(g: np.ndarray, hat: np.ndarray, r: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """dx, dscale, dshift."""
    n = F(g.shape[-1])
    dscale, dshift = np.einsum("ij,ij->j", g, hat), g.sum(0)
    d = g * scale
    mean, slope = d.sum(1) / n, np.einsum("ij,ij->i", d, hat) / n
    d -= mean[:, None]
    d -= hat * slope[:, None]
    d *= r[:, None]
    return d, dscale, dshift


class Attention:
    """Causal, on (batch, head, token, feature)."""

    def __init__(self) -> None:
        self.hidden = np.triu(np.ones((TOKENS, TOKENS), bool), 1)

    def forward(self, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        s = q @ k.swapaxes(-1, -2)
        s *= F(q.shape[-1] ** -0.5)
        s[..., self.hidden] = -np.inf
        s -= s.max(-1, keepdims=True)
        np.exp(s, out=s)
        s /= s.sum(-1, keepdims=True)
        self.kept = q, k, v, s
        return s @ v

    def backward(self, g: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q, k, v, p = self.kept
        dv = p.swapaxes(-1, -2) @ g
        d = g @ v.swapaxes(-1, -2)
        d -= np.einsum("...ij,...ij->...i", d, p)[..., None]
        d *= p
        d *= F(q.shape[-1] ** -0.5)
        return d @ k, d.swapaxes(-1, -2) @ q, dv


def _split(x: np.ndarray) -> tuple[np.ndarray, ...]:
    """(row, 3 x feature) as q, k, v, each (batch, head, token, feature of a head)."""
    parts = x.reshape(BATCH, TOKENS, 3, HEADS, FEATURES // HEADS).transpose(2, 0, 3, 1, 4)
    return tuple(np.ascontiguousarray(part) for part in parts)


def gpt() -> Step:
    weights, tokens, wanted = gpt_problem()
    names = list(weights)
    optimizer = AdamW(Net([tuple(weights.values())], tokens, wanted))  # type: ignore[list-item]
    p, g = [dict(zip(names, views, strict=True)) for views in (optimizer.views, optimizer.grads)]
    tokens, wanted = tokens.reshape(-1), wanted.reshape(-1)
    rows = len(tokens)
    attentions = [Attention() for _ in range(LAYERS)]
    shape = BATCH, HEADS, TOKENS, FEATURES // HEADS

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        y = x @ p[name]
        y += p[f"{name}_bias"]
        return y

    def linear_backward(d: np.ndarray, x: np.ndarray, name: str) -> np.ndarray:
        np.matmul(x.T, d, out=g[name])
        np.sum(d, axis=0, out=g[f"{name}_bias"])
        return d @ p[name].T

    def step() -> float:
        h = p["embed"][tokens]
        h.reshape(BATCH, TOKENS, FEATURES)[...] += p["place"]
        kept = []
        for i in range(LAYERS):
            n1, hat1, r1 = _norm(h, p[f"{i}.norm1"], p[f"{i}.norm1_bias"])
            a = attentions[i].forward(*_split(linear(n1, f"{i}.qkv")))  # type: ignore[arg-type]
            a = a.transpose(0, 2, 1, 3).reshape(rows, FEATURES)
            h = h + linear(a, f"{i}.out")
            n2, hat2, r2 = _norm(h, p[f"{i}.norm2"], p[f"{i}.norm2_bias"])
            z = linear(n2, f"{i}.up")
            u, t = gelu(z)
            h = h + linear(u, f"{i}.down")
            kept.append((n1, hat1, r1, a, n2, hat2, r2, z, u, t))
        n, hat, r = _norm(h, p["scale"], p["shift"])
        loss, d = cross_entropy(n @ p["head"], wanted)
        np.matmul(n.T, d, out=g["head"])
        d, g["scale"][...], g["shift"][...] = _norm_backward(d @ p["head"].T, hat, r, p["scale"])
        for i in reversed(range(LAYERS)):
            n1, hat1, r1, a, n2, hat2, r2, z, u, t = kept.pop()
            du = gelu_backward(linear_backward(d, u, f"{i}.down"), z, t)
            dn, g[f"{i}.norm2"][...], g[f"{i}.norm2_bias"][...] = _norm_backward(
                linear_backward(du, n2, f"{i}.up"), hat2, r2, p[f"{i}.norm2"]
            )
            d += dn
            da = linear_backward(d, a, f"{i}.out").reshape(BATCH, TOKENS, HEADS, -1).transpose(0, 2, 1, 3)
            dqkv = np.empty((3, *shape), F)
            dqkv[0], dqkv[1], dqkv[2] = attentions[i].backward(np.ascontiguousarray(da))
            dqkv = dqkv.transpose(1, 3, 0, 2, 4).reshape(rows, 3 * FEATURES)
            dn, g[f"{i}.norm1"][...], g[f"{i}.norm1_bias"][...] = _norm_backward(
                linear_backward(dqkv, n1, f"{i}.qkv"), hat1, r1, p[f"{i}.norm1"]
            )
            d += dn
        np.sum(d.reshape(BATCH, TOKENS, FEATURES), axis=0, out=g["place"])
        chosen = np.zeros((rows, len(p["embed"])), F)
        chosen[np.arange(rows), tokens] = 1
        np.matmul(chosen.T, d, out=g["embed"])
        optimizer.step()
        return loss

    return step


def _sigmoid(x: np.ndarray) -> None:
    x *= 0.5
    np.tanh(x, out=x)
    x *= 0.5
    x += 0.5


def lstm() -> Step:
    (w_ih, w_hh, b_ih, b_hh), x, t = lstm_problem()
    steps, batch, n = x.shape
    flat = x.reshape(steps * batch, n)

    def step() -> float:
        gates = (flat @ w_ih.T).reshape(steps, batch, 4 * n)
        gates += b_ih + b_hh
        hs, cs, ths = np.zeros((steps + 1, batch, n), F), np.zeros((steps + 1, batch, n), F), np.empty((steps, batch, n), F)
        w = np.ascontiguousarray(w_hh.T)
        for k in range(steps):
            a = gates[k]
            a += hs[k] @ w
            _sigmoid(a[:, : 2 * n])
            np.tanh(a[:, 2 * n : 3 * n], out=a[:, 2 * n : 3 * n])
            _sigmoid(a[:, 3 * n :])
            np.multiply(a[:, n : 2 * n], cs[k], out=cs[k + 1])
            cs[k + 1] += a[:, :n] * a[:, 2 * n : 3 * n]
            np.tanh(cs[k + 1], out=ths[k])
            np.multiply(a[:, 3 * n :], ths[k], out=hs[k + 1])
        loss = float((hs[-1] * t).mean())
        dh, dc = t * F(1 / t.size), np.zeros((batch, n), F)
        d = np.empty_like(gates)
        for k in reversed(range(steps)):
            i, f, c, o = gates[k, :, :n], gates[k, :, n : 2 * n], gates[k, :, 2 * n : 3 * n], gates[k, :, 3 * n :]
            th = ths[k]
            dc += dh * o * (1 - th * th)
            e = d[k]
            np.multiply(dc * c, i * (1 - i), out=e[:, :n])
            np.multiply(dc * cs[k], f * (1 - f), out=e[:, n : 2 * n])
            np.multiply(dc * i, 1 - c * c, out=e[:, 2 * n : 3 * n])
            np.multiply(dh * th, o * (1 - o), out=e[:, 3 * n :])
            dc *= f
            dh = e @ w_hh
        d = d.reshape(steps * batch, 4 * n)
        _ = d.T @ flat, d.T @ hs[:-1].reshape(steps * batch, n), d.sum(0), d @ w_ih
        return loss

    return step
