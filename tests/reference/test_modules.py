"""Layers with parameters give PyTorch's values and gradients, and read one another's state."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import gradlab as gl
from tests.reference import sequences
from tests.reference.compare import array
from tests.reference.modules import FILE, ROWS, filled, made, outcome, vector

assert sequences  # adds rows
STORED = np.load(FILE)
THEIRS = dict(zip(STORED["keys"].tolist(), np.split(STORED["numbers"], np.cumsum(STORED["sizes"])[:-1]), strict=True))


def test_the_file_has_every_row_and_no_other():
    assert list(THEIRS) == list(ROWS), "write it again: python -m tests.reference.modules"
    assert FILE.stat().st_size < 500_000


@pytest.mark.parametrize("key", ROWS)
def test_a_layer_gives_what_pytorch_gives(key):
    np.testing.assert_allclose(vector(outcome(gl, ROWS[key], filled(gl, ROWS[key]))), THEIRS[key], rtol=1e-9, atol=1e-10)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", ROWS)
def test_a_layer_and_pytorchs_read_one_anothers_state(key):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    row = ROWS[key]
    a, b = made(gl, row), made(torch, row)
    states = [{name: array(value) for name, value in m.state_dict().items()} for m in (a, b)]
    assert [(k, v.shape) for k, v in states[0].items()] == [(k, v.shape) for k, v in states[1].items()], "names, order, shapes"
    for receiver, state in ((b, {name: torch.tensor(value) for name, value in states[0].items()}), (a, states[1])):
        receiver.load_state_dict(state)
        results = [outcome(lib, row, m) for lib, m in ((gl, a), (torch, b))]
        for x, y in zip(*results, strict=True):
            assert x.shape == y.shape and x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-10)
        a.zero_grad()
        b.zero_grad()


LARGE = {
    "RNN": (60, 50, 2), "LSTM": (60, 50, 2), "GRU": (60, 50), "LSTMCell": (60, 50), "MultiheadAttention": (64, 4, 0.0, True, True),
    "TransformerEncoderLayer": (64, 4, 300), "TransformerDecoderLayer": (64, 4, 300), "Transformer": (64, 4, 1, 1, 300),
}  # fmt: skip


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LARGE)
def test_first_values_are_drawn_as_pytorchs_are(name):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    ours, theirs = [getattr(lib.nn, name)(*LARGE[name]).state_dict() for lib in (gl, torch)]
    for key, value in theirs.items():
        a, b = ours[key].numpy(), value.numpy()
        if not b.std():
            assert np.array_equal(a, b), key
        elif a.size >= 1000:
            assert abs(a.mean() - b.mean()) < 0.1 * b.std() and abs(a.std() / b.std() - 1) < 0.1, key
            assert abs(np.abs(a).max() / np.abs(b).max() - 1) < 0.1, key
        else:
            assert abs(a.std() / b.std() - 1) < 0.4, key


@pytest.mark.torch
@pytest.mark.parametrize("name", [*LARGE, "RNNCell", "GRUCell", "TransformerEncoder", "TransformerDecoder"])
def test_calls_have_pytorchs_names_places_and_defaults(name):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    ours, theirs = [list(inspect.signature(getattr(lib.nn, name).forward).parameters.values()) for lib in (gl, torch)]
    assert len(ours) >= len(theirs)
    for mine, its in zip(ours, theirs, strict=False):
        assert (mine.name, mine.default) == (its.name, its.default), f"{name}: {mine}, PyTorch's {its}"
