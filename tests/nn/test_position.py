from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn


@pytest.mark.parametrize("d", [6, 5])
def test_waves_are_the_papers(d):
    got = nn.SinusoidalPositions(d)(gl.zeros(300, d, dtype=gl.float64)).data
    for t in (0, 1, 17, 299):
        for i in range(d):
            angle = t / 10000 ** ((i - i % 2) / d)
            assert np.isclose(got[t, i], np.cos(angle) if i % 2 else np.sin(angle))


def test_waves_are_added_along_time_wherever_it_stands():
    x = gl.randn(5, 2, 4, requires_grad=True)
    y = nn.SinusoidalPositions(4)(x)
    first = nn.SinusoidalPositions(4, batch_first=True)(x.transpose(0, 1))
    assert np.array_equal(y.data, first.data.swapaxes(0, 1))
    assert np.allclose(nn.SinusoidalPositions(4)(x[:, 0]).data, y.data[:, 0])
    y.sum().backward()
    assert (x.grad.data == 1).all()


@pytest.mark.parametrize("interleaved", [True, False])
def test_a_rotary_position_is_a_turn_in_the_plane_of_complex_numbers(interleaved):
    x = gl.randn(2, 9, 6, dtype=gl.float64)
    y = nn.RotaryPositions(6, base=100.0, interleaved=interleaved)(x, offset=3).data

    def as_complex(a):
        return a[..., ::2] + 1j * a[..., 1::2] if interleaved else a[..., :3] + 1j * a[..., 3:]

    angle = np.arange(3, 12)[:, None] * 100.0 ** (-np.arange(3) / 3)
    assert np.allclose(as_complex(y), as_complex(x.data) * np.exp(1j * angle))


@pytest.mark.parametrize("interleaved", [True, False])
def test_products_of_turned_queries_and_keys_depend_on_their_distance_only(interleaved):
    turn = nn.RotaryPositions(8, interleaved=interleaved)
    q, k = gl.randn(1, 8, dtype=gl.float64), gl.randn(1, 8, dtype=gl.float64)
    products = [(turn(q, offset=t + 5) * turn(k, offset=t)).sum().item() for t in (0, 3, 1000)]
    assert np.ptp(products) < 1e-9
    assert np.isclose(np.linalg.norm(turn(q, offset=7).data), np.linalg.norm(q.data))


@pytest.mark.parametrize("positions", [nn.SinusoidalPositions(4), nn.RotaryPositions(4), nn.RotaryPositions(4, interleaved=False)], ids=str)
def test_later_steps_are_known_by_their_offset_in_every_dtype_and_on_every_device(positions):
    x = gl.randn(7, 4)
    whole, steps = positions(x), [positions(x[t : t + 1], offset=t) for t in range(7)]
    assert np.allclose(whole.data, gl.cat(steps).data)
    for dtype in (gl.float16, gl.float64):
        assert positions(x.to(dtype)).dtype == np.dtype(dtype)
    assert np.allclose(positions(x.to("sim")).cpu().data, whole.data)
    assert not positions.state_dict() and gl.autograd.gradcheck(positions, [gl.randn(2, 4, dtype=gl.float64, requires_grad=True)])


def test_attention_turns_queries_and_keys_also_step_by_step():
    m = nn.MultiheadAttention(8, 2, batch_first=True, positions=nn.RotaryPositions(4))
    x, cache = gl.randn(2, 6, 8), nn.KVCache()
    whole = m(x, x, x, is_causal=True)[0]
    steps = [m(s, s, s, is_causal=True, cache=cache)[0] for s in gl.split(x, 1, 1)]
    assert np.allclose(gl.cat(steps, 1).data, whole.data, atol=1e-6)
    m.positions = None
    assert not np.allclose(m(x, x, x, is_causal=True)[0].data, whole.data, atol=1e-3)


X = gl.zeros(3, 4)
WRONG = {
    "an odd number": (lambda: nn.RotaryPositions(5), gl.ShapeError, "an even number"),
    "a size": (lambda: nn.SinusoidalPositions(0), gl.ShapeError, "d_model +0"),
    "a base": (lambda: nn.RotaryPositions(4, base=1), ValueError, "above 1"),
    "no base": (lambda: nn.SinusoidalPositions(4, base="e"), TypeError, "no number"),
    "features": (lambda: nn.RotaryPositions(6)(X), gl.ShapeError, r"need: +\(\*, time, 6\)"),
    "no sequence": (lambda: nn.SinusoidalPositions(4)(X[0]), gl.ShapeError, r"need: +\(time, batch, 4\), or \(time, 4\)"),
    "ids": (lambda: nn.SinusoidalPositions(4)(X.long()), gl.DTypeError, "not the ids of tokens"),
    "a step before the first": (lambda: nn.RotaryPositions(4)(X, offset=-1), ValueError, "offset +-1"),
    "half a step": (lambda: nn.RotaryPositions(4)(X, offset=0.5), TypeError, "whole number"),
    "positions of memory": (
        lambda: nn.MultiheadAttention(4, 1, positions=nn.RotaryPositions(4))(X, X + 1, X),
        ValueError,
        "positions of what",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_refused(what):
    call, error, match = WRONG[what]
    with pytest.raises(error, match=match):
        call()
