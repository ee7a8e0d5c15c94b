from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.trace import recording

OPTIONS = [{}, {"batch_first": True}, {"add_bias_kv": True, "add_zero_attn": True}, {"bias": False}]
FUTURE = gl.triu(gl.ones(5, 5), 1).bool()


def attend(m, x, **options):
    return m(x, x, x, need_weights=False, **options)[0]


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_a_query_that_may_look_at_nothing_gets_zeros_and_harms_no_gradient(need_weights, kind):
    m = nn.MultiheadAttention(4, 2)
    gl.nn.init.normal_(m.out_proj.bias)
    mask = gl.tensor([[True] * 3, [True, False, False]])
    mask = mask if kind == "bool" else gl.zeros(2, 3).masked_fill(mask, float("-inf"))
    q, k = gl.randn(2, 1, 4, requires_grad=True), gl.randn(3, 1, 4, requires_grad=True)
    y, weights = m(q, k, k, attn_mask=mask, need_weights=need_weights)
    assert np.allclose(y.data[0, 0], m.out_proj.bias.data)
    if weights is not None:
        assert weights.data[0, 0].tolist() == [0, 0, 0] and abs(weights.data[0, 1].sum() - 1) < 1e-6
    y.sum().backward()
    assert not q.grad.data[0].any() and q.grad.data[1].any()
    assert all(np.isfinite(t.grad.data).all() for t in (q, k, *m.parameters()))


def test_a_sample_of_nothing_but_padding_harms_no_other():
    m, x = nn.MultiheadAttention(4, 2, batch_first=True), gl.randn(2, 3, 4)
    padded = gl.tensor([[True] * 3, [False] * 3])
    y, weights = m(x, x, x, key_padding_mask=padded)
    assert not weights.data[0].any() and np.allclose(y.data[0], m.out_proj.bias.data)
    assert np.allclose(y.data[1], m(x[1], x[1], x[1])[0].data, atol=1e-6)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("need_weights", [True, False])
def test_causal_is_the_mask_of_the_future_with_or_without_one(options, need_weights):
    m, x = nn.MultiheadAttention(4, 2, **options), gl.randn(5, 5, 4)
    want = m(x, x, x, attn_mask=FUTURE, need_weights=need_weights)
    for mask in (None, FUTURE, gl.zeros(5, 5).masked_fill(FUTURE, float("-inf"))):
        got = m(x, x, x, attn_mask=mask, is_causal=True, need_weights=need_weights)
        for y, w in zip(got, want, strict=True):
            assert (y is None and w is None) or np.allclose(y.data, w.data, atol=1e-6)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("pieces", [[1] * 6, [3, 1, 2]], ids=str)
def test_with_a_cache_steps_give_what_the_whole_sequence_gives(options, pieces):
    m, first = nn.MultiheadAttention(4, 2, **options), options.get("batch_first", False)
    x = gl.randn(6, 3, 4)
    padded = gl.tensor([[True] + [False] * 5, [False] * 6, [True, True] + [False] * 4])
    given = x.transpose(0, 1) if first else x
    whole, weights = m(given, given, given, key_padding_mask=padded, is_causal=True)
    cache, at = nn.KVCache(), 0
    for n in pieces:
        part = x[at : at + n].transpose(0, 1) if first else x[at : at + n]
        at += n
        y, w = m(part, part, part, key_padding_mask=padded[:, :at], is_causal=True, cache=cache)
        want = whole[:, at - n : at] if first else whole[at - n : at]
        assert np.allclose(y.data, want.data, atol=1e-6) and cache.steps == at
        assert np.allclose(w.data[..., :at], weights.data[:, at - n : at, :at], atol=1e-6)
    assert repr(cache) == "KVCache(6 steps, 1 layers)"


