"""All parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from ..._tensor import Tensor
from ...errors import ArgumentError, KeywordError, ShapeError, explain
from ...grad_mode import no_grad
from ...ops import cat
from .clip_grad import listed


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters in one vector, one after the other.

    Raises:
        ArgumentError: there is none.

    >>> parameters_to_vector([Tensor([[1.0, 2.0]]), Tensor([3.0])]).tolist()
    [1.0, 2.0, 3.0]
    """
    found = listed("parameters_to_vector", parameters)
    if not found:
        raise ArgumentError(explain("parameters_to_vector: there are no parameters", got={"parameters": 0}, need="at least one"))
    return cat([p.reshape(-1) for p in found])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Write a vector back into the parameters that `parameters_to_vector` made it of.

    Raises:
        ShapeError: it has more or fewer entries than they have together. Nothing is changed then.
    """
    found = listed("vector_to_parameters", parameters)
    if not isinstance(vec, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise KeywordError(explain("vector_to_parameters: this is no tensor", got={"vec": type(vec).__name__}, need="a tensor"))
    n = sum(p._data.size for p in found)
    if vec.shape != (n,):
        raise ShapeError(explain("vector_to_parameters: the vector doesn't fit", got={"vec": vec.shape, "parameters": n}, need=f"({n},)"))
    at = 0
    with no_grad():
        for p in found:
            size = p._data.size
            p._data[...] = vec._data[at : at + size].reshape(p.shape)
            p.bump()
            at += size
