from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.nn import init

BIG = (200, 300)


def drawn(fill, *args, shape=BIG, **options):
    gl.manual_seed(0)
    t = gl.zeros(*shape)
    assert fill(t, *args, **options) is t
    return t.data


def test_uniform_and_normal_have_the_stated_range_mean_and_spread():
    u = drawn(init.uniform_, -1, 3)
    assert -1 <= u.min() < -0.99 and 2.99 < u.max() <= 3 and abs(u.mean() - 1) < 0.02
    n = drawn(init.normal_, 2.0, 0.5)
    assert abs(n.mean() - 2) < 0.01 and abs(n.std() - 0.5) < 0.01


def test_constants():
    assert (drawn(init.ones_) == 1).all() and (drawn(init.zeros_) == 0).all() and (drawn(init.constant_, 0.25) == 0.25).all()


@pytest.mark.parametrize(("fill", "options", "std"), [
    (init.xavier_uniform_, {}, math.sqrt(2 / 500)),
    (init.xavier_normal_, {"gain": 2.0}, 2 * math.sqrt(2 / 500)),
    (init.kaiming_uniform_, {"nonlinearity": "relu"}, math.sqrt(2 / 300)),
    (init.kaiming_normal_, {"mode": "fan_out", "nonlinearity": "relu"}, math.sqrt(2 / 200)),
    (init.kaiming_uniform_, {"a": math.sqrt(5)}, math.sqrt(1 / 3 / 300)),
], ids=["xavier uniform", "xavier normal", "kaiming uniform", "kaiming normal", "leaky"])  # fmt: skip
def test_the_spread_follows_the_formula(fill, options, std):
    w = drawn(fill, **options)
    assert abs(w.std() / std - 1) < 0.01 and abs(w.mean()) < 0.02 * std
    if "uniform" in fill.__name__:
        assert 0.99 < np.abs(w).max() / (math.sqrt(3) * std) <= 1 + 1e-6


def test_kaiming_keeps_the_size_of_activations_through_many_relu_layers():
    gl.manual_seed(0)
    x = gl.randn(64, 256)
    for _ in range(10):
        w = init.kaiming_normal_(gl.zeros(256, 256), nonlinearity="relu")
        x = gl.relu(x @ w.T)
    assert 0.2 < (x.data**2).mean() < 5


def test_a_kernel_counts_into_both_fans():
    assert init.fans(gl.zeros(8, 3, 5, 5)) == (75, 200)


def test_filling_is_a_change_in_place_that_counts_and_needs_no_graph():
    p = nn.Parameter(np.zeros((2, 2), np.float32))
    array, version = p.data, p.version
    init.ones_(p)
    assert p.data is array and p.version > version and p.is_leaf


def test_float64_gets_float64_numbers():
    t = init.normal_(gl.zeros(100, dtype=gl.float64))
    assert (t.data != t.data.astype(np.float32)).any()


def test_the_same_seed_draws_the_same_numbers():
    assert np.array_equal(drawn(init.normal_), drawn(init.normal_))


def test_what_cannot_be_is_refused():
    with pytest.raises(gl.ShapeError, match="fan in and fan out"):
        init.xavier_uniform_(gl.zeros(3))
    with pytest.raises(ValueError, match="fan_in or fan_out"):
        init.kaiming_normal_(gl.zeros(3, 3), mode="fan")
    with pytest.raises(ValueError, match="unknown nonlinearity"):
        init.calculate_gain("swish")


@pytest.mark.parametrize(("mean", "std", "a", "b"), [(0, 1, -2, 2), (1, 2, 0, 1.5), (0, 1, 2, 4), (5, 0.5, -1, 1)])
def test_a_truncated_normal_distribution_has_its_range_mean_and_spread(mean, std, a, b):
    values = drawn(init.trunc_normal_, mean, std, a, b, shape=(100, 200))
    x = np.linspace(a, b, 20001)
    density = np.exp(-((x - mean) ** 2 - ((np.clip(mean, a, b) - mean) ** 2)) / (2 * std * std))
    want = (x * density).sum() / density.sum()
    spread = np.sqrt((x * x * density).sum() / density.sum() - want**2)
    assert a <= values.min() and values.max() <= b
    assert abs(values.mean() - want) < 5 * spread / np.sqrt(values.size) and abs(values.std() / spread - 1) < 0.03


