from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn


def test_running_statistics_move_while_training_and_are_used_in_eval():
    layer = nn.BatchNorm1d(1, dtype=gl.float64)
    x = gl.tensor([[1.0], [2.0], [6.0]], dtype=gl.float64)
    layer(x)
    np.testing.assert_allclose([layer.running_mean.item(), layer.running_var.item()], [0.3, 1.6], rtol=1e-12)
    assert layer.num_batches_tracked.item() == 1 and layer.num_batches_tracked.dtype == "int64"
    layer.eval()
    np.testing.assert_allclose(layer(x).data, (x.data - 0.3) / np.sqrt(1.6 + 1e-5), rtol=1e-12)
    assert layer.num_batches_tracked.item() == 1
    layer.reset_running_stats()
    assert [t.item() for t in layer.buffers()] == [0, 1, 0]


def test_without_momentum_the_statistics_are_means_over_all_batches():
    layer, batches = nn.BatchNorm2d(3, momentum=None), gl.randn(4, 5, 3, 2, 2)
    for batch in batches:
        layer(batch)
    np.testing.assert_allclose(layer.running_mean.data, batches.data.mean((0, 1, 3, 4)), rtol=1e-5, atol=1e-6)


def test_without_running_statistics_eval_normalises_by_the_batch():
    layer = nn.BatchNorm1d(2, track_running_stats=False).eval()
    assert list(layer.state_dict()) == ["weight", "bias"] and layer.running_mean is None
    assert np.allclose(layer(gl.randn(50, 2)).data.mean(0), 0, atol=1e-6)


@pytest.mark.parametrize("layer", [nn.BatchNorm1d(3), nn.BatchNorm1d(3, momentum=None), nn.BatchNorm1d(3, affine=False)], ids=repr)
def test_a_batch_of_one_while_training_is_an_error_that_says_what_to_do_and_changes_nothing(layer):
    before = layer.state_dict()
    with pytest.raises(
        gl.ShapeError, match=r"(?s)BatchNorm1d: one value a channel, while training.*\(1, 3\).*larger batch.*drop_last.*model\.eval\(\)"
    ):
        layer(gl.ones(1, 3))
    assert all(np.array_equal(before[k].data, v.data) for k, v in layer.state_dict().items())
    assert layer.eval()(gl.ones(1, 3)).shape == (1, 3)
    assert layer.train()(gl.randn(1, 3, 2)).shape == (1, 3, 2)


@pytest.mark.parametrize(
    ("layer", "shape", "text"),
    [
        (nn.BatchNorm1d(3), (2, 3, 4, 4), r"(?s)BatchNorm1d: this has another number of axes.*\(2, 3, 4, 4\).*nn\.BatchNorm2d"),
        (nn.BatchNorm2d(3), (2, 3), r"(?s)BatchNorm2d: this has another number.*\(batch, channel, height, width\)"),
        (nn.BatchNorm2d(3), (2, 4, 1, 1), r"(?s)another number of channels.*\(2, 4, 1, 1\).*3 channels"),
        (nn.InstanceNorm2d(3), (3, 4), "InstanceNorm2d: this has another number of axes"),
        (nn.InstanceNorm1d(3), (2, 4, 5), "another number of channels"),
        (nn.InstanceNorm1d(3), (2, 3, 1), "one place"),
        (nn.LayerNorm(3), (2, 4), "layer_norm"),
        (nn.GroupNorm(2, 4), (2, 6), "group_norm"),
    ],
    ids=repr,
)
def test_shapes_that_do_not_fit_are_refused(layer, shape, text):
    with pytest.raises(gl.ShapeError, match=text):
        layer(gl.zeros(*shape))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: nn.GroupNorm(3, 4), r"(?s)don't make so many groups.*num_groups +3"),
        (lambda: nn.BatchNorm1d(-1), "can't be negative"),
        (lambda: nn.BatchNorm1d("3"), "no whole number"),
        (lambda: nn.LayerNorm((2, 1.5)), "no whole number"),
        (lambda: nn.LayerNorm(2, eps="a"), "eps is no number"),
    ],
)
def test_options_that_mean_nothing_are_refused(make, text):
    with pytest.raises(gl.GradlabError, match=text):
        make()


def test_statistics_have_no_graph_and_are_no_parameters():
    layer = nn.BatchNorm1d(1)
    for _ in range(3):
        layer(gl.tensor([[1.0], [2.0]], requires_grad=True)).sum().backward()
    assert not layer.running_mean.requires_grad and [n for n, _ in layer.named_parameters()] == ["weight", "bias"]


def test_one_example_can_come_without_a_batch():
    for layer, shape in ((nn.InstanceNorm1d(2), (2, 5)), (nn.InstanceNorm2d(2), (2, 3, 4)), (nn.InstanceNorm3d(2), (2, 3, 2, 2))):
        x = gl.randn(*shape)
        assert np.array_equal(layer(x).data, layer(x[None]).data[0])


def test_a_state_without_the_count_of_batches_is_complete_as_in_pytorch():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    state = net.state_dict()
    del state["1.num_batches_tracked"]
    assert net.load_state_dict(state) == ([], [])
    del state["1.running_mean"]
    with pytest.raises(gl.errors.StateError, match=r"missing +1\.running_mean\n"):
        net.load_state_dict(state)
