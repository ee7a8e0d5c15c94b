"""What gradlab does with CuPy, where there is none: a module of CuPy's name and face that computes on the simulated device."""

from __future__ import annotations

import copy
import pickle
import sys
import time
import types

import numpy as np
import pytest

import gradlab as gl
from gradlab import backend, sim
from gradlab.errors import DeviceError
from gradlab.sim.functions import function


class Gpu:
    """CuPy's Device: a number, and a block."""

    current = 0
    before: list[int] = []

    def __init__(self, id=0):
        self.id = id

    def __eq__(self, other):
        return isinstance(other, Gpu) and self.id == other.id

    def __enter__(self):
        Gpu.before.append(Gpu.current)
        Gpu.current = self.id
        return self

    def __exit__(self, *error):
        Gpu.current = Gpu.before.pop()

    def synchronize(self):
        Gpu.waited = self.id

    @property
    def mem_info(self):
        return 70 + self.id, 80


class Event:
    def record(self):
        self.at = time.perf_counter()

    def synchronize(self):
        pass


class Pool:
    def used_bytes(self):
        return 10 + Gpu.current

    def total_bytes(self):
        return 20 + Gpu.current

    def free_all_blocks(self):
        Pool.freed = True


class Cupy(types.ModuleType):
    __version__ = "14.2.0"
    ndarray = sim.ndarray
    cuda = types.SimpleNamespace(
        Device=Gpu,
        Event=Event,
        get_elapsed_time=lambda a, b: (b.at - a.at) * 1000,
        is_available=lambda: True,
        runtime=types.SimpleNamespace(getDevice=lambda: Gpu.current, getDeviceCount=lambda: 2),
    )
    get_default_memory_pool = staticmethod(Pool)

    def __getattr__(self, name):
        return function(name)


@pytest.fixture(autouse=True)
def cupy(monkeypatch):
    module = Cupy("cupy")
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setattr(sim.ndarray, "device", property(lambda self: Gpu(0)))
    for table in (backend.array.ARRAY_TYPES, backend.device._DEVICES):
        monkeypatch.delitem(table, sim.ndarray, raising=False)
    backend.cuda._imported.cache_clear()
    yield module
    for table in (backend.array.ARRAY_TYPES, backend.device._DEVICES):
        table.pop(sim.ndarray, None)
    backend.cuda._imported.cache_clear()


def test_tensors_move_to_a_gpu_and_back(cupy):
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    y = x.cuda()
    assert y.device == "cuda:0" and y.is_cuda and backend.xp_of(y.data) is cupy and x.cuda(0).to("cuda").device == "cuda:0"
    (y * y).sum().backward()
    assert x.grad.device == "cpu" and x.grad.tolist() == [2.0, 4.0]
    assert y.cpu().device == "cpu" and y.to("cpu", non_blocking=True).tolist() == [1.0, 2.0] and "device='cuda:0'" in repr(y)
    assert gl.cuda.device_count() == 2 and gl.cuda.is_available()


def test_mixing_and_secret_copies_are_refused():
    x = gl.ones(2, device="cuda")
    for call in (lambda: x + gl.ones(2), lambda: np.ones(2) * x, lambda: x[gl.tensor([0])]):
        with pytest.raises(DeviceError, match="cuda:0"):
            call()
    with pytest.raises(DeviceError, match="cpu"):
        np.asarray(x)
    with pytest.raises(DeviceError, match="no such GPU"):
        x.to("cuda:2")


def test_a_device_block_makes_its_gpu_the_current_one_and_gives_it_back():
    assert gl.device("cuda") == "cuda:0"
    with gl.device("cuda:1") as device:
        assert Gpu.current == 1 and gl.device("cuda") == device and gl.cuda.current_device() == 1
        assert gl.zeros(2).data.__class__ is sim.ndarray
        with gl.device("cpu"):
            assert gl.zeros(2).device == "cpu"
    assert Gpu.current == 0 and not Gpu.before and gl.zeros(2).device == "cpu"
    with pytest.raises(DeviceError, match="no such GPU"), gl.device("cuda:7"):
        pass
    assert gl.zeros(2).device == "cpu"


def test_memory_is_asked_of_the_gpu_that_is_named():
    assert gl.cuda.memory_allocated() == 10 and gl.cuda.memory_allocated("cuda:1") == 11 and gl.cuda.memory_reserved(1) == 21
    assert gl.cuda.mem_get_info() == (70, 80) and gl.cuda.mem_get_info(gl.device("cuda:1")) == (71, 80)
    gl.cuda.synchronize("cuda:1")
    gl.cuda.empty_cache()
    assert Gpu.waited == 1 and Pool.freed


def test_a_timer_uses_the_gpus_events():
    with backend.Timer("cuda") as timer:
        gl.ones(8, device="cuda") + 1
    assert 0 < timer.seconds < 5


def test_training_copies_and_pickles_on_a_gpu():
    def losses(device):
        gl.manual_seed(0)
        model = gl.nn.Sequential(gl.nn.Linear(4, 8), gl.nn.ReLU(), gl.nn.Linear(8, 3))
        optimizer = gl.optim.AdamW(model.parameters(), lr=0.1)
        rng = np.random.default_rng(0)
        x, y = gl.tensor(rng.standard_normal((16, 4)), gl.float32, device), gl.tensor(rng.integers(0, 3, 16), device=device)
        found = []
        for i in range(4):
            if i == 2:  # the moments have to follow
                model = model.cuda() if device == "cuda" else model.cpu()
            optimizer.zero_grad()
            place = next(model.parameters()).device
            loss = gl.nn.functional.cross_entropy(model(x.to(place)), y.to(place))
            loss.backward()
            optimizer.step()
            found.append(float(loss))
        assert all(p.device.type == device for p in model.parameters())
        return found

    np.testing.assert_allclose(losses("cuda"), losses("cpu"), rtol=1e-6)
    x = gl.tensor([1.0], device="cuda")
    assert copy.deepcopy(x).device == pickle.loads(pickle.dumps(x)).device == "cuda:0"


def test_dlpack_from_a_gpu_goes_to_cupy(monkeypatch):
    array = gl.ones(2, device="cuda").data
    monkeypatch.setattr(sim.ndarray, "__dlpack_device__", lambda self: (2, 0))
    assert gl.from_dlpack(array).device == "cuda:0"
