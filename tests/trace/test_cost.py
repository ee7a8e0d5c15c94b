"""FLOPs and bytes against counts by hand, and products against PyTorch's counter."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.nn import functional as F
from gradlab.trace import recording


def cost_of(make, *shapes, grad=True):
    """The costs of the ops that `make` runs on tensors of these shapes."""
    with recording() as r:
        make(*[gl.randn(*shape, requires_grad=grad) for shape in shapes])
    return r.costs()


@pytest.mark.parametrize(
    "make, shapes, forward, backward",
    [
        (lambda a, b: a @ b, [(32, 64), (64, 10)], 2 * 32 * 64 * 10, 2 * 2 * 32 * 64 * 10),
        (lambda a, b: a @ b, [(7, 32, 64), (64, 10)], 7 * 2 * 32 * 64 * 10, 2 * 7 * 2 * 32 * 64 * 10),
        (lambda a, b: a @ b, [(64,), (64,)], 2 * 64, 2 * 2 * 64),
        # 32 rows of 10 dot products of 64, and a bias on each; its gradient sums 32 rows into one
        (F.linear, [(32, 64), (10, 64), (10,)], 2 * 32 * 64 * 10 + 320, 2 * 2 * 32 * 64 * 10 + 31 * 10),
        # 5 x 5 output places, 4 channels of them, each 3 x 2 x 3 x 3 = 18 products
        (F.conv2d, [(3, 2, 7, 7), (4, 2, 3, 3)], 3 * 25 * 4 * 18 * 2, 2 * 3 * 25 * 4 * 18 * 2),
        (F.conv2d, [(3, 2, 7, 7), (4, 2, 3, 3), (4,)], 3 * 25 * 4 * (36 + 1), 2 * 3 * 25 * 4 * 36 + 3 * 25 * 4 - 4),
        # every input entry meets 4 channels of 3 x 3 weights
        (F.conv_transpose2d, [(3, 2, 7, 7), (2, 4, 3, 3)], 3 * 2 * 49 * 4 * 9 * 2, 2 * 3 * 2 * 49 * 4 * 9 * 2),
        (lambda a, b: a + b, [(5, 4), (4,)], 20, 16),  # 4 sums of 5: 4 additions each
        (lambda a, b: a * b, [(5, 4), (5, 4)], 20, 40),
        (lambda x: x.sum(), [(5, 4)], 19, 0),
        (lambda x: x.sum(0), [(5, 4)], 16, 0),
        (lambda x: x.mean(), [(5, 4)], 20, 1),  # 19 additions and a quotient; one quotient back
        (lambda x: x.reshape(4, 5), [(5, 4)], 0, 0),
        (gl.tanh, [(5, 4)], 20, 60),  # g (1 - y y)
        (gl.sigmoid, [(5, 4)], 80, 60),  # 1 / (1 + exp(-x)); g y (1 - y)
        (lambda x: gl.softmax(x, 1), [(5, 4)], 100, 80),
    ],
)
def test_operations_are_those_counted_by_hand(make, shapes, forward, backward):
    (cost,) = cost_of(make, *shapes)
    assert (cost.forward, cost.backward) == (forward, backward)


def test_what_wants_no_gradient_costs_nothing_backward():
    x, w = gl.randn(32, 64), gl.randn(64, 10, requires_grad=True)
    with recording() as r:
        x @ w
        x @ x.T
    assert [(c.forward, c.backward) for c in r.costs()] == [(40_960, 40_960), (0, 0), (131_072, 0)]


def test_bytes_are_those_of_inputs_output_and_what_the_rule_reads():
    (cost,) = cost_of(lambda a, b: a @ b, (32, 64), (64, 10))
    inputs, out = 4 * (32 * 64 + 64 * 10), 4 * 32 * 10
    assert cost.moved_bytes == inputs + out
    assert cost.moved_back_bytes == out + inputs + inputs  # g, both operands, both gradients
    (view,) = cost_of(lambda x: x.reshape(-1), (32, 64))
    assert view.moved_bytes == 0


def test_an_op_without_a_formula_says_so():
    (cost,) = cost_of(lambda a, b: gl.einsum("ij,jk->ik", a, b), (3, 4), (4, 5))
    assert cost.forward is None and cost.moved_bytes == 4 * (12 + 20 + 15)


def test_recurrent_layers_count_every_step():
    time, batch, features, hidden = 5, 3, 4, 6
    layer = nn.functional
    x, h, c = gl.randn(time, batch, features), gl.zeros(batch, hidden), gl.zeros(batch, hidden)
    w, u = gl.randn(4 * hidden, features), gl.randn(4 * hidden, hidden)
    with recording() as r:
        layer.lstm_cell(x[0], (h, c), w, u) if hasattr(layer, "lstm_cell") else gl.lstm_cell(x[0], (h, c), w, u)
    cost = next(c for c, op in zip(r.costs(), r.structure()["ops"], strict=True) if op["function"] == "LSTMCell")
    # four gates from x and from h; their sum; 13 operations for c and h
    assert cost.forward == batch * (2 * 4 * hidden * (features + hidden) + 4 * hidden + 13 * hidden)


@pytest.mark.torch
@pytest.mark.parametrize(
    "name, shapes, options",
    [
        ("linear", [(32, 64), (10, 64)], {}),
        ("conv2d", [(4, 3, 12, 12), (8, 3, 3, 3)], {"padding": 1}),
        ("conv2d", [(4, 4, 13, 13), (8, 2, 3, 3)], {"stride": 2, "groups": 2}),
        ("conv_transpose2d", [(4, 3, 6, 6), (3, 8, 3, 3)], {"stride": 2}),
    ],
)
def test_products_cost_what_the_counter_of_pytorch_says(name, shapes, options):
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    (mine,) = cost_of(lambda *xs: getattr(F, name)(*xs, **options), *shapes)
    xs = [torch.randn(*shape, requires_grad=True) for shape in shapes]
    with FlopCounterMode(display=False) as counted:
        y = getattr(torch.nn.functional, name)(*xs, **options)
    assert mine.forward == counted.get_total_flops()
    with FlopCounterMode(display=False) as counted:
        y.sum().backward()
    if "groups" not in options:  # there PyTorch's counter takes the weight's gradient for that of a full convolution
        assert mine.backward == counted.get_total_flops()


def test_a_step_of_a_net_is_the_sum_of_its_ops():
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    with recording() as r:
        model(gl.tensor(np.zeros((32, 64), np.float32)))
    assert sum(c.forward for c in r.costs()) == 2 * 32 * 64 * 128 + 32 * 128 + 32 * 128 + 2 * 32 * 128 * 10 + 320


def test_of_a_users_own_op_nothing_is_claimed():
    class MatMul(gl.function.Function):
        def forward(self, x):
            return x

        def backward(self, g):
            return g

    (cost,) = cost_of(lambda x: MatMul.apply(x), (3, 4))
    assert cost.forward is None and cost.moved_bytes == 2 * 48
