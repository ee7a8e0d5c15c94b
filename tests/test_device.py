"""Devices: where tensors are, moving them, and what is refused."""

from __future__ import annotations

import contextlib
import copy
import pickle
import sys
import types

import numpy as np
import pytest

import gradlab as gl
from gradlab import backend
from gradlab.errors import DeviceError, DTypeError, KeywordError


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


# -- on a device


def sim(*shape, requires_grad=False):
    return gl.ones(*shape, device="sim", requires_grad=requires_grad)


def test_a_gradient_flows_through_a_move_and_lands_where_the_leaf_is():
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    y = x.to("sim")
    assert y.device == "sim" and not y.is_leaf and y.requires_grad
    (y * y).sum().cpu().backward()
    assert x.grad.device == "cpu" and x.grad.tolist() == [2.0, 4.0]
    z = sim(2, requires_grad=True)
    (z.cpu() * 3).sum().backward()
    assert z.grad.device == "sim" and z.grad.tolist() == [3.0, 3.0]


def test_a_move_that_is_none_returns_the_tensor_itself():
    x = sim(2)
    assert not x.is_cuda and x.to("sim") is x and x.to(x) is x and x.cpu().cpu().device == "cpu" and x.to("sim", copy=True) is not x
    assert x.to("cpu", gl.float64).dtype == "float64" and x.to(gl.zeros(1, dtype=gl.float16)).device == "cpu"


MIXED = {
    "add": lambda x, y: x + y,
    "matmul": lambda x, y: x @ y,
    "where": lambda x, y: gl.where(x > 0, x, y),
    "cat": lambda x, y: gl.cat([x, y]),
    "linear": lambda x, y: gl.linear(x, y),
    "an array": lambda x, y: x + y.numpy(),
    "an array in front": lambda x, y: y.numpy() * x,
    "a list": lambda x, y: x + y.tolist(),
    "+=": lambda x, y: x.add_(y),
    "x[i] = v": lambda x, y: x.__setitem__(0, y[0]),
    "x[i] = a list": lambda x, y: x.__setitem__(0, [1.0, 2.0]),
    "an index": lambda x, y: x[gl.tensor([0])],
    "an index of an assignment": lambda x, y: x.__setitem__(gl.tensor([0]), 1.0),
    "grad": lambda x, y: setattr(x, "grad", y),
    "backward": lambda x, y: x.requires_grad_().exp().backward(y),
}


@pytest.mark.parametrize("name", MIXED)
def test_two_devices_in_one_step_are_refused_and_nothing_is_copied(name):
    x, y = sim(2, 2), gl.ones(2, 2)
    with gl.sim.stats() as seen, pytest.raises(DeviceError, match="different devices") as caught:
        MIXED[name](x, y)
    assert "on sim" in str(caught.value) and "on cpu" in str(caught.value)
    assert not seen.h2d_bytes and not seen.d2h_bytes and x.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_the_error_of_two_devices_says_what_to_write():
    with pytest.raises(DeviceError) as caught:
        gl.ones(2, 3) * sim(3)
    assert str(caught.value) == (
        "Mul: the tensors are on different devices\n  input 0 (2, 3) on cpu\n  input 1 (3,) on sim\n"
        "  need:   all on one device; nothing is copied in secret\n  try:    input 0 .to('sim')"
    )


def test_gradients_on_a_device_agree_with_differences_also_the_second():
    def f(x, w):
        return gl.softmax(gl.tanh(x @ w), 1).log().sum()

    xs = [
        gl.randn(3, 4, dtype=gl.float64, device="sim", requires_grad=True),
        gl.randn(4, 2, dtype=gl.float64, device="sim", requires_grad=True),
    ]
    assert gl.autograd.gradcheck(f, xs) and gl.autograd.gradgradcheck(f, xs)


def test_copying_into_a_tensor_is_asked_for_and_goes_between_devices():
    x, y = sim(2), gl.tensor([3.0, 4.0], requires_grad=True)
    with gl.no_grad():
        assert x.copy_(y).tolist() == [3.0, 4.0] and x.device == "sim"
    z = sim(2) * 1
    z.copy_(y)
    (z * z).sum().backward()
    assert z.device == "sim" and y.grad.device == "cpu" and y.grad.tolist() == [6.0, 8.0]


def test_numbers_go_anywhere():
    x = sim(2)
    with gl.sim.stats() as seen:
        y = (2 * x + 1 - np.float32(0.5)) ** 2
        y += 1
        y[0] = 3.0
    assert not seen.syncs and y.tolist() == [3.0, 7.25] and y.dtype == "float32"


def test_a_device_tensor_becomes_no_numpy_array_in_secret():
    x = sim(2)
    for call in (lambda: np.asarray(x), lambda: x.numpy(), lambda: np.array(x)):
        with pytest.raises(DeviceError, match=r"cpu\(\)\.numpy\(\)"):
            call()
    assert x.cpu().numpy().tolist() == [1.0, 1.0]


def test_reading_numbers_is_possible_and_counted_as_a_wait():
    x = sim(1)
    for read in (x.item, x.tolist, lambda: float(x), lambda: int(x), lambda: bool(x), lambda: repr(x), lambda: f"{x:.1f}", x.cpu):
        with gl.sim.stats() as seen:
            read()
        assert seen.syncs >= 1 and seen.d2h_bytes, read
    assert repr(sim(2)) == "tensor([1., 1.], shape=(2,), device='sim')"


