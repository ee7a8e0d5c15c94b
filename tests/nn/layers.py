"""Every layer and loss of nn beside PyTorch's: what it is made with and what it is called on. Without PyTorch this is only names.

`python -m tests.nn.make_layers` writes layers.txt anew, one line a row: what PyTorch's module of that name has and gives. The tests that
run always compare gradlab with those lines, those marked `torch` with PyTorch itself.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.reference.compare import array, cotangent, flat

FILE = Path(__file__).with_suffix(".txt")
Make = Callable[[np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Row:
    """One call: `inputs` are drawn from a fixed seed, and in which mode the module is."""

    name: str
    inputs: tuple[Make, ...]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    training: bool = True
    call: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        words = [repr(a) for a in self.args] + [f"{k}={v!r}" for k, v in self.kwargs.items()]
        more = [f"{k}={v!r}" for k, v in self.call.items()] + ([] if self.training else ["eval"])
        return f"{self.name}({', '.join(words)})" + (f" {' '.join(more)}" if more else "")

    def arrays(self) -> list[np.ndarray]:
        rng = np.random.default_rng(zlib.crc32(self.key.encode()))
        return [make(rng) for make in self.inputs]

    def new(self, lib: Any) -> Any:
        """The module of gradlab or torch as it is made."""
        return getattr(lib.nn, self.name)(*[given(lib, a) for a in self.args], **{k: given(lib, v) for k, v in self.kwargs.items()})

    def module(self, lib: Any) -> Any:
        """The module of gradlab or torch, in float64 and with the numbers of `values`."""
        made = self.new(lib)
        made.double().load_state_dict({k: lib.tensor(v) for k, v in values(made.state_dict()).items()})
        return made.train(self.training)


def given(lib: Any, value: Any) -> Any:
    """Options that are arrays as tensors."""
    return lib.tensor(np.asarray(value.numbers)) if isinstance(value, Numbers) else value


@dataclass(frozen=True)
class Numbers:
    """An option that is a tensor: class weights."""

    numbers: tuple[float, ...]


TABLE: dict[str, Row] = {}


def row(
    name: str, inputs: Make | tuple[Make, ...], *args: Any, _eval: bool = False, _call: dict[str, Any] | None = None, **kwargs: Any
) -> None:
    """Add a row to the table."""
    one = Row(name, inputs if isinstance(inputs, tuple) else (inputs,), args, kwargs, not _eval, _call or {})
    assert one.key not in TABLE, one.key
    TABLE[one.key] = one


def floats(*shape: int) -> Make:
    return lambda rng: rng.permuted(np.linspace(-2, 2, int(np.prod(shape)) + 2)[1:-1]).reshape(shape)  # no two alike, none at a kink


def positive(*shape: int) -> Make:
    return lambda rng: rng.uniform(0.05, 0.95, shape)


def log_probs(*shape: int) -> Make:
    def make(rng: np.random.Generator) -> np.ndarray:
        z = rng.standard_normal(shape)
        return z - np.log(np.exp(z).sum(-1 if len(shape) == 3 else 1, keepdims=True))

    return make


def ids(high: int, *shape: int, low: int = 0) -> Make:
    return lambda rng: rng.integers(low, high, shape)


def signs(*shape: int) -> Make:
    return lambda rng: rng.choice([-1.0, 1.0], shape)


def fixed(*numbers: Any) -> Make:
    return lambda rng: np.array(numbers)


def values(state: dict[str, Any]) -> dict[str, np.ndarray]:
    """Numbers for every entry of a state that depend on its name and shape alone."""
    found = {}
    for name, tensor in state.items():
        rng, shape = np.random.default_rng(zlib.crc32(name.encode())), tuple(tensor.shape)
        if "int" in str(tensor.dtype):
            found[name] = np.full(shape, 3)
        else:
            low = {"running_var": 0.5, "_random_samples": 0.0}.get(name.rpartition(".")[2])
            found[name] = 0.5 * rng.standard_normal(shape) if low is None else rng.uniform(low, low + 1, shape)
    return found


@dataclass
class Result:
    """What a module has and gives, as arrays."""

    state: dict[str, list[int]]
    text: str
    outputs: list[np.ndarray]
    grads: list[np.ndarray | None]  # of the float inputs, then of the parameters
    after: list[np.ndarray]  # the buffers


def result(one: Row, lib: Any, module: Any = None, tensor: Callable[[np.ndarray], Any] | None = None) -> Result:
    """Run a row forward and backward in gradlab or torch."""
    module = one.module(lib) if module is None else module
    inputs = [(tensor or lib.tensor)(a) for a in one.arrays()]
    leaves = [x for x in inputs if "float" in str(x.dtype)]
    if one.name.endswith("Loss"):
        target = {"GaussianNLLLoss": 1, "TripletMarginLoss": None, "TripletMarginWithDistanceLoss": None}.get(one.name, len(inputs) - 1)
        leaves = [x for x in leaves if target is None or x is not inputs[target]]
    leaves = [x.requires_grad_() for x in leaves]
    if one.name == "CTCLoss":
        inputs[0] = inputs[0].log_softmax(-1)  # the gradient of PyTorch's is that of the scores before
    outputs = flat(module(*inputs, **one.call))
    for i, y in enumerate(outputs):
        if y.requires_grad:
            y.backward((tensor or lib.tensor)(cotangent(tuple(y.shape), i)), retain_graph=True)
    return Result(
        {k: list(v.shape) for k, v in module.state_dict().items()},
        repr(module),
        [array(y) for y in outputs],
        [None if t.grad is None else array(t.grad) for t in (*leaves, *module.parameters())],
        [array(b) for b in module.buffers()],
    )


def marks(a: np.ndarray | None) -> list[Any] | None:
    """The shape, and two weighted sums of the entries, by which two arrays are told apart."""
    if a is None:
        return None
    sums = [float((np.asarray(cotangent(a.shape, 77 + i)) * a).sum()) for i in range(2)]
    return [list(a.shape), *[float(f"{s:.13g}") for s in sums]]


def line(r: Result) -> dict[str, Any]:
    """What is written down of a result."""
    return {
        "repr": r.text,
        "state": r.state,
        "outputs": [marks(a) for a in r.outputs],
        "grads": [marks(a) for a in r.grads],
        "after": [marks(a) for a in r.after],
    }


def first_values(one: Row, lib: Any, times: int) -> dict[str, list[float]]:
    """Mean, spread, least and largest first value of every parameter, over many modules."""
    drawn: dict[str, list[np.ndarray]] = {}
    for _ in range(times):
        made = one.new(lib)
        if not list(made.named_parameters()):
            break
        for name, p in made.named_parameters():
            drawn.setdefault(name, []).append(array(p).ravel())
    return {
        name: [float(f"{f(np.concatenate(a).astype('float64')):.6g}") for f in (np.mean, np.std, np.min, np.max)]
        for name, a in drawn.items()
    }


def stored() -> dict[str, dict[str, Any]]:
    """The lines of the file, by key."""
    return dict(json.loads(text) for text in FILE.read_text(encoding="utf-8").splitlines())