def test_what_is_read_again_and_again_is_projected_once():
    m, cache = nn.MultiheadAttention(4, 2, kdim=3, vdim=3), nn.KVCache()
    q, memory = gl.randn(2, 1, 4), gl.randn(5, 1, 3)
    want = m(q, memory, memory)[0].data
    m(q[:1], memory, memory, cache=cache)
    m.k_proj_weight.data[...] = 0
    m.v_proj_weight.data[...] = 0
    assert np.allclose(m(q, memory, memory, cache=cache)[0].data, want, atol=1e-6)
    assert cache.steps == 0


def test_gradients_go_through_a_cache():
    m, x = nn.MultiheadAttention(4, 2), gl.randn(3, 1, 4)
    attend(m, x, is_causal=True).sum().backward()
    want = m.in_proj_weight.grad.data.copy()
    m.zero_grad()
    cache = nn.KVCache()
    gl.cat([attend(m, x[i : i + 1], cache=cache) for i in range(3)]).sum().backward()
    assert np.allclose(m.in_proj_weight.grad.data, want, atol=1e-5)


def loss_after(frozen):
    """Look up: the last place asks for the value that stands beside its key."""
    gl.manual_seed(0)
    m = nn.MultiheadAttention(12, 2, batch_first=True)
    head = nn.Linear(12, 4)
    m.requires_grad_(not frozen)
    before = m.state_dict()
    rng = np.random.default_rng(0)
    keys = np.stack([rng.permutation(4) for _ in range(128)])
    values, asked = rng.integers(0, 4, (128, 4)), rng.integers(0, 4, 128)
    pairs = np.concatenate([np.eye(4)[keys], np.eye(4)[values], np.zeros((128, 4, 4))], 2)
    question = np.concatenate([np.zeros((128, 1, 8)), np.eye(4)[keys[np.arange(128), asked]][:, None]], 2)
    x, q, y = [gl.tensor(a) for a in (pairs.astype("f"), question.astype("f"), values[np.arange(128), asked])]
    optimizer = optim.Adam([p for p in (*m.parameters(), *head.parameters()) if p.requires_grad], lr=0.05)
    for _ in range(100):
        loss = nn.functional.cross_entropy(head(m(q, x, x, need_weights=False)[0][:, 0]), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    same = {name for name, value in m.state_dict().items() if np.array_equal(value.data, before[name].data)}
    assert same == (set(before) if frozen else set())
    return loss.item()


def test_attention_learns_to_look_up_and_frozen_it_does_not():
    learned, frozen = loss_after(False), loss_after(True)
    assert learned < 0.3 < 1 < frozen, (learned, frozen)


def test_the_first_values_are_pytorchs():
    m = nn.MultiheadAttention(64, 4, add_bias_kv=True)
    bound = np.sqrt(6 / (64 + 192))
    assert 0.99 * bound < np.abs(m.in_proj_weight.data).max() <= bound
    assert 0.123 < np.abs(m.out_proj.weight.data).max() <= 0.125
    assert not m.in_proj_bias.data.any() and not m.out_proj.bias.data.any()
    assert abs(m.bias_k.data.std() - np.sqrt(2 / 128)) < 0.03
    other = nn.MultiheadAttention(64, 4, kdim=32, vdim=64)
    assert other.in_proj_weight is None and np.abs(other.k_proj_weight.data).max() <= np.sqrt(6 / 96)


def test_dropout_drops_weights_only_while_training():
    m, x = nn.MultiheadAttention(4, 2, dropout=0.5), gl.randn(6, 2, 4)
    for need_weights in (True, False):
        m.train()
        assert not np.array_equal(m(x, x, x, need_weights=need_weights)[0].data, m(x, x, x, need_weights=need_weights)[0].data)
        m.eval()
        assert np.array_equal(m(x, x, x, need_weights=need_weights)[0].data, m(x, x, x, need_weights=need_weights)[0].data)
    weights = m.train()(x, x, x, average_attn_weights=False)[1].data
    assert 0.3 < (weights == 0).mean() < 0.7


@pytest.mark.parametrize("dtype", [gl.float16, gl.float32, gl.float64])
def test_dtypes_are_kept_also_beside_masks_of_another(dtype):
    m, x = nn.MultiheadAttention(4, 2, dtype=dtype), gl.ones(5, 1, 4, dtype=dtype)
    for mask in (None, FUTURE, gl.zeros(5, 5), gl.zeros(5, 5, dtype=gl.float64)):
        for y in m(x, x, x, attn_mask=mask):
            assert y.dtype == np.dtype(dtype)
        assert attend(m, x, attn_mask=mask).dtype == np.dtype(dtype)


def test_attention_runs_on_another_device():
    m, x = nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True), gl.randn(5, 2, 4)
    padded = gl.tensor([[True] * 2 + [False] * 3, [False] * 5])
    want = m(x, x, x, attn_mask=FUTURE, key_padding_mask=padded), attend(m, x, is_causal=True)
    m.to("sim")
    there = x.to("sim")
    got = m(there, there, there, attn_mask=FUTURE.to("sim"), key_padding_mask=padded.to("sim")), attend(m, there, is_causal=True)
    for y, w in zip((*got[0], got[1]), (*want[0], want[1]), strict=True):
        assert y.device == gl.device("sim") and np.allclose(y.cpu().data, w.data, atol=1e-6)


