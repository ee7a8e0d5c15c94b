"""Sequences of several lengths, where PyTorch has them: `from gradlab.nn.utils.rnn import pad_sequence`."""

from ..packed import PackedSequence as PackedSequence
from ..packed import pack_padded_sequence as pack_padded_sequence
from ..packed import pack_sequence as pack_sequence
from ..packed import pad_packed_sequence as pad_packed_sequence
from ..packed import pad_sequence as pad_sequence
from ..packed import unpack_sequence as unpack_sequence
from ..packed import unpad_sequence as unpad_sequence
