"""Three tensors in one step."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl


def test_lerp_reaches_both_ends_exactly():
    a, b = np.float32([0.1, -1e8, 1e30]), np.float32([0.3, 3.0, -1.0])
    for w, end in ((0.0, a), (1.0, b)):
        assert gl.lerp(gl.tensor(a), gl.tensor(b), w).tolist() == end.tolist()
    x, y, w = (gl.tensor([v], requires_grad=True) for v in (1.0, 3.0, 0.75))
    z = gl.lerp(x, y, w)
    z.backward()
    assert [z.item(), x.grad.item(), y.grad.item(), w.grad.item()] == [2.5, 0.25, 0.75, 2.0]
    assert gl.lerp(gl.tensor(np.float64([0.0])), gl.tensor(np.float64([1.0])), 0.7).item() == 0.7
    assert gl.lerp(gl.tensor(np.float16([0.0])), 1.0, 0.5).dtype == "float16"


def test_scaled_products_and_quotients_are_added():
    for f, value, want, grads in [
        (gl.addcmul, 0.5, 4.0, (1.0, 1.5, 1.0)),
        (gl.addcmul, -2.0, -11.0, (1.0, -6.0, -4.0)),
        (gl.addcdiv, 1.5, 2.0, (1.0, 0.5, -1 / 3)),
    ]:
        x, a, b = (gl.tensor([v], dtype="float64", requires_grad=True) for v in (1.0, 2.0, 3.0))
        y = f(x, a, b, value=value)
        y.backward()
        np.testing.assert_allclose([y.item(), x.grad.item(), a.grad.item(), b.grad.item()], [want, *grads], rtol=1e-15)


def test_integers_stay_integers_in_products_and_become_float32_in_quotients():
    i = gl.tensor([1, 2])
    assert gl.addcmul(i, i, i, value=2).tolist() == [3, 10] and gl.addcmul(i, i, i).dtype == "int64"
    assert gl.addcmul(i, i, i, value=0.5).dtype == gl.addcdiv(i, i, i).dtype == gl.lerp(i, i, 0.5).dtype == "float32"


def test_alpha_scales_what_is_added_or_subtracted():
    a, b = gl.tensor([1.0, 2.0], requires_grad=True), gl.tensor([10.0, 20.0], requires_grad=True)
    y = gl.add(a, b, alpha=0.5) + gl.sub(a, b, alpha=2)
    assert y.tolist() == [-13.0, -26.0]
    y.sum().backward()
    assert a.grad.tolist() == [2.0, 2.0] and b.grad.tolist() == [-1.5, -1.5]
    u = gl.tensor([2], dtype="uint8")
    assert gl.sub(u, u, alpha=2).tolist() == [254] and gl.add(gl.tensor([2]), gl.tensor([3]), alpha=2).tolist() == [8]
    assert gl.add(gl.tensor([1.0]), gl.tensor([2]), alpha=0.25).tolist() == [1.5]


def test_a_fraction_of_integers_is_refused_as_alpha():
    for f in (gl.add, gl.sub):
        for a, b in [(gl.tensor([1]), gl.tensor([1])), (gl.tensor([1]), 1), (1, gl.tensor([1]))]:
            with pytest.raises(TypeError, match=r"a fraction of integers is no integer(.|\n)*alpha"):
                f(a, b, alpha=0.5)
        with pytest.raises(TypeError, match="truth values"):
            f(gl.tensor([True]), gl.tensor([True]), alpha=2)
