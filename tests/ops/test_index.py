"""Reading, replacing and choosing entries: each kind of index, repeated places, the branch not taken."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import ops
from gradlab.errors import ArgumentError, DimError, DTypeError, PlaceError, ShapeError

N = np.arange(24.0).reshape(2, 3, 4)


def pull(y):
    (y * gl.tensor(np.arange(1.0, np.prod(y.shape) + 1).reshape(y.shape))).sum().backward()


INDICES = [
    0, -1, (1, 2), (1, 2, 3), slice(None), slice(1, None), slice(None, None, -1), (slice(None), slice(0, 3, 2)), ..., (..., 1), (0, ..., 1),
    None, (..., None), (slice(None), None, 1), (None, 0, None, ..., slice(None, None, -2)), np.int64(1),
    [0, 1], [1, 1, 0], (slice(None), [0, 0, -1]), ([0, 1], [2, 0]), ([[0, 1], [1, 0]],), (0, [1, 1]), ([0, 1], slice(None), [3, 3]),
    np.array([1, 0, 1]), np.array(1), N > 5, (N > 5).tolist(), (slice(None), np.array([True, False, True])),
    (slice(None), [], 0), np.zeros((2, 3), bool),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_every_kind_of_index_reads_as_numpy_and_sends_each_gradient_home(index):
    x = gl.tensor(N, requires_grad=True)
    y = x[index]
    np.testing.assert_array_equal(y.data, N[index])
    assert y.shape == N[index].shape
    pull(y)
    want = np.zeros_like(N)
    np.add.at(want, index, np.arange(1.0, np.prod(y.shape) + 1).reshape(y.shape))
    np.testing.assert_array_equal(x.grad.data, want)


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_every_kind_of_index_can_be_assigned_in_a_graph(index):
    a, v = gl.tensor(N, requires_grad=True), gl.tensor(np.array(-7.0), requires_grad=True)
    b = a * 2
    b[index] = v
    want = N * 2
    want[index] = -7.0
    np.testing.assert_array_equal(b.data, want)
    g = np.arange(1.0, 25.0).reshape(2, 3, 4)
    (b * gl.tensor(g)).sum().backward()
    kept = np.ones_like(N)
    kept[index] = 0.0
    np.testing.assert_array_equal(a.grad.data, 2 * g * kept)
    assert v.grad.item() == (g * (1 - kept)).sum()


def test_tensors_are_indices_too():
    x = gl.tensor(N, requires_grad=True)
    for i, want in [
        (gl.tensor([1, 1, 0]), N[[1, 1, 0]]),
        (gl.tensor(1), N[1]),
        ((0, gl.tensor([2, 0])), N[0, [2, 0]]),
        ((gl.tensor(1), gl.tensor(2)), N[1, 2]),
        ([gl.tensor(0), gl.tensor(1)], N[[0, 1]]),
        (x > 5, N[N > 5]),
    ]:
        np.testing.assert_array_equal(x[i].data, want)


def test_a_place_read_often_gets_every_gradient():
    x = gl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x[0] * x[1] + x[0] * x[-1] + x[0]).backward()
    assert x.grad.tolist() == [6.0, 1.0, 1.0]


def test_an_index_array_that_is_filled_anew_moves_no_gradient():
    x = gl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    i = np.array([0, 0])
    y = x[i]
    i[:] = 2
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 0.0]


@pytest.mark.parametrize("kind", [np.array, gl.tensor, lambda i: (np.array(i), slice(None)), lambda i: [gl.tensor(k) for k in i]])
def test_an_index_that_is_filled_anew_after_an_assignment_moves_no_gradient(kind):
    for wanted in (ops.getitem, ops.set_index):
        x, v = gl.tensor(np.zeros((3, 2)), requires_grad=True), gl.tensor(np.ones((1, 2)), requires_grad=True)
        index = kind([0])
        y = wanted(x, index) if wanted is ops.getitem else wanted(x, index, v)
        for part in index if isinstance(index, (tuple, list)) else [index]:
            if isinstance(part, gl.Tensor):
                part.data[...] = 2
            elif isinstance(part, np.ndarray):
                part[...] = 2
        y.backward(gl.tensor(np.arange(1.0, y.data.size + 1).reshape(y.shape)))
        if wanted is ops.getitem:
            assert x.grad.tolist() == [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
        else:
            assert v.grad.tolist() == [[1.0, 2.0]] and x.grad.tolist() == [[0.0, 0.0], [3.0, 4.0], [5.0, 6.0]]


def test_a_mask_that_is_filled_anew_moves_no_gradient():
    for c in (np.array([True, False]), gl.tensor([True, False])):
        x = gl.tensor([1.0, 2.0], requires_grad=True)
        ys = [x[c], ops.set_index(x, c, 0.0), ops.set_index(x * 1, (c,), 0.0)]
        (c.data if isinstance(c, gl.Tensor) else c)[...] = [False, True]
        for y, want in zip(ys, ([1.0, 0.0], [0.0, 1.0], [0.0, 1.0]), strict=True):
            x.grad = None
            y.sum().backward()
            assert x.grad.tolist() == want


def test_ints_and_slices_look_at_the_memory_and_arrays_copy():
    x = gl.zeros(3, 4)
    for i in (0, slice(1, 3), (0, 1), ...):
        assert np.shares_memory(x[i].data, x.data)
    for i in ([0], gl.tensor([0]), x == 0):
        assert not np.shares_memory(x[i].data, x.data)


def test_a_place_that_is_not_there_is_an_index_error():
    x = gl.tensor([1.0, 2.0, 3.0])
    for i in (3, -4, [0, 3], gl.tensor([0, 3]), (0, 0), gl.tensor([1.0])):
        with pytest.raises(IndexError):
            x[i]


def test_an_assigned_value_broadcasts_and_gets_its_gradient_back():
    a, v = gl.tensor(np.ones((2, 3)), requires_grad=True), gl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = a * 1
    b[:, :] = v
    pull(b)
    assert a.grad.tolist() == [[0.0] * 3] * 2 and v.grad.tolist() == [5.0, 7.0, 9.0]


def test_of_two_values_for_one_place_only_the_last_has_a_gradient():
    x, v = gl.zeros(3, requires_grad=True), gl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = ops.set_index(x, [1, 1, 0], v)
    assert y.tolist() == [3.0, 2.0, 0.0]
    pull(y)
    assert v.grad.tolist() == [0.0, 2.0, 1.0] and x.grad.tolist() == [0.0, 0.0, 3.0]


def test_only_the_side_that_wants_a_gradient_gets_one():
    for x_wants, v_wants in [(True, False), (False, True)]:
        x, v = gl.zeros(3, requires_grad=x_wants), gl.ones((), requires_grad=v_wants)
        dx, dv = ops.set_index(x, 0, v).grad_fn.pull(np.ones(3, "float32"))
        assert (dx is not None, dv is not None) == (x_wants, v_wants)


def test_a_value_that_does_not_fit_is_refused():
    x = gl.zeros(2, 3)
    with pytest.raises(ShapeError, match=r"the value doesn't fit there\n  x\[i\]  \(3,\)\n  v     \(2,\)"):
        ops.set_index(x, 0, [1.0, 2.0])


def test_where_never_shows_the_branch_not_taken():
    a, b = gl.tensor([1.0, 2.0], requires_grad=True), gl.tensor([np.nan, 5.0], requires_grad=True)
    y = gl.where([True, False], a, b)
    y.sum().backward()
    assert y.tolist() == [1.0, 5.0] and a.grad.tolist() == [1.0, 0.0] and b.grad.tolist() == [0.0, 1.0]
    da, db = gl.where([True, False], a, b).grad_fn.pull(np.float32([np.inf, np.nan]))[1:]
    assert da.tolist() == [np.inf, 0.0] and db[0] == 0.0


def test_where_broadcasts_all_three():
    c = gl.tensor([[True, False], [False, False]])
    a, b = gl.tensor([1.0, 2.0], requires_grad=True), gl.tensor([[5.0]], requires_grad=True)
    pull(gl.where(c, a, b))
    assert a.grad.tolist() == [1.0, 0.0] and b.grad.tolist() == [[9.0]]


def test_where_takes_numbers_and_widens_nothing():
    x = gl.tensor([1.0, -1.0])
    assert gl.where(x > 0, x, 0.0).dtype == gl.where(x > 0, 0, x).dtype == gl.where(x > 0, 1.0, 0.0).dtype == "float32"
    assert gl.where(x > 0, x, gl.tensor(0.0, dtype="float64")).dtype == "float32"
    assert gl.where(x > 0, 1, 0).dtype == "int64" and gl.where(x > 0, gl.tensor([1, 2]), 0.5).dtype == "float32"


def test_where_inside_where_has_an_exact_gradient():
    x = gl.tensor([4.0, 0.0, -1.0], requires_grad=True)
    safe = gl.where(x > 0, x, 1.0)
    gl.where(x > 0, safe.sqrt(), 0.0).sum().backward()
    assert x.grad.tolist() == [0.25, 0.0, 0.0]


def test_masked_fill_cuts_the_gradient_where_it_fills():
    x = gl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x.masked_fill([False, True, False], -np.inf)
    assert y.tolist() == [1.0, -np.inf, 3.0]
    (y.exp() * gl.tensor([1.0, 10.0, 2.0])).sum().backward()
    np.testing.assert_allclose(x.grad.data, [np.e, 0.0, 2 * np.e**3], rtol=1e-6)
    with pytest.raises(ShapeError, match="the mask does not fit"):
        x.masked_fill([[True], [False]], 0.0)


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (2, PlaceError, "axis 0 has no place 2\n.*\n.*\n  need: places from -2 to 1"),
        (-3, PlaceError, "axis 0 has no place -3"),
        ((slice(None), [0, 3]), PlaceError, "axis 1 has no place 3\n.*\n.*\n  need: places from -3 to 2"),
        ((0, 0, 0, 0), DimError, "more indices than axes"),
        ([True], DimError, "the mask has another shape"),
        (([0, 1], [0, 1, 2]), DimError, "the index arrays don't broadcast"),
        (1.5, PlaceError, "this is no index"),
        (np.array([0.5]), PlaceError, "this is no index"),
    ],
)
def test_a_wrong_index_is_named_when_reading_and_when_writing(index, error, text):
    x = gl.tensor(N, requires_grad=True)
    for call in (
        lambda: x[index],
        lambda: ops.set_index(x, index, 0.0),
        lambda: gl.tensor(N).__setitem__(index, 0.0),
        lambda: gl.index_put(x, index if isinstance(index, tuple) else (index,), 0.0, True),
    ):
        with pytest.raises(error, match=rf"x\[i\]: {text}") as raised:
            call()
        assert isinstance(raised.value, IndexError)


def test_index_put_replaces_or_adds_and_a_place_named_twice_gets_both():
    x, v = gl.tensor([1.0, 2.0, 3.0], requires_grad=True), gl.tensor([10.0, 20.0], requires_grad=True)
    y = gl.index_put(x, (gl.tensor([0, 0]),), v, accumulate=True)
    pull(y)
    assert y.tolist() == [31.0, 2.0, 3.0] and x.grad.tolist() == [1.0, 2.0, 3.0] and v.grad.tolist() == [1.0, 1.0]
    assert gl.index_put(x, ([0, 0],), v).tolist() == [20.0, 2.0, 3.0]
    assert gl.put(gl.tensor([[1.0, 2.0]]), [0, -1], [7.0, 8.0]).tolist() == [[7.0, 8.0]]
    with pytest.raises(PlaceError, match="put: there is no place 2"):
        gl.put(gl.tensor([[1.0, 2.0]]), [2], [7.0])


def test_places_along_an_axis_are_added_to_copied_or_filled():
    x, s = gl.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True), gl.tensor(np.ones((2, 3)), requires_grad=True)
    y = gl.index_add(x, 0, gl.tensor([0, 0]), s, alpha=2)
    pull(y)
    assert y.tolist() == [[4.0, 5.0, 6.0], [3.0, 4.0, 5.0]] and s.grad.tolist() == [[2.0, 4.0, 6.0]] * 2
    assert gl.index_copy(x, 1, [2], [[0.0], [0.0]]).tolist() == [[0.0, 1.0, 0.0], [3.0, 4.0, 0.0]]
    assert gl.index_fill(x, 1, [0, -1], gl.tensor(9.0)).tolist() == [[9.0, 1.0, 9.0], [9.0, 4.0, 9.0]]
    assert (
        gl.index_add(gl.tensor(1.0), 0, [0], gl.tensor(2.0)).item() == gl.index_copy(gl.tensor(1.0), 0, [0], gl.tensor([3.0])).item() == 3.0
    )
    with pytest.raises(ShapeError, match="index_add: the source doesn't fit"):
        gl.index_add(gl.tensor(1.0), 0, [0], gl.tensor([2.0]))
    for op in (gl.index_add, gl.index_copy):
        with pytest.raises(ShapeError, match=f"{op.__name__}: the source doesn't fit"):
            op(x, 0, [0], s)
        with pytest.raises(PlaceError, match=f"{op.__name__}: there is no place -1"):
            op(x, 0, [-1], gl.ones(1, 3))
        with pytest.raises(DTypeError, match=f"{op.__name__}: an index holds integers"):
            op(x, 0, [0.5], gl.ones(1, 3))
        with pytest.raises(ShapeError, match=f"{op.__name__}: places along one axis"):
            op(x, 0, [[0]], gl.ones(1, 3))
    for op in (gl.index_add, gl.index_copy):
        for other in ("float32", "int64"):
            with pytest.raises(DTypeError, match=f"{op.__name__}: the dtypes differ"):
                op(x, 0, [0], gl.tensor(np.ones((1, 3), other)))
    with pytest.raises(ShapeError, match="index_add: the source doesn't fit"):
        gl.index_add(gl.ones(3), 0, [0], gl.tensor(2.0))
    assert gl.index_copy(gl.ones(3), 0, [0], gl.tensor(2.0)).tolist() == [2.0, 1.0, 1.0]
    with pytest.raises(ShapeError, match="index_fill: one value"):
        gl.index_fill(x, 1, [0], gl.tensor([9.0]))


def test_masked_scatter_takes_its_values_in_order():
    x, s = gl.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True), gl.tensor(np.arange(6.0), requires_grad=True)
    y = gl.masked_scatter(x, gl.tensor([True, False, True]), s)
    pull(y)
    assert y.tolist() == [[0.0, 1.0, 1.0], [2.0, 4.0, 3.0]]
    assert x.grad.tolist() == [[0.0, 2.0, 0.0], [0.0, 5.0, 0.0]] and s.grad.tolist() == [1.0, 3.0, 4.0, 6.0, 0.0, 0.0]
    with pytest.raises(ArgumentError, match="masked_scatter: too few entries"):
        gl.masked_scatter(x, x > 1, gl.ones(2))
    with pytest.raises(DTypeError, match="masked_scatter: a mask holds truth values"):
        gl.masked_scatter(x, [1, 0, 1], s)


def test_where_alone_and_nonzero_list_places():
    x = gl.tensor([[0.0, 1.0], [2.0, 0.0]])
    assert [i.tolist() for i in gl.where(x > 0)] == [i.tolist() for i in gl.nonzero(x, as_tuple=True)] == [[0, 1], [1, 0]]
    assert gl.argwhere(x).tolist() == [[0, 1], [1, 0]] and x[gl.where(x > 0)].tolist() == [1.0, 2.0]
    assert gl.nonzero(gl.tensor(3.0)).shape == (1, 0) and gl.nonzero(gl.tensor(0.0)).shape == (0, 0)
    assert gl.where(gl.tensor(True))[0].tolist() == [0]


def test_a_condition_is_no_number():
    for f in (lambda: gl.where(gl.tensor([1.0, 0.0]), 1.0, 0.0), lambda: gl.masked_fill(gl.ones(2), gl.tensor([1, 0]), 0.0)):
        with pytest.raises(DTypeError, match="where: a condition holds truth values"):
            f()


def test_masked_fill_keeps_the_dtype_of_what_is_filled():
    assert gl.masked_fill(gl.tensor([True, False]), [False, True], 1).tolist() == [True, True]
    assert gl.masked_fill(gl.tensor([1, 2]), [True, False], 7.0).tolist() == [7, 2]
    with pytest.raises(DTypeError, match="masked_fill: integers can't hold this value"):
        gl.masked_fill(gl.tensor([1, 2]), [True, False], 0.5)


def test_many_slices_of_one_tensor_add_into_one_gradient():
    values = np.random.default_rng(0).standard_normal((6, 4))
    g = np.random.default_rng(1).standard_normal((6, 4))
    x = gl.tensor(values, requires_grad=True)
    h = x * 2.0
    parts = [h[0], h[1:3], h[::2], h.narrow(0, 4, 2), *h.unbind(0)[:3]]
    y = sum((p * gl.tensor(g[: len(p.data)] if p.ndim == 2 else g[0])).sum() for p in parts) + (h * h).sum() + h[2, 3]
    y.backward(retain_graph=True)
    want = np.zeros((6, 4))
    want[0] += g[0]
    want[1:3] += g[:2]
    want[::2] += g[:3]
    want[4:6] += g[:2]
    want[:3] += g[0]
    want[2, 3] += 1
    want = 2 * (want + 4 * values)
    np.testing.assert_allclose(x.grad.data, want)
    y.backward()
    np.testing.assert_allclose(x.grad.data, 2 * want)


def test_a_gradient_that_came_from_outside_is_not_written_by_a_slice():
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    seed = gl.tensor([1.0, 1.0])
    (x + 0.0).backward(seed)
    y = x.clone()
    z = y[:1].sum() + y.sum()
    z.backward()
    assert seed.tolist() == [1.0, 1.0] and x.grad.tolist() == [3.0, 2.0]


@pytest.mark.parametrize(
    ("index", "same"),
    [
        ((0, slice(None), [0, 1]), lambda x: x[0][:, [0, 1]]),
        (([0, 1], slice(1, None), 0), lambda x: x[:, :, 0][[0, 1], 1:]),
        ((0, ..., [2, 0]), lambda x: x[0][..., [2, 0]]),
        (([[True, False], [False, True]], None, 1), lambda x: x[:, :, 1][[[True, False], [False, True]], None]),
        ((-1, None, [0, 1]), lambda x: x[-1][None, [0, 1]]),
    ],
    ids=["slice", "number behind", "ellipsis", "mask", "None"],
)
def test_a_number_apart_from_arrays_is_taken_first(index, same):
    a = np.arange(12.0).reshape(2, 2, 3)
    x, w = gl.tensor(a, requires_grad=True), gl.tensor(a, requires_grad=True)
    y, z = x[index], same(w)
    assert y.shape == z.shape and y.tolist() == z.tolist()
    g = np.arange(float(y.numel())).reshape(y.shape)
    y.backward(g)
    z.backward(g)
    assert x.grad.tolist() == w.grad.tolist()
    v = gl.tensor(g + 1, requires_grad=True)
    changed, plain = x * 1, gl.tensor(a)
    changed[index] = v
    plain[index] = g + 1
    assert changed[index].tolist() == v.tolist() and changed.tolist() == plain.tolist()
    (changed * changed).sum().backward()
    assert v.grad.tolist() == (2 * v).tolist()
