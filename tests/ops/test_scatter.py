"""Reading and writing at places along an axis, row by row, and where a mask holds."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ArgumentError, DTypeError, PlaceError, ShapeError

X = np.arange(6.0, dtype="float32").reshape(2, 3)
I = gl.tensor([[0, 0, 0], [1, 1, 1]])  # noqa: E741


def gradients(f, *values):
    ts = [gl.tensor(v, requires_grad=True) for v in values]
    y = f(*ts)
    y.backward(gl.tensor(np.arange(1.0, y.numel() + 1, dtype="float32").reshape(y.shape)))
    return y.tolist(), [t.grad.tolist() for t in ts]


def test_gather_reads_one_place_an_entry_and_adds_up_its_gradient():
    y, (dx,) = gradients(lambda x: x.gather(1, gl.tensor([[0, 0], [2, 1]])), X)
    assert y == [[0.0, 0.0], [5.0, 4.0]] and dx == [[3.0, 0.0, 0.0], [0.0, 4.0, 3.0]]
    x = gl.tensor(X)
    assert x.gather(0, [[0, 1]]).tolist() == [[0.0, 4.0]]
    assert gl.gather(gl.tensor(3.0), 0, [0, 0]).tolist() == [3.0, 3.0] and gl.gather(gl.tensor([1.0, 2.0]), 0, 1).shape == ()
    for index, error, text in [
        ([[3]], PlaceError, "there is no place 3"), ([[-1]], PlaceError, "there is no place -1"),
        ([0], ShapeError, "the index doesn't fit"),
        ([[0], [0], [0]], ShapeError, "the index doesn't fit"), ([[0.0]], DTypeError, "an index holds integers"),
    ]:  # fmt: skip
        with pytest.raises(error, match=f"gather: {text}"):
            x.gather(1, index)


def test_take_along_dim_broadcasts_the_other_axes():
    x = gl.tensor(X)
    assert x.take_along_dim(gl.tensor([[0, 2]]), 1).tolist() == [[0.0, 2.0], [3.0, 5.0]]
    assert x.take_along_dim(gl.tensor([0, 5])).tolist() == [0.0, 5.0]
    assert x.take_along_dim(x.argmax(1, keepdim=True), 1).tolist() == [[2.0], [5.0]]
    with pytest.raises(ShapeError, match="take_along_dim: the indices don't fit"):
        x.take_along_dim(gl.tensor([[0], [1], [0]]), 1)


def test_whole_entries_and_entries_row_by_row():
    y, (dx,) = gradients(lambda x: x.index_select(1, gl.tensor([2, 0, 2])), X)
    assert y == [[2.0, 0.0, 2.0], [5.0, 3.0, 5.0]] and dx == [[2.0, 0.0, 4.0], [5.0, 0.0, 10.0]]
    x = gl.tensor(X)
    assert x.index_select(0, gl.tensor(1)).shape == (1, 3) and gl.index_select(gl.tensor(3.0), 0, gl.tensor(0)).shape == ()
    assert x.take(gl.tensor([[0, -1]])).tolist() == [[0.0, 5.0]]
    with pytest.raises(ShapeError, match="index_select: a 0-d tensor has one place"):
        gl.index_select(gl.tensor(3.0), 0, [0, 0])
    with pytest.raises(ShapeError, match="index_select: places along one axis"):
        x.index_select(0, [[0]])
    with pytest.raises(PlaceError, match="index_select: there is no place -1"):
        x.index_select(0, [-1])
    with pytest.raises(PlaceError, match="take: there is no place 6"):
        x.take([6])


def test_masked_select_broadcasts_both():
    assert gl.masked_select(gl.tensor(X), [True, False, True]).tolist() == [0.0, 2.0, 3.0, 5.0]
    assert gl.masked_select(gl.tensor([1.0, 2.0]), [[True, False], [True, True]]).tolist() == [1.0, 1.0, 2.0]
    assert gl.masked_select(gl.tensor(1.0), gl.tensor(True)).tolist() == [1.0]
    with pytest.raises(DTypeError, match="masked_select: a mask holds truth values"):
        gl.masked_select(gl.tensor(X), [1, 0, 1])
    with pytest.raises(ShapeError, match="masked_select: the shapes don't broadcast"):
        gl.masked_select(gl.tensor(X), [True, False])


def test_scatter_keeps_the_last_of_several_values_and_only_that_has_a_gradient():
    y, (dx, ds) = gradients(lambda x, s: x.scatter(1, I, s), X, X + 10)
    assert y == [[12.0, 1.0, 2.0], [3.0, 15.0, 5.0]]
    assert dx == [[0.0, 2.0, 3.0], [4.0, 0.0, 6.0]] and ds == [[0.0, 0.0, 1.0], [0.0, 0.0, 5.0]]
    x = gl.tensor(X)
    assert x.scatter(1, gl.tensor([[0, 0], [2, 1]]), 9.0).tolist() == x.scatter(1, gl.tensor([[0, 0], [2, 1]]), value=9.0).tolist()
    assert x.scatter(0, gl.tensor([[1, 1]]), -x).tolist() == [[0.0, 1.0, 2.0], [0.0, -1.0, 5.0]]
    assert gl.scatter(gl.tensor(1.0), 0, gl.tensor(0), gl.tensor(5.0)).item() == 5.0


def test_scatter_add_adds_every_value():
    y, (dx, ds) = gradients(lambda x, s: x.scatter_add(1, I, s), X, X)
    assert y == [[3.0, 1.0, 2.0], [3.0, 16.0, 5.0]]
    assert dx == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] and ds == [[1.0] * 3, [5.0] * 3]


def test_values_that_do_not_fit_are_refused():
    x = gl.tensor(X)
    with pytest.raises(ArgumentError, match="scatter: what is to be written"):
        x.scatter(1, I)
    for op in (gl.scatter, gl.scatter_add):
        with pytest.raises(DTypeError, match=f"{op.__name__}: the dtypes differ"):
            op(x, 1, I, gl.tensor(X.astype("int64")))
        with pytest.raises(ShapeError, match=f"{op.__name__}: a value for every place"):
            op(x, 1, I, gl.tensor(X[:, :1]))
        with pytest.raises(PlaceError, match=f"{op.__name__}: there is no place 5"):
            op(x, 1, [[5]], x)


A, B = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 3.0, 3.0], [0.0, 5.0, 2.0]]


@pytest.mark.parametrize(
    ("reduce", "include_self", "y", "dx", "ds"),
    [
        ("sum", True, (8, 12), (1, 5), [[1] * 3, [5] * 3]),
        ("sum", False, (7, 7), (0, 0), [[1] * 3, [5] * 3]),
        ("prod", True, (9, 0), (9, 0), [[9, 3, 3], [250, 0, 0]]),
        ("prod", False, (9, 0), (0, 0), [[9, 3, 3], [50, 0, 0]]),
        ("mean", True, (2, 3), (0.25, 1.25), [[0.25] * 3, [1.25] * 3]),
        ("mean", False, (7 / 3, 7 / 3), (0, 0), [[1 / 3] * 3, [5 / 3] * 3]),
        ("amax", True, (3, 5), (0, 2.5), [[0, 0.5, 0.5], [0, 2.5, 0]]),
        ("amax", False, (3, 5), (0, 0), [[0, 0.5, 0.5], [0, 5, 0]]),
        ("amin", True, (1, 0), (0.5, 0), [[0.5, 0, 0], [5, 0, 0]]),
        ("amin", False, (1, 0), (0, 0), [[1, 0, 0], [5, 0, 0]]),
    ],
)
def test_what_comes_together_at_a_place(reduce, include_self, y, dx, ds):
    got, (da, db) = gradients(lambda a, b: a.scatter_reduce(1, I, b, reduce, include_self=include_self), A, B)
    np.testing.assert_allclose(got, [[y[0], 2, 3], [4, y[1], 6]], rtol=1e-6)
    np.testing.assert_allclose(da, [[dx[0], 2, 3], [4, dx[1], 6]], rtol=1e-6)
    np.testing.assert_allclose(db, ds, rtol=1e-6)


def test_a_nan_wins_and_has_the_gradient_of_its_place():
    for reduce in ("amax", "amin"):
        x, v = gl.tensor([1.0, np.nan], requires_grad=True), gl.tensor([np.nan, 2.0], requires_grad=True)
        y = x.scatter_reduce(0, gl.tensor([0, 1]), v, reduce)
        y.backward(gl.tensor([3.0, 5.0]))
        assert np.isnan(y.data).all() and x.grad.tolist() == [0.0, 5.0] and v.grad.tolist() == [3.0, 0.0]


def test_means_of_integers_are_rounded_down_and_an_unknown_word_is_refused():
    x = gl.tensor([5, 5])
    assert gl.scatter_reduce(x, 0, [0, 0], gl.tensor([1, 1]), "mean").tolist() == [2, 5]
    assert gl.scatter_reduce(x, 0, [0, 0], gl.tensor([7, 9]), "amax").tolist() == [9, 5]
    with pytest.raises(ArgumentError, match="scatter_reduce: how"):
        gl.scatter_reduce(x, 0, [0], x, "median")


def test_parts_are_replaced_in_a_copy_and_both_sides_get_their_gradient():
    for f, src, want, shape in [
        (lambda x, s: x.select_scatter(s, 1, 0), [9.0, 8.0], [[9.0, 1.0, 2.0], [8.0, 4.0, 5.0]], (2,)),
        (lambda x, s: x.slice_scatter(s, 1, 1, 2), [[9.0], [8.0]], [[0.0, 9.0, 2.0], [3.0, 8.0, 5.0]], (2, 1)),
        (lambda x, s: x.diagonal_scatter(s), [9.0, 8.0], [[9.0, 1.0, 2.0], [3.0, 8.0, 5.0]], (2,)),
        (lambda x, s: x.diagonal_scatter(s, 1), [9.0, 8.0], [[0.0, 9.0, 2.0], [3.0, 4.0, 8.0]], (2,)),
        (lambda x, s: x.diagonal_scatter(s, -1, 1, 0), [9.0, 8.0], [[0.0, 9.0, 2.0], [3.0, 4.0, 8.0]], (2,)),
    ]:
        y, (dx, ds) = gradients(f, X, src)
        assert y == want and np.shape(ds) == shape
        changed = np.array(want) != X
        g = np.arange(1.0, 7.0).reshape(2, 3)
        assert dx == (g * ~changed).tolist() and sorted(np.ravel(ds)) == sorted(g[changed])
        with pytest.raises(ShapeError, match="_scatter: the source doesn't fit"):
            f(gl.tensor(X), gl.ones(7))


def test_index_reduce_joins_whole_entries():
    x = gl.tensor([[3.0, 1.0, 2.0], [1.0, 1.0, 0.0]])
    assert x.index_reduce(0, gl.tensor([0, 0]), x, "prod").tolist() == [[9.0, 1.0, 0.0], [1.0, 1.0, 0.0]]
    assert x.index_reduce(0, gl.tensor([0, 0]), x, "mean", include_self=False).tolist() == [[2.0, 1.0, 1.0], [1.0, 1.0, 0.0]]
    with pytest.raises(ShapeError, match="index_reduce: the source doesn't fit"):
        x.index_reduce(0, gl.tensor([0]), x, "prod")


@pytest.mark.parametrize("reduce", ["prod", "amax", "amin", "sum", "mean"])
def test_bytes_are_places_in_a_large_array_too(reduce):
    rng = np.random.default_rng(0)
    x, v, at = rng.random((200, 3)), rng.random((250, 3)), rng.integers(0, 200, (250, 3))
    want = gl.scatter_reduce(gl.tensor(x), 0, gl.tensor(at), gl.tensor(v), reduce)
    got = gl.scatter_reduce(gl.tensor(x), 0, gl.tensor(at.astype("uint8")), gl.tensor(v), reduce)
    np.testing.assert_array_equal(got.data, want.data)


def test_index_reduce_refuses_a_source_of_another_width():
    with pytest.raises(ShapeError, match=r"a source of shape \(2, 3\)"):
        gl.index_reduce(gl.ones(4, 3), 0, [0, 1], gl.ones(2, 2), "prod")
