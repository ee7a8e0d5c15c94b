"""The simulated device keeps CuPy's rules, and counts what a GPU would have had to wait for."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import numpy as np
import pytest

import gradlab as gl
import gradlab.sim as xp
from tests import refusals

H = np.array([[0.5, -1.25, 2.0], [-0.75, 3.5, 1.0]], np.float32)


def device():
    return xp.asarray(H)


@pytest.mark.parametrize("name", [*refusals.REFUSED, *refusals.STRICTER])
def test_what_cupy_refuses_is_refused(name):
    call = (refusals.REFUSED | refusals.STRICTER)[name]
    with pytest.raises(refusals.ERRORS):
        call(xp, device(), H.copy())


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("name", refusals.TAKEN)
def test_what_cupy_takes_gives_numpys_numbers(name):
    got, want = refusals.TAKEN[name](xp, device()), refusals.TAKEN[name](np, H.copy())
    assert isinstance(got, xp.ndarray), "never a NumPy scalar"
    assert got.dtype == want.dtype and got.shape == np.shape(want)
    np.testing.assert_array_equal(got.get(), want)


def test_the_table_was_recorded_from_cupy_and_covers_the_prototypes_gaps():
    table = json.loads((Path(xp.__file__).parent / "cupy_api.json").read_text())
    assert table["cupy"].startswith("14.2") and len(table["functions"]) > 500 and len(table["ndarray"]) > 70
    assert table["functions"]["sum"] == ["a", "axis", "dtype", "out", "keepdims"] and table["functions"]["add"] == "ufunc"
    assert not {n for n in table["functions"] if n.startswith("random.")}, "gradlab draws on the host"


WAITS = {
    "item": lambda a: a[0, 0].item(),
    "get": lambda a: a.get(),
    "asnumpy": xp.asnumpy,
    "tolist": lambda a: a.tolist(),
    "tobytes": lambda a: a.tobytes(),
    "float": lambda a: float(a[0, 0]),
    "int": lambda a: int(a[0, 0]),
    "index": lambda a: [1, 2, 3][a.astype("int64")[0, 0]],
    "bool": lambda a: bool(a[0, 0]),
    "if": lambda a: 1 if a[0, 0] > 0 else 2,
    "repr": repr,
    "str": str,
    "format": lambda a: f"{a[0, 0]:.2f}",
    "a mask": lambda a: a[a > 0],
    "a mask assigned": lambda a: refusals.put(a, a > 0, 0.0),
    "nonzero": xp.nonzero,
    "unique": xp.unique,
    "argwhere": xp.argwhere,
    "bincount": lambda a: xp.bincount(xp.asarray([1, 2])),
    "where with one argument": lambda a: xp.where(a > 0),
    "pickle": lambda a: a.__reduce__(),
}


@pytest.mark.parametrize("name", WAITS)
def test_what_makes_the_host_wait_is_counted_with_its_line(name):
    a = device()
    with xp.stats() as seen:
        WAITS[name](a)
    assert seen.syncs == 1 and len(seen.where) == 1
    assert "test_sim.py:" in seen.where[0] or "numpy" not in seen.where[0]


@pytest.mark.parametrize("name", ["arithmetic", "sum to 0-d", "matmul", "where", "index arrays", "add.at", "sort", "view", "windows",
                                  "iteration", "a reduction in an expression"])  # fmt: skip
def test_what_does_not_wait_is_not_counted(name):
    a = device()
    with xp.stats() as seen:
        refusals.TAKEN[name](xp, a)
    assert seen.syncs == 0 and seen.launches >= 1 and not seen.d2h_bytes


def test_copies_are_counted_in_bytes():
    with xp.stats() as seen:
        a = xp.asarray(H)
        xp.asarray([1, 2])
        a.get()
        a[[0, 1]]
        a.set(H)
    assert seen.h2d_bytes == 24 + 16 + 16 + 24 and seen.d2h_bytes == 24 and seen.syncs == 1


def test_views_launch_nothing():
    a = device()
    with xp.stats() as seen:
        a.T, a.reshape(3, 2), a[0], xp.broadcast_to(a, (2, 2, 3)), xp.asarray(a), a.astype("float32", copy=False)
    assert seen.launches == 0


def test_stats_nest_and_end():
    a = device()
    with xp.stats() as outer:
        a + 1
        with xp.stats() as inner:
            a + 1
    a + 1
    assert (outer.launches, inner.launches) == (2, 1) and outer != inner


def test_a_wait_can_be_forbidden():
    a = device()
    with xp.no_sync() as seen, pytest.raises(xp.HostSyncError, match=r"bool\(\) at .*test_sim.py"):
        assert xp.sum(a) > 0
    assert seen.syncs == 1
    with xp.no_sync():
        xp.sum(a)


def test_views_know_whose_memory_they_look_at():
    a = device()
    view = a.T[1:]
    assert a.base is None and view.base is a and a.reshape(-1).base is a
    assert xp.lib.stride_tricks.sliding_window_view(a, 2, axis=0).base is a
    view[0] = 9.0
    assert a.get()[:, 1].tolist() == [9.0, 9.0]
    assert (a + 1).base is None and a[[0]].base is None and a[xp.asarray(0)].base is None and xp.asarray(a) is a


def test_results_lie_in_c_order_whatever_their_inputs():
    a = device().T
    assert not a.flags.c_contiguous and a.flags.f_contiguous and a.flags.forc and not a.flags.owndata
    assert xp.exp(a).flags.c_contiguous and (a + a).flags.c_contiguous and (a + a).flags.owndata


def test_an_index_out_of_range_wraps_in_reading_and_writing():
    a = xp.asarray([0.0, 1.0, 2.0])
    assert a[xp.asarray([3, -4])].tolist() == [0.0, 2.0]
    a[xp.asarray([4])] = 9.0
    xp.add.at(a, xp.asarray([5]), 1.0)
    assert a.tolist() == [0.0, 9.0, 3.0] and xp.take(a, [7]).tolist() == [9.0]
    b = device()
    assert b[..., xp.asarray([3], dtype="uint8")].tolist() == [[0.5], [-0.75]]
    assert b[None, xp.asarray([2]), 1:].shape == (1, 1, 2)


def test_different_values_for_one_place_are_refused_but_nan_equals_itself():
    a = xp.zeros(3, dtype="float32")
    with pytest.raises(RuntimeError, match="it is open which one stays"):
        a[xp.asarray([0, 0])] = xp.asarray([1.0, 2.0])
    a[xp.asarray([0, 0])] = xp.asarray([np.nan, np.nan])
    a[xp.asarray([1, 1])] = 5.0
    assert np.isnan(a.get()[0]) and a.get()[1] == 5.0


def test_a_lent_array_is_an_operand_and_others_are_not():
    t = gl.ones(2, 3, device="sim")
    assert xp.asarray(t) is t.data and xp.sum(t).item() == 6.0 and isinstance(device() + t, gl.Tensor)
    for wrong in (gl.ones(2, 3), gl.ones(2, 3, device="sim", requires_grad=True)):
        for call in (lambda t: xp.concatenate([t, t]), xp.asarray, lambda t: xp.sum(t), lambda t: xp.matmul(device(), t)):
            with pytest.raises(TypeError, match=r"Unsupported type|no array of this device"):
                call(wrong)


def test_words_of_refusals_are_cupys():
    a = device()
    for call, text in [
        (lambda: np.asarray(a), r"Implicit conversion to a NumPy array is not allowed. Please use `.get\(\)`"),
        (lambda: a + H, "Unsupported type <class 'numpy.ndarray'>"),
        (lambda: xp.vecdot, "has no attribute 'vecdot'"),
        (lambda: xp.sum(a, where=a > 0), r"got an unexpected keyword argument 'where'"),
        (lambda: xp.maximum.accumulate(a), r"`cupy_maximum.accumulate` is not supported yet"),
        (lambda: xp.repeat(a, xp.asarray([1, 2])), "cannot be specified as `repeats`"),
        (lambda: xp.RawKernel, "CuPy's alone"),
    ]:
        with pytest.raises((TypeError, AttributeError, NotImplementedError, ValueError), match=text):
            call()


def test_memory_that_nobody_wrote_shows():
    assert np.isnan(xp.empty(3).get()).all() and xp.empty(2, dtype="int8").tolist() == [99, 99]
    assert np.isnan(xp.empty_like(device()).get()).all() and xp.empty_like(device(), dtype="int64", shape=(1,)).tolist() == [99]


def test_nothing_is_left_for_the_garbage_collector():
    a = device()
    gc.collect()
    gc.disable()
    try:
        xp.concatenate([a, a + 1]).sum(axis=0)
        a[:, [0, 1]] = xp.where(a[:, :2] > 0, 1.0, a[:, 1:])
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_set_needs_the_same_shape_and_dtype():
    for wrong in (H[0], H.astype("float64"), [1.0]):
        with pytest.raises(ValueError, match="same shape and dtype"):
            device().set(wrong)
