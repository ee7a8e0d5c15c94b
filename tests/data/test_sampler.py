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
