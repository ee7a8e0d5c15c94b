"""Workers: they change how fast batches come, and nothing else."""

from __future__ import annotations

import signal
import threading
import time
import traceback
from collections import namedtuple

import numpy as np
import pytest

import gradlab as gl
from gradlab import data


@pytest.fixture(autouse=True)
def no_thread_is_left():
    before = threading.active_count()
    yield
    assert threading.active_count() <= before


def workers_now():
    return [thread for thread in threading.enumerate() if thread.name.startswith("gradlab-data")]


def soon(true):
    """Whether it becomes true within some seconds, also on a machine that is busy."""
    until = time.monotonic() + 10
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    return true()


class Noisy(data.Dataset):
    def __init__(self, n=20, pause=lambda i: 0.0):
        self.n, self.pause, self.read = n, pause, []

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        time.sleep(self.pause(i))
        self.read.append(i)
        return i, gl.rand(1).item()


def values(loader):
    return [(i, round(r, 6)) for ids, rs in loader for i, r in zip(ids.tolist(), rs.tolist(), strict=True)]


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("options", [{"seed": 7}, {"generator": 5}, {}], ids=["seed", "generator", "manual_seed"])
def test_order_and_random_numbers_do_not_depend_on_workers(workers, options):
    def epochs(count):
        gl.manual_seed(3)
        given = {**options, **({"generator": gl.Generator().manual_seed(5)} if "generator" in options else {})}
        uneven = Noisy(pause=lambda i: 0.002 * (i % 3))
        loader = data.DataLoader(uneven, 3, shuffle=True, num_workers=count, **given)
        return [values(loader), values(loader)]

    first, second = epochs(0)
    assert [first, second] == epochs(workers)
    assert sorted(i for i, _ in first) == list(range(20)) and first != second
    assert len({r for _, r in first + second}) == 40, "no two items draw the same numbers"


def test_numbers_of_items_are_new_each_epoch_also_in_a_fixed_order():
    loader = data.DataLoader(Noisy(6), 2, num_workers=2)
    a, b = values(loader), values(loader)
    assert [i for i, _ in a] == [i for i, _ in b] == list(range(6)) and a != b


def test_what_workers_draw_leaves_the_main_numbers_alone():
    gl.manual_seed(1)
    list(data.DataLoader(Noisy(6), 2))
    want = gl.rand(3).tolist()
    gl.manual_seed(1)
    list(data.DataLoader(Noisy(6), 2, num_workers=3))
    assert gl.rand(3).tolist() == want


def test_batches_are_made_ahead_but_not_without_end():
    dataset = Noisy(100)
    loader = iter(data.DataLoader(dataset, 2, num_workers=2, prefetch_factor=3))
    next(loader)
    assert soon(lambda: len(dataset.read) == 2 * 2 * 3) and soon(lambda: not workers_now())
    assert len(dataset.read) == 2 * 2 * 3, "no worker goes further until the next batch is taken"
    loader.close()


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_is_shown_with_its_line_and_its_item(workers):
    class Broken(Noisy):
        def __getitem__(self, i):
            if i == 5:
                raise KeyError("the fifth is missing")
            return i, 0.0

    got = []
    loader = data.DataLoader(Broken(), 2, num_workers=workers)
    with pytest.raises(KeyError, match="the fifth is missing") as raised:
        got.extend(ids.tolist() for ids, _ in loader)
    text = "".join(traceback.format_exception(raised.value))
    assert "in item 5 of Broken" in text and 'raise KeyError("the fifth is missing")' in text and got == [[0, 1], [2, 3]]


def test_an_error_in_collate_or_the_first_call_of_a_worker_is_shown_too():
    with pytest.raises(gl.ShapeError, match="different shape"):
        list(data.DataLoader([np.zeros(1), np.zeros(2)], 2, num_workers=1))

    def init(number):
        raise OSError(f"no camera {number}")

    with pytest.raises(OSError, match="no camera 0"):
        list(data.DataLoader(Noisy(), 2, num_workers=1, worker_init_fn=init))


def test_a_break_or_an_error_in_the_loop_ends_the_workers_and_the_loader_goes_on():
    dataset = Noisy(200, pause=lambda i: 0.001)
    loader = data.DataLoader(dataset, 2, num_workers=3)
    for _ in loader:
        break
    assert not workers_now()
    assert len(dataset.read) < 40
    with pytest.raises(ZeroDivisionError):
        [1 / 0 for _ in loader]
    assert len(list(loader)) == 100


def test_no_worker_is_idle_while_a_traceback_keeps_the_loop():
    kept = None
    try:
        for _ in data.DataLoader(Noisy(50), 1, num_workers=2):
            raise ValueError
    except ValueError as error:
        kept = error
    assert soon(lambda: not workers_now())
    del kept


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="interrupts by a timer are POSIX's")
def test_an_interrupt_while_waiting_for_a_batch_ends_the_workers_and_the_loader_goes_on():
    dataset = Noisy(20, pause=lambda i: 0.3 if i == 2 else 0.0)
    loader = data.DataLoader(dataset, 1, num_workers=1)

    def stop(number, frame):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            list(loader)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert not workers_now()
    assert len(list(loader)) == 20


