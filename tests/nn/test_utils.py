from __future__ import annotations

import math

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.nn import utils


def two(a, b, dtype=gl.float64, device=None):
    p, q = (nn.Parameter(gl.zeros(len(x), dtype=dtype, device=device)) for x in (a, b))
    p.grad, q.grad = (gl.tensor(x, dtype=dtype, device=device) for x in (a, b))
    return p, q


@pytest.mark.parametrize("device", ["cpu", "sim"])
def test_one_length_is_taken_of_all_gradients_and_returned_as_it_was(device):
    p, q = two([3.0, 0.0], [4.0], device=device)
    untouched = nn.Parameter([0.0])
    assert utils.clip_grad_norm_((t for t in (p, q, untouched)), 1.0).item() == 5.0
    np.testing.assert_allclose([*p.grad.tolist(), *q.grad.tolist()], [0.6, 0.0, 0.8], rtol=1e-6)
    assert untouched.grad is None and p.grad.device == device


def test_short_gradients_stay_as_they_are_and_no_parameters_have_length_0():
    p, q = two([0.3, 0.0], [0.4])
    utils.clip_grad_norm_([p, q], 1.0)
    assert p.grad.tolist() == [0.3, 0.0] and q.grad.tolist() == [0.4]
    assert utils.clip_grad_norm_([], 1.0).item() == 0.0
    assert utils.clip_grad_norm_(p, 10.0).item() == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("norm_type", "length"), [(1, 9.0), (2, math.sqrt(29)), (3, 99 ** (1 / 3)), (math.inf, 4.0), (0, 2.0), (-math.inf, 2.0)]
)
def test_the_length_may_be_any_p_norm(norm_type, length):
    p, q = two([3.0, -4.0], [2.0])
    # Length 0 counts, as PyTorch does, the gradients that are not 0: it is the norm of the norms.
    assert utils.get_total_norm([p.grad, q.grad], norm_type).item() == pytest.approx(length)


def test_a_parameter_given_twice_is_scaled_once():
    p, _ = two([3.0, 4.0], [0.0])
    utils.clip_grad_norm_([p, p], 1.0)
    np.testing.assert_allclose(p.grad.data, [0.6, 0.8], rtol=1e-6)


@pytest.mark.parametrize("bad", [math.inf, math.nan])
def test_what_is_not_finite_is_an_error_before_anything_is_changed_or_passes_as_in_pytorch(bad):
    p, q = two([bad, 1.0], [1.0])
    with pytest.raises(RuntimeError, match=r"(?s)no finite length; nothing was changed.*norm +(inf|nan)"):
        utils.clip_grad_norm_([p, q], 1.0, error_if_nonfinite=True)
    assert q.grad.tolist() == [1.0] and p.grad.tolist()[1] == 1.0
    assert not math.isfinite(utils.clip_grad_norm_([p, q], 1.0).item())
    np.testing.assert_array_equal(q.grad.data, [0.0 if bad == math.inf else math.nan])


def test_float16_gradients_have_the_length_of_their_numbers():
    p, q = two([200.0, 200.0], [100.0], gl.float16)
    assert utils.clip_grad_norm_([p, q], 3.0).item() == 300.0 and p.grad.dtype == np.float16
    np.testing.assert_allclose(p.grad.data, [2, 2], rtol=1e-3)


def test_values_are_cut_in_place():
    p, q = two([3.0, -0.2], [-4.0])
    grad, version = p.grad, p.grad.version
    utils.clip_grad_value_([p, q, nn.Parameter([1.0])], 0.5)
    assert p.grad is grad and grad.version > version
    assert grad.tolist() == [0.5, -0.2] and q.grad.tolist() == [-0.5]


def test_a_length_that_is_known_is_used():
    p, q = two([3.0, 0.0], [4.0])
    utils.clip_grads_with_norm_([p, q], 1.0, gl.tensor(10.0))
    np.testing.assert_allclose(p.grad.data, [0.3, 0.0], rtol=1e-6)


def test_parameters_go_into_a_vector_and_back():
    net, other = nn.Linear(2, 3), nn.Linear(2, 3)
    vector = utils.parameters_to_vector(net.parameters())
    assert vector.shape == (9,) and vector.requires_grad
    weight = other.weight
    utils.vector_to_parameters(vector.detach(), other.parameters())
    assert other.weight is weight and np.array_equal(weight.data, net.weight.data) and np.array_equal(other.bias.data, net.bias.data)
    other.weight.data[...] = 5
    assert not (net.weight.data == 5).any()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: utils.clip_grad_norm_(nn.Linear(1, 1), 1.0), TypeError, r"(?s)no tensor.*Linear.*model\.parameters\(\)"),
        (lambda: utils.clip_grad_norm_([np.ones(1)], 1.0), TypeError, "this is no tensor"),
        (lambda: utils.clip_grad_norm_([], "1"), TypeError, "max_norm is no number"),
        (lambda: utils.clip_grad_value_([], None), TypeError, "clip_value is no number"),
        (lambda: utils.parameters_to_vector([]), ValueError, "there are no parameters"),
        (lambda: utils.vector_to_parameters(gl.ones(3), [nn.Parameter([1.0])]), ValueError, r"(?s)doesn't fit.*\(3,\).*need: +\(1,\)"),
        (lambda: utils.vector_to_parameters(np.ones(1), [nn.Parameter([1.0])]), TypeError, "this is no tensor"),
    ],
)  # fmt: skip
def test_wrong_calls_say_what_is_needed(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.torch
@pytest.mark.parametrize("norm_type", [0.5, 1, 2, 3, math.inf])
def test_gradients_are_clipped_as_pytorch_clips_them(norm_type):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    grads = [np.random.default_rng(0).standard_normal(shape).astype("float32") for shape in ((3, 4), (5,), ())]
    ours, theirs = [nn.Parameter(gl.zeros(g.shape)) for g in grads], [torch.nn.Parameter(torch.zeros(g.shape)) for g in grads]
    for p, q, g in zip(ours, theirs, grads, strict=True):
        p.grad, q.grad = gl.tensor(g), torch.tensor(g)
    length = torch.nn.utils.clip_grad_norm_(theirs, 0.7, norm_type).item()
    assert utils.clip_grad_norm_(ours, 0.7, norm_type).item() == pytest.approx(length, rel=1e-6)
    for p, q in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(p.grad.data, q.grad.numpy(), rtol=1e-5)
    np.testing.assert_array_equal(
        utils.parameters_to_vector([p.grad for p in ours]).data.shape, torch.nn.utils.parameters_to_vector([q.grad for q in theirs]).shape
    )
