"""Real data that comes with gradlab."""

from __future__ import annotations

import gzip
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from .._tensor import Tensor
from ..errors import DataError, explain


class Digits(NamedTuple):
    """Images and what they show, row by row.

    Shapes: images: (n, 64) float32 in [0, 1], row by row from the top left; labels: (n,) int64 in 0..9
    """

    images: Tensor
    labels: Tensor

    def split(self, test: float = 0.2, seed: int = 0) -> tuple[Digits, Digits]:
        """Two parts, for training and for testing, with the same share of every digit in both.

        Args:
            test: the share of each digit that goes to the second part.
            seed: the same seed gives the same parts.

        >>> train, held_out = digits().split(test=0.2)
        >>> len(train.labels.data), len(held_out.labels.data)
        (1438, 359)
        """
        if not 0 < test < 1:
            raise DataError(explain("split: test is a share", got={"test": test}, need="0 < test < 1"))
        rng = np.random.default_rng(seed)
        labels = self.labels._data
        order = rng.permutation(len(labels))
        # Sorted by digit (each in drawn order), the rows that are passed when a multiple of 1 / test is crossed are held out.
        by_digit = order[np.argsort(labels[order], kind="stable")]
        crossed = np.diff(np.floor(np.arange(len(labels) + 1) * test + 0.5)) > 0
        return tuple([Digits(*[Tensor(t._data[np.sort(by_digit[part])]) for t in self]) for part in (~crossed, crossed)])  # type: ignore[return-value]


def digits() -> Digits:
    """1,797 handwritten digits of 13 people, scanned and reduced to 8 x 8 grey values.

    Source: E. Alpaydin and C. Kaynak 1998, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository,
    the test set, CC BY 4.0; digits.LICENSE.txt beside the file says more.

    >>> images, labels = digits()
    >>> images.shape, labels.tolist()[:3]
    ((1797, 64), [0, 1, 2])
    """
    text = gzip.decompress(files("gradlab.data").joinpath("digits.csv.gz").read_bytes()).decode()
    table = np.loadtxt(text.splitlines(), delimiter=",", dtype=np.uint8)
    return Digits(Tensor(table[:, :64].astype(np.float32) / 16), Tensor(table[:, 64].astype(np.int64)))
