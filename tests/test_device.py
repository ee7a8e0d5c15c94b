"""Devices: where tensors are, moving them, and what is refused."""

from __future__ import annotations

import sys
import types

import pytest

import gradlab as gl
from gradlab import backend
from gradlab.errors import DeviceError, KeywordError


@pytest.mark.parametrize("name", ["tpu", "cuda:x", "sim:1", "cpu:0", "mps"])
def test_a_place_that_is_none_is_refused(name):
    with pytest.raises(DeviceError, match="no such place"):
        gl.device(name)


def test_a_device_is_known_by_its_name():
    assert gl.device("cuda:1") == "cuda:1" and gl.device("cuda:1") != gl.device("cuda:0") and gl.device("cpu") != 3
    assert {gl.device("cpu"): 1}[gl.ones(1).device] == 1
    assert str(gl.device("cuda:1")) == "cuda:1" and gl.device("cuda", 2).index == 2 and gl.device("sim").type == "sim"


@pytest.fixture
def without_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    backend.cuda._imported.cache_clear()
    yield
    backend.cuda._imported.cache_clear()


def use(place):
    model = gl.nn.Linear(2, 1)
    return [lambda: gl.ones(2).to(place), lambda: gl.ones(2).cuda(), lambda: model.to(place), lambda: model.cuda()]


def test_cuda_without_cupy_says_what_to_install(without_cupy):
    assert gl.cuda.is_available() is False and gl.cuda.device_count() == 0
    for call in use("cuda"):
        with pytest.raises(DeviceError, match="CuPy is not installed") as caught:
            call()
        assert "pip install cupy-cuda12x" in str(caught.value)


def test_cuda_without_a_gpu_says_that_the_gpu_is_missing(monkeypatch):
    cupy = types.ModuleType("cupy")
    cupy.__version__ = "14.2.0"
    cupy.cuda = types.SimpleNamespace(is_available=lambda: False)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    backend.cuda._imported.cache_clear()
    for call in use("cuda:0"):
        with pytest.raises(DeviceError, match="finds no GPU"):
            call()
    assert not gl.cuda.is_available() and gl.cuda.memory_allocated() == gl.cuda.memory_reserved() == 0
    assert gl.cuda.mem_get_info() == (0, 0) and gl.cuda.synchronize() is None and gl.cuda.empty_cache() is None
    backend.cuda._imported.cache_clear()


def test_a_gpu_that_is_not_there_is_refused_by_its_number(monkeypatch):
    cupy = types.ModuleType("cupy")
    cupy.cuda = types.SimpleNamespace(
        is_available=lambda: True, runtime=types.SimpleNamespace(getDeviceCount=lambda: 1, getDevice=lambda: 0)
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    backend.cuda._imported.cache_clear()
    assert gl.cuda.device_count() == 1 and gl.device("cuda") == "cuda:0"
    with pytest.raises(DeviceError, match="no such GPU"):
        gl.ones(2).to("cuda:1")
    backend.cuda._imported.cache_clear()


def test_a_broken_cupy_counts_as_none(monkeypatch):
    def broken(name):
        raise OSError("libcuda.so.1: no such file")

    monkeypatch.setattr(backend.cuda.importlib, "import_module", broken)
    backend.cuda._imported.cache_clear()
    assert not gl.cuda.is_available()
    with pytest.raises(DeviceError, match="libcuda"):
        gl.device("cuda").xp  # noqa: B018
    backend.cuda._imported.cache_clear()


def test_to_takes_a_dtype_a_device_a_tensor_or_both():
    x = gl.tensor([1.5, 2.5])
    assert x.to(gl.float64).dtype == "float64" and x.to("cpu", gl.float16).dtype == "float16"
    assert x.to(gl.tensor([1])).dtype == "int64" and x.to(device="cpu", dtype="int8").dtype == "int8" and x.to(gl.device("cpu")) is x
    copy = x.to("cpu", copy=True)
    copy[0] = 9.0
    assert x.tolist() == [1.5, 2.5]


def test_to_refuses_what_says_nothing_or_the_same_twice():
    x = gl.ones(2)
    with pytest.raises(KeywordError, match="where, or to what"):
        x.to()
    for call in (lambda: x.to("cpu", device="cpu"), lambda: x.to(gl.float16, gl.float32), lambda: x.to(x, gl.float16)):
        with pytest.raises(KeywordError, match="said twice"):
            call()


def test_the_generators_state_can_be_put_back():
    state = gl.get_rng_state()
    first = gl.rand(3).tolist()
    gl.set_rng_state(state)
    assert gl.rand(3).tolist() == first


def test_a_timer_says_how_long_a_block_took():
    with backend.Timer("cpu") as timer:
        sum(range(1000))
    assert 0 < timer.seconds < 10
