from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn


def test_survivors_are_scaled_and_the_gradient_has_the_same_mask():
    x = gl.ones(4000, requires_grad=True)
    y = nn.Dropout(0.25)(x)
    assert set(np.unique(y.data.round(5))) == {np.float32(0), np.float32(1.33333)}
    assert abs((y.data == 0).mean() - 0.25) < 0.03
    y.sum().backward()
    assert np.array_equal(x.grad.data, y.data)


def test_eval_reaches_a_dropout_inside_and_makes_it_the_identity():
    model = nn.Sequential(nn.Sequential(nn.Dropout(0.9))).eval()
    assert model(gl.ones(50)).tolist() == [1] * 50


def test_the_probability_is_checked_and_printed():
    assert repr(nn.Dropout(0.5)) == "Dropout(p=0.5, inplace=False)"
    for p in (1.5, -0.1, float("nan")):
        with pytest.raises(ValueError, match="probability"):
            nn.Dropout(p)
