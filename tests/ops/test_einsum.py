"""einsum: what the letters mean, whatever repeats, is summed alone or broadcasts; and errors that name the letter."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ArgumentError, DTypeError, ShapeError
from gradlab.ops import Einsum

NUMPYS = [case for case in Einsum.cases if "..." not in case.params["equation"] or "..." in case.params["equation"].partition("->")[2]]


@pytest.mark.parametrize("case", NUMPYS, ids=str)
def test_every_case_is_what_numpy_says(case):
    xs = [d.array(np.random.default_rng(i)) for i, d in enumerate(case.inputs)]
    equation = case.params["equation"]
    np.testing.assert_allclose(gl.einsum(equation, *xs).data, np.einsum(equation, *xs), rtol=1e-12)


def test_the_gradient_of_a_trace_is_the_identity():
    x = gl.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    gl.einsum("ii", x).backward()
    assert x.grad.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_diagonal_in_one_term_meets_a_matrix_in_another():
    x = gl.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = gl.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    z = gl.einsum("nd,nn->d", x, y)
    z.sum().backward()
    assert z.tolist() == [13.0, 18.0]
    assert x.grad.tolist() == [[1.0, 1.0], [4.0, 4.0]] and y.grad.tolist() == [[3.0, 0.0], [0.0, 7.0]]


def test_an_infinite_gradient_stays_on_the_diagonal():
    x = gl.tensor(np.ones((2, 2)), requires_grad=True)
    gl.einsum("ii->i", x).backward(gl.tensor([np.inf, 1.0], dtype="float64"))
    assert x.grad.tolist() == [[np.inf, 0.0], [0.0, 1.0]]


def test_a_diagonal_of_size_one_broadcasts_and_counts_once_a_place():
    x, y = gl.tensor(np.full((1, 1), 2.0), requires_grad=True), gl.tensor(np.array([1.0, 2.0, 3.0]), requires_grad=True)
    z = gl.einsum("ii,i->i", x, y)
    z.sum().backward()
    assert z.tolist() == [2.0, 4.0, 6.0] and x.grad.tolist() == [[6.0]] and y.grad.tolist() == [2.0, 2.0, 2.0]


def test_the_dots_broadcast_and_without_a_place_in_the_result_are_summed():
    a, b = np.arange(6.0).reshape(3, 1, 2), np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(gl.einsum("...i,...i->...", a, b).data, (a * b).sum(-1))
    assert gl.einsum("...i->i", a).tolist() == [6.0, 9.0]
    assert gl.einsum("...i", a).shape == (3, 1, 2) and gl.einsum("i...->...", a).shape == (1, 2)
    assert gl.einsum("i->i...", np.arange(2.0)).tolist() == [0.0, 1.0]


def test_without_an_arrow_the_result_has_the_letters_that_stand_once_in_order_capitals_first():
    assert gl.einsum("ba", np.zeros((2, 3))).shape == (3, 2)
    assert gl.einsum("aB", np.zeros((2, 3))).shape == (3, 2)
    assert gl.einsum("ij,jk", np.zeros((2, 3)), np.zeros((3, 4))).shape == (2, 4)
    assert gl.einsum("b...a", np.zeros((2, 5, 3))).shape == (5, 3, 2)


def test_spaces_lists_numbers_and_a_list_of_operands_are_taken():
    x = gl.tensor([1.0, 2.0])
    assert gl.einsum(" i , j -> i j ", x, [3.0, 4.0]).tolist() == [[3.0, 4.0], [6.0, 8.0]]
    assert gl.einsum("i,i->", [x, x]).item() == 5.0
    assert gl.einsum(",i->i", 2.0, x).tolist() == [2.0, 4.0]


def test_many_operands_are_multiplied_where_it_is_cheapest():
    a, b, c = np.ones((1, 200)), np.ones((200, 200)), np.ones((200, 1))
    y = gl.einsum("ab,bc,cd,ad->ad", *[gl.tensor(x, requires_grad=True) for x in (a, b, c)], np.ones((1, 1)))
    y.backward()
    assert y.item() == 40000.0


def test_only_the_gradients_that_are_wanted_are_computed():
    x, w = gl.ones(2, 3), gl.ones(3, 4, requires_grad=True)
    dx, dw = gl.einsum("ij,jk->ik", x, w).grad_fn.backward(np.ones((2, 4), "float32"))
    assert dx is None and dw.shape == (3, 4)


@pytest.mark.parametrize(
    ("equation", "shapes", "error", "text"),
    [
        (
            "ij,jk->ik",
            [(2, 3), (4, 5)],
            ShapeError,
            "einsum: the sizes of 'j' differ\n  equation  'ij,jk->ik'\n  operand 0 (2, 3), 'j' is 3\n  operand 1 (4, 5), 'j' is 4",
        ),
        ("ii->i", [(2, 3)], ShapeError, "operand 0 (2, 3), 'i' is 2, 3"),
        ("ii->i", [(1, 3)], ShapeError, "the sizes of 'i' differ"),
        ("...i,...i->i", [(2, 3), (4, 3)], ShapeError, "the sizes of '...' differ"),
        (
            "ij",
            [(2, 3, 4)],
            ShapeError,
            "einsum: a letter an axis\n  equation 'ij'\n  term     'ij'\n  operand  (2, 3, 4)\n  need:    2 axes",
        ),
        ("ij", [(2, 3, 4)], ShapeError, "try:     '...ij'"),
        ("...ij", [(2,)], ShapeError, "need:    at least 2 axes"),
        ("ij", [(2, 3), (2, 3)], ArgumentError, "einsum: one term an operand, with commas between"),
        ("i1", [(2, 3)], ArgumentError, "einsum: '1' is no letter"),
        ("i...j...", [(2, 3)], ArgumentError, "einsum: '.' is no letter"),
        ("ij->i->j", [(2, 3)], ArgumentError, "einsum: '-' is no letter"),
        ("ij->ik", [(2, 3)], ArgumentError, "einsum: the letter 'k', which none of the inputs has"),
        ("ij->ii", [(2, 3)], ArgumentError, "einsum: the letter 'i', which the result has twice"),
    ],
)
def test_an_equation_that_does_not_fit_says_which_letter_and_which_term(equation, shapes, error, text):
    with pytest.raises(error) as raised:
        gl.einsum(equation, *[gl.zeros(s) for s in shapes])
    assert text in str(raised.value)


def test_two_kinds_of_numbers_are_refused():
    with pytest.raises(DTypeError, match="einsum: the dtypes differ"):
        gl.einsum("i,i->i", gl.zeros(2), gl.zeros(2, dtype="float64"))


def test_numpys_name_makes_a_step_too():
    x = gl.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    np.einsum("ij->j", x).sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert np.einsum("ij,jk", x, x, optimize=True).tolist() == [[7.0, 10.0], [15.0, 22.0]]


def test_integers_are_added_up_as_int64():
    for dtype in ("uint8", "int32", "int64"):
        y = gl.einsum("ij->j", np.full((4, 2), 100, dtype))
        assert y.dtype == "int64" and y.tolist() == [400, 400]
