"""Tokenizers: text as numbers, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..errors import DataError, FormatError, KeywordError, LabelError, MissingFileError, PackageError, explain
from .given import count_of


class CharTokenizer:
    """Each character is a token; its number is its place among the sorted characters of the text it was made of.

    >>> tokenizer = CharTokenizer("hello")
    >>> tokenizer.encode("hole"), tokenizer.decode([1, 0, 2, 2, 3])
    ([1, 3, 2, 0], 'hello')
    """

    def __init__(self, text: str | Iterable[str]) -> None:
        self.characters = "".join(sorted(set("".join(text))))
        if not self.characters:
            raise DataError(explain("CharTokenizer: no characters came in", got={"text": "empty"}, need="the text that is learned"))
        self._numbers = {character: i for i, character in enumerate(self.characters)}

    @property
    def vocab_size(self) -> int:
        """How many tokens there are."""
        return len(self.characters)

    def encode(self, text: str) -> list[int]:
        """The numbers of the characters.

        Raises:
            LabelError: a character that was not in the text the tokenizer was made of.
        """
        try:
            return [self._numbers[character] for character in text]
        except KeyError:
            i = next(i for i, character in enumerate(text) if character not in self._numbers)
            got = {"character": repr(text[i]), "at": i}
            raise LabelError(explain("CharTokenizer: this character has no number", got=got, need=f"one of {self.characters!r}")) from None

    def decode(self, ids: Iterable[int] | Tensor) -> str:
        """The text that the numbers stand for.

        Raises:
            LabelError: a number that stands for nothing.
        """
        return "".join([self.characters[i] for i in _numbers("CharTokenizer", ids, self.vocab_size)])

    def __repr__(self) -> str:
        return f"CharTokenizer(vocab_size={self.vocab_size})"


class BPETokenizer:
    """Byte pairs: the pairs of tokens that are most frequent become tokens, beginning with the 256 bytes. Any text can be encoded.

    Trained and run by the tokenizers library (`pip install gradlab[tokenizers]`); files are that library's, so the
    `tokenizer.json` of a published model can be loaded too.

    Source: R. Sennrich, B. Haddow, A. Birch 2015, "Neural Machine Translation of Rare Words with Subword Units", arXiv
    1508.07909; on bytes as GPT-2 does.

    >>> tokenizer = BPETokenizer.train("low lower lowest", vocab_size=260)
    >>> ids = tokenizer.encode("lower, slow")
    >>> tokenizer.decode(ids), len(ids) < len("lower, slow")
    ('lower, slow', True)
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer  # a tokenizers.Tokenizer

    @classmethod
    def train(cls, text: str | Iterable[str], vocab_size: int, min_frequency: int = 2) -> BPETokenizer:
        """Learn the tokens of a text.

        Args:
            text: a text, or several.
            vocab_size: how many tokens at most; 256 of them are the bytes.
            min_frequency: a pair has to be there so often.

        Raises:
            PackageError: the tokenizers library is not installed.
            DataError: fewer tokens than bytes.
        """
        library = _library()
        size = count_of("BPETokenizer", "vocab_size", vocab_size, 256)
        tokenizer = library.Tokenizer(library.models.BPE())
        tokenizer.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = library.decoders.ByteLevel()
        trainer = library.trainers.BpeTrainer(
            vocab_size=size,
            min_frequency=min_frequency,
            initial_alphabet=library.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
            special_tokens=[],
        )
        tokenizer.train_from_iterator([text] if isinstance(text, str) else text, trainer)
        return cls(tokenizer)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BPETokenizer:
        """Read a `tokenizer.json`.

        Raises:
            PackageError: the tokenizers library is not installed.
            MissingFileError, FormatError: the file is not there, or is no tokenizer.
        """
        library = _library()
        if not Path(path).is_file():
            raise MissingFileError(explain("BPETokenizer: there is no such file", got={"path": path}, need="a tokenizer.json"))
        try:
            return cls(library.Tokenizer.from_file(os.fspath(path)))
        except Exception as error:  # the library raises nothing narrower
            got = {"path": path, "tokenizers says": error}
            raise FormatError(explain("BPETokenizer: this file is no tokenizer", got=got, need="a tokenizer.json")) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `tokenizer.json`."""
        self.tokenizer.save(os.fspath(path))

    @property
    def vocab_size(self) -> int:
        """How many tokens there are."""
        return self.tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        """The numbers of the tokens."""
        return self.tokenizer.encode(text).ids

    def decode(self, ids: Iterable[int] | Tensor) -> str:
        """The text that the numbers stand for.

        Raises:
            LabelError: a number that stands for nothing.
        """
        return self.tokenizer.decode(_numbers("BPETokenizer", ids, self.vocab_size))

    def __repr__(self) -> str:
        return f"BPETokenizer(vocab_size={self.vocab_size})"


def _numbers(name: str, ids: Any, count: int) -> list[int]:
    array = np.asarray(ids.tolist() if isinstance(ids, Tensor) else ids if hasattr(ids, "dtype") else list(ids))
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        got = {"ids": f"{array.dtype}, {array.shape}"}
        raise KeywordError(explain(f"{name}: these are no numbers of tokens", got=got, need="whole numbers in a row"))
    if array.size and not 0 <= array.min() <= array.max() < count:
        raise LabelError(
            explain(f"{name}: no token has this number", got={"from": array.min(), "to": array.max()}, need=f"0 to {count - 1}")
        )
    return array.tolist()


def _library() -> Any:
    try:
        import tokenizers
        import tokenizers.decoders
        import tokenizers.models
        import tokenizers.pre_tokenizers
        import tokenizers.trainers
    except ImportError:
        got = {"package": "tokenizers"}
        raise PackageError(
            explain("BPETokenizer: needs the tokenizers library", got=got, need="it installed", fix="pip install 'gradlab[tokenizers]'")
        ) from None
    return tokenizers
