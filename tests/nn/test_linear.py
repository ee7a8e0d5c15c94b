from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn


def test_linear_is_x_w_transposed_plus_b_for_any_leading_shape():
    m = nn.Linear(2, 3)
    x = gl.randn(4, 5, 2)
    assert np.allclose(m(x).data, x.data @ m.weight.data.T + m.bias.data, atol=1e-6)
    assert m(gl.ones(2)).shape == (3,)


def test_the_first_values_are_uniform_as_pytorchs_are():
    m = nn.Linear(100, 50)
    for values in (m.weight.data, m.bias.data):
        assert 0.09 < np.abs(values).max() <= 0.1 + 1e-6
    assert abs(m.weight.data.std() - 0.1 / np.sqrt(3)) < 0.002


def test_without_bias_there_is_none():
    m = nn.Linear(3, 2, bias=False)
    assert m.bias is None and [name for name, _ in m.named_parameters()] == ["weight"]
    assert repr(m) == "Linear(in_features=3, out_features=2, bias=False)"


def test_the_dtype_can_be_chosen():
    assert nn.Linear(2, 2, dtype=gl.float64)(gl.ones(1, 2, dtype=gl.float64)).dtype == np.float64


def test_a_wrong_width_is_a_shape_error_and_negative_sizes_are_refused():
    with pytest.raises(gl.ShapeError):
        nn.Linear(3, 2)(gl.ones(4, 5))
    with pytest.raises(ValueError, match="negative"):
        nn.Linear(-1, 2)


def test_a_least_squares_line_is_found():
    x = gl.linspace(-1, 1, 20).reshape(20, 1)
    y = 3 * x - 2
    m = nn.Linear(1, 1)
    for _ in range(200):
        m.zero_grad()
        nn.MSELoss()(m(x), y).backward()
        for p in m.parameters():
            p.data -= 0.3 * p.grad
    assert abs(m.weight.item() - 3) < 1e-3 and abs(m.bias.item() + 2) < 1e-3
