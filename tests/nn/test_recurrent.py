from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim

LAYERS = [(nn.RNN, {"nonlinearity": "relu"}), (nn.RNN, {}), (nn.GRU, {}), (nn.LSTM, {}), (nn.LSTM, {"proj_size": 1})]
NAMES = ["rnn-relu", "rnn", "gru", "lstm", "lstm-projected"]
each = pytest.mark.parametrize("kind, extra", LAYERS, ids=NAMES)


def flat(last):
    return last if isinstance(last, tuple) else (last,)


@each
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True, "batch_first": True}], ids=["plain", "deep"])
def test_masked_lengths_give_what_each_sequence_gives_alone_whatever_is_in_the_padding(kind, extra, options):
    m = kind(3, 2, dtype=gl.float64, **options, **extra)
    lengths, first = [2, 4, 1], options.get("batch_first", False)
    x = gl.randn(4, 3, 3, dtype=gl.float64)
    for i, n in enumerate(lengths):
        x.data[n:, i] = np.nan
    given = gl.tensor(x.data.swapaxes(0, 1) if first else x.data, requires_grad=True)
    out, last = m(given, lengths=lengths)
    (out.sum() + sum((s * s).sum() for s in flat(last))).backward()
    grads = [p.grad.numpy().copy() for p in m.parameters()]
    out = out.transpose(0, 1) if first else out
    m.zero_grad()
    for i, n in enumerate(lengths):
        alone = gl.tensor(x.data[:n, i], requires_grad=True)
        y, end = m(alone)
        assert np.allclose(out.data[:n, i], y.data) and not out.data[n:, i].any()
        for s, t in zip(flat(last), flat(end), strict=True):
            assert np.allclose(s.data[:, i], t.data)
        (y.sum() + sum((s * s).sum() for s in flat(end))).backward()
        dx = given.grad.data.swapaxes(0, 1) if first else given.grad.data
        assert np.allclose(dx[:n, i], alone.grad.data) and not dx[n:, i].any()
    for got, p in zip(grads, m.parameters(), strict=True):
        assert np.allclose(got, p.grad.data)


@each
def test_lengths_and_packed_sequences_are_two_ways_to_say_the_same(kind, extra):
    m = kind(3, 2, num_layers=2, bidirectional=True, **extra)
    x, lengths = gl.randn(4, 3, 3), gl.tensor([4, 1, 3])
    start = tuple([gl.randn(4, 3, n) for n in (extra.get("proj_size", 2), 2)])
    start = start if kind is nn.LSTM else start[1]
    out, last = m(x, start, lengths=lengths)
    packed, also = m(nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False), start)
    again, found = nn.utils.rnn.pad_packed_sequence(packed)
    assert np.allclose(out.data, again.data, atol=1e-6) and found.tolist() == [4, 1, 3]
    for s, t in zip(flat(last), flat(also), strict=True):
        assert np.allclose(s.data, t.data, atol=1e-6)


def test_a_state_that_would_grow_beyond_all_numbers_behind_the_end_is_without_effect():
    m = nn.RNN(1, 2, nonlinearity="relu", bidirectional=True)
    for p in m.parameters():
        p.data[...] = 2.0
    x = gl.ones(200, 2, 1)
    x.data[1:] = 0
    out, last = m(x, lengths=[1, 2])
    (out.sum() + last.sum()).backward()
    assert np.isfinite(out.data).all() and not out.data[2:].any() and all(np.isfinite(p.grad.data).all() for p in m.parameters())
    alone, end = m(x[:1, :1])
    assert np.allclose(out.data[:1, :1], alone.data) and np.allclose(last.data[:, :1], end.data)


@pytest.mark.parametrize("kind, cell", [(nn.RNN, nn.RNNCell), (nn.GRU, nn.GRUCell), (nn.LSTM, nn.LSTMCell)])
def test_a_layer_is_its_cell_in_a_loop(kind, cell):
    m, step = kind(3, 2), cell(3, 2)
    step.load_state_dict({name[:-3]: value for name, value in m.state_dict().items()})
    x, state, outputs = gl.randn(5, 4, 3), None, []
    for x_t in x:
        state = step(x_t, state)
        outputs.append(flat(state)[0])
    out, last = m(x)
    assert np.allclose(out.data, gl.stack(outputs).data, atol=1e-6)
    assert np.allclose(flat(last)[-1].data[0], flat(state)[-1].data, atol=1e-6)


