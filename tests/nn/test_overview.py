from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, observe
from gradlab.nn import summary
from gradlab.trace import recording


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(4 * 4 * 4, 10)
        self.unused = nn.Linear(3, 3)
        self.twice = nn.Dropout(0.9)

    def forward(self, x):
        h = self.twice(self.body(x)).flatten(1)
        return self.twice(self.head(h)), h.shape


def test_the_table_has_shapes_parameters_and_operations_of_every_layer():
    table = summary(Net(), gl.zeros(2, 1, 8, 8))
    rows = {layer.path: layer for layer in table.layers}
    assert list(rows) == ["", "body", "body.0", "body.1", "body.2", "body.3", "head", "unused", "twice"]
    assert rows["body.0"].shapes == [(2, 4, 8, 8)] and rows["body.0"].parameters == 40
    assert rows["body.0"].flops == 2 * 4 * 64 * (2 * 9 + 1) and rows["head"].flops == 2 * 10 * (2 * 64 + 1)
    assert rows["body"].parameters == 48 and table.parameters == 48 + 650 + 12
    assert rows["body"].flops == sum(rows[f"body.{i}"].flops for i in range(4))
    assert rows[""].shapes == [(2, 10)] and rows["twice"].calls == 2
    lines = repr(table).splitlines()
    assert [line.split() for line in lines if "unused" in line] == [["unused:", "Linear", "not", "called", "12"]]
    assert all(layer.whole for layer in table.layers) and table.flops > rows["body.0"].flops
    assert lines[-1] == "710 parameters, 0.00 MB"


def test_operations_are_those_that_the_tracer_counts():
    net, x = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Softmax(1)).eval(), gl.randn(3, 4)
    with recording() as r:
        net(x)
    assert summary(net, x).flops == sum(c.forward for c in r.costs())


def test_nothing_of_the_model_changes():
    net = Net()
    net.body[2].eval()
    before, modes = net.state_dict(), [m.training for m in net.modules()]
    gl.manual_seed(3)
    state = gl.get_rng_state()
    summary(net, gl.randn(2, 1, 8, 8))
    assert [m.training for m in net.modules()] == modes and observe.current is None
    assert all(np.array_equal(before[k].data, v.data) for k, v in net.state_dict().items())
    assert state is not None and net.body[0].weight.grad is None


def test_a_shape_stands_for_zeros_of_the_parameters_dtype_and_place():
    net = nn.Linear(4, 2).double().to("sim")
    assert summary(net, (3, 4)).layers[0].shapes == [(3, 2)]
    assert summary(nn.Embedding(5, 2), gl.tensor([[1, 2]])).layers[0].shapes == [(1, 2, 2)]


def test_frozen_and_shared_parameters_are_told():
    layer = nn.Linear(2, 2, bias=False)
    net = nn.Sequential(layer, layer, nn.Linear(2, 1, bias=False).requires_grad_(False))
    table = summary(net, (1, 2))
    assert table.parameters == 6 and table.layers[0].trainable == 4 and table.layers[1].calls == 2
    assert repr(table).endswith("6 parameters, 2 of them frozen, 0.00 MB")


def test_ops_without_a_formula_are_left_out_and_marked():
    class Odd(nn.Module):
        def forward(self, x):
            return gl.linalg.inv(x) @ x

    table = summary(Odd(), gl.tensor(np.eye(3, dtype="float32")))
    assert not table.layers[0].whole and ">= " in repr(table) and table.flops >= 54


def test_an_error_in_the_model_reaches_the_caller_and_leaves_nothing_behind():
    net = Net()
    with pytest.raises(gl.GradlabError):
        summary(net, gl.zeros(2, 3, 8, 8))
    assert observe.current is None and net.training
    with pytest.raises(gl.errors.KeywordError, match="this is no module"):
        summary(lambda x: x, (1, 2))
