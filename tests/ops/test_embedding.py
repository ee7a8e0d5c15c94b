"""embedding: repeated ids add up, padding gets nothing, wrong ids are named, long rows are shortened."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F


@pytest.mark.parametrize("n", [5, 128, 129, 1000, 70_000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_repeated_ids_add_up_whatever_the_size_of_the_table(n, dtype):
    rng = np.random.default_rng(n)
    ids = np.minimum(rng.zipf(1.4, (30, 20)) - 1, n - 1)
    g = rng.standard_normal((30, 20, 3)).astype(dtype)
    w = gl.tensor(np.zeros((n, 3), dtype), requires_grad=True)
    F.embedding(gl.tensor(ids), w).backward(gl.tensor(g))
    want = np.zeros((n, 3))
    np.add.at(want, ids, g)
    np.testing.assert_allclose(w.grad.data, want, atol=1e-4 if dtype == "float32" else 1e-12)
    assert w.grad.dtype == dtype


def test_float16_gradients_are_added_in_float32():
    w = gl.tensor(np.zeros((2, 1), "float16"), requires_grad=True)
    F.embedding(gl.tensor(np.zeros(4096, int)), w).sum().backward()
    assert w.grad.tolist() == [[4096.0], [0.0]]


def test_padding_gets_no_gradient_and_frequent_rows_a_mean():
    w = gl.tensor(np.ones((4, 1)), requires_grad=True)
    F.embedding(gl.tensor([0, 1, 1, 3, 3, 3]), w, padding_idx=-1, scale_grad_by_freq=True).sum().backward()
    assert w.grad.tolist() == [[1.0], [1.0], [0.0], [0.0]]


def test_an_id_without_a_row_is_named():
    w = gl.ones(4, 2)
    for ids, wrong, at in (([1, 9, 2], 9, 1), ([[0, 1], [2, -1]], -1, 3)):
        with pytest.raises(IndexError, match=rf"embedding: the table has no row {wrong}\n[\s\S]*at    {at}\n[\s\S]*0 to 3"):
            F.embedding(gl.tensor(ids), w)
    with pytest.raises(TypeError, match=r"ids are integers[\s\S]*try:  ids.long\(\)"):
        F.embedding(gl.tensor([1.0]), w)
    with pytest.raises(ValueError, match="padding_idx has no row"):
        F.embedding(gl.tensor([1]), w, padding_idx=4)
    with pytest.raises(ValueError, match="there are no sparse gradients"):
        F.embedding(gl.tensor([1]), w, sparse=True)
    with pytest.raises(ValueError, match="the table has a row for every id"):
        F.embedding(gl.tensor([1]), gl.ones(3))


def test_ids_of_every_integer_kind_and_shape():
    w = gl.tensor([[1.0], [2.0], [3.0]])
    for dtype in ("uint8", "int32", "int64"):
        assert F.embedding(gl.tensor(np.array([[2, 0]], dtype)), w).tolist() == [[[3.0], [1.0]]]
    assert F.embedding(1, w).tolist() == [2.0]


def test_later_changes_of_ids_and_table_do_not_reach_the_gradient():
    ids, w = gl.tensor([0, 1]), gl.tensor([[1.0], [2.0]], requires_grad=True)
    y = F.embedding(ids, w)
    ids.data[0] = 1
    w.data[0] = 5.0
    y.sum().backward()
    assert w.grad.tolist() == [[1.0], [1.0]]


def test_max_norm_shortens_the_rows_looked_up_and_no_others():
    w = gl.tensor([[3.0, 4.0], [6.0, 8.0], [0.3, 0.4]], requires_grad=True)
    y = F.embedding(gl.tensor([0, 2, 0]), w, max_norm=1.0)
    np.testing.assert_allclose(y.data, [[0.6, 0.8], [0.3, 0.4], [0.6, 0.8]], rtol=1e-6)
    np.testing.assert_allclose(w.data, [[0.6, 0.8], [6.0, 8.0], [0.3, 0.4]], rtol=1e-6)
    assert w.version == 1
    y.sum().backward()
    assert w.grad.tolist() == [[2.0, 2.0], [0.0, 0.0], [1.0, 1.0]]
    with pytest.raises(IndexError, match="no row 3"):
        F.embedding(gl.tensor([1, 3]), w, max_norm=1.0)
    assert w.data[1].tolist() == [6.0, 8.0]
    np.testing.assert_allclose(F.embedding(gl.tensor([1]), w, max_norm=7.0, norm_type=1.0).data, [[3.0, 4.0]], rtol=1e-6)
    w = gl.tensor([[3.0, 4.0], [0.3, 0.4]])
    np.testing.assert_allclose(F.embedding_bag(gl.tensor([[0, 0, 1]]), w, max_norm=1.0, mode="sum").data, [[1.5, 2.0]], rtol=1e-6)
    assert w.version == 1


IDS = [[0, 1, 1], [2, 2, 3]]


@pytest.mark.parametrize("mode", ["mean", "sum", "max"])
def test_bags_of_one_length_and_of_several(mode):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((9, 3))
    reduce = {"mean": lambda rows: rows.mean(0), "sum": lambda rows: rows.sum(0), "max": lambda rows: rows.max(0)}[mode]
    ids = rng.integers(0, 9, (4, 5))
    y = F.embedding_bag(gl.tensor(ids), gl.tensor(w), mode=mode)
    np.testing.assert_allclose(y.data, [reduce(w[row]) for row in ids])
    flat, offsets = ids.ravel(), [0, 3, 3, 9]
    want = [reduce(w[flat[a:b]]) if b > a else np.zeros(3) for a, b in ((0, 3), (3, 3), (3, 9), (9, 20))]
    np.testing.assert_allclose(F.embedding_bag(gl.tensor(flat), gl.tensor(w), gl.tensor(offsets), mode=mode).data, want)
    y = F.embedding_bag(gl.tensor(flat), gl.tensor(w), [*offsets, 20], mode=mode, include_last_offset=True)
    np.testing.assert_allclose(y.data, want)


def test_padding_counts_for_nothing_in_a_bag():
    w = gl.tensor(np.arange(8.0).reshape(4, 2), requires_grad=True)
    for mode, first in (("mean", [1.0, 2.0]), ("sum", [2.0, 4.0]), ("max", [2.0, 3.0])):
        y = F.embedding_bag(gl.tensor([[3, 0, 1], [3, 3, 3]]), w, mode=mode, padding_idx=-1)
        assert y.tolist() == [first, [0.0, 0.0]]
        w.grad = None
        y.sum().backward()
        assert not w.grad.data[2:].any() and w.grad.data[:2].any()


def test_gradients_of_bags_and_by_frequency():
    def grad(**kwargs):
        w = gl.zeros(4, 1, requires_grad=True)
        F.embedding_bag(gl.tensor(IDS), w, **kwargs).sum().backward()
        return w.grad.data.ravel()

    np.testing.assert_allclose(grad(mode="mean"), [1 / 3, 2 / 3, 2 / 3, 1 / 3], rtol=1e-6)
    np.testing.assert_allclose(grad(mode="mean", scale_grad_by_freq=True), [1 / 3, 1 / 3, 1 / 3, 1 / 3], rtol=1e-6)
    np.testing.assert_allclose(grad(mode="sum", scale_grad_by_freq=True), [1, 1, 1, 1], rtol=1e-6)
    assert grad(mode="max").tolist() == [1, 0, 1, 0]  # all tie: the first


def test_weights_of_samples_have_a_gradient():
    s = gl.tensor(np.array([0.5, 2.0, 1.0]), requires_grad=True)
    y = F.embedding_bag(gl.tensor([1, 1, 0]), gl.tensor(np.array([[1.0], [3.0]])), [0, 2], mode="sum", per_sample_weights=s)
    assert y.tolist() == [[7.5], [1.0]]
    y.sum().backward()
    assert s.grad.tolist() == [3.0, 3.0, 1.0]


def test_what_is_no_bag_is_refused():
    w, ids = gl.ones(4, 3), gl.tensor([0, 1, 2])
    for offsets in ([1, 2], [0, 5], [0, 2, 1]):
        with pytest.raises(ValueError, match="embedding_bag: these are no offsets"):
            F.embedding_bag(ids, w, offsets)
    for args in ((ids, w), (gl.tensor(IDS), w, [0])):
        with pytest.raises(ValueError, match=r"embedding_bag: which bags\?"):
            F.embedding_bag(*args)
    with pytest.raises(ValueError, match=r"embedding_bag: which mode\?"):
        F.embedding_bag(ids, w, [0], mode="min")
    with pytest.raises(ValueError, match="embedding_bag: there are no sparse gradients"):
        F.embedding_bag(ids, w, [0], sparse=True)
    with pytest.raises(ValueError, match="per_sample_weights has no meaning here"):
        F.embedding_bag(ids, w, [0], per_sample_weights=[1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="scale_grad_by_freq has no meaning here"):
        F.embedding_bag(ids, w, [0], mode="max", scale_grad_by_freq=True)
    with pytest.raises(ValueError, match="embedding_bag: padding_idx has no row"):
        F.embedding_bag(ids, w, [0], padding_idx=4)
    with pytest.raises(ValueError, match="every id has a weight"):
        F.embedding_bag(ids, w, [0], mode="sum", per_sample_weights=[1.0])
    with pytest.raises(IndexError, match="embedding_bag: the table has no row 4"):
        F.embedding_bag(gl.tensor([[4]]), w)
