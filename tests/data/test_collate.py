from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import gradlab as gl
from gradlab.data import collate


class Pair(NamedTuple):
    x: float
    y: int


def test_numbers_become_one_tensor_of_their_kind():
    assert collate([1, 2]).dtype == np.int64 and collate([1.0, 2.0]).dtype == np.float32
    assert collate([True, False]).dtype == np.bool_ and collate([1, 2.5]).tolist() == [1, 2.5]
    assert collate([np.float64(1), np.float64(2)]).dtype == np.float64


def test_arrays_and_tensors_keep_their_dtype():
    for dtype in (np.float32, np.float64, np.int64, np.uint8):
        batch = collate([np.zeros((2, 3), dtype), np.ones((2, 3), dtype)])
        assert batch.shape == (2, 2, 3) and batch.dtype == dtype
    assert collate([gl.ones(2), gl.zeros(2)]).tolist() == [[1, 1], [0, 0]]


def test_dicts_tuples_and_lists_keep_their_form():
    batch = collate([{"x": np.full(2, i, np.float32), "y": (i, [i, "name"])} for i in range(3)])
    assert batch["x"].shape == (3, 2) and batch["y"][0].tolist() == [0, 1, 2]
    assert batch["y"][1][0].tolist() == [0, 1, 2] and batch["y"][1][1] == ["name"] * 3
    assert type(collate([Pair(0.5, 1), Pair(1.5, 2)])) is Pair


@pytest.mark.parametrize(("items", "text"), [
    ([np.zeros(1), np.zeros(1), np.zeros(2)], r"(?s)different shape.*item 0.*\(1,\).*item 2.*\(2,\)"),
    ([gl.zeros(1), gl.zeros(())], "different shape"),
    ([(1, 2), (1,)], "different length"),
    ([{"a": 1}, {"b": 1}], "different keys"),
], ids=["arrays", "tensors", "tuples", "dicts"])  # fmt: skip
def test_ragged_items_are_refused_and_named(items, text):
    with pytest.raises(gl.ShapeError, match=text):
        collate(items)


def test_what_cannot_be_put_in_a_batch_is_named():
    with pytest.raises(TypeError, match=r"(?s)can't make a batch.*object"):
        collate([object()])
