"""Calls of products and decompositions of matrices."""

from __future__ import annotations

import numpy as np

from gradlab import ops

from .chooser import Call, Chooser, call
from .table import rows


def product(c: Chooser) -> Call:
    """Vectors, matrices and batches whose inner sizes agree."""
    n, k, m = c.whole(1, 4), c.whole(0, 4), c.whole(1, 4)
    a, b = c.pick((k,), (n, k)), c.pick((k,), (k, m))
    if len(a) == 2 and len(b) == 2:
        batch = c.shape(0, 2, side=3, empty=False)
        a, b = (*c.pick((), batch), *a), (*c.pick((), batch, (1,) * len(batch)), *b)
    return call(c.floats(*a), c.floats(*b))


rows("matmul", product)
rows("mm", lambda c: (lambda n, k, m: call(c.floats(n, k), c.floats(k, m)))(*c.shape(3, 3)))
rows("mv", lambda c: (lambda n, k: call(c.floats(n, k), c.floats(k)))(*c.shape(2, 2)))
rows("bmm", lambda c: (lambda b, n, k, m: call(c.floats(b, n, k), c.floats(b, k, m)))(*c.shape(4, 4)))
rows(
    "baddbmm",
    lambda c: (lambda b, n, k, m: call(c.floats(b, n, m), c.floats(b, n, k), c.floats(b, k, m), alpha=c.pick(None, 2.0)))(*c.shape(4, 4)),
)
rows(
    "addmm",
    lambda c: (lambda n, k, m: call(c.floats(*c.pick((n, m), (m,), ())), c.floats(n, k), c.floats(k, m), beta=c.pick(None, 0.5)))(
        *c.shape(3, 3)
    ),
)
rows("addmv", lambda c: (lambda n, k: call(c.floats(n), c.floats(n, k), c.floats(k)))(*c.shape(2, 2)))
rows("addr", lambda c: (lambda n, m: call(c.floats(n, m), c.floats(n), c.floats(m)))(*c.shape(2, 2)))
rows("dot inner vdot", lambda c: (lambda n: call(c.floats(n), c.floats(n)))(c.whole(0, 4)))
rows("inner", lambda c: (lambda k: call(c.floats(*c.shape(0, 2), k), c.floats(*c.shape(0, 2), k)))(c.whole(1, 3)))
rows("outer ger", lambda c: call(c.floats(c.whole(0, 3)), c.floats(c.whole(1, 4))))
rows("kron", lambda c: call(c.floats(*c.shape(0, 3, side=3)), c.floats(*c.shape(0, 3, side=3))))
rows("cross", lambda c: call(c.floats(*(s := c.shape(0, 2)), 3), c.floats(*s, 3), dim=-1), "linalg.cross")
rows("tensordot", lambda c: call(c.floats(2, 3, 4), c.floats(3, 4, 2), dims=c.pick(([1, 2], [0, 1]), ([0], [2]), ([2, 1], [1, 0]))))
rows("tensordot", lambda c: call(c.floats(2, 3, 4), c.floats(3, 4, 2), dims=c.pick(0, 2)))
rows(
    "linear",
    lambda c: (lambda n, m: call(c.floats(*c.shape(0, 3), n), c.floats(m, n), c.pick(None, c.floats(m))))(c.whole(1, 4), c.whole(1, 4)),
)
rows("bilinear", lambda c: call(c.floats(*(s := c.shape(1, 2)), 2), c.floats(*s, 3), c.floats(4, 2, 3), c.pick(None, c.floats(4))))

SUBSCRIPTS = {
    "ij,jk->ik": ((2, 3), (3, 4)), "ij,jk": ((2, 3), (3, 4)), "ii->i": ((3, 3),), "ii": ((3, 3),), "ij->j": ((2, 3),), "ij->": ((2, 3),),
    "ij->ji": ((2, 3),), "i,j->ij": ((2,), (3,)), "bij,bjk->bik": ((2, 3, 4), (2, 4, 2)), "...ij,...jk->...ik": ((2, 3, 4), (4, 2)),
    "ij,ij->": ((2, 3), (2, 3)), "ij,kj->i": ((2, 3), (4, 3)), "ijj->i": ((2, 3, 3),), "iji->j": ((3, 2, 3),), "...i->...": ((2, 3),),
    "ij,jk,kl->il": ((2, 3), (3, 2), (2, 4)), "i,i,i->i": ((3,), (3,), (3,)), ",i->i": ((), (3,)),
    "bnhd,bmhd->bhnm": ((1, 2, 2, 3), (1, 3, 2, 3)),
    "ij,j->ij": ((2, 3), (3,)), "ijk,k->": ((2, 2, 3), (3,)), "iij,j->i": ((2, 2, 3), (3,)), "...,...->...": ((2, 3), (3,)),
}  # fmt: skip
rows("einsum", lambda c: (lambda s: call(s, *[c.floats(*n) for n in SUBSCRIPTS[s]]))(c.pick(*SUBSCRIPTS)))


def _spd(c: Chooser, shape: tuple[int, ...]) -> np.ndarray:
    x = c.floats(*shape)
    return x @ np.swapaxes(x, -1, -2) + 0.5 * np.eye(shape[-1])


def square(c: Chooser) -> np.ndarray:
    """Well-conditioned square matrices."""
    n = c.whole(1, 3)
    return c.floats(*c.prefix((n, n))) + 3 * np.eye(n)


rows("inverse", lambda c: call(square(c)))
rows("inv", lambda c: call(square(c)), "linalg.inv")
rows("det logdet slogdet", lambda c: call(square(c)))
rows("matrix_power", lambda c: call(square(c), c.pick(0, 1, 2, 3, -1)))
rows("cholesky", lambda c: (lambda n: call(_spd(c, c.prefix((n, n)))))(c.whole(1, 3)), "linalg.cholesky")
rows("solve", lambda c: (lambda a: call(a, c.floats(*a.shape[:-1], c.whole(1, 3))))(square(c)), "linalg.solve")
rows("pinverse pinv", lambda c: call(c.floats(c.whole(2, 3), 2) + 2 * np.eye(3)[:2, :2][0]), "linalg.pinv")
rows("chain_matmul", lambda c: call(c.floats(2, 3), c.floats(3, 1), c.floats(1, 4)))
rows("qr", lambda c: call(square(c)), "linalg.qr")
rows("svdvals", lambda c: call(square(c)), "linalg.svdvals")


def symmetric(c: Chooser) -> Call:
    """Symmetric matrices with eigenvalues apart."""
    n = c.whole(1, 3)
    x = c.floats(n, n)
    return call(x + x.T + np.diag(3.0 * np.arange(n)))


rows("eigh", symmetric, lambda torch, x: torch.linalg.eigh((x + x.mT) / 2)[0], ours=lambda x: ops.eigh((x + x.mT) / 2)[0])
rows("linalg_svd", lambda c: call(square(c)), lambda torch, x: torch.linalg.svd(x)[1], ours=lambda x: ops.linalg_svd(x)[1])


def triangular(c: Chooser) -> Call:
    """A triangle is read, whatever the other one holds."""
    a = square(c)
    return call(a, c.floats(*a.shape[:-1], c.whole(1, 3)), upper=c.flag(), unitriangular=c.pick(None, True))


rows("solve_triangular", triangular, "linalg.solve_triangular")
rows(
    "addbmm",
    lambda c: (lambda b, n, k, m: call(c.floats(n, m), c.floats(b, n, k), c.floats(b, k, m), alpha=c.pick(None, 2.0)))(*c.shape(4, 4)),
)
