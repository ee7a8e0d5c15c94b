"""Residual networks: each block adds something to its input instead of replacing it, so that deep nets still learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .._tensor import Tensor
from ..errors import ArgumentError, explain
from ..nn import AdaptiveAvgPool2d, BatchNorm2d, Conv2d, Linear, MaxPool2d, Module, ReLU, Sequential, init


def conv3x3(inputs: int, outputs: int, stride: int = 1) -> Conv2d:
    """A convolution of 3 x 3 that keeps the size, or divides it by `stride`; without bias, as a BatchNorm has one behind it."""
    return Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)


def conv1x1(inputs: int, outputs: int, stride: int = 1) -> Conv2d:
    """A convolution of 1 x 1: every place for itself."""
    return Conv2d(inputs, outputs, 1, stride=stride, bias=False)


class BasicBlock(Module):
    """y = relu(x + bn2(conv2(relu(bn1(conv1(x)))))), both convolutions of 3 x 3.

    Where stride or channels change, x goes through `downsample`, a convolution of 1 x 1, on its way to the sum.

    Shapes: x: (batch, in, height, width), y: (batch, channels, height / stride, width / stride)
    """

    expansion: ClassVar[int] = 1

    def __init__(self, in_channels: int, channels: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1, self.bn1 = conv3x3(in_channels, channels, stride), BatchNorm2d(channels)
        self.relu = ReLU()
        self.conv2, self.bn2 = conv3x3(channels, channels), BatchNorm2d(channels)
        self.downsample = shortcut(in_channels, channels, stride)

    def forward(self, x: Tensor) -> Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(Module):
    """y = relu(x + wide(middle(narrow(x)))): the 3 x 3 works on a quarter of the channels that come out.

    Shapes: x: (batch, in, height, width), y: (batch, 4 channels, height / stride, width / stride)

    The stride is in the 3 x 3, as in torchvision; the paper has it in the 1 x 1 before.
    """

    expansion: ClassVar[int] = 4

    def __init__(self, in_channels: int, channels: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1, self.bn1 = conv1x1(in_channels, channels), BatchNorm2d(channels)
        self.conv2, self.bn2 = conv3x3(channels, channels, stride), BatchNorm2d(channels)
        self.conv3, self.bn3 = conv1x1(channels, 4 * channels), BatchNorm2d(4 * channels)
        self.relu = ReLU()
        self.downsample = shortcut(in_channels, 4 * channels, stride)

    def forward(self, x: Tensor) -> Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


def shortcut(inputs: int, outputs: int, stride: int) -> Sequential | None:
    """What brings x to the shape of the sum; None where it has it."""
    if stride == 1 and inputs == outputs:
        return None
    return Sequential(conv1x1(inputs, outputs, stride), BatchNorm2d(outputs))


class ResNet(Module):
    """A stem, groups of residual blocks, the mean over all places, and one linear layer.

    Parameters have torchvision's names: weights that were published under them go in by `model.load_state_dict(gl.load(path))`.

    Args:
        block: BasicBlock, or Bottleneck for 50 layers and more.
        layers: how many blocks each group has.
        channels: how wide each group is; every group but the first halves height and width.
        in_channels: 3 for colours, 1 for grey.
        kernel_size, stride, pool: the stem: a convolution of that size and stride, and whether a max pooling by 2 is behind it.
            Pictures of 32 x 32 need less of it than those of 224 x 224: a kernel of 3, stride 1, no pooling.
        zero_init_residual: the last BatchNorm of every block starts with weight 0, so that each block starts as relu(x).

    Shapes: x: (batch, in_channels, height, width), y: (batch, num_classes)

    Raises:
        ArgumentError: not as many widths as groups.

    Source: He, Zhang, Ren, Sun 2015, "Deep Residual Learning for Image Recognition", arXiv 1512.03385; first values as in its
    section 3.4.

    >>> model = ResNet(BasicBlock, (1, 1, 1), num_classes=10, channels=(8, 16, 32), kernel_size=3, stride=1, pool=False)
    >>> model(Tensor([0.5]).expand(2, 3, 32, 32)).shape
    (2, 10)
    """

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        layers: Sequence[int],
        num_classes: int = 1000,
        channels: Sequence[int] = (64, 128, 256, 512),
        in_channels: int = 3,
        kernel_size: int = 7,
        stride: int = 2,
        pool: bool = True,
        zero_init_residual: bool = False,
    ) -> None:
        super().__init__()
        if len(layers) != len(channels) or not layers:
            got = {"layers": tuple(layers), "channels": tuple(channels)}
            raise ArgumentError(explain("ResNet: each group of blocks has a width", got=got, need="as many channels as layers"))
        self.conv1 = Conv2d(in_channels, channels[0], kernel_size, stride=stride, padding=(kernel_size - 1) // 2, bias=False)
        self.bn1, self.relu = BatchNorm2d(channels[0]), ReLU()
        self.maxpool = MaxPool2d(3, stride=2, padding=1) if pool else None
        width, self.groups = channels[0], len(layers)
        for i, (count, wide) in enumerate(zip(layers, channels, strict=True)):
            blocks: list[Module] = []
            for j in range(count):
                blocks.append(block(width, wide, 2 if i and not j else 1))
                width = wide * block.expansion
            setattr(self, f"layer{i + 1}", Sequential(*blocks))
        self.avgpool, self.fc = AdaptiveAvgPool2d(1), Linear(width, num_classes)
        for module in self.modules():
            if isinstance(module, Conv2d):
                init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif zero_init_residual and isinstance(module, (BasicBlock, Bottleneck)):
                init.zeros_((module.bn2 if isinstance(module, BasicBlock) else module.bn3).weight)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.bn1(self.conv1(x)))
        if self.maxpool is not None:
            x = self.maxpool(x)
        for i in range(self.groups):
            x = getattr(self, f"layer{i + 1}")(x)
        return self.fc(self.avgpool(x).flatten(1))


def resnet18(num_classes: int = 1000) -> ResNet:
    """The net of 18 layers with weights, 11.7 million numbers.

    >>> sum(p.numel() for p in resnet18().parameters())
    11689512
    """
    return ResNet(BasicBlock, (2, 2, 2, 2), num_classes)


def resnet34(num_classes: int = 1000) -> ResNet:
    """The net of 34 layers with weights, 21.8 million numbers."""
    return ResNet(BasicBlock, (3, 4, 6, 3), num_classes)


def resnet50(num_classes: int = 1000) -> ResNet:
    """The net of 50 layers with weights, in blocks of three, 25.6 million numbers."""
    return ResNet(Bottleneck, (3, 4, 6, 3), num_classes)
