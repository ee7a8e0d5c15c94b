"""Memory shared with other libraries."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import DeviceError, DTypeError, GraphError, KeywordError


def test_dlpack_shares_memory_both_ways():
    array = np.ones(3, np.float32)
    x = gl.from_dlpack(array)
    x[0] = 5.0
    assert array[0] == 5.0
    back = np.from_dlpack(x)
    back[1] = 7.0
    assert x.tolist() == [5.0, 7.0, 1.0]
    assert gl.from_dlpack(x).data.ctypes.data == array.ctypes.data and x.__dlpack_device__() == (1, 0)


def test_memory_that_could_be_harmed_is_copied():
    backwards = gl.from_numpy(np.arange(3.0)[::-1])
    assert np.from_dlpack(backwards).tolist() == [2.0, 1.0, 0.0] and np.from_dlpack(backwards).strides == (8,)
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    x = gl.from_numpy(fixed)
    assert not np.shares_memory(np.from_dlpack(x), fixed)
    for t in (backwards, x):
        with pytest.raises(BufferError, match="can't be shared safely"):
            t.__dlpack__(copy=False)
    own = gl.tensor([1.0, 2.0])
    assert not np.shares_memory(np.from_dlpack(own, copy=True), own.data)


def test_a_gradient_is_not_lost_in_another_library():
    with pytest.raises(BufferError, match=r"t\.detach\(\)"):
        np.from_dlpack(gl.ones(2, requires_grad=True))


def test_a_device_tensor_goes_over_dlpack_to_its_own_kind_only():
    x = gl.ones(2, device="sim")
    assert gl.from_dlpack(x).device == "sim"
    with pytest.raises((BufferError, RuntimeError, ValueError)):
        np.from_dlpack(x)


class Foreign:
    def __init__(self, device=(1, 0), requires_grad=False, error=None):
        self.device, self.requires_grad, self.error = device, requires_grad, error

    def __dlpack__(self, **protocol):
        raise self.error

    def __dlpack_device__(self):
        return self.device


def test_what_can_not_come_over_dlpack_is_refused_in_words():
    with pytest.raises(KeywordError, match="speaks no DLPack"):
        gl.from_dlpack([1.0])
    with pytest.raises(GraphError, match="requires a gradient there"):
        gl.from_dlpack(Foreign(requires_grad=True))
    with pytest.raises(DeviceError, match="reaches no such device"):
        gl.from_dlpack(Foreign(device=(7, 0)))
    with pytest.raises(DTypeError, match="bfloat16"):
        gl.from_dlpack(Foreign(error=BufferError("unsupported dtype")))


def test_protocols_of_devices_are_offered_only_there_and_without_a_gradient():
    assert not hasattr(gl.ones(2), "__cuda_array_interface__") and not hasattr(gl.ones(2), "__sim_array__")
    assert not hasattr(gl.ones(2, device="sim"), "__cuda_array_interface__") and hasattr(gl.ones(2, device="sim"), "__sim_array__")
    assert not hasattr(gl.ones(2, device="sim", requires_grad=True), "__sim_array__")


@pytest.mark.torch
def test_pytorch_and_gradlab_share_memory():
    torch = pytest.importorskip("torch")
    theirs = torch.ones(3)
    x = gl.from_dlpack(theirs)
    x[0] = 5.0
    back = torch.from_dlpack(x)
    back[1] = 7.0
    assert theirs.tolist() == [5.0, 7.0, 1.0]
    assert torch.from_dlpack(gl.from_numpy(np.arange(3.0)[::-1])).tolist() == [2.0, 1.0, 0.0], "no abort"
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    torch.from_dlpack(gl.from_numpy(fixed))[0] = 9.0
    assert fixed[0] == 0.0
    with pytest.raises(GraphError, match="requires a gradient there"):
        gl.from_dlpack(torch.ones(2, requires_grad=True))
    with pytest.raises(DTypeError, match="bfloat16"):
        gl.from_dlpack(torch.ones(2, dtype=torch.bfloat16))


def test_an_array_without_a_copy_is_refused_where_one_is_needed():
    x = gl.ones(2)
    assert np.shares_memory(np.array(x, copy=False), x.data)
    assert not np.shares_memory(np.array(x), x.data)
    with pytest.raises(ValueError, match="copy"):
        np.array(x, dtype="float64", copy=False)


@pytest.mark.torch
def test_pytorch_reads_every_kind_of_tensor_and_gradlab_every_kind_of_pytorchs():
    torch = pytest.importorskip("torch")
    square = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    arrays = [square, square.T, square[:, ::2], np.float64(3), np.zeros((0, 3)), np.broadcast_to(np.float32(2), (3,))]
    arrays += [np.ones(2, kind) for kind in ("bool", "uint8", "int32", "int64", "float16")]
    for array in arrays:
        t = gl.from_numpy(np.asarray(array))
        for theirs in (torch.from_dlpack(t), torch.as_tensor(t), torch.tensor(t), torch.asarray(t)):
            assert theirs.numpy().dtype == t.dtype
            np.testing.assert_array_equal(theirs.numpy(), t.data)
        for ours in (gl.from_dlpack(theirs), gl.tensor(theirs), gl.as_tensor(theirs)):
            assert ours.dtype == t.dtype
            np.testing.assert_array_equal(ours.data, t.data)
    assert torch.as_tensor(gl.from_numpy(square[::-1])).tolist() == square[::-1].tolist(), "no abort"
    assert np.shares_memory(torch.from_dlpack(gl.from_numpy(square.T)).numpy(), square), "nothing is copied where nothing is at risk"


@pytest.mark.torch
def test_weights_that_are_mapped_from_a_file_stay_as_they_are_there(tmp_path):
    torch = pytest.importorskip("torch")
    np.save(tmp_path / "w.npy", np.ones(3, np.float32))
    mapped = gl.from_numpy(np.load(tmp_path / "w.npy", mmap_mode="r"))
    for theirs in (torch.from_dlpack(mapped), torch.as_tensor(mapped), torch.tensor(mapped)):
        theirs[0] = 9.0
    assert mapped.tolist() == [1.0, 1.0, 1.0] and np.load(tmp_path / "w.npy").tolist() == [1.0, 1.0, 1.0]


@pytest.mark.torch
def test_neither_library_takes_a_tensor_out_of_the_others_graph_in_silence():
    torch = pytest.importorskip("torch")
    for convert in (torch.from_dlpack, torch.as_tensor):
        with pytest.raises(BufferError, match=r"t\.detach\(\)"):
            convert(gl.ones(2, requires_grad=True))
    for convert in (gl.tensor, gl.as_tensor):
        with pytest.raises(RuntimeError, match="detach"):
            convert(torch.ones(2, requires_grad=True))
    with pytest.raises(BufferError, match="no other library"):
        torch.as_tensor(gl.ones(2, device="sim"))
