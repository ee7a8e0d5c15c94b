"""What attention keeps of the steps so far, so that the next one costs one step."""

from __future__ import annotations

from .. import ops
from .._tensor import Tensor
from ..errors import ShapeError, explain

Pair = tuple[Tensor, Tensor]


class KVCache:
    """The keys and values of every attention layer for the steps so far: one cache goes through a whole model.

    A layer with causal attention gives for one more step what it would give for the whole sequence, if it is handed the same cache
    each time. Use it within `gl.no_grad()`, and a new one for a new sequence; a layer is known by itself, so that a shared layer
    must not stand in a model twice.

        cache = nn.KVCache()
        logits = model(prompt, cache=cache)         # (batch, time, feature): all of it once
        logits = model(next_one, cache=cache)       # (batch, 1, feature): each next step

    >>> import gradlab as gl
    >>> cache, k = KVCache(), gl.ones(1, 1, 2, 4)
    >>> cache.extend("a layer", k, k)[0].shape, cache.extend("a layer", k, k)[0].shape, cache.steps
    ((1, 1, 2, 4), (1, 1, 4, 4), 4)
    """

    def __init__(self) -> None:
        self._growing: dict[object, Pair] = {}
        self._fixed: dict[object, Pair] = {}

    @property
    def steps(self) -> int:
        """How many steps it has seen: where the positions of the next ones begin."""
        return next((self.length(layer) for layer in self._growing), 0)

    def length(self, layer: object) -> int:
        """How many steps `layer` has: within a pass the first layers are ahead."""
        return self._growing[layer][0].shape[-2] if layer in self._growing else 0

    def extend(self, layer: object, k: Tensor, v: Tensor) -> Pair:
        """Put the keys and values of new steps behind those that `layer` has, and give all.

        Shapes: k: (*, new, e), v: (*, new, v), result: (*, steps, e) and (*, steps, v)

        Raises:
            ShapeError: other batches, heads or features than before.
        """
        if layer in self._growing:
            old = self._growing[layer]
            for before, x in zip(old, (k, v), strict=True):
                if (*before.shape[:-2], before.shape[-1]) != (*x.shape[:-2], x.shape[-1]):
                    got = {"so far": before.shape, "new": x.shape}
                    raise ShapeError(explain("KVCache: what comes is of another shape", got=got, need="(*, new, e), alike but for new"))
            k, v = ops.cat([old[0], k], -2), ops.cat([old[1], v], -2)
        self._growing[layer] = k, v
        return k, v

    def fixed(self, layer: object) -> Pair | None:
        """The keys and values of something that does not grow, as the memory that a decoder reads; None the first time."""
        return self._fixed.get(layer)

    def keep(self, layer: object, k: Tensor, v: Tensor) -> None:
        """Remember keys and values that stay as they are."""
        self._fixed[layer] = k, v

    def __repr__(self) -> str:
        return f"KVCache({self.steps} steps, {len(self._growing) + len(self._fixed)} layers)"
