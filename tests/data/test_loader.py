from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import data, observe

X, Y = np.arange(20.0, dtype=np.float32).reshape(10, 2), np.arange(10)


def order(loader):
    return [int(v) for _, y in loader for v in y.data]


@pytest.mark.parametrize(("options", "sizes"), [({}, [4, 4, 2]), ({"drop_last": True}, [4, 4])], ids=["all", "drop last"])
def test_the_last_batch_may_be_short_and_length_counts_it(options, sizes):
    loader = data.DataLoader((X, Y), batch_size=4, **options)
    assert [x.shape[0] for x, _ in loader] == sizes and len(loader) == len(sizes)


def test_without_shuffle_items_come_in_order_and_labels_stay_integers():
    loader = data.DataLoader(data.TensorDataset(X, Y), batch_size=3)
    assert order(loader) == list(range(10))
    assert next(iter(loader))[1].dtype == np.int64


def test_shuffling_keeps_pairs_together_and_gives_each_item_once():
    seen = []
    for x, y in data.DataLoader((X, Y), batch_size=3, shuffle=True):
        assert np.array_equal(x.data[:, 0], 2 * y.data)
        seen += y.tolist()
    assert sorted(seen) == list(range(10)) != seen
    assert Y.tolist() == list(range(10)), "the data set itself stays as it is"


def test_the_same_seed_gives_the_same_epochs_and_each_epoch_is_new():
    a, b = (data.DataLoader((X, Y), batch_size=4, shuffle=True, seed=7) for _ in range(2))
    first, second = order(a), order(a)
    gl.manual_seed(99)
    assert [order(b), order(b)] == [first, second] and first != second


def test_without_a_seed_manual_seed_decides():
    def epoch():
        gl.manual_seed(0)
        return order(data.DataLoader((X, Y), shuffle=True))

    assert epoch() == epoch()


def test_two_iterators_do_not_disturb_each_other():
    loader = data.DataLoader((X, Y), batch_size=5)
    pairs = list(zip(loader, loader, strict=True))
    assert all(np.array_equal(a[1].data, b[1].data) for a, b in pairs) and len(pairs) == 2


def test_a_sampler_says_which_items_come():
    assert order(data.DataLoader((X, Y), batch_size=2, sampler=[5, 3, 3])) == [5, 3, 3]
    with pytest.raises(ValueError, match="shuffle and sampler"):
        data.DataLoader((X, Y), shuffle=True, sampler=[0])


def test_a_dataset_of_your_own_is_collated():
    class Squares(data.Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, i):
            return {"x": np.full(2, i, np.float32), "y": i * i}

    first, second = data.DataLoader(Squares(), batch_size=3)
    assert first["x"].shape == (3, 2) and second["y"].tolist() == [9, 16] and second["y"].dtype == np.int64


def test_lists_tensors_and_arrays_are_datasets_too():
    assert [b.tolist() for b in data.DataLoader([1.5, 2.5, 3.5], batch_size=2)] == [[1.5, 2.5], [3.5]]
    assert [b.tolist() for b in data.DataLoader((1, 2, 3), batch_size=2)] == [[1, 2], [3]]
    for rows in (Y, gl.tensor(Y)):
        assert [b.tolist() for b in data.DataLoader(rows, batch_size=6)] == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9]]


def test_the_fast_way_and_item_by_item_give_the_same_batches():
    ds = data.TensorDataset(X, Y)
    slow = data.DataLoader(ds, batch_size=4, shuffle=True, seed=1, collate_fn=data.collate)
    for fast, one_by_one in zip(data.DataLoader(ds, batch_size=4, shuffle=True, seed=1), slow, strict=True):
        assert all(np.array_equal(a.data, b.data) and a.dtype == b.dtype for a, b in zip(fast, one_by_one, strict=True))


@pytest.mark.parametrize("workers", [0, 1])
def test_a_dataset_that_reads_many_items_at_once_is_asked_to(workers):
    class Table(data.Dataset):
        def __len__(self):
            return 5

        def __getitems__(self, indices):
            return [(i, len(indices)) for i in indices]

    got = [(i.tolist(), n.tolist()) for i, n in data.DataLoader(Table(), 3, num_workers=workers)]
    assert got == [([0, 1, 2], [3, 3, 3]), ([3, 4], [2, 2])]


def test_a_changed_getitem_is_not_passed_over():
    class Doubled(data.TensorDataset):
        def __getitem__(self, i):
            x, y = super().__getitem__(i)
            return x * 2, y

    ((x, _),) = data.DataLoader(Doubled(X, Y), batch_size=10)
    assert np.array_equal(x.data, 2 * X)


def test_a_collate_function_of_your_own_gets_the_items():
    ragged = [np.zeros(n) for n in (1, 2, 3)]
    assert list(data.DataLoader(ragged, batch_size=2, collate_fn=lambda items: [len(i) for i in items])) == [[1, 2], [3]]
    with pytest.raises(gl.ShapeError, match="different shape"):
        list(data.DataLoader(ragged, batch_size=2))


def test_reading_batches_makes_no_ops():
    class Count:
        ops = 0

        def forward(self, fn, output, began):
            self.ops += 1

    count = Count()
    observe.attach(count)
    list(data.DataLoader((gl.tensor(X), gl.tensor(Y)), batch_size=4, shuffle=True))
    observe.detach(count)
    assert count.ops == 0


def test_an_empty_dataset_has_no_batches():
    loader = data.DataLoader(data.TensorDataset(np.zeros(0)), batch_size=2)
    assert list(loader) == [] and len(loader) == 0


@pytest.mark.parametrize("batch_size", [0, -1, 2.0, True, None])
def test_a_batch_size_that_counts_nothing_is_refused(batch_size):
    with pytest.raises(ValueError, match="batch_size counts items"):
        data.DataLoader((X, Y), batch_size=batch_size)


@pytest.mark.parametrize("batch_size", [np.int64(4), np.uint8(4), gl.tensor(4), np.array(4)], ids=lambda b: type(b).__name__)
def test_any_whole_number_is_a_batch_size(batch_size):
    loader = data.DataLoader((X, Y), batch_size=batch_size)
    assert [len(y) for _, y in loader] == [4, 4, 2] and len(loader) == 3 and type(loader.batch_size) is int


@pytest.mark.parametrize(
    "sampler",
    [lambda: iter([0, 1]), lambda: (i for i in range(2)), lambda: zip([0], [1], strict=True), lambda: map(int, "01")],
    ids=["iter", "gen", "zip", "map"],
)
def test_a_sampler_that_can_be_read_only_once_is_refused(sampler):
    with pytest.raises(gl.errors.DataError, match=r"(?s)read only once.*sampler=list"):
        data.DataLoader((X, Y), sampler=sampler())


@pytest.mark.parametrize(
    "sampler", [[2, 1], (2, 1), np.array([2, 1]), range(2, 0, -1), {2: "b", 1: "a"}.keys()], ids=lambda s: type(s).__name__
)
def test_a_sampler_gives_every_epoch_the_same_items(sampler):
    loader = data.DataLoader((X, Y), sampler=sampler)
    assert order(loader) == order(loader) == [2, 1]


def test_a_dataset_of_text_gives_lists():
    assert list(data.DataLoader(np.array(["a", "bc", "d"]), batch_size=2)) == [["a", "bc"], ["d"]]
    with pytest.raises(gl.DTypeError, match="only numbers"):
        data.TensorDataset(np.array(["a", "b"]))


def test_what_has_no_numbered_items_is_refused():
    with pytest.raises(TypeError, match="__len__ and __getitem__"):
        data.DataLoader(iter([1, 2]))
