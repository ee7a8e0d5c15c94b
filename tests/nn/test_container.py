from __future__ import annotations

from collections import OrderedDict

import pytest

import gradlab as gl
from gradlab import nn


def test_modules_run_one_after_the_other():
    double = nn.Linear(1, 1, bias=False)
    double.weight.data[...] = 2
    assert nn.Sequential(double, nn.ReLU(), double)(gl.tensor([[3.0]])).tolist() == [[12]]
    assert nn.Sequential()(5) == 5


def test_names_are_numbers_or_those_of_the_dict():
    assert list(nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)).state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    named = nn.Sequential(OrderedDict(fc=nn.Linear(1, 1), act=nn.ReLU()))
    assert list(named.state_dict()) == ["fc.weight", "fc.bias"] and named.act is named[1]


def test_indexing_slicing_length_and_iteration():
    m = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Tanh())
    assert len(m) == 3 and list(m) == [m[0], m[1], m[2]] and m[-1] is m[2]
    tail = m[1:]
    assert isinstance(tail, nn.Sequential) and list(tail) == [m[1], m[2]]
    assert m[:1][0] is m[0]
    with pytest.raises(IndexError, match="3 is outside of its 3 modules"):
        m[3]


def test_parts_can_be_replaced_added_and_taken_out():
    m = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    m[1] = nn.Tanh()
    assert m.append(nn.Sigmoid()) is m
    assert [type(x) for x in m] == [nn.Linear, nn.Tanh, nn.Sigmoid]
    del m[0]
    m.append(nn.Identity())
    assert [type(x) for x in m] == [nn.Tanh, nn.Sigmoid, nn.Identity]


def test_a_module_used_twice_is_one_child():
    layer = nn.Linear(2, 2)
    m = nn.Sequential(layer, nn.ReLU(), layer)
    assert len(m) == 3 and len(list(m.children())) == 2 and len(list(m.parameters())) == 2


@pytest.mark.parametrize("part", [gl.relu, [nn.ReLU()], None])
def test_only_modules_are_taken(part):
    with pytest.raises(TypeError, match="every part must be a Module"):
        nn.Sequential(part)


def test_flatten_keeps_the_batch_axis():
    x = gl.zeros(2, 3, 4)
    assert nn.Flatten()(x).shape == (2, 12) and nn.Flatten(0)(x).shape == (24,)
    assert nn.Identity()(x) is x
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)"


@pytest.mark.parametrize("name", ["forward", "append", "train", "training", "_buffers", "__len__", "a.b", "", 1])
def test_a_name_that_would_hide_or_confuse_something_is_refused(name):
    with pytest.raises(gl.errors.ArgumentError, match="can't be the name of a part"):
        nn.Sequential({name: nn.Identity()})


def test_slices_and_replacements_keep_names():
    net = nn.Sequential({"first": nn.Identity(), "second": nn.ReLU()})
    net[0] = nn.Tanh()
    assert [name for name, _ in net[:1].named_children()] == ["first"] and isinstance(net[0], nn.Tanh)
