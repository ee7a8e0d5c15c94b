"""What a step did: the parameters are copied before it, and the copy becomes the difference after it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._tensor import Tensor
from ..backend import Array, xp_of

_ALIGN = 16  # bytes: every dtype may start there


class Scratch:
    """One buffer, as large as the parameters, that serves every observed step."""

    def __init__(self) -> None:
        self._bytes: Array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes held now; 0 until a step was observed, and again after one that was not."""
        return 0 if self._bytes is None else int(self._bytes.nbytes)

    def copies(self, parameters: Sequence[Tensor]) -> list[Array]:
        """The values of `parameters` now, in arrays that are valid until the next call."""
        ends = np.cumsum([0, *(-(-p._data.nbytes // _ALIGN) * _ALIGN for p in parameters)]).tolist()
        if self._bytes is None or self._bytes.nbytes < ends[-1]:
            xp = xp_of(parameters[0]._data) if parameters else np
            self._bytes = xp.empty(ends[-1], np.uint8)
        buffer = self._bytes
        made = []
        for p, start in zip(parameters, ends, strict=False):
            data = p._data
            copy = buffer[start:start + data.nbytes].view(data.dtype).reshape(data.shape)
            copy[...] = data
            made.append(copy)
        return made


def differences(parameters: Sequence[Tensor], before: Sequence[Array]) -> list[tuple[Tensor, Array]]:
    """(parameter, value now - value before) for each; the result is written over `before`."""
    with np.errstate(all="ignore"):  # inf - inf: a diverged model is to be seen, not warned about
        return [(p, xp_of(old).subtract(p._data, old, out=old)) for p, old in zip(parameters, before, strict=True) if p._data.shape == old.shape]
