"""Questions about values: NaN, infinities, zeros."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

INF, NAN = np.inf, np.nan


X = [-INF, -1.0, -0.0, 0.0, 2.5, INF, NAN]


@pytest.mark.parametrize(
    ("f", "want"),
    [
        (gl.isnan, [0, 0, 0, 0, 0, 0, 1]),
        (gl.isinf, [1, 0, 0, 0, 0, 1, 0]),
        (gl.isfinite, [0, 1, 1, 1, 1, 0, 0]),
        (gl.isposinf, [0, 0, 0, 0, 0, 1, 0]),
        (gl.isneginf, [1, 0, 0, 0, 0, 0, 0]),
        (gl.logical_not, [0, 0, 1, 1, 0, 0, 0]),
    ],
)
def test_questions_about_one_value(f, want):
    y = f(gl.tensor(X, requires_grad=True))
    assert y.tolist() == list(map(bool, want)) and y.dtype == "bool" and y.grad_fn is None and not y.requires_grad
    assert f(gl.tensor([1, 0])).dtype == f(gl.tensor([True])).dtype == f(0.5).dtype == "bool"


def test_two_truths():
    a, b = gl.tensor([1.0, 0.0, NAN, 0.0]), gl.tensor([2, 2, 0, 0])
    assert gl.logical_and(a, b).tolist() == [True, False, False, False]
    assert gl.logical_or(a, b).tolist() == [True, True, True, False]
    assert gl.logical_xor(a, b).tolist() == [False, True, True, False]


def test_other_names_of_comparisons():
    x = gl.tensor([1.0, 2.0, 3.0])
    named = {gl.less: [1, 0, 0], gl.less_equal: [1, 1, 0], gl.greater: [0, 0, 1], gl.greater_equal: [0, 1, 1], gl.not_equal: [1, 0, 1]}
    for f, want in named.items():
        assert f(x, 2.0).tolist() == list(map(bool, want))


def test_closeness_is_a_share_of_the_second_and_a_distance():
    a, b = gl.tensor([1.0, 100.0, INF, -INF, NAN, 0.0]), gl.tensor([1.000001, 101.0, INF, INF, NAN, 1e-9])
    assert gl.isclose(a, b).tolist() == [True, False, True, False, False, True]
    assert gl.isclose(a, b, rtol=0.01, equal_nan=True).tolist() == [True, True, True, False, True, True]
    assert gl.isclose([1.0], [2.0], rtol=0.5).item() and not gl.isclose([2.0], [1.0], rtol=0.5).item()
    assert gl.isclose(gl.tensor([1, 100000]), gl.tensor([2, 100001])).tolist() == [False, True]
    assert gl.allclose([1.0, 2.0], [1.0, 2.0 + 1e-6]) and not gl.allclose([1.0], [1.1]) and a.allclose(a) is False
    big, small = gl.tensor([2**30, 2]), gl.tensor([3], dtype="uint8")
    assert gl.isclose(big, big + 1, rtol=0.0, atol=0.5).tolist() == [False, False] and big.allclose(big + 1, atol=1.0)
    assert gl.isclose(small - 1, small, atol=1.0).item() and gl.isclose(gl.tensor([True]), gl.tensor([True])).item()
    with pytest.raises(ValueError, match="a distance is not negative"):
        gl.isclose([1.0], [1.0], atol=-1.0)


def test_equal_asks_for_shape_and_values():
    assert gl.equal([1.0, 2.0], [1.0, 2.0]) and gl.equal(gl.tensor([1]), gl.tensor([1.0])) and gl.equal(gl.zeros(0), gl.zeros(0))
    assert gl.equal(gl.tensor([True, False]), gl.tensor([True, False])) and not gl.equal(gl.tensor([True]), gl.tensor([False]))
    assert not gl.equal([1.0], [1.0, 1.0]) and not gl.equal([NAN], [NAN]) and not gl.tensor([1.0]).equal(gl.tensor([2.0]))


def test_bits_of_integers_and_truth_values():
    a, b = gl.tensor([6, 5, -1]), gl.tensor([3, 3, 3])
    assert [(a & b).tolist(), (a | b).tolist(), (a ^ b).tolist(), (~a).tolist()] == [[2, 1, 3], [7, 7, -1], [5, 6, -4], [-7, -6, 0]]
    assert (7 & a).tolist() == [6, 5, 7] and (7 | a).tolist() == [7, 7, -1] and (7 ^ a).tolist() == [1, 2, -8]
    p, q = gl.tensor([True, True, False]), gl.tensor([True, False, False])
    assert [(p & q).tolist(), (p | q).tolist(), (p ^ q).tolist(), (~p).tolist()] == [
        [True, False, False], [True, True, False], [False, True, False], [False, False, True]]  # fmt: skip
    assert (p & 3).tolist() == [1, 1, 0] and (p & 3).dtype == "int64" and (p & True).dtype == "bool"
    assert (np.array([True, True, True]) & p).tolist() == [True, True, False]


def test_shifts_beyond_the_last_bit():
    x = gl.tensor([5, -5])
    assert [(x << s).tolist() for s in (0, 1, 64, -1)] == [[5, -5], [10, -10], [0, 0], [0, 0]]
    assert [(x >> s).tolist() for s in (0, 1, 64)] == [[5, -5], [2, -3], [0, -1]]
    assert (1 << gl.tensor([3])).tolist() == [8] and (8 >> gl.tensor([3])).tolist() == [1]


@pytest.mark.parametrize(
    "f", [lambda x, y: x & y, lambda x, y: x | y, lambda x, y: x ^ y, lambda x, y: x << y, lambda x, y: x >> y, lambda x, y: ~y]
)
def test_floats_have_no_bits(f):
    for x, y in [(gl.tensor([1]), gl.tensor([1.0])), (gl.tensor([1.0]), gl.tensor([1.0]))]:
        with pytest.raises(TypeError, match="only integers and truth values have bits"):
            f(x, y)
    with pytest.raises(TypeError):
        gl.tensor([1]) & 1.5


def test_truth_values_are_not_shifted():
    for f in (gl.bitwise_left_shift, gl.bitwise_right_shift):
        with pytest.raises(TypeError, match="truth values"):
            f(gl.tensor([True]), gl.tensor([True]))


def test_numbers_alone_are_taken_too():
    assert gl.heaviside(0.0, [0.5, 2.0]).dtype == gl.positive(0.5).dtype == gl.prelu([-1.0], 0.5).dtype == "float32"
    assert gl.bitwise_not(5).item() == -6 and gl.isnan(NAN).item() and gl.equal(True, True) and gl.fmax(1.0, NAN).item() == 1.0
    with pytest.raises(TypeError, match="~x: only integers"):
        gl.bitwise_not(0.5)
