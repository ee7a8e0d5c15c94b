"""What CuPy refuses, and what it takes: tried on the simulated device everywhere, and on CuPy itself where there is a GPU.

Each entry is called with `xp`, a (2, 3) float32 array `a` of the device, and the same numbers `h` in main memory.
"""

from __future__ import annotations

import copy
import pickle

import numpy as np

ERRORS = (TypeError, AttributeError, ValueError, NotImplementedError, IndexError, BufferError, RuntimeError)


def put(target, key, value):
    target[key] = value


# Refused by both.
REFUSED = {
    # arrays don't become NumPy arrays in secret
    "np.asarray": lambda xp, a, h: np.asarray(a),
    "np.array": lambda xp, a, h: np.array(a),
    "an entry of a NumPy array": lambda xp, a, h: put(h, 0, a[0]),
    "out= a NumPy array": lambda xp, a, h: np.add(a, a, out=h),
    "np.from_dlpack": lambda xp, a, h: np.from_dlpack(a),
    # nor the other way round
    "a + host": lambda xp, a, h: a + h,
    "host + a": lambda xp, a, h: h + a,
    "host @ a": lambda xp, a, h: h.T @ a,
    "a += host": lambda xp, a, h: a.__iadd__(h),
    "a + a list": lambda xp, a, h: a + [1.0, 2.0, 3.0],
    "add(a, host)": lambda xp, a, h: xp.add(a, h),
    "np.add(a, host)": lambda xp, a, h: np.add(a, h),
    "maximum(a, list)": lambda xp, a, h: xp.maximum(a, [1.0, 2.0, 3.0]),
    "a[...] = host": lambda xp, a, h: put(a, ..., h),
    "a[0] = host": lambda xp, a, h: put(a, 0, h[0]),
    "a[0] = a list": lambda xp, a, h: put(a, 0, [1.0, 2.0, 3.0]),
    "sum(host)": lambda xp, a, h: xp.matmul(a.T, h),
    "sum(list)": lambda xp, a, h: xp.sum([1.0, 2.0]),
    "reshape(list)": lambda xp, a, h: xp.reshape([1.0, 2.0], (2, 1)),
    "concatenate(host)": lambda xp, a, h: xp.concatenate([a, h]),
    "concatenate(numbers)": lambda xp, a, h: xp.concatenate([[1.0], [2.0]]),
    "stack(host)": lambda xp, a, h: xp.stack([h, h]),
    "where(host)": lambda xp, a, h: xp.where(h > 0, a, a),
    "where(a, host)": lambda xp, a, h: xp.where(a > 0, a, h),
    "where(a, list)": lambda xp, a, h: xp.where(a > 0, a, [1.0, 2.0, 3.0]),
    "tensordot(host)": lambda xp, a, h: xp.tensordot(a, h, 2),
    # names that CuPy lacks
    **{f"xp.{name}": lambda xp, a, h, name=name: getattr(xp, name) for name in (
        "errstate", "vecdot", "matvec", "vecmat", "unstack", "insert", "block", "geomspace", "nanquantile", "ndenumerate", "nditer",
        "frompyfunc")},
    "linalg.vector_norm": lambda xp, a, h: xp.linalg.vector_norm(a),
    "linalg.matrix_norm": lambda xp, a, h: xp.linalg.matrix_norm(a),
    "np.vecdot(a, a)": lambda xp, a, h: np.vecdot(a, a),
    "np.insert(a)": lambda xp, a, h: np.insert(a, 0, 1),
    "a.sorted": lambda xp, a, h: a.sorted(),
    "a.to_device": lambda xp, a, h: a.to_device("cpu"),
    "a.__array_namespace__": lambda xp, a, h: a.__array_namespace__(),
    "a.writeable": lambda xp, a, h: a.flags.writeable,
    "a.resize": lambda xp, a, h: a.resize(3, 2),
    # parameters that it lacks
    "sum(where=)": lambda xp, a, h: xp.sum(a, where=a > 0),
    "sum(initial=)": lambda xp, a, h: xp.sum(a, initial=0),
    "max(where=)": lambda xp, a, h: xp.max(a, where=a > 0, initial=0),
    "max(initial=)": lambda xp, a, h: xp.max(a, initial=0),
    "min(initial=)": lambda xp, a, h: xp.min(a, initial=0),
    "mean(where=)": lambda xp, a, h: xp.mean(a, where=a > 0),
    "var(correction=)": lambda xp, a, h: xp.var(a, correction=1),
    "std(where=)": lambda xp, a, h: xp.std(a, where=a > 0),
    "clip(min=)": lambda xp, a, h: xp.clip(a, min=0),
    "sort(stable=)": lambda xp, a, h: xp.sort(a, stable=True),
    "argsort(stable=)": lambda xp, a, h: xp.argsort(a, stable=True),
    "zeros(device=)": lambda xp, a, h: xp.zeros(3, device="cpu"),
    "zeros(like=)": lambda xp, a, h: xp.zeros(3, like=a),
    "empty(device=)": lambda xp, a, h: xp.empty(3, device="cpu"),
    "asarray(device=)": lambda xp, a, h: xp.asarray(a, device="cpu"),
    "asarray(like=)": lambda xp, a, h: xp.asarray(a, like=a),
    "argpartition(order=)": lambda xp, a, h: xp.argpartition(a, 1, order=None),
    "broadcast_to(subok=)": lambda xp, a, h: xp.broadcast_to(a, (2, 2, 3), subok=True),
    "take(mode=)": lambda xp, a, h: xp.take(a, xp.asarray([0]), mode="clip"),
    "sum(a, ..., initial)": lambda xp, a, h: xp.sum(a, None, None, None, False, 0),
    "sort(a, axis, kind, order)": lambda xp, a, h: xp.sort(a, -1, None, None),
    "add(where=)": lambda xp, a, h: xp.add(a, a, where=a > 0),
    "exp(order=)": lambda xp, a, h: xp.exp(a, order="K"),
    # what its ufuncs can't do
    "maximum.reduce": lambda xp, a, h: xp.maximum.reduce(a),
    "maximum.accumulate": lambda xp, a, h: xp.maximum.accumulate(a),
    "logaddexp.accumulate": lambda xp, a, h: xp.logaddexp.accumulate(a),
    "multiply.at": lambda xp, a, h: xp.multiply.at(a, (xp.asarray([0]),), 2.0),
    "divide.at": lambda xp, a, h: xp.divide.at(a, (xp.asarray([0]),), 2.0),
    "subtract.at(float)": lambda xp, a, h: xp.subtract.at(a, (xp.asarray([0]),), 2.0),
    "add.at(int16)": lambda xp, a, h: xp.add.at(a.astype("int16"), (xp.asarray([0]),), 1),
    "add.at(bool)": lambda xp, a, h: xp.add.at(a > 0, (xp.asarray([0]),), True),
    "maximum.at(float16)": lambda xp, a, h: xp.maximum.at(a.astype("float16"), (xp.asarray([0]),), 1.0),
    "sum of a 0-d array along 0": lambda xp, a, h: xp.sum(a[0, 0], axis=0),
    "max of a 0-d array along -1": lambda xp, a, h: xp.max(a[0, 0], axis=-1, keepdims=True),
    "argmax of a 0-d array along 0": lambda xp, a, h: xp.argmax(a[0, 0], axis=0),
    "add.reduce of a 0-d array along 0": lambda xp, a, h: xp.add.reduce(a[0, 0], axis=0),
    "mean of a 0-d array along 0": lambda xp, a, h: xp.mean(a[0, 0], axis=0),
    "any of a 0-d array along 0": lambda xp, a, h: xp.any(a[0, 0] > 0, axis=0),
    # Python's protocols
    "hash": lambda xp, a, h: hash(a),
    "bool of many": lambda xp, a, h: bool(a),
    "float of many": lambda xp, a, h: float(a),
    "len of 0-d": lambda xp, a, h: len(a[0, 0]),
    "iterating a 0-d array": lambda xp, a, h: list(a[0, 0]),
    "an int out of range": lambda xp, a, h: a[5],
    "too many indices": lambda xp, a, h: a[0, 0, 0],
    "shapes that don't broadcast": lambda xp, a, h: a + a.T,
    "no such axis": lambda xp, a, h: xp.sum(a, axis=5),
    "int += float": lambda xp, a, h: a.astype("int64").__iadd__(0.5),
}  # fmt: skip

