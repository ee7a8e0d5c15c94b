"""The workloads for libraries without PyTorch's names: loss functions of a few operations that each library gives in its own way.

Tensors of all three know `+ - * @`, indexing, `reshape`, `transpose(axes)`, `sum()` and `mean()`; the rest is an `Operations`. None of
them has an LSTM; AdamW is the one below for all, written into the arrays that the library keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from .. import problems
from ..problems import BATCH, FEATURES, HEADS, LAYERS, TOKENS

Step = Callable[[], float]
Loss = Callable[..., Any]
LR, DECAY = 1e-3, 0.01


class Differentiated(Protocol):
    """A loss with its parameters: `arrays` are those that the next call computes with, so an update writes into them."""

    arrays: list[np.ndarray]

    def __call__(self, *inputs: Any) -> tuple[float, list[np.ndarray]]:
        """The loss, and the gradient of each parameter."""
        ...


class Operations(Protocol):
    """What a library calls things. Weights of convolutions are (out, in, 3, 3), padding 1; pooling is 2 x 2; norms are of width 1e-5."""

    def differentiate(self, loss: Loss, arrays: Sequence[np.ndarray]) -> Differentiated: ...
    def constant(self, array: np.ndarray) -> Any: ...
    def relu(self, x: Any) -> Any: ...
    def tanh(self, x: Any) -> Any: ...
    def sigmoid(self, x: Any) -> Any: ...
    def gelu(self, x: Any) -> Any: ...
    def softmax(self, x: Any) -> Any: ...
    def cross_entropy(self, logits: Any, y: np.ndarray) -> Any: ...
    def conv(self, x: Any, w: Any) -> Any: ...
    def pool(self, x: Any) -> Any: ...
    def batch_norm(self, x: Any, scale: Any, shift: Any) -> Any: ...
    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any: ...


class AdamW:
    """Loshchilov and Hutter 2019, as PyTorch computes it; writes into the arrays."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.arrays, self.t = arrays, 0
        self.m = [np.zeros_like(a) for a in arrays]
        self.v = [np.zeros_like(a) for a in arrays]

    def step(self, grads: list[np.ndarray]) -> None:
        self.t += 1
        size, root = LR / (1 - 0.9**self.t), (1 - 0.999**self.t) ** 0.5
        for p, m, v, g in zip(self.arrays, self.m, self.v, grads, strict=True):
            p *= 1 - LR * DECAY
            m *= 0.9
            m += 0.1 * g
            v *= 0.999
            v += 0.001 * (g * g)
            p -= size * m / (np.sqrt(v) / root + 1e-8)


def by_name(o: Operations) -> Callable[[str], Callable[[], Step]]:
    """The `__getattr__` of a module that has every workload."""

    def get(name: str) -> Callable[[], Step]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda: workload(o, name)

    return get


def workload(o: Operations, name: str) -> Step:
    """The step of a workload with the operations of a library."""
    if name in ("digits", "infer1", "infer128"):
        return (_digits if name == "digits" else _inference)(o, name)
    if name in ("chain_400", "deep"):
        return _chain(o, 400 if name == "chain_400" else 100_000)
    if name in ("cnn", "residual", "lstm"):
        arrays, x, t = getattr(problems, name)()
        if name == "cnn":
            f = o.differentiate(lambda *p: _cnn(o, p, o.constant(x), t), arrays)
        elif name == "residual":
            f = o.differentiate(lambda *p: _residual(o, p, o.constant(t)), [x, *arrays])
        else:
            f = o.differentiate(lambda *p: _lstm(o, p, o.constant(t)), [x, arrays[0].T.copy(), arrays[1].T.copy(), *arrays[2:]])
        return lambda: f()[0]
    if name == "gpt":
        weights, tokens, wanted = problems.gpt()
        names = list(weights)
        f = o.differentiate(lambda *p: _gpt(o, dict(zip(names, p, strict=True)), tokens, wanted), [weights[k] for k in names])
        return _descent(f, AdamW(f.arrays).step)
    if name in ("mlp", "mlp8", "tiny"):
        problem = problems.net(name)
        act, loss_of = (o.tanh, _squares) if name == "tiny" else (o.relu, o.cross_entropy)
        y = o.constant(problem.y) if name == "tiny" else problem.y
        f = o.differentiate(lambda *p: loss_of(_mlp(p, o.constant(problem.x), act), y), _flat(problem))
        return _descent(f, AdamW(f.arrays).step if name == "mlp8" else lambda grads: _descend(f.arrays, grads, problem.lr))
    raise AttributeError(name)


