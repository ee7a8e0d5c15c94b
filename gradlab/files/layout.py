"""Nested values as a JSON text and a flat dict of arrays, which is what a safetensors file holds, and back.

None, True, numbers, strings and lists stand for themselves. All else is an object with one entry, its kind:
`{"tensor": name}`, `{"array": name}` and `{"scalar": name}` lead to an array of the file, `{"dict": [[key, value], ...]}`
keeps keys that are no strings, `{"tuple": [...]}` is told from a list, `{"float": "nan"}` is what JSON can't write.
"""

from __future__ import annotations

import json
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..backend import Array, is_array, on_host, to_numpy
from ..errors import ArgumentError, DTypeError, FormatError, KeywordError, explain

VERSION = 1
_DEEPEST = 100  # levels; a dict that holds itself has no end
_GROUPS: dict[type, str] = {tuple: "tuple", set: "set", frozenset: "frozenset"}
_TABLES: dict[type, str] = {dict: "dict", OrderedDict: "OrderedDict", Counter: "Counter"}
_NAMES = {name: kind for kinds in (_GROUPS, _TABLES) for kind, name in kinds.items()}
_KEPT = "biufc"  # kinds of numbers, of 8 bytes at most


def packed(value: Any) -> tuple[str, dict[str, np.ndarray]]:
    """The layout of `value`, and its arrays by name; one that is in several places is there once.

    Raises:
        KeywordError: something that is neither a number, text, an array nor a list or dict of them.
        DTypeError: an array of something that a file can't hold.
        ArgumentError: a list or dict that holds itself.

    >>> packed({"lr": 0.1, "m": Tensor([1.0])})[0]
    '{"version": 1, "value": {"dict": [["lr", 0.1], ["m", {"tensor": "m"}]]}}'
    """
    packer = _Packer()
    return json.dumps({"version": VERSION, "value": packer.written(value, ())}), packer.arrays


class _Packer:
    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._names: dict[Any, str] = {}

    def written(self, value: Any, path: tuple[str, ...]) -> Any:
        if len(path) > _DEEPEST:
            got = {"path": ".".join(path[:8]) + "..."}
            raise ArgumentError(explain("save: nested too deep, or in itself", got=got, need=f"at most {_DEEPEST} levels"))
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, Tensor):
            return {"tensor": self._kept(value._data, path)}
        if isinstance(value, np.generic):
            return {"scalar": self._kept(np.asarray(value), path)}
        if is_array(value):
            return {"array": self._kept(value, path)}
        if type(value) is list:
            return [self.written(item, (*path, str(i))) for i, item in enumerate(value)]
        if type(value) in _GROUPS:
            return {_GROUPS[type(value)]: [self.written(item, (*path, str(i))) for i, item in enumerate(value)]}
        if isinstance(value, dict):  # also defaultdict, whose factory is code
            pairs = [[self.written(key, (*path, "key")), self.written(item, (*path, str(key)))] for key, item in value.items()]
            return {_TABLES.get(type(value), "dict"): pairs}
        has_state = callable(getattr(value, "state_dict", None))
        raise KeywordError(
            explain(
                f"save: {'.'.join(path) or 'this'} can't be kept in a file",
                got={"type": type(value).__name__},
                need="tensors, arrays, numbers, text, None, and lists, tuples, sets and dicts of them",
                fix=f"{'.'.join(path) or 'model'}.state_dict()" if has_state else "",
            )
        )

    def _kept(self, array: Array, path: tuple[str, ...]) -> str:
        """The name of the array in the file: its path, unless that is taken; its first one, where it is met again."""
        same = (array.ctypes.data, array.shape, array.strides, array.dtype.str) if on_host(array) and array.nbytes else id(array)
        if same in self._names:
            return self._names[same]
        name = free = ".".join(path) or "value"
        while free in self.arrays or free == "__metadata__":
            free = f"{name}#{len(self.arrays)}"
        host = to_numpy(array)
        dtype = host.dtype.newbyteorder("=")
        if dtype.kind not in _KEPT or dtype.itemsize > 8:
            got = {"dtype": host.dtype}
            raise DTypeError(
                explain(f"save: {name} holds what a file can't", got=got, need="floats up to 64 bits, complex64, integers or booleans")
            )
        self.arrays[free] = np.asarray(host, dtype, order="C")
        self._names[same] = free
        return free


def unpacked(text: str, arrays: Mapping[str, np.ndarray], tensor_of: Callable[[np.ndarray], Tensor]) -> Any:
    """The value whose layout `text` is; an array that has several places becomes one tensor.

    Raises:
        FormatError: the layout is damaged, or newer than this gradlab.
    """
    tensors: dict[str, Tensor] = {}

    def tensor(name: str) -> Tensor:
        if name not in tensors:
            tensors[name] = tensor_of(arrays[name])
        return tensors[name]

    leaves: dict[str, Callable[[str], Any]] = {
        "tensor": tensor,
        "array": lambda name: arrays[name],
        "scalar": lambda name: arrays[name][()],
        "float": float,
    }

    def read(value: Any) -> Any:
        if isinstance(value, list):
            return [read(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((kind, held),) = value.items()
        if kind in leaves:
            return leaves[kind](held)
        whole = _NAMES[kind]
        return whole({read(key): read(item) for key, item in held}) if kind in _TABLES.values() else whole(map(read, held))

    try:
        head = json.loads(text)
        version = head["version"]
        if version == VERSION:
            return read(head["value"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        need = "what gl.save wrote"
        raise FormatError(explain("load: the layout in this file is damaged", got={type(error).__name__: error}, need=need)) from None
    got = {"version of the file": version, "this gradlab reads": VERSION}
    raise FormatError(explain("load: this file was saved by a newer gradlab", got=got, need="a newer gradlab"))
