"""The simulated device against CuPy itself: what the one refuses the other refuses, and what the one takes the other takes."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import gradlab
from tests import refusals

H = np.array([[0.5, -1.25, 2.0], [-0.75, 3.5, 1.0]], np.float32)
ROOT = Path(gradlab.__file__).parents[1]


@pytest.mark.filterwarnings("ignore:__array__ implementation")
@pytest.mark.parametrize("name", refusals.REFUSED)
def test_what_the_simulated_device_refuses_cupy_refuses(name, cupy):
    with pytest.raises(refusals.ERRORS):
        refusals.REFUSED[name](cupy, cupy.asarray(H), H.copy())


@pytest.mark.parametrize("name", refusals.TAKEN)
def test_what_the_simulated_device_takes_cupy_takes(name, cupy):
    got = refusals.TAKEN[name](cupy, cupy.asarray(H))
    with np.errstate(all="ignore"):
        want = refusals.TAKEN[name](np, H.copy())
    assert isinstance(got, cupy.ndarray) and got.dtype == want.dtype
    np.testing.assert_allclose(got.get(), want, rtol=1e-5, atol=1e-6)


def test_values_for_one_place_are_added_up_in_any_order(cupy):
    from gradlab.backend import scatter_add

    for dtype, rtol in (("float16", 2e-3), ("float32", 1e-5), ("float64", 1e-12), ("int64", 0)):
        index, values = np.arange(4096) % 7, (np.random.default_rng(0).random(4096) * 4).astype(dtype)
        host, there = np.zeros(7, dtype), cupy.zeros(7, dtype)
        scatter_add(host, index, values)
        scatter_add(there, cupy.asarray(index), cupy.asarray(values))
        np.testing.assert_allclose(there.get(), host, rtol=rtol)


def test_the_last_value_of_an_assignment_stays_as_on_the_cpu():
    import gradlab as gl

    def changed(device):
        x = gl.zeros(5, device=device, requires_grad=True)
        v = gl.tensor(np.arange(1000, dtype=np.float32), device=device, requires_grad=True)
        y = x.clone()
        y[gl.tensor(np.arange(1000) % 5, device=device)] = v
        (y * y).sum().backward()
        return y.tolist(), v.grad.tolist(), x.grad.tolist()

    assert changed("cuda") == changed("cpu")


@pytest.mark.skipif(not (ROOT / "docs" / "record_cupy_api.py").exists(), reason="needs the repository")
def test_the_recorded_table_is_that_of_this_cupy(cupy):
    table = json.loads((ROOT / "gradlab" / "sim" / "cupy_api.json").read_text())
    if cupy.__version__ != table["cupy"]:
        pytest.skip(f"the table is of CuPy {table['cupy']}, this is {cupy.__version__}")
    recorder = runpy.run_path(str(ROOT / "docs" / "record_cupy_api.py"))
    assert dict(recorder["functions"](cupy, cupy.ufunc)) == table["functions"]
    assert [name for name in dir(cupy.ndarray) if not name.startswith("_")] == table["ndarray"]