def _descent(f: Differentiated, update: Callable[[list[np.ndarray]], None]) -> Step:
    def step() -> float:
        loss, grads = f()
        update(grads)
        return loss

    return step


def _descend(arrays: list[np.ndarray], grads: list[np.ndarray], lr: float) -> None:
    for p, g in zip(arrays, grads, strict=True):
        p -= lr * g


def _flat(problem: problems.Net) -> list[np.ndarray]:
    return [a.copy() for layer in problem.layers for a in layer]


def _squares(h: Any, y: Any) -> Any:
    d = h - y
    return (d * d).mean()


def _mlp(p: Sequence[Any], h: Any, activation: Callable[[Any], Any]) -> Any:
    for i in range(0, len(p), 2):
        h = h @ p[i] + p[i + 1]
        if i < len(p) - 2:
            h = activation(h)
    return h


def _digits(o: Operations, name: str) -> Step:
    problem = problems.net(name)

    def step() -> float:
        f = o.differentiate(lambda x, y, *p: o.cross_entropy(_mlp(p, o.constant(x), o.gelu), y), _flat(problem))
        optimizer, loss = AdamW(f.arrays), 0.0
        for batch in problem.batches:
            loss, grads = f(problem.x[batch], problem.y[batch])
            optimizer.step(grads)
        return loss

    return step


def _inference(o: Operations, name: str) -> Step:
    problem = problems.net(name)
    p = [o.constant(a) for a in _flat(problem)]

    def step() -> float:
        h = _mlp(p, o.constant(problem.x), o.gelu)
        return float(getattr(h, "data", h)[0, 0])

    return step


def _chain(o: Operations, n: int) -> Step:
    def loss(x: Any, a: Any, b: Any) -> Any:
        for _ in range(n // 2):
            x = x * a
            x = x + b
        return x.sum()

    f = o.differentiate(loss, problems.chain())
    return lambda: f()[0]


def _cnn(o: Operations, p: Sequence[Any], x: Any, y: np.ndarray) -> Any:
    w1, b1, w2, b2, w3, b3 = p
    h = o.pool(o.relu(o.conv(x, w1) + b1.reshape(1, -1, 1, 1)))
    h = o.pool(o.relu(o.conv(h, w2) + b2.reshape(1, -1, 1, 1)))
    return o.cross_entropy(h.reshape(len(y), -1) @ w3 + b3, y)


def _residual(o: Operations, p: Sequence[Any], t: Any) -> Any:
    x, w, scale, shift = p
    return (o.relu(o.batch_norm(o.conv(x, w), scale, shift) + x) * t).sum()


def _gpt(o: Operations, p: dict[str, Any], tokens: np.ndarray, wanted: np.ndarray) -> Any:
    width, mask = FEATURES // HEADS, o.constant(np.triu(np.full((TOKENS, TOKENS), -1e9, np.float32), 1))

    def linear(h: Any, name: str) -> Any:
        return h @ p[name] + p[f"{name}_bias"]

    def norm(h: Any, name: str) -> Any:
        return o.layer_norm(h, p[name], p[f"{name}_bias"])

    h = p["embed"][tokens] + p["place"]
    for i in range(LAYERS):
        qkv = linear(norm(h, f"{i}.norm1"), f"{i}.qkv").reshape(BATCH, TOKENS, 3, HEADS, width).transpose((2, 0, 3, 1, 4))
        q, k, v = qkv[0], qkv[1], qkv[2]
        a = o.softmax(q @ k.transpose((0, 1, 3, 2)) * width**-0.5 + mask) @ v
        h = h + linear(a.transpose((0, 2, 1, 3)).reshape(BATCH, TOKENS, FEATURES), f"{i}.out")
        h = h + linear(o.gelu(linear(norm(h, f"{i}.norm2"), f"{i}.up")), f"{i}.down")
    logits = o.layer_norm(h, p["scale"], p["shift"]) @ p["head"]
    return o.cross_entropy(logits.reshape(BATCH * TOKENS, -1), wanted.reshape(-1))


def _lstm(o: Operations, p: Sequence[Any], t: Any) -> Any:
    x, w_ih, w_hh, b_ih, b_hh = p
    n, h, c = t.shape[1], None, None
    for i in range(x.shape[0]):
        z = x[i] @ w_ih + b_ih + b_hh
        if h is not None:
            z = z + h @ w_hh
        new = o.sigmoid(z[:, :n]) * o.tanh(z[:, 2 * n : 3 * n])
        c = new if c is None else o.sigmoid(z[:, n : 2 * n]) * c + new
        h = o.sigmoid(z[:, 3 * n :]) * o.tanh(c)
    return (h * t).mean()
