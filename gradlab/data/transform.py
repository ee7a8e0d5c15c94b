"""Changes to pictures before a model sees them: one (channel, height, width), or a batch of them, in one go.

Each picture of a batch draws for itself, from gradlab's random numbers: `gl.manual_seed` repeats them, and in a loader each
batch has numbers of its own, whichever worker makes it. Tensors give tensors, arrays give arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import Array, asarray_like, generator, is_array, xp_of
from ..errors import ArgumentError, DTypeError, GraphError, KeywordError, ShapeError, explain

_MODES = ("constant", "edge", "reflect", "symmetric")  # torchvision's and NumPy's


class Compose:
    """One transform after the other.

    >>> Compose([Normalize(0.5, 0.5), RandomHorizontalFlip()])
    Compose(Normalize(mean=[0.5], std=[0.5]), RandomHorizontalFlip(p=0.5))
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = list(transforms)
        for one in self.transforms:
            if not callable(one):
                raise KeywordError(
                    explain("Compose: a transform is called", got={"one of them": type(one).__name__}, need="functions of pictures")
                )

    def __call__(self, x: Any) -> Any:
        """The pictures after all of them."""
        for transform in self.transforms:
            x = transform(x)
        return x

    def __repr__(self) -> str:
        return f"Compose({', '.join(map(repr, self.transforms))})"


class _Transform:
    """Takes the array out of a tensor, has it changed as a batch, and puts it back."""

    def __call__(self, x: Any) -> Any:
        """The changed pictures, as new memory; the given ones stay as they are.

        Shapes: x: (channel, height, width) or (n, channel, height, width)
        """
        name = type(self).__name__
        if isinstance(x, Tensor) and x.requires_grad:
            got = {"shape": x.shape}
            raise GraphError(
                explain(f"{name}: a transform has no gradient, and this tensor requires one", got=got, need="data", fix="x.detach()")
            )
        array: Any = x._data if isinstance(x, Tensor) else x
        if not is_array(array):
            raise KeywordError(explain(f"{name}: these are no pictures", got={"type": type(x).__name__}, need="a tensor or an array"))
        if array.ndim not in (3, 4):
            need = "(channel, height, width), or a batch of them"
            raise ShapeError(explain(f"{name}: these are no pictures", got={"shape": array.shape}, need=need))
        batch = self._changed(array if array.ndim == 4 else array[None])
        out = batch if array.ndim == 4 else batch[0]
        return Tensor.made(out, None) if isinstance(x, Tensor) else out

    def _changed(self, x: Array) -> Array:
        raise NotImplementedError


class Normalize(_Transform):
    """(x - mean) / std for each channel: pictures in [0, 1] get a mean of 0 and a spread of 1.

    Args:
        mean, std: one number for each channel, or one for all.

    Raises:
        DTypeError: whole numbers, which have to become floats first.

    >>> Normalize([0.5], [0.25])(np.full((1, 1, 2), 0.75)).tolist()
    [[[1.0, 1.0]]]
    """

    def __init__(self, mean: float | Sequence[float], std: float | Sequence[float]) -> None:
        self.mean, self.std = (np.atleast_1d(np.asarray(v, np.float64)) for v in (mean, std))
        if (
            self.mean.ndim > 1
            or self.std.ndim > 1
            or not (np.isfinite(self.std) & (self.std > 0)).all()
            or not np.isfinite(self.mean).all()
        ):
            got = {"mean": self.mean.tolist(), "std": self.std.tolist()}
            raise ArgumentError(explain("Normalize: can't divide by this", got=got, need="finite numbers, std above 0"))

    def _changed(self, x: Array) -> Array:
        if x.dtype.kind != "f":
            raise DTypeError(
                explain("Normalize: pictures are floats here", got={"dtype": x.dtype}, need="floats, from 0 to 1", fix="x.float() / 255")
            )
        if {len(self.mean), len(self.std)} - {1, x.shape[1]}:
            got = {"channels": x.shape[1], "mean": len(self.mean), "std": len(self.std)}
            raise ShapeError(explain("Normalize: other channels than pictures have", got=got, need="one number a channel, or one for all"))
        mean, std = (asarray_like(v.reshape(-1, 1, 1), x, x.dtype) for v in (self.mean, self.std))
        return (x - mean) / std

    def __repr__(self) -> str:
        return f"Normalize(mean={self.mean.tolist()}, std={self.std.tolist()})"


class RandomHorizontalFlip(_Transform):
    """Each picture turned left to right with a chance of `p`.

    >>> RandomHorizontalFlip(p=1.0)(np.array([[[1, 2, 3]]])).tolist()
    [[[3, 2, 1]]]
    """

    def __init__(self, p: float = 0.5) -> None:
        self.p = _chance("RandomHorizontalFlip", p)

    def _changed(self, x: Array) -> Array:
        turned = generator().random(len(x)) < self.p
        return xp_of(x).where(asarray_like(turned[:, None, None, None], x), x[..., ::-1], x)

    def __repr__(self) -> str:
        return f"RandomHorizontalFlip(p={self.p})"


