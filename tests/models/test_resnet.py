"""Residual nets: torchvision's names and PyTorch's values, and that all of them learn."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab import models
from tests.models.reference import FILE, NETS, layout, pictures, weights

REFERENCE = np.load(FILE)


def made(net: str) -> models.ResNet:
    options = NETS[net]
    kernel, stride, pool = options["stem"]
    block = models.BasicBlock if options["basic"] else models.Bottleneck
    return models.ResNet(block, options["layers"], options["classes"], options["channels"], kernel_size=kernel, stride=stride, pool=pool)


@pytest.fixture(params=NETS)
def net(request: pytest.FixtureRequest) -> str:
    return request.param


def test_the_state_has_the_names_and_shapes_of_torchvision_in_its_order(net: str):
    assert [(name, t.shape) for name, t in made(net).state_dict().items()] == list(layout(net).items())


def test_nets_by_name_are_those_with_their_numbers_of_parameters():
    for net, count in ((models.resnet18, 11_689_512), (models.resnet34, 21_797_672), (models.resnet50, 25_557_032)):
        assert sum(p.numel() for p in net().parameters()) == count
    assert models.resnet18(num_classes=7).fc.weight.shape == (7, 512)


def test_weights_of_torchvisions_names_give_pytorchs_values_forward_and_backward(net: str):
    model, x = made(net).double(), gl.tensor(pictures(net)).double()
    model.load_state_dict(weights(net))
    with gl.no_grad():
        np.testing.assert_allclose(model.eval()(x).data, REFERENCE[f"{net}.eval"], rtol=1e-9)
    y = model.train()(x)
    np.testing.assert_allclose(y.data, REFERENCE[f"{net}.train"], rtol=1e-7)
    F.cross_entropy(y, gl.arange(len(x)) % NETS[net]["classes"]).backward()
    state = model.state_dict()
    running, count = (state[name].data for name in ("layer2.0.downsample.1.running_var", "bn1.num_batches_tracked"))
    np.testing.assert_allclose(running[:64], REFERENCE[f"{net}.running"], rtol=1e-9)
    assert count == 8
    for name, parameter in model.named_parameters():
        if f"{net}.grad.{name}" in REFERENCE:
            assert parameter.grad is not None
            np.testing.assert_allclose(parameter.grad.data.ravel()[:64], REFERENCE[f"{net}.grad.{name}"], rtol=1e-6)


def test_a_saved_state_of_these_names_goes_in_as_it_is(tmp_path):
    gl.save(weights("small"), tmp_path / "small.safetensors")
    model = made("small")
    model.load_state_dict(gl.load(tmp_path / "small.safetensors"))
    np.testing.assert_array_equal(model.layer2[1].conv2.weight.data, weights("small")["layer2.1.conv2.weight"])


def test_every_parameter_learns_and_the_loss_falls():
    model, x = made("small"), gl.tensor(pictures("small"))
    optimizer = gl.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    before, losses = {name: p.data.copy() for name, p in model.named_parameters()}, []
    for _ in range(20):
        loss = F.cross_entropy(model(x), gl.tensor([0, 1, 2, 0]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 3
    assert [name for name, p in model.named_parameters() if np.array_equal(p.data, before[name])] == []


@pytest.mark.parametrize("block", [models.BasicBlock, models.Bottleneck])
def test_blocks_begin_as_relu_of_their_input_if_asked_to(block: type):
    model = models.ResNet(block, (2,), 3, channels=(4,), zero_init_residual=True)
    x = gl.randn(2, 4 * block.expansion, 5, 5)
    np.testing.assert_allclose(model.layer1[1](x).data, np.maximum(x.data, 0))


def test_grey_pictures_go_in_if_the_net_is_made_for_them():
    model = models.ResNet(models.BasicBlock, (1,), 3, channels=(4,), in_channels=1, kernel_size=4, pool=False)
    assert model(gl.randn(2, 1, 8, 8)).shape == (2, 3)


def test_the_net_computes_the_same_on_a_device():
    model, x = made("small").eval(), gl.tensor(pictures("small"))
    want = model(x).data
    assert np.array_equal(model.to("sim")(x.to("sim")).cpu().data, want)


def test_groups_without_a_width_are_refused():
    for layers, channels in (((1, 1), (4,)), ((), ())):
        with pytest.raises(gl.ArgumentError, match=r"(?s)each group of blocks has a width.*as many channels as layers"):
            models.ResNet(models.BasicBlock, layers, channels=channels)
