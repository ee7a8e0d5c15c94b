"""Making tensors: shapes, dtypes, ownership and random numbers."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.errors import ArgumentError, DeviceError, DTypeError, KeywordError, ShapeError


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


FACTORIES = {
    "zeros": lambda **k: gl.zeros(2, 3, **k),
    "ones": lambda **k: gl.ones((2, 3), **k),
    "empty": lambda **k: gl.empty(2, 3, **k),
    "full": lambda **k: gl.full((2, 3), 1.5, **k),
    "eye": lambda **k: gl.eye(2, 3, **k),
    "arange": lambda **k: gl.arange(0.0, 3.0, 0.5, **k),
    "linspace": lambda **k: gl.linspace(0, 1, 5, **k),
    "logspace": lambda **k: gl.logspace(0, 1, 5, **k),
    "rand": lambda **k: gl.rand(2, 3, **k),
    "randn": lambda **k: gl.randn(2, 3, **k),
    "tensor": lambda **k: gl.tensor([1.0, 2.0], **k),
    "full_like": lambda **k: gl.full_like(gl.zeros(2, 3), 1.5, **k),
    "zeros_like": lambda **k: gl.zeros_like(gl.ones(2, 3), **k),
    "ones_like": lambda **k: gl.ones_like(gl.ones(2, 3), **k),
    "empty_like": lambda **k: gl.empty_like(gl.ones(2, 3), **k),
    "rand_like": lambda **k: gl.rand_like(gl.ones(2, 3), **k),
    "randn_like": lambda **k: gl.randn_like(gl.ones(2, 3), **k),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_every_factory_takes_a_dtype_a_device_and_requires_grad(name):
    make = FACTORIES[name]
    gl.manual_seed(1)
    host = make(dtype=gl.float64, requires_grad=True)
    gl.manual_seed(1)
    there = make(dtype=gl.float64, device="sim", requires_grad=True)
    assert host.dtype == there.dtype == "float64" and host.requires_grad and there.requires_grad and there.is_leaf
    assert host.device == "cpu" and there.device == "sim" and there.shape == host.shape
    assert "empty" in name or there.tolist() == host.tolist(), "the same numbers on every device"
    with gl.device("sim"):
        assert make().device == "sim"
        with gl.device("cpu"):
            assert make().device == "cpu"
    assert make().device == "cpu"


@pytest.mark.parametrize("make", [lambda **k: gl.randint(0, 9, (5,), **k), lambda **k: gl.randperm(5, **k), lambda **k: gl.arange(5, **k)])
def test_integers_are_made_on_a_device_too(make):
    gl.manual_seed(1)
    host = make()
    gl.manual_seed(1)
    there = make(device="sim")
    assert there.device == "sim" and there.tolist() == host.tolist() and there.dtype == host.dtype == "int64"
    assert make(dtype=gl.int32).dtype == "int32"


def test_like_follows_the_device_of_what_it_follows():
    x = gl.zeros(2, 3, dtype=gl.float64, device="sim")
    assert gl.ones_like(x).device == gl.randn_like(x).device == gl.randint_like(x, 5).device == "sim"
    assert gl.zeros_like(x, device="cpu").device == "cpu" and gl.full_like(x, 2).dtype == "float64"
    assert gl.randint_like(gl.zeros(3), 4, 5).tolist() == [4.0, 4.0, 4.0]
    with pytest.raises(KeywordError, match="what to follow is a tensor"):
        gl.zeros_like([1.0])


def test_a_tensor_stays_where_it_is_unless_a_device_is_named():
    x = gl.tensor([1.0, 2.0], device="sim")
    assert gl.tensor(x).device == "sim" and gl.tensor(x, device="cpu").device == "cpu" and gl.tensor(x.data).device == "sim"
    assert gl.as_tensor(x) is x and gl.as_tensor(x, dtype=gl.float64).device == "sim" and gl.as_tensor(x, device="cpu").device == "cpu"
    array = np.ones(2)
    assert gl.as_tensor(array).data is array and gl.as_tensor([1, 2], dtype=gl.float32).dtype == "float32"
    assert gl.Tensor([1.0], device="sim").device == "sim"


@pytest.mark.parametrize("bounds", [(0, 3, 0), (0, 3, -1), (3, 0), (0, float("inf")), (float("nan"),)])
def test_steps_that_lead_nowhere_are_refused(bounds):
    with pytest.raises(ArgumentError, match="never lead there"):
        gl.arange(*bounds)


def test_wrong_arguments_of_factories_are_refused_in_words():
    for call, error, text in [
        (lambda: gl.arange(), KeywordError, "one to three bounds"),
        (lambda: gl.arange(1, 2, 3, 4), KeywordError, "one to three bounds"),
        (lambda: gl.zeros(2, dtype="nonsense"), DTypeError, "no kind of number"),
        (lambda: gl.zeros(2, dtype="complex64"), DTypeError, "no kind of number"),
        (lambda: gl.zeros(True), ShapeError, "whole numbers"),
        (lambda: gl.randn(2, dtype=gl.int64), DTypeError, "draws floating numbers"),
        (lambda: gl.randint(3, 3, (2,)), ArgumentError, "no integer"),
        (lambda: gl.randint(0, 2.5, (2,)), ArgumentError, "no integer"),
        (lambda: gl.eye(-1), ShapeError, "whole numbers"),
        (lambda: gl.linspace(0, 1, -2), ShapeError, "whole numbers"),
        (lambda: gl.from_numpy([1.0]), KeywordError, "no NumPy array"),
        (lambda: gl.zeros(2, device="tpu"), DeviceError, "no such place"),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_randint_starts_from_zero_without_a_lower_bound():
    assert set(gl.randint(2, (100,)).tolist()) == {0, 1}


def test_full_takes_a_number_from_a_tensor():
    assert gl.full((2,), gl.tensor(3.0)).tolist() == [3.0, 3.0] and gl.full((2,), True).dtype == "bool"


def test_arange_takes_bounds_from_tensors_and_stays_whole():
    n = gl.tensor([3, 5]).max()
    assert gl.arange(n).tolist() == [0, 1, 2, 3, 4] and gl.arange(n).dtype == np.int64
    assert gl.arange(0, n, gl.tensor(2.5)).tolist() == [0.0, 2.5]


@pytest.mark.parametrize("device", ["cpu", "sim"])
def test_new_ones_follow_a_tensor_in_dtype_and_device(device):
    x = gl.zeros(2, dtype=gl.float64, device=device)
    for made in (x.new_zeros(2, 3), x.new_ones((2, 3)), x.new_full((2, 3), 7), x.new_tensor([[1, 2, 3]] * 2)):
        assert (made.shape, made.dtype, made.device) == ((2, 3), x.dtype, x.device)
    assert x.new_full((2,), 7).tolist() == [7.0, 7.0] and x.new_ones(2, dtype=gl.long).dtype == np.int64
    assert x.new_zeros(2, requires_grad=True).requires_grad
    w = nn.Parameter(x)
    assert type(w.new_ones(2)) is type(w.new_tensor(x)) is gl.Tensor
    again = x.new_tensor(x)
    again += 1
    assert x.cpu().tolist() == [0.0, 0.0]


def test_a_tensor_is_made_of_numbers_not_of_sizes():
    with pytest.raises(KeywordError, match=r"gl.empty\(2, 3\)"):
        gl.Tensor(2, 3)


def test_shapes_and_bounds_may_be_given_by_name():
    for make in (gl.empty, gl.zeros, gl.ones, gl.rand, gl.randn):
        assert make(size=(2, 3)).shape == (2, 3)
    assert gl.full(size=(2,), fill_value=7).tolist() == [7, 7] and gl.full_like(gl.ones(2), fill_value=7).tolist() == [7.0, 7.0]
    assert gl.randint(5, 6, size=(2,)).tolist() == [5, 5] and gl.randint(high=1, low=0, size=(2,)).tolist() == [0, 0]
    assert gl.randint(1, size=(2,)).tolist() == [0, 0]
    for made in (gl.arange(0, 5, step=2), gl.arange(5, step=2), gl.arange(start=0, end=5, step=2), gl.arange(end=5, step=2)):
        assert made.tolist() == [0, 2, 4]
    assert gl.arange(1, end=3).tolist() == [1, 2] and gl.arange(3, start=1).tolist() == [1, 2]
    for wrong in ({"step": 2}, {"start": 1}):
        with pytest.raises(KeywordError, match="no end"):
            gl.arange(**wrong)
    with pytest.raises(KeywordError, match="a bound twice"):
        gl.arange(0, 5, end=3)
    with pytest.raises(ShapeError, match="sizes are whole numbers"):
        gl.zeros(2, size=(3,))


def test_no_dtype_is_the_usual_one():
    assert gl.zeros(2, dtype=None).dtype == gl.randn(2, dtype=None).dtype == np.float32
    assert gl.randint(5, (2,), dtype=None).dtype == gl.randperm(3, dtype=None).dtype == np.int64


def test_a_size_may_be_a_tensor():
    n = gl.tensor([2, 3]).max()
    assert gl.zeros(n, 2).shape == gl.full((n, 2), 1.0).shape == (3, 2)
    assert gl.randint(n - 1, n, (2,)).tolist() == [2, 2]
    with pytest.raises(ShapeError, match="sizes are whole numbers"):
        gl.zeros(n * 1.5)


def test_python_floats_keep_all_digits_where_a_wide_dtype_is_named():
    assert gl.tensor([0.1, 1e300], dtype=gl.float64).tolist() == gl.as_tensor([0.1, 1e300], dtype=gl.float64).tolist() == [0.1, 1e300]
    assert gl.tensor(0.1).dtype == "float32"
