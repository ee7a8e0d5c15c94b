"""Datasets that worker processes can import, for test_processes.py."""

from __future__ import annotations

import os
import random

import numpy as np

import gradlab as gl
from gradlab import data


class TwoArgumentError(Exception):
    """One that pickle can't make again."""

    def __init__(self, a, b):
        super().__init__(f"{a} {b}")


class Noisy(data.Dataset):
    """(index, what gradlab, Python and NumPy draw, which process draws)."""

    def __init__(self, n=10, bad=None):
        self.n, self.bad = n, bad

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i == 3 and self.bad == "error":
            raise KeyError("item three is broken")
        if i == 3 and self.bad == "two":
            raise TwoArgumentError("one", "two")
        if i == 3 and self.bad == "death":
            os._exit(7)
        return i, gl.rand(1).item(), random.random(), np.random.rand(), os.getpid()


class Lines(data.IterableDataset):
    def __iter__(self):
        assert data.get_worker_info() is None or data.get_worker_info().num_workers == 1
        return iter(range(7))


def total(items):
    return sum(items)


def begin(number):
    print(f"worker {number} begins", flush=True)
