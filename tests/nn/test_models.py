"""Whole models, written once for both libraries, train alike step by step."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl


def residual(lib):
    """A small ResNet: blocks with batch norm, in-place activations, a strided way around."""
    nn = lib.nn

    class Block(nn.Module):
        def __init__(self, cin, cout, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(cout)
            self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(cout)
            self.relu = nn.ReLU(inplace=True)
            self.around = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout)) if stride > 1 else nn.Identity()

        def forward(self, x):
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            y += self.around(x)
            return self.relu(y)

    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.SiLU(), Block(4, 4, 1), nn.MaxPool2d(2), Block(4, 6, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3),
    )  # fmt: skip


def autoencoder(lib):
    """Convolutions down and up again, with what was pooled put back."""
    nn = lib.nn

    class Coder(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.ModuleList([nn.Conv2d(1, 4, 3, padding="same", padding_mode="reflect"), nn.Conv2d(4, 4, 3, padding=1)])
            self.pool, self.unpool = nn.MaxPool2d(2, return_indices=True), nn.MaxUnpool2d(2)
            self.up = nn.ModuleDict({"grow": nn.ConvTranspose2d(4, 4, 3, padding=1), "out": nn.ConvTranspose2d(4, 3, 4, 2, 1)})
            self.act, self.norm = nn.PReLU(4), nn.InstanceNorm2d(4, affine=True)
            self.scale = nn.ParameterList([nn.Parameter(lib.ones(1))])

        def forward(self, x):
            h, places = self.pool(self.act(self.down[0](x)))
            h = self.norm(self.down[1](h))
            y = self.up["out"](self.unpool(self.up["grow"](h), places))
            return (y * self.scale[0]).mean((2, 3))

    return Coder()


def words(lib):
    """Ids through a table, a norm and a bag of them."""
    nn = lib.nn

    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(12, 6, padding_idx=0)
            self.bag = nn.EmbeddingBag(12, 6, mode="mean")
            self.norm, self.rms = nn.LayerNorm(6), nn.RMSNorm(6)
            self.mix, self.out = nn.Bilinear(6, 6, 5), nn.Linear(5, 3)
            self.act = nn.GELU()

        def forward(self, ids):
            one = self.norm(self.table(ids)).mean(1)
            return self.out(self.act(self.mix(one, self.rms(self.bag(ids)))))

    return Words()


def trained(lib, model, x, y, steps=6):
    """Losses, and the state after some steps with the gradient cut to a length."""
    optimizer = lib.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loss_fn, losses = lib.nn.CrossEntropyLoss(label_smoothing=0.1), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        lib.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def batch(make):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 12, (6, 5)) if make is words else rng.standard_normal((6, 1, 8, 8))
    return x, rng.integers(0, 3, 6)


@pytest.mark.parametrize("make", [residual, autoencoder, words])
def test_a_model_learns_its_batch(make):
    x, y = batch(make)
    model = make(gl).double()
    losses = trained(gl, model, gl.tensor(x), gl.tensor(y), 25)
    assert losses[-1] < 0.75 * losses[0]


@pytest.mark.torch
@pytest.mark.parametrize("make", [residual, autoencoder, words])
def test_a_model_trains_as_in_pytorch(make):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x, y = batch(make)
    ours, theirs = make(gl).double(), make(torch).double()
    theirs.load_state_dict({k: torch.from_numpy(np.array(v.data)) for k, v in ours.state_dict().items()})
    a = trained(gl, ours, gl.tensor(x), gl.tensor(y))
    b = trained(torch, theirs, torch.tensor(x), torch.tensor(y))
    np.testing.assert_allclose(a, b, rtol=1e-7)
    want = theirs.state_dict()
    assert list(ours.state_dict()) == list(want)
    for name, value in ours.state_dict().items():
        np.testing.assert_allclose(value.data, want[name].numpy(), rtol=1e-6, atol=1e-8, err_msg=name)
    ours.eval()
    theirs.eval()
    np.testing.assert_allclose(ours(gl.tensor(x)).data, theirs(torch.tensor(x)).detach().numpy(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("make", [residual, autoencoder, words])
def test_a_step_on_a_device_waits_for_nothing(make):
    x, y = (gl.tensor(a, device="sim") for a in batch(make))
    model = make(gl).double().to("sim")
    loss = gl.nn.CrossEntropyLoss()
    loss(model(x), y).backward()
    with gl.sim.no_sync():
        loss(model(x), y).backward()
        gl.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        gl.nn.utils.clip_grad_value_(model.parameters(), 0.5)
