"""What a capture keeps as it is beside arrays, and what stands for the rest."""

from __future__ import annotations

import types
from typing import Any, NamedTuple

import numpy as np

from ..backend import Device

_PLAIN = (type(None), type(Ellipsis), bool, int, float, complex, str, bytes, slice, np.dtype, np.generic, np.ufunc, Device, type)


class Lost(NamedTuple):
    """Stands for what is no data and was not kept, so that nothing of the user's is held: its type."""

    name: str

    def __repr__(self) -> str:
        return self.name


def is_plain(value: Any) -> bool:
    """Whether it holds nothing of the user's: a number, a name, a class, a function without variables of others."""
    return isinstance(value, _PLAIN) or (isinstance(value, types.FunctionType) and value.__closure__ is None)
