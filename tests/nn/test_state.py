from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim


def net():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


def test_a_loaded_model_computes_the_same():
    a, b = net(), net()
    x = gl.randn(4, 2)
    assert b.load_state_dict(a.state_dict()) == ([], [])
    assert np.array_equal(a(x).data, b(x).data)


def test_saved_entries_are_copies_without_a_graph():
    m = net()
    state = m.state_dict()
    before = state["0.weight"].numpy().copy()
    m[0].weight.data[...] = 42
    assert np.array_equal(state["0.weight"].data, before)
    assert not any(t.requires_grad or isinstance(t, nn.Parameter) for t in state.values())


def test_loaded_values_are_copies_in_the_same_arrays():
    m, state = net(), net().state_dict()
    array, version = m[0].weight.data, m[0].weight.version
    m.load_state_dict(state)
    state["0.weight"].data[...] = 42
    assert m[0].weight.data is array and not (array == 42).any()
    assert m[0].weight.version == version + 1


def test_arrays_can_be_loaded_and_take_the_parameters_dtype():
    m = nn.Linear(2, 1, bias=False)
    m.load_state_dict({"weight": np.array([[1.0, 2.0]])})
    assert m.weight.tolist() == [[1, 2]] and m.weight.dtype == np.float32


def test_missing_and_unexpected_names_are_all_named_and_nothing_is_loaded():
    m, state = net(), net().state_dict()
    before = m.state_dict()
    del state["0.bias"]
    state["nope"] = gl.tensor([1.0])
    with pytest.raises(RuntimeError, match=r"(?s)0\.bias.*nope.*strict=False"):
        m.load_state_dict(state)
    assert all(np.array_equal(before[k].data, v.data) for k, v in m.state_dict().items())


def test_not_strict_loads_what_matches_and_reports_the_rest():
    m, state = net(), net().state_dict()
    del state["0.bias"]
    state["nope"] = gl.tensor([1.0])
    keys = m.load_state_dict(state, strict=False)
    assert keys.missing_keys == ["0.bias"] and keys.unexpected_keys == ["nope"]
    assert np.array_equal(m[0].weight.data, state["0.weight"].data)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("shape", [(1,), (4,), ()])
def test_a_wrong_shape_is_refused_before_anything_is_changed(strict, shape):
    m, state = net(), net().state_dict()
    before = m.state_dict()
    state["2.bias"], state["0.bias"] = gl.zeros(1), gl.zeros(*shape)
    with pytest.raises(gl.ShapeError, match=r"(?s)nothing was loaded.*0\.bias"):
        m.load_state_dict(state, strict=strict)
    assert all(np.array_equal(before[k].data, v.data) for k, v in m.state_dict().items())


@pytest.mark.torch
def test_a_state_of_pytorchs_is_taken_as_it_is():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    theirs, m = torch.nn.Linear(3, 2), nn.Linear(3, 2)
    m.load_state_dict(theirs.state_dict())
    assert np.array_equal(m.weight.data, theirs.weight.detach().numpy()) and not np.shares_memory(
        m.weight.data, theirs.weight.detach().numpy()
    )
    before = m.state_dict()
    with pytest.raises(gl.errors.GraphError, match="detach"):
        m.load_state_dict(theirs.state_dict(keep_vars=True))
    with pytest.raises(gl.errors.DTypeError, match="bfloat16"):
        m.load_state_dict(theirs.bfloat16().state_dict())
    assert all(np.array_equal(before[k].data, v.data) for k, v in m.state_dict().items())


def test_something_that_is_no_array_is_refused():
    with pytest.raises(RuntimeError, match="neither a tensor nor an array"):
        nn.Linear(1, 1, bias=False).load_state_dict({"weight": "1"})


def test_buffers_are_saved_unless_they_say_no():
    m = nn.Module()
    m.register_buffer("mean", gl.tensor([0.5]))
    m.register_buffer("mask", gl.tensor([1.0]), persistent=False)
    m.register_buffer("later", None)
    assert list(m.state_dict()) == ["mean"]


