"""Indices of every mixture, drawn at random: the order of the result's axes, its entries, and the gradients of reading and writing."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

COUNT = 400


class Drawn:
    """A tensor's shape and an index into it: parts are numbers, slices, None, ..., truth values, and arrays."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.shape = tuple(rng.choice([1, 2, 3, 4], size=rng.integers(1, 6)).tolist())
        self.places = [(2,), (3,), (1,), (2, 1), (1, 2), (2, 2)][rng.integers(0, 6)]  # what index arrays broadcast to
        self.parts, axis = [], 0
        last, dots = rng.integers(0, len(self.shape) + 1), rng.random() < 0.5
        while axis < last:
            if dots and rng.random() < 0.3:
                self.parts, dots = [*self.parts, ...], False
                left = len(self.shape) - last  # the axes that ... stands for
                axis, last = axis + left, last + left
                continue
            if rng.random() < 0.25:
                self.parts.append([None, None, True, False][rng.integers(0, 4)])
            axis += self.add(axis, last)

    def add(self, axis, last):
        """Draw a part of the index; the number of axes it stands for."""
        rng, n = self.rng, self.shape[axis]
        kind = rng.integers(0, 5)
        if kind == 0:
            self.parts.append(slice(*[(None, None), (1, None), (None, -1), (-2, 2), (0, 0)][rng.integers(0, 5)]))
        elif kind == 1:
            self.parts.append(int(rng.integers(-n, n)))
        elif kind < 4:
            self.parts.append(rng.integers(-n, n, size=self.places))
        else:
            sizes = self.shape[axis : min(axis + int(rng.integers(1, 3)), last)]
            mask = np.zeros(sizes, bool)
            mask.flat[rng.permutation(mask.size)[: self.places[-1]]] = True
            self.parts.append(mask)
            return mask.ndim
        return 1

    def written(self, tensor):
        """The index as a user may write it: arrays as lists (masks of one axis, and others among several parts) and tensors."""
        rng, parts = np.random.default_rng(len(self.parts)), []
        for part in self.parts:
            array = isinstance(part, np.ndarray)
            as_list = array and rng.random() < 0.5 and (part.ndim == 1 or (part.dtype != bool and len(self.parts) > 1))
            parts.append(part.tolist() if as_list else tensor(part) if array else part)
        return tuple(parts)

    def read(self):
        """The entries that the index names, counted row by row, found by the rules of PyTorch: None where it names none.

        Numbers, slices and new axes are taken axis by axis. What remains is one array of places per axis that has one; their
        common axes go where the arrays stood if those are neighbours, else in front.
        """
        x, axis, arrays = np.arange(np.prod(self.shape)).reshape(self.shape), 0, {}
        taken = sum(p.ndim if p.dtype == bool else 1 for p in self.parts if isinstance(p, np.ndarray))
        taken += sum(isinstance(p, slice) or (isinstance(p, int) and not isinstance(p, bool)) for p in self.parts)
        for part in self.parts:
            if part is ...:
                axis += len(self.shape) - taken
            elif part is None or isinstance(part, bool):
                x = np.expand_dims(x, axis)
                if part is not None:
                    arrays[axis] = np.zeros(int(part), int)
                axis += 1
            elif isinstance(part, slice):
                x, axis = np.moveaxis(np.moveaxis(x, axis, 0)[part], 0, axis), axis + 1
            elif isinstance(part, int):
                x = np.take(x, part, axis)
            elif part.dtype == bool:
                arrays |= {axis + i: places for i, places in enumerate(np.nonzero(part))}
                axis += part.ndim
            else:
                arrays[axis], axis = part, axis + 1
        if not arrays:
            return x
        try:
            places = np.broadcast_arrays(*arrays.values())
        except ValueError:
            return None
        at = list(arrays)
        front = np.moveaxis(x, at, range(len(at)))[tuple(places)]
        if at[-1] - at[0] != len(at) - 1:
            return front
        return np.moveaxis(front, range(places[0].ndim), range(at[0], at[0] + places[0].ndim))


PROGRAMS = [drawn for drawn in map(Drawn, range(COUNT)) if drawn.read() is not None]


