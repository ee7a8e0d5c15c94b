"""Order, ranks, quantiles, counts and sets."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ArgumentError, DimError, DTypeError, LabelError, ShapeError

NAN = float("nan")


def gradient(f, values):
    x = gl.tensor(values, requires_grad=True)
    y = f(x)
    y.backward(gl.tensor(np.arange(1.0, y.numel() + 1, dtype="float32").reshape(y.shape)))
    return x.grad.tolist()


def test_equal_entries_stay_in_order_and_nan_is_the_largest():
    values, indices = gl.sort(gl.tensor([2.0, NAN, 1.0, 2.0]))
    np.testing.assert_array_equal(values.data, [1.0, 2.0, 2.0, NAN])
    assert indices.tolist() == [2, 0, 3, 1]
    assert gl.argsort(gl.tensor([2.0, NAN, 1.0, 2.0]), descending=True).tolist() == [1, 0, 3, 2]
    assert gl.sort(gl.tensor([1, 2, 1]), descending=True).indices.tolist() == [1, 0, 2] and gl.sort(gl.tensor(3.0)).indices.item() == 0
    assert gradient(lambda x: x.sort().values, [2.0, 1.0, 2.0]) == [2.0, 1.0, 3.0]
    assert gradient(lambda x: x.sort(descending=True).values, [2.0, 1.0, 2.0]) == [1.0, 3.0, 2.0]
    assert gl.msort(gl.tensor([[3.0, 1.0], [1.0, 2.0]])).tolist() == [[1.0, 1.0], [3.0, 2.0]]
    with pytest.raises(DimError, match="sort: there is no axis 1"):
        gl.sort(gl.ones(3), 1)


@pytest.mark.parametrize("n", [8, 300])
def test_topk_takes_the_best_first(n):
    x = np.random.default_rng(0).permutation(2 * n).reshape(2, n).astype("float32")
    for largest in (True, False):
        values, indices = gl.topk(gl.tensor(x), 5, largest=largest)
        want = np.sort(x, 1)[:, ::-1][:, :5] if largest else np.sort(x, 1)[:, :5]
        np.testing.assert_array_equal(values.data, want)
        np.testing.assert_array_equal(np.take_along_axis(x, indices.data, 1), want)
    g = gl.tensor(x, requires_grad=True)
    g.topk(5).values.sum().backward()
    assert g.grad.sum().item() == 10.0


def test_topk_knows_nan_numbers_and_nothing():
    assert gl.topk(gl.tensor([2.0, NAN, 1.0]), 2).indices.tolist() == [1, 0]
    assert gl.topk(gl.tensor(3.0), 1).indices.item() == 0 and gl.topk(gl.ones(2, 3), 0).values.shape == (2, 0)
    for k in (4, -1):
        with pytest.raises(ArgumentError, match="topk: so many are not there"):
            gl.topk(gl.ones(2, 3), k)


def test_the_kth_smallest():
    x = gl.tensor([[3.0, 1.0, 2.0], [1.0, 1.0, 0.0]])
    values, indices = gl.kthvalue(x, 2)
    assert values.tolist() == [2.0, 1.0] and indices.tolist() == [2, 0] and x.kthvalue(1, 0, True).values.tolist() == [[1.0, 1.0, 0.0]]
    assert (
        gradient(lambda x: x.kthvalue(2).values, [3.0, 1.0, 2.0]) == [0.0, 0.0, 1.0] and gl.kthvalue(gl.tensor(3.0), 1).values.item() == 3.0
    )
    for k in (0, 4):
        with pytest.raises(ArgumentError, match="kthvalue: so many are not there"):
            x.kthvalue(k)


def test_the_median_is_the_lower_middle_and_shares_ties_evenly():
    assert gl.median(gl.tensor([4, 1, 3, 2])).item() == 2
    np.testing.assert_allclose(gradient(lambda x: x.median(), [2.0, 1.0, 2.0, 2.0, 3.0]), [1 / 3, 0, 1 / 3, 1 / 3, 0], rtol=1e-6)
    assert sum(gradient(lambda x: x.median(0).values, [2.0, 1.0, 2.0, 2.0, 3.0])) == 1.0
    values, indices = gl.median(gl.tensor([[3.0, 1.0, 2.0], [1.0, 1.0, 0.0]]), dim=1, keepdim=True)
    assert values.tolist() == [[2.0], [1.0]] and indices.tolist() == [[2], [0]]
    assert np.isnan(gl.median(gl.zeros(0)).item()) and gl.median(gl.zeros(0, 3), 1).values.shape == (0,)
    with pytest.raises(ShapeError, match="median: nothing to choose from"):
        gl.median(gl.zeros(0, 3), 0)


def test_nan_wins_the_median_and_nanmedian_leaves_it_out():
    x = [2.0, NAN, 2.0, 1.0]
    assert np.isnan(gl.median(gl.tensor(x)).item()) and gl.median(gl.tensor(x), 0).indices.item() == 1
    assert gl.nanmedian(gl.tensor(x)).item() == 2.0 and gl.nanmedian(gl.tensor(x), 0).values.item() == 2.0
    assert gradient(lambda x: x.nanmedian(), x) == [0.5, 0.0, 0.5, 0.0] and gradient(lambda x: x.median(), [2.0, NAN, NAN]) == [
        0.0,
        0.5,
        0.5,
    ]
    assert np.isnan(gl.nanmedian(gl.tensor([NAN, NAN])).item())


def test_quantiles_lie_between_two_entries():
    x = gl.tensor([[3.0, 1.0, 2.0], [1.0, 1.0, 0.0]])
    assert gl.quantile(x, gl.tensor([0.0, 0.25, 1.0]), dim=1).tolist() == [[1.0, 0.0], [1.5, 0.5], [3.0, 1.0]]
    assert x.quantile(0.5).item() == 1.0 and x.quantile(0.5, dim=1, keepdim=True).tolist() == [[2.0], [1.0]]
    assert x.quantile(0.5, keepdim=True).shape == (1, 1) and x.quantile([0.1, 0.2], 0, True).shape == (2, 1, 3)
    np.testing.assert_allclose(
        gradient(lambda x: x.quantile(gl.tensor([0.3, 0.6])), [4.0, 1.0, 3.0, 2.0, 5.0]),
        [0.8, 0.0, 1.4, 0.8, 0.0],
        rtol=1e-5,
    )
    for how in ("linear", "lower", "higher", "midpoint", "nearest"):
        for q in (0.1, 0.3, 0.5, 0.77):
            np.testing.assert_allclose(x.quantile(q, 1, interpolation=how).data, np.quantile(x.data, q, axis=1, method=how), rtol=1e-6)


def test_quantiles_know_nan_and_refuse_what_is_none():
    x = gl.tensor([4.0, NAN, 3.0])
    assert np.isnan(x.quantile(0.5).item()) and x.nanquantile(0.5).item() == 3.5
    assert gradient(lambda x: x.quantile(0.5), [4.0, NAN, 3.0]) == [0.0, 1.0, 0.0]
    for error, text, call in [
        (ArgumentError, "which part is below", lambda: x.quantile(1.5)),
        (ArgumentError, "how between two entries", lambda: x.quantile(0.5, interpolation="no")),
        (ShapeError, "nothing to choose from", lambda: gl.zeros(0).quantile(0.5)),
        (DTypeError, "takes floating numbers", lambda: gl.tensor([1, 2]).quantile(0.5)),
    ]:
        with pytest.raises(error, match=f"quantile: {text}"):
            call()


def test_infinite_neighbours_blend_to_infinity_and_bins_do_not_reach_there():
    x = gl.tensor([float("inf"), -float("inf"), 1.0])
    assert x.quantile(0.4).item() == -float("inf")
    with pytest.raises(ArgumentError, match="histc: no bins reach that far"):
        gl.histc(x)
    with pytest.raises(ShapeError, match="median: nothing to choose from"):
        gl.median(gl.tensor(np.zeros(0, int)))
    with pytest.raises(DimError, match="unique: there is no axis 1"):
        gl.unique(x, dim=1)


def test_unique_values_come_in_order_with_what_is_asked_besides():
    x = gl.tensor([[3, 1], [3, 2]])
    values, inverse, counts = gl.unique(x, return_inverse=True, return_counts=True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 3], [[2, 0], [2, 1]], [1, 1, 2])
    rows, inverse = gl.unique(gl.tensor([[1, 2], [1, 2], [0, 5]]), dim=0, return_inverse=True)
    assert rows.tolist() == [[0, 5], [1, 2]] and inverse.tolist() == [1, 1, 0]
    assert gl.unique(gl.tensor([NAN, NAN])).shape == (2,) and gl.unique(gl.tensor(3.0)).tolist() == [3.0]
    values, inverse, counts = gl.unique_consecutive(gl.tensor([1, 1, 2, 2, 1]), return_inverse=True, return_counts=True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2, 1], [0, 0, 1, 1, 2], [2, 2, 1])
    assert gl.unique_consecutive(gl.zeros(0)).shape == (0,)


def test_places_among_sorted_entries():
    s, v = gl.tensor([1.0, 2.0, 2.0, 3.0]), gl.tensor([2.0, 0.0, 4.0])
    assert gl.searchsorted(s, v).tolist() == [1, 0, 4] and gl.searchsorted(s, v, side="right").tolist() == [3, 0, 4]
    assert gl.searchsorted(gl.tensor([[1.0, 2.0], [3.0, 4.0]]), gl.tensor([[1.5], [3.5]])).tolist() == [[1], [1]]
    assert gl.searchsorted(s, 2.5).item() == 3 and gl.searchsorted(s, v, out_int32=True).dtype == "int32"
    assert gl.searchsorted(gl.tensor([3.0, 1.0]), v, sorter=gl.tensor([1, 0])).tolist() == [1, 0, 2]
    assert gl.bucketize(gl.tensor([[1.0, 5.0]]), gl.tensor([1.0, 3.0])).tolist() == [[0, 2]]
    assert gl.bucketize(gl.tensor([[1.0, 5.0]]), gl.tensor([1.0, 3.0]), right=True).tolist() == [[1, 2]]
    with pytest.raises(ShapeError, match="searchsorted: the rows don't pair up"):
        gl.searchsorted(gl.ones(2, 2), v)
    with pytest.raises(ArgumentError, match="searchsorted: which side"):
        gl.searchsorted(s, v, side="middle")


def test_counts_in_bins_and_of_integers():
    x = gl.tensor([1.0, 2.0, 1.0, 3.0])
    assert gl.histc(x, 4, 0, 3).tolist() == [0.0, 2.0, 1.0, 1.0] and gl.histc(x, 4).tolist() == [2.0, 0.0, 1.0, 1.0]
    assert gl.histc(gl.tensor([1.0, 1.0]), 2).tolist() == [0.0, 2.0] and gl.histc(gl.tensor([0.0, 5.0]), 2, 1, 3).tolist() == [0.0, 0.0]
    assert gl.bincount(gl.tensor([1, 1, 3]), minlength=6).tolist() == [0, 2, 0, 1, 0, 0] and gl.bincount(
        gl.tensor(np.zeros(0, int))
    ).shape == (0,)
    assert gl.bincount(gl.tensor([1, 1]), weights=gl.tensor([1, 2])).dtype == "float64"
    assert gl.bincount(gl.tensor([1, 1]), weights=gl.tensor([0.5, 2.0])).dtype == "float32"
    for error, text, call in [
        (ArgumentError, "histc: which bins", lambda: gl.histc(x, 0)), (ArgumentError, "histc: which bins", lambda: gl.histc(x, 2, 3, 1)),
        (ArgumentError, "bincount: there is no count", lambda: gl.bincount(gl.tensor([-1]))),
        (DTypeError, "bincount: counts integers", lambda: gl.bincount(x)), (ShapeError, "one axis", lambda: gl.bincount(gl.tensor([[1]]))),
        (ShapeError, "one weight a number", lambda: gl.bincount(gl.tensor([1, 1]), gl.ones(1))),
    ]:  # fmt: skip
        with pytest.raises(error, match=text):
            call()


def test_one_hot_rows_and_sets():
    assert gl.nn.functional.one_hot(gl.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]] and gl.one_hot(gl.tensor(1), 3).shape == (3,)
    for error, call in [
        (LabelError, lambda: gl.one_hot(gl.tensor([0, 2]), 2)), (LabelError, lambda: gl.one_hot(gl.tensor([-1]))),
        (DTypeError, lambda: gl.one_hot(gl.tensor([0.0]))), (ArgumentError, lambda: gl.one_hot(gl.tensor(np.zeros(0, int)))),
    ]:  # fmt: skip
        with pytest.raises(error, match="one_hot: "):
            call()
    x = gl.tensor([[0.0, 1.0], [2.0, 1.0]])
    assert gl.isin(x, [1.0]).tolist() == [[False, True], [False, True]] and gl.isin(x, 2.0, invert=True).sum().item() == 3
    assert gl.isin(2.0, x).item() is True


def test_the_most_frequent_entry_is_the_smallest_of_several_at_its_last_place():
    x = gl.tensor([[3.0, 1.0, 2.0, 1.0], [1.0, 0.0, 1.0, 0.0]], requires_grad=True)
    values, indices = gl.mode(x, 1)
    assert values.tolist() == [1.0, 0.0] and indices.tolist() == [3, 3]
    values.sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 0.0, 1.0]] * 2
    assert (
        gl.mode(gl.tensor([[1, 2, 2], [3, 3, 1]]), 1, True).indices.tolist() == [[2], [1]] and gl.mode(gl.tensor(3.0)).indices.item() == 0
    )
    assert gl.mode(gl.tensor([[1, 2], [2, 2]]), 0).values.tolist() == [1, 2]
    with pytest.raises(ShapeError, match="mode: nothing to choose from"):
        gl.mode(gl.zeros(0))
