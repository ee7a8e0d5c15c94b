"""Convolutions, attention and recurrence for libraries with PyTorch's names: gradlab itself and torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..problems import BATCH, FEATURES, HEADS, LAYERS, TOKENS
from ..problems import cnn as cnn_problem
from ..problems import gpt as gpt_problem
from ..problems import lstm as lstm_problem
from ..problems import residual as residual_problem
from .tensors import LIBRARY, F, lib, optim

Step = Callable[[], float]


def _leaf(array: Any) -> Any:
    return lib.tensor(array, requires_grad=True)


def _forget(parameters: list[Any]) -> None:
    for p in parameters:
        p.grad = None


def cnn() -> Step:
    arrays, x, y = cnn_problem()
    parameters = w1, b1, w2, b2, w3, b3 = [_leaf(a) for a in arrays]
    x, y = lib.tensor(x), lib.tensor(y)

    def step() -> float:
        _forget(parameters)
        h = F.max_pool2d(F.relu(F.conv2d(x, w1, b1, padding=1)), 2)
        h = F.max_pool2d(F.relu(F.conv2d(h, w2, b2, padding=1)), 2)
        loss = F.cross_entropy(h.flatten(1) @ w3 + b3, y)
        loss.backward()
        return loss.item()

    return step


def residual() -> Step:
    arrays, x, t = residual_problem()
    parameters = w, scale, shift = [_leaf(a) for a in arrays]
    x, t = _leaf(x), lib.tensor(t)

    def step() -> float:
        _forget([x, *parameters])
        h = F.batch_norm(F.conv2d(x, w, padding=1), None, None, scale, shift, training=True)
        loss = (F.relu(h + x) * t).sum()
        loss.backward()
        return loss.item()

    return step


def gpt() -> Step:
    weights, tokens, wanted = gpt_problem()
    p = {name: _leaf(a) for name, a in weights.items()}
    tokens, wanted = lib.tensor(tokens), lib.tensor(wanted.reshape(-1))
    optimizer = optim.AdamW(list(p.values()), lr=1e-3, weight_decay=0.01)

    def norm(h: Any, name: str) -> Any:
        return F.layer_norm(h, (FEATURES,), p[name], p["shift" if name == "scale" else f"{name}_bias"])

    def linear(h: Any, name: str) -> Any:
        return h @ p[name] + p[f"{name}_bias"]

    def step() -> float:
        h = F.embedding(tokens, p["embed"]) + p["place"]
        for i in range(LAYERS):
            qkv = linear(norm(h, f"{i}.norm1"), f"{i}.qkv")
            q, k, v = qkv.reshape(BATCH, TOKENS, 3, HEADS, FEATURES // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(BATCH, TOKENS, FEATURES)
            h = h + linear(a, f"{i}.out")
            h = h + linear(F.gelu(linear(norm(h, f"{i}.norm2"), f"{i}.up"), approximate="tanh"), f"{i}.down")
        logits = norm(h, "scale") @ p["head"]
        loss = F.cross_entropy(logits.reshape(BATCH * TOKENS, -1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def lstm() -> Step:
    arrays, x, t = lstm_problem()
    parameters = [_leaf(a) for a in arrays]
    x, t = _leaf(x), lib.tensor(t)
    start = lib.zeros(*t.shape)

    def last(x: Any) -> Any:
        if LIBRARY == "torch":
            return lib.lstm(x, (start[None], start[None]), parameters, True, 1, 0.0, True, False, False)[1][0]
        return lib.lstm(x, (start, start), *parameters).h[-1]

    def step() -> float:
        _forget([x, *parameters])
        loss = (last(x) * t).mean()
        loss.backward()
        return loss.item()

    return step