def test_everything_that_is_wrong_is_listed_in_one_error_and_nothing_is_loaded():
    m, state = net(), net().state_dict()
    before = m.state_dict()
    del state["0.bias"]
    state |= {"nope": gl.zeros(1), "0.weight": gl.zeros(2, 3), "2.bias": np.array(["x"])}
    with pytest.raises(RuntimeError) as caught:
        m.load_state_dict(state)
    assert str(caught.value).splitlines() == [
        "Sequential.load_state_dict: the names differ, shapes differ, other kinds of numbers came; nothing was loaded",
        "  missing    0.bias",
        "  unexpected nope",
        "  0.weight   shape (2, 3), not (3, 2)",
        "  2.bias     <U1, not float32",
        "  need:      every name of the module, and no other; the module's own shapes; numbers that the module's own dtypes can hold",
    ]
    assert all(np.array_equal(before[k].data, v.data) for k, v in m.state_dict().items())


def test_a_state_can_be_named_below_a_prefix_and_added_to_another():
    m, other = nn.Linear(1, 1), {"x": gl.ones(1)}
    assert m.state_dict(destination=other, prefix="fc.") is other and list(other) == ["x", "fc.weight", "fc.bias"]
    assert m.state_dict(keep_vars=True)["weight"] is m.weight


def test_an_optimizer_keeps_its_parameters_through_loading():
    m = nn.Linear(1, 1, bias=False)
    optimizer = optim.SGD(m.parameters(), lr=1.0)
    m.load_state_dict({"weight": gl.tensor([[5.0]])})
    m(gl.tensor([[2.0]])).sum().backward()
    optimizer.step()
    assert m.weight.tolist() == [[3.0]]


@pytest.mark.parametrize(
    "wrong",
    [["a"], [b"a"], [None], [1j], np.array(["2026-01-01"], "M8[D]"), np.array([1], "m8[s]")],
    ids=["str", "bytes", "object", "complex", "date", "span"],
)
@pytest.mark.parametrize("strict", [True, False])
def test_values_that_are_no_real_numbers_are_refused_before_anything_is_written(wrong, strict):
    m, state = net(), net().state_dict()
    before = m.state_dict()
    state["2.bias"] = np.array(wrong)
    with pytest.raises(gl.DTypeError, match=r"(?s)nothing was loaded.*2\.bias"):
        m.load_state_dict(state, strict=strict)
    assert all(np.array_equal(before[k].data, v.data) for k, v in m.state_dict().items())


def test_integers_fit_floats_but_fractions_fit_no_buffer_of_integers():
    m = nn.Module()
    m.register_buffer("count", gl.tensor([3]))
    m.register_buffer("mean", gl.tensor([0.5]))
    m.load_state_dict({"count": np.array([4], np.int32), "mean": np.array([2])})
    assert m.count.tolist() == [4] and m.mean.tolist() == [2]
    with pytest.raises(gl.DTypeError, match="float32, not int64"):
        m.load_state_dict({"mean": np.array([9.0]), "count": gl.tensor([1.5])})
    assert m.mean.tolist() == [2]


def test_a_read_only_array_is_refused_before_anything_is_written():
    m = nn.Module()
    m.a, m.b = nn.Parameter([1.0]), nn.Parameter(np.broadcast_to(np.float32(1), (3,)))
    with pytest.raises(gl.errors.StateError, match=r"(?s)can't be written.*b.*\(3,\)"):
        m.load_state_dict({"a": np.zeros(1), "b": np.zeros(3)})
    assert m.a.tolist() == [1]


def test_a_state_that_is_no_dict_is_refused():
    with pytest.raises(TypeError, match=r"(?s)a state is a dict.*list"):
        nn.Identity().load_state_dict([])