def loss_after(kind, frozen):
    """Who came first? The sign of the first of five numbers, asked for after the last."""
    gl.manual_seed(1)
    m, head = kind(1, 8), nn.Linear(8, 1)
    m.requires_grad_(not frozen)
    before = {name: value.data.copy() for name, value in m.state_dict().items()}
    x = gl.randn(5, 64, 1)
    y = (x.data[0, :, 0] > 0).astype("float32")
    trained = [p for p in (*m.parameters(), *head.parameters()) if p.requires_grad]
    optimizer = optim.Adam(trained, lr=0.05)
    for _ in range(60):
        out, _ = m(x)
        loss = nn.functional.binary_cross_entropy_with_logits(head(out[-1])[:, 0], gl.tensor(y))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    moved = {name for name, value in m.state_dict().items() if not np.array_equal(value.data, before[name])}
    assert moved == (set() if frozen else set(before))
    return loss.item()


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_a_layer_learns_to_remember_and_frozen_it_does_not(kind):
    learned, frozen = loss_after(kind, False), loss_after(kind, True)
    assert learned < 0.15 and learned < frozen / 2, (learned, frozen)


@pytest.mark.parametrize("cell", [nn.RNNCell, nn.GRUCell, nn.LSTMCell])
def test_a_cell_learns(cell):
    m, x, y = cell(2, 3), gl.randn(16, 2), gl.randn(16, 3) * 0.1
    optimizer, losses = optim.Adam(m.parameters(), lr=0.05), []
    before = m.state_dict()
    for _ in range(60):
        losses.append(nn.functional.mse_loss(flat(m(x))[0], y))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[-1].item() < losses[0].item() / 2
    # A GRU's or RNN's state is 0 here, so that nothing is multiplied by weight_hh.
    assert {n for n, v in m.state_dict().items() if np.array_equal(v.data, before[n].data)} == {"weight_hh"}


def test_the_first_values_are_uniform_in_one_over_the_root_of_the_hidden_size():
    for m in (nn.LSTM(20, 64), nn.GRUCell(20, 64)):
        for p in m.parameters():
            assert 0.115 < np.abs(p.data).max() <= 0.125 and abs(p.data.std() - 0.125 / np.sqrt(3)) < 0.01


def test_dropout_is_between_layers_and_only_while_training():
    m, x = nn.GRU(2, 50, num_layers=2, dropout=0.5), gl.randn(3, 4, 2)
    assert not np.array_equal(m(x)[0].data, m(x)[0].data)
    m.eval()
    assert np.array_equal(m(x)[0].data, m(x)[0].data)
    one = nn.GRU(2, 50, num_layers=2, dropout=1.0)
    plain = nn.GRU(2, 50)
    plain.load_state_dict({name: value for name, value in one.state_dict().items() if name.endswith("l0")})
    assert np.allclose(one(x)[1].data[0], plain(x)[1].data[0]), "the first layer's own state is not dropped"
    with pytest.warns(UserWarning, match="num_layers=1 nothing is dropped"):
        nn.LSTM(2, 3, dropout=0.5)


@each
def test_dtypes_are_kept(kind, extra):
    for dtype in (gl.float16, gl.float32, gl.float64):
        out, last = kind(3, 2, dtype=dtype, bidirectional=True, **extra)(gl.ones(2, 1, 3, dtype=dtype))
        assert {y.dtype for y in (out, *flat(last))} == {np.dtype(dtype)}


@each
def test_layers_run_on_another_device(kind, extra):
    m = kind(3, 2, num_layers=2, bidirectional=True, **extra)
    x, lengths = gl.randn(4, 3, 3), [4, 1, 2]
    want = [y.data for y in (m(x, lengths=lengths)[0], *flat(m(x)[1]))]
    m.to("sim")
    there = x.to("sim")
    got = [m(there, lengths=lengths)[0], *flat(m(there)[1])]
    packed, _ = m(nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False).to("sim"))
    got.append(nn.utils.rnn.pad_packed_sequence(packed)[0])
    for y, w in zip(got, [*want, want[0]], strict=True):
        assert y.device == gl.device("sim") and np.allclose(y.cpu().data, w, atol=1e-6)
    got[0].sum().backward()
    assert m.weight_hh_l0_reverse.grad.device == gl.device("sim")


def test_weights_are_listed_by_layer_and_direction():
    m = nn.LSTM(3, 2, num_layers=2, bidirectional=True, bias=False, proj_size=1)
    m.flatten_parameters()
    assert m.all_weights[1] == [m.weight_ih_l0_reverse, m.weight_hh_l0_reverse, m.weight_hr_l0_reverse] and len(m.all_weights) == 4


def test_the_tree_shows_what_is_not_the_default():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(nn.LSTM(2, 3, 2, dropout=0.2, bidirectional=True, proj_size=1)) == (
            "LSTM(2, 3, proj_size=1, num_layers=2, dropout=0.2, bidirectional=True)"
        )
    assert repr(nn.GRU(2, 3, bias=False)) == "GRU(2, 3, bias=False)"
    assert repr(nn.RNNCell(2, 3, nonlinearity="relu")) == "RNNCell(2, 3, nonlinearity=relu)"


