"""Ops that move entries between channels and places: pixel shuffle, its inverse, and channel shuffle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _grown(x: Array, r: int) -> Array:
    """(*, c r r, height, width) as (*, c, height r, width r)."""
    xp, (*lead, c, h, w) = xp_of(x), x.shape
    n = len(lead)
    x = x.reshape((*lead, c // (r * r), r, r, h, w))
    x = xp.transpose(x, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return xp.array(x, order="C").reshape((*lead, c // (r * r), h * r, w * r))


def _shrunk(x: Array, r: int) -> Array:
    """(*, c, height r, width r) as (*, c r r, height, width)."""
    xp, (*lead, c, h, w) = xp_of(x), x.shape
    n = len(lead)
    x = x.reshape((*lead, c, h // r, r, w // r, r))
    x = xp.transpose(x, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return xp.array(x, order="C").reshape((*lead, c * r * r, h // r, w // r))


def _need_factor(op: str, name: str, x: Array, r: int, sizes: tuple[int, ...], by: int, need: str) -> None:
    """Refuse a factor that the sizes cannot be divided by."""
    if type(r) is not int or r < 1:
        raise ArgumentError(explain(f"{op}: this {name} has no meaning", got={name: r}, need="a whole number, 1 or more"))
    if any(n % by for n in sizes):
        raise ShapeError(explain(f"{op}: the sizes don't divide", got={"x": x.shape, name: r}, need=need))


def _need_image(op: str, x: Array) -> None:
    if x.ndim < 3:
        raise ShapeError(explain(f"{op}: takes images with channels", got={"x": x.shape}, need="(*, channel, height, width)"))


class PixelShuffle(Function):
    """y[c, h r + i, w r + j] = x[c r r + i r + j, h, w];  dx = g, moved back."""

    latex = r"y_{c,\,hr+i,\,wr+j} = x_{cr^2+ir+j,\,h,\,w}, \quad \bar x_{cr^2+ir+j,\,h,\,w} = \bar y_{c,\,hr+i,\,wr+j}"
    kind = "shape"
    cases = (
        Case(Draw((2, 8, 2, 3)), upscale_factor=2),
        Case(Draw((9, 1, 2)), upscale_factor=3),
        Case(Draw((1, 2, 1, 4, 1, 1)), upscale_factor=1),
        Case(Draw((0, 4, 2, 2)), upscale_factor=2),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, upscale_factor: int) -> Array:
        _need_image("pixel_shuffle", x)
        self.r = r = upscale_factor
        _need_factor("pixel_shuffle", "upscale_factor", x, r, x.shape[-3:-2], r * r, "channels that are a multiple of its square")
        return _grown(x, r)

    def backward(self, g: Array) -> Array:
        return _shrunk(g, self.r)


def pixel_shuffle(input: TensorLike, upscale_factor: int) -> Tensor:
    """Make an image larger by laying every r * r channels out as a square of r by r places.

    Shapes: input: (*, c * r * r, height, width), y: (*, c, height * r, width * r)

    Raises:
        ShapeError: channels that do not divide, or no image.
        ArgumentError: a factor below 1.

    Source: W. Shi et al., Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel Convolutional Neural
    Network, 2016, arXiv:1609.05158, eq. 4.

    >>> pixel_shuffle([[[1.0]], [[2.0]], [[3.0]], [[4.0]]], 2).data
    array([[[1., 2.],
            [3., 4.]]], dtype=float32)
    """
    return PixelShuffle.apply(input, upscale_factor=upscale_factor)


class PixelUnshuffle(Function):
    """y[c r r + i r + j, h, w] = x[c, h r + i, w r + j];  dx = g, moved back."""

    latex = r"y_{cr^2+ir+j,\,h,\,w} = x_{c,\,hr+i,\,wr+j}, \quad \bar x_{c,\,hr+i,\,wr+j} = \bar y_{cr^2+ir+j,\,h,\,w}"
    kind = "shape"
    cases = (
        Case(Draw((2, 1, 4, 6)), downscale_factor=2),
        Case(Draw((2, 3, 3)), downscale_factor=3),
        Case(Draw((0, 1, 2, 2)), downscale_factor=2),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, downscale_factor: int) -> Array:
        _need_image("pixel_unshuffle", x)
        self.r = r = downscale_factor
        _need_factor("pixel_unshuffle", "downscale_factor", x, r, x.shape[-2:], r, "height and width that are multiples of it")
        return _shrunk(x, r)

    def backward(self, g: Array) -> Array:
        return _grown(g, self.r)


def pixel_unshuffle(input: TensorLike, downscale_factor: int) -> Tensor:
    """Undo `pixel_shuffle`: every square of r by r places becomes r * r channels.

    Shapes: input: (*, c, height * r, width * r), y: (*, c * r * r, height, width)

    Raises:
        ShapeError: height or width that do not divide, or no image.
        ArgumentError: a factor below 1.

    >>> pixel_unshuffle([[[1.0, 2.0], [3.0, 4.0]]], 2).data.ravel()
    array([1., 2., 3., 4.], dtype=float32)
    """
    return PixelUnshuffle.apply(input, downscale_factor=downscale_factor)


class ChannelShuffle(Function):
    """y[j groups + i] = x[i n + j], n channels a group;  dx = g, moved back."""

    latex = r"y_{jG+i} = x_{in+j}, \quad \bar x_{in+j} = \bar y_{jG+i}"
    kind = "shape"
    cases = (
        Case(Draw((2, 6, 2, 1)), groups=2),
        Case(Draw((1, 6, 2)), groups=3),
        Case(Draw((0, 4, 2)), groups=2),
    )
    reads = ()
    fresh = True

    def forward(self, x: Array, groups: int) -> Array:
        if x.ndim < 3:
            raise ShapeError(explain("channel_shuffle: takes images with channels", got={"x": x.shape}, need="(batch, channel, *)"))
        _need_factor("channel_shuffle", "groups", x, groups, x.shape[1:2], groups, "channels that are a multiple of it")
        self.groups = groups
        return _interleaved(x, groups)

    def backward(self, g: Array) -> Array:
        return _interleaved(g, g.shape[1] // self.groups if g.shape[1] else 1)


def _interleaved(x: Array, groups: int) -> Array:
    xp, (n, c, *rest) = xp_of(x), x.shape
    return xp.array(xp.swapaxes(x.reshape((n, groups, c // groups, *rest)), 1, 2), order="C").reshape(x.shape)


def channel_shuffle(input: TensorLike, groups: int) -> Tensor:
    """Deal the channels of `groups` groups out in turn, so that the next grouped convolution sees some of each.

    Shapes: input: (batch, channel, *), y: as input

    Raises:
        ShapeError: channels that do not divide.
        ArgumentError: a number of groups below 1.

    Source: X. Zhang et al., ShuffleNet, 2017, arXiv:1707.01083, section 3.1.

    >>> channel_shuffle([[[1.0], [2.0], [3.0], [4.0]]], 2).data.ravel()
    array([1., 3., 2., 4.], dtype=float32)
    """
    return ChannelShuffle.apply(input, groups=groups)
