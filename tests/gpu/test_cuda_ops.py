"""Every op on a GPU: the same values and gradients as on NumPy, to the last digits that a GPU's own order of adding leaves."""

from __future__ import annotations

import pytest

import gradlab as gl
from gradlab import ops
from gradlab.testing import check_function
from tests.on_device import OPS, compare, drawn, run


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-5), ("float64", 1e-11), ("float16", 2e-3)])
@pytest.mark.parametrize("op", [op for op in OPS if op not in (ops.Eigh, ops.SVD)], ids=lambda op: op.__name__)  # up to signs
def test_an_op_gives_on_the_gpu_what_it_gives_on_numpy(op, dtype, rtol):
    for case in op.cases if dtype == "float32" else op.cases[:2]:  # each dtype compiles kernels of its own
        xs = drawn(case, dtype)
        try:
            compare(op, run(op, case, xs, "cuda:0"), run(op, case, xs, "cpu"), rtol)
        except Exception as error:
            error.add_note(f"in the case {case}")
            raise


@pytest.mark.parametrize("op", [ops.Add, ops.MatMul, ops.Softmax, ops.CrossEntropy], ids=lambda op: op.__name__)
def test_the_cpu_is_checked_as_ever_while_a_gpu_is_there(op):
    check_function(op, op.cases[0])


def test_gradients_on_the_gpu_agree_with_differences():
    def f(x, w):
        return gl.softmax(gl.tanh(x @ w), 1).log().sum()

    xs = [
        gl.randn(3, 4, dtype=gl.float64, device="cuda", requires_grad=True),
        gl.randn(4, 2, dtype=gl.float64, device="cuda", requires_grad=True),
    ]
    assert gl.autograd.gradcheck(f, xs) and gl.autograd.gradgradcheck(f, xs)


def test_what_is_taken_apart_on_the_gpu_can_be_put_together():
    a = gl.randn(2, 4, 3, dtype=gl.float64, device="cuda", requires_grad=True)
    u, s, vh = gl.linalg.svd(a, full_matrices=False)
    assert gl.allclose((u * s[:, None]) @ vh, a) and gl.allclose(s.cpu(), gl.linalg.svdvals(a.cpu()))
    square = a.mT @ a
    values, vectors = gl.linalg.eigh(square)
    assert gl.allclose((vectors * values[:, None]) @ vectors.mT, square)
    (s.sum() + values.sum()).backward()
    want = a.detach().cpu().requires_grad_()
    (gl.linalg.svdvals(want).sum() + (want * want).sum()).backward()
    assert gl.allclose(a.grad.cpu(), want.grad)


def test_random_numbers_are_the_same_on_every_device():
    def draw(device):
        gl.manual_seed(3)
        x = gl.ones(64, 64, device=device)
        numbers = [gl.randn(4, device=device), gl.randperm(9, device=device), gl.dropout(x, 0.5), gl.nn.Linear(3, 2).to(device).weight]
        return [t.tolist() for t in numbers]

    assert draw("cuda") == draw("cpu")
