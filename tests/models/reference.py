"""What PyTorch makes of residual nets: `python -m tests.models.reference` writes reference.npz anew; needs torch.

The nets are written out here in torch, with the names of torchvision's `resnet.py`. Weights and pictures are drawn from NumPy's
generator, here and in the test alike.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_suffix(".npz")
NETS: dict[str, dict[str, Any]] = {
    "resnet18": {"basic": True, "layers": (2, 2, 2, 2), "channels": (64, 128, 256, 512), "classes": 1000, "stem": (7, 2, True)},
    "resnet50": {"basic": False, "layers": (3, 4, 6, 3), "channels": (64, 128, 256, 512), "classes": 1000, "stem": (7, 2, True)},
    "small": {"basic": True, "layers": (1, 2), "channels": (4, 6), "classes": 3, "stem": (3, 1, False)},
}


def layout(net: str) -> dict[str, tuple[int, ...]]:
    """The names and shapes of a net's state, in torchvision's order."""
    made = NETS[net]
    basic, channels, (kernel, *_) = made["basic"], made["channels"], made["stem"]
    shapes: dict[str, tuple[int, ...]] = {"conv1.weight": (channels[0], 3, kernel, kernel)} | norm("bn1", channels[0])
    width = channels[0]
    for i, (count, wide) in enumerate(zip(made["layers"], channels, strict=True)):
        out = wide if basic else 4 * wide
        for j in range(count):
            name = f"layer{i + 1}.{j}"
            convs = [(wide, width, 3), (wide, wide, 3)] if basic else [(wide, width, 1), (wide, wide, 3), (out, wide, 1)]
            for k, (o, c, size) in enumerate(convs, 1):
                shapes |= {f"{name}.conv{k}.weight": (o, c, size, size)} | norm(f"{name}.bn{k}", o)
            if j == 0 and (i or width != out):
                shapes |= {f"{name}.downsample.0.weight": (out, width, 1, 1)} | norm(f"{name}.downsample.1", out)
            width = out
    return shapes | {"fc.weight": (made["classes"], width), "fc.bias": (made["classes"],)}


def norm(name: str, n: int) -> dict[str, tuple[int, ...]]:
    """The state of a BatchNorm."""
    return {f"{name}.{part}": (n,) for part in ("weight", "bias", "running_mean", "running_var")} | {f"{name}.num_batches_tracked": ()}


def weights(net: str) -> dict[str, np.ndarray]:
    """A drawn state: every part of it is away from where a net begins, and the numbers inside stay around 1."""
    rng, state = np.random.default_rng(1512), {}
    for name, shape in layout(net).items():
        part = name.rpartition(".")[2]
        if part == "num_batches_tracked":
            state[name] = np.array(7)
        elif len(shape) > 1:
            state[name] = rng.normal(0, np.prod(shape[1:]) ** -0.5, shape).astype(np.float32)
        else:
            drawn = rng.uniform(0.5, 1, shape) if part in ("weight", "running_var") else rng.normal(0, 0.2, shape)
            state[name] = drawn.astype(np.float32)
    return state


def pictures(net: str) -> np.ndarray:
    """(batch, channel, height, width), sizes that don't halve evenly."""
    return np.random.default_rng(3385).normal(size=(4, 3, 13, 10) if net == "small" else (2, 3, 65, 50)).astype(np.float32)


def main() -> int:
    """Write the file, computed in float64: outputs in eval and train; the first 64 entries of some gradients and running statistics."""
    import torch
    from torch import nn

    def bn(x: Any, at: dict[str, Any], name: str, train: bool) -> Any:
        statistics = (at[f"{name}.running_mean"], at[f"{name}.running_var"])
        return nn.functional.batch_norm(x, *statistics, at[f"{name}.weight"], at[f"{name}.bias"], train)

    def run(net: str, x: Any, at: dict[str, Any], train: bool) -> Any:
        made = NETS[net]
        kernel, stride, pool = made["stem"]
        conv = nn.functional.conv2d
        x = bn(conv(x, at["conv1.weight"], stride=stride, padding=kernel // 2), at, "bn1", train).relu()
        x = nn.functional.max_pool2d(x, 3, 2, 1) if pool else x
        for i, count in enumerate(made["layers"]):
            for j in range(count):
                name, step, y = f"layer{i + 1}.{j}", 2 if i and not j else 1, x
                strides = (step, 1) if made["basic"] else (1, step, 1)
                for k, s in enumerate(strides, 1):
                    w = at[f"{name}.conv{k}.weight"]
                    y = bn(conv(y, w, stride=s, padding=w.shape[-1] // 2), at, f"{name}.bn{k}", train)
                    y = y.relu() if k < len(strides) else y
                if f"{name}.downsample.0.weight" in at:
                    x = bn(conv(x, at[f"{name}.downsample.0.weight"], stride=step), at, f"{name}.downsample.1", train)
                x = (x + y).relu()
        return nn.functional.linear(x.mean((2, 3)), at["fc.weight"], at["fc.bias"])

    values = {}
    for net in NETS:
        state = {name: torch.tensor(value, dtype=torch.float64) for name, value in weights(net).items()}
        x = torch.tensor(pictures(net)).double()
        with torch.no_grad():
            values[f"{net}.eval"] = run(net, x, state, False).numpy()
        for name, value in state.items():
            if name.endswith(("weight", "bias")):
                value.requires_grad_()
        y = run(net, x, state, True)
        loss = nn.functional.cross_entropy(y, torch.arange(len(x)) % NETS[net]["classes"])
        loss.backward()
        values[f"{net}.train"] = y.detach().numpy()
        values[f"{net}.running"] = state["layer2.0.downsample.1.running_var"].numpy()[:64]
        for name in ("conv1.weight", "layer2.0.downsample.0.weight", "layer1.0.bn1.weight"):
            values[f"{net}.grad.{name}"] = state[name].grad.numpy().ravel()[:64]
    np.savez_compressed(FILE, **values)
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
