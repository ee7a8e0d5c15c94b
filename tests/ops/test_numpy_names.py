"""NumPy's functions on tensors: the same answer as on arrays, and a step of the graph."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import KeywordError, ShapeError

A = np.random.default_rng(0).standard_normal((2, 1, 3))
V = np.random.default_rng(1).standard_normal(3)

CALLS = [
    *[(lambda x, f=f, kw=kw: f(x, **kw)) for f in (np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.var, np.std)
      for kw in ({}, {"axis": 0}, {"axis": (0, -1), "keepdims": True})],
    *[(lambda x, f=f: f(x, 2)) for f in (np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std)],
    lambda x: np.sum(x, 0, None, None, True), lambda x: np.max(x, 0, None, True), lambda x: np.var(x, 0, None, None, 1, True),
    lambda x: np.var(x, ddof=1), lambda x: np.std(x, axis=2, correction=1), lambda x: np.sum(x, dtype="float32"),
    lambda x: np.dot(x, V), lambda x: np.dot(V, V * x[0, 0]), lambda x: np.dot(x, 2.0), lambda x: np.dot(x[0], np.ones((3, 2))),
    lambda x: np.dot(x, np.arange(24.0).reshape(2, 3, 4)), lambda x: np.dot(V, np.transpose(x, (0, 2, 1))), lambda x: np.matmul(x, V),
    lambda x: np.concatenate([x, x]), lambda x: np.concatenate((A, x), axis=-1), lambda x: np.concatenate([x, V], axis=None),
    lambda x: np.stack([x, x], axis=-1), lambda x: np.stack([A, x]),
    lambda x: np.where(A > 0, x, 0.0), lambda x: np.where(A > 0, V, x),
    lambda x: np.clip(x, -0.5, 0.5), lambda x: np.clip(x, None, 0.2), lambda x: np.clip(x, V, V + 1),
    lambda x: np.clip(x, a_min=0, a_max=None),
    lambda x: np.clip(x, min=-0.1, max=V),
    lambda x: np.reshape(x, (3, -1)), lambda x: np.reshape(x, -1), lambda x: np.ravel(x), lambda x: np.transpose(x),
    lambda x: np.transpose(x, (1, 2, 0)), lambda x: np.swapaxes(x, 0, -1), lambda x: np.squeeze(x), lambda x: np.squeeze(x, axis=1),
    lambda x: np.expand_dims(x, 0), lambda x: np.expand_dims(x, (0, -1)), lambda x: np.expand_dims(x, (1, 3)),
    lambda x: np.broadcast_to(x, (2, 4, 3)), lambda x: np.abs(x), lambda x: np.exp(x), lambda x: np.negative(x),
]  # fmt: skip

CALLS += [
    lambda x: np.nansum(x, 2), lambda x: np.nanmean(x, axis=(0, 2)), lambda x: np.ptp(x, 0), lambda x: np.median(x),
    lambda x: np.median(x, 2),
    lambda x: np.median(x, (0, 2), keepdims=True), lambda x: np.quantile(x, [0.2, 0.7], axis=2), lambda x: np.percentile(x, 30, (0, 2)),
    lambda x: np.quantile(x, 0.3, method="lower"), lambda x: np.nanmedian(x, axis=0), lambda x: np.nanquantile(x, 0.4, 2, keepdims=True),
    lambda x: np.diff(x), lambda x: np.diff(x, 1, 0), lambda x: np.diff(x, prepend=A[..., :1]), lambda x: np.trapezoid(x, dx=0.5),
    lambda x: np.sort(x), lambda x: np.sort(x, axis=None), lambda x: np.sort(x, 0, "stable"), lambda x: np.take(x, [0, -1]),
    lambda x: np.take(x, [[0, 2]], axis=2), lambda x: np.take(x, 1, 0), lambda x: np.take_along_axis(x, np.argmax(A, 2, keepdims=True), 2),
    lambda x: np.trace(x[:, 0]), lambda x: np.trace(x, 1, 0, 2), lambda x: np.append(x, V), lambda x: np.append(x, A, 1),
    lambda x: np.vstack([x, A]), lambda x: np.hstack([x, A]), lambda x: np.dstack([x, A]), lambda x: np.column_stack([x[0, 0], V]),
    lambda x: np.split(x, 2)[1], lambda x: np.split(x, [1, 2], axis=2)[2], lambda x: np.array_split(x, 2, 2)[0],
    lambda x: np.vsplit(x, 2)[0],
    lambda x: np.hsplit(x[0, 0], 3)[1], lambda x: np.dsplit(x, 3)[2], lambda x: np.unstack(x, axis=2)[1],
    lambda x: np.broadcast_arrays(x, np.ones((1, 4, 1)))[0], lambda x: np.meshgrid(x[0, 0], V)[0], lambda x: np.atleast_3d(x[0]),
    lambda x: np.cumsum(x), lambda x: np.cumprod(x, 2), lambda x: np.flip(x), lambda x: np.flip(x, (0, 2)), lambda x: np.roll(x, 1, 2),
    lambda x: np.rot90(x, 1, (0, 2)), lambda x: np.tile(x, 2), lambda x: np.tile(x, (2, 1, 1, 1)), lambda x: np.repeat(x, 2),
    lambda x: np.repeat(x, [1, 0, 2], 2), lambda x: np.moveaxis(x, 0, -1), lambda x: np.diag(x[0, 0], 1), lambda x: np.diagonal(x, 0, 0, 2),
    lambda x: np.tril(x), lambda x: np.triu(x, 1),
]  # fmt: skip


def test_numpys_questions_on_tensors_are_answered_with_numpys_answers():
    x = gl.tensor(A, requires_grad=True)
    for f in (
        lambda x: np.any(x > 0, 2), lambda x: np.all(x > 0), lambda x: np.count_nonzero(x > 0, axis=0), lambda x: np.argsort(x),
        lambda x: np.argsort(x, axis=None), lambda x: np.searchsorted(np.sort(V), x), lambda x: np.isin(x, A[0]),
        lambda x: np.nonzero(x > 0)[1],
        lambda x: np.flatnonzero(x > 0), lambda x: np.argwhere(x > 0), lambda x: np.bincount(np.argmax(x, 2)[:, 0]),
    ):  # fmt: skip
        np.testing.assert_array_equal(np.asarray(f(x)), f(A))
    with pytest.raises(ShapeError, match="the pieces would not be equal"):
        np.split(x, 2, 2)


@pytest.mark.parametrize("call", CALLS)
def test_numpys_functions_give_numpys_answer_and_keep_the_graph(call):
    want = call(A)
    x = gl.tensor(A, requires_grad=True)
    y = call(x)
    assert isinstance(y, gl.Tensor) and y.requires_grad and y.shape == want.shape and y.dtype == want.dtype
    np.testing.assert_allclose(y.data, want, rtol=1e-6)
    g = np.random.default_rng(2).standard_normal(want.shape).astype(want.dtype)
    y.backward(gl.tensor(g))
    d = np.random.default_rng(3).standard_normal(A.shape)
    step = 1e-6 if want.dtype == "float64" else 1e-2
    slope = ((call(A + step * d) - call(A - step * d)) * g).sum() / (2 * step)
    assert (x.grad.data * d).sum() == pytest.approx(slope, rel=1e-5 if want.dtype == "float64" else 1e-3, abs=1e-7)


@pytest.mark.parametrize("f", [np.argmax, np.argmin])
def test_places_of_extrema_through_numpy(f):
    x = gl.tensor(A)
    for kw in ({}, {"axis": 2}, {"axis": 0, "keepdims": True}):
        np.testing.assert_array_equal(f(x, **kw).data, f(A, **kw))


def test_where_with_the_condition_alone_gives_places():
    (places,) = np.where(gl.tensor([False, True, True]))
    assert places.tolist() == [1, 2]


def test_an_axis_that_numpy_would_not_squeeze_is_refused():
    for axis in (0, (0, 1)):
        with pytest.raises(ShapeError, match=r"numpy\.squeeze: this axis has another size"):
            np.squeeze(gl.tensor(A), axis=axis)


def test_arguments_that_no_step_can_honour_are_refused():
    x = gl.tensor(A)
    for call in (
        lambda: np.sum(x, out=np.zeros(())),
        lambda: np.mean(x, where=A > 0),
        lambda: np.max(x, initial=3.0),
        lambda: np.reshape(x, -1, order="F"),
        lambda: np.concatenate([x, x], casting="no"),
    ):
        with pytest.raises(KeywordError, match=r"numpy\.\w+: not on a tensor"):
            call()
