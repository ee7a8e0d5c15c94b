from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim


def by_hand(p, grads, lr=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
    """SGD as PyTorch defines it, one plain line at a time."""
    buffer = None
    for g in grads:
        g = g + weight_decay * p
        if momentum:
            buffer = g if buffer is None else momentum * buffer + (1 - dampening) * g
            g = g + momentum * buffer if nesterov else buffer
        p = p - lr * g
    return p


@pytest.mark.parametrize("options", [
    {}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.5}, {"momentum": 0.9, "nesterov": True}, {"weight_decay": 0.1},
    {"momentum": 0.9, "weight_decay": 0.1}, {"momentum": 0.8, "nesterov": True, "weight_decay": 0.1}, {"lr": 0.0},
], ids=lambda o: "-".join(o) or "plain")  # fmt: skip
def test_steps_follow_the_formula(options):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=(3, 4)), rng.normal(size=(5, 3, 4))
    p = nn.Parameter(start.copy())
    optimizer = optim.SGD([p], **{"lr": 0.1, **options})
    for g in grads:
        p.grad = g
        optimizer.step()
    assert np.allclose(p.data, by_hand(start, grads, **options), rtol=1e-12)


def test_the_first_momentum_buffer_is_the_gradient_itself_and_a_copy():
    p = nn.Parameter([1.0])
    optimizer = optim.SGD([p], lr=0.1, momentum=0.9, dampening=0.5)
    p.grad = [2.0]
    optimizer.step()
    p.grad.data[...] = 7
    assert optimizer.state[p]["momentum_buffer"].tolist() == [2]


def test_parameters_without_gradient_are_left_alone():
    a, b = nn.Parameter([1.0]), nn.Parameter([1.0])
    optimizer = optim.SGD([a, b], lr=1.0, weight_decay=0.1)
    a.grad = [0.0]
    optimizer.step()
    assert a.tolist() == pytest.approx([0.9]) and b.tolist() == [1] and b.version == 0


def test_0d_and_strided_parameters_move_in_place():
    base = np.zeros((4, 2), np.float32)
    for array in (np.zeros((), np.float32), base[::2], base.T):
        p = nn.Parameter(array)
        p.grad = np.ones_like(array)
        optim.SGD([p], lr=1.0, momentum=0.9, weight_decay=0.1).step()
        assert p.data is array and (array == -1).all()
        base[...] = 0


def test_a_replaced_array_is_the_one_that_moves():
    p = nn.Parameter([1.0])
    optimizer = optim.SGD([p], lr=1.0, momentum=0.5)
    for value, after in ((1.0, 0.0), (10.0, 8.5)):
        p.data = np.array([value], np.float32)
        p.grad = [1.0]
        optimizer.step()
        assert p.tolist() == [after]


def test_the_momentum_follows_another_dtype_and_refuses_another_shape():
    p = nn.Parameter([1.0])
    optimizer = optim.SGD([p], lr=1.0, momentum=0.5)
    p.grad = [1.0]
    optimizer.step()
    p.data = p.data.astype(np.float64)
    p.grad = [1e-9]
    optimizer.step()
    assert optimizer.state[p]["momentum_buffer"].dtype == np.float64 and p.item() == pytest.approx(-0.500000001, rel=1e-12)
    p.data, p.grad = np.ones(2), None
    p.grad = np.ones(2)
    with pytest.raises(gl.ShapeError, match="another shape than at its last step"):
        optimizer.step()


def test_nan_and_inf_are_data_not_warnings():
    p = nn.Parameter([np.inf, 1.0])
    p.grad = [np.inf, np.nan]
    optim.SGD([p], lr=0.1).step()
    assert np.isnan(p.data).all()


def test_moving_a_parameter_counts_as_a_change_that_backward_notices():
    p = nn.Parameter([2.0])
    loss = (p * p).sum()
    p.grad = [1.0]
    optim.SGD([p], lr=0.1).step()
    with pytest.raises(gl.GraphError, match="changed in place"):
        loss.backward()


@pytest.mark.parametrize(("options", "text"), [
    ({"lr": -1.0}, "lr"), ({"lr": float("nan")}, "lr"), ({"momentum": -1.0}, "momentum"), ({"weight_decay": -1.0}, "weight_decay"),
    ({"nesterov": True}, "momentum > 0"), ({"nesterov": True, "momentum": 0.9, "dampening": 0.1}, "dampening = 0"),
])  # fmt: skip
def test_options_that_make_no_sense_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        optim.SGD([nn.Parameter([1.0])], **options)


def test_the_summary_is_the_size_of_the_momentum():
    p, q = nn.Parameter([1.0, 1.0]), nn.Parameter([1.0])
    optimizer = optim.SGD([p, q], lr=0.1, momentum=0.9)
    p.grad = [3.0, -3.0]
    optimizer.step()
    assert optimizer.columns == ("momentum",)
    assert optimizer.summary(p) == {"momentum": 3.0} and np.isnan(optimizer.summary(q)["momentum"])
    plain = optim.SGD([p], lr=0.1)
    assert plain.columns == () and plain.summary(p) == {}
