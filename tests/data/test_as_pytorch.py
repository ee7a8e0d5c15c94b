"""Datasets, samplers and loaders give what PyTorch's give: the same items in the same batches, and the same lengths."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import gradlab as gl
from gradlab import data

pytestmark = pytest.mark.torch
Pair = namedtuple("Pair", "x y")


@pytest.fixture
def theirs():
    return pytest.importorskip("torch", reason="PyTorch is not installed").utils.data


def plain(value):
    """Tensors as (dtype, numbers), whatever they are in."""
    if hasattr(value, "tolist"):
        return str(value.dtype).removeprefix("torch."), value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value).__name__, [plain(item) for item in value]
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("n", [0, 1, 5, 6, 7])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("workers", [0, 2])
def test_batches_and_lengths(n, drop_last, workers, theirs):
    items = [(np.full(2, i, np.float32), i) for i in range(n)]
    ours = data.DataLoader(items, 3, drop_last=drop_last, num_workers=workers)
    want = theirs.DataLoader(items, 3, drop_last=drop_last)
    assert len(ours) == len(want) and [plain(b) for b in ours] == [plain(b) for b in want]
    sampler = data.BatchSampler(range(n), 3, drop_last), theirs.BatchSampler(range(n), 3, drop_last)
    assert list(sampler[0]) == list(sampler[1]) and len(sampler[0]) == len(sampler[1])


ITEMS = {
    "numbers": [1, 2],
    "bools": [True, False],
    "numpy scalars": [np.float32(1), np.float32(2)],
    "arrays": [np.ones((2, 3), np.float16), np.zeros((2, 3), np.float16)],
    "tuples": [(1, np.float64(2)), (3, np.float64(4))],
    "lists": [[1, 2], [3, 4]],
    "dicts": [{"a": 1, "b": np.zeros(2)}, {"a": 2, "b": np.ones(2)}],
    "namedtuples": [Pair(1, 2), Pair(3, 4)],
    "text": ["a", "bc"],
    "nested": [{"p": Pair(np.uint8(1), ["x", 5])}, {"p": Pair(np.uint8(2), ["y", 6])}],
}


@pytest.mark.parametrize("kind", ITEMS)
def test_collating(kind, theirs):
    assert plain(data.default_collate(ITEMS[kind])) == plain(theirs.default_collate(ITEMS[kind]))


def test_numbers_with_a_point_are_float32_here():
    assert plain(data.collate([0.5, 1.5])) == ("float32", [0.5, 1.5])  # float64 there, which would not go through a layer


def test_parts_and_joined_datasets(theirs):
    for D in (data, theirs):
        both = D.ConcatDataset([D.Subset(range(10), [3, 1]), range(4)]) + D.Subset("ab", [1])
        assert [both[i] for i in range(len(both))] == [3, 1, 0, 1, 2, 3, "b"] and both[-2] == 3
        assert both.datasets[0].cumulative_sizes == [2, 6]
        assert sorted(len(p) for p in D.random_split(range(17), [0.5, 0.25, 0.25])) == [4, 4, 9]


def test_samplers(theirs):
    for D in (data, theirs):
        assert list(D.SequentialSampler("abc")) == [0, 1, 2] and sorted(D.RandomSampler(range(5))) == list(range(5))
        assert [len(list(D.RandomSampler(range(5), num_samples=k))) for k in (2, 5, 13)] == [2, 5, 13]
        many = list(D.RandomSampler(range(3), replacement=True, num_samples=60))
        assert len(many) == 60 and set(many) == {0, 1, 2}
        assert sorted(D.SubsetRandomSampler([4, 2])) == [2, 4]
        assert sorted(D.WeightedRandomSampler([0.0, 1.0, 2.0], 2, replacement=False)) == [1, 2]
        drawn = np.bincount(list(D.WeightedRandomSampler([1.0, 0.0, 3.0], 4000)), minlength=3) / 4000
        np.testing.assert_allclose(drawn, [0.25, 0, 0.75], atol=0.04)


def test_streams(theirs):
    def batches(D, **options):
        class Stream(D.IterableDataset):
            def __iter__(self):
                return iter(range(7))

        return [plain(b) for b in D.DataLoader(Stream(), 3, **options)]

    for options in ({}, {"drop_last": True}, {"collate_fn": sum}):
        assert batches(data, **options) == batches(theirs, **options) == batches(data, num_workers=2, **options)


def test_tensors_are_read_at_once_as_they_are_there_one_by_one(theirs):
    import torch

    x, y = np.arange(20, dtype=np.float32).reshape(10, 2), np.arange(10)
    ours = data.DataLoader(data.TensorDataset(gl.tensor(x), gl.tensor(y)), 4)
    want = theirs.DataLoader(theirs.TensorDataset(torch.tensor(x), torch.tensor(y)), 4)
    assert [plain(b) for b in ours] == [plain(b) for b in want]
