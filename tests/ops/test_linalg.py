"""Matrix products: every pairing of vectors, matrices and batches, and errors that say what to try."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ShapeError

PAIRS = [
    ((3,), (3,)), ((2, 2), (2,)), ((2, 3), (3,)), ((2,), (2, 3)), ((2,), (2, 2)), ((2, 3), (3, 4)), ((2, 2, 2), (2, 2)),
    ((1, 2), (2, 2, 1)), ((2, 2, 2), (2,)), ((2,), (2, 2, 2)), ((2, 1, 1, 2), (2, 2, 1)), ((5, 2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 2)), ((0, 3), (3, 2)), ((2, 0), (0, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=str)
def test_products_and_gradients_of_every_pairing_equal_einsum(a, b):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(a), rng.standard_normal(b)
    left, right = gl.tensor(a, requires_grad=True), gl.tensor(b, requires_grad=True)
    y = left @ right
    want = np.matmul(a, b)
    np.testing.assert_allclose(y.data, want)
    g = rng.standard_normal(want.shape)
    y.backward(gl.tensor(g))
    # The rule, entry by entry: y depends on each entry of a and b linearly.
    for t, x, product in [(left, a, lambda e: np.matmul(e, b)), (right, b, lambda e: np.matmul(a, e))]:
        for at in np.ndindex(x.shape):
            e = np.zeros_like(x)
            e[at] = 1.0
            assert t.grad.data[at] == pytest.approx((product(e) * g).sum())
        assert t.grad.shape == x.shape


@pytest.mark.parametrize("wanted", [0, 1])
def test_only_the_gradient_that_is_wanted_is_computed(wanted):
    for a, b in PAIRS:
        ts = [gl.tensor(np.ones(s), requires_grad=i == wanted) for i, s in enumerate((a, b))]
        grads = (ts[0] @ ts[1]).grad_fn.backward(np.ones(np.matmul(np.ones(a), np.ones(b)).shape))
        assert [d is None for d in grads] == [i != wanted for i in range(2)]


def test_arrays_on_either_side_take_part():
    x = gl.tensor([1.0, 2.0], dtype="float64", requires_grad=True)
    for y in (np.array([[3.0, 4.0], [5.0, 6.0]]) @ x, x.matmul(np.array([[3.0, 5.0], [4.0, 6.0]])), np.matmul([[3.0, 4.0], [5.0, 6.0]], x)):
        x.grad = None
        y.sum().backward()
        assert isinstance(y, gl.Tensor) and y.tolist() == [11.0, 17.0] and x.grad.tolist() == [8.0, 10.0]


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (
            (32, 784),
            (10, 784),
            "matmul: the inner sizes differ\n  a     (32, 784)\n  b     (10, 784)\n  need: a: (..., n, k), b: (..., k, m)\n  try:  b.T",
        ),
        ((784, 32), (784, 10), "try:  a.T"),
        ((2, 3), (4,), "need: a: (..., k), b: (k)"),
        ((3,), (2, 3), "try:  b.T"),
        ((3,), (4,), "inner sizes differ"),
        ((2, 3, 4), (3, 4, 5), "matmul: the sizes in front don't broadcast\n  a     (2, 3, 4)\n  b     (3, 4, 5)"),
        ((2, 3), (), "matmul: takes vectors and matrices, not single numbers"),
        ((), (2, 3), "try:  a * b"),
    ],
    ids=str,
)
def test_a_product_that_does_not_exist_says_why_and_what_to_try(a, b, text):
    with pytest.raises(ShapeError) as error:
        gl.zeros(*a) @ gl.zeros(*b) if a and b else gl.matmul(gl.zeros(a), gl.zeros(b))
    assert text in str(error.value)


def test_nothing_is_tried_that_would_not_work():
    for a, b in [((2, 3), (4, 5)), ((2, 3), (2,)), ((2, 3, 4), (2, 5, 4))]:
        with pytest.raises(ShapeError) as error:
            gl.zeros(*a) @ gl.zeros(*b)
        assert "try:" not in str(error.value)


def test_a_number_is_no_matrix():
    with pytest.raises(ShapeError, match="not single numbers"):
        gl.zeros(2, 3) @ 2.0