def test_identity_matrices_and_kernels_pass_on_what_they_get():
    assert drawn(init.eye_, shape=(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    x = gl.randn(2, 4, 5, 5)
    conv = nn.Conv2d(4, 4, 3, padding=1, bias=False)
    init.dirac_(conv.weight)
    assert np.array_equal(conv(x).data, x.data)
    grouped = nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False)
    init.dirac_(grouped.weight, groups=2)
    assert np.array_equal(grouped(x).data, x.data)


@pytest.mark.parametrize("shape", [(4, 7), (7, 4), (5, 5), (4, 2, 3, 3)])
def test_orthogonal_rows_or_columns_have_one_length_and_right_angles(shape):
    w = drawn(init.orthogonal_, 2.0, shape=shape).reshape(shape[0], -1)
    square = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(square, 4 * np.eye(len(square)), atol=1e-5)


def test_orthogonal_matrices_turn_and_mirror_as_often():
    gl.manual_seed(0)
    signs = [np.linalg.det(init.orthogonal_(gl.zeros(3, 3)).data) for _ in range(200)]
    assert 60 < sum(s > 0 for s in signs) < 140


def test_sparse_columns_have_their_share_of_zeros():
    w = drawn(init.sparse_, 0.3, 0.5, shape=(10, 400))
    assert (w == 0).sum(0).tolist() == [3] * 400 and abs(w[w != 0].std() - 0.5) < 0.03
    assert ((w == 0).mean(1) > 0.15).all()


def test_filling_works_on_another_device_in_every_float_dtype():
    for fill in (init.eye_, init.orthogonal_, init.trunc_normal_, lambda t: init.sparse_(t, 0.5), init.kaiming_uniform_):
        for dtype in ("float16", "float32", "float64"):
            t = fill(gl.zeros(3, 3, dtype=dtype, device="sim"))
            assert t.dtype == dtype and t.device == "sim" and t.abs().sum().item() > 0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t: init.eye_(t[0]), r"(?s)eye_: this has another number of axes.*\(row, column\)"),
        (lambda t: init.dirac_(t), "dirac_: this has another number of axes"),
        (lambda t: init.dirac_(gl.zeros(4, 2, 3), groups=3), "multiple of groups"),
        (lambda t: init.orthogonal_(t[0]), "orthogonal_: this has another number of axes"),
        (lambda t: init.sparse_(t, 1.5), "0 <= sparsity <= 1"),
        (lambda t: init.trunc_normal_(t, a=1.0, b=1.0), "a < b and std > 0"),
        (lambda t: init.trunc_normal_(t, std=0.0), "a < b and std > 0"),
        (lambda t: init.uniform_(t, "a"), "a is no number"),
        (lambda t: init.eye_([[1.0]]), "this is no tensor"),
    ],
)
def test_what_cannot_be_filled_is_refused_and_stays(call, text):
    t = gl.full((3, 3), 7.0)
    with pytest.raises(gl.GradlabError, match=text):
        call(t)
    assert (t.data == 7).all()


@pytest.mark.torch
@pytest.mark.parametrize("name", [n for n in dir(init) if n.endswith("_") and not n.startswith("_")])
def test_numbers_are_spread_as_pytorchs_are(name):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    args = {"constant_": (0.3,), "sparse_": (0.4,), "uniform_": (-1.0, 3.0), "kaiming_uniform_": (0.5, "fan_out")}.get(name, ())
    shape = (40, 50) if name in ("eye_", "sparse_") else (20, 30, 3)
    torch.manual_seed(0)
    ours = np.stack([getattr(init, name)(gl.empty(*shape), *args).data for _ in range(20)])
    theirs = np.stack([getattr(torch.nn.init, name)(torch.empty(*shape), *args).numpy() for _ in range(20)])
    spread = theirs.std()
    assert abs(ours.mean() - theirs.mean()) < 0.02 * spread + 1e-7 and abs(ours.std() - spread) < 0.02 * spread + 1e-7
    np.testing.assert_allclose(np.quantile(ours, np.linspace(0.05, 0.95, 19)), np.quantile(theirs, np.linspace(0.05, 0.95, 19)),
                               atol=0.08 * spread + 1e-7)  # fmt: skip
    assert (ours == 0).sum() == (theirs == 0).sum() or abs((ours == 0).mean() - (theirs == 0).mean()) < 1e-3


@pytest.mark.torch
def test_gains_and_arguments_are_pytorchs():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for word in ("linear", "conv1d", "conv3d", "conv_transpose2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"):
        assert init.calculate_gain(word) == pytest.approx(torch.nn.init.calculate_gain(word))
    assert init.calculate_gain("leaky_relu", 0.2) == pytest.approx(torch.nn.init.calculate_gain("leaky_relu", 0.2))
    for name in [n for n in dir(torch.nn.init) if n.endswith("_") and not n.startswith("_")]:
        assert list(inspect.signature(getattr(init, name)).parameters) == list(inspect.signature(getattr(torch.nn.init, name)).parameters)