M, X = nn.MultiheadAttention(4, 2), gl.zeros(3, 2, 4)
CACHE = nn.KVCache()
attend(M, X, cache=CACHE)
WRONG = {
    "heads": (lambda: nn.MultiheadAttention(6, 4), gl.ShapeError, "embed_dim a multiple of num_heads"),
    "no heads": (lambda: nn.MultiheadAttention(6, 0), gl.ShapeError, "num_heads +0"),
    "a dropout": (lambda: nn.MultiheadAttention(6, 2, dropout=-1), ValueError, "0 <= dropout <= 1"),
    "a width": (lambda: attend(M, gl.zeros(3, 2, 5)), gl.ShapeError, r"query: \(query, batch, 4\), key: \(key, batch, 4\)"),
    "batches": (lambda: M(X, X[:, :1], X[:, :1]), gl.ShapeError, r"query: \(query, batch, 4\)"),
    "values for other keys": (lambda: M(X, X, X[:2]), gl.ShapeError, r"value +\(2, 2, 4\)"),
    "axes": (lambda: M(X, X[:, 0], X[:, 0]), gl.ShapeError, "or all without batch"),
    "an attn_mask": (lambda: attend(M, X, attn_mask=gl.zeros(3, 2)), gl.ShapeError, r"need: +\(3, 3\), query and key; or \(4, 3, 3\)"),
    "a mask a head": (lambda: attend(M, X, attn_mask=gl.zeros(2, 3, 3)), gl.ShapeError, r"attn_mask +\(2, 3, 3\)"),
    "a padding mask": (lambda: attend(M, X, key_padding_mask=gl.zeros(3, 2)), gl.ShapeError, r"need: +\(2, 3\): batch, key"),
    "a mask of integers": (lambda: attend(M, X, attn_mask=gl.zeros(3, 3, dtype=gl.int64)), gl.DTypeError, r"try: +attn_mask.bool\(\)"),
    "a dtype": (lambda: attend(M, X.double()), gl.DTypeError, "dtype"),
    "a cache of another batch": (lambda: attend(M, X[:, :1], cache=CACHE), gl.ShapeError, r"so far +\(2, 2, 3, 2\)"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_refused(what):
    call, error, match = WRONG[what]
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize("memory_twice", [True, False])
def test_nothing_is_computed_in_vain(memory_twice):
    layer, memory = nn.MultiheadAttention(4, 2), gl.randn(5, 1, 4)
    with recording() as recorder:
        layer(gl.randn(3, 1, 4), memory, memory if memory_twice else memory.clone(), need_weights=False)
    made = recorder.structure()["ops"]
    used = {place for op in made for kind, place in op["inputs"] if kind == "op"}
    assert used == set(range(len(made) - 1))
