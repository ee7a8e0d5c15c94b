"""Changes in place: what backward needs is never changed without an error, and no tensor misses a change silently."""

from __future__ import annotations

import copy
import gc
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.errors import DTypeError, GraphError, ShapeError


def leaf(values):
    return gl.tensor(np.array(values, np.float64), requires_grad=True)


# -- memory that two tensors look at


@pytest.mark.parametrize(
    "change",
    [
        lambda buffer, w: buffer[0].__setitem__(1, w[0] * 5.0),
        lambda buffer, w: [row.__iadd__(w) for row in buffer],
        lambda buffer, w: buffer.T.__setitem__(0, w),
        lambda buffer, w: buffer.reshape(-1).copy_(gl.cat([w, w])),
        lambda buffer, w: buffer.detach().__iadd__(w),
    ],
)
def test_a_change_that_the_other_tensor_would_miss_is_refused(change):
    w, buffer = leaf([1.0, 2.0]), gl.zeros(2, 2, dtype=gl.float64)
    with pytest.raises(GraphError, match="would miss the change"):
        change(buffer, w)
    assert buffer.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_a_tensor_that_is_looked_at_can_not_be_changed_inside_the_graph():
    y = leaf([[1.0, 2.0]]) * 2.0
    row, detached = y[0], y.detach()
    with pytest.raises(GraphError, match=r"would miss the change[\s\S]*y = x\.clone\(\)"):
        y += 10.0
    assert y.tolist() == [[2.0, 4.0]] and row.tolist() == [2.0, 4.0] and detached.tolist() == [[2.0, 4.0]]


def test_once_nobody_looks_any_more_the_change_is_fine():
    y = leaf([[1.0, 2.0]]) * 2.0
    _ = y[0].tolist(), y.detach().tolist()
    y += 10.0
    assert y.tolist() == [[12.0, 14.0]]


def test_under_no_grad_a_change_through_a_view_reaches_the_parameter():
    p = nn.Parameter(np.ones((2, 2)))
    row = p[0]
    with gl.no_grad():
        row.zero_()
    assert p.tolist() == [[0.0, 0.0], [1.0, 1.0]] and p.version == 1


def test_a_change_behind_a_graph_change_is_seen():
    x, w = leaf([1.0, 2.0]), leaf([1.0, 1.0])
    y = x * 2.0
    z = (y * w).sum()
    with gl.no_grad():
        y.detach().zero_()
    with pytest.raises(GraphError, match="changed in place"):
        z.backward()


def test_a_state_that_was_filled_and_then_joins_the_graph_is_no_error():
    w = leaf([1.0, 2.0])
    h = gl.zeros(2, dtype=gl.float64)
    h.fill_(3.0)
    z = h * w
    h += w
    (z.sum() + h.sum()).backward()
    assert w.grad.tolist() == [4.0, 4.0]


def test_a_tensor_made_from_a_tensor_has_memory_of_its_own():
    t = gl.tensor([1.0, 2.0])
    for made in (gl.Tensor(t), nn.Parameter(t), gl.tensor(t)):
        t.fill_(9.0)
        assert made.tolist() != [9.0, 9.0]
        t.copy_([1.0, 2.0])
    p = leaf([0.0, 0.0])
    p.data = t
    t.zero_()
    assert p.tolist() == [1.0, 2.0]


def test_a_gradient_used_in_a_graph_counts_its_changes():
    p, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (p * p).sum().backward()
    z = (p.grad * w).sum()
    p.grad.zero_()
    with pytest.raises(GraphError, match="changed in place"):
        z.backward()
    z = (p.grad * w).sum()
    (p * p).sum().backward()  # adds into the same array
    with pytest.raises(GraphError, match="changed in place"):
        z.backward()


def test_a_shallow_copy_counts_changes_together():
    x = leaf([1.0, 2.0])
    twin, z = copy.copy(x), (x * x).sum()
    with gl.no_grad():
        twin.zero_()
    assert x.tolist() == [0.0, 0.0]
    with pytest.raises(GraphError, match="changed in place"):
        z.backward()


def test_a_ufunc_with_a_tensor_as_out_is_counted_or_refused():
    t, x = gl.tensor([1.0, 2.0]), gl.tensor([1.0, 2.0], requires_grad=True)
    z = (t * x).sum()
    assert np.multiply(t, 10.0, out=t) is t and t.tolist() == [10.0, 20.0]
    with pytest.raises(GraphError, match="changed in place"):
        z.backward()
    with pytest.raises(GraphError, match="requires a gradient"):
        np.multiply(x, 10.0, out=x)


@pytest.mark.parametrize("forward", [lambda self, a, b: a[::-1], lambda self, a, b: b, lambda self, a, b: b[:, None][:, 0]])
def test_a_users_function_that_returns_a_view_of_any_input_is_seen(forward):
    view = type("View", (gl.Function,), {"forward": forward, "backward": lambda self, g: (g, g)})
    a, b, w = gl.tensor([5.0, 5.0]), gl.tensor([5.0, 5.0]), gl.tensor([1.0, 1.0], requires_grad=True)
    out = view.apply(a, b)
    z = (out * w).sum()
    a.zero_()
    b.zero_()
    with pytest.raises(GraphError, match="changed in place"):
        z.backward()


# -- what a change does to the graph


