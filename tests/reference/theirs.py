"""PyTorch's side of the table; PyTorch is imported when it is first asked."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from .chooser import Call
from .compare import Outcome, outcome
from .table import Row


def function(row: Row) -> Callable[..., Any]:
    """PyTorch's function for a row: the one named, or that of the same name in F, torch or Tensor."""
    import torch
    import torch.nn.functional as F

    if callable(row.theirs):
        return lambda *args, **kwargs: row.theirs(torch, *args, **kwargs)
    if row.theirs:
        return attrgetter(row.theirs)(torch)
    for place in (F, torch, torch.Tensor):
        if callable(f := getattr(place, row.name, None)):
            return f
    raise LookupError(f"PyTorch has no {row.name}")


def of_torch(row: Row, call: Call) -> Outcome:
    """PyTorch's outcome."""
    import torch

    def as_numpy(y: Any) -> np.ndarray:
        return y.detach().numpy(force=True) if isinstance(y, torch.Tensor) else np.asarray(y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(function(row), call, torch.from_numpy, as_numpy)
