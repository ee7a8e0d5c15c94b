"""The limit: forward and backward written by hand in NumPy, without any tape, in reused buffers where that pays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problems import F, Net, chain, net

Step = Callable[[], float]
C = 0.7978845608028654  # sqrt(2 / pi), of the tanh form of GELU


def gelu(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """y and the tanh inside, kept for backward."""
    t = x * x
    t *= 0.044715
    t += 1.0
    t *= x
    t *= C
    np.tanh(t, out=t)
    y = t + 1.0
    y *= x
    y *= 0.5
    return y, t


def gelu_backward(g: np.ndarray, x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """g (0.5 (1 + t) + 0.5 x (1 - t^2) C (1 + 3 * 0.044715 x^2))."""
    d = x * x
    d *= 3 * 0.044715
    d += 1.0
    d *= C
    d *= x
    s = t * t
    np.subtract(1.0, s, out=s)
    d *= s
    d += t
    d += 1.0
    d *= 0.5
    d *= g
    return d


def cross_entropy(logits: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Mean loss and its gradient, in one buffer."""
    rows = np.arange(len(y))
    z = logits - logits.max(1, keepdims=True)
    picked = z[rows, y]
    np.exp(z, out=z)
    total = z.sum(1, keepdims=True)
    loss = float((np.log(total[:, 0]) - picked).mean())
    z /= total
    z[rows, y] -= 1.0
    z /= F(len(y))
    return loss, z


class AdamW:
    """Moments and parameters in one flat buffer; the layers hold views."""

    def __init__(self, problem: Net) -> None:
        self.lr, self.decay, self.t = problem.lr, problem.weight_decay, 0
        arrays = [a for layer in problem.layers for a in layer]
        self.flat = np.concatenate([a.ravel() for a in arrays])
        self.grad = np.empty_like(self.flat)
        self.m, self.v, self.s = np.zeros_like(self.flat), np.zeros_like(self.flat), np.empty_like(self.flat)
        self.views, self.grads = [], []
        at = 0
        for a in arrays:
            self.views.append(self.flat[at : at + a.size].reshape(a.shape))
            self.grads.append(self.grad[at : at + a.size].reshape(a.shape))
            at += a.size

    def step(self) -> None:
        self.t += 1
        g, m, v, s = self.grad, self.m, self.v, self.s
        self.flat *= 1 - self.lr * self.decay
        m *= 0.9
        np.multiply(g, 0.1, out=s)
        m += s
        v *= 0.999
        np.multiply(g, g, out=s)
        s *= 0.001
        v += s
        np.sqrt(v, out=s)
        s *= (1 - 0.999**self.t) ** -0.5
        s += 1e-8
        np.divide(m, s, out=s)
        s *= self.lr / (1 - 0.9**self.t)
        self.flat -= s


def _train(problem: Net, optimizer: AdamW, x: np.ndarray, y: np.ndarray, smooth: bool) -> float:
    w, g = optimizer.views, optimizer.grads
    n = len(w) // 2
    inputs, kept, z = [x], [], x
    for k in range(n):
        z = inputs[-1] @ w[2 * k]
        z += w[2 * k + 1]
        if k < n - 1:
            if smooth:
                h, t = gelu(z)
                kept.append((z, t))
            else:
                h = np.maximum(z, 0)
                kept.append((h,))
            inputs.append(h)
    loss, d = cross_entropy(z, y)
    for k in range(n - 1, -1, -1):
        np.matmul(inputs[k].T, d, out=g[2 * k])
        np.sum(d, axis=0, out=g[2 * k + 1])
        if k:
            d = d @ w[2 * k].T
            d = gelu_backward(d, *kept[k - 1]) if smooth else np.multiply(d, kept[k - 1][0] > 0, out=d)
    optimizer.step()
    return loss


def digits() -> Step:
    problem = net("digits")

    def step() -> float:
        optimizer = AdamW(problem)
        loss = 0.0
        for batch in problem.batches:
            loss = _train(problem, optimizer, problem.x[batch], problem.y[batch], True)
        return loss

    return step


def _infer(name: str) -> Step:
    problem = net(name)

    def step() -> float:
        h = problem.x
        for k, (w, b) in enumerate(problem.layers):
            h = h @ w
            h += b
            if k < len(problem.layers) - 1:
                h = gelu(h)[0]
        return float(h[0, 0])

    return step


def infer1() -> Step:
    return _infer("infer1")


def infer128() -> Step:
    return _infer("infer128")


def mlp8() -> Step:
    problem = net("mlp8")
    optimizer = AdamW(problem)
    return lambda: _train(problem, optimizer, problem.x, problem.y, False)


def mlp() -> Step:
    problem = net("mlp")
    (w1, b1), (w2, b2) = [(w.copy(), b.copy()) for w, b in problem.layers]
    x, y, lr = problem.x, problem.y, F(problem.lr)

    def step() -> float:
        h = x @ w1
        h += b1
        np.maximum(h, 0, out=h)
        z = h @ w2
        z += b2
        loss, d = cross_entropy(z, y)
        dh = d @ w2.T
        dh *= h > 0
        for p, g in ((w2, h.T @ d), (b2, d.sum(0)), (w1, x.T @ dh), (b1, dh.sum(0))):
            g *= lr
            p -= g
        return loss

    return step


def tiny() -> Step:
    problem = net("tiny")
    (w1, b1), (w2, b2) = [(w.copy(), b.copy()) for w, b in problem.layers]
    x, y, lr = problem.x, problem.y, F(problem.lr)

    def step() -> float:
        h = np.tanh(x @ w1 + b1)
        d = h @ w2 + b2 - y
        loss = float((d * d).mean())
        d *= F(2 / d.size)
        dh = d @ w2.T * (1 - h * h)
        for p, g in ((w2, h.T @ d), (b2, d.sum(0)), (w1, x.T @ dh), (b1, dh.sum(0))):
            p -= lr * g
        return loss

    return step


def _chain(n: int) -> Step:
    x, a, b = chain()
    k = n // 2
    ys = np.empty((k + 1, *x.shape), F)

    def step() -> float:
        ys[0] = x
        for i in range(k):
            y = ys[i + 1]
            np.multiply(ys[i], a, out=y)
            np.add(y, b, out=y)
        g, ga, gb, t = np.ones_like(x), np.zeros_like(a), np.zeros_like(b), np.empty_like(x)
        for i in range(k - 1, -1, -1):
            np.add(gb, g, out=gb)
            np.multiply(g, ys[i], out=t)
            np.add(ga, t, out=ga)
            np.multiply(g, a, out=g)
        return float(ys[k].sum())

    return step


def chain_400() -> Step:
    return _chain(400)


def deep() -> Step:
    return _chain(100_000)
