from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim
from gradlab.nn import functional as F

LAYERS = [(nn.TransformerEncoderLayer, 1), (nn.TransformerDecoderLayer, 2)]
both_layers = pytest.mark.parametrize("kind, n", LAYERS, ids=["encoder", "decoder"])


class LanguageModel(nn.Module):
    """Letters in, scores of the next ones out: what a reader would write."""

    def __init__(self, letters=5, features=8, heads=2, layers=2, rotary=False, **options):
        super().__init__()
        self.embed = nn.Parameter(gl.randn(letters, features))
        self.place = nn.Identity() if rotary else nn.SinusoidalPositions(features, batch_first=True)
        layer = nn.TransformerEncoderLayer(features, heads, 2 * features, 0.0, "gelu", batch_first=True, **options)
        if rotary:
            layer.self_attn.positions = nn.RotaryPositions(features // heads)
        self.blocks = nn.TransformerEncoder(layer, layers, nn.LayerNorm(features))
        self.head = nn.Linear(features, letters)
        self.rotary = rotary

    def forward(self, ids, cache=None):
        x = F.embedding(ids, self.embed)
        x = x if self.rotary else self.place(x, offset=0 if cache is None else cache.steps)
        return self.head(self.blocks(x, is_causal=True, cache=cache))


@pytest.mark.parametrize("rotary", [False, True], ids=["sinusoidal", "rotary"])
@pytest.mark.parametrize("norm_first", [False, True], ids=["norm last", "norm first"])
def test_a_model_with_a_cache_gives_the_logits_of_the_whole_sequence_step_by_step(rotary, norm_first):
    model, ids = LanguageModel(rotary=rotary, norm_first=norm_first).eval(), gl.randint(0, 5, (3, 9))
    for block in model.blocks.layers:  # else both begin alike
        block.self_attn.reset_parameters()
    with gl.no_grad():
        want = model(ids)
        for pieces in ([1] * 9, [4, 1, 1, 3]):
            cache = nn.KVCache()
            got = [model(part, cache) for part in gl.split(ids, pieces, 1)]
            assert np.allclose(gl.cat(got, 1).data, want.data, atol=1e-5) and cache.steps == 9


@pytest.mark.parametrize("norm_first", [False, True], ids=["norm last", "norm first"])
def test_a_decoder_with_a_cache_reads_its_memory_once_and_gives_the_same(norm_first):
    model = nn.Transformer(8, 2, 1, 2, 16, 0.0, norm_first=norm_first).eval()
    src, tgt = gl.randn(5, 3, 8), gl.randn(6, 3, 8)
    padded = gl.tensor([[False] * 5, [False] * 3 + [True] * 2, [False] * 5])
    want = model(src, tgt, src_key_padding_mask=padded, memory_key_padding_mask=padded, tgt_is_causal=True)
    memory, cache = model.encoder(src, src_key_padding_mask=padded), nn.KVCache()
    steps = [model.decoder(t, memory, memory_key_padding_mask=padded, tgt_is_causal=True, cache=cache) for t in gl.split(tgt, 1)]
    assert np.allclose(gl.cat(steps).data, want.data, atol=1e-5)
    assert repr(cache) == "KVCache(6 steps, 4 layers)"


def test_padded_steps_are_as_if_they_were_not_there():
    layer, x = nn.TransformerEncoderLayer(4, 2, 8).eval(), gl.randn(5, 2, 4)
    padded = gl.tensor([[False] * 3 + [True] * 2, [False] * 5])
    y = layer(x, src_key_padding_mask=padded)
    assert np.allclose(y.data[:3, 0], layer(x[:3, 0]).data, atol=1e-6)


def test_a_sample_of_nothing_but_padding_is_finite_and_so_are_the_gradients():
    model = nn.Transformer(4, 2, 1, 1, 8)
    src, tgt = gl.randn(3, 2, 4), gl.randn(2, 2, 4)
    padded = gl.tensor([[True] * 3, [False] * 3])
    y = model(src, tgt, src_key_padding_mask=padded, memory_key_padding_mask=padded)
    y.sum().backward()
    assert np.isfinite(y.data).all() and all(np.isfinite(p.grad.data).all() for p in model.parameters())


def train(model, inputs, targets, steps, frozen=""):
    """The loss after some steps of Adam; parameters whose name begins with `frozen` must not move, all others must."""
    for name, p in model.named_parameters():
        p.requires_grad_(not (frozen and name.startswith(frozen)))
    before = model.state_dict()
    optimizer = optim.Adam([p for p in model.parameters() if p.requires_grad], lr=0.03)
    for _ in range(steps):
        loss = F.cross_entropy(model(*inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    moved = {name for name, value in model.state_dict().items() if not np.array_equal(value.data, before[name].data)}
    assert moved == {name for name, p in model.named_parameters() if p.requires_grad}
    return loss.item()


@pytest.mark.parametrize("rotary", [False, True], ids=["sinusoidal", "rotary"])
def test_an_encoder_learns_to_say_the_letter_before_and_frozen_it_does_not(rotary):
    ids = gl.randint(0, 5, (16, 6))
    wanted = gl.cat([gl.zeros(16, 1, dtype=gl.int64), ids[:, :-1]], 1)
    losses = []
    for frozen in ("", "blocks"):
        gl.manual_seed(3)
        losses.append(train(LanguageModel(features=16, layers=1, rotary=rotary), (ids,), wanted, 40, frozen))
    assert losses[0] < 0.4 and losses[0] < losses[1] / 2, losses


class Reverser(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Parameter(gl.randn(6, 16))
        self.place = nn.SinusoidalPositions(16, batch_first=True)
        self.transformer = nn.Transformer(16, 2, 1, 1, 32, 0.0, batch_first=True)
        self.head = nn.Linear(16, 6)

    def forward(self, source, target):
        source, target = [self.place(F.embedding(ids, self.embed)) for ids in (source, target)]
        return self.head(self.transformer(source, target, tgt_is_causal=True))


def test_a_transformer_learns_to_reverse_and_with_a_frozen_encoder_and_decoder_it_does_not():
    ids = gl.randint(0, 5, (32, 3))
    wanted = gl.flip(ids, 1)
    begun = gl.cat([gl.full((32, 1), 5, dtype=gl.int64), wanted[:, :-1]], 1)
    losses = []
    for frozen in ("", "transformer"):
        gl.manual_seed(0)
        losses.append(train(Reverser(), (ids, begun), wanted, 60, frozen))
    assert losses[0] < 0.4 and losses[0] < losses[1] / 2, losses


def test_the_layers_of_a_stack_begin_alike_and_go_their_own_ways():
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    stack = nn.TransformerEncoder(layer, 2)
    a, b = [m.linear1.weight for m in stack.layers]
    assert a is not b and np.array_equal(a.data, b.data) and np.array_equal(a.data, layer.linear1.weight.data)
    a.data[...] = 0
    assert b.data.any() and layer.linear1.weight.data.any()


@both_layers
def test_an_activation_may_be_a_name_a_function_or_a_module(kind, n):
    x = [gl.randn(3, 1, 4)] * n
    layers = [kind(4, 2, 8, activation=a).eval() for a in ("gelu", F.gelu, nn.GELU())]
    for m in layers[1:]:
        m.load_state_dict(layers[0].state_dict())
    first, *others = [m(*x).data for m in layers]
    assert all(np.array_equal(y, first) for y in others)


@both_layers
def test_dropout_is_only_while_training_and_layers_keep_dtypes_and_devices(kind, n):
    m, x = kind(4, 2, 8, dropout=0.5), [gl.randn(3, 2, 4)] * n
    assert not np.array_equal(m(*x).data, m(*x).data)
    m.eval()
    want = m(*x).data
    assert np.array_equal(m(*x).data, want)
    y = m.to("sim")(*[t.to("sim") for t in x])
    assert y.device == gl.device("sim") and np.allclose(y.cpu().data, want, atol=1e-5)
    for dtype in (gl.float16, gl.float64):
        assert kind(4, 2, 8, dtype=dtype)(*[t.to(dtype) for t in x]).dtype == np.dtype(dtype)


@both_layers
@pytest.mark.parametrize("norm_first", [False, True])
def test_each_dropout_stands_where_pytorch_has_it(kind, n, norm_first):
    m, x = kind(4, 2, 8, dropout=0.0, norm_first=norm_first), [gl.randn(3, 2, 4)] * n
    want = x[0]
    for i in range(1, n + 2):  # what each part gives
        getattr(m, f"dropout{i}").p = 1.0
        want = want if norm_first else getattr(m, f"norm{i}")(want)
    assert np.allclose(m(*x).data, want.data, atol=1e-6)
    getattr(m, f"dropout{n + 1}").p = 0.0
    m.dropout.p = 1.0  # and what the second linear layer gets
    before = x[0]
    for i in range(1, n + 1):
        before = before if norm_first else getattr(m, f"norm{i}")(before)
    want = before + m.linear2.bias if norm_first else getattr(m, f"norm{n + 1}")(before + m.linear2.bias)
    assert np.allclose(m(*x).data, want.data, atol=1e-6)


def test_first_values_of_a_transformer_are_xaviers():
    model = nn.Transformer(32, 2, 1, 1, 64)
    for name, p in model.named_parameters():
        if p.ndim > 1:
            bound = np.sqrt(6 / sum(p.shape))
            assert 0.95 * bound < np.abs(p.data).max() <= bound, name
    assert (model.encoder.norm.weight.data == 1).all() and not model.decoder.layers[0].self_attn.in_proj_bias.data.any()


def test_the_mask_of_later_steps_is_pytorchs():
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    assert mask.tolist() == [[0, -np.inf, -np.inf], [0, 0, -np.inf], [0, 0, 0]] and mask.dtype == np.float32
    assert nn.Transformer.generate_square_subsequent_mask(2, device="sim", dtype=gl.float64).device == gl.device("sim")


def test_other_encoders_and_decoders_can_stand_in_their_places():
    class Same(nn.Module):
        def forward(self, x, *args, **options):
            return x

    model, x = nn.Transformer(4, 2, custom_encoder=Same(), custom_decoder=Same()), gl.randn(2, 1, 4)
    assert model(x, x) is x and not list(model.parameters())


X = gl.zeros(3, 2, 4)
ENCODER, DECODER, MODEL = nn.TransformerEncoderLayer(4, 2, 8), nn.TransformerDecoderLayer(4, 2, 8), nn.Transformer(4, 2, 1, 1, 8)
WRONG = {
    "heads": (lambda: nn.TransformerEncoderLayer(6, 4), gl.ShapeError, "multiple of num_heads"),
    "an activation's name": (lambda: nn.TransformerEncoderLayer(4, 2, activation="sine"), ValueError, "which activation"),
    "an activation": (lambda: nn.TransformerDecoderLayer(4, 2, activation=3), TypeError, "this is no activation"),
    "no layers": (lambda: nn.TransformerEncoder(ENCODER, 0), gl.ShapeError, "num_layers +0"),
    "a dropout": (lambda: nn.TransformerEncoderLayer(4, 2, dropout=2), ValueError, "probability"),
    "a width": (lambda: ENCODER(gl.zeros(3, 2, 5)), gl.ShapeError, r"query +\(3, 2, 5\)"),
    "a mask": (lambda: ENCODER(X, gl.zeros(2, 2)), gl.ShapeError, r"attn_mask +\(2, 2\)"),
    "a padding mask": (lambda: ENCODER(X, src_key_padding_mask=gl.zeros(3, 2)), gl.ShapeError, "key_padding_mask"),
    "memory": (lambda: DECODER(X, X[:, :1]), gl.ShapeError, r"key +\(3, 1, 4\)"),
    "source and target": (lambda: MODEL(X, X[:, :1]), gl.ShapeError, r"tgt +\(3, 1, 4\)\n +need: +both \(time, batch, 4\)"),
    "features": (lambda: MODEL(X, gl.zeros(3, 2, 8)), gl.ShapeError, r"tgt +\(3, 2, 8\)"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_refused(what):
    call, error, match = WRONG[what]
    with pytest.raises(error, match=match):
        call()
