"""Products by name: which shapes each takes, what they are, and what they add to."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ArgumentError, DimError, DTypeError, ShapeError

RNG = np.random.default_rng(0)
A, B, V, W = RNG.standard_normal((3, 4)), RNG.standard_normal((4, 2)), RNG.standard_normal(4), RNG.standard_normal(3)


def test_the_products_by_name_are_matmul_on_the_shapes_they_are_named_after():
    np.testing.assert_allclose(gl.mm(A, B).data, A @ B)
    np.testing.assert_allclose(gl.tensor(A).mv(V).data, A @ V)
    np.testing.assert_allclose(gl.tensor(V).dot(V).data, V @ V)
    np.testing.assert_allclose(gl.bmm(np.stack([A, A]), np.stack([B, 2 * B])).data, np.stack([A @ B, A @ B * 2]))
    np.testing.assert_allclose(gl.tensor(V).outer(W).data, np.outer(V, W))
    np.testing.assert_allclose(gl.inner(A, V).data, A @ V)
    np.testing.assert_allclose(gl.inner(A[None], B.T).data, np.inner(A[None], B.T))
    assert gl.inner(gl.tensor(2.0), [1.0, 2.0]).tolist() == [2.0, 4.0]


@pytest.mark.parametrize(
    ("name", "shapes", "need"),
    [
        ("mm", ((3, 4), (3, 4)), "need: a: (n, k), b: (k, m)"),
        ("mm", ((3, 4), (4,)), "mm: the shapes don't fit\n  a     (3, 4)\n  b     (4,)"),
        ("mv", ((3, 4), (4, 1)), "need: a: (n, k), b: (k)"),
        ("bmm", ((1, 3, 4), (2, 4, 5)), "need: a: (batch, n, k), b: (batch, k, m)"),
        ("dot", ((3, 4), (4,)), "need: a: (n), b: (n)"),
        ("dot", ((1,), (4,)), "dot: the shapes don't fit"),
        ("outer", ((3, 4), (4,)), "need: a: (n), b: (m)"),
        ("inner", ((3, 4), (3, 1)), "tensordot: the sizes to add up over differ"),
    ],
)
def test_other_shapes_are_refused(name, shapes, need):
    with pytest.raises(ShapeError) as error:
        getattr(gl, name)(*[gl.zeros(s) for s in shapes])
    assert need in str(error.value)


def test_tensordot_adds_up_over_pairs_of_axes():
    x, y = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((3, 4, 5))
    np.testing.assert_allclose(gl.tensordot(x, y).data, np.tensordot(x, y))
    np.testing.assert_allclose(gl.tensordot(x, A.T, dims=([-1, 1], [0, 1])).data, np.tensordot(x, A.T, ([2, 1], [0, 1])))
    np.testing.assert_allclose(gl.tensordot(A, B, dims=0).data, np.tensordot(A, B, 0))
    np.testing.assert_allclose(np.tensordot(gl.tensor(A), gl.tensor(B), axes=(1, 0)).data, A @ B)


def test_tensordot_refuses_what_does_not_pair():
    for dims, error, text in [
        (3, ArgumentError, "tensordot: how many axes?"),
        (([0], [0, 1]), ArgumentError, "two lists of as many axes"),
        (([5], [0]), DimError, "tensordot: there is no axis 5"),
        (([0], [0]), ShapeError, "a     (3, 4)\n  b     (4, 2)\n  dims  ([0], [0])"),
        (([1, 1], [0, 0]), ShapeError, "each axis once"),
    ]:
        with pytest.raises(error) as raised:
            gl.tensordot(A, B, dims=dims)
        assert text in str(raised.value)


def test_addmm_weighs_both_sides_and_what_counts_for_nothing_may_be_nan():
    c = gl.tensor(RNG.standard_normal(2), requires_grad=True)
    y = c.addmm(A, B, beta=2, alpha=3)
    np.testing.assert_allclose(y.data, 2 * c.data + 3 * (A @ B))
    y.sum().backward()
    assert c.grad.tolist() == [6.0, 6.0]
    np.testing.assert_allclose(gl.addmm(np.full((3, 2), np.nan), A, B, beta=0).data, A @ B)
    np.testing.assert_allclose(gl.addmv(W, A, V, alpha=2).data, W + 2 * (A @ V))
    np.testing.assert_allclose(gl.baddbmm(1.0, A[None], B[None]).data, 1 + (A @ B)[None])


def test_addmm_does_not_let_the_input_make_the_result_larger():
    with pytest.raises(ShapeError, match=r"addmm: the input does not fit the product\n  input   \(2, 3, 2\)\n  product \(3, 2\)"):
        gl.addmm(np.zeros((2, 3, 2)), A, B)
    with pytest.raises(ShapeError, match=r"input   \(3,\)\n  product \(3, 2\)"):
        gl.addmm(np.zeros(3), A, B)
    with pytest.raises(DTypeError, match="addmm: the dtypes differ"):
        gl.addmm(np.zeros(2, "float32"), A, B)


def test_kron_pads_the_smaller_number_of_axes_in_front():
    for a, b in [(A, B), (V, A), (A, V), (RNG.standard_normal((2, 3, 1)), W), (np.float64(2.0), A)]:
        np.testing.assert_allclose(gl.kron(a, b).data, np.kron(a, b))


def test_cross_is_at_right_angles_and_takes_the_first_axis_of_size_three():
    a, b = RNG.standard_normal((2, 5, 3))
    y = gl.cross(a, b)
    np.testing.assert_allclose(y.data, np.cross(a, b))
    np.testing.assert_allclose((y.data * a).sum(1), 0, atol=1e-14)
    np.testing.assert_allclose(gl.cross(a.T, b.T).data, np.cross(a, b).T)
    np.testing.assert_allclose(gl.cross(A[:, :3], A[:, :3].T).data, np.cross(A[:, :3], A[:, :3].T, axis=0))
    with pytest.raises(DimError, match="cross: vectors in space have 3 entries"):
        gl.cross(B, B)
    with pytest.raises(DimError, match="an axis of size 3 in both"):
        gl.cross(a, b, dim=0)


def test_bilinear_maps_pairs():
    x, y, w, b = RNG.standard_normal((6, 5, 3)), RNG.standard_normal((6, 5, 4)), RNG.standard_normal((2, 3, 4)), RNG.standard_normal(2)
    np.testing.assert_allclose(gl.nn.functional.bilinear(x, y, w, b).data, np.einsum("nti,oij,ntj->nto", x, w, y) + b)
    with pytest.raises(ShapeError, match=r"bilinear: the shapes don't fit\n  input1 \(6, 5, 3\)\n  input2 \(6, 5, 3\)"):
        gl.bilinear(x, x, w)


def test_a_chain_of_matrices_may_begin_and_end_with_a_vector():
    np.testing.assert_allclose(gl.chain_matmul(W, A, B, [1.0, 2.0]).data, W @ A @ B @ [1.0, 2.0])
    np.testing.assert_allclose(gl.chain_matmul(A, B).data, A @ B)
    with pytest.raises(ShapeError, match=r"chain_matmul: the shapes don't fit\n  matrix 0 \(3, 4\)\n  matrix 1 \(3, 4\)"):
        gl.chain_matmul(A, A)


def test_float16_products_add_up_in_float32():
    ones = gl.tensor(np.ones((1, 4096), "float16"))
    assert (ones @ ones.T).item() == 4096.0 and gl.einsum("ij,kj->ik", ones, ones).item() == 4096.0
    assert gl.linear(ones, ones).item() == 4096.0


def test_numpys_names_make_steps_too():
    x, y = gl.tensor([1.0, 2.0]), gl.tensor([3.0, 4.0])
    assert np.inner(x, y).item() == 11.0 and np.outer(x, y).tolist() == [[3.0, 4.0], [6.0, 8.0]]
    assert np.kron(x, y).tolist() == [3.0, 4.0, 6.0, 8.0]


def test_batches_summed_and_vectors_added():
    a, b = RNG.standard_normal((2, 3, 4)), RNG.standard_normal((2, 4, 5))
    np.testing.assert_allclose(gl.addbmm(1.0, a, b, alpha=2).data, 1 + 2 * (a @ b).sum(0))
    assert gl.addbmm(gl.ones(3, 5), gl.zeros(0, 3, 4), gl.zeros(0, 4, 5)).tolist() == [[1.0] * 5] * 3
    np.testing.assert_allclose(gl.addr(np.ones((4, 3)), V, W, beta=2).data, 2 + np.outer(V, W))
    np.testing.assert_allclose(gl.vdot(V, V).item(), V @ V)
    for f, shapes in [(gl.addr, [(1,), (3, 1), (3,)]), (gl.addbmm, [(1,), (2, 3, 4), (1, 4, 5)])]:
        with pytest.raises(ShapeError, match="the shapes don't fit"):
            f(*[gl.zeros(s) for s in shapes])
