"""A loader goes on in the middle of an epoch, and the epochs after it are those that would have come."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import data
from gradlab.errors import StateError

X, Y = np.arange(22.0, dtype=np.float32).reshape(11, 2), np.arange(11)


class Noisy(data.Dataset):
    """Items that draw from gradlab's random numbers."""

    def __len__(self):
        return 11

    def __getitem__(self, i):
        return i + gl.rand(1).item()


class Stream(data.IterableDataset):
    def __iter__(self):
        for i in range(11):
            yield i + gl.rand(1).item()


MAKERS = {
    "rows in order": lambda: data.DataLoader((X, Y), 3),
    "shuffled by a seed": lambda: data.DataLoader((X, Y), 3, shuffle=True, seed=4),
    "shuffled by gradlab's own numbers": lambda: data.DataLoader((X, Y), 3, shuffle=True),
    "shuffled by a generator": lambda: data.DataLoader((X, Y), 3, shuffle=True, generator=gl.Generator().manual_seed(2)),
    "items that draw": lambda: data.DataLoader(Noisy(), 3, shuffle=True, seed=4),
    "items that draw, without a seed": lambda: data.DataLoader(Noisy(), 3, shuffle=True),
    "threads": lambda: data.DataLoader(Noisy(), 3, shuffle=True, num_workers=2, seed=4),
    "threads, without a seed": lambda: data.DataLoader(Noisy(), 3, shuffle=True, num_workers=2),
    "a stream": lambda: data.DataLoader(Stream(), 3, seed=4),
    "a stream in a thread": lambda: data.DataLoader(Stream(), 3, num_workers=1),
    "weights": lambda: data.DataLoader((X, Y), 3, sampler=data.WeightedRandomSampler(range(11), 11, generator=gl.Generator())),
    "a short batch left out": lambda: data.DataLoader((X, Y), 3, shuffle=True, drop_last=True, seed=1),
}


def numbers(batches):
    return [(batch[0] if isinstance(batch, (tuple, list)) else batch).data.tolist() for batch in batches]


@pytest.mark.parametrize("used", [0, 1, 3], ids="after {} batches".format)
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_new_loader_goes_on_where_another_stood(make, used):
    gl.manual_seed(8)
    loader = make()
    numbers(loader)  # an epoch before
    gl.rand(3)
    batches = iter(loader)
    numbers(next(batches) for _ in range(used))
    state, rng = loader.state_dict(), gl.get_rng_state()
    wanted = numbers(batches), numbers(loader)
    gl.manual_seed(77)
    again = make()
    again.load_state_dict(state)
    gl.set_rng_state(rng)
    assert (numbers(again), numbers(again)) == wanted
    assert len(wanted[0]) == (3 if getattr(loader, "drop_last", False) else 4) - used


def test_a_state_goes_through_a_file(tmp_path):
    loader = MAKERS["shuffled by a seed"]()
    batches = iter(loader)
    next(batches)
    gl.save(loader.state_dict(), tmp_path / "loader.safetensors")
    again = MAKERS["shuffled by a seed"]()
    again.load_state_dict(gl.load(tmp_path / "loader.safetensors"))
    assert numbers(again) == numbers(batches)


def test_between_two_epochs_the_next_one_comes():
    loader = data.DataLoader((X, Y), 3, shuffle=True, seed=4)
    numbers(loader)
    again = data.DataLoader((X, Y), 3, shuffle=True, seed=4)
    again.load_state_dict(loader.state_dict())
    assert numbers(again) == numbers(loader)


def test_the_state_of_another_loader_is_refused():
    loader = data.DataLoader((X, Y), 3, shuffle=True, seed=4)
    with pytest.raises(StateError, match="another loader saved this\n  batch_size 4"):
        loader.load_state_dict(data.DataLoader((X, Y), 4, shuffle=True, seed=4).state_dict())
    with pytest.raises(StateError, match="generators 1\n  need:      generators 2"):
        loader.load_state_dict(data.DataLoader((X, Y), 3, generator=gl.Generator()).state_dict())
    with pytest.raises(StateError, match="what state_dict"):
        loader.load_state_dict({"batches": 3, "generators": [1, 2]})
