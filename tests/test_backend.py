"""What differs between array libraries, and the dtypes of mixed operands."""

from __future__ import annotations

import platform
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradlab as gl
from gradlab import backend
from gradlab.errors import DeviceError, DTypeError


@given(st.lists(st.sampled_from([1, 2, 3]), max_size=3), st.data())
def test_unbroadcast_is_the_adjoint_of_broadcasting(shape, data):
    small = tuple(data.draw(st.sampled_from([n, 1])) for n in shape[data.draw(st.integers(0, len(shape))) :])
    g = np.random.default_rng(0).standard_normal(shape)
    x = np.random.default_rng(1).standard_normal(small)
    summed = backend.unbroadcast(g, small)
    assert summed.shape == small
    np.testing.assert_allclose((np.broadcast_to(x, shape) * g).sum(), (x * summed).sum(), atol=1e-12)


def test_scatter_add_counts_a_repeated_index_twice():
    out = np.zeros(3)
    backend.scatter_add(out, np.array([0, 0, 2]), np.array([1.0, 2.0, 3.0]))
    assert out.tolist() == [3.0, 0.0, 3.0]


@pytest.mark.parametrize(
    "left, right, want",
    [
        (np.ones(2, "f4"), np.ones(2, "f8"), "f8"),
        (np.ones(2, "f4"), np.array(1.0), "f4"),
        (np.ones(2, "i8"), np.ones((), "f4"), "f4"),
        (np.ones(2, "i8"), np.ones(2, "f4"), "f4"),
        (np.ones(2, "i8"), 1.5, "f4"),
        (np.ones(2, "i8"), 2, "i8"),
        (np.ones(2, "f2"), 2.5, "f2"),
        (np.ones(2, "bool"), 2, "i8"),
        (np.ones(2, "bool"), np.ones(2, "f4"), "f4"),
        (np.ones((), "f4"), np.ones((), "f8"), "f8"),
        (np.ones(2, "i4"), np.ones(2, "i8"), "i8"),
        (np.ones((), "f4"), 2.0, "f4"),
        (1, 2.5, "f4"),
    ],
)
def test_operands_meet_in_the_dtype_pytorch_computes_in(left, right, want):
    for pair in ([left, right], [right, left]):
        a, b = backend.align(pair)
        assert (a + b).dtype == np.dtype(want)


def test_python_floats_become_float32_and_arrays_keep_their_dtype():
    assert backend.as_array([1.0, 2.0]).dtype == np.float32
    assert backend.as_array(2.5).dtype == np.float32
    assert backend.as_array([1, 2]).dtype == np.int64
    assert backend.as_array(np.ones(2)).dtype == np.float64
    assert backend.as_array([np.ones(2), np.ones(2)]).dtype == np.float64
    assert backend.as_array(np.float64(2)).dtype == np.float64


@pytest.mark.parametrize("bad", [["a", "b"], [[1.0], [1.0, 2.0]], [None], {"a": 1}])
def test_what_is_not_numbers_is_refused_in_words(bad):
    with pytest.raises(DTypeError, match="tensor: "):
        backend.as_array(bad)


def test_seeding_repeats_and_leaves_numpys_own_state_alone():
    before = np.random.get_state()[1].tolist()
    backend.manual_seed(5)
    first = backend.generator().random(3).tolist()
    backend.manual_seed(5)
    assert backend.generator().random(3).tolist() == first
    assert np.random.get_state()[1].tolist() == before


def test_a_number_is_served_by_numpy():
    assert backend.xp_of(2.0) is np and backend.xp_of(np.ones(2)) is np
    assert not backend.is_array([1.0]) and backend.is_array(np.ones(1))


def test_arrays_of_another_library_are_served_by_their_own_module(monkeypatch):
    import sys
    import types

    class Ndarray:
        def get(self):
            return np.ones(2)

    cupy = types.ModuleType("cupy")
    cupy.ndarray = Ndarray
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(backend.array, "ARRAY_TYPES", dict(backend.ARRAY_TYPES))
    array = Ndarray()
    assert backend.xp_of(array) is cupy and backend.is_array(array)
    assert backend.to_numpy(array).tolist() == [1.0, 1.0]


def test_host_numbers_become_an_array_where_another_one_lives():
    made = backend.asarray_like([1, 2], np.ones(3), dtype="float32")
    assert backend.on_host(made) and made.dtype == np.float32 and not backend.on_host([1, 2])


