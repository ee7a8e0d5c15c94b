"""What is wrong is said in gradlab's words, by every public op, and leaves its inputs as they were."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import GradlabError
from tests.reference.all import TABLE
from tests.reference.chooser import Call, arrays_in, mapped
from tests.reference.compare import DIMS, variants

FIRST = {row.name: row for row in reversed(TABLE.values()) if row.ours is None}  # one row an op is enough
WRONG = {"None": None, "a string": "abc", "a list of strings": ["a", "b"], "an object": object(), "a dict": {"a": 1}}


def tensors(call: Call) -> tuple[Call, list[gl.Tensor]]:
    made: list[gl.Tensor] = []

    def make(array: np.ndarray) -> gl.Tensor:
        made.append(gl.tensor(np.array(array)))
        return made[-1]

    return mapped(call, make), made


def replaced(call: Call, i: int, wrong: object) -> Call:
    """The call with its i-th array taken for something else."""
    seen = -1

    def one(array: np.ndarray) -> object:
        nonlocal seen
        seen += 1
        return wrong if seen == i else gl.tensor(np.array(array))

    return mapped(call, one)


def may_miss(name: str, call: Call) -> bool:
    """Whether the argument that is None may be: a bias, a weight; and in an index it is a new axis."""
    signature = inspect.signature(FIRST[name].function())
    given = signature.bind(*call.args, **call.kwargs)
    return name in ("getitem", "set_index", "index_put") or all(
        value is not None or signature.parameters[key].default is None for key, value in given.arguments.items()
    )


def refused(name: str, call: Call, what: str, must: bool) -> None:
    """A call that is wrong raises a gradlab error; one that may be right raises nothing else."""
    raised = None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            FIRST[name].function()(*call.args, **call.kwargs)
        except Exception as error:
            raised = error
    assert raised is not None or not must, f"{name}, {what}: nothing was raised"
    assert isinstance(raised, GradlabError | None), f"{name}, {what}, raised {type(raised).__name__}: {raised}"
    assert raised is None or "\n  need: " in str(raised), f"{name}, {what}: the message does not say what is needed: {raised}"


@pytest.mark.parametrize("name", FIRST)
def test_what_is_no_tensor_is_refused(name):
    call = FIRST[name].draws(1)[0]
    for i in range(len(arrays_in(call))):
        for what, wrong in WRONG.items():
            bad = replaced(call, i, wrong)
            refused(name, bad, f"input {i} is {what}", must=wrong is not None or not may_miss(name, bad))


@pytest.mark.parametrize("name", FIRST)
def test_sizes_dtypes_and_axes_that_are_wrong_are_refused_in_gradlabs_words(name):
    for call in FIRST[name].draws(2):
        for what, variant in variants(call):
            ready, made = tensors(variant)
            before = [t.data.copy() for t in made]
            refused(name, ready, what, must=False)
            for t, x in zip(made, before, strict=True):
                np.testing.assert_array_equal(t.data, x, err_msg=f"{name}, {what}, changed its input")


@pytest.mark.parametrize("name", FIRST)
def test_a_dim_that_is_no_axis_is_refused(name):
    for call in FIRST[name].draws(3):
        for dim in DIMS:
            if isinstance(call.kwargs.get(dim), int) and not isinstance(call.kwargs[dim], bool):
                for wrong in (99, -99, 1.5, "x"):
                    ready, _ = tensors(Call(call.args, {**call.kwargs, dim: wrong}))
                    refused(name, ready, f"{dim}={wrong!r}", must=True)


@pytest.mark.parametrize("name", FIRST)
def test_a_keyword_that_no_op_has_is_a_type_error(name):
    ready, _ = tensors(FIRST[name].draws(1)[0])
    with pytest.raises(TypeError):
        FIRST[name].function()(*ready.args, **ready.kwargs, no_such_word=1)
