"""Sequences of several lengths: side by side with padding behind the shorter ones, or packed, one step of all after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import ops
from .._tensor import Tensor
from ..backend import as_array, to_numpy
from ..create import tensor
from ..errors import ArgumentError, DTypeError, KeywordError, ShapeError, explain
from ..ops.argument import tensor_of, whole

Ids = np.ndarray[Any, np.dtype[np.int64]]


class PackedSequence(NamedTuple):
    """Sequences without padding: the first step of each, the longest sequence first, then the second of those that have one.

    Recurrent layers take and return it. Make one with `pack_padded_sequence` or `pack_sequence`.

    Shapes: data: (sum of lengths, *), batch_sizes: (time,), how many sequences have a step then, sorted_indices: (batch,), the
        longest first, unsorted_indices: (batch,), the way back; both None where the sequences came longest first
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *target: Any, **options: Any) -> PackedSequence:
        """The same with `data` on another device or in another dtype; sizes and ids stay in main memory.

        >>> pack_sequence([tensor([1, 2])]).to("float64").data.tolist()
        [1.0, 2.0]
        """
        return self._replace(data=self.data.to(*target, **options))


def read_lengths(op: str, lengths: Any, time: int, batch: int) -> Ids:
    """Lengths as an array, each at least 1 and at most `time`.

    Raises:
        DTypeError: no whole numbers.
        ShapeError: not one for each sequence.
        ArgumentError: a length that no sequence has.
    """
    found = to_numpy(as_array(lengths.data if isinstance(lengths, Tensor) else lengths))
    if found.dtype.kind not in "iu":
        raise DTypeError(explain(f"{op}: lengths are whole numbers", got={"lengths": found.dtype}, need="integers"))
    if found.shape != (batch,):
        raise ShapeError(explain(f"{op}: one length for each sequence", got={"lengths": found.shape}, need=f"({batch},)"))
    for i in np.flatnonzero((found < 1) | (found > time))[:1]:
        got = {f"lengths[{i}]": found[i], "time": time}
        raise ArgumentError(explain(f"{op}: a length that no sequence has", got=got, need=f"1 to {time}"))
    return found.astype(np.int64)


