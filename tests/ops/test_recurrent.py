"""rnn, gru, lstm and their cells: the order of the gates, states before and after, sequences as steps, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl

GATES = {"lstm": 4, "gru": 3, "rnn": 1}


def draw(*shape, seed):
    return gl.tensor(np.random.default_rng(seed).standard_normal(shape), requires_grad=True)


def parameters(kind, features=3, hidden=2):
    n = GATES[kind] * hidden
    return [draw(n, features, seed=1), draw(n, hidden, seed=2), draw(n, seed=3), draw(n, seed=4)]


def whole(kind, x, h, c, w, nonlinearity="tanh"):
    if kind == "lstm":
        return gl.lstm(x, (h, c), *w).h
    return gl.gru(x, h, *w) if kind == "gru" else gl.rnn(x, h, *w, nonlinearity=nonlinearity)


def stepwise(kind, x, h, c, w, nonlinearity="tanh"):
    hs = []
    for t in range(x.shape[0]):
        if kind == "lstm":
            h, c = gl.lstm_cell(x[t], (h, c), *w)
        elif kind == "gru":
            h = gl.gru_cell(x[t], h, *w)
        else:
            h = (gl.rnn_relu_cell if nonlinearity == "relu" else gl.rnn_tanh_cell)(x[t], h, *w)
        hs.append(h)
    return gl.stack(hs)


def test_the_gates_of_lstm_are_input_forget_candidate_output():
    w = [gl.tensor(np.array(v), requires_grad=True) for v in ([[0.1], [0.2], [0.3], [0.4]], [[0.5], [0.6], [0.7], [0.8]])]
    b = [gl.tensor(np.array(v), requires_grad=True) for v in ([0.01, 0.02, 0.03, 0.04], [0.1, 0.2, 0.3, 0.4])]
    x, zero = gl.tensor(np.array([[[1.0]], [[-2.0]], [[3.0]]]), requires_grad=True), gl.zeros(1, 1, dtype=gl.float64)
    h, c = gl.lstm(x, (zero, zero), *w, *b)
    np.testing.assert_allclose(h.data.ravel(), [0.20871108103373237, 0.039579111525007794, 0.4379020758679111])
    np.testing.assert_allclose(c[-1].item(), 0.5766123531411107)
    h.sum().backward()
    np.testing.assert_allclose(x.grad.data.ravel(), [0.2077028048116089, 0.16599607759617344, 0.07333332778958065], rtol=1e-6)
    dhh = [-0.0012774276657997212, 0.015971499226474145, 0.10405716900020587, 0.00815995245690957]
    np.testing.assert_allclose(w[1].grad.data.ravel(), dhh, rtol=1e-6)
    np.testing.assert_allclose(b[0].grad.data, [0.281385022198879, 0.08571264408480798, 1.0959002901647612, 0.1824527302777128])
    np.testing.assert_array_equal(b[0].grad.data, b[1].grad.data)
    assert not np.shares_memory(b[0].grad.data, b[1].grad.data)
    half, minus = gl.tensor(np.array([[0.5]])), gl.tensor(np.array([[-1.0]]))
    h, c = gl.lstm_cell(gl.tensor(np.array([[1.0]])), (half, minus), *w, *b)
    np.testing.assert_allclose([h.item(), c.item()], [-0.16123342763249868, -0.21096694181552877])


def test_the_gates_of_gru_are_reset_update_candidate():
    # z near 1 keeps the state; r near 0 takes the state out of the candidate.
    x, h = gl.zeros(1, 1), gl.tensor([[0.5]])
    zero, b = gl.zeros(3, 1), gl.tensor([0.0, 50.0, 3.0])
    assert gl.gru_cell(x, h, zero, zero, b, gl.zeros(3)).item() == 0.5
    b = gl.tensor([-50.0, -50.0, 0.0])
    assert gl.gru_cell(x, h, zero, gl.tensor([[0.0], [0.0], [9.0]]), b, gl.zeros(3)).item() == 0.0
    b = gl.tensor([50.0, -50.0, 0.0])
    assert gl.gru_cell(x, h, zero, gl.tensor([[0.0], [0.0], [9.0]]), b, gl.zeros(3)).item() == pytest.approx(np.tanh(4.5))


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("biases", [True, False])
def test_a_sequence_is_its_steps(kind, biases):
    results = []
    for run in (whole, stepwise):
        x, h, c = draw(4, 3, 3, seed=5), draw(3, 2, seed=6), draw(3, 2, seed=7)
        w = parameters(kind)[: 4 if biases else 2]
        y = run(kind, x, h, c, w)
        (y * draw(4, 3, 2, seed=8).detach()).sum().backward()
        results.append([y.data, *[p.grad.data for p in (x, h, *([c] if kind == "lstm" else []), *w)]])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_relu_is_the_other_nonlinearity():
    w, x, h = parameters("rnn"), draw(4, 3, 3, seed=5), draw(3, 2, seed=6)
    y = whole("rnn", x, h, None, w, "relu")
    np.testing.assert_allclose(y.data, stepwise("rnn", x, h, None, w, "relu").data)
    assert (y.data >= 0).all() and (y.data > 1).any()
    with pytest.raises(ValueError, match=r"rnn: which nonlinearity\?"):
        gl.rnn(x, h, *w, nonlinearity="gelu")


@pytest.mark.parametrize("kind", GATES)
def test_no_steps_leave_the_state(kind):
    h, c, w = draw(3, 2, seed=6), draw(3, 2, seed=7), parameters(kind)
    assert whole(kind, gl.zeros(0, 3, 3, dtype=gl.float64), h, c, w).shape == (0, 3, 2)


@pytest.mark.parametrize("kind", GATES)
def test_what_a_shorter_sequence_ends_with_does_not_depend_on_padding(kind):
    x, h, c, w = draw(5, 2, 3, seed=5), draw(2, 2, seed=6), draw(2, 2, seed=7), parameters(kind)
    lengths = [2, 5]
    ends = whole(kind, x, h, c, w)[[n - 1 for n in lengths], [0, 1]]
    ends.sum().backward()
    assert not x.grad.data[2:, 0].any() and x.grad.data[:, 1].all()
    np.testing.assert_allclose(ends.data[0], whole(kind, x[:2, :1], h[:1], c[:1], w).data[-1, 0])


@pytest.mark.parametrize("kind", GATES)
def test_one_bias_may_stand_alone(kind):
    x, h, c, w = draw(2, 3, 3, seed=5), draw(3, 2, seed=6), draw(3, 2, seed=7), parameters(kind)
    zero = gl.zeros(*w[2].shape, dtype=gl.float64)
    for i, given in ((2, [None, w[3]]), (3, [w[2], None])):
        y = whole(kind, x, h, c, [*w[:2], *given])
        w[i] = zero
        np.testing.assert_allclose(y.data, whole(kind, x, h, c, w).data)
        w = parameters(kind)


@pytest.mark.parametrize("kind", GATES)
def test_large_sums_saturate_without_a_warning(kind):
    w = [gl.ones(GATES[kind], 1) * 1e4, gl.zeros(GATES[kind], 1)]
    for sign in (1.0, -1.0):
        assert abs(whole(kind, gl.ones(1, 1, 1) * sign, gl.zeros(1, 1), gl.zeros(1, 1), w).item()) <= 1


@pytest.mark.parametrize("kind", GATES)
def test_float16_is_computed_in_float32(kind):
    half = [
        gl.tensor(p.data.astype("float16"), requires_grad=True)
        for p in (draw(6, 3, 3, seed=5), draw(3, 2, seed=6), draw(3, 2, seed=7), *parameters(kind))
    ]
    single = [gl.tensor(p.data.astype("float32")) for p in half]
    y = whole(kind, *half[:3], half[3:])
    assert y.dtype == "float16"
    np.testing.assert_array_equal(y.data, whole(kind, *single[:3], single[3:]).data.astype("float16"))
    y.sum().backward()
    assert all(p.grad.dtype == "float16" for p in [*half[:2], *half[3:]])


@pytest.mark.parametrize("kind", GATES)
def test_what_is_no_layer_is_refused(kind):
    x, h, c, w = gl.ones(2, 3, 3, dtype=gl.float64), draw(3, 2, seed=6), draw(3, 2, seed=7), parameters(kind)
    for args in (
        (x[0], h, c, w),
        (x, h[0], c, w),
        (x, draw(4, 2, seed=1), draw(4, 2, seed=1), w),
        (x, h, c, [w[0].T, *w[1:]]),
        (x, h, c, [w[0], w[1][:, :1], *w[2:]]),
        (x, h, c, [*w[:2], w[2], w[3][:-1]]),
    ):
        with pytest.raises(ValueError, match=rf"{kind}: the shapes don't go together\n  input"):
            whole(kind, *args)
        if args[0].ndim == 3:
            with pytest.raises(ValueError, match=rf"{kind}(_tanh)?_cell: the shapes don't go together"):
                stepwise(kind, *args)
    with pytest.raises(TypeError, match=f"{kind}: the dtypes differ"):
        whole(kind, x.float(), h, c, w)
    with pytest.raises(TypeError, match=f"{kind}: takes floating numbers"):
        whole(kind, x.long(), h, c, w)
