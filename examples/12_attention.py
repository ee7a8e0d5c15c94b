# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Attention, by hand and as a layer
#
# Attention lets each place of a sequence fetch what it needs from the other places. Here you write it in four lines, watch it learn a
# task where only one place matters, look at the weights, and then put `nn.MultiheadAttention` in its place.
#
# * **Data.** Made on the spot: eight pairs of a letter and a digit, and a question. There is no end of it.
# * **Time.** Eleven seconds on one core, for two networks and three seeds each.
# * **Result.** Both networks answer 100.0 % of 2,000 new questions, the mean of three seeds; guessing is right in 10 %.

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # or "cuda"
SMALL = False  # True: a few steps, to see that everything runs
SEEDS = (0, 1, 2)  # each network is trained once for each of these

# %% [markdown]
# ## The formula
#
# Each place asks a **query** q, and offers a **key** k and a **value** v. How well a query fits a key is their product. The softmax
# turns these scores into weights that are positive and sum to 1, and what a place gets is the weighted mean of the values:
#
# ```
# weights = softmax(q k^T / sqrt(d)),   y = weights v
# ```
#
# Without the division the scores would grow with the number d of features, and the softmax would put everything on one place before
# it has learned which. (Vaswani et al. 2017, "Attention Is All You Need", equation 1.)

# %%
import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.nn import functional as F
from gradlab.testing import check_learning


def attention(q, k, v):  # (batch, query, d), (batch, key, d), (batch, key, value)
    """What each query gets, (batch, query, value), and where it looked, (batch, query, key)."""
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


# %% [markdown]
# Three keys and one query that is the second key, a little longer. It gets nearly all of the second value:

# %%
k = gl.tensor([[[4.0, 0.0], [0.0, 4.0], [-4.0, 0.0]]])
v = gl.tensor([[[10.0], [20.0], [30.0]]])
y, weights = attention(gl.tensor([[[0.0, 5.0]]]), k, v)
print("weights", weights.data[0, 0].round(4), "   value", y.item())

# %% [markdown]
# The same from the library, in one fused step. Both have to agree, and so have their gradients:

# %%
gl.manual_seed(0)
q, k, v = (gl.randn(2, 5, 8, requires_grad=True) for _ in range(3))
ours, theirs = attention(q, k, v)[0], F.scaled_dot_product_attention(q, k, v)
(by_hand,) = gl.autograd.grad((ours**2).sum(), (q,))
(fused,) = gl.autograd.grad((theirs**2).sum(), (q,))
print("values differ by", float((ours - theirs).abs().max()), "and gradients by", float((by_hand - fused).abs().max()))
assert gl.allclose(ours, theirs, atol=1e-5) and gl.allclose(by_hand, fused, atol=1e-4)

# %% [markdown]
# ## A task with one right place to look
#
# ```
# g4 b1 k7 a3 e9 c0 f2 j5   k?   ->  7
# ```
#
# Eight letters, all different, each with a digit. Then one of the letters is asked for, and its digit is the answer. Guessing is right
# one time in ten. Where the right pair stands is another place each time: no fixed weights could do it.

# %%
LETTERS, DIGITS, PAIRS = 12, 10, 8
print(f"data: random questions, {PAIRS} pairs of {LETTERS} letters and {DIGITS} digits")


def questions(n, rng):
    """Letters and digits of the pairs, (n, pair) each; what is asked for, (n,); the answer, (n,); and where it stands, (n,)."""
    letters = rng.random((n, LETTERS)).argsort(axis=1)[:, :PAIRS]
    digits = rng.integers(0, DIGITS, (n, PAIRS))
    place = rng.integers(0, PAIRS, n)
    each = np.arange(n)
    parts = letters, digits, letters[each, place], digits[each, place], place
    return [gl.tensor(part, device=DEVICE) for part in parts]


# %% [markdown]
# ## The network
#
# A pair is the sum of two embeddings, of its letter and its digit; the question is a letter alone. Nobody says that the key should be made
# of the letter and the value of the digit: three matrices have to find that out.


# %%
class ByHand(nn.Module):
    """Attention as above: one head."""

    def __init__(self, d):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d, d, bias=False) for _ in range(3))

    def forward(self, question, pairs):  # (batch, 1, d), (batch, pair, d)
        return attention(self.query(question), self.key(pairs), self.value(pairs))