def pack_padded_sequence(input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences that stand side by side, padded behind.

    Shapes: input: (time, batch, *), with `batch_first` (batch, time, *), lengths: (batch,)

    Raises:
        ArgumentError: `enforce_sorted`, and a longer sequence comes after a shorter one; a length below 1 or above `time`.
        ShapeError: the input has fewer than two axes, or there is not one length for each sequence.

    >>> packed = pack_padded_sequence(tensor([[1, 2, 3], [4, 0, 0]]), [3, 1], batch_first=True)
    >>> packed.data.tolist(), packed.batch_sizes.tolist()
    ([1, 4, 2, 3], [2, 1, 1])
    """
    x = tensor_of(input)
    if x.ndim < 2:
        raise ShapeError(explain("pack_padded_sequence: no sequences side by side", got={"input": x.shape}, need="(time, batch, *)"))
    x = ops.transpose(x, 0, 1) if batch_first else x
    found = read_lengths("pack_padded_sequence", lengths, *x.shape[:2])
    order = np.argsort(-found, kind="stable")
    if enforce_sorted and (found[order] != found).any():
        raise ArgumentError(
            explain(
                "pack_padded_sequence: a longer sequence comes after a shorter one",
                got={"lengths": found.tolist()},
                need="the longest first",
                fix="enforce_sorted=False",
            )
        )
    sizes = tensor((found > np.arange(found.max(initial=0))[:, None]).sum(1))
    ids = (None, None) if enforce_sorted else (tensor(order), tensor(np.argsort(order)))
    return PackedSequence(picked(x, *_places(found, order)), sizes, *ids)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Put packed sequences side by side again, in the order they had, and say how long they are.

    Args:
        total_length: how many steps there shall be, the longest sequence's unless given.

    Shapes: result: (time, batch, *), with `batch_first` (batch, time, *), and lengths: (batch,)

    Raises:
        ArgumentError: `total_length` is less than the longest sequence has.
        ShapeError: `batch_sizes` and `data` don't go together.

    >>> padded, lengths = pad_packed_sequence(pack_sequence([tensor([4]), tensor([1, 2, 3])], enforce_sorted=False), batch_first=True)
    >>> padded.tolist(), lengths.tolist()
    ([[4, 0, 0], [1, 2, 3]], [1, 3])
    """
    lengths, order = lengths_of(sequence)
    longest = len(sequence.batch_sizes)
    time = longest if total_length is None else whole("total_length", total_length)
    if time < longest:
        got = {"total_length": time, "longest": longest}
        raise ArgumentError(explain("pad_packed_sequence: a sequence is longer", got=got, need=f"at least {longest}"))
    places, rows = _places(lengths, order), np.zeros((time, len(lengths)), np.int64)
    empty = np.ones(rows.shape, bool)
    rows[places], empty[places] = np.arange(len(places[0])), False
    padded = filled(picked(sequence.data, rows), empty, padding_value)
    return ops.transpose(padded, 0, 1) if batch_first else padded, tensor(lengths)


def repacked(sequence: PackedSequence, padded: Tensor) -> PackedSequence:
    """Pack what was computed from the sequences, (time, batch, *), as they are packed."""
    return sequence._replace(data=picked(padded, *_places(*lengths_of(sequence))))


def lengths_of(sequence: PackedSequence) -> tuple[Ids, Ids]:
    """How long each sequence is, in the order they had before packing, and which is the longest, the next and so on.

    Raises:
        KeywordError: it is no PackedSequence.
        ShapeError: `batch_sizes` and `data` don't go together.
    """
    if not isinstance(sequence, PackedSequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        got = {"sequence": type(sequence).__name__}
        raise KeywordError(explain("packed sequences: these are none", got=got, need="what pack_padded_sequence returned"))
    sizes = to_numpy(sequence.batch_sizes.data)
    if not len(sizes) or (np.diff(sizes) > 0).any() or sizes[-1] < 1 or sizes.sum() != len(sequence.data):
        got = {"batch_sizes": sizes.tolist(), "data": sequence.data.shape}
        raise ShapeError(
            explain("PackedSequence: batch_sizes and data don't go together", got=got, need="sizes that don't grow, of that sum")
        )
    sorted_ids = sequence.sorted_indices
    order = np.arange(sizes[0]) if sorted_ids is None else to_numpy(sorted_ids.data)
    lengths = np.empty(len(order), np.int64)
    lengths[order] = (sizes[:, None] > np.arange(sizes[0])).sum(0)
    return lengths, order


def _places(lengths: Ids, order: Ids) -> tuple[Ids, Ids]:
    """Where each row of the packed data stands among the padded: its time and its sequence."""
    time, rank = np.nonzero(lengths[order] > np.arange(lengths.max(initial=0))[:, None])
    return time, order[rank]


def picked(x: Tensor, *index: Ids) -> Tensor:
    """`x[index]`, with the ids brought to where `x` is."""
    return x[tuple([tensor(i, device=x.device) for i in index])]


def filled(x: Tensor, where: np.ndarray, value: float = 0.0) -> Tensor:
    """`x` (time, batch, *) with `value` where `where` (time, batch) holds."""
    if not where.any():
        return x
    return ops.masked_fill(x, tensor(where.reshape(*where.shape, *[1] * (x.ndim - 2)), device=x.device), value)


def pad_sequence(sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right") -> Tensor:
    """Put sequences of several lengths side by side, with `padding_value` behind the shorter ones ("left": before them).

    Shapes: sequences: (time, *) each, result: (longest, batch, *), with `batch_first` (batch, longest, *)

    Raises:
        ArgumentError: no sequences, or another side.
        ShapeError: they differ in more than their lengths.

    >>> pad_sequence([tensor([1, 2, 3]), tensor([4])], batch_first=True).tolist()
    [[1, 2, 3], [4, 0, 0]]
    """
    given = [tensor_of(s) for s in sequences]
    if not given:
        raise ArgumentError(explain("pad_sequence: no sequences", got={"sequences": 0}, need="at least one"))
    if padding_side not in ("left", "right"):
        raise ArgumentError(explain("pad_sequence: which side?", got={"padding_side": repr(padding_side)}, need='"left" or "right"'))
    if any(not s.ndim or s.shape[1:] != given[0].shape[1:] for s in given):
        got = {f"sequences[{i}]": s.shape for i, s in enumerate(given[:6])}
        raise ShapeError(explain("pad_sequence: they differ in more than their lengths", got=got, need="(time, *), all of one *"))
    longest = max(len(s) for s in given)

    def padded(s: Tensor) -> Tensor:
        n = longest - len(s)
        return ops.pad(s, (*[0, 0] * (s.ndim - 1), *((0, n) if padding_side == "right" else (n, 0))), value=padding_value) if n else s

    return ops.stack([padded(s) for s in given], 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """The sequences one by one, each as long as it is.

    Shapes: padded_sequences: (time, batch, *), with `batch_first` (batch, time, *), lengths: (batch,)

    >>> [s.tolist() for s in unpad_sequence(tensor([[1, 2, 3], [4, 0, 0]]), [3, 1], batch_first=True)]
    [[1, 2, 3], [4]]
    """
    x = tensor_of(padded_sequences)
    if x.ndim < 2:
        raise ShapeError(explain("unpad_sequence: no sequences side by side", got={"input": x.shape}, need="(time, batch, *)"))
    x = x if batch_first else ops.transpose(x, 0, 1)
    return [x[i, :n] for i, n in enumerate(read_lengths("unpad_sequence", lengths, x.shape[1], x.shape[0]))]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences that are given one by one.

    >>> pack_sequence([tensor([1, 2, 3]), tensor([4])]).data.tolist()
    [1, 4, 2, 3]
    """
    return pack_padded_sequence(pad_sequence(sequences), [len(s) for s in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The packed sequences one by one, in the order they had.

    >>> [s.tolist() for s in unpack_sequence(pack_sequence([tensor([1, 2, 3]), tensor([4])]))]
    [[1, 2, 3], [4]]
    """
    return unpad_sequence(*pad_packed_sequence(packed_sequences))
