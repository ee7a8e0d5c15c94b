from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)


def test_packing_there_and_back_gives_the_same_also_unsorted_and_with_gradients():
    x = gl.randn(5, 3, 2, requires_grad=True)
    lengths = [2, 5, 3]
    packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [3, 3, 2, 1, 1]
    assert packed.sorted_indices.tolist() == [1, 2, 0] and packed.unsorted_indices.tolist() == [2, 0, 1]
    padded, found = pad_packed_sequence(packed, padding_value=-7.0, total_length=6)
    assert found.tolist() == lengths and padded.shape == (6, 3, 2)
    for i, n in enumerate(lengths):
        assert np.array_equal(padded.data[:n, i], x.data[:n, i]) and (padded.data[n:, i] == -7).all()
    padded.sum().backward()
    assert x.grad.data[..., 0].T.tolist() == [[1, 1, 0, 0, 0], [1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]


def test_sorted_sequences_need_no_ids():
    packed = pack_sequence([gl.tensor([1, 2]), gl.tensor([3])])
    assert packed.sorted_indices is None and packed.data.dtype == np.int64
    assert [s.tolist() for s in unpack_sequence(packed)] == [[1, 2], [3]]


def test_padding_may_stand_in_front():
    assert pad_sequence([gl.tensor([1.0]), gl.tensor([2.0, 3.0])], True, 9.0, "left").tolist() == [[9, 1], [2, 3]]
    x = gl.ones(1, 2, requires_grad=True)
    pad_sequence([x, gl.ones(3, 2)]).sum().backward()
    assert x.grad.tolist() == [[1, 1]]


@pytest.mark.torch
def test_packing_is_pytorchs():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    theirs = torch.nn.utils.rnn
    rng = np.random.default_rng(0)
    for _ in range(30):
        time, batch = rng.integers(1, 6, 2)
        lengths, x = rng.permutation(np.arange(1, 7))[:batch].clip(max=time), rng.random((batch, time, 2))
        lengths = np.unique(lengths)[::-1].copy() if rng.random() < 0.5 else np.unique(lengths)
        x = x[: len(lengths)]
        options = {"batch_first": True, "enforce_sorted": bool((np.diff(lengths) <= 0).all())}
        ours, want = pack_padded_sequence(gl.tensor(x), lengths, **options), theirs.pack_padded_sequence(
            torch.tensor(x), torch.tensor(lengths), **options
        )  # fmt: skip
        for a, b in zip(ours, want, strict=True):
            assert (a is None and b is None) or np.array_equal(a.data, b.numpy())
        for a, b in zip(pad_packed_sequence(ours, padding_value=2.0), theirs.pad_packed_sequence(want, padding_value=2.0), strict=True):
            assert np.array_equal(a.data, b.numpy())


X = gl.zeros(3, 2)
WRONG = {
    "unsorted": (lambda: pack_padded_sequence(X, [1, 3]), ValueError, "try: +enforce_sorted=False"),
    "an empty one": (lambda: pack_padded_sequence(X, [3, 0]), ValueError, r"lengths\[1\] +0"),
    "too long": (lambda: pack_padded_sequence(X, [4, 1]), ValueError, "need: +1 to 3"),
    "one axis": (lambda: pack_padded_sequence(X[0], [1]), gl.ShapeError, "no sequences side by side"),
    "one axis to unpad": (lambda: unpad_sequence(X[0], [1]), gl.ShapeError, "no sequences side by side"),
    "no sequences": (lambda: pad_sequence([]), ValueError, "at least one"),
    "several widths": (lambda: pad_sequence([X, gl.zeros(3, 3)]), gl.ShapeError, "differ in more than their lengths"),
    "a side": (lambda: pad_sequence([X], padding_side="top"), ValueError, '"left" or "right"'),
    "no packed one": (lambda: pad_packed_sequence(X), TypeError, "pack_padded_sequence returned"),
    "short of rows": (lambda: pad_packed_sequence(PackedSequence(X, gl.tensor([2, 2]))), gl.ShapeError, "don't go together"),
    "a total too small": (lambda: pad_packed_sequence(pack_padded_sequence(X, [3, 1]), total_length=2), ValueError, "at least 3"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_refused(what):
    call, error, match = WRONG[what]
    with pytest.raises(error, match=match):
        call()
