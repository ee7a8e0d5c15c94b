"""Convolutions over sequences, images and volumes, and those that run backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from .. import ops
from .._tensor import Tensor
from ..create import zeros
from ..errors import ArgumentError, ShapeError, explain
from ..ops.windows import Size, per_axis
from . import init
from .linear import uniform
from .module import Module
from .option import need_sizes
from .parameter import Parameter

PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]


class Convolution(Module):
    """What all convolutions share: sizes, groups, and their first values.

    Weight and bias start uniform in [-1/sqrt(fan_in), 1/sqrt(fan_in)), fan_in the entries that one output sums.
    """

    axes: ClassVar[int]
    transposed: ClassVar[bool] = False
    output_padding: tuple[int, ...] = ()

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size | str = 0, dilation: Size = 1,
        groups: int = 1, bias: bool = True, padding_mode: PaddingMode = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        name, n = type(self).__name__, self.axes
        sizes = need_sizes(name, in_channels=in_channels, out_channels=out_channels, groups=groups)
        if not sizes[2] or sizes[0] % sizes[2] or sizes[1] % sizes[2]:
            got = {"in_channels": sizes[0], "out_channels": sizes[1], "groups": sizes[2]}
            raise ArgumentError(explain(f"{name}: the channels don't make so many groups", got=got, need="both are multiples of groups"))
        modes = ("zeros",) if self.transposed else ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in modes:
            raise ArgumentError(explain(f"{name}: unknown padding_mode", got={"padding_mode": padding_mode}, need=", ".join(modes)))
        self.in_channels, self.out_channels, self.groups = sizes
        self.kernel_size = per_axis(name, "kernel_size", kernel_size, n, 1)
        self.stride = per_axis(name, "stride", stride, n, 1)
        self.dilation = per_axis(name, "dilation", dilation, n, 1)
        self.padding: Any = padding if isinstance(padding, str) and not self.transposed else per_axis(name, "padding", padding, n)
        if isinstance(self.padding, str) and (padding not in ("same", "valid") or (padding == "same" and max(self.stride) > 1)):
            got, need = {"padding": repr(padding), "stride": self.stride}, "numbers, 'valid', or 'same' with stride 1"
            raise ArgumentError(explain(f"{name}: this padding has no meaning", got=got, need=need))
        self.padding_mode: PaddingMode = padding_mode
        shape = (sizes[0], sizes[1] // sizes[2]) if self.transposed else (sizes[1], sizes[0] // sizes[2])
        self.weight = Parameter(zeros(*shape, *self.kernel_size, device=device, dtype=dtype))
        self.bias = Parameter(zeros(sizes[1], device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        uniform(self, init.fans(self.weight)[0])

    def _ends(self) -> list[int]:
        """The padding before and behind each axis, the last axis first, as `pad` takes it."""
        if self.padding == "same":
            both = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            return [n for total in reversed(both) for n in (total // 2, total - total // 2)]
        return [n for p in reversed((0,) * self.axes if self.padding == "valid" else self.padding) for n in (p, p)]

    def forward(self, x: Tensor) -> Tensor:
        op = (ops.conv1d, ops.conv2d, ops.conv3d)[self.axes - 1]
        if self.padding_mode == "zeros":
            return op(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
        padded = ops.pad(x, self._ends(), mode=self.padding_mode)
        return op(padded, self.weight, self.bias, self.stride, 0, self.dilation, self.groups)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        options = {"padding": (0,), "dilation": (1,), "output_padding": (0,)}
        for name, usual in options.items():
            value = getattr(self, name)
            text += "" if value == usual * len(value) else f", {name}={value}"
        text += ("" if self.groups == 1 else f", groups={self.groups}") + ("" if self.bias is not None else ", bias=False")
        return text + ("" if self.padding_mode == "zeros" else f", padding_mode={self.padding_mode}")


class Transposed(Convolution):
    """What transposed convolutions share: they put, for every input, its weighted kernel into the output."""

    transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Size, stride: Size = 1, padding: Size = 0, output_padding: Size = 0,
        groups: int = 1, bias: bool = True, dilation: Size = 1, padding_mode: Literal["zeros"] = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype)
        self.output_padding = per_axis(type(self).__name__, "output_padding", output_padding, self.axes)

    def forward(self, x: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        op = (ops.conv_transpose1d, ops.conv_transpose2d, ops.conv_transpose3d)[self.axes - 1]
        more = self.output_padding if output_size is None else self._more(x, list(output_size))
        return op(x, self.weight, self.bias, self.stride, self.padding, more, self.groups, self.dilation)

    def _more(self, x: Tensor, wanted: list[int]) -> tuple[int, ...]:
        """The output_padding that gives the size wanted: a stride of s leaves s sizes open."""
        wanted, n = wanted[-self.axes :], self.axes
        walked = zip(x.shape[-n:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        least = [(size - 1) * s - 2 * p + d * (k - 1) + 1 for size, s, p, d, k in walked]
        most = [low + s - 1 for low, s in zip(least, self.stride, strict=True)]
        if len(wanted) != n or not all(a <= w <= b for a, w, b in zip(least, wanted, most, strict=True)):
            got = {"output_size": wanted, "x": x.shape}
            raise ShapeError(explain(f"{type(self).__name__}: no such output", got=got, need=f"from {least} to {most}"))
        return tuple([w - low for w, low in zip(wanted, least, strict=True)])


class Conv1d(Convolution):
    """Slide a kernel along sequences: each output is a weighted sum of the window there, over all channels of its group.

    Options as in Conv2d.

    Shapes: x: (batch, in_channels, length) or without batch, y: (batch, out_channels, length of the output),
    weight: (out_channels, in_channels / groups, kernel), bias: (out_channels,)

    Raises:
        ShapeError: other channels, or a window larger than the padded input.
        ArgumentError: channels that don't make so many groups; a padding, size or mode that has no meaning.

    >>> Conv1d(2, 4, 3, padding=1)(zeros(1, 2, 10)).shape
    (1, 4, 10)
    """

    axes = 1


class Conv2d(Convolution):
    """Slide a kernel over images: each output is a weighted sum of the window there, over all channels of its group.

    Args:
        stride: how far the window moves each time.
        padding: zeros at both ends of every axis; "same" keeps the size (with stride 1), "valid" adds none.
        dilation: how far apart the entries are that a window sees.
        groups: how many groups of channels are kept apart; with groups=in_channels each channel has kernels of its own.
        padding_mode: what the padding holds: "zeros", "reflect", "replicate" or "circular".

    Shapes: x: (batch, in_channels, height, width) or without batch, y: (batch, out_channels, *sizes of the output),
    weight: (out_channels, in_channels / groups, *kernel_size), bias: (out_channels,)

    Raises:
        ShapeError: other channels, or a window larger than the padded input.
        ArgumentError: channels that don't make so many groups; a padding, size or mode that has no meaning.

    Source: LeCun et al. 1989, "Backpropagation applied to handwritten zip code recognition".

    >>> Conv2d(3, 8, 3, stride=2, padding=1)
    Conv2d(3, 8, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1))
    >>> Conv2d(3, 8, 5, padding="same")(zeros(1, 3, 6, 7)).shape
    (1, 8, 6, 7)
    """

    axes = 2


class Conv3d(Convolution):
    """Slide a kernel through volumes: each output is a weighted sum of the window there, over all channels of its group.

    Options as in Conv2d.

    Shapes: x: (batch, in_channels, depth, height, width) or without batch, y: (batch, out_channels, *sizes of the output),
    weight: (out_channels, in_channels / groups, *kernel_size), bias: (out_channels,)

    Raises:
        ShapeError: other channels, or a window larger than the padded input.
        ArgumentError: channels that don't make so many groups; a padding, size or mode that has no meaning.

    >>> Conv3d(1, 2, 2)(zeros(1, 1, 4, 4, 4)).shape
    (1, 2, 3, 3, 3)
    """

    axes = 3


class ConvTranspose1d(Transposed):
    """Grow sequences: each input adds its weighted kernel to the output; what Conv1d does to gradients.

    Options as in ConvTranspose2d.

    Shapes: x: (batch, in_channels, length) or without batch, y: (batch, out_channels, length of the output),
    weight: (in_channels, out_channels / groups, kernel), bias: (out_channels,)

    Raises:
        ShapeError: other channels; no output of the `output_size` that is asked for.
        ArgumentError: channels that don't make so many groups; a size that has no meaning.

    >>> ConvTranspose1d(2, 4, 4, stride=2, padding=1)(zeros(1, 2, 5)).shape
    (1, 4, 10)
    """

    axes = 1


class ConvTranspose2d(Transposed):
    """Grow images: each input adds its weighted kernel to the output; what Conv2d does to gradients.

    The stride says how far apart the kernels are put. Several sizes of the output have the same input, see `output_padding`;
    a call may name the one that is meant: `layer(x, output_size=(28, 28))`.

    Args:
        padding: how much is cut off at both ends of every axis.
        output_padding: how much is left on at the end of every axis.

    Shapes: x: (batch, in_channels, height, width) or without batch, y: (batch, out_channels, *sizes of the output),
    weight: (in_channels, out_channels / groups, *kernel_size), bias: (out_channels,)

    Raises:
        ShapeError: no output of the `output_size` that is asked for.

    Source: Zeiler et al. 2010, "Deconvolutional networks".

    >>> layer = ConvTranspose2d(2, 4, 3, stride=2, padding=1)
    >>> layer(zeros(1, 2, 5, 5)).shape, layer(zeros(1, 2, 5, 5), output_size=(10, 10)).shape
    ((1, 4, 9, 9), (1, 4, 10, 10))
    """

    axes = 2


class ConvTranspose3d(Transposed):
    """Grow volumes: each input adds its weighted kernel to the output; what Conv3d does to gradients.

    Options as in ConvTranspose2d.

    Shapes: x: (batch, in_channels, depth, height, width) or without batch, y: (batch, out_channels, *sizes of the output),
    weight: (in_channels, out_channels / groups, *kernel_size), bias: (out_channels,)

    Raises:
        ShapeError: other channels; no output of the `output_size` that is asked for.
        ArgumentError: channels that don't make so many groups; a size that has no meaning.

    >>> ConvTranspose3d(1, 2, 2, stride=2)(zeros(1, 1, 2, 2, 2)).shape
    (1, 2, 4, 4, 4)
    """

    axes = 3
