"""Changes through views inside a graph: the first tensor, and all that look at its memory, see the change and its gradient."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import GraphError

VIEWS = {
    "view": lambda x: x.view(-1),
    "reshape": lambda x: x.reshape(4, 6),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(2, (2, 2)),
    "transpose": lambda x: x.transpose(0, -1),
    "mT": lambda x: x.mT,
    "permute": lambda x: x.permute(1, -1, 0),
    "movedim": lambda x: x.movedim(0, 2),
    "squeeze": lambda x: x[:1].squeeze(0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "select": lambda x: x.select(-1, 2),
    "number": lambda x: x[1],
    "slice": lambda x: x[:, ::2, None, -1:],
    "narrow": lambda x: x.narrow(-1, -3, 2),
    "chunk": lambda x: x.chunk(2)[1],
    "diagonal": lambda x: x.diagonal(1, 2, 0),
    "float": lambda x: x.double(),
    "chain": lambda x: x.permute(2, 0, 1)[1:, 0].mT.diagonal(-1),
    "long chain": lambda x: x.view(6, 4).t()[None, 1].squeeze().unflatten(0, (3, 2))[:, 1].unsqueeze(0),
}
CHANGES = {
    "mul": lambda v: v.mul_(3.0),
    "itself": lambda v: v.mul_(v),
    "entry": lambda v: v.__setitem__((0,) * v.ndim, -1.0),
    "power": lambda v: v.__ipow__(2),
    "written over": lambda v: v.fill_(0.5),
}
N = np.random.default_rng(0).standard_normal((2, 3, 4))
G = np.random.default_rng(1).standard_normal((2, 3, 4))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_change_of_a_view_is_one_of_the_tensor_and_of_its_gradient(view, change):
    x = gl.tensor(N, requires_grad=True)
    y = x * 2.0
    change(view(y))
    y.backward(gl.tensor(G))
    plain = gl.tensor(N * 2.0)
    change(view(plain))  # outside of a graph NumPy's memory does it
    np.testing.assert_array_equal(y.data, plain.data)
    step, direction = 1e-6, np.random.default_rng(2).standard_normal(N.shape)
    up, down = [gl.tensor((N + s * step * direction) * 2.0) for s in (1, -1)]
    change(view(up))
    change(view(down))
    assert (x.grad.data * direction).sum() == pytest.approx(((up - down).data * G).sum() / (2 * step), abs=1e-7)


def test_every_tensor_on_the_memory_sees_the_change_whoever_is_changed():
    for changed in range(5):
        y = gl.tensor(N, requires_grad=True) * 1.0
        flat = y.view(-1)
        views = [y, flat, y[1], y.mT, flat[12:].view(3, 4)]
        memory = [v.data.copy() for v in views]
        views[changed] += 10.0
        touched = np.zeros(N.shape)
        same = [touched, touched.reshape(-1), touched[1], touched.swapaxes(-1, -2), touched.reshape(-1)[12:].reshape(3, 4)]
        same[changed][...] = 10.0
        for v, before, more in zip(views, memory, same, strict=True):
            np.testing.assert_array_equal(v.data, before + more)
            assert v.requires_grad and np.shares_memory(v.data, y.data)
        with gl.no_grad():
            views[3].zero_()
        assert not y.data.any() and all(v.version == y.version for v in views)


def test_what_was_computed_before_the_change_keeps_its_gradient():
    x = gl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2.0
    v = y.view(3, 1)
    squares = (y * y).sum() + (v * v).sum()
    v[0] = 0.0
    (squares + y.sum()).backward()
    assert x.grad.tolist() == [16.0, 34.0, 50.0]


def test_a_value_that_is_written_through_views_gets_its_gradient():
    x, w = gl.tensor(N, requires_grad=True), gl.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = x * 1.0
    y.permute(2, 0, 1)[:, 1, 0] = w * 3.0
    y.backward(gl.tensor(G))
    np.testing.assert_allclose(w.grad.data, 3.0 * G[1, 0], rtol=1e-6)
    np.testing.assert_array_equal(x.grad.data[1, 0], 0.0)
    np.testing.assert_array_equal(x.grad.data[0], G[0])


def test_the_layout_in_memory_stays_so_that_views_stay_views():
    y = gl.tensor(N[0].T.copy(), requires_grad=True).t() * 1.0
    assert not y.is_contiguous()
    flat = y.t().view(-1)
    y *= gl.tensor(np.ones((3, 4)))
    y[...] = gl.tensor(N[0]) * 2.0
    assert np.shares_memory(flat.data, y.data) and flat.tolist() == (N[0].T * 2.0).ravel().tolist()
    flat.mul_(0.0)
    assert not y.data.any()


def test_retain_grad_follows_a_view_through_a_change():
    x = gl.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1.0
    v = y.view(2, 1)
    for t in (y, v):
        t.retain_grad()
    v.mul_(3.0)
    (v * gl.tensor([[5.0], [7.0]])).sum().backward()
    assert v.grad.tolist() == [[5.0], [7.0]] and y.grad.tolist() == [5.0, 7.0] and x.grad.tolist() == [15.0, 21.0]


def test_a_change_through_a_view_works_on_a_device():
    for view in VIEWS.values():
        results = []
        for device in ("cpu", "sim"):
            x = gl.tensor(N, requires_grad=True, device=device)
            y = x * 2.0
            flat = y.view(-1)
            view(y).mul_(view(y).sum())
            (y * y).sum().backward()
            results.append([t.detach().cpu().data for t in (y, flat, x.grad)])
        for a, b in zip(*results, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("change", [*CHANGES.values(), lambda v: v.add_(v.sum())], ids=[*CHANGES, "its sum"])
def test_a_change_through_a_view_makes_no_cycle(change):
    gc.collect()
    gc.disable()
    try:
        y = gl.tensor(N, requires_grad=True) * 1.0
        v = y.view(6, 4)
        row = v[1]
        for t in (row, v, y):
            change(t)
        gone = [weakref.ref(t) for t in (y, v, row)]
        del y, v, row, t
        assert [ref() for ref in gone] == [None] * 3
    finally:
        gc.enable()


def test_a_second_derivative_passes_through_a_changed_view():
    x = gl.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2.0
    y.view(3, 1)[1:] *= 3.0
    (g,) = gl.autograd.grad((y * y * y).sum(), x, create_graph=True)
    (second,) = gl.autograd.grad(g.sum(), x)
    assert g.tolist() == [24.0, 2592.0, 5832.0] and second.tolist() == [48.0, 2592.0, 3888.0]


class Backwards(gl.Function):
    """A user's own step that answers with a view."""

    def forward(self, x):
        return x[::-1]

    def backward(self, g):
        return g[::-1]


