from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn


def test_a_parameter_shares_memory_with_the_array_it_is_made_from():
    array = np.zeros(2, np.float32)
    p = nn.Parameter(array)
    array[0] = 5
    assert p.tolist() == [5, 0]


def test_a_parameter_made_from_a_result_is_a_leaf():
    x = gl.tensor([1.0], requires_grad=True)
    p = nn.Parameter(x * 2)
    (p * 3).sum().backward()
    assert p.is_leaf and p.grad.tolist() == [3]
    assert x.grad is None


def test_integers_cannot_be_parameters():
    with pytest.raises(TypeError):
        nn.Parameter(np.array([1, 2]))
    assert not nn.Parameter(np.array([1, 2]), requires_grad=False).requires_grad


def test_a_parameter_says_that_it_is_one():
    assert repr(nn.Parameter([1.0])).startswith("Parameter containing:\ntensor([1.]")


@pytest.mark.parametrize("again", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))], ids=["deepcopy", "pickle"])
def test_a_copied_parameter_is_a_parameter_with_memory_of_its_own(again):
    p = nn.Parameter([1.0, 2.0])
    q = again(p)
    p.data[...] = 0
    assert type(q) is nn.Parameter and q.requires_grad and q.tolist() == [1, 2]


@pytest.mark.parametrize(
    "data", [np.array([1, 2]), gl.tensor([1, 2]), np.array([True]), np.uint8(3)], ids=["array", "tensor", "bool", "scalar"]
)
def test_the_way_out_of_integers_works(data):
    with pytest.raises(gl.DTypeError, match=r"have no gradient") as caught:
        nn.Parameter(data)
    way_out = str(caught.value).split("try:")[1].strip()
    assert nn.Parameter(eval(way_out, {"data": data})).dtype == np.float32
