"""Losses against formulas written out, labels that are ignored or wrong, and shapes that would broadcast."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import ops
from gradlab.errors import DTypeError, ShapeError

X = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0], [2.0, 2.0, 2.0]])


def logits(values=X):
    return gl.tensor(np.array(values, "float64"), requires_grad=True)


def logs(x):
    return x - np.log(np.exp(x).sum(1, keepdims=True))


def test_the_mean_counts_only_rows_that_are_not_ignored():
    x = logits()
    loss = gl.cross_entropy(x, gl.tensor([1, -100, 0]))
    loss.backward()
    assert loss.item() == pytest.approx(0.7814905363880273, rel=1e-12)
    np.testing.assert_allclose(
        x.grad.data, [[0.11561194881107452, -0.18573414039411879, 0.07012219158304424], [0, 0, 0], [-1 / 3, 1 / 6, 1 / 6]], rtol=1e-12
    )


def test_the_reductions():
    y = gl.tensor([1, -100, 0])
    np.testing.assert_allclose(gl.cross_entropy(logits(), y, reduction="none").data, [0.4643687841079449, 0.0, 1.0986122886681098])
    assert gl.cross_entropy(logits(), y, reduction="sum").item() == pytest.approx(1.5629810727760547)
    assert gl.cross_entropy(logits(), gl.tensor([1, 0, 0]), ignore_index=0).item() == pytest.approx(0.4643687841079449)
    for f in (gl.cross_entropy, gl.mse_loss):
        with pytest.raises(ValueError, match=r'which reduction\?\n  reduction \'avg\'\n  need:     "mean", "sum" or "none"'):
            f(logits(), gl.tensor([1, 0, 0]), reduction="avg")


def test_where_everything_is_ignored_the_mean_is_nan_the_sum_zero_and_no_gradient_flows():
    nobody = gl.tensor([-100] * 3)
    assert np.isnan(gl.cross_entropy(logits(), nobody).item())
    for reduction in ("sum", "mean"):
        x = logits()
        loss = gl.cross_entropy(x, nobody, reduction=reduction)
        loss.backward()
        assert (x.grad.data == 0).all() and (reduction == "mean" or loss.item() == 0.0)
    assert np.isnan(gl.cross_entropy(gl.zeros(0, 3), gl.zeros(0, dtype=gl.int64)).item())


def test_a_label_outside_the_classes_is_refused():
    for bad in ([3, 0, 0], [-1, 0, 0]):
        with pytest.raises(IndexError, match=r"a class id is none of the classes\n.*\n.*\n  need:    0 to 2, or ignore_index=-100"):
            gl.cross_entropy(logits(), gl.tensor(bad))
        with pytest.raises(IndexError, match="none of the classes"):
            gl.cross_entropy(logits(), gl.tensor(bad), label_smoothing=0.1)


def test_the_label_minus_hundred_is_no_place_even_with_hundreds_of_classes():
    x = gl.zeros(1, 150, requires_grad=True)
    loss = gl.cross_entropy(x, gl.tensor([-100]), reduction="sum")
    loss.backward()
    assert loss.item() == 0.0 and (x.grad.data == 0).all()


def test_huge_scores_neither_overflow_nor_vanish():
    x = logits([[1e4, 0.0]])
    loss = gl.cross_entropy(x, gl.tensor([1]))
    loss.backward()
    assert loss.item() == 1e4 and x.grad.tolist() == [[1.0, -1.0]]
    x = gl.tensor([[1e4, 0.0]], requires_grad=True)
    gl.cross_entropy(x, gl.tensor([[0.0, 1.0]])).backward()
    assert x.grad.tolist() == [[1.0, -1.0]]


def test_a_class_masked_by_minus_infinity_costs_nothing_where_nobody_wants_it():
    for kw in ({}, {"weight": [1.0, 2.0, 3.0]}):
        x = logits([[0.0, 0.0, -np.inf]])
        loss = gl.cross_entropy(x, gl.tensor([0]), **kw)
        loss.backward()
        assert loss.item() == pytest.approx(np.log(2)) and x.grad.tolist() == [[-0.5, 0.5, 0.0]]


def test_the_class_axis_is_the_second():
    x = gl.tensor(np.arange(12.0).reshape(2, 3, 2))
    assert gl.cross_entropy(x, gl.tensor([[0, 1], [2, -100]])).item() == pytest.approx(2.142931628499899)
    assert gl.cross_entropy(x, gl.tensor([[0, 1], [2, -100]]), reduction="none").shape == (2, 2)
    assert gl.cross_entropy(gl.tensor(X[0]), gl.tensor(1)).item() == pytest.approx(0.4643687841079449)
    assert gl.cross_entropy(gl.tensor(X[0]), 1, reduction="none").shape == ()


def test_targets_may_be_probabilities():
    p = gl.tensor([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], dtype="float64", requires_grad=True)
    x = logits()
    loss = gl.cross_entropy(x, p)
    loss.backward()
    assert loss.item() == pytest.approx(0.7096216588444945)
    np.testing.assert_allclose(x.grad.data, (np.exp(logs(X)) - p.data) / 3)
    np.testing.assert_allclose(p.grad.data, -logs(X) / 3)
    assert gl.cross_entropy(x, p, reduction="none").shape == (3,)
    assert np.isnan(gl.cross_entropy(gl.zeros(0, 3), gl.zeros(0, 3)).item())
    assert gl.cross_entropy(gl.tensor(X[0]), gl.tensor([0.5, 0.5, 0.0]), reduction="none").shape == ()


def test_class_ids_and_their_probabilities_agree():
    ids, onehot = gl.tensor([2, 0, 1]), gl.tensor(np.eye(3)[[2, 0, 1]])
    for kw in ({}, {"label_smoothing": 0.3}, {"reduction": "sum"}, {"reduction": "none", "label_smoothing": 1.0}):
        a, b = logits(), logits()
        la, lb = gl.cross_entropy(a, ids, **kw), gl.cross_entropy(b, onehot, **kw)
        np.testing.assert_allclose(la.data, lb.data)
        la.sum().backward()
        lb.sum().backward()
        np.testing.assert_allclose(a.grad.data, b.grad.data, atol=1e-15)


def test_weights_count_in_the_sum_and_in_the_mean_of_class_ids():
    w, ids = np.array([1.0, 2.0, 3.0]), [2, 0, -100]
    each = -logs(X)[[0, 1], [2, 0]] * w[[2, 0]]
    for weight in (w, gl.tensor(w), w.tolist()):
        np.testing.assert_allclose(gl.cross_entropy(logits(), gl.tensor(ids), weight, reduction="none").data, [*each, 0.0])
        assert gl.cross_entropy(logits(), gl.tensor(ids), weight).item() == pytest.approx(each.sum() / 4.0)
    p = np.full((3, 3), 1 / 3)
    assert gl.cross_entropy(logits(), gl.tensor(p), w).item() == pytest.approx((-(logs(X) * w).sum() / 3) / 3)


def test_label_smoothing_moves_its_share_to_all_classes():
    ids, s, w = [2, 0, 1], 0.2, np.array([1.0, 2.0, 3.0])
    right = logs(X)[[0, 1, 2], ids]
    want = -(1 - s) * right - s * logs(X).mean(1)
    np.testing.assert_allclose(gl.cross_entropy(logits(), gl.tensor(ids), reduction="none", label_smoothing=s).data, want)
    want = -(1 - s) * right * w[ids] - s * (logs(X) * w).mean(1)
    np.testing.assert_allclose(gl.cross_entropy(logits(), gl.tensor(ids), w, reduction="none", label_smoothing=s).data, want)


@pytest.mark.parametrize(
    ("x", "target", "error", "text"),
    [
        ((3, 4), np.zeros((3, 1), int), ShapeError, "input and target don't belong together"),
        ((3, 4), np.zeros(4, int), ShapeError, "class ids: input (batch, class, *), target (batch, *)"),
        ((3, 4), np.zeros((3, 4), int), ShapeError, "don't belong together"),
        ((3, 4), np.zeros((1, 4)), ShapeError, "probabilities: the same shape"),
        ((), np.zeros((), int), ShapeError, "don't belong together"),
        ((3, 4), np.zeros(3), DTypeError, "class ids are integers"),
        ((3, 4), np.zeros(3, bool), DTypeError, "class ids are integers"),
    ],
)
def test_targets_that_do_not_belong_to_the_scores_are_refused(x, target, error, text):
    with pytest.raises(error) as raised:
        gl.cross_entropy(gl.zeros(x), gl.tensor(target))
    assert text in str(raised.value)


def test_scores_must_be_floating():
    with pytest.raises(DTypeError, match=r"try:   input\.float\(\)"):
        gl.cross_entropy(gl.tensor([[1, 2]]), gl.tensor([0]))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64"])
def test_class_ids_may_be_any_integers(dtype):
    assert gl.cross_entropy(logits(), gl.tensor(np.array([1, 0, 2], dtype))).item() == pytest.approx(
        gl.cross_entropy(logits(), [1, 0, 2]).item()
    )


def test_the_loss_has_the_dtype_of_the_scores():
    x = gl.tensor(X.astype("float32"), requires_grad=True)
    for kw in ({}, {"weight": np.ones(3)}, {"label_smoothing": 0.1}, {"reduction": "none"}, {"reduction": "sum"}):
        for y in ([1, -100, 0], [-100] * 3):
            assert gl.cross_entropy(x, gl.tensor(y), **kw).dtype == "float32"


def test_squared_errors():
    a, b = gl.tensor([1.0, 2.0, 4.0], requires_grad=True), gl.tensor([1.0, 4.0, 1.0], requires_grad=True)
    loss = gl.mse_loss(a, b)
    loss.backward()
    assert loss.item() == pytest.approx(13 / 3)
    np.testing.assert_allclose(a.grad.data, [0.0, -4 / 3, 2.0], rtol=1e-6)
    np.testing.assert_allclose(b.grad.data, [0.0, 4 / 3, -2.0], rtol=1e-6)
    assert gl.mse_loss(a, b, reduction="sum").item() == 13.0 and gl.mse_loss(a, b, reduction="none").tolist() == [0.0, 4.0, 9.0]
    assert np.isnan(gl.mse_loss(gl.zeros(0), gl.zeros(0)).item())


def test_squared_errors_refuse_shapes_that_would_broadcast():
    with pytest.raises(ShapeError, match=r"mse_loss: input and target have different shapes\n  input  \(4, 1\)\n  target \(4,\)") as error:
        gl.mse_loss(gl.zeros(4, 1), gl.zeros(4))
    assert "try:   target.reshape(input.shape)" in str(error.value)
    with pytest.raises(ShapeError) as error:
        gl.mse_loss(gl.zeros(4, 2), gl.zeros(4))
    assert "try:" not in str(error.value)


SCORES = np.array([-1000.0, -40.0, 0.0, 40.0, 1000.0])
TAIL = 4.248354255291589e-18  # 1 / (1 + e^40)


def test_yes_and_no_from_scores_neither_overflow_nor_lose_digits():
    z = gl.tensor(SCORES, requires_grad=True)
    y = gl.binary_cross_entropy_with_logits(z, gl.tensor([1.0, 1.0, 0.0, 1.0, 0.0]), reduction="none")
    y.sum().backward()
    np.testing.assert_allclose(y.data, [1000, 40, np.log(2), TAIL, 1000], rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(z.grad.data, [-1, -1, 0.5, -TAIL, 1], rtol=1e-14, atol=1e-300)


def test_the_weight_of_yes():
    z, t = gl.tensor([[1.0, -2.0], [0.5, 0.0]], dtype="float64"), gl.tensor([[1.0, 0.0], [1.0, 1.0]], dtype="float64")
    s = 1 / (1 + np.exp(-z.data))
    for w in (3.0, [3.0, 0.5], gl.tensor([3.0, 0.5])):
        p = np.asarray(w.data if isinstance(w, gl.Tensor) else w)
        want = -(p * t.data * np.log(s) + (1 - t.data) * np.log(1 - s))
        np.testing.assert_allclose(gl.binary_cross_entropy_with_logits(z, t, pos_weight=w, reduction="none").data, want, rtol=1e-12)
        np.testing.assert_allclose(gl.binary_cross_entropy_with_logits(z, t, pos_weight=w).item(), want.mean(), rtol=1e-12)
        assert gl.binary_cross_entropy_with_logits(ops.cast(z, "float32"), ops.cast(t, "float32"), pos_weight=w).dtype == "float32"


def test_yes_and_no_from_probabilities_cost_at_most_a_hundred():
    p = gl.tensor([0.0, 1.0, 0.5, 0.0, 1.0], requires_grad=True)
    y = gl.binary_cross_entropy(p, gl.tensor([0.0, 1.0, 1.0, 1.0, 0.0]), reduction="none")
    y.sum().backward()
    np.testing.assert_allclose(y.data, [0.0, 0.0, np.log(2), 100.0, 100.0], rtol=1e-6)
    assert np.isfinite(p.grad.data).all() and p.grad.data[2] == -2.0
    np.testing.assert_allclose(gl.binary_cross_entropy([0.2, 0.9], [0.0, 1.0]).item(), -(np.log(0.8) + np.log(0.9)) / 2, rtol=1e-6)
    for f in (gl.binary_cross_entropy, gl.binary_cross_entropy_with_logits):
        x = gl.zeros(0, requires_grad=True)
        loss = f(x, gl.zeros(0))
        loss.backward()
        assert np.isnan(loss.item()) and x.grad.shape == (0,)


def test_what_is_no_probability_is_refused():
    for bad in ([1.5], [-0.1], [np.nan]):
        with pytest.raises(ValueError, match=r"an entry of input is no probability\n.*\n.*\n.*\n  try:     input\.sigmoid\(\)"):
            gl.binary_cross_entropy(bad, [1.0])


def test_losses_of_yes_and_no_refuse_shapes_that_would_broadcast():
    for f in (gl.binary_cross_entropy, gl.binary_cross_entropy_with_logits):
        with pytest.raises(ShapeError, match="input and target have different shapes"):
            f(gl.zeros(4, 1), gl.zeros(4))
        with pytest.raises(ValueError, match="which reduction"):
            f(gl.zeros(4), gl.zeros(4), reduction="avg")
