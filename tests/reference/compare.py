"""What an op gives for a call, in one form for gradlab and for PyTorch, and whether two of them agree."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gradlab as gl

from .chooser import Call, Still, arrays_in, mapped
from .table import Row


@dataclass
class Outcome:
    """Output arrays and the gradients of <w, outputs> for the float arrays of a call, or the error that came instead."""

    values: list[np.ndarray] = field(default_factory=list)
    grads: list[np.ndarray] = field(default_factory=list)
    error: Exception | None = None


def outcome(function: Callable[..., Any], call: Call, tensor: Callable[[np.ndarray], Any], numpy: Callable[[Any], np.ndarray]) -> Outcome:
    """Call it on tensors, and pull a fixed cotangent w back through every float output."""
    leaves: list[Any] = []

    def as_tensor(array: np.ndarray) -> Any:
        x = tensor(np.array(array))
        if array.dtype.kind == "f" and not isinstance(array, Still):
            leaves.append(x.requires_grad_())
        return x

    ready = mapped(call, as_tensor)
    try:
        outputs = flat(function(*ready.args, **ready.kwargs))
    except Exception as error:
        return Outcome(error=error)
    try:
        for i, y in enumerate(outputs):
            if getattr(y, "requires_grad", False):
                y.backward(tensor(cotangent(tuple(y.shape), i).astype(numpy(y).dtype)), retain_graph=True)
    except Exception as error:
        if "derivative for" in str(error) and "is not implemented" in str(error):  # PyTorch's words
            return Outcome([numpy(y) for y in outputs], [], None)
        return Outcome(error=error)
    grads = [np.zeros(tuple(t.shape)) if t.grad is None else numpy(t.grad) for t in leaves]
    return Outcome([numpy(y) for y in outputs], grads)


def flat(result: Any) -> list[Any]:
    """The outputs one after another, whether they came alone, in a tuple or in a tuple in a tuple."""
    return [y for part in result for y in flat(part)] if isinstance(result, (tuple, list)) else [result]


def array(tensor: Any) -> np.ndarray:
    """The numbers of a tensor of either library, in main memory."""
    return np.asarray(tensor.detach().cpu().numpy())


def cotangent(shape: tuple[int, ...], i: int) -> np.ndarray:
    """Numbers in [-1, 1) that are the same everywhere."""
    rng = random.Random(i)
    return np.array([2 * rng.random() - 1 for _ in range(int(np.prod(shape)))]).reshape(shape)


def of_gradlab(row: Row, call: Call) -> Outcome:
    """gradlab's outcome."""
    return outcome(row.function(), call, gl.tensor, lambda y: np.asarray(getattr(y, "data", y)))


def disagreement(ours: Outcome, theirs: Outcome, variant: str = "", slack: float = 1e-9) -> str:
    """In one sentence, where two outcomes differ; nothing where they agree, or where PyTorch's refusal means nothing."""
    if (theirs.error or ours.error) and variant == "mixed":
        return ""  # which kernels of PyTorch bring two dtypes to one has no rule; here elementwise ops do, and products refuse
    if kernel_missing(theirs):
        return ""
    if theirs.error or ours.error:
        if theirs.error and ours.error:
            return ""
        if theirs.error:
            return f"PyTorch refuses ({_first(theirs.error)}), gradlab gives {_shapes(ours)}"
        return f"gradlab refuses ({_first(ours.error)}), PyTorch gives {_shapes(theirs)}"
    for what, got, want in (("output", ours.values, theirs.values), ("gradient", ours.grads, theirs.grads)):
        if len(got) != len(want):
            if what == "gradient" and not want:
                continue  # PyTorch has none
            return f"{len(got)} {what}s, PyTorch has {len(want)}"
        single = any(a.dtype == "float32" for a in (*ours.values, *ours.grads))
        for i, (x, y) in enumerate(zip(got, want, strict=True)):
            if x.shape != y.shape or (what == "output" and x.dtype != y.dtype):
                return f"{what} {i} is {x.dtype}{list(x.shape)}, PyTorch's {y.dtype}{list(y.shape)}"
            tolerance = max(1e4 * slack, 2e-5) if single else slack
            if not np.allclose(
                x, y, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(y[np.isfinite(y)]).max(initial=0))), equal_nan=True
            ):
                return f"{what} {i} differs:\n{x}\nPyTorch's:\n{y}"
    return ""


def kernel_missing(theirs: Outcome) -> bool:
    """Whether PyTorch refused only because nobody wrote it for this dtype."""
    words = ("not implemented for", "not supported", "support bool", "not currently supported")
    return isinstance(theirs.error, NotImplementedError) or any(w in str(theirs.error) for w in words)


def _first(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:120]}"


def _shapes(o: Outcome) -> str:
    return ", ".join(f"{v.dtype}{list(v.shape)}" for v in o.values)


DIMS = ("dim", "dim0", "dim1", "start_dim", "end_dim", "dims", "source", "destination", "axis")


def variants(call: Call) -> Iterator[tuple[str, Call]]:
    """The same call with other dtypes, sizes and axes: right or wrong, the two libraries have to say the same."""
    n = sum(a.dtype.kind == "f" for a in arrays_in(call))
    if n:
        yield (
            "integers",
            mapped(call, lambda a: np.rint(np.nan_to_num(a, posinf=9, neginf=-9)).astype(np.int64) if a.dtype.kind == "f" else a),
        )
        yield "booleans", mapped(call, lambda a: a > 0 if a.dtype.kind == "f" else a)
        yield "float32", mapped(call, lambda a: a.astype(np.float32) if a.dtype.kind == "f" else a)
    if n > 1:
        yield "mixed", _at(call, 0, lambda a: a.astype(np.float32) if a.dtype.kind == "f" else a)
    for i, a in enumerate(arrays_in(call)[:3]):
        if a.ndim and a.size:
            yield f"longer {i}", _at(call, i, lambda a: np.concatenate([a, a[..., :1]], -1).view(type(a)))
            yield f"flatter {i}", _at(call, i, lambda a: np.asarray(a[0]).view(type(a)))
        yield f"deeper {i}", _at(call, i, lambda a: a[None])
    for name in DIMS:
        given = call.kwargs.get(name)
        if isinstance(given, int) and not isinstance(given, bool):
            yield f"{name} too large", Call(call.args, {**call.kwargs, name: 9})
            yield f"{name} too small", Call(call.args, {**call.kwargs, name: -9})
        elif isinstance(given, tuple):
            yield f"{name} too large", Call(call.args, {**call.kwargs, name: (*given[:-1], 9)})
            yield f"{name} twice", Call(call.args, {**call.kwargs, name: (*given, *given[-1:])})


def _floats_to(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda a: change(a) if a.dtype.kind == "f" else a


def _at(call: Call, i: int, change: Callable[[np.ndarray], np.ndarray]) -> Call:
    seen = -1

    def one(array: np.ndarray) -> np.ndarray:
        nonlocal seen
        seen += 1
        return change(array) if seen == i else array

    return mapped(call, one)
