"""Dtypes: float16 adds up in float32, products take one dtype, joins widen as sums do, booleans widen nothing."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import DTypeError

N = 4096  # in float16, 2048 + 1 is 2048


def half(shape, value=1.0, **kw):
    return gl.tensor(np.full(shape, value, "float16"), **kw)


def filled(shape, value=1.0):
    return half(shape, value, requires_grad=True)


@pytest.mark.parametrize(
    ("op", "want"),
    [
        (lambda x: x.sum(), N),
        (lambda x: x.sum(0, keepdim=True), N),
        (lambda x: x.mean(), 1),
        (lambda x: x.norm(), 64),
        (lambda x: x.norm(1.0), N),
        (lambda x: x.norm(dim=0), 64),
        (lambda x: x.logsumexp(0).exp(), N * np.e),
        (lambda x: x.var(), 0),
        (lambda x: gl.mse_loss(x, half(N, 3.0)), 4),
        (lambda x: gl.mse_loss(x, half(N, 2.0), reduction="sum"), N),
        (lambda x: gl.binary_cross_entropy_with_logits(x * 0, half(N), reduction="sum"), N * np.log(2)),
        (lambda x: gl.binary_cross_entropy(x * 0.5, half(N), reduction="sum"), N * np.log(2)),
        (lambda x: gl.matmul(x, half(N)), N),
    ],
)
def test_thousands_of_float16_entries_add_up(op, want):
    y = op(filled(N))
    assert y.dtype == "float16"
    np.testing.assert_allclose(y.data, want, rtol=4e-3, atol=1e-3)


def test_the_spread_of_many_float16_entries():
    x = half(N)
    x.data[::2] = 3.0
    assert x.var(correction=0).item() == x.std(correction=0).item() == 1.0
    big = half(N, 300.0)  # its square is more than float16 holds
    assert big.var().item() == big.std().item() == 0.0 and half(4, 300.0).norm().item() == 600.0


def test_a_product_of_float16_entries_overflows_only_at_its_end():
    assert gl.tensor(np.float16([300.0, 300.0, 0.001])).prod().item() == pytest.approx(90.0, rel=2e-3)


@pytest.mark.parametrize("op", [gl.softmax, gl.log_softmax])
@pytest.mark.parametrize("dim", [0, 1])
def test_softmax_over_many_float16_entries_is_a_distribution(op, dim):
    shape = (5000, 2) if dim == 0 else (2, 5000)
    x = filled(shape)
    p = op(x, dim)
    y = p if op is gl.softmax else p.exp()
    assert p.dtype == "float16"
    np.testing.assert_allclose(y.data.astype("float64").sum(dim), 1.0, rtol=2e-2)
    g = np.zeros(shape, "float16")
    g[:1] = 1.0
    p.backward(gl.tensor(g))
    wide = gl.tensor(np.ones(shape), requires_grad=True)
    op(wide, dim).backward(gl.tensor(g.astype("float64")))
    np.testing.assert_allclose(x.grad.data, wide.grad.data, rtol=1e-2, atol=1e-3)


def test_cross_entropy_over_many_float16_rows_and_classes():
    x = filled((N, 3))
    loss = gl.cross_entropy(x, np.zeros(N, int), reduction="sum")
    assert loss.dtype == "float16" and loss.item() == pytest.approx(N * np.log(3), rel=1e-3)
    assert gl.cross_entropy(x, np.zeros(N, int)).item() == pytest.approx(np.log(3), rel=1e-3)
    assert gl.cross_entropy(half((2, 5000)), [0, 1]).item() == pytest.approx(np.log(5000), rel=1e-3)
    assert gl.cross_entropy(half((2, 5000)), [0, 1], label_smoothing=0.1).item() == pytest.approx(np.log(5000), rel=1e-3)


def test_gradients_of_a_float16_bias_add_up_over_the_batch():
    w, b, c = half((3, 2), requires_grad=True), half(3, requires_grad=True), half(3, requires_grad=True)
    (gl.linear(half((N, 2)), w, b) + c).sum().backward()
    assert b.grad.tolist() == c.grad.tolist() == [N] * 3 and w.grad.tolist() == [[N] * 2] * 3


def test_gradients_of_a_float16_entry_read_often_add_up():
    x = half(2, requires_grad=True)
    x[np.zeros(N, int)].sum().backward()
    assert x.grad.tolist() == [N, 0.0]


def test_float16_ties_share_evenly_however_many_they_are():
    x = filled(N)
    x.amax().backward()
    assert x.grad.data.astype("float64").sum() == 1.0


@pytest.mark.parametrize("f", [lambda x: x / True, lambda x: True / x, lambda x: x * True, lambda x: x + True, lambda x: x - True,
                               lambda x: x**True, lambda x: gl.maximum(x, True), lambda x: gl.where([True], x, True)])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_python_boolean_widens_nothing(f, dtype):
    x = gl.tensor([1.0], dtype=dtype, requires_grad=True)
    y = f(x)
    y.sum().backward()
    assert y.dtype == x.grad.dtype == dtype


@pytest.mark.parametrize("join", [gl.cat, gl.stack])
def test_joined_tensors_get_the_dtype_of_their_sum(join):
    for a, b, want in [("float32", "int64", "float32"), ("int64", "float16", "float16"), ("float32", "float64", "float64"),
                       ("bool", "int64", "int64"), ("int32", "int64", "int64"), ("bool", "float32", "float32")]:  # fmt: skip
        x, y = gl.tensor(np.ones(2, a)), gl.tensor(np.ones(2, b))
        assert join([x, y]).dtype == (x + y).dtype == want, (a, b)
    x = gl.ones(2, requires_grad=True)
    join([x, gl.tensor([1, 2])]).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0] and x.grad.dtype == "float32"


def test_numbers_can_be_stacked_beside_tensors():
    y = gl.stack([gl.tensor(1.0), 2, 3.5])
    assert y.tolist() == [1.0, 2.0, 3.5] and y.dtype == "float32"
    assert gl.stack([gl.tensor(1), 2]).dtype == "int64" and gl.stack([gl.tensor(1), 0.5]).dtype == "float32"


@pytest.mark.parametrize("a", ["int64", "bool", "float16", "float64"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_product_of_two_dtypes_is_refused_with_what_works(a, swapped):
    x, y = gl.tensor(np.ones((2, 2), a)), gl.ones(2, 2)
    x, y = (y, x) if swapped else (x, y)
    with pytest.raises(DTypeError, match=rf"matmul: the dtypes differ\n  a     {x.dtype}\n  b     {y.dtype}") as error:
        x @ y
    fixed = eval(str(error.value).partition("try:")[2].strip(), {"a": x, "b": y})
    assert ((x @ fixed) if "b.astype" in str(error.value) else (fixed @ y)).dtype.kind == "f"


def test_arrays_of_another_dtype_are_refused_on_either_side():
    x, n = gl.ones(2, 2), np.ones((2, 2))
    for f in (lambda: n @ x, lambda: x @ n, lambda: np.dot(n, x), lambda: x.matmul(n)):
        with pytest.raises(DTypeError, match=r"try:  a\.astype\(b\.dtype\)"):
            f()
    assert (n.astype(x.dtype) @ x).dtype == "float32"


@pytest.mark.parametrize("dtype", ["int64", "float64", "float16"])
def test_linear_refuses_rows_of_another_dtype(dtype):
    x, w = np.ones((2, 3), dtype), gl.ones(4, 3)
    with pytest.raises(DTypeError, match=rf"linear: the dtypes differ\n  x      {dtype}\n  weight float32(.|\n)*try:   x\.astype"):
        gl.linear(x, w)
    assert gl.linear(x.astype(w.dtype), w).dtype == "float32"
    with pytest.raises(DTypeError, match=r"weight\.astype\(x\.dtype\)" if dtype == "int64" else r"x\.astype\(weight\.dtype\)"):
        gl.linear(w, gl.tensor(x))
    with pytest.raises(DTypeError, match="bias"):
        gl.linear(gl.ones(2, 3), w, np.ones(4, dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_lists_take_the_dtype_of_what_they_meet(dtype):
    w = gl.ones(2, 2, dtype=dtype)
    for y in (w @ [1, 2], [[1.0, 2.0]] @ w, gl.linear([1, 2], w), gl.linear([[1.0, 2.0]], w, [0, 1]), gl.matmul([True, False], w)):
        assert y.dtype == dtype
    assert (gl.tensor([1, 2]) @ [1, 2]).dtype == "int64"