@pytest.mark.parametrize(
    "other", [lambda y: y.detach(), gl.no_grad()(lambda y: y.view(-1)), Backwards.apply], ids=["detach", "no_grad", "a user's step"]
)
def test_where_the_way_back_is_unknown_the_change_is_refused(other):
    y = gl.tensor(N, requires_grad=True) * 1.0
    unknown, v = other(y), y.view(-1)
    with pytest.raises(GraphError, match=r"would miss the change[\s\S]*y = x\.clone\(\)"):
        v[0] = 0.0
    assert y.data[0, 0, 0] == N[0, 0, 0] and unknown.size() and y.version == 0


def test_a_view_of_a_leaf_and_one_through_an_expanded_tensor_are_refused():
    x = gl.tensor(N, requires_grad=True)
    with pytest.raises(GraphError, match="a leaf that requires a gradient"):
        x.view(-1).mul_(2.0)
    with pytest.raises(GraphError, match="read-only"):
        (x * 1.0).expand(2, 2, 3, 4)[0].view(-1)[1:].mul_(2.0)
    y = x * 1.0
    wide = y[:, :1].expand(2, 3, 4)
    y += 1.0  # what is expanded may change, and the repeated values with it
    np.testing.assert_array_equal(wide.data, np.broadcast_to(N[:, :1] + 1.0, (2, 3, 4)))