def test_a_device_tensor_is_copied_and_pickled_with_its_device():
    x = gl.tensor([1.0, 2.0], device="sim", requires_grad=True)
    (x * x).sum().backward()
    for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert twin.device == "sim" and twin.tolist() == [1.0, 2.0] and twin.requires_grad and twin.data is not x.data
    assert copy.deepcopy(x).grad.device == "sim"


def test_numpys_functions_work_on_the_device():
    x = sim(2, requires_grad=True)
    y = np.exp(x)
    assert y.device == "sim" and y.grad_fn is not None
    p = gl.tensor([1.0, 2.0], device="sim")
    p.data -= 0.5 * gl.ones(2, device="sim")
    assert p.device == "sim" and p.tolist() == [0.5, 1.5] and p.version == 1
    with gl.sim.stats() as seen:
        assert np.shape(p) == (2,)
    assert not seen.syncs


def test_an_array_times_a_tensor_with_a_gradient_does_not_cut_the_graph():
    array, x = gl.ones(2, device="sim").data, sim(2, requires_grad=True)
    for y in (array * x, x * array, gl.sim.exp(x), np.multiply(array, x)):
        assert isinstance(y, gl.Tensor) and y.grad_fn is not None and y.device == "sim"
    gl.sim.multiply(array, gl.ones(2, device="sim") * 3, array)
    assert array.tolist() == [3.0, 3.0]
    with pytest.raises(DTypeError, match=r"numpy\.nextafter"):
        gl.sim.nextafter(x, array)


# -- modules and optimizers


def model_and_batch(device):
    gl.manual_seed(0)
    model = gl.nn.Sequential(gl.nn.Linear(4, 8), gl.nn.ReLU(), gl.nn.Linear(8, 3))
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((16, 4)).astype("float32"), rng.integers(0, 3, 16)
    return model, gl.tensor(x, device=device), gl.tensor(y, device=device)


def test_a_module_moves_with_its_gradients_and_buffers_and_keeps_its_parameters():
    model, x, y = model_and_batch("cpu")
    model.register_buffer("mean", gl.zeros(3))
    model.register_buffer("count", gl.tensor(3))
    gl.nn.functional.cross_entropy(model(x), y).backward()
    before, grads = list(model.parameters()), [p.grad.tolist() for p in model.parameters()]
    assert model.to("sim", gl.float64) is model and all(p is q for p, q in zip(model.parameters(), before, strict=True))
    assert {t.device for t in [*model.parameters(), *model.buffers()]} == {gl.device("sim")}
    assert [p.grad.tolist() for p in before] == grads and before[0].grad.device == "sim" and before[0].dtype == "float64"
    assert model.count.dtype == "int64" and model.to(device="cpu", dtype=gl.float32).mean.dtype == "float32"
    assert model.cpu() is model and before[0].device == "cpu"


@pytest.mark.parametrize(
    "make",
    [
        lambda p: gl.optim.SGD(p, lr=0.1),
        lambda p: gl.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
        lambda p: gl.optim.Adam(p, lr=0.1, weight_decay=0.1),
        lambda p: gl.optim.AdamW(p, lr=0.1, amsgrad=True, maximize=True),
        lambda p: gl.optim.RMSprop(p, lr=0.1, momentum=0.9, centered=True, eps=0.1, weight_decay=0.1),
        lambda p: gl.optim.Adagrad(p, lr=0.1, lr_decay=0.1),
    ],
)
def test_training_on_a_device_is_training_and_never_waits_for_it(make):
    def train(device, move_at):
        model, x, y = model_and_batch("cpu")
        optimizer = make(model.parameters())
        losses = []
        for i in range(4):
            if i == move_at:
                model, x, y = model.to(device), x.to(device), y.to(device)
            with gl.sim.no_sync() if i > move_at else contextlib.nullcontext():
                optimizer.zero_grad()
                loss = gl.nn.functional.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
            losses.append(loss)
        return [float(loss) for loss in losses], optimizer

    want, _ = train("cpu", 0)
    for move_at in (0, 2):  # the second time with moments that have to follow
        got, optimizer = train("sim", move_at)
        np.testing.assert_allclose(got, want, rtol=1e-6)
    model, _, _ = model_and_batch("sim")
    again = make(model.to("sim").parameters())
    again.load_state_dict(optimizer.state_dict())
    assert len(again.state) == len(optimizer.state)


def test_a_watched_step_on_a_device_reports_its_update_there():
    from gradlab.trace import recording

    def norms(device):
        model, x, y = model_and_batch(device)
        optimizer = gl.optim.AdamW(model.to(device).parameters(), lr=0.1)
        with recording() as recorder:
            for _ in range(3):
                optimizer.zero_grad()
                loss = gl.nn.functional.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
        numbers = recorder.numbers()
        return [numbers.ops[:, :2], numbers.leaves, numbers.optimizers[0]["values"]]

    for a, b in zip(norms("sim"), norms("cpu"), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_layer_made_in_a_device_block_has_its_parameters_there():
    gl.manual_seed(0)
    host = gl.nn.Linear(3, 2)
    gl.manual_seed(0)
    with gl.device("sim"):
        there = gl.nn.Linear(3, 2)
    assert there.weight.device == "sim" and there.weight.tolist() == host.weight.tolist()


def test_a_state_goes_from_one_device_to_another():
    host, there = gl.nn.Linear(3, 2), gl.nn.Linear(3, 2).to("sim")
    there.load_state_dict(host.state_dict())
    assert there.weight.device == "sim" and there.weight.tolist() == host.weight.tolist()
    state = there.state_dict()
    assert state["weight"].device == "sim"
    other = gl.nn.Linear(3, 2)
    other.load_state_dict(state)
    assert other.weight.device == "cpu" and other.weight.tolist() == host.weight.tolist()
