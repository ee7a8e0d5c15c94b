"""HIPS autograd, which differentiates NumPy code; optional. It has no batch norm, and convolves by `scipy.signal`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd import value_and_grad
from autograd.scipy import signal

from .functions import Loss, Step, by_name


class _Differentiated:
    def __init__(self, loss: Loss, arrays: Sequence[np.ndarray]) -> None:
        self.arrays = [np.array(a) for a in arrays]
        self._slope = value_and_grad(lambda arrays, inputs: loss(*inputs, *arrays))

    def __call__(self, *inputs: Any) -> tuple[float, list[np.ndarray]]:
        loss, grads = self._slope(self.arrays, inputs)
        return float(loss), grads


class _Operations:
    differentiate = _Differentiated
    tanh = staticmethod(anp.tanh)

    def constant(self, array: np.ndarray) -> np.ndarray:
        return array

    def relu(self, x: Any) -> Any:
        return anp.maximum(x, 0.0)

    def sigmoid(self, x: Any) -> Any:
        return 0.5 * (anp.tanh(0.5 * x) + 1.0)

    def gelu(self, x: Any) -> Any:
        return 0.5 * x * (1.0 + anp.tanh(0.7978845608 * (x + 0.044715 * (x * x * x))))

    def softmax(self, x: Any) -> Any:
        e = anp.exp(x - anp.max(x, -1, keepdims=True))
        return e / anp.sum(e, -1, keepdims=True)

    def cross_entropy(self, logits: Any, y: np.ndarray) -> Any:
        z = logits - anp.max(logits, 1, keepdims=True)
        return anp.mean(anp.log(anp.sum(anp.exp(z), 1)) - z[np.arange(len(y)), y])

    def conv(self, x: Any, w: Any) -> Any:
        padded = anp.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), "constant")
        return signal.convolve(padded, w[:, :, ::-1, ::-1], axes=([2, 3], [2, 3]), dot_axes=([1], [1]), mode="valid")

    def pool(self, x: Any) -> Any:
        n, c, h, w = x.shape
        return anp.max(anp.max(x.reshape(n, c, h // 2, 2, w // 2, 2), axis=3), axis=4)

    def batch_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        raise NotImplementedError("has no batch norm")

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        d = x - anp.mean(x, -1, keepdims=True)
        return d / anp.sqrt(anp.mean(d * d, -1, keepdims=True) + 1e-5) * scale + shift


def deep() -> Step:
    """Not waited for."""
    raise NotImplementedError("takes more than a minute a step")


__getattr__ = by_name(_Operations())
