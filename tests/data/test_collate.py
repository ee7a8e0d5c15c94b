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


def test_text_stays_a_list_of_whatever_kind_it_is():
    for words in (["a", "bc"], [np.str_("a"), np.str_("bc")], [b"a", b"bc"], ["a", np.str_("bc")]):
        assert collate(words) is words
    images, words = collate([(np.zeros(2), np.str_("a")), (np.ones(2), np.str_("b"))])
    assert images.shape == (2, 2) and words == ["a", "b"]


@pytest.mark.parametrize(("items", "i"), [
    ([1.0, None], 1), ([None, 1.0], 0), ([np.zeros(2), np.zeros(2), None], 2), ([(1, 2), (1, None)], 1), ([{"a": [None]}], 0),
    (["a", None], 1), ([gl.ones(1), None], 1), ([{"a": 1}, None], 1),
])  # fmt: skip
def test_a_missing_value_is_named_wherever_it_is(items, i):
    with pytest.raises(gl.errors.DataError, match=f"(?s)something is missing.*item {i} .*None"):
        collate(items)


@pytest.mark.parametrize("items", [[1, "a"], ["a", 1], [1.0, (1.0,)], [{"a": 1}, 2], [np.zeros(1), "a"], [np.zeros(1), [0.0]]], ids=str)
def test_items_of_different_kinds_are_refused(items):
    with pytest.raises(gl.ShapeError, match=r"(?s)different kind.*item 0.*item 1"):
        collate(items)


@pytest.mark.parametrize("item", [
    np.array(["a"]), np.array([None]), np.array([b"a"]), np.datetime64("2026-01-01"), np.array(["2026-01-01"], "M8[D]"), 10**30,
], ids=repr)  # fmt: skip
def test_only_numbers_become_tensors(item):
    with pytest.raises(gl.DTypeError, match="only numbers"):
        collate([item, item])


def test_numbers_beside_arrays_without_axes_are_stacked():
    assert collate([np.array(1.0), 2.0, gl.tensor(3.0), np.float32(4)]).tolist() == [1, 2, 3, 4]


def test_nothing_makes_no_batch():
    with pytest.raises(gl.errors.DataError, match="no batch"):
        collate([])