def test_enough_of_the_programs_are_right_and_they_hold_every_mixture():
    assert len(PROGRAMS) > 0.8 * COUNT
    kinds = [{type(p).__name__ for p in drawn.parts} for drawn in PROGRAMS]
    for mixture in ({"ndarray", "int"}, {"ndarray", "ellipsis"}, {"ndarray", "bool"}, {"ndarray", "NoneType"}, {"bool", "int"}):
        assert sum(mixture <= kind for kind in kinds) > 10, mixture


def test_reading_gives_the_entries_in_pytorchs_order_and_sends_their_gradient_home():
    for drawn in PROGRAMS:
        want, values = drawn.read(), np.random.default_rng(0).standard_normal(drawn.shape)
        x = gl.tensor(values, requires_grad=True)
        y = x[drawn.written(gl.tensor)]
        assert y.shape == want.shape, drawn.parts
        np.testing.assert_array_equal(y.data, values.ravel()[want], str(drawn.parts))
        g = np.random.default_rng(1).standard_normal(want.shape)
        y.backward(gl.tensor(g))
        back = np.zeros(values.size)
        np.add.at(back, want, g)
        np.testing.assert_allclose(x.grad.data, back.reshape(drawn.shape), rtol=1e-12, err_msg=str(drawn.parts))


def test_writing_reaches_the_same_entries_inside_a_graph_and_outside():
    for drawn in PROGRAMS:
        want, rng = drawn.read(), np.random.default_rng(0)
        if len(np.unique(want)) != want.size:
            continue  # which of two values stays is no matter of order
        values, v, g = rng.standard_normal(drawn.shape), rng.standard_normal(want.shape), rng.standard_normal(drawn.shape)
        index = drawn.written(gl.tensor)
        after, kept = values.copy(), g.copy()
        after.flat[want], kept.flat[want] = v, 0.0
        plain = gl.tensor(values)
        plain[index] = v
        np.testing.assert_array_equal(plain.data, after, str(drawn.parts))
        plain = gl.tensor(values)
        plain[index] += v
        np.testing.assert_array_equal(plain.data.ravel()[want], values.ravel()[want] + v, str(drawn.parts))
        x, w = gl.tensor(values, requires_grad=True), gl.tensor(v, requires_grad=True)
        y = x * 1.0
        y[index] = w
        np.testing.assert_array_equal(y.data, after, str(drawn.parts))
        y.backward(gl.tensor(g))
        np.testing.assert_array_equal(x.grad.data, kept, str(drawn.parts))
        np.testing.assert_array_equal(w.grad.data, g.ravel()[want], str(drawn.parts))


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        ((slice(None), [0, 2], ..., [0, 2], slice(None)), (2, 2, 5)),  # ... stands for no axis: the arrays are neighbours
        (([0, 1], [0, 2], ..., [0, 2], [1, 1]), (2,)),
        (([0, 1], ..., [0, 2], slice(None)), (2, 3, 5)),
        ((0, ..., True), (3, 4, 5, 1)),
        ((slice(None), 1, ..., False), (2, 4, 5, 0)),
        ((True, slice(None), 0), (1, 2, 4, 5)),
        ((slice(None), np.array(True), [0, 1]), (2, 2, 4, 5)),
        ((slice(None), True, None, [0, 1]), (2, 2, 1, 4, 5)),
    ],
    ids=str,
)
def test_the_axes_of_arrays_stand_where_pytorch_puts_them(index, shape):
    assert gl.ones(2, 3, 4, 5)[index].shape == shape


@pytest.mark.torch
def test_pytorch_reads_and_writes_the_same_entries():
    torch = pytest.importorskip("torch")
    for drawn in PROGRAMS:
        values, theirs, ours = np.arange(float(np.prod(drawn.shape))).reshape(drawn.shape), [], []
        for library, out in ((torch, theirs), (gl, ours)):
            index, x = drawn.written(library.tensor), library.tensor(values)
            out += [np.asarray(x[index])]
            x[index] = -1.0
            out += [np.asarray(x)]
        for a, b in zip(theirs, ours, strict=True):
            np.testing.assert_array_equal(b, a, str(drawn.parts))