def test_a_batch_that_does_not_come_in_time_is_an_error():
    with pytest.raises(gl.errors.DataError, match=r"(?s)no batch came in time.*timeout 0\.05 s"):
        list(data.DataLoader(Noisy(4, pause=lambda i: 0.4 * (i == 2)), 1, num_workers=1, timeout=0.05))


def test_a_worker_knows_which_it_is_and_begins_once():
    begun, seen = [], []

    class Asking(Noisy):
        def __getitem__(self, i):
            info = data.get_worker_info()
            seen.append((info.id, info.num_workers, info.dataset is self))
            return i

    list(data.DataLoader(Asking(30, pause=lambda i: 0.001), 1, num_workers=3, worker_init_fn=begun.append))
    assert sorted(begun) == sorted({i for i, _, _ in seen}) and {(n, same) for _, n, same in seen} == {(3, True)}
    assert data.get_worker_info() is None


def test_two_loops_over_one_loader_have_workers_of_their_own():
    loader = data.DataLoader(np.arange(12), 3, num_workers=2, persistent_workers=True)
    pairs = [(a.tolist(), b.tolist()) for a, b in zip(loader, loader, strict=True)]
    assert all(a == b for a, b in pairs) and len(pairs) == 4 and len(list(loader)) == 4


class Countdown(data.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        for i in range(self.n, 0, -1):
            yield i, gl.rand(1).item()


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_a_stream_comes_once_and_in_order_however_many_workers(workers):
    gl.manual_seed(0)
    loader = data.DataLoader(Countdown(7), 3, num_workers=workers)
    got = values(loader)
    gl.manual_seed(0)
    assert got == values(data.DataLoader(Countdown(7), 3)) and [i for i, _ in got] == [7, 6, 5, 4, 3, 2, 1]
    assert [len(ids) for ids, _ in loader] == [3, 3, 1]
    assert [len(ids) for ids, _ in data.DataLoader(Countdown(7), 3, num_workers=workers, drop_last=True)] == [3, 3]
    assert list(data.DataLoader(Countdown(0), 3, num_workers=workers)) == []
    with pytest.raises(TypeError, match="not known"):
        len(loader)


def test_a_stream_has_no_numbered_items_and_no_order_to_choose():
    for options in ({"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}):
        with pytest.raises(gl.errors.DataError, match="its own order"):
            data.DataLoader(Countdown(3), **options)
    with pytest.raises(gl.KeywordError, match="no numbered items"):
        Countdown(3)[0]

    class Known(Countdown):
        def __len__(self):
            return self.n

    assert len(data.DataLoader(Known(7), 3)) == 3 and len(data.DataLoader(Known(7), 3, drop_last=True)) == 2


Pair = namedtuple("Pair", "x name")


@pytest.mark.parametrize("workers", [0, 2])
def test_dicts_namedtuples_and_text_come_through_workers(workers):
    items = [{"pair": Pair(np.float32(i), f"n{i}"), "n": i} for i in range(4)]
    batches = list(data.DataLoader(items, 2, num_workers=workers))
    assert [b["pair"].x.tolist() for b in batches] == [[0, 1], [2, 3]] and batches[1]["pair"].name == ["n2", "n3"]
    assert type(batches[0]["pair"]) is Pair and batches[0]["n"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"num_workers": -1}, "num_workers counts"),
        ({"num_workers": 1.5}, "num_workers counts"),
        ({"num_workers": 1, "prefetch_factor": 0}, "prefetch_factor counts"),
        ({"timeout": -1}, "timeout is in seconds"),
        ({"multiprocessing_context": "spawn"}, "give num_workers=1 or more"),
        ({"num_workers": 1, "multiprocessing_context": "threads"}, "no such way to start processes"),
        ({"generator": gl.Generator(), "seed": 1}, "not both"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "give it alone"),
        ({"batch_sampler": [[0]], "drop_last": True}, "give it alone"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(options, match):
    with pytest.raises(gl.errors.DataError, match=match):
        data.DataLoader([1, 2, 3], **options)


def test_a_batch_sampler_says_which_items_form_a_batch():
    loader = data.DataLoader(np.arange(6), batch_sampler=[[5, 0], [2]])
    assert [b.tolist() for b in loader] == [[5, 0], [2]] == [b.tolist() for b in loader] and len(loader) == 2
    sampler = data.BatchSampler(data.SequentialSampler(range(5)), 2, drop_last=True)
    assert [b.tolist() for b in data.DataLoader(np.arange(6), batch_sampler=sampler, num_workers=1)] == [[0, 1], [2, 3]]