class RandomCrop(_Transform):
    """A window of `size` at a place that each picture draws, after a border was added where asked for.

    Args:
        size: height and width, or one number for both.
        padding: the border: one number; (left and right, top and bottom); or (left, top, right, bottom).
        fill: what a constant border is filled with.
        padding_mode: "constant", "edge", "reflect" or "symmetric".

    Raises:
        ShapeError: the picture with its border is smaller than the window.

    >>> RandomCrop(2)(np.zeros((5, 3, 8, 8))).shape
    (5, 3, 2, 2)
    """

    def __init__(
        self, size: int | Sequence[int], padding: int | Sequence[int] | None = None, fill: float = 0, padding_mode: str = "constant"
    ) -> None:
        self.size = _pair("RandomCrop", size)
        border = [padding] if isinstance(padding, int) else [0] if padding is None else list(padding)
        self.padding = (border * 4)[:4] if len(border) in (1, 2, 4) else []
        if not self.padding or min(self.padding) < 0:
            need = "one, two or four numbers, 0 or more"
            raise ArgumentError(explain("RandomCrop: this is no border", got={"padding": padding}, need=need))
        if padding_mode not in _MODES:
            raise ArgumentError(explain("RandomCrop: no such padding_mode", got={"padding_mode": padding_mode}, need=", ".join(_MODES)))
        self.fill, self.padding_mode = fill, padding_mode

    def _changed(self, x: Array) -> Array:
        xp, (left, top, right, bottom), (height, width) = xp_of(x), self.padding, self.size
        if any(self.padding):
            how = {"constant_values": self.fill} if self.padding_mode == "constant" else {}
            x = xp.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), mode=self.padding_mode, **how)
        n, _, high, wide = x.shape
        if height > high or width > wide:
            got = {"picture with its border": (high, wide), "window": self.size}
            raise ShapeError(
                explain("RandomCrop: the window is larger than the picture", got=got, need="a smaller window, or more padding")
            )
        rng = generator()
        y, x0 = rng.integers(high - height + 1, size=n), rng.integers(wide - width + 1, size=n)
        rows, columns = y[:, None] + np.arange(height), x0[:, None] + np.arange(width)
        index = [asarray_like(i, x) for i in (np.arange(n)[:, None, None], rows[:, :, None], columns[:, None, :])]
        # The channels, between arrays of indices, end up last.
        return xp.ascontiguousarray(xp.moveaxis(x[index[0], :, index[1], index[2]], -1, 1))

    def __repr__(self) -> str:
        return f"RandomCrop(size={self.size}, padding={self.padding}, padding_mode={self.padding_mode!r})"


class RandomErasing(_Transform):
    """With a chance of `p` a rectangle of each picture is overwritten.

    Args:
        scale: the share of the picture that it covers is drawn between these two.
        ratio: and height by width between these.
        value: a number, one for each channel, or "random" for noise of N(0, 1).

    Source: Z. Zhong et al. 2017, "Random Erasing Data Augmentation", arXiv 1708.04896, algorithm 1; ten tries to fit, and
    the ratio drawn on a logarithmic scale, as in torchvision.

    >>> int((RandomErasing(p=1.0)(np.ones((1, 10, 10))) == 0).sum()) > 0
    True
    """

    def __init__(
        self,
        p: float = 0.5,
        scale: tuple[float, float] = (0.02, 0.33),
        ratio: tuple[float, float] = (0.3, 3.3),
        value: float | Sequence[float] | str = 0,
    ) -> None:
        self.p = _chance("RandomErasing", p)
        for name, (low, high), most in (("scale", scale, 1.0), ("ratio", ratio, math.inf)):
            if not 0 < low <= high <= most:
                raise ArgumentError(
                    explain(f"RandomErasing: {name} goes from low to high", got={name: (low, high)}, need=f"0 < low <= high <= {most:g}")
                )
        if isinstance(value, str) and value != "random":
            raise ArgumentError(explain("RandomErasing: no such value", got={"value": value}, need='a number, one a channel, or "random"'))
        self.scale, self.ratio, self.value = scale, ratio, value

    def _changed(self, x: Array) -> Array:
        rng = generator()
        out = xp_of(x).array(x)
        for i in np.flatnonzero(rng.random(len(x)) < self.p).tolist():
            place = self._place(rng, *x.shape[2:])
            if place is not None:
                top, left, height, width = place
                out[i, :, top : top + height, left : left + width] = self._filling(rng, x, (x.shape[1], height, width))
        return out

    def _place(self, rng: np.random.Generator, high: int, wide: int) -> tuple[int, int, int, int] | None:
        for _ in range(10):
            area = high * wide * rng.uniform(*self.scale)
            ratio = math.exp(rng.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            height, width = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < height < high and 0 < width < wide:
                return int(rng.integers(high - height + 1)), int(rng.integers(wide - width + 1)), height, width
        return None

    def _filling(self, rng: np.random.Generator, x: Array, shape: tuple[int, int, int]) -> Array:
        if isinstance(self.value, str):
            return asarray_like(rng.standard_normal(shape), x, x.dtype)
        values = np.atleast_1d(np.asarray(self.value))
        if len(values) not in (1, shape[0]):
            got = {"channels": shape[0], "values": len(values)}
            raise ShapeError(
                explain("RandomErasing: other channels than pictures have", got=got, need="one value a channel, or one for all")
            )
        return asarray_like(values.reshape(-1, 1, 1), x, x.dtype)

    def __repr__(self) -> str:
        return f"RandomErasing(p={self.p}, scale={self.scale}, ratio={self.ratio}, value={self.value!r})"


def _chance(name: str, p: Any) -> float:
    if not isinstance(p, (int, float)) or not 0 <= p <= 1:
        raise ArgumentError(explain(f"{name}: p is a chance", got={"p": p}, need="0 <= p <= 1"))
    return p


def _pair(name: str, size: Any) -> tuple[int, int]:
    pair = (size, size) if isinstance(size, int) else tuple(size) if isinstance(size, (list, tuple)) else ()
    if len(pair) != 2 or not all(isinstance(n, int) and n > 0 for n in pair):
        raise ArgumentError(explain(f"{name}: this is no size", got={"size": size}, need="height and width, or one number for both"))
    return pair[0], pair[1]