class Layer(nn.Module):
    """The same by the library: two heads of half the features each, side by side, and a matrix behind."""

    def __init__(self, d):
        super().__init__()
        self.attention = nn.MultiheadAttention(d, num_heads=2, batch_first=True)

    def forward(self, question, pairs):
        return self.attention(question, pairs, pairs)  # weights: the mean of both heads


class Answerer(nn.Module):
    """Scores for the digit of the letter that is asked for."""

    def __init__(self, kind, d=32):
        super().__init__()
        self.letter, self.digit = nn.Embedding(LETTERS, d), nn.Embedding(DIGITS, d)
        self.look = kind(d)
        self.head = nn.Linear(d, DIGITS)

    def forward(self, letters, digits, asked):
        pairs = self.letter(letters) + self.digit(digits)  # (batch, pair, d)
        y, weights = self.look(self.letter(asked).unsqueeze(1), pairs)  # (batch, 1, d), (batch, 1, pair)
        return self.head(F.gelu(y.squeeze(1))), weights.squeeze(1)


# %% [markdown]
# ## Learning
#
# In the inspector, click the box `softmax` in the **Graph** while it runs: its output is the weights. At first none of the eight stands
# out much. Then they leave for 0 and 1, and in the same moment the loss falls.

# %%
STEPS = 30 if SMALL else 300


def trained(kind, seed):
    """A network, how well it answers new questions, and its parameters before."""
    gl.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model = Answerer(kind).to(DEVICE)
    before = model.state_dict()
    optimizer = gl.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(1, STEPS + 1):
        letters, digits, asked, answer, _ = questions(128, rng)
        scores, _ = model(letters, digits, asked)
        loss = F.cross_entropy(scores, answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % (STEPS // 5) == 0:
            print(f"{kind.__name__:7} seed {seed} step {step:4}   loss {loss.item():.4f}")
    return model, right(model, rng), before


def right(model, rng):
    """The share of new questions that are answered, and the mean weight on the right pair."""
    letters, digits, asked, answer, place = questions(2000, rng)
    with gl.no_grad():
        scores, weights = model(letters, digits, asked)
    on_it = weights.gather(1, place.unsqueeze(1)).mean().item()
    return (scores.argmax(dim=1) == answer).float().mean().item(), on_it


runs = {kind: [trained(kind, seed) for seed in SEEDS] for kind in (ByHand, Layer)}

# %%
accuracy = {kind.__name__: np.mean([share for _, (share, _), _ in found]) for kind, found in runs.items()}
for kind, found in runs.items():
    on_it = np.mean([weight for _, (_, weight), _ in found])
    print(f"{kind.__name__:7} {accuracy[kind.__name__]:.2%} of new questions right; {on_it:.2f} of the weight is on the right pair")
print("result: right", ", ".join(f"{name} {share:.2%}" for name, share in accuracy.items()))
assert SMALL or min(accuracy.values()) >= 0.99, accuracy

# %% [markdown]
# ## Where does it look?
#
# Five questions, each with its pairs; below each pair the weight that it got, in percent.

# %%
letters, digits, asked, answer, _ = questions(5, np.random.default_rng(7))
model = runs[ByHand][0][0]
with gl.no_grad():
    scores, weights = model(letters, digits, asked)
for i in range(5):
    pairs = ["abcdefghijkl"[letter] + str(digit) for letter, digit in zip(letters.tolist()[i], digits.tolist()[i], strict=True)]
    print("  ".join(f"{pair:>3}" for pair in pairs), f"   {'abcdefghijkl'[asked.tolist()[i]]}?  -> {scores.argmax(dim=1).tolist()[i]}")
    print("  ".join(f"{100 * weight:3.0f}" for weight in weights.tolist()[i]), "\n")

# %% [markdown]
# ## Does everything learn?
#
# A network that trains only in part can still reach a good figure. So we look: has the training moved each parameter, does one more step
# move each, and does a layer that is *frozen* alone stay as it is? All is put back afterwards.

# %%
letters, digits, asked, answer, _ = questions(128, np.random.default_rng(3))
for kind, found in runs.items():
    model, _, before = found[0]

    def loss(model=model):
        return F.cross_entropy(model(letters, digits, asked)[0], answer)

    print(f"{kind.__name__:7}", check_learning(model, loss, freeze="look", since=before))

# %% [markdown]
# ## What to try next
#
# * Divide by nothing instead of `q.shape[-1] ** 0.5`, and start the embeddings ten times larger. What does the gradient do?
# * Ask for two letters at once, for the sum of their digits. Does one head do?
# * `13_reversal.ipynb` builds an encoder and a decoder of this.
