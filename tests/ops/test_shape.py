"""Shape ops, joining and cutting: where each entry goes, and where its gradient comes from."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import ops
from gradlab.errors import ArgumentError, DimError, ShapeError


def ar(*shape):
    return gl.tensor(np.arange(1.0, np.prod(shape) + 1).reshape(shape), requires_grad=True)


def pull(y):
    """Send 1, 2, 3, ... back through y: an axis that is mixed up shows."""
    (y * gl.tensor(np.arange(1.0, np.prod(y.shape) + 1).reshape(y.shape))).sum().backward()


def test_reshape_reads_row_by_row():
    x = ar(2, 3)
    for y in (x.reshape(3, 2), x.reshape((3, -1)), x.reshape([-1, 2]), x.view(3, 2), gl.reshape(x, 3, 2), np.reshape(x, (3, 2))):
        assert y.tolist() == [[1, 2], [3, 4], [5, 6]]
    y = x.transpose(0, 1).reshape(-1)
    assert y.tolist() == [1, 4, 2, 5, 3, 6]
    pull(y)
    assert x.grad.tolist() == [[1, 3, 5], [2, 4, 6]]


def test_a_reshape_that_does_not_fit_is_refused():
    with pytest.raises(ShapeError, match=r"reshape: the numbers of entries differ\n  x     \(2, 3\)\n  shape \(4, 2\)"):
        ar(2, 3).reshape(4, 2)
    with pytest.raises(ShapeError, match="one size may be -1"):
        ar(2, 3).reshape(-1, -1)


def test_flatten_joins_the_axes_asked_for():
    x = ar(2, 3, 4)
    assert (
        x.flatten().shape == (24,) and x.flatten(1).shape == (2, 12) and x.flatten(0, 1).shape == (6, 4) and x.flatten(-2).shape == (2, 12)
    )
    assert gl.flatten(gl.tensor(3.0)).tolist() == [3.0]
    pull(x.flatten(1))
    assert x.grad.tolist() == x.tolist()
    with pytest.raises(ShapeError, match="start_dim comes after end_dim"):
        x.flatten(2, 1)


def test_transpose_and_its_short_forms():
    x = ar(2, 3)
    assert x.T.tolist() == x.transpose(0, 1).tolist() == x.mT.tolist() == x.transpose(-1, -2).tolist() == [[1, 4], [2, 5], [3, 6]]
    pull(x.T)
    assert x.grad.tolist() == [[1, 3, 5], [2, 4, 6]]
    assert ar(2, 3, 4).T.shape == (4, 3, 2) and ar(2, 3, 4).mT.shape == (2, 4, 3) and ar(3).T.shape == (3,)


def test_permute_is_undone_by_the_inverse_order():
    x = ar(2, 1, 3)
    y = x.permute(2, 0, 1)
    assert y.shape == (3, 2, 1) and x.permute((2, 0, 1)).shape == (3, 2, 1) and x.permute(-1, 0, 1).shape == (3, 2, 1)
    pull(y)
    assert x.grad.tolist() == [[[1, 3, 5]], [[2, 4, 6]]]
    with pytest.raises(ShapeError, match="every axis must appear once"):
        x.permute(0, 0, 1)
    with pytest.raises(ShapeError, match="the numbers 0 to 2 in some order"):
        x.permute(0, 1)


def test_expand_sums_the_gradient_over_the_copies():
    x = gl.tensor([[1.0], [2.0]], requires_grad=True)
    pull(x.expand(2, 3))
    assert x.grad.tolist() == [[6.0], [15.0]]
    x = ar(2)
    y = x.expand(3, -1)
    assert y.tolist() == [[1, 2]] * 3 and x.expand((3, 2)).shape == (3, 2)
    pull(y)
    assert x.grad.tolist() == [9.0, 12.0]


def test_expand_refuses_to_grow_an_axis_that_has_entries():
    with pytest.raises(ShapeError, match="only axes of size 1 can grow"):
        ar(2, 3).expand(4, 3)
    with pytest.raises(ShapeError, match="expand"):
        ar(2, 3).expand(3)
    with pytest.raises(ShapeError, match="expand"):
        ar(3).expand(-1, 3)


def test_squeeze_drops_axes_of_size_one_only():
    x = ar(1, 2, 1)
    assert (
        x.squeeze().shape == (2,) and x.squeeze(1).shape == (1, 2, 1) and x.squeeze(-1).shape == (1, 2) and x.squeeze((0, 2)).shape == (2,)
    )
    y = x.squeeze().unsqueeze(0)
    assert y.shape == (1, 2) and x.squeeze().unsqueeze(-1).shape == (2, 1)
    pull(y)
    assert x.grad.tolist() == [[[1.0], [2.0]]]


def test_an_axis_that_is_not_there_is_an_error_of_shape_and_of_index():
    x = ar(2, 3)
    for call in (lambda: x.transpose(0, 2), lambda: x.permute(0, 5), lambda: x.squeeze(2), lambda: x.unsqueeze(3), lambda: x.flatten(-3)):
        with pytest.raises(ShapeError, match="there is no axis"):
            call()
        with pytest.raises(IndexError):
            call()


def test_shape_ops_look_at_the_same_memory():
    x = gl.zeros(2, 3)
    views = [
        x.reshape(6),
        x.flatten(),
        x.T,
        x.permute(1, 0),
        x.expand(4, 2, 3),
        x.unsqueeze(0),
        x.squeeze(),
        x.narrow(0, 0, 1),
        x[0],
        x[:, 1],
    ]
    for y in views:
        assert np.shares_memory(x.data, y.data)
        before = y.version
        x.add_(1.0)
        assert y.version == before + 1


def test_cat_joins_unequal_lengths_and_one_tensor_twice():
    a, b = ar(1, 2), ar(3, 2)
    y = gl.cat([a, b, a], dim=0)
    assert y.shape == (5, 2)
    pull(y)
    assert a.grad.tolist() == [[10, 12]] and b.grad.tolist() == [[3, 4], [5, 6], [7, 8]]
    a, b = ar(2, 1), ar(2, 2)
    pull(gl.cat((a, b), dim=-1))
    assert a.grad.tolist() == [[1], [4]] and b.grad.tolist() == [[2, 3], [5, 6]]
    pull(gl.cat([a]))


def test_cat_says_which_shapes_do_not_line_up():
    with pytest.raises(ShapeError, match=r"cat: the shapes don't line up\n  0     \(2, 3\)\n  1     \(2, 4\)"):
        gl.cat([gl.zeros(2, 3), gl.zeros(2, 4)])
    with pytest.raises(ShapeError, match="cat"):
        gl.cat([gl.zeros(()), gl.zeros(())])
    with pytest.raises(ShapeError, match="cat: there is nothing to join"):
        gl.cat([])


def test_stack_makes_a_new_axis():
    a, b = ar(2), ar(2)
    y = gl.stack([a, b], dim=-1)
    assert y.tolist() == [[1, 1], [2, 2]] and gl.stack((a, b)).shape == (2, 2)
    pull(y)
    assert a.grad.tolist() == [1, 3] and b.grad.tolist() == [2, 4]
    total = gl.stack([gl.tensor(1.0, requires_grad=True), gl.tensor(2.0)])
    assert total.tolist() == [1, 2] and total.requires_grad
    with pytest.raises(ShapeError, match=r"stack: the shapes differ\n  0     \(2,\)\n  1     \(3,\)"):
        gl.stack([gl.zeros(2), gl.zeros(3)])
    with pytest.raises(ShapeError, match="stack: there is nothing to join"):
        gl.stack([])


def test_split_cuts_by_size_and_a_piece_may_stay_unused():
    x = ar(5)
    parts = x.split(2)
    assert [p.tolist() for p in parts] == [[1, 2], [3, 4], [5]]
    (parts[0].sum() * 3 + parts[2].sum() * 7).backward()
    assert x.grad.tolist() == [3, 3, 0, 0, 7]
    assert [p.shape for p in gl.split(ar(2, 5), [1, 4], dim=-1)] == [(2, 1), (2, 4)]
    assert [p.shape for p in gl.zeros(0, 2).split(3)] == [(0, 2)]


def test_chunk_cuts_by_number():
    assert [p.shape for p in ar(5).chunk(3)] == [(2,), (2,), (1,)]
    assert [p.shape for p in ar(2, 4).chunk(2, dim=1)] == [(2, 2), (2, 2)]
    assert [p.shape for p in ar(2).chunk(5)] == [(1,), (1,)]
    assert [p.shape for p in gl.zeros(0).chunk(2)] == [(0,), (0,)]


def test_pieces_that_make_no_sense_are_refused():
    with pytest.raises(ShapeError, match="split: pieces need a size"):
        ar(5).split(0)
    with pytest.raises(ShapeError, match=r"split: the sizes don't add up.*\n.*\n.*\n  need: 5 in all along dim 0"):
        ar(5).split([1, 2])
    with pytest.raises(ShapeError, match="into how many pieces"):
        ar(5).chunk(0)
    with pytest.raises(ShapeError, match="this part reaches outside"):
        ar(5).narrow(0, 4, 2)


def test_clone_has_memory_of_its_own_and_passes_the_gradient():
    x = ar(3)
    y = x.clone()
    assert not np.shares_memory(x.data, y.data)
    pull(y)
    assert x.grad.tolist() == [1, 2, 3]


def test_a_cast_gives_the_gradient_back_in_the_old_dtype():
    x = ar(3)
    y = ops.cast(x, gl.float32)
    assert y.dtype == "float32" and ops.cast(x, "int64").grad_fn is None
    y.sum().backward()
    assert x.grad.dtype == "float64" and x.grad.tolist() == [1, 1, 1]


def test_view_looks_at_the_same_memory_or_is_refused():
    x = ar(2, 3)
    assert np.shares_memory(x.view(3, 2).data, x.data) and np.shares_memory(x.T.view(3, 1, 2).data, x.data)
    with pytest.raises(ShapeError, match=r"view: the entries lie in another order in memory(.*\n)*  try:  x\.reshape"):
        x.T.view(-1)
    assert x.T.contiguous().view(-1).tolist() == x.T.reshape(-1).tolist() and x.contiguous() is x
    pull(x.T.contiguous())
    assert x.grad.tolist() == [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]


def test_axes_move_and_the_rest_keeps_its_order():
    x = gl.zeros(2, 3, 4, 5)
    assert x.movedim(0, 2).shape == (3, 4, 2, 5) and x.movedim((0, -1), (1, 0)).shape == (5, 2, 3, 4)
    assert np.moveaxis(x.data, (2, 0), (0, 3)).shape == gl.moveaxis(x, (2, 0), (0, 3)).shape
    for source, destination in [(0, (1, 0)), ((0, 0), (1, 0)), ((0, 1), (2, 2))]:
        with pytest.raises(DimError, match="movedim: the axes don't pair up"):
            x.movedim(source, destination)
    with pytest.raises(ShapeError, match="t: this is no matrix"):
        x.t()
    assert gl.tensor(1.0).t().shape == () and gl.zeros(3).t().shape == (3,) and gl.zeros(2, 3).H.shape == (3, 2)


def test_an_axis_opens_into_several():
    x = gl.zeros(2, 6)
    assert x.unflatten(1, (2, 3)).shape == (2, 2, 3) and x.unflatten(-1, (-1, 2)).shape == (2, 3, 2)
    for sizes in [(), (4, 2), (-1, 4), (-1, -1)]:
        with pytest.raises(ShapeError, match="unflatten: the sizes don't fit"):
            x.unflatten(1, sizes)


def test_tensors_that_broadcast_are_brought_to_one_shape():
    shapes = [y.shape for y in gl.broadcast_tensors(gl.zeros(3), gl.zeros(2, 1), gl.tensor(1.0))]
    assert shapes == [(2, 3)] * 3
    with pytest.raises(ShapeError, match="broadcast_tensors: the shapes don't broadcast"):
        gl.broadcast_tensors(gl.zeros(3), gl.zeros(2))


def test_meshgrid_counts_rows_first_unless_asked_for_xy():
    a, b = ar(2), ar(3)
    x, y = gl.meshgrid(a, b)
    assert x.tolist() == [[1.0] * 3, [2.0] * 3] and y.shape == (2, 3)
    pull(x)
    assert a.grad.tolist() == [6.0, 15.0]
    assert [g.shape for g in gl.meshgrid([a, b, gl.tensor(1.0)], indexing="xy")] == [(3, 2, 1)] * 3
    with pytest.raises(ShapeError, match="meshgrid: coordinates along one axis"):
        gl.meshgrid(gl.zeros(2, 2), b)
    with pytest.raises(ArgumentError, match="meshgrid: which order"):
        gl.meshgrid(a, b, indexing="yx")
    assert gl.cartesian_prod(a, b).shape == (6, 2) and gl.cartesian_prod(a) is a


def test_stacks_take_vectors_as_rows_columns_or_layers():
    v, m, s = gl.zeros(3), gl.zeros(2, 3), gl.tensor(1.0)
    assert gl.hstack([v, v]).shape == (6,) and gl.hstack([m, m]).shape == (2, 6) and gl.hstack([s, v]).shape == (4,)
    assert gl.vstack([v, m]).shape == (3, 3) and gl.vstack([s, s]).shape == (2, 1)
    assert gl.dstack([v, v]).shape == (1, 3, 2) and gl.dstack([m, m]).shape == (2, 3, 2) and gl.dstack([s, s]).shape == (1, 1, 2)
    assert gl.column_stack([v, gl.zeros(3, 2)]).shape == (3, 3) and gl.column_stack([s, s]).shape == (1, 2)
    for f in (gl.hstack, gl.vstack, gl.dstack, gl.column_stack, gl.concat, gl.concatenate):
        with pytest.raises(ShapeError, match="there is nothing to join"):
            f([])


def test_a_list_to_join_may_start_with_nothing():
    x = ar(2, 3)
    y = gl.cat([gl.zeros(0), x], dim=1)
    pull(y)
    assert y.shape == (2, 3) and x.grad.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_tensor_split_cuts_as_evenly_as_can_be_or_at_places():
    assert [p.tolist() for p in gl.tensor_split(gl.arange(5), 3)] == [[0, 1], [2, 3], [4]]
    assert [p.shape for p in gl.tensor_split(gl.arange(2), 3)] == [(1,), (1,), (0,)]
    assert [p.tolist() for p in gl.tensor_split(gl.arange(7), (5, 2, 9))] == [[0, 1, 2, 3, 4], [], [2, 3, 4, 5, 6], []]
    assert [p.tolist() for p in gl.tensor_split(gl.arange(4), gl.tensor([-1]))] == [[0, 1, 2], [3]]
    with pytest.raises(ArgumentError, match="into how many pieces"):
        gl.tensor_split(gl.arange(4), 0)


def test_unbind_and_select_give_one_entry_along_an_axis():
    x = ar(2, 3)
    a, _, c = x.unbind(1)
    (a * 2 + c).sum().backward()
    assert x.grad.tolist() == [[2.0, 0.0, 1.0]] * 2 and x.select(1, -1).tolist() == [3.0, 6.0]
    assert x.narrow(1, -2, 2).tolist() == [[2.0, 3.0], [5.0, 6.0]] and gl.zeros(0).split(0)[0].shape == (0,)


def test_at_least_so_many_axes():
    assert [f(gl.tensor(1.0)).ndim for f in (gl.atleast_1d, gl.atleast_2d, gl.atleast_3d)] == [1, 2, 3]
    assert gl.atleast_3d(gl.zeros(2)).shape == (1, 2, 1) and gl.atleast_3d(gl.zeros(2, 3)).shape == (2, 3, 1)
    with pytest.raises(DimError, match="squeeze: an axis is named twice"):
        gl.zeros(1, 2).squeeze((0, -2))


def test_a_0d_tensor_has_axes_0_and_minus_1_to_swap_and_move():
    x = gl.tensor(3.0, requires_grad=True)
    y = x.transpose(0, -1) + x.movedim(0, -1) + x.swapaxes(0, 0)
    y.backward()
    assert y.item() == 9.0 and x.grad.item() == 3.0
    with pytest.raises(DimError, match="flipud: a 0-d tensor has no rows"):
        gl.flipud(x)
    with pytest.raises(ShapeError, match="cartesian_prod: vectors, please"):
        gl.cartesian_prod(x)


def test_equal_pieces_along_an_axis_that_has_a_name():
    x = gl.tensor(np.arange(6.0).reshape(2, 3))
    assert [p.tolist() for p in x.hsplit([1])] == [[[0.0], [3.0]], [[1.0, 2.0], [4.0, 5.0]]] and len(x.vsplit(2)) == 2
    assert [p.shape for p in gl.hsplit(gl.zeros(4), 2)] == [(2,), (2,)] and [p.shape for p in gl.dsplit(gl.zeros(1, 2, 4), 2)] == [
        (1, 2, 2)
    ] * 2
    for f, a, n, text in [
        (gl.hsplit, x, 2, "hsplit: the pieces would not be equal"),
        (gl.vsplit, gl.zeros(3), 1, "vsplit: there is nothing to cut there"),
        (gl.dsplit, x, 1, "dsplit: there is nothing to cut there"),
    ]:
        with pytest.raises(ShapeError, match=text):
            f(a, n)


def test_choices_of_entries():
    v = gl.tensor([2.0, 1.0, 3.0], requires_grad=True)
    assert gl.combinations(v).tolist() == [[2.0, 1.0], [2.0, 3.0], [1.0, 3.0]] and gl.combinations(v, 4).shape == (0, 4)
    assert gl.combinations(v[:2], 2, with_replacement=True).tolist() == [[2.0, 2.0], [2.0, 1.0], [1.0, 1.0]]
    pull(gl.combinations(v))
    assert v.grad.tolist() == [4.0, 7.0, 10.0] and gl.row_stack([v, v]).shape == (2, 3)
    with pytest.raises(ShapeError, match="combinations: a vector"):
        gl.combinations(gl.zeros(2, 2))
