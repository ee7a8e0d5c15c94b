"""The limit for networks on images: forward and backward by hand, channels last."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..problems import F
from ..problems import cnn as cnn_problem
from ..problems import residual as residual_problem
from .numpy_by_hand import cross_entropy

Step = Callable[[], float]
CACHE = 1 << 19  # bytes: what the columns of some samples should fit in


class Conv3x3:
    """3 x 3, padding 1, (sample, height, width, channel): columns along the width alone, then one product a kernel row."""

    def __init__(self, w: np.ndarray) -> None:
        self.w = w  # (3, 3, in, out)
        self.flipped = np.ascontiguousarray(w[::-1, ::-1].transpose(0, 1, 3, 2))

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.x = x
        return _convolved(x, self.w)

    def backward(self, g: np.ndarray, need_x: bool = True) -> tuple[np.ndarray, np.ndarray | None]:
        """dw, dx."""
        _, height, width, channels = self.x.shape
        out = g.shape[-1]
        dw = np.zeros((3, 3 * channels, out), F)
        for part, columns in _columns(self.x):
            rows = g[part].reshape(-1, height * width, out)
            for k in range(3):
                for c, r in zip(columns[:, k : k + height], rows, strict=True):
                    dw[k] += c.reshape(height * width, -1).T @ r
        return dw.reshape(self.w.shape), _convolved(g, self.flipped) if need_x else None


def _columns(x: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """For samples that fit in the cache together: (sample, height + 2, width, 3, channel), three neighbours side by side."""
    n, height, width, channels = x.shape
    size = max(1, CACHE // ((height + 2) * width * 3 * channels * 4))
    buffer = np.zeros((min(size, n), height + 2, width, 3, channels), F)
    for start in range(0, n, size):
        part = slice(start, min(start + size, n))
        columns = buffer[: part.stop - start]
        columns[:, 1:-1, 1:, 0] = x[part, :, :-1]
        columns[:, 1:-1, :, 1] = x[part]
        columns[:, 1:-1, :-1, 2] = x[part, :, 1:]
        yield part, columns


def _convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    n, height, width, channels = x.shape
    out = np.empty((n, height * width, w.shape[-1]), F)
    rows = w.reshape(3, 3 * channels, -1)
    more = None
    for part, columns in _columns(x):
        y = out[part]
        if more is None or len(more) != len(y):
            more = np.empty_like(y)
        for k in range(3):
            c = columns[:, k : k + height].reshape(len(y), height * width, -1)
            if k:
                y += np.matmul(c, rows[k], out=more)
            else:
                np.matmul(c, rows[0], out=y)
    return out.reshape(n, height, width, -1)


def _pooled(x: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """The largest of 2 x 2, and for each of the four whether it was the first such."""
    corners = x[:, ::2, ::2], x[:, ::2, 1::2], x[:, 1::2, ::2], x[:, 1::2, 1::2]
    y = np.maximum(np.maximum(corners[0], corners[1]), np.maximum(corners[2], corners[3]))
    masks, free = [], np.ones(y.shape, bool)
    for corner in corners:
        mask = corner == y
        mask &= free
        free ^= mask
        masks.append(mask)
    return y, tuple(masks)


def _unpooled(g: np.ndarray, masks: tuple[np.ndarray, ...]) -> np.ndarray:
    n, height, width, channels = g.shape
    dx = np.empty((n, 2 * height, 2 * width, channels), F)
    for (i, j), mask in zip(((0, 0), (0, 1), (1, 0), (1, 1)), masks, strict=True):
        np.multiply(g, mask, out=dx[:, i::2, j::2])
    return dx


def cnn() -> Step:
    (w1, b1, w2, b2, w3, b3), x, y = cnn_problem()
    first = np.ascontiguousarray(w1.transpose(2, 3, 1, 0)).reshape(9, 16)
    second = Conv3x3(np.ascontiguousarray(w2.transpose(2, 3, 1, 0)))
    last = np.ascontiguousarray(w3.reshape(32, 7, 7, 10).transpose(1, 2, 0, 3)).reshape(1568, 10)
    images = x[:, 0]

    def step() -> float:
        padded = np.zeros((64, 30, 30), F)
        padded[:, 1:-1, 1:-1] = images
        columns = np.empty((64, 28, 28, 9), F)
        for k in range(9):
            columns[..., k] = padded[:, k // 3 : k // 3 + 28, k % 3 : k % 3 + 28]
        h1 = (columns.reshape(-1, 9) @ first).reshape(64, 28, 28, 16)
        h1 += b1
        np.maximum(h1, 0, out=h1)
        p1, masks1 = _pooled(h1)
        h2 = second.forward(p1)
        h2 += b2
        np.maximum(h2, 0, out=h2)
        p2, masks2 = _pooled(h2)
        flat = p2.reshape(64, 1568)
        loss, d = cross_entropy(flat @ last + b3, y)
        grads = [flat.T @ d, d.sum(0)]
        d = _unpooled((d @ last.T).reshape(p2.shape), masks2)
        d *= h2 > 0
        grads.append(d.reshape(-1, 32).sum(0))
        dw2, d1 = second.backward(d)
        d = _unpooled(d1, masks1)
        d *= h1 > 0
        d = d.reshape(-1, 16)
        grads += [dw2, d.sum(0), columns.reshape(-1, 9).T @ d]
        return loss

    return step


def residual() -> Step:
    (w, scale, shift), x, t = residual_problem()
    x, t = [np.ascontiguousarray(a.transpose(0, 2, 3, 1)) for a in (x, t)]
    conv = Conv3x3(np.ascontiguousarray(w.transpose(2, 3, 1, 0)))
    n = x.size // 64
    ones = np.ones(n, F)

    def step() -> float:
        c = conv.forward(x).reshape(n, 64)
        mean = ones @ c / F(n)
        c -= mean
        var = np.einsum("ij,ij->j", c, c) / F(n)
        r = 1 / np.sqrt(var + F(1e-5))
        y = c * (scale * r)
        y += shift
        y += x.reshape(n, 64)
        np.maximum(y, 0, out=y)
        loss = float(np.vdot(y, t.reshape(n, 64)))
        g = t.reshape(n, 64) * (y > 0)
        dshift = ones @ g
        dscale = np.einsum("ij,ij->j", g, c) * r
        d = g - dshift / F(n)
        c *= dscale * r / F(n)
        d -= c
        d *= scale * r
        _, dx = conv.backward(d.reshape(x.shape))
        dx += g.reshape(x.shape)  # type: ignore[operator]
        return loss

    return step
