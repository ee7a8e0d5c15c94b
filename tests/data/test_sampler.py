from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import data


def test_sequential_goes_through_in_order():
    sampler = data.SequentialSampler(range(5))
    assert list(sampler) == [0, 1, 2, 3, 4] and len(sampler) == 5


def test_random_gives_each_index_once_in_a_new_order_each_time():
    sampler = data.RandomSampler(range(50))
    a, b = list(sampler), list(sampler)
    assert sorted(a) == sorted(b) == list(range(50)) and a != b and len(sampler) == 50


def test_the_order_comes_from_gradlabs_own_random_state_unless_told_otherwise():
    def order(**options):
        return list(data.RandomSampler(range(50), **options))

    gl.manual_seed(1)
    first = order()
    gl.manual_seed(1)
    assert order() == first
    seeded = order(seed=3)
    gl.manual_seed(2)
    assert order(seed=3) == seeded == order(generator=np.random.default_rng(3)) != first


def test_a_seed_leaves_other_random_numbers_alone():
    gl.manual_seed(5)
    expected = gl.rand(3).tolist()
    gl.manual_seed(5)
    list(data.RandomSampler(range(10), seed=0))
    assert gl.rand(3).tolist() == expected


def test_numpys_global_state_is_not_touched():
    before = np.random.get_state()[1].copy()
    list(data.RandomSampler(range(10)))
    assert np.array_equal(np.random.get_state()[1], before)


def test_a_generator_and_a_seed_together_are_refused():
    with pytest.raises(ValueError, match="not both"):
        data.RandomSampler(range(3), generator=np.random.default_rng(0), seed=0)


def test_draws_with_replacement_and_more_than_there_are():
    many = list(data.RandomSampler(range(3), replacement=True, num_samples=50))
    assert len(many) == 50 and set(many) == {0, 1, 2}
    twice = list(data.RandomSampler(range(5), num_samples=12))
    assert sorted(twice[:5]) == sorted(twice[5:10]) == list(range(5)) and len(set(twice[10:])) == 2
    assert len(data.RandomSampler(range(5), num_samples=3)) == len(list(data.RandomSampler(range(5), num_samples=3))) == 3


def test_nothing_can_not_be_shuffled():
    loader = data.DataLoader([], batch_size=2, shuffle=True)
    with pytest.raises(ValueError, match="nothing to draw from"):
        iter(loader)


def test_weights_decide_how_often_an_index_comes():
    drawn = list(data.WeightedRandomSampler([1, 0, 3], 4000))
    counts = np.bincount(drawn, minlength=3)
    assert counts[1] == 0 and abs(counts[2] / 4000 - 0.75) < 0.04 and len(drawn) == 4000
    for weights in (gl.tensor([2.0, 0.0, 1.0]), np.array([2, 0, 1])):
        assert sorted(data.WeightedRandomSampler(weights, 2, replacement=False)) == [0, 2]


def test_rare_classes_come_as_often_as_common_ones():
    labels = np.array([0] * 90 + [1] * 10)
    sampler = data.WeightedRandomSampler(1 / np.bincount(labels)[labels], 2000)
    seen = np.concatenate([y.data for _, y in data.DataLoader((labels, labels), 50, sampler=sampler)])
    assert abs(seen.mean() - 0.5) < 0.05


def test_a_random_subset_has_the_given_indices_in_a_new_order_each_time():
    sampler = data.SubsetRandomSampler(list(range(100, 130)))
    a, b = list(sampler), list(sampler)
    assert sorted(a) == sorted(b) == list(range(100, 130)) and a != b and len(sampler) == 30


def test_batches_of_indices_may_leave_the_short_one_out():
    for drop_last, want in ((False, [[4, 3], [2, 1], [0]]), (True, [[4, 3], [2, 1]])):
        sampler = data.BatchSampler([4, 3, 2, 1, 0], 2, drop_last)
        assert list(sampler) == list(sampler) == want and len(sampler) == len(want)


@pytest.mark.parametrize("make", [
    lambda g: data.RandomSampler(range(40), generator=g),
    lambda g: data.RandomSampler(range(40), replacement=True, generator=g),
    lambda g: data.SubsetRandomSampler(range(40), g),
    lambda g: data.WeightedRandomSampler(np.ones(40), 40, generator=g),
    lambda g: data.WeightedRandomSampler(np.ones(40), 40, replacement=False, generator=g),
])  # fmt: skip
def test_every_sampler_draws_from_the_generator_it_is_given(make):
    a, b, c = (list(make(gl.Generator().manual_seed(s))) for s in (1, 1, 2))
    assert a == b != c
    gl.manual_seed(9)
    first = list(make(None))
    gl.manual_seed(9)
    assert list(make(None)) == first


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: data.WeightedRandomSampler([1, -1], 2), gl.errors.DataError, r"(?s)nothing can be drawn.*negative or not finite +1"),
        (lambda: data.WeightedRandomSampler([1, np.nan], 2), gl.errors.DataError, "negative or not finite +1"),
        (lambda: data.WeightedRandomSampler([0, 0], 2), gl.errors.DataError, "above 0 +0"),
        (lambda: data.WeightedRandomSampler([1, 0], 2, replacement=False), gl.errors.DataError, "at least num_samples above 0"),
        (lambda: data.WeightedRandomSampler([1], 0), gl.errors.DataError, "num_samples counts"),
        (lambda: data.RandomSampler(range(3), num_samples=-1), gl.errors.DataError, "num_samples counts"),
        (lambda: list(data.RandomSampler([], num_samples=2)), gl.errors.DataError, "nothing to draw from"),
        (lambda: data.RandomSampler(range(3), np.random.default_rng(0)), gl.KeywordError, "replacement is True or False"),
        (lambda: data.BatchSampler([1], 0, False), gl.errors.DataError, "batch_size counts"),
        (lambda: list(data.Sampler()), NotImplementedError, "must define __iter__"),
    ],
    ids=range(10),
)
def test_what_no_sampler_can_draw_is_refused(make, error, match):
    with pytest.raises(error, match=match):
        make()
