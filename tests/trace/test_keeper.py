from __future__ import annotations

from types import ModuleType

import pytest

import gradlab as gl
from gradlab.trace.keeper import alive


@pytest.fixture
def step():
    w, x = gl.ones(4, 3, requires_grad=True), gl.ones(8, 4)
    return lambda: ((x @ w) ** 2).sum()


class Holder:
    pass


def found(value, **more):
    return {k.name: k for k in alive({"it": value}, **more).keepers}


def test_a_list_of_losses_keeps_a_graph_each_and_says_what_to_append(step):
    (keeper,) = found([step() for _ in range(12)]).values()
    assert (keeper.name, keeper.kind, keeper.graphs, keeper.ops) == ("it", "list", 12, 36)
    assert keeper.size_bytes > 12 * 2 * 8 * 3 * 4 and "append `loss.item()`" in keeper.remedy


@pytest.mark.parametrize("kind", ["dict", "attribute", "closure", "default", "generator", "nested"])
def test_whatever_holds_them_is_named(step, kind):
    tensors = [step(), step()]
    holder = Holder()
    if kind == "dict":
        value = {"a": tensors[0], "b": tensors[1]}
    elif kind == "attribute":
        holder.history = tensors
        value = holder
    elif kind == "closure":
        value = lambda: tensors  # noqa: E731
    elif kind == "default":
        value = eval("lambda x=t: x", {"t": tuple(tensors)})
    elif kind == "generator":

        def numbers(kept):
            yield from kept

        value = numbers(tensors)
        next(value)
    else:
        holder.log = {"train": [[t] for t in tensors]}
        value = [holder]
    name = {
        "dict": "it", "attribute": "it.history", "closure": "it(): tensors", "default": "it(): a default", "generator": "it: kept",
        "nested": "it.log",
    }[kind]  # fmt: skip
    keepers = found(value)
    assert name in keepers and keepers[name].graphs == 2 and keepers[name].ops == 6 and keepers[name].remedy


def test_a_global_of_an_imported_file_is_found(step):
    module = ModuleType("helpers")
    module.history = [step(), step()]
    keepers = alive({}, [module]).keepers
    assert [(k.name, k.graphs) for k in keepers] == [("helpers.history", 2)]


def test_one_result_is_no_leak_but_a_sum_over_steps_is(step):
    assert found(step(), ops_a_step=3)["it"].remedy == ""
    total = step()
    for _ in range(5):
        total = total + step()
    keeper = found(total, ops_a_step=3)["it"]
    assert keeper.ops == 3 * 6 + 5 and "grows from step to step" in keeper.remedy


def test_leaves_numbers_and_detached_results_keep_nothing(step):
    assert found([step().item(), step().detach(), gl.ones(3, requires_grad=True)]) == {}


def test_a_shared_array_counts_once(step):
    loss = step()
    one, two = found([loss])["it"], found([loss, loss])["it"]
    assert (one.size_bytes, one.ops, two.graphs) == (two.size_bytes, two.ops, 1)


def test_what_no_variable_leads_to_is_counted(step):
    before = alive({}).unnamed
    hidden = [step(), step()]
    assert alive({}).unnamed == before + 2 and len(hidden) == 2


def test_the_largest_comes_first(step):
    keepers = alive({"few": [step(), step()], "many": [step() for _ in range(30)]}).keepers
    assert [k.name for k in keepers] == ["many", "few"]