# Refused by the simulated device alone, where CuPy copies in secret, or leaves the outcome open.
STRICTER = {
    "a result over an operand": lambda xp, a, h: xp.add(a[:, 1:], a[:, :-1], out=a[:, 1:]),
    "a[1:] += a[:-1]": lambda xp, a, h: a[:, 1:].__iadd__(a[:, :-1]),
    "a[1:] = a[:-1]": lambda xp, a, h: put(a, (slice(None), slice(1, None)), a[:, :-1]),
    "NaN as an integer": lambda xp, a, h: xp.sqrt(a - 9).astype("int64"),
    "300 as uint8": lambda xp, a, h: xp.asarray(a * 300, dtype="uint8"),
    "einsum(host)": lambda xp, a, h: xp.einsum("ij,ij->i", a, h),
    "repeat(array)": lambda xp, a, h: xp.repeat(a, xp.asarray([1, 2]), axis=0),
    "add.at(host)": lambda xp, a, h: xp.add.at(a, (xp.asarray([0]),), h[:1]),
    "two masks assigned": lambda xp, a, h: put(a, (xp.asarray([True, False]), xp.asarray([True, False, True])), 0.0),
    "a host index": lambda xp, a, h: a[np.array([0, 1])],
    "a host index assigned": lambda xp, a, h: put(a, np.array([0, 1]), 0.0),
    "add.at(float16)": lambda xp, a, h: xp.add.at(a.astype("float16"), (xp.asarray([0]),), 1.0),
    "different values for one place": lambda xp, a, h: put(a, (xp.asarray([0, 0]), xp.asarray([1, 1])), xp.asarray([1.0, 2.0])),
    "writing into broadcast_to": lambda xp, a, h: put(xp.broadcast_to(a[0], (2, 3)), 0, 1.0),
}

