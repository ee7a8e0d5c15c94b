"""MyGrad, tensors on NumPy, as it is set up by itself; optional."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mygrad as mg
import numpy as np
from mygrad.nnet.activations import sigmoid, softmax
from mygrad.nnet.layers import batchnorm, conv_nd, max_pool
from mygrad.nnet.losses import softmax_crossentropy

from .functions import Loss, by_name


class _Differentiated:
    def __init__(self, loss: Loss, arrays: Sequence[np.ndarray]) -> None:
        self._loss, self._tensors = loss, [mg.tensor(np.array(a)) for a in arrays]

    @property
    def arrays(self) -> list[np.ndarray]:
        return [t.data for t in self._tensors]

    def __call__(self, *inputs: Any) -> tuple[float, list[np.ndarray]]:
        loss = self._loss(*inputs, *self._tensors)
        loss.backward()
        grads = [t.grad for t in self._tensors]
        for t in self._tensors:
            t.null_grad()
        return float(loss.item()), grads


class _Operations:
    differentiate = _Differentiated
    tanh = staticmethod(mg.tanh)
    sigmoid = staticmethod(sigmoid)
    softmax = staticmethod(softmax)
    cross_entropy = staticmethod(softmax_crossentropy)

    def constant(self, array: np.ndarray) -> np.ndarray:
        return array

    def relu(self, x: Any) -> Any:
        return mg.maximum(x, 0)

    def gelu(self, x: Any) -> Any:
        return 0.5 * x * (1.0 + mg.tanh(0.7978845608 * (x + 0.044715 * (x * x * x))))

    def conv(self, x: Any, w: Any) -> Any:
        return conv_nd(x, w, stride=1, padding=1)

    def pool(self, x: Any) -> Any:
        return max_pool(x, (2, 2), 2)

    def batch_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return batchnorm(x, gamma=scale, beta=shift, eps=1e-5)

    def layer_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        d = x - x.mean(-1, keepdims=True)
        return d / mg.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * scale + shift


__getattr__ = by_name(_Operations())
