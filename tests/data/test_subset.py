"""Parts of datasets, and datasets made of several."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import data


def test_a_subset_has_the_chosen_items_in_their_order():
    for indices in ([3, 0, -1], np.array([3, 0, 4]), gl.tensor([3, 0, 4]), (3, 0, 4)):
        part = data.Subset("abcde", indices)
        assert [part[i] for i in range(len(part))] == ["d", "a", "e"]
    assert len(data.Subset("abc", [])) == 0 and data.Subset(data.Subset("abcde", [4, 2, 0]), [1])[0] == "c"


def test_a_subset_of_arrays_is_read_at_once_and_gives_the_same_batches():
    whole = data.TensorDataset(np.arange(20.0).reshape(10, 2), np.arange(10))
    part = data.Subset(data.Subset(whole, [9, 7, 5, 3, 1]), [4, 0, -2])
    (fast,) = data.DataLoader(part, 3)
    (slow,) = data.DataLoader(part, 3, collate_fn=data.collate)
    assert fast[1].tolist() == slow[1].tolist() == [1, 9, 3] and np.array_equal(fast[0].data, slow[0].data)

    class Doubled(data.Subset):
        def __getitem__(self, i):
            return super().__getitem__(i)[1] * 2

    (own,) = data.DataLoader(Doubled(whole, [2, 1]), 2)
    assert own.tolist() == [4, 2], "a __getitem__ of one's own is not passed over"


@pytest.mark.parametrize(
    ("indices", "error", "match"),
    [
        ([5], IndexError, r"(?s)beyond the dataset.*0 to 4"),
        ([-6], gl.errors.PlaceError, "beyond the dataset"),
        ([0.5], TypeError, "no indices"),
        (3, gl.KeywordError, "no indices"),
        ([[1]], gl.KeywordError, "no indices"),
        ([True, False], gl.KeywordError, "no indices"),
    ],
    ids=str,
)
def test_indices_that_lead_nowhere_are_refused(indices, error, match):
    with pytest.raises(error, match=match):
        data.Subset("abcde", indices)


def test_a_tuple_of_tensors_is_a_dataset_of_their_rows_everywhere():
    rows = data.fashion_sample(train=False)
    parts = data.random_split(rows, [0.8, 0.2])
    assert [len(part) for part in parts] == [400, 100] and len(data.ConcatDataset([rows, rows])) == 1000
    x, y = data.Subset(rows, [3])[0]
    assert np.array_equal(x.data, rows.images.data[3]) and y.item() == rows.labels[3].item()


@pytest.mark.parametrize("index", [3, -4])
def test_an_item_that_is_not_there_is_named(index):
    for dataset in (data.TensorDataset(np.zeros(3)), data.Subset("abcde", [4, 0, 1])):
        with pytest.raises(IndexError, match=r"(?s)there is no such item.*0 to 2"):
            dataset[index]


def test_joined_datasets_are_numbered_through():
    both = data.Subset("ab", [0, 1]) + data.Subset("cde", [2, 0]) + data.Subset("f", [])
    assert "".join(both[i] for i in range(len(both))) == "abec" and both[-1] == "c" and both[-4] == "a"
    assert data.ConcatDataset([[], "ab", [], "c"])[2] == "c"
    for i in (4, -5):
        with pytest.raises(IndexError, match="no such item"):
            both[i]
    with pytest.raises(gl.errors.DataError, match="nothing to join"):
        data.ConcatDataset([])
    with pytest.raises(TypeError, match="needs items with numbers"):
        data.ConcatDataset(["ab", iter("c")])


def parts(*given, **options):
    return [[part[i] for i in range(len(part))] for part in data.random_split(*given, **options)]


@pytest.mark.parametrize(
    ("n", "lengths", "counts"),
    [
        (10, [7, 3], [7, 3]),
        (10, [0.75, 0.25], [8, 2]),
        (10, [0.34, 0.33, 0.33], [4, 3, 3]),
        (11, [0.35, 0.35, 0.3], [4, 4, 3]),
        (3, [3, 0], [3, 0]),
        (10, [1.0, 0.0], [10, 0]),
        (1, [1], [1]),
        (0, [0, 0], [0, 0]),
        (10, np.array([6, 4]), [6, 4]),
    ],
    ids=str,
)
def test_parts_have_the_lengths_that_pytorch_gives_them_and_each_item_once(n, lengths, counts):
    got = parts(range(n), lengths)
    assert [len(part) for part in got] == counts and sorted(i for part in got for i in part) == list(range(n))


def test_a_generator_decides_who_is_where():
    a, b, c = (parts(range(30), [20, 10], generator=gl.Generator().manual_seed(s)) for s in (1, 1, 2))
    assert a == b != c
    gl.manual_seed(4)
    first = parts(range(30), [20, 10])
    gl.manual_seed(4)
    assert parts(range(30), [20, 10]) == first != parts(range(30), [20, 10])


@pytest.mark.parametrize("lengths", [[5, 6], [-1, 11], [0.5, 0.6], [0.5], [5.0, 5.0], [True, 9.5], []], ids=str)
def test_lengths_that_do_not_make_up_the_dataset_are_refused(lengths):
    with pytest.raises(gl.errors.DataError, match="don't make up the dataset"):
        data.random_split(range(10), lengths)


def test_a_share_that_would_get_no_item_is_refused():
    with pytest.raises(gl.errors.DataError, match=r"(?s)a part would be empty.*items +3"):
        data.random_split(range(3), [0.9, 0.05, 0.05])


@pytest.mark.torch
def test_pytorch_splits_into_the_same_lengths():
    torch = pytest.importorskip("torch")
    for n in range(8, 40):
        for lengths in ([0.8, 0.2], [0.5, 0.3, 0.2], [0.34, 0.33, 0.33]):
            theirs = torch.utils.data.random_split(range(n), lengths)
            assert [len(part) for part in theirs] == [len(part) for part in data.random_split(range(n), lengths)]
