from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import data


def test_items_are_rows_of_every_tensor():
    x, y = gl.arange(6.0).reshape(3, 2), np.array([4, 5, 6])
    ds = data.TensorDataset(x, y)
    assert len(ds) == 3
    a, b = ds[1]
    assert a.tolist() == [2, 3] and b.item() == 5 and b.dtype == np.int64


def test_tensors_are_kept_and_not_copied():
    x = np.zeros((2, 2), np.float32)
    ds = data.TensorDataset(x)
    x[1] = 7
    assert ds[1][0].tolist() == [7, 7]


def test_items_carry_no_graph():
    x = gl.ones(3, requires_grad=True) * 2
    ds = data.TensorDataset(x)
    assert not ds[0][0].requires_grad and not ds.batch([0, 1])[0].requires_grad


def test_a_batch_is_a_copy():
    x = np.arange(4)
    (batch,) = data.TensorDataset(x).batch([2, 0])
    batch.data[...] = 9
    assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("shapes", [[(2,), (1,)], [(2, 3), (3, 2)], [()], []], ids=str)
def test_lengths_that_differ_are_refused(shapes):
    with pytest.raises(gl.ShapeError, match="the same first size"):
        data.TensorDataset(*[np.zeros(s) for s in shapes])


def test_only_tensors_and_arrays_are_taken():
    with pytest.raises(TypeError, match="takes tensors and arrays"):
        data.TensorDataset([1, 2, 3])


def test_a_dataset_of_your_own_must_have_a_length_and_items():
    ds = data.Dataset()
    with pytest.raises(NotImplementedError, match="__len__"):
        len(ds)
    with pytest.raises(NotImplementedError, match="__getitem__"):
        ds[0]
