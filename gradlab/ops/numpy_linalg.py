"""What `np.linalg`'s functions mean on a Tensor. Not an op: a part of the table of NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import KeywordError, explain
from .argument import tensor_of
from .decomposition import cholesky, eigh, linalg_svd, qr, svdvals
from .determinant import det, slogdet
from .einsum import chain_matmul
from .inverse import inverse, matrix_power, solve
from .product import cross
from .pseudoinverse import pinverse

if TYPE_CHECKING:
    from .._tensor import Tensor


def _eigh(a: Any, UPLO: str = "L") -> Any:
    return eigh(a)


def _pinv(a: Any, rcond: float | None = None, hermitian: bool = False, *, rtol: float | None = None) -> Tensor:
    return pinverse(a, rcond if rtol is None else rtol)


def _solve(a: Any, b: Any) -> Tensor:
    """NumPy takes b for vectors only where it has one axis."""
    a, b = tensor_of(a), tensor_of(b)
    if b.ndim > 1 and b.shape[:-2] != a.shape[:-2]:
        b = b.expand(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:])
    return solve(a, b)


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    return linalg_svd(a, full_matrices) if compute_uv else svdvals(a)


def _multi_dot(arrays: Any, *, out: Any = None) -> Tensor:
    if out is not None:
        raise KeywordError(explain("numpy.linalg.multi_dot: not on a tensor", got={"out": type(out).__name__}, need="the call without out"))
    return chain_matmul(*arrays)


LINALG: dict[Callable[..., Any], Callable[..., Any]] = {
    np.linalg.cholesky: lambda a, *, upper=False: cholesky(a, upper),
    np.linalg.det: det,
    np.linalg.eigh: _eigh,
    np.linalg.eigvalsh: lambda a, UPLO="L": eigh(a).eigenvalues,
    np.linalg.inv: inverse,
    np.linalg.matrix_power: matrix_power,
    np.linalg.multi_dot: _multi_dot,
    np.linalg.pinv: _pinv,
    np.linalg.qr: qr,
    np.linalg.slogdet: slogdet,
    np.linalg.solve: _solve,
    np.linalg.svd: _svd,
    np.cross: lambda a, b, axis=-1: cross(a, b, axis),
}