class Program:
    """Views of views of a result, changes through them and uses in between, drawn at random on NumPy's memory."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        memory = np.zeros(rng.choice([1, 2, 3, 4], size=rng.integers(1, 4)))
        self.arrays, self.actions = [memory], []
        self.x, self.w = rng.standard_normal(memory.shape), np.array(rng.standard_normal())
        for _ in range(rng.integers(3, 10)):
            i, kind = int(rng.integers(0, len(self.arrays))), rng.random()
            if kind < 0.5:
                step = self.view(self.arrays[i])
                y = step(gl.from_numpy(self.arrays[i]))
                if np.shares_memory(y.data, memory):
                    self.arrays.append(y.data)
                    self.actions.append(("view", i, step))
            else:
                self.actions.append(("use" if kind < 0.6 else "change", i, self.change(self.arrays[i].shape)))

    def view(self, x):
        """A step that looks at a tensor as this."""
        rng, n, i = self.rng, x.ndim, int(self.rng.integers(0, max(x.ndim, 1)))
        kinds = [lambda t: t.reshape(-1), lambda t: t.unsqueeze(i), lambda t: t.squeeze()]
        if n:
            j, part = int(rng.integers(-x.shape[i], x.shape[i])), slice(int(rng.integers(0, x.shape[i])), None, int(rng.integers(1, 3)))
            kinds += [lambda t: t.select(i, j), lambda t: t[(*(slice(None),) * i, part)], lambda t: t.transpose(i, -1)]
            order = tuple(rng.permutation(n).tolist())
            kinds += [lambda t: t.permute(order), lambda t: t.movedim(i, 0), lambda t: t.narrow(i, x.shape[i] // 2, 1)]
        if n > 1:
            kinds += [lambda t: t.diagonal(0, i, i - 1)] * 2 + [lambda t: t.flatten(0, 1)]
        return kinds[rng.integers(0, len(kinds))]

    def change(self, shape):
        """What a tensor of this shape becomes, by itself and a number `w` of the program."""
        numbers = self.rng.standard_normal(shape)
        kinds = [lambda t, w: t * w, lambda t, w: t + w.new_tensor(numbers), lambda t, w: t * t, lambda t, w: w.new_tensor(numbers) * w]
        kinds += [lambda t, w: t.clamp(-1.0, 1.0)]
        return kinds[self.rng.integers(0, len(kinds))]

    def run(self, library, in_place):
        """The numbers of every tensor at the end, and the gradients; without a change in place, all are made anew at each change."""
        x, w = library.tensor(self.x, requires_grad=True), library.tensor(self.w, requires_grad=True)
        first = x * 2.0
        tensors, views, loss = [first], [], w * 0.0 + x.sum() * 0.0
        for action, i, step in self.actions:
            if action == "view":
                views.append((i, step))
                tensors.append(step(tensors[i]))
            elif action == "use":
                loss = loss + step(tensors[i].clone(), w).sum()
            elif in_place:
                tensors[i].copy_(step(tensors[i].clone(), w))
            else:
                first = self.written(tensors, views, i, step(tensors[i], w))
                tensors = [first]
                for source, view in views:
                    tensors.append(view(tensors[source]))
        for i, t in enumerate(tensors):
            weights = library.tensor(np.cos(i + np.arange(1.0, t.numel() + 1)))
            loss = loss + (t.reshape(-1) * weights).sum()
        loss.backward()
        return [np.asarray(t.detach()) for t in (*tensors, loss, x.grad, w.grad)]

    @staticmethod
    def written(tensors, views, i, value):
        """The first tensor with the entries that tensor `i` looks at replaced, which are found by looking at their numbers so."""
        n, shape = tensors[0].numel(), tensors[0].shape
        places = [gl.tensor(np.arange(n).reshape(shape))]
        for source, view in views:
            places.append(view(places[source]))
        at, flat, entries = places[i].data.ravel().tolist(), tensors[0].reshape(-1), value.reshape(-1)
        return gl.stack([entries[at.index(k)] if k in at else flat[k] for k in range(n)]).reshape(shape)


PROGRAMS = [Program(seed) for seed in range(100)]


def test_random_changes_through_views_agree_with_the_same_programs_written_out_of_place():
    for i, program in enumerate(PROGRAMS):
        for a, b in zip(program.run(gl, True), program.run(gl, False), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=f"program {i}")


@pytest.mark.torch
def test_pytorch_computes_the_same_for_random_changes_through_views():
    torch = pytest.importorskip("torch")
    for i, program in enumerate(PROGRAMS):
        for a, b in zip(program.run(gl, True), program.run(torch, True), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=f"program {i}")
