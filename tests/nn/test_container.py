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


def test_a_module_list_is_a_list_that_is_registered():
    a, b, c = (nn.Linear(1, 1) for _ in range(3))
    rows = nn.ModuleList([a])
    assert rows.append(b) is rows and rows.extend([c]) is rows
    assert len(rows) == 3 and list(rows) == [a, b, c] and rows[-1] is c and a in rows
    assert isinstance(rows[1:], nn.ModuleList) and list(rows[1:]) == [b, c]
    rows.insert(0, c)
    assert list(rows) == [c, a, b, c] and rows.pop(0) is c and list(rows) == [a, b, c]
    del rows[0]
    rows[0] = a
    rows += [b]
    assert list(rows) == [a, c, b] and list(rows + [a]) == [a, c, b, a]
    assert [name for name, _ in rows.named_parameters()] == ["0.weight", "0.bias", "1.weight", "1.bias", "2.weight", "2.bias"]
    assert "0" not in dir(rows) and "append" in dir(rows)
    with pytest.raises(NotImplementedError, match="ModuleList must define forward"):
        rows(1)


def test_numbers_are_counted_anew_after_a_deletion_and_names_stay():
    m = nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1))
    del m[0]
    assert list(m.state_dict()) == ["1.weight", "1.bias"]
    named = nn.Sequential({"a": nn.ReLU(), "b": nn.Linear(1, 1)})
    del named[:1]
    assert list(named.state_dict()) == ["b.weight", "b.bias"]


def test_rows_are_joined_and_repeated():
    a, b = nn.Sequential(nn.Linear(1, 1)), nn.Sequential(nn.ReLU())
    assert list(a + b) == [a[0], b[0]] and list((a + b) * 2) == [a[0], b[0], a[0], b[0]]
    with pytest.raises(ValueError, match="how many times"):
        _ = a * 0


def test_lists_print_neighbours_that_are_alike_once():
    rows = nn.ModuleList([nn.Sequential(nn.ReLU()) for _ in range(3)] + [nn.ReLU()])
    assert repr(rows) == "ModuleList(\n  (0-2): 3 x Sequential(\n    (0): ReLU()\n  )\n  (3): ReLU()\n)"
    assert repr(nn.ModuleList()) == "ModuleList()"


@pytest.mark.parametrize("wrong", [3, [nn.ReLU(), 3], nn.ReLU()], ids=["number", "list", "module"])
def test_a_list_takes_modules_and_nothing_is_added_where_one_is_none(wrong):
    rows = nn.ModuleList([nn.ReLU()])
    with pytest.raises(TypeError, match="every part must be a Module"):
        rows.extend(wrong)
    with pytest.raises(TypeError, match="every part must be a Module"):
        rows.insert(0, 3)
    assert len(rows) == 1


def test_a_module_dict_is_a_dict_that_is_registered():
    act, fc = nn.ReLU(), nn.Linear(1, 1)
    table = nn.ModuleDict({"act": act})
    table["fc"] = fc
    assert list(table) == ["act", "fc"] and len(table) == 2 and table["fc"] is fc and "fc" in table and "x" not in table
    assert list(table.items()) == [("act", act), ("fc", fc)] and list(table.state_dict()) == ["fc.weight", "fc.bias"]
    table.update([("act", nn.Tanh())])
    assert list(table.keys()) == ["act", "fc"] and table.pop("fc") is fc and len({table: 1}) == 1
    table.clear()
    assert len(table) == 0 and table == table and table != nn.ModuleDict()
    with pytest.raises(KeyError):
        table["act"]
    with pytest.raises(KeyError):
        nn.ModuleDict()["training"]
    for name in ("keys", "type", "a.b", 3):
        with pytest.raises(ValueError, match="can't be the name of a part"):
            table[name] = act
    with pytest.raises(TypeError, match="every part must be a Module"):
        table["a"] = gl.relu


