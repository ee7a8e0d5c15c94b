"""Turned, rolled and repeated entries; triangles, diagonals and blocks."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ArgumentError, DimError, DTypeError, ShapeError

X = np.arange(6.0).reshape(2, 3)


def ar(*shape):
    return gl.tensor(np.arange(1.0, np.prod(shape) + 1).reshape(shape), requires_grad=True)


def test_flips_and_rotations_are_those_of_numpy_and_copies():
    x = gl.tensor(X)
    assert (
        np.array_equal(x.flip(0, -1).data, X[::-1, ::-1])
        and np.array_equal(x.flip((1,)).data, X[:, ::-1])
        and x.flip().tolist() == X.tolist()
    )
    assert np.array_equal(gl.fliplr(x).data, np.fliplr(X)) and np.array_equal(gl.flipud(x).data, np.flipud(X))
    assert not np.shares_memory(x.flip(0).data, x.data) and gl.tensor(3.0).flip(0).item() == 3.0
    for k in range(-5, 6):
        assert np.array_equal(x.rot90(k).data, np.rot90(X, k)) and np.array_equal(x.rot90(k, (1, 0)).data, np.rot90(X, k, (1, 0)))
    with pytest.raises(DimError, match="flip: an axis is named twice"):
        x.flip(0, -2)
    with pytest.raises(DimError, match="rot90: an axis is named twice"):
        x.rot90(1, (0, 0))
    with pytest.raises(DimError, match="rot90: a plane has two axes"):
        gl.rot90(gl.ones(3))


def test_what_rolls_out_at_one_end_comes_in_at_the_other():
    x = gl.tensor(X)
    assert np.array_equal(x.roll(1).data, np.roll(X, 1)) and np.array_equal(x.roll((1, -1), (0, 1)).data, np.roll(X, (1, -1), (0, 1)))
    assert gl.tensor(3.0).roll(1, 0).item() == 3.0
    for shifts, dims in [(1, (0, 1)), ((1, 2), None), ((1, 2), 0)]:
        with pytest.raises(ShapeError, match="roll: one shift an axis"):
            x.roll(shifts, dims)


def test_repeat_wants_a_number_for_every_axis_and_tile_does_not():
    v = gl.tensor([0.0, 1.0])
    assert (
        v.repeat(2, 2).tolist() == [[0.0, 1.0, 0.0, 1.0]] * 2
        and gl.tensor(X).tile(2).shape == (2, 6)
        and gl.tensor(X).repeat(0, 1).shape == (0, 3)
    )
    with pytest.raises(ShapeError, match="repeat: how often along every axis"):
        gl.tensor(X).repeat(2)
    for f in (v.repeat, v.tile):
        with pytest.raises(ArgumentError, match="repeat: how often"):
            f(-1)


def test_each_entry_is_repeated_as_often_as_its_number_says():
    x = ar(2, 3)
    y = x.repeat_interleave(gl.tensor([0, 2, 1]), dim=1)
    assert y.tolist() == [[2.0, 2.0, 3.0], [5.0, 5.0, 6.0]]
    y.backward(gl.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    assert x.grad.tolist() == [[0.0, 3.0, 3.0], [0.0, 9.0, 6.0]]
    assert x.repeat_interleave(2).shape == (12,) and x.repeat_interleave(gl.tensor([2]), 0).shape == (4, 3)
    assert gl.repeat_interleave(x, [1, 2], 0, output_size=3).shape == (3, 3)
    for error, repeats, text in [
        (ArgumentError, -1, "how often"),
        (ShapeError, [1, 2], "one number an entry"),
        (DTypeError, 1.5, "how often"),
    ]:
        with pytest.raises(error, match=f"repeat_interleave: {text}"):
            x.repeat_interleave(repeats, 1)
    with pytest.raises(ShapeError, match="repeat_interleave: another size"):
        x.repeat_interleave(2, 1, output_size=5)


def test_an_array_of_repeats_that_is_filled_anew_moves_no_gradient():
    x, repeats = ar(2), np.array([1, 2])
    y = gl.repeat_interleave(x, repeats, 0)
    repeats[:] = 0
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]


def test_triangles_keep_dtypes_and_batches():
    for k in range(-3, 4):
        assert np.array_equal(gl.tril(gl.tensor(X), k).data, np.tril(X, k)) and np.array_equal(gl.triu(gl.tensor(X), k).data, np.triu(X, k))
    assert gl.tril(gl.ones(2, 3, 3)).sum().item() == 12.0 and gl.triu(gl.tensor([[True, True], [True, True]])).dtype == "bool"
    for f in (gl.tril, gl.triu):
        with pytest.raises(ShapeError, match="this is no matrix"):
            f(gl.ones(3))
    assert gl.tril_indices(2, 3, 1).tolist() == [[0, 0, 1, 1, 1], [0, 1, 0, 1, 2]]
    assert gl.triu_indices(2, 3, -1).tolist() == [[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]]


def test_a_diagonal_looks_at_the_memory_and_can_be_written():
    x = gl.tensor(X)
    x.diagonal().fill_(9.0)
    x.diagonal(1)[0] = 7.0
    assert x.tolist() == [[9.0, 7.0, 2.0], [3.0, 9.0, 5.0]]
    assert x.diagonal(5).shape == (0,) and gl.ones(2, 3, 4).diagonal(0, 2, 0).shape == (3, 2)
    with pytest.raises(DimError, match="diagonal: two axes make a matrix"):
        x.diagonal(0, 0, -2)


def test_diag_makes_a_matrix_of_a_vector_and_the_other_way_round():
    v = ar(2)
    assert gl.diag(v, -1).tolist() == [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]] and gl.diag(gl.tensor(X), 1).tolist() == [
        1.0,
        5.0,
    ]
    assert gl.diag_embed(gl.ones(2, 3), 0, 0, 2).shape == (3, 2, 3)
    gl.diag(v).backward(gl.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert v.grad.tolist() == [1.0, 4.0]
    for f in (gl.diag, gl.diag_embed):
        with pytest.raises(ShapeError):
            f(gl.tensor(1.0))
    with pytest.raises(DimError, match="diag_embed: two axes make a matrix"):
        gl.diag_embed(v, 0, 0, 0)


def test_trace_adds_integers_as_int64():
    assert gl.tensor(np.ones((2, 3), "int32")).trace().dtype == "int64" and gl.tensor(X).trace().item() == 4.0
    with pytest.raises(ShapeError, match="trace: this is no matrix"):
        gl.ones(3).trace()


def test_blocks_stand_along_the_diagonal():
    a, b, c = ar(2, 1), ar(2), gl.tensor(5.0)
    y = gl.block_diag(a, b, c)
    assert y.tolist() == [[1, 0, 0, 0], [2, 0, 0, 0], [0, 1, 2, 0], [0, 0, 0, 5]]
    y.backward(gl.tensor(np.arange(16.0).reshape(4, 4)))
    assert a.grad.tolist() == [[0.0], [4.0]] and b.grad.tolist() == [9.0, 10.0]
    assert gl.block_diag(gl.tensor([[1]]), gl.tensor([2.0])).dtype == "float32"
    with pytest.raises(ShapeError, match="block_diag: this is no block"):
        gl.block_diag(gl.ones(1, 1, 1))
    with pytest.raises(ShapeError, match="block_diag: there is nothing to join"):
        gl.block_diag()
