"""Making tensors: shapes, dtypes, ownership and random numbers."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import DTypeError, ShapeError


def test_tensor_copies_and_from_numpy_shares():
    array = np.ones(2)
    copied, shared = gl.tensor(array), gl.from_numpy(array)
    array[0] = 5.0
    assert copied.tolist() == [1.0, 1.0] and shared.tolist() == [5.0, 1.0]


def test_tensor_takes_a_tensor_a_dtype_and_a_flag():
    x = gl.tensor(gl.tensor([1, 2]), dtype=gl.float64, requires_grad=True)
    assert x.dtype == np.float64 and x.requires_grad and x.is_leaf


def test_sizes_come_as_numbers_or_as_one_tuple():
    for make in (gl.zeros, gl.ones, gl.rand, gl.randn):
        assert make(2, 3).shape == make((2, 3)).shape == (2, 3) and make(()).shape == make().shape == ()
        assert make(2).dtype == np.float32 and make(2, dtype=gl.float64, requires_grad=True).requires_grad


@pytest.mark.parametrize("shape", [(-1,), (2.5,), ("a",)])
def test_sizes_that_are_none_are_refused(shape):
    with pytest.raises(ShapeError, match="whole numbers"):
        gl.zeros(*shape)


def test_full_eye_arange_and_linspace():
    assert (
        gl.full((2,), 7).dtype == np.int64
        and gl.full((2,), 1.5).dtype == np.float32
        and gl.full(2, 1, dtype=gl.float64).dtype == np.float64
    )
    assert gl.eye(2).tolist() == [[1, 0], [0, 1]] and gl.eye(2, 3).shape == (2, 3)
    assert gl.arange(3).dtype == np.int64 and gl.arange(1.0, 2.0, 0.5).tolist() == [1.0, 1.5] and gl.arange(3.0).dtype == np.float32
    assert gl.arange(3, dtype=gl.float64).dtype == np.float64
    assert gl.linspace(0, 1, 3).tolist() == [0.0, 0.5, 1.0]


def test_like_follows_shape_and_dtype():
    x = gl.zeros(2, 3, dtype=gl.float64)
    assert gl.ones_like(x).dtype == np.float64 and gl.zeros_like(x, dtype=gl.int32).dtype == np.int32 and gl.ones_like(x).shape == (2, 3)


def test_random_numbers_repeat_with_the_seed():
    def draw():
        gl.manual_seed(3)
        return [gl.rand(3).tolist(), gl.randn(3).tolist(), gl.randint(0, 9, (4,)).tolist(), gl.randperm(5).tolist()]

    assert draw() == draw()
    first = gl.rand(1000).data
    assert first.min() >= 0 and first.max() < 1 and sorted(gl.randperm(5).tolist()) == [0, 1, 2, 3, 4]
    assert gl.randint(2, 4, 100).data.min() == 2 and gl.randint(2, 4, 100).data.max() == 3


def test_integers_can_not_require_a_gradient_at_creation():
    with pytest.raises(DTypeError):
        gl.arange(3, requires_grad=True)


def test_numpy_integers_count_as_integers_and_float64_is_drawn_finely():
    assert gl.arange(np.int64(3)).dtype == np.int64
    for draw in (gl.rand, gl.randn):
        numbers = draw(100, dtype=gl.float64).data
        assert (numbers != numbers.astype(np.float32)).any()