X = gl.zeros(4, 2, 3)
WRONG = {
    "a width": (lambda: nn.GRU(3, 2)(gl.zeros(4, 2, 5)), gl.ShapeError, r"input +\(4, 2, 5\)\n +need: \(time, batch, 3\)"),
    "axes": (lambda: nn.GRU(3, 2, batch_first=True)(gl.zeros(3)), gl.ShapeError, r"need: \(batch, time, 3\)"),
    "no steps": (lambda: nn.GRU(3, 2)(gl.zeros(0, 2, 3)), gl.ShapeError, "without steps"),
    "h_0": (lambda: nn.GRU(3, 2)(X, gl.zeros(1, 3, 2)), gl.ShapeError, r"h_0 +\(1, 3, 2\)\n +need: h_0: \(1, 2, 2\)"),
    "c_0": (lambda: nn.LSTM(3, 2)(X, (gl.zeros(1, 2, 2), gl.zeros(1, 2))), gl.ShapeError, r"c_0: \(1, 2, 2\)"),
    "h_0 of one": (lambda: nn.RNN(3, 2)(X[0], gl.zeros(1, 2, 2)), gl.ShapeError, r"need: h_0: \(1, 2\)"),
    "one state for two": (lambda: nn.LSTM(3, 2)(X, gl.zeros(1, 2, 2)), TypeError, r"need: \(h_0, c_0\)"),
    "two states for one": (lambda: nn.GRU(3, 2)(X, (gl.zeros(1, 2, 2),) * 2), TypeError, "keeps one state"),
    "a dtype": (lambda: nn.GRU(3, 2)(gl.zeros(4, 2, 3, dtype=gl.float64)), gl.DTypeError, "dtype"),
    "a length of 0": (lambda: nn.GRU(3, 2)(X, lengths=[4, 0]), ValueError, r"lengths\[1\] +0\n.*\n +need: +1 to 4"),
    "a length too large": (lambda: nn.GRU(3, 2)(X, lengths=[5, 1]), ValueError, r"lengths\[0\] +5"),
    "too many lengths": (lambda: nn.GRU(3, 2)(X, lengths=[4, 1, 1]), gl.ShapeError, "one length for each sequence"),
    "half a step": (lambda: nn.GRU(3, 2)(X, lengths=[4.0, 1.5]), gl.DTypeError, "whole numbers"),
    "no size": (lambda: nn.LSTM(3, 0), gl.ShapeError, "hidden_size +0"),
    "no layers": (lambda: nn.LSTM(3, 2, num_layers=0), gl.ShapeError, "num_layers +0"),
    "a size in text": (lambda: nn.LSTM("3", 2), TypeError, "whole number"),
    "a projection": (lambda: nn.LSTM(3, 2, proj_size=2), ValueError, "less than hidden_size"),
    "a dropout": (lambda: nn.LSTM(3, 2, 2, dropout=1.5), ValueError, "0 <= dropout <= 1"),
    "a nonlinearity": (lambda: nn.RNN(3, 2, nonlinearity="sin"), ValueError, '"tanh" or "relu"'),
    "a cell's nonlinearity": (lambda: nn.RNNCell(3, 2, nonlinearity="sin"), ValueError, '"tanh" or "relu"'),
    "a cell's input": (lambda: nn.LSTMCell(3, 2)(gl.zeros(2, 4)), gl.ShapeError, r"need: +\(batch, 3\)"),
    "a cell's state": (lambda: nn.GRUCell(3, 2)(gl.zeros(2, 3), gl.zeros(2, 3)), gl.ShapeError, r"need: +h: \(2, 2\)"),
    "a cell's states": (lambda: nn.LSTMCell(3, 2)(gl.zeros(2, 3), gl.zeros(2, 2)), TypeError, r"\(h, c\)"),
    "lengths twice": (
        lambda: nn.GRU(3, 2)(nn.utils.rnn.pack_padded_sequence(X, [4, 1]), lengths=[4, 1]),
        ValueError,
        "packed sequences have their lengths",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_refused(what):
    call, error, match = WRONG[what]
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_output_and_state_together_go_into_no_other_layer(kind):
    model = nn.Sequential(getattr(nn, kind)(2, 3), nn.Linear(3, 1))
    with pytest.raises(gl.errors.GraphError, match=r"(?s)would lose their gradient.*tuple of Tensor.*y, state = lstm\(x\)"):
        model(gl.ones(1, 1, 2))