# Taken by both, with the result that NumPy gives. `xp.asarray(i)` is an index on the device.
TAKEN = {
    "arithmetic": lambda xp, a: (2 * a + 1 - a / 3) ** 2,
    "np.float32 beside it": lambda xp, a: a + np.float32(1.5),
    "matmul": lambda xp, a: a @ a.T,
    "comparison": lambda xp, a: (a > 0) & ~(a == 1),
    "np.exp": lambda xp, a: np.exp(a),
    "np.sum": lambda xp, a: np.sum(a, axis=0),
    "sum": lambda xp, a: xp.sum(a, axis=1, keepdims=True, dtype="float64"),
    "sum to 0-d": lambda xp, a: xp.sum(a),
    "method": lambda xp, a: a.reshape(3, 2).transpose().sum(axis=0),
    "a result over itself": lambda xp, a: changed(a, lambda b: xp.add(b, b, out=b)),
    "halves that don't touch": lambda xp, a: changed(a, lambda b: put(b, (slice(None), slice(0, 1)), b[:, 2:])),
    "rows swapped": lambda xp, a: changed(a, lambda b: put(b, ..., b[::-1].copy())),
    "out=": lambda xp, a: xp.exp(a, out=xp.empty_like(a)),
    "np.add(out=)": lambda xp, a: np.add(a, a, out=xp.empty_like(a)),
    "where": lambda xp, a: xp.where(a > 0, a, 0.0),
    "slices": lambda xp, a: a[:, ::-2][None, ..., 0],
    "a list as index": lambda xp, a: a[[1, 0, 1]],
    "index arrays": lambda xp, a: a[xp.asarray([0, 1]), xp.asarray([2, -1])],
    "an index out of range wraps": lambda xp, a: a[:, xp.asarray([0, 4])] if xp is not np else a[:, np.asarray([0, 1])],
    "take wraps": lambda xp, a: xp.take(a, xp.asarray([-1, 0]), axis=1),
    "take_along_axis": lambda xp, a: xp.take_along_axis(a, xp.argsort(a, axis=1), axis=1),
    "a mask": lambda xp, a: a[a > 0],
    "a mask assigned": lambda xp, a: changed(a, lambda b: put(b, b > 0, 7.0)),
    "equal values for one place": lambda xp, a: changed(a, lambda b: put(b, xp.asarray([0, 0]), b[1])),
    "add.at": lambda xp, a: changed(a, lambda b: xp.add.at(b, (xp.asarray([0, 0]), xp.asarray([1, 1])), b[0, :2])),
    "maximum.at": lambda xp, a: changed(a, lambda b: xp.maximum.at(b, (xp.asarray([0, 0]),), 1.0)),
    "add.reduce": lambda xp, a: xp.add.reduce(a, axis=1),
    "multiply.accumulate": lambda xp, a: xp.multiply.accumulate(a, axis=1),
    "add.outer": lambda xp, a: xp.add.outer(a[0], a[1]),
    "concatenate(out=)": lambda xp, a: xp.concatenate([a, a], axis=1, out=xp.empty((2, 6), dtype="float32")),
    "einsum": lambda xp, a: xp.einsum("ij,kj->ik", a, a, optimize=True),
    "tensordot": lambda xp, a: xp.tensordot(a, a, axes=((0, 1), (0, 1))),
    "windows": lambda xp, a: xp.sum(xp.lib.stride_tricks.sliding_window_view(a, 2, axis=1), axis=-1),
    "as_strided": lambda xp, a: xp.array(xp.lib.stride_tricks.as_strided(a, (2, 2), (a.strides[0], a.strides[1]))),
    "pad": lambda xp, a: xp.pad(a, ((1, 0), (0, 2)), mode="reflect"),
    "sort": lambda xp, a: xp.sort(a, axis=0),
    "cumsum": lambda xp, a: xp.cumsum(a, axis=1),
    "linalg": lambda xp, a: xp.linalg.inv(a @ a.T + xp.eye(2, dtype="float32")),
    "view": lambda xp, a: a.view("int32") & 0x7FFFFFFF,
    "astype": lambda xp, a: a.astype("int64"),
    "unique": lambda xp, a: xp.unique(xp.rint(a)),
    "nonzero": lambda xp, a: xp.stack(xp.nonzero(a > 0)),
    "1/0": lambda xp, a: 1 / (a - a),
    "copies": lambda xp, a: copy.deepcopy(a) + pickle.loads(pickle.dumps(a)),
    "iteration": lambda xp, a: sum(row for row in a),
    "a reduction in an expression": lambda xp, a: a / xp.max(a),
    "copysign, log1p, expm1": lambda xp, a: xp.copysign(xp.log1p(xp.abs(a)), xp.expm1(a)),
    "clip": lambda xp, a: xp.clip(a, 0.0, None),
    "full_like": lambda xp, a: xp.full_like(a, 3),
    "argmax": lambda xp, a: xp.argmax(a, axis=1),
}  # fmt: skip


def changed(a, change):
    """A copy of `a` after a change."""
    b = a.copy()
    change(b)
    return b
