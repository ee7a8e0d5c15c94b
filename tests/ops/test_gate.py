"""Sigmoids and gates: tails, thresholds, halves."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.ops import GELU, SiLU

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("f", "x", "y", "dx"),
    [
        (
            gl.sigmoid,
            [-INF, -2.0, 0.0, 2.0, INF],
            [0.0, 0.11920292202211755, 0.5, 0.8807970779778823, 1.0],
            [0.0, 0.1049935854035065, 0.25, 0.10499358540350662, 0.0],
        ),
        (
            gl.silu,
            [-2.0, 0.0, 0.5, 2.0, 100.0],
            [-0.2384058440442351, 0.0, 0.3112296656009273, 1.7615941559557646, 100.0],
            [-0.09078424878489547, 0.5, 0.7399611873026519, 1.0907842487848955, 1.0],
        ),
        (
            gl.mish,
            [-2.0, 0.0, 0.5, 2.0, 100.0],
            [-0.2525014826957089, 0.0, 0.3752452113048951, 1.9439589595339946, 100.0],
            [-0.1083550924203939, 0.6, 0.8864243753577272, 1.0693179342794896, 1.0],
        ),
        (gl.softsign, [-2.0, 0.0, 3.0], [-0.6666666666666666, 0.0, 0.75], [0.1111111111111111, 1.0, 0.0625]),
        (
            gl.logsigmoid,
            [-100.0, -2.0, 0.0, 2.0],
            [-100.0, -2.1269280110429727, -0.6931471805599453, -0.1269280110429725],
            [1.0, 0.8807970779778824, 0.5, 0.11920292202211755],
        ),
        (
            gl.softplus,
            [-2.0, 0.0, 19.0, 20.5],
            [0.1269280110429725, 0.6931471805599453, 19.000000005602796, 20.5],
            [0.11920292202211755, 0.5, 0.9999999943972036, 1.0],
        ),
        (
            lambda x: gl.softplus(x, 2.0, 5.0),
            [-2.0, 2.0, 2.5, 3.0],
            [0.009074963958904869, 2.0090749639589047, 2.503357674244559, 3.0],
            [0.017986209962091555, 0.9820137900379085, 0.9933071490757152, 1.0],
        ),
        (
            gl.logit,
            [0.0, 0.25, 0.5, 1.0, 1.5, -0.5],
            [-INF, -1.0986122886681098, 0.0, INF, NAN, NAN],
            [INF, 5.333333333333333, 4.0, INF, NAN, NAN],
        ),
        (
            lambda x: gl.logit(x, 0.125),
            [0.0, 0.125, 0.5, 0.875, 1.5],
            [-1.9459101490553135, -1.9459101490553135, 0.0, 1.9459101490553132, 1.9459101490553132],
            [0.0, 9.142857142857142, 4.0, 9.142857142857142, 0.0],
        ),
    ],
)
def test_values_and_slopes_are_those_of_pytorch(f, x, y, dx):
    t = gl.tensor(np.array(x), requires_grad=True)
    out = f(t)
    np.testing.assert_allclose(out.data, y, rtol=1e-12, atol=1e-300)
    out.backward(gl.ones_like(out))
    np.testing.assert_allclose(t.grad.data, dx, rtol=1e-12, atol=1e-300)


def test_glu_gates_the_first_half_by_the_second_along_any_axis():
    x = np.arange(24.0).reshape(2, 4, 3) / 10
    want = x[:, :2] / (1 + np.exp(-x[:, 2:]))
    for dim in (1, -2):
        np.testing.assert_allclose(gl.glu(gl.tensor(x), dim).data, want)
    with pytest.raises(ValueError, match="glu: an axis of odd size has no halves"):
        gl.glu(gl.tensor(x))
    for shape, dim in [((2, 4), 2), ((), -1)]:
        with pytest.raises(IndexError, match="glu: there is no axis"):
            gl.glu(gl.ones(*shape), dim)


@pytest.mark.parametrize("op", [SiLU, GELU])
def test_a_gate_over_several_blocks_equals_its_formula(op):
    rng = np.random.default_rng(1)
    x = np.asfortranarray(rng.uniform(-6, 6, (301, 250)))  # more than two blocks, and not in C order
    t = gl.tensor(x, requires_grad=True)
    y = op.apply(t)
    np.testing.assert_allclose(y.data, op.reference(x), rtol=1e-10, atol=1e-12)
    g = rng.standard_normal(x.shape)
    (dx,) = y.grad_fn.pull(g)
    np.testing.assert_allclose(dx, g * (op.reference(x + 1e-6) - op.reference(x - 1e-6)) / 2e-6, rtol=1e-5, atol=1e-8)


def test_sigmoid_of_float16_is_rounded_once():
    x = np.float16([6.0, -7.5, 0.3])
    np.testing.assert_array_equal(gl.sigmoid(gl.tensor(x)).data, (1 / (1 + np.exp(-x.astype("float64")))).astype("float16"))
