"""Layers with parameters, run alike in gradlab and in PyTorch: `python -m tests.reference.modules` writes modules.npz anew.

A row is what to make, what goes in, and how it is called; both libraries run it with the same numbers. What comes out is laid
out as one vector: every output, the gradient of every input and of every parameter, each as its number of axes, its shape, its
numbers.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import compare
from .chooser import Call, mapped, still
from .compare import array, flat

FILE = Path(__file__).parent / "modules.npz"
ROWS: dict[str, Row] = {}


@dataclass
class Row:
    """One layer and one call of it."""

    name: str
    args: tuple[Any, ...]
    options: dict[str, Any]
    inputs: Callable[[], list[Any]]
    make: Callable[..., Any]
    call: Callable[..., Any]
    still: dict[str, Any] = field(default_factory=dict)


def row(
    name: str, *args: Any, inputs: Callable[[], list[Any]], note: str = "", make: Any = None, call: Any = None, still: Any = None,
    **options: Any,
) -> None:  # fmt: skip
    """Add a row; `make(nn, *args, **options)` and `call(nn, module, *inputs)` where it is not just `nn.name` and `module(*inputs)`."""
    text = ", ".join([*map(str, args), *[f"{k}={v}" for k, v in options.items()], *([note] if note else [])])
    key = f"{name}({text})"
    assert key not in ROWS, key
    make = make or (lambda nn, *xs, **kw: getattr(nn, name)(*xs, **kw))
    ROWS[key] = Row(name, args, options, inputs, make, call or (lambda nn, m, *xs, **kw: m(*xs, **kw)), still or {})


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    """Numbers in [-1, 1)."""
    return np.random.default_rng([seed, *shape]).random(shape) * 2 - 1


def made(lib: Any, row: Row) -> Any:
    """The module of gradlab or torch, in float64 and in evaluation, with its own first values."""
    return row.make(lib.nn, *row.args, **row.options, dtype=lib.float64).eval()


def filled(lib: Any, row: Row) -> Any:
    """The module with numbers that depend on the names and shapes of its parameters only."""
    module = made(lib, row)
    shapes = {key: tuple(value.shape) for key, value in module.state_dict().items()}
    module.load_state_dict({key: lib.tensor(draw(*shape, seed=zlib.crc32(key.encode()))) for key, shape in shapes.items()})
    return module


def outcome(lib: Any, row: Row, module: Any) -> list[np.ndarray]:
    """Outputs and gradients of <cotangent, outputs>; those of parameters in the order of their names."""

    def called(*xs: Any, **kw: Any) -> list[Any]:
        return [y for y in flat(row.call(lib.nn, module, *xs, **kw)) if y is not None]

    call = Call(row.inputs(), {key: mapped(value, still) for key, value in row.still.items()})
    found = compare.outcome(called, call, lib.tensor, array)
    if found.error:
        raise found.error
    parameters = [p for _, p in sorted(module.named_parameters())]
    grads = [np.zeros(tuple(p.shape)) if p.grad is None else array(p.grad) for p in parameters]
    return [*found.values, *found.grads, *grads]


def vector(arrays: list[np.ndarray]) -> np.ndarray:
    """All in one, with their shapes."""
    return np.concatenate([np.array([a.ndim, *a.shape, *a.astype("f8").ravel()], "f8") for a in arrays])


def main() -> None:
    """Write the file."""
    import torch

    from . import sequences  # noqa: F401

    found = {key: vector(outcome(torch, row, filled(torch, row))) for key, row in ROWS.items()}
    np.savez_compressed(FILE, numbers=np.concatenate(list(found.values())), sizes=[len(v) for v in found.values()], keys=list(found))
    print(f"{FILE.name}: {len(found)} rows, {FILE.stat().st_size / 1e3:.0f} kB, PyTorch {torch.__version__}")


if __name__ == "__main__":
    from tests.reference.modules import main as run  # the rows are in the module of this name

    run()