def test_a_parameter_list_registers_tensors_and_keeps_other_values():
    ps = nn.ParameterList([nn.Parameter([1.0]), gl.tensor([2.0, 3.0]), "text"])
    assert [type(v) for v in ps] == [nn.Parameter, nn.Parameter, str] and len(ps) == 3
    ps.append(gl.tensor([4.0]))
    ps += [nn.Parameter([5.0])]
    assert [name for name, _ in ps.named_parameters()] == ["0", "1", "3", "4"] and list(ps.state_dict()) == ["0", "1", "3", "4"]
    ps[-1] = gl.tensor([6.0])
    assert ps[4].tolist() == [6] and isinstance(ps[4], nn.Parameter)
    assert isinstance(ps[:2], nn.ParameterList) and ps[:2][0] is ps[0]
    assert repr(nn.ParameterList([gl.zeros(2, 3), 1])) == (
        "ParameterList(\n    (0): Parameter containing: [float32 of size 2x3]\n    (1): Object of type: int\n)"
    )
    with pytest.raises(IndexError, match="5 is outside of its 5 entries"):
        ps[5]
    with pytest.raises(TypeError, match="takes several at once"):
        ps.extend(gl.ones(2))


def test_a_parameter_dict_registers_tensors_and_keeps_other_values():
    table = nn.ParameterDict({"b": nn.Parameter([1.0]), "a": gl.tensor([2.0]), "n": 3})
    assert [name for name, _ in table.named_parameters()] == ["b", "a"] and list(table) == ["b", "a", "n"]
    assert isinstance(table["a"], nn.Parameter) and table.get("x", 5) == 5 and table.setdefault("y") is None
    both = table | {"c": gl.tensor([3.0])}
    assert list(both) == ["b", "a", "n", "y", "c"] and both["b"] is table["b"] and "c" not in table
    table |= {"n": gl.tensor([4.0])}
    assert table.pop("n").tolist() == [4] and table.popitem()[0] == "y"
    assert list(reversed(table)) == ["a", "b"] and list(table.copy()) == ["b", "a"]
    del table["a"]
    assert list(table.state_dict()) == ["b"]
    assert "(b): Parameter containing: [float32 of size 1]" in repr(table)
    with pytest.raises(ValueError, match="can't be the name of a part"):
        table["values"] = gl.ones(1)


def test_parts_are_found_by_their_paths():
    net = nn.Sequential(nn.ModuleDict({"fc": nn.Linear(1, 1)}))
    net.register_buffer("mean", gl.ones(1))
    net.add_module("extra", nn.ReLU())
    net.register_parameter("scale", nn.Parameter([1.0]))
    net.register_parameter("none", None)
    assert net.get_submodule("0.fc") is net[0]["fc"] and net.get_submodule("") is net
    assert net.get_parameter("0.fc.weight") is net[0]["fc"].weight and net.get_buffer("mean") is net.mean
    assert len(net) == 2 and list(net.state_dict()) == ["scale", "mean", "0.fc.weight", "0.fc.bias"]
    for call in (
        lambda: net.get_submodule("0.nope"),
        lambda: net.get_submodule("scale"),
        lambda: net.get_parameter("mean"),
        lambda: net.get_buffer("scale"),
        lambda: net.get_parameter("none"),
    ):
        with pytest.raises(AttributeError):
            call()
    with pytest.raises(KeyError, match="already has an attribute 'scale'"):
        net.add_module("scale", nn.ReLU())
    with pytest.raises(TypeError, match="a Parameter, or None"):
        net.register_parameter("other", gl.ones(1))
    with pytest.raises(ValueError, match="text without a dot"):
        net.add_module("a.b", nn.ReLU())


def test_kinds_of_numbers_have_methods():
    net = nn.Sequential(nn.Linear(1, 1))
    assert net.half()[0].weight.dtype == "float16" and net.double()[0].weight.dtype == "float64"
    assert net.float()[0].weight.dtype == "float32" and net.type(gl.float64)[0].bias.dtype == "float64"


def test_parts_of_a_container_of_your_own_are_of_its_kind_where_they_can_be():
    class Head(nn.Sequential):
        def __init__(self, width):
            super().__init__(nn.Linear(width, width), nn.ReLU())

    class Plain(nn.Sequential):
        pass

    class Rows(nn.ModuleList):
        pass

    assert type(Head(2)[:1]) is nn.Sequential and type(Plain(nn.ReLU())[:1]) is Plain
    assert type(Rows([nn.ReLU()])[:1]) is Rows and type(Rows() + [nn.ReLU()]) is Rows and len(Head(2) + [nn.ReLU()]) == 3
