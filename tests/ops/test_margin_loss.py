"""Losses with a margin, and distances: what counts as near enough, ties at the margin, and class ids."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab.errors import ArgumentError, DimError, DTypeError, LabelError, ShapeError


def leaf(*values):
    return gl.tensor(np.array(values, "float64"), requires_grad=True)


def test_hinge_embedding_charges_both_sides_of_a_target_that_is_neither():
    x = leaf(1.0, 2.0, 0.0, 1.0)
    y = F.hinge_embedding_loss(x, [1, -1, 0, -1], reduction="none")
    y.sum().backward()
    assert y.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert x.grad.tolist() == [1.0, 0.0, 0.0, -1.0]  # at the margin the slope is still there, as in PyTorch


def test_ranking_wants_an_order():
    a, b, t = leaf(1.0, 2.0, 3.0), leaf(3.0, 1.0, 3.0), leaf(1.0, 1.0, -1.0)
    y = F.margin_ranking_loss(a, b, t, margin=0.5, reduction="none")
    y.sum().backward()
    assert y.tolist() == [2.5, 0.0, 0.5]
    assert a.grad.tolist() == [-1.0, 0.0, 1.0] and b.grad.tolist() == [1.0, 0.0, -1.0] and t.grad.tolist() == [2.0, 0.0, 0.0]


def test_soft_margin_neither_overflows_nor_vanishes():
    x = leaf(0.0, 1000.0, -1000.0)
    y = F.soft_margin_loss(x, [1.0, -1.0, -1.0], reduction="none")
    y.sum().backward()
    np.testing.assert_allclose(y.data, [np.log(2), 1000.0, 0.0])
    assert x.grad.tolist() == [-0.5, 1.0, 0.0]


def test_multi_margin_charges_classes_near_the_right_one():
    x = leaf([0.0, 1.0, 0.5], [2.0, 0.0, 1.0])
    y = F.multi_margin_loss(x, [1, 0], reduction="none")
    y.sum().backward()
    assert y.tolist() == [0.5 / 3, 0.0]  # a class exactly a margin away costs nothing
    np.testing.assert_allclose(x.grad.data, [[0, -1 / 3, 1 / 3], [0, 0, 0]])
    assert F.multi_margin_loss(x, [1, 0], p=2, weight=[1.0, 3.0, 1.0]).item() == pytest.approx(3 * 0.25 / 3 / 2)
    assert F.multi_margin_loss(x[0], 1).item() == pytest.approx(0.5 / 3)


def test_multilabel_margin_reads_the_classes_up_to_the_first_minus_one():
    x = leaf(0.1, 0.2, 0.4, 0.8)
    y = F.multilabel_margin_loss(x, [3, 0, -1, 1])
    y.backward()
    assert y.item() == pytest.approx(0.85)
    np.testing.assert_allclose(x.grad.data, [-0.5, 0.5, 0.5, -0.5])
    assert F.multilabel_margin_loss(x, [3, 3, -1, 1]).item() == pytest.approx((0.3 + 0.4 + 0.6) / 4)
    assert F.multilabel_margin_loss(x, [-1, 0, 1, 2]).item() == 0.0


def test_class_ids_are_checked():
    x = np.zeros((2, 3))
    for loss, ids in [(F.multi_margin_loss, [0, 3]), (F.multi_margin_loss, [-1, 0]), (F.multilabel_margin_loss, [[0, 3, -1], [-2, 0, 0]])]:
        with pytest.raises(LabelError, match="a class id is none of the classes"):
            loss(x, np.array(ids))
    for loss, ids in [(F.multi_margin_loss, [0.0, 1.0]), (F.multilabel_margin_loss, x)]:
        with pytest.raises(DTypeError, match="class ids are integers"):
            loss(x, np.array(ids))
    with pytest.raises(ShapeError, match=r"input and target don't belong together\n  input  \(2, 3\)\n  target \(3,\)"):
        F.multi_margin_loss(x, [0, 1, 2])
    with pytest.raises(ShapeError, match="one weight a class"):
        F.multi_margin_loss(x, [0, 1], weight=[1.0])
    with pytest.raises(ArgumentError, match="which power"):
        F.multi_margin_loss(x, [0, 1], p=3)
    with pytest.raises(ShapeError, match="which axis holds the classes"):
        F.multilabel_margin_loss(gl.tensor(1.0), 0)


def test_multilabel_soft_margin_is_the_mean_over_classes():
    x, t = leaf([0.0, 2.0], [1.0, -1.0]), np.array([[1.0, 0.0], [1.0, 1.0]])
    each = F.binary_cross_entropy_with_logits(x, t, reduction="none")
    np.testing.assert_allclose(F.multilabel_soft_margin_loss(x, t, reduction="none").data, each.data.mean(1))
    np.testing.assert_allclose(F.multilabel_soft_margin_loss(x, t, weight=[2.0, 0.0]).item(), each.data[:, 0].mean())
    with pytest.raises(ShapeError, match="there are no classes"):
        F.multilabel_soft_margin_loss(1.0, 1.0)


def test_a_triplet_is_charged_until_the_other_is_farther_by_the_margin():
    a, p, n = leaf([0.0, 0.0]), leaf([3.0, 4.0]), leaf([0.0, 5.5])
    y = F.triplet_margin_loss(a, p, n, eps=0.0)
    y.backward()
    assert y.item() == 0.5 and p.grad.tolist() == [[0.6, 0.8]] and n.grad.tolist() == [[0.0, -1.0]]
    assert F.triplet_margin_loss(a, p, n, eps=0.0, swap=True).item() == pytest.approx(6.0 - np.hypot(3.0, 1.5))
    with pytest.raises(ArgumentError, match="by how much"):
        F.triplet_margin_loss(a, p, n, margin=0.0)
    with pytest.raises(ShapeError, match="different shapes"):
        F.triplet_margin_loss(a, p, gl.zeros(2))


def test_the_gradient_of_a_distance_that_is_zero_is_zero():
    for p in (1.0, 2.0, 3.0, float("inf")):
        x = leaf([1.0, 1.0], [2.0, 2.0])
        F.pairwise_distance(x, x.data, p=p, eps=0.0).sum().backward()
        assert x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]
        x.grad = None
        gl.cdist(x, x.data, p=p).sum().backward()
        assert np.isfinite(x.grad.data).all()


def test_distances_between_all_rows_by_one_product_and_one_by_one_agree():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((40, 5)), rng.standard_normal((30, 5))
    want = np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
    np.testing.assert_allclose(gl.cdist(a, b).data, want)
    np.testing.assert_allclose(gl.cdist(a[:5], b[:5]).data, want[:5, :5])
    assert gl.cdist(a, a).data.diagonal().max() < 1e-6
    with pytest.raises(ShapeError, match="cdist: rows of the same length"):
        gl.cdist(a, b[:, :3])
    with pytest.raises(ArgumentError, match="cdist: which p"):
        gl.cdist(a, b, p=-1)
    with pytest.raises(ShapeError, match="pairwise_distance: takes vectors"):
        F.pairwise_distance(1.0, 2.0)


def test_a_cosine_of_nothing_is_zero_and_neither_is_its_gradient_nan():
    x = leaf([0.0, 0.0], [3.0, 4.0])
    y = F.cosine_similarity(x, np.array([[1.0, 2.0], [6.0, 8.0]]))
    y.sum().backward()
    np.testing.assert_allclose(y.data, [0.0, 1.0])
    assert np.isfinite(x.grad.data).all()


def test_a_vector_that_broadcasts_along_dim_is_as_long_as_what_it_meets():
    assert F.cosine_similarity(np.ones((2, 1)), np.ones((2, 4))).tolist() == [1.0, 1.0]
    np.testing.assert_allclose(F.cosine_similarity(np.ones(4), np.ones((3, 4)), dim=0).data, np.ones(4))
    with pytest.raises(DimError, match="cosine_similarity: there is no axis 2"):
        F.cosine_similarity(np.ones((2, 3)), np.ones((2, 3)), dim=2)
    with pytest.raises(ShapeError, match="cosine_similarity: the shapes don't broadcast"):
        F.cosine_similarity(np.ones((2, 3)), np.ones((2, 4)))
    with pytest.raises(DTypeError):
        F.cosine_similarity([[1, 2]], [[1, 2]])


def test_cosine_embedding_pulls_together_and_pushes_apart():
    a, b = leaf([1.0, 0.0], [1.0, 0.0], [1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    y = F.cosine_embedding_loss(a, b, [1, -1, 0], margin=0.5, reduction="none")
    np.testing.assert_allclose(y.data, [1.0, np.sqrt(0.5) - 0.5, 0.0])
    y.sum().backward()
    np.testing.assert_allclose(a.grad.data, [[0, -1], [0, np.sqrt(0.5)], [0, 0]], atol=1e-12)
    with pytest.raises(ShapeError, match="one target a pair"):
        F.cosine_embedding_loss(a, b, 1)
    with pytest.raises(ShapeError, match="rows of vectors"):
        F.cosine_embedding_loss(np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), np.zeros((1, 2)))


@pytest.mark.parametrize(
    "distance", [lambda x, p: F.pairwise_distance(x, np.zeros((1, 3)), p=p, eps=0.0), lambda x, p: gl.cdist(x, np.zeros((1, 3)), p=p)]
)
def test_ties_for_the_largest_difference_share_its_slope_and_a_count_has_none(distance):
    for p, want in [(float("inf"), [[0.5, -0.5, 0.0]]), (0.0, [[0.0, 0.0, 0.0]])]:
        x = leaf([2.0, -2.0, 1.0])
        distance(x, p).sum().backward()
        assert x.grad.tolist() == want


def test_a_triplet_may_be_measured_in_another_way():
    a, p, n = leaf([0.0, 0.0]), leaf([3.0, 4.0]), leaf([0.0, 5.5])
    y = F.triplet_margin_with_distance_loss(a, p, n, distance_function=lambda x, y: (x - y).abs().sum(-1), margin=2.0)
    assert y.item() == 3.5
    assert F.triplet_margin_with_distance_loss(a, p, n, swap=True).item() == pytest.approx(F.triplet_margin_loss(a, p, n, swap=True).item())
    with pytest.raises(ArgumentError, match="by how much"):
        F.triplet_margin_with_distance_loss(a, p, n, margin=0.0)
