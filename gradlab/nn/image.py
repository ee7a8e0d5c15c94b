"""Modules that grow, shrink, cut up and reorder images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ops
from .._tensor import Tensor
from ..errors import KeywordError, explain
from ..ops.argument import whole
from ..ops.windows import Size
from .module import Module
from .option import shown


class Upsample(Module):
    """Bring sequences, images or volumes to another size, by `size` or by `scale_factor`.

    Args:
        mode: "nearest", "linear" (sequences), "bilinear" or "bicubic" (images), "trilinear" (volumes).
        align_corners: whether the outermost entries keep their place, not the outer edges.

    Shapes: x: (batch, channel, *sizes), y: (batch, channel, *new sizes)

    Raises:
        KeywordError: neither a size nor a factor, or both.
        ShapeError: another number of axes than the mode is for.

    >>> Upsample(scale_factor=2)(Tensor([[[1.0, 2.0]]])).tolist()
    [[[1.0, 1.0, 2.0, 2.0]]]
    """

    def __init__(
        self, size: Size | None = None, scale_factor: float | Sequence[float] | None = None, mode: str = "nearest",
        align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if (size is None) == (scale_factor is None):
            got = {"size": size, "scale_factor": scale_factor}
            raise KeywordError(explain(f"{type(self).__name__}: which size?", got=got, need="size or scale_factor, one of them"))
        factors = tuple([float(f) for f in scale_factor]) if isinstance(scale_factor, (tuple, list)) else scale_factor
        self.size, self.scale_factor = size, float(factors) if isinstance(factors, (int, float)) else factors
        self.mode, self.align_corners, self.recompute_scale_factor = mode, align_corners, recompute_scale_factor

    def forward(self, x: Tensor) -> Tensor:
        factor: Any = self.scale_factor
        return ops.interpolate(x, self.size, factor, self.mode, self.align_corners, self.recompute_scale_factor)

    def extra_repr(self) -> str:
        asked = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{asked}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Grow images by repeating entries, see Upsample.

    Shapes: x: (batch, channel, height, width), y: (batch, channel, *new sizes)

    Raises:
        KeywordError: neither a size nor a factor, or both.
        ShapeError: another number of axes than the mode is for.
    """

    def __init__(self, size: Size | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, "nearest")


class UpsamplingBilinear2d(Upsample):
    """Grow images along straight lines between entries, the outermost of which keep their place, see Upsample.

    Shapes: x: (batch, channel, height, width), y: (batch, channel, *new sizes)

    Raises:
        KeywordError: neither a size nor a factor, or both.
        ShapeError: another number of axes than the mode is for.
    """

    def __init__(self, size: Size | None = None, scale_factor: float | Sequence[float] | None = None) -> None:
        super().__init__(size, scale_factor, "bilinear", align_corners=True)


class PixelShuffle(Module):
    """Make an image r times as large out of r^2 channels.

    Shapes: x: (*, channel r^2, height, width), y: (*, channel, height r, width r)

    Raises:
        ShapeError: channels, or sizes, that are no multiple.

    Source: Shi et al. 2016, arXiv:1609.05158, eq. 4.
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = whole("upscale_factor", upscale_factor)

    def forward(self, x: Tensor) -> Tensor:
        return ops.pixel_shuffle(x, self.upscale_factor)

    def extra_repr(self) -> str:
        return shown(self, "upscale_factor")


class PixelUnshuffle(Module):
    """Make r^2 channels out of an image, r times as small: the inverse of PixelShuffle.

    Shapes: x: (*, channel, height r, width r), y: (*, channel r^2, height, width)

    Raises:
        ShapeError: channels, or sizes, that are no multiple.
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = whole("downscale_factor", downscale_factor)

    def forward(self, x: Tensor) -> Tensor:
        return ops.pixel_unshuffle(x, self.downscale_factor)

    def extra_repr(self) -> str:
        return shown(self, "downscale_factor")


class ChannelShuffle(Module):
    """Take the first channel of each group, then the second of each, and so on.

    Shapes: x: (batch, channel, *), y: as x

    Raises:
        ShapeError: channels that don't make so many groups.

    Source: Zhang et al. 2017, arXiv:1707.01083, section 3.1.
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = whole("groups", groups)

    def forward(self, x: Tensor) -> Tensor:
        return ops.channel_shuffle(x, self.groups)

    def extra_repr(self) -> str:
        return shown(self, "groups")


class Unfold(Module):
    """Every window of an image as a column.

    Shapes: x: (batch, channel, height, width), y: (batch, channel times the entries of a window, windows)

    Raises:
        ShapeError: another number of axes; a window that doesn't fit.

    >>> Unfold(2)(Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])).tolist()
    [[[1.0], [2.0], [3.0], [4.0]]]
    """

    def __init__(self, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, x: Tensor) -> Tensor:
        return ops.unfold(x, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return shown(self, "kernel_size dilation padding stride")


class Fold(Unfold):
    """An image made of columns: each is a window, and where windows overlap they are summed.

    Shapes: x: (batch, channel times the entries of a window, windows), y: (batch, channel, *output_size)

    Raises:
        ShapeError: another number of axes; a window that doesn't fit.
    """

    def __init__(self, output_size: Size, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, x: Tensor) -> Tensor:
        return ops.fold(x, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return shown(self, "output_size kernel_size dilation padding stride")