def test_retain_grad_follows_the_tensor_through_a_change():
    x = leaf([1.0, 2.0])
    y = x * 2.0
    y.retain_grad()
    y *= 3.0
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0] and x.grad.tolist() == [6.0, 6.0]


@pytest.mark.parametrize("change", [lambda h: h.__iadd__(h.relu()), lambda h: h.__imul__(h), lambda h: h.__setitem__(0, h[1] * 1.0)])
def test_a_change_by_its_own_value_makes_no_cycle(change):
    gc.collect()
    gc.disable()
    try:
        h = leaf([1.0, 2.0]) * 1.0
        ref = weakref.ref(h)
        change(h)
        del h
        assert ref() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "change, derivative",
    [
        (lambda h: h.__iadd__(h.relu()), [2.0, 1.0]),
        (lambda h: h.__imul__(h), [6.0, -4.0]),
        (lambda h: h.__setitem__(0, h[1] * h[0]), [-2.0, 4.0]),
    ],
)
def test_a_change_by_its_own_value_has_the_right_gradient(change, derivative):
    x = leaf([3.0, -2.0])
    h = x * 1.0
    change(h)
    h.sum().backward()
    assert x.grad.tolist() == derivative


def test_a_change_keeps_the_dtype():
    h = gl.tensor([1.0], requires_grad=True) * 1.0
    h += gl.tensor([1.0], dtype=gl.float64)
    assert h.dtype == np.float32
    t = gl.tensor([1, 2])
    for change in (lambda: t.__iadd__(0.5), lambda: t.__setitem__(0, leaf(1.0)), lambda: t.__iadd__(leaf(1.0))):
        with pytest.raises(DTypeError, match="integers can't hold"):
            change()
    assert t.tolist() == [1, 2]


def test_a_value_that_does_not_fit_is_refused_before_anything_changes():
    t = gl.zeros(3)
    with pytest.raises(ShapeError, match="doesn't fit"):
        t[0:2] = [1.0, 2.0, 3.0]
    with pytest.raises(GraphError, match=r"read-only[\s\S]*clone"):
        gl.zeros(1).expand(3).fill_(1.0)
    assert t.tolist() == [0.0, 0.0, 0.0] and t.version == 0


# -- all of it against a replay without any change in place


def test_random_programs_agree_with_the_same_programs_written_out_of_place():
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        x, w = rng.standard_normal(3), rng.standard_normal(3)
        actions = rng.integers(0, 6, size=rng.integers(1, 6))
        try:
            got = _run(x, w, actions, in_place=True)
        except GraphError:
            refused += 1
            continue
        np.testing.assert_allclose(got, _run(x, w, actions, in_place=False), rtol=1e-12)
    assert refused < 100


def _run(x, w, actions, in_place):
    x, w = leaf(x), leaf(w)
    y, kept = x * 2.0, []
    for action in actions:
        if action == 0:
            kept.append((y * w).tanh())
        elif action == 1:
            kept.append(y[1:].sum())
        elif action == 2:
            kept.append(y.detach() * w)
        elif in_place and action == 3:
            y += w
        elif in_place and action == 4:
            y[1] = w[0]
        elif in_place:
            y[0] *= w[1]
        elif action == 3:
            y = y + w
        elif action == 4:
            y = gl.stack([y[0], w[0], y[2]])
        else:
            y = gl.stack([y[0] * w[1], y[1], y[2]])
    total = (y * y).sum()
    for part in kept:
        total = total + part.sum()
    total.backward()
    zero = np.zeros(3)
    return [total.item(), *(zero if x.grad is None else x.grad.data), *(zero if w.grad is None else w.grad.data)]


@pytest.mark.parametrize("value", [None, "3"], ids=["None", "text"])
def test_what_is_no_number_is_not_written(value):
    x = gl.ones(2)
    for write in (lambda: x.fill_(value), lambda: x.__setitem__(0, value)):
        with pytest.raises(DTypeError, match="this is no number"):
            write()
    assert x.tolist() == [1.0, 1.0]


def test_an_expanded_tensor_and_its_slices_are_read_only_in_a_graph_and_outside():
    for grad in (True, False):
        rows = (gl.ones(3, requires_grad=grad) * 2.0).expand(2, 3)
        row = rows[0]
        with pytest.raises(GraphError, match=r"x \*= y: the memory of x is read-only"):
            row *= 3.0
        del row
        with pytest.raises(GraphError, match=r"x \*= y: the memory of x is read-only"):
            rows *= 3.0
        assert rows.tolist() == [[2.0] * 3] * 2


def test_truth_values_are_not_subtracted_in_place_either():
    x = gl.tensor([True, False])
    with pytest.raises(DTypeError, match=r"sub: [\s\S]*a \^ b"):
        x -= True
    assert x.tolist() == [True, False]


def test_integers_of_either_sign_are_written_into_the_other():
    x = gl.tensor(np.array([1, 250], "uint8"))
    x += gl.tensor([1, 10])
    x *= gl.tensor(np.array([2, 1], "int8"))
    x //= gl.tensor([2, 1])
    assert x.dtype == np.uint8 and x.tolist() == [2, 4]
    for wrong in (lambda: x.__iadd__(0.5), lambda: (x > 0).__iadd__(1), lambda: x.__ipow__(0.5)):
        with pytest.raises(DTypeError, match="can't hold the result"):
            wrong()
