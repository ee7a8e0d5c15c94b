"""Tensor: values, gradients, NumPy on either side, changes in place, and how it prints."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import DTypeError, GraphError, ShapeError


def leaf(values):
    return gl.tensor(np.array(values, np.float64), requires_grad=True)


# -- what it is


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: gl.tensor([1.0, 2.0]), "tensor([1., 2.], shape=(2,))"),
        (lambda: gl.tensor([1.0], requires_grad=True), "tensor([1.], shape=(1,), requires_grad=True)"),
        (lambda: gl.tensor([1.0], requires_grad=True) * 2.0, "tensor([2.], shape=(1,), grad_fn=<Mul>)"),
        (lambda: gl.tensor([1.0], dtype=gl.float64), "tensor([1.], shape=(1,), dtype=float64)"),
        (lambda: gl.tensor([1, 2]), "tensor([1, 2], shape=(2,))"),
        (lambda: gl.tensor(2.5), "tensor(2.5, shape=())"),
    ],
)
def test_repr_shows_value_shape_and_origin(make, text):
    assert repr(make()) == text


def test_repr_of_a_large_tensor_is_short():
    assert len(repr(gl.zeros(100, 100))) < 500


def test_shape_size_and_counts():
    x = gl.zeros(2, 3)
    assert (x.shape, x.ndim, x.dim(), x.numel(), x.size(), x.size(1), len(x), x.is_leaf) == ((2, 3), 2, 2, 6, (2, 3), 3, 2, True)


def test_the_constructor_takes_numbers_as_float32_and_arrays_as_they_are():
    assert gl.Tensor([1, 2]).dtype == np.float32
    assert gl.Tensor(np.ones(2)).dtype == np.float64
    assert gl.Tensor(gl.Tensor([1.0])).tolist() == [1.0]
    assert gl.Tensor([1.0], dtype=gl.float64, requires_grad=True).requires_grad


def test_serials_are_unique_and_stay():
    a, b = gl.ones(1), gl.ones(1)
    assert a.serial == a.serial != b.serial > 0


@pytest.mark.parametrize("values", [[1, 2], [True, False]])
def test_integers_and_booleans_never_require_a_gradient(values):
    with pytest.raises(DTypeError, match="only floating"):
        gl.tensor(values, requires_grad=True)


def test_requires_grad_can_be_switched_on_a_leaf_only():
    x = gl.ones(2).requires_grad_()
    assert x.requires_grad and not x.requires_grad_(False).requires_grad
    y = leaf([1.0]) * 2.0
    with pytest.raises(GraphError, match="not a leaf"):
        y.requires_grad_(False)


# -- gradients


def test_grad_takes_every_spelling():
    x = leaf([1.0, 2.0])
    for value, want in [(0, [0, 0]), (0.0, [0, 0]), (np.array([3.0, 4.0]), [3, 4]), (gl.tensor([5.0, 6.0]), [5, 6]), ([7.0, 8.0], [7, 8])]:
        x.grad = value
        assert x.grad.tolist() == want and x.grad.dtype == np.float64
    x.grad = None
    assert x.grad is None


def test_a_gradient_of_another_shape_is_refused():
    with pytest.raises(ShapeError, match="another shape"):
        leaf([1.0, 2.0]).grad = np.ones(3)


def test_a_read_only_gradient_is_copied_so_that_backward_can_add():
    x = leaf([1.0, 2.0])
    x.grad = np.broadcast_to(1.0, (2,))
    (x * 2.0).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_grad_shares_memory_with_what_the_optimizer_reads():
    x = leaf([1.0])
    x.grad = np.array([2.0])
    x.grad.data *= 3.0
    x.grad *= 2.0
    assert x.grad.tolist() == [12.0] and x.grad.grad_fn is None


def test_detach_cuts_the_history_and_shares_the_memory():
    x = leaf([3.0])
    d = x.detach()
    (x * d).sum().backward()
    assert x.grad.tolist() == [3.0] and not d.requires_grad and d.data is x.data


def test_clone_has_numbers_of_its_own_and_passes_the_gradient():
    x = leaf([3.0])
    y = x.clone()
    assert y.data is not x.data
    (y * 2.0).sum().backward()
    assert x.grad.tolist() == [2.0]


def test_retain_grad_needs_a_gradient():
    with pytest.raises(GraphError, match="requires no gradient"):
        gl.ones(1).retain_grad()


def test_casts_return_the_gradient_in_the_old_dtype():
    x = gl.tensor([1.5], requires_grad=True)
    y = x.double()
    y.sum().backward()
    assert y.dtype == np.float64 and x.grad.dtype == np.float32
    assert x.long().dtype == np.int64 and x.to(gl.float16).dtype == np.float16 and y.float().dtype == np.float32


# -- Python and NumPy


def test_item_float_int_bool_and_index():
    assert gl.tensor(2.5).item() == 2.5 and float(gl.tensor([2.5])) == 2.5 and int(gl.tensor(2.5)) == 2
    assert bool(gl.tensor(1.0)) and not bool(gl.tensor([0.0]))
    assert [10, 20, 30][gl.tensor(1)] == 20 and isinstance(gl.tensor(1.0).item(), float)


def test_more_than_one_entry_is_no_number():
    x = gl.ones(2)
    for use in (x.item, lambda: bool(x), lambda: float(x)):
        with pytest.raises(ShapeError):
            use()
    with pytest.raises(TypeError, match="integer"):
        [1, 2][gl.tensor(1.0)]


def test_iteration_ends_and_a_scalar_has_no_length():
    rows = list(leaf([[1.0, 2.0], [3.0, 4.0]]))
    assert [r.tolist() for r in rows] == [[1.0, 2.0], [3.0, 4.0]]
    for use in (len, iter):
        with pytest.raises(TypeError, match="0-d"):
            use(gl.tensor(1.0))


def test_numpy_shares_memory_and_refuses_to_lose_a_gradient():
    x = gl.ones(2)
    assert x.numpy() is x.data and np.asarray(x) is x.data
    with pytest.raises(GraphError, match=r"detach\(\)\.numpy\(\)"):
        leaf([1.0]).numpy()
    assert np.asarray(leaf([1.0])).tolist() == [1.0]


def test_np_array_copies_and_converts():
    x = gl.ones(2)
    assert np.array(x) is not x.data and np.array(x, np.float64).dtype == np.float64
    assert np.array([gl.ones(2), gl.ones(2)]).shape == (2, 2)


def test_arrays_on_the_left_become_steps_of_the_graph():
    x = leaf([1.0, 2.0])
    y = np.array([3.0, 4.0]) * x + np.array([1.0, 1.0])
    y.sum().backward()
    assert isinstance(y, gl.Tensor) and x.grad.tolist() == [3.0, 4.0]
    assert isinstance(np.array([[1.0, 2.0]]) @ x, gl.Tensor)


@pytest.mark.parametrize("scalar", [np.float64(2), np.float32(2), np.int64(2), 2, 2.0])
def test_scalars_on_either_side_never_widen(scalar):
    x = gl.tensor([1.0, 4.0], requires_grad=True)
    for y in (scalar * x, x * scalar, scalar + x, x - scalar, scalar - x, scalar / x, x / scalar, x**scalar, scalar**x):
        assert isinstance(y, gl.Tensor) and y.dtype == np.float32
        x.grad = None
        y.sum().backward()
        assert x.grad.dtype == np.float32


def test_known_ufuncs_are_ops_and_others_say_what_to_do():
    x = leaf([0.25])
    y = np.sqrt(x)
    y.backward()
    assert x.grad.tolist() == [1.0]
    with pytest.raises(DTypeError, match=r"numpy\.nextafter"):
        np.nextafter(x, x)
    with pytest.raises(DTypeError, match=r"numpy\.add"):
        np.add.reduce(x)


def test_equality_is_elementwise_and_identity_hashes():
    a, b = gl.ones(1), gl.ones(1)
    assert len({a, b}) == 2 and (a == b).tolist() == [True]


# -- changes in place


def test_a_hand_written_update_writes_the_same_array():
    p = leaf([1.0, 2.0])
    array = p.data
    (p * p).sum().backward()
    p.data -= 0.1 * p.grad
    assert p.data is array and isinstance(array, np.ndarray) and array.tolist() == [0.8, 1.6] and p.version == 1
    p.data = p.data - 0.1 * p.grad
    assert isinstance(p.data, np.ndarray) and p.version == 2


def test_a_leaf_that_requires_a_gradient_is_protected_before_the_write():
    x = leaf([1.0, 2.0])
    with pytest.raises(GraphError, match="leaf"):
        x += 1.0
    with pytest.raises(GraphError, match="leaf"):
        x[0] = 9.0
    assert x.tolist() == [1.0, 2.0]


def test_under_no_grad_a_leaf_changes_in_its_own_memory():
    x = leaf([1.0, 2.0])
    array = x.data
    with gl.no_grad():
        x -= 0.5
        x[1] = 7.0
        x *= 2.0
        x /= 4.0
    assert x.data is array and array.tolist() == [0.25, 3.5] and x.requires_grad and x.version == 4


def test_in_place_arithmetic_inside_the_graph_is_differentiated():
    x = leaf([0.5, 1.0])
    y = x.exp()
    y += 1.0
    y *= x
    y.sum().backward()
    np.testing.assert_allclose(x.grad.data, np.exp(x.data) * x.data + np.exp(x.data) + 1.0)


def test_what_earlier_steps_saved_stays_right():
    x = leaf([0.5, 1.0])
    b = x * 1.0
    y = b * b
    b *= 10.0
    (y + b).sum().backward()
    np.testing.assert_allclose(x.grad.data, 2 * x.data + 10.0)


def test_assignment_to_entries_gives_right_gradients_to_both_sides():
    a, v = leaf([1.0, 2.0, 3.0]), leaf(5.0)
    b = a * 2.0
    b[1] = v
    (b * np.array([1.0, 10.0, 100.0])).sum().backward()
    assert b.tolist() == [2.0, 5.0, 6.0] and a.grad.tolist() == [2.0, 0.0, 200.0] and v.grad.item() == 10.0


def test_a_constant_tensor_joins_the_graph_by_assignment():
    t, v = gl.zeros(3, dtype=gl.float64), leaf(2.0)
    t[0] = v
    (t * t).sum().backward()
    assert v.grad.item() == 4.0 and t.requires_grad


def test_a_result_changed_under_no_grad_is_an_error_where_backward_needs_it():
    x = leaf([1.0])
    y, z = x.exp(), x * 2.0
    with gl.no_grad():
        y += 5.0
        z += 5.0
    z.backward()
    assert x.grad.tolist() == [2.0] and z.tolist() == [7.0]
    with pytest.raises(GraphError, match="its output was changed"):
        y.backward()


def test_in_place_arithmetic_on_entries_reaches_the_tensor_and_both_gradients():
    a, v = leaf([1.0, 2.0, 3.0]), leaf(5.0)
    b = a * 2.0
    b[1] += v
    b[0] *= v
    assert b.tolist() == [10.0, 9.0, 6.0]
    (b * np.array([1.0, 10.0, 100.0])).sum().backward()
    assert a.grad.tolist() == [10.0, 20.0, 200.0] and v.grad.item() == 12.0


def test_a_change_of_a_slice_inside_the_graph_reaches_what_it_looks_at():
    x = leaf([[1.0, 2.0]])
    y = x * 1.0
    row = y[0]
    row += 1.0
    assert y.tolist() == [[2.0, 3.0]] and row.tolist() == [2.0, 3.0]
    (y * y).sum().backward()
    assert x.grad.tolist() == [[4.0, 6.0]]


def test_a_slice_of_a_leaf_is_as_protected_as_the_leaf():
    x = leaf([1.0, 2.0])
    with pytest.raises(GraphError, match="leaf"):
        x[0] += 1.0
    assert x.tolist() == [1.0, 2.0]


def test_a_view_inside_the_graph_refuses_a_change_that_could_not_be_passed_on():
    y = leaf([[1.0, 2.0]]) * 1.0
    flat, detached = y.reshape(-1), y.detach()
    with pytest.raises(GraphError, match="would miss the change"):
        flat += 1.0
    assert y.tolist() == detached.tolist() == [[1.0, 2.0]]


def test_a_result_that_does_not_fit_is_refused():
    x = gl.ones(2)
    with pytest.raises(ShapeError, match=r"\(3, 2\)"):
        x += np.ones((3, 2))
    y = leaf([1.0, 2.0]) * 1.0
    with pytest.raises(ShapeError, match="fit"):
        y += np.ones((3, 2))
    assert x.tolist() == [1.0, 1.0] and y.tolist() == [1.0, 2.0]


def test_fill_zero_and_copy():
    x = gl.ones(2, 2)
    assert x.fill_(3.0).tolist() == [[3.0, 3.0]] * 2
    assert x.copy_([1.0, 2.0]).tolist() == [[1.0, 2.0]] * 2
    assert x.zero_().tolist() == [[0.0, 0.0]] * 2 and x.version == 3
    assert x.add_(2.0).sub_(1.0).mul_(6.0).div_(2.0).tolist() == [[3.0, 3.0]] * 2


# -- copies


def test_a_leaf_can_be_copied_and_stored():
    x = leaf([1.0, 2.0])
    (x * x).sum().backward()
    y = copy.deepcopy(x)
    assert y.tolist() == x.tolist() and y.grad.tolist() == x.grad.tolist() and y.requires_grad and y.serial != x.serial
    y.grad.data *= 0
    assert x.grad.tolist() == [2.0, 4.0]
    z = pickle.loads(pickle.dumps(x))
    assert z.tolist() == x.tolist() and z.requires_grad and z.dtype == x.dtype


def test_a_result_can_not_be_copied_or_stored_with_its_graph():
    y = leaf([1.0]) * 2.0
    for use in (copy.deepcopy, pickle.dumps):
        with pytest.raises(GraphError, match="graph"):
            use(y)


# -- what a strict reader would try


def test_requires_grad_is_checked_however_it_is_set():
    t, p, y = gl.tensor([1, 2]), leaf([1.0]), leaf([1.0]) * 2.0
    with pytest.raises(DTypeError, match="only floating"):
        t.requires_grad = True
    with pytest.raises(DTypeError, match="only floating"):
        p.data = np.array([1, 2])
    with pytest.raises(GraphError, match="not a leaf"):
        y.requires_grad = False
    p.requires_grad = False
    assert not p.requires_grad and p.dtype == np.float64


def test_a_gradient_belongs_to_one_tensor_only():
    a, b, array = leaf([1.0]), leaf([1.0]), np.array([2.0])
    a.grad = array
    b.grad = a.grad
    (a * 1.0 + b * 1.0).backward()
    assert (a.grad.tolist(), b.grad.tolist(), array.tolist()) == ([3.0], [3.0], [2.0])


def test_the_gradient_of_a_scalar_is_an_array_that_can_be_cleared():
    x = gl.tensor(3.0, requires_grad=True)
    (x * 2.0).backward()
    assert isinstance(x._grad, np.ndarray)
    x.grad.zero_()
    x.grad.data[...] += 1.0
    assert x.grad.item() == 1.0


def test_a_list_of_tensors_is_refused_where_it_would_cut_the_graph():
    w = leaf([1.0, 2.0])
    for use in (lambda: gl.sum([w.sum(), (w * 2.0).sum()]), lambda: leaf([1.0, 2.0]) * [w[0], w[1]]):
        with pytest.raises(GraphError, match=r"gl\.stack"):
            use()


def test_numpy_functions_are_steps_or_are_refused_where_they_would_cut_the_graph():
    w = leaf([1.0, 2.0])
    y = np.sum(w) + np.dot(np.array([3.0, 4.0]), w) + np.concatenate([w, w]).sum()
    y.backward()
    assert w.grad.tolist() == [6.0, 7.0]
    with pytest.raises(DTypeError, match=r"numpy\.unwrap"):
        np.unwrap(w)
    assert np.unwrap(w.detach()).tolist() == [1.0, 2.0] and np.shape(w) == (2,) and np.allclose(w, [1.0, 2.0])


def test_numbers_format_as_numbers():
    loss = leaf(1.23456)
    assert f"{loss:.3f} {loss * 2.0:6.2f}" == "1.235   2.47"
    assert f"{gl.ones(2)}" == "tensor([1., 1.], shape=(2,))"


def test_bool_of_an_empty_tensor_says_what_is_needed():
    with pytest.raises(ShapeError, match="one entry"):
        bool(gl.zeros(0))


def test_matrices_become_arrays_and_complex_numbers_are_refused():
    matrix = gl.tensor(np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix))
    assert (matrix * matrix).tolist() == [[1.0, 4.0], [9.0, 16.0]]
    with pytest.raises(DTypeError, match="only numbers"):
        gl.tensor([1j])


def test_the_cpu_is_where_tensors_are_unless_told_otherwise():
    x = gl.ones(2)
    model = gl.nn.Linear(2, 1)
    assert x.to("cpu") is x and x.cpu() is x and x.device == "cpu" and model.to("cpu") is model


def test_every_kind_of_number_has_its_method_and_its_short_name():
    x = gl.tensor([0.0, 1.5])
    kinds = {"half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32", "long": "int64"}
    for name, dtype in (kinds | {"char": "int8", "byte": "uint8", "bool": "bool"}).items():
        assert getattr(x, name)().dtype == dtype and getattr(gl, name, dtype) == dtype
    assert x.bool().tolist() == [False, True]
    assert x.long().type_as(x).dtype == x.dtype


def test_a_tensor_says_how_it_lies_in_memory():
    x = gl.zeros(2, 3, dtype=gl.float64)
    assert (x.stride(), x.t().stride(), x.stride(0), x.element_size(), x.nbytes, x.nelement()) == ((3, 1), (1, 3), 3, 8, 48, 6)
    assert x.is_floating_point() and not x.long().is_floating_point()
    assert gl.is_tensor(x) and not gl.is_tensor(x.numpy())


@pytest.mark.parametrize("dtype", ["foo", "complex64", object])
def test_what_is_no_kind_of_number_is_refused(dtype):
    with pytest.raises(DTypeError, match="no kind of number"):
        gl.ones(2).to(dtype)
