"""Every class of nn does what PyTorch's does: values, gradients, state, text, first values. It learns, and freezing hurts."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from tests.nn.layer_rows import TABLE
from tests.nn.layers import Row, first_values, line, result, stored
from tests.reference import modules, sequences
from tests.reference.compare import array, flat

assert sequences  # adds rows to `modules`: layers that read sequences
STORED = stored()
AGAIN = "; write them down again: python -m tests.nn.make_layers"
TORCH = "PyTorch is not installed"

# Classes that a row can't compare, and the test that compares them.
ELSEWHERE = {
    "Module": "tests/nn/test_hook.py::test_backward_hooks_hear_what_they_hear_in_pytorch",
    "Sequential": "tests/nn/test_layers.py::test_containers_have_pytorchs_keys_and_text",
    "ModuleList": "tests/nn/test_layers.py::test_containers_have_pytorchs_keys_and_text",
    "ModuleDict": "tests/nn/test_layers.py::test_containers_have_pytorchs_keys_and_text",
    "ParameterList": "tests/nn/test_layers.py::test_containers_have_pytorchs_keys_and_text",
    "ParameterDict": "tests/nn/test_layers.py::test_containers_have_pytorchs_keys_and_text",
}
# Classes that PyTorch has not, or has for others to build on, and the test that shows what they do.
OWN = {
    "RNNBase": "tests/nn/test_recurrent.py::test_a_layer_is_its_cell_in_a_loop",
    "SinusoidalPositions": "tests/nn/test_position.py::test_waves_are_the_papers",
    "RotaryPositions": "tests/nn/test_position.py::test_a_rotary_position_is_a_turn_in_the_plane_of_complex_numbers",
}
LEARNING = [key for key, one in TABLE.items() if STORED[key]["first"] and one.training]


SLACK = {"Hardsigmoid()": 1e-7}  # PyTorch's gradient is g / 6 with 1/6 in float32


def close(got: list, want: list, of: list[np.ndarray | None], slack: float) -> bool:
    """Whether shapes are equal, and sums equal up to `slack` times what was summed."""
    return len(got) == len(want) and all(
        g is w if g is None or w is None else g[0] == w[0] and np.allclose(g[1:], w[1:], rtol=slack, atol=slack * (1 + np.abs(a).sum()))
        for g, w, a in zip(got, want, of, strict=True)
    )


def classes() -> set[str]:
    return {n for n, c in vars(nn).items() if inspect.isclass(c) and issubclass(c, nn.Module)}


def test_every_class_has_a_row_or_a_test_that_compares_it_with_pytorch():
    compared = {one.name for one in (*TABLE.values(), *modules.ROWS.values())}
    missing = classes() - compared - set(ELSEWHERE) - set(OWN)
    assert not missing, f"{sorted(missing)}: add rows to tests/nn/layer_rows.py" + AGAIN
    assert not (compared | set(ELSEWHERE) | set(OWN)) - classes()
    root = Path(__file__).parents[2]
    for test in (*ELSEWHERE.values(), *OWN.values()):
        file, _, name = test.partition("::")
        assert f"def {name}(" in (root / file).read_text(encoding="utf-8"), test


def test_the_written_values_are_of_this_table():
    assert list(STORED) == list(TABLE), "rows came or went" + AGAIN


@pytest.mark.parametrize("key", TABLE)
def test_a_layer_gives_what_pytorch_gave(key):
    got = result(TABLE[key], gl)
    ours, theirs = line(got), STORED[key]
    assert ours["state"] == theirs["state"], "state_dict has other names or shapes"
    assert ours["repr"] == theirs["repr"] or key in REPR
    for what, arrays in (("outputs", got.outputs), ("grads", got.grads), ("after", got.after)):
        assert close(ours[what], theirs[what], arrays, SLACK.get(key, 1e-9)), f"{what}: {ours[what]}, PyTorch: {theirs[what]}"


# Losses say their options here, and an axis is never guessed.
REPR = {key for key, one in TABLE.items() if one.name.endswith("Loss") and one.kwargs}


@pytest.mark.parametrize("key", [key for key in TABLE if STORED[key]["first"]])
def test_first_values_are_drawn_as_pytorchs_are(key):
    times = 60
    ours = first_values(TABLE[key], gl, times)
    for name, (mean, std, low, high) in STORED[key]["first"].items():
        got_mean, got_std, got_low, got_high = ours[name]
        n = times * int(np.prod(STORED[key]["state"][name]))
        assert abs(got_mean - mean) <= 6 * std / np.sqrt(n) * np.sqrt(2) + 1e-7, f"{name}: mean {got_mean}, PyTorch's {mean}"
        assert abs(got_std - std) <= 6 * std / np.sqrt(n) + 1e-7, f"{name}: spread {got_std}, PyTorch's {std}"
        reach = high - low
        slack = 0.25 if "Embedding" in key else 0.01 + 9 / n  # the ends of a normal distribution are not sharp
        assert abs(got_low - low) <= slack * reach + 1e-7 and abs(got_high - high) <= slack * reach + 1e-7, name


@pytest.mark.parametrize("key", TABLE)
def test_a_layer_works_on_another_device(key):
    one = TABLE[key]
    want = result(one, gl)
    got = result(one, gl, one.module(gl).to("sim"), lambda a: gl.tensor(a, device="sim"))
    for ours, theirs in zip([*got.outputs, *got.grads, *got.after], [*want.outputs, *want.grads, *want.after], strict=True):
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("key", TABLE)
def test_a_layer_keeps_the_dtype(key):
    one = TABLE[key]
    for dtype in ("float16", "float32"):
        module = one.module(gl).to(dtype)
        inputs = [gl.tensor(a.astype(dtype) if a.dtype.kind == "f" else a) for a in one.arrays()]
        assert {str(y.dtype) for y in flat(module(*inputs, **one.call))} <= {dtype, "int64"}


def trained(one: Row, module: nn.Module, steps: int) -> list[float]:
    """Losses of fitting the outputs of a twin with other numbers."""
    twin, inputs = one.new(gl).double().train(one.training), [gl.tensor(a) for a in one.arrays()]
    twin.load_state_dict(
        {k: gl.tensor(np.cos(5 * v.data + 1)) if v.dtype == "float64" else v for k, v in one.module(gl).state_dict().items()}
    )
    targets = [y.detach() for y in flat(twin(*inputs, **one.call)) if y.requires_grad]
    learning = [p for p in module.parameters() if p.requires_grad]
    optimizer = optim.Adam(learning, lr=0.1) if learning else None
    losses = []
    for _ in range(steps):
        module.zero_grad()
        outputs = [y for y in flat(module(*inputs, **one.call)) if y.dtype == "float64"]
        loss = sum([((y - t) ** 2).mean() for y, t in zip(outputs, targets, strict=True)], start=gl.zeros(()))
        losses.append(loss.item())
        if optimizer is not None:
            loss.backward()
            optimizer.step()
    return losses


@pytest.mark.parametrize("key", LEARNING)
def test_a_layer_learns_and_every_parameter_moves(key):
    module = TABLE[key].module(gl)
    before = {name: p.data.copy() for name, p in module.named_parameters()}
    losses = trained(TABLE[key], module, 12)
    assert losses[-1] < 0.7 * losses[0], losses
    for name, p in module.named_parameters():
        assert not np.array_equal(before[name], p.data), f"{name} did not move"


@pytest.mark.parametrize("key", [key for key in LEARNING if "max_norm" not in TABLE[key].kwargs])
def test_what_is_frozen_stays_and_frozen_as_a_whole_a_layer_learns_nothing(key):
    module = TABLE[key].module(gl)
    (name, first), *others = module.named_parameters()
    before = first.data.copy()
    first.requires_grad_(False)
    if others:
        trained(TABLE[key], module, 3)
    assert np.array_equal(before, first.data) and first.grad is None, name
    module.requires_grad_(False)
    losses = trained(TABLE[key], module, 2)
    assert losses[0] == losses[1]


@pytest.mark.parametrize("key", TABLE)
@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_a_layer_and_pytorchs_exchange_their_states_and_agree(key):
    torch = pytest.importorskip("torch", reason=TORCH)
    one = TABLE[key]
    ours, theirs = one.module(gl), one.new(torch).double().train(one.training)
    theirs.load_state_dict({k: torch.from_numpy(np.array(v.data)) for k, v in ours.state_dict().items()})
    back = one.new(gl).double().train(one.training)
    back.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    want = result(one, torch, theirs)
    for module in (ours, back):
        got = result(one, gl, module)
        assert got.state == want.state
        for what in ("outputs", "grads", "after"):
            for x, y in zip(getattr(got, what), getattr(want, what), strict=True):
                assert (x is None) == (y is None), what
                if x is not None:
                    np.testing.assert_allclose(x, y, rtol=SLACK.get(key, 1e-9), atol=SLACK.get(key, 1e-10), err_msg=what)


@pytest.mark.torch
@pytest.mark.parametrize("name", sorted(classes()))
def test_options_have_pytorchs_names_places_and_defaults(name):
    torch = pytest.importorskip("torch", reason=TORCH)
    theirs = getattr(torch.nn, name, None)
    if theirs is None or name in OWN:
        pytest.skip("PyTorch has none, or another")
    ours, want = (
        [p for p in inspect.signature(c.__init__).parameters.values() if p.name not in DEPRECATED] for c in (getattr(nn, name), theirs)
    )
    if any(p.kind is p.VAR_POSITIONAL for p in want):
        return
    for i, p in enumerate(want):
        assert i < len(ours) and ours[i].name == p.name, f"{p.name} is not at place {i}"
        if not (p.name == "dim" and p.default is None):
            got, default = (getattr(d, "__name__", d) for d in (ours[i].default, p.default))  # a function by its name
            assert got == default or p.name == "dtype", f"{p.name} is {got!r}, PyTorch's {default!r}"


DEPRECATED = {"size_average", "reduce", "min_value", "max_value"}


@pytest.mark.torch
def test_containers_have_pytorchs_keys_and_text():
    torch = pytest.importorskip("torch", reason=TORCH)

    def build(lib):
        n = lib.nn

        class Net(n.Module):
            def __init__(self):
                super().__init__()
                self.rows = n.ModuleList([n.Linear(2, 2) for _ in range(3)] + [n.ReLU()])
                self.table = n.ModuleDict({"a": n.Sequential(n.Linear(2, 2), n.Tanh()), "b": n.ModuleList()})
                self.free = n.ParameterList([n.Parameter(lib.ones(2, 3)), n.Parameter(lib.ones(4))])
                self.named = n.ParameterDict({"x": n.Parameter(lib.ones(1))})
                self.register_buffer("mask", lib.ones(2))
                self.register_buffer("other", lib.ones(2), persistent=False)
                self.scale = n.Parameter(lib.ones(1))

        net = Net()
        net.rows.insert(1, n.Linear(2, 2, bias=False))
        net.table["a"].append(n.Linear(2, 1))
        del net.table["a"][1]
        return net

    ours, theirs = build(gl), build(torch)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert [n for n, _ in ours.named_modules()] == [n for n, _ in theirs.named_modules()]
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    assert [n for n, _ in ours.named_buffers()] == [n for n, _ in theirs.named_buffers()]
    assert repr(ours) == re.sub(r"torch\.(FloatTensor|float32)", "float32", repr(theirs))
    theirs.load_state_dict({k: torch.from_numpy(np.array(v.data)) for k, v in ours.state_dict().items()})
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    assert array(ours.rows[1].weight).shape == tuple(theirs.rows[1].weight.shape)
