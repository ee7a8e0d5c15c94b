"""A gallery: pictures side by side with a caption each, to look at in a notebook."""

from __future__ import annotations

import html
import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import to_numpy
from ..errors import ShapeError, explain

_BELOW, _ABOVE = (33, 102, 172), (178, 24, 43)  # what signed numbers turn to: blue, red; 0 is white


class Gallery:
    """Pictures with captions, shown by the notebook that it is the last line of; see `gallery`.

    >>> Gallery(np.zeros((2, 4, 4, 3), np.uint8), ["a", "b"], 64)
    Gallery(2 pictures of 4 x 4)
    """

    def __init__(self, pixels: np.ndarray, captions: Sequence[str], width_px: int) -> None:
        self.pixels, self.captions, self.width_px = pixels, list(captions), width_px

    def _repr_html_(self) -> str:
        cell, (height, width) = max(self.width_px, 64), self.pixels.shape[1:3]
        size = f"width:{self.width_px}px;height:{round(self.width_px * height / width)}px;image-rendering:pixelated;outline:1px solid #8884"
        items: list[str] = []
        for picture, caption in zip(self.pixels, self.captions, strict=True):
            text = html.escape(caption)
            image = f'<img alt="{text}" src="data:image/png;base64,{b64encode(png(picture)).decode()}" style="{size}">'
            below = f'<figcaption style="margin-top:3px">{text.replace(chr(10), "<br>")}</figcaption>' if text else ""
            items.append(f'<figure style="margin:0;width:{cell}px">{image}{below}</figure>')
        style = "display:flex;flex-wrap:wrap;gap:12px 10px;padding:4px 0;font:12px/1.35 var(--jp-ui-font-family,sans-serif)"
        return f'<div style="{style}">{"".join(items)}</div>'

    def __repr__(self) -> str:
        n, height, width = self.pixels.shape[:3]
        return f"Gallery({n} picture{'s' * (n != 1)} of {height} x {width})"


def gallery(images: Any, captions: Sequence[object] | None = None, width_px: int = 72, signed: bool = False) -> Gallery:
    """Pictures side by side, each with its caption below, as large as asked for and not blurred.

    Args:
        images: whole numbers to 255 as uint8, or floats from 0 to 1; what is beyond is cut off.
        captions: one a picture; a line break in it is kept.
        width_px: how wide each is shown.
        signed: for weights and such: 0 is in the middle and the largest of all magnitudes at an end, grey ones from blue to red.

    Shapes: images: (n, channel, height, width) with 1 or 3 channels, or (n, height, width)

    Raises:
        ShapeError: these are no pictures, or not as many captions.

    >>> gallery(np.zeros((3, 1, 8, 8)), ["seven", "one", "four"])
    Gallery(3 pictures of 8 x 8)
    """
    values = to_numpy(images._data) if isinstance(images, Tensor) else np.asarray(images)
    values = values[:, None] if values.ndim == 3 else values
    if values.ndim != 4 or values.shape[1] not in (1, 3):
        need = "(n, channel, height, width) with 1 or 3 channels, or (n, height, width)"
        raise ShapeError(explain("gallery: these are no pictures", got={"images": values.shape}, need=need))
    texts = [""] * len(values) if captions is None else [str(one) for one in captions]
    if len(texts) != len(values):
        got = {"pictures": len(values), "captions": len(texts)}
        raise ShapeError(explain("gallery: each picture has a caption, or none has", got=got, need="as many captions"))
    return Gallery(_signed(values) if signed else _plain(values), texts, width_px)


def _plain(values: np.ndarray) -> np.ndarray:
    """(n, height, width, 3) bytes."""
    if values.dtype != np.uint8:
        values = np.round(np.clip(values, 0, 1) * 255).astype(np.uint8)
    return np.broadcast_to(values.transpose(0, 2, 3, 1), (len(values), *values.shape[2:], 3))


def _signed(values: np.ndarray) -> np.ndarray:
    """The same of numbers around 0: colours around grey, grey ones as blue, white and red."""
    share = values / (np.abs(values).max(initial=0) or 1)
    if values.shape[1] == 3:
        return _plain(0.5 + 0.5 * share)
    share = share.transpose(0, 2, 3, 1)
    ends = np.where(share < 0, np.array(_BELOW), np.array(_ABOVE))
    return np.round(255 + np.abs(share) * (ends - 255.0)).astype(np.uint8)


def png(pixels: np.ndarray) -> bytes:
    """A PNG of (height, width, 3) bytes.

    Source: W3C 2003, "Portable Network Graphics (PNG) Specification", sections 5 and 11.2; no filter.

    >>> png(np.zeros((2, 2, 3), np.uint8))[1:4]
    b'PNG'
    """
    height, width, _ = pixels.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, width * 3)], axis=1)
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    chunks = [struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
