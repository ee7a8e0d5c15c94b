"""Training on a GPU: the same losses, no wait in a step, memory that stays flat, and tensors shared with other libraries."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.errors import DeviceError
from gradlab.nn import functional as F


def setup(device, hidden=64):
    gl.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, 4)).to(device)
    optimizer = optim.AdamW(model.parameters(), lr=0.01)
    rng = np.random.default_rng(0)
    x, y = gl.tensor(rng.standard_normal((64, 16)).astype("f4"), device=device), gl.tensor(rng.integers(0, 4, 64), device=device)

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return model, step


def test_training_is_training_on_a_gpu_too():
    (_, step), (_, step_there) = setup("cpu"), setup("cuda")
    want, got = [], []
    for one, losses_of in ((step, want), (step_there, got)):
        gl.manual_seed(1)
        losses_of += [float(one()) for _ in range(10)]
    np.testing.assert_allclose(got, want, rtol=1e-4)


@pytest.mark.filterwarnings("ignore:cupyx.allow_synchronize")
def test_a_step_never_waits_for_the_gpu(cupy):
    from cupyx import DeviceSynchronized, allow_synchronize

    _, step = setup("cuda")
    step()
    with allow_synchronize(False):
        step()
        with pytest.raises(DeviceSynchronized):
            step().item()


def test_memory_stays_flat():
    _, step = setup("cuda")
    for _ in range(5):
        step()
    gl.cuda.synchronize()
    before = gl.cuda.memory_allocated()
    for _ in range(100):
        step()
    gl.cuda.synchronize()
    assert gl.cuda.memory_allocated() == before > 0
    assert gl.cuda.memory_reserved() >= before and 0 < gl.cuda.mem_get_info()[0] < gl.cuda.mem_get_info()[1]


def test_a_module_and_its_optimizer_move():
    model, _ = setup("cpu")
    optimizer = optim.Adam(model.parameters())
    for device in ("cpu", "cuda", "cpu"):
        model.to(device)
        model(gl.ones(2, 16, device=device)).sum().backward()
        optimizer.step()
        assert all(p.device.type == device and p.grad.device.type == device for p in model.parameters())


def test_a_gradient_flows_through_moves():
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    (x.cuda() ** 2).sum().cpu().backward()
    assert x.grad.device == "cpu" and x.grad.tolist() == [2.0, 4.0]
    assert x.to("cuda", non_blocking=True).device == "cuda:0" and x.cuda().cpu().device == "cpu"


def test_mixed_devices_and_secret_copies_are_refused():
    x, y = gl.ones(2, device="cuda"), gl.ones(2)
    calls = (lambda: x + y, lambda: y * x, lambda: x + y.numpy(), lambda: y.numpy() + x, lambda: gl.cat([x, y]))
    for call in (*calls, lambda: x[gl.tensor([0])]):
        with pytest.raises(DeviceError, match="different devices"):
            call()
    for call in (x.numpy, lambda: np.asarray(x)):
        with pytest.raises(DeviceError, match="cpu"):
            call()
    assert "device='cuda:0'" in repr(x) and x.tolist() == [1.0, 1.0] and float(x.sum()) == 2.0


def test_the_array_interface_is_lent_only_without_a_gradient(cupy):
    x = gl.ones(2, device="cuda")
    assert cupy.asarray(x).data.ptr == x.data.data.ptr
    x.data -= 0.5 * gl.ones(2, device="cuda")
    assert x.tolist() == [0.5, 0.5]
    x.requires_grad_()
    with pytest.raises(AttributeError):
        x.__cuda_array_interface__  # noqa: B018
    for y in (x.data * x, x * x.data, cupy.exp(x), np.multiply(x.data, x)):
        assert isinstance(y, gl.Tensor) and y.grad_fn is not None
    out = cupy.ones(2, dtype="float32")
    cupy.multiply(out, gl.ones(2, device="cuda") * 3, out)
    assert out.tolist() == [3.0, 3.0]


def test_dlpack_goes_round_without_a_copy(cupy):
    x = gl.tensor([1.0, 2.0], device="cuda")
    array = cupy.from_dlpack(x)
    assert array.data.ptr == x.data.data.ptr and gl.from_dlpack(array).data.data.ptr == x.data.data.ptr
    assert x.__dlpack_device__() == (2, 0)
    with pytest.raises(BufferError):
        cupy.from_dlpack(gl.ones(2, device="cuda", requires_grad=True))


def test_dlpack_reaches_pytorch(cupy):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    x = gl.tensor([1.0, 2.0], device="cuda")
    theirs = torch.from_dlpack(x)
    theirs[0] = 5.0
    torch.cuda.synchronize()
    assert x.tolist() == [5.0, 2.0] and gl.from_dlpack(theirs).data.data.ptr == x.data.data.ptr


def test_copies_and_pickles_come_back_on_the_gpu():
    x = gl.tensor([1.0, 2.0], device="cuda", requires_grad=True)
    for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert twin.device == "cuda:0" and twin.tolist() == [1.0, 2.0] and twin.requires_grad


def test_a_tracer_reads_the_same_norms():
    from gradlab.trace import recording

    def norms(device):
        _, step = setup(device)
        with recording() as recorder:
            step()
            step()
        return recorder.numbers().leaves

    np.testing.assert_allclose(norms("cuda"), norms("cpu"), rtol=1e-4)


def test_a_timer_asks_the_gpu():
    from gradlab.backend import Timer

    x = gl.randn(2048, 2048, device="cuda")
    with Timer("cuda") as timer:
        for _ in range(10):
            x @ x
    assert 0 < timer.seconds < 10
