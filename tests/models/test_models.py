"""BERT and GPT: what they compute beside their weights, and that all of them learn."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab import models, optim

BERT = {"vocab_size": 13, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12}
GPT = {"vocab_size": 13, "n_positions": 10, "n_embd": 12, "n_layer": 2, "n_head": 3}


def test_words_that_are_masked_change_nothing():
    model = models.Bert(**BERT).eval()
    ids, mask = np.array([[1, 2, 3, 4]]), np.array([[1, 1, 1, 0]])
    other = ids.copy()
    other[0, 3] = 9
    np.testing.assert_allclose(model(ids, mask).data[:, :3], model(other, mask).data[:, :3], atol=1e-6)
    np.testing.assert_allclose(model.embed(ids, mask).data, model.embed(ids[:, :3]).data, atol=1e-6)
    assert np.abs(model(ids).data - model(other).data)[:, :3].max() > 1e-4
    np.testing.assert_allclose(np.linalg.norm(model.embed(ids, mask).data, axis=1), 1, atol=1e-6)


def test_no_token_sees_what_comes_after_it():
    model = models.GPT(**GPT).eval()
    ids = np.array([[1, 2, 3, 4]])
    other = ids.copy()
    other[0, 3] = 9
    a, b = model(ids).data, model(other).data
    np.testing.assert_array_equal(a[:, :3], b[:, :3])
    assert np.abs(a[:, 3] - b[:, 3]).max() > 1e-4


def test_the_first_logits_tell_nothing_and_all_parts_learn():
    model = models.GPT(**{**GPT, "resid_pdrop": 0.0})
    ids = gl.randint(0, 13, (8, 9))
    optimizer = optim.Adam(model.parameters(), lr=0.01)

    def loss():
        return F.cross_entropy(model(ids[:, :-1]).reshape(-1, 13), ids[:, 1:].reshape(-1))

    before, first = {name: t.data for name, t in model.state_dict().items()}, loss()
    assert abs(first.item() - np.log(13)) < 0.05
    for _ in range(60):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    assert loss().item() < first.item() / 2
    assert all(not np.array_equal(t.data, before[name]) for name, t in model.state_dict().items())


def test_every_weight_of_a_bert_gets_a_gradient():
    model = models.Bert(**BERT)
    model.embed(gl.randint(0, 13, (2, 5)), np.ones((2, 5)))[:, 0].sum().backward()
    assert all(p.grad is not None and np.abs(p.grad.data).max() > 0 for name, p in model.named_parameters() if "key.bias" not in name)


def test_models_compute_the_same_on_a_device():
    for model in (models.Bert(**BERT).eval(), models.GPT(**GPT).eval()):
        ids = gl.randint(0, 13, (2, 5))
        want = model(ids).data
        assert np.array_equal(model.to("sim")(ids.to("sim")).cpu().data, want)


def test_sizes_that_make_no_model_are_refused():
    with pytest.raises(gl.ArgumentError, match="channels a multiple of heads"):
        models.GPT(**{**GPT, "n_head": 5})
    with pytest.raises(gl.ShapeError, match="time at most 10"):
        models.GPT(**GPT)(np.zeros((1, 11), int))
    with pytest.raises(gl.ShapeError, match=r"\(batch, time\)"):
        models.Bert(**BERT)(np.zeros(3, int))
    with pytest.raises(gl.ArgumentError, match=r"(?s)config of another model.*missing +num_hidden_layers"):
        models.Bert.from_config({"n_layer": 3})


def test_gpt_with_a_cache_says_step_by_step_what_it_says_at_once():
    model = gl.models.GPT(vocab_size=11, n_positions=7, n_embd=12, n_layer=2, n_head=3).eval()
    ids, cache = gl.randint(0, 11, (2, 7)), gl.nn.KVCache()
    with gl.no_grad():
        whole = model(ids)
        parts = [model(ids[:, i:j], cache=cache) for i, j in ((0, 3), (3, 4), (4, 7))]
        np.testing.assert_allclose(gl.cat(parts, 1).data, whole.data, atol=1e-6)
        with pytest.raises(gl.ShapeError, match="time at most 0"):
            model(ids[:, :1], cache=cache)
    assert cache.steps == 7