@pytest.mark.parametrize("device", ["cpu", "sim"])
def test_sums_at_places_and_counts_are_the_same_on_every_device(device):
    def there(values, dtype):
        return backend.moved(np.asarray(values, dtype), backend.Device(device))

    for dtype in ("float16", "float32", "float64", "int64"):
        out = there(np.zeros(3), dtype)
        backend.scatter_add(out, there([0, 0, 2], "int64"), there([1, 2, 3], dtype))
        assert backend.to_numpy(out).tolist() == [3.0, 0.0, 3.0] and out.dtype == dtype
    out = there(np.zeros(1), "float16")
    backend.scatter_add(out, there(np.zeros(4096), "int64"), there(np.ones(4096), "float16"))
    assert backend.to_numpy(out).tolist() == [4096.0], "2048 + 1 is 2048 in float16"
    ids = there([0, 2, 2], "int64")
    assert backend.to_numpy(backend.counted(ids, 4)).tolist() == [1, 0, 2, 0]
    assert backend.to_numpy(backend.counted(ids, 3, there([0.5, 1, 2], "float32"))).tolist() == [0.5, 0.0, 3.0]
    made = backend.asarray_like([1, 2], ids, dtype="float32")
    assert backend.device_of(made) == device and made.dtype == np.float32 and backend.on_host(made) == (device == "cpu")


def test_what_an_array_is_served_by_and_where_it_is_are_one_look_each():
    import gradlab.sim as sim

    x = sim.asarray([1.0])
    assert backend.xp_of(x) is sim and backend.ARRAY_TYPES[sim.ndarray] is sim and backend.ARRAY_TYPES[np.ndarray] is np
    assert backend.device_of(x) == "sim" and backend.device_of(np.ones(1)) == backend.device_of(2.0) == "cpu"
    assert backend.total(sim.ones(4096, dtype="float16")).item() == 4096.0


def test_a_place_is_told_from_a_dtype():
    assert backend.is_place("cuda:1") and backend.is_place("sim") and backend.is_place(backend.CPU)
    assert not backend.is_place("float64") and not backend.is_place(np.float32) and not backend.is_place(np.dtype("int64"))
    with pytest.raises(DeviceError, match="no such place"):
        backend.is_place("mps:0")


def test_adding_at_places_agrees_with_numpys_add_at_for_every_index():
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(-40, 40, (30, 25)), rng.integers(-20, 20, (30, 25))
    for shape, index in [
        ((40, 20), (rows, columns)), ((40, 20), rows), ((40, 20), (rows,)), ((40,), rows), ((40, 20, 3), (rows, columns)),
        ((40, 20), (slice(None), columns)), ((40, 20), rng.random((40, 20)) > 0.5), ((40, 20), (rows[:, :1], columns)),
    ]:  # fmt: skip
        for dtype in ("float32", "float64", "int64"):
            out, want = np.zeros(shape, dtype), np.zeros(shape, dtype)
            values = rng.integers(-9, 9, out[index].shape).astype(dtype)
            backend.scatter_add(out, index, values)
            np.add.at(want, index, values)
            np.testing.assert_array_equal(out, want)
    for index, values in [((rows, columns + 20), np.ones((30, 25))), (rows + 1, np.ones((30, 25, 20)))]:
        with pytest.raises(IndexError):
            backend.scatter_add(np.zeros((40, 20)), index, values)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32"])
def test_places_in_small_integers_are_counted_in_large_ones(dtype):
    rows, columns = np.random.default_rng(0).integers(0, 120, (2, 700))
    for shape, index in [((120, 400), (rows,)), ((120, 120), (rows, columns)), ((120,), (rows,))]:
        out, want = np.zeros(shape), np.zeros(shape)
        values = np.random.default_rng(1).standard_normal(out[index].shape)
        backend.scatter_add(out, tuple([i.astype(dtype) for i in index]), values)
        np.add.at(want, index, values)
        np.testing.assert_array_equal(out, want)


def test_the_gradient_of_entries_picked_by_bytes_goes_where_they_were():
    ids = np.random.default_rng(0).integers(0, 100, 600)
    x = gl.zeros(100, 200, requires_grad=True)
    x[gl.tensor(ids.astype("uint8"))].sum().backward()
    np.testing.assert_array_equal(x.grad.data, np.repeat(np.bincount(ids, minlength=100)[:, None], 200, axis=1))


def test_the_first_backward_lets_the_c_library_keep_freed_memory_and_importing_does_not():
    code = """
import gradlab as gl
from gradlab.backend import keep_freed_memory
before = keep_freed_memory.cache_info().misses
for _ in range(2):
    gl.ones(2, requires_grad=True).sum().backward()
print(before, keep_freed_memory.cache_info().misses)
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["0", "1"]


def test_a_sum_beyond_float16_is_infinite_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(backend.total(np.full(2, 60000, "float16")))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_memory_that_a_step_gave_back_is_kept_for_the_next():
    code = """
import resource
import gradlab as gl
x = gl.ones(1 << 20, requires_grad=True)
def step():
    y = x
    for _ in range(40):
        y = y * 0.5  # 4 MB each, kept for the pass
    y.sum().backward()
    x.grad = None
for _ in range(3):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 2_000  # fresh pages; a step needs 40,000


def test_rows_of_an_array_that_lies_across_are_picked_without_a_copy_of_all():
    whole = np.arange(4_000_000, dtype=np.float32).reshape(4, 1_000_000).T
    tracemalloc.start()
    try:
        rows = backend.picked(whole, np.array([7, 999_999, 7]))
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()
    assert rows.flags.c_contiguous and np.array_equal(rows, np.array([whole[7], whole[-1], whole[7]]))
