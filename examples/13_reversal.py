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
# # Writing words backwards: an encoder and a decoder
#
# A transformer of two halves reads a word of random letters and writes it from the end to the beginning. It is tested on words of lengths
# that it was never trained with: what it has learned has to be the rule, not a table for each length.
#
# * **Data.** Made on the spot: random letters, as many words as you like.
# * **Time.** Two and a half minutes on one core, for three seeds.
# * **Result.** 99.69 % of words of 5, 8 and 11 letters are written backwards without a fault, the mean of three seeds: lengths that no word
#   in the training had, between lengths that were in it (3 to 13). Beyond 13 letters it does not hold: 41 % at 14, 2 % at 15.

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # or "cuda"
SMALL = False  # True: a few steps, to see that everything runs
SEEDS = (0, 1, 2)  # one training for each of these

# %% [markdown]
# ## Which lengths
#
# It learns with words of 3 to 13 letters, but **5, 8 and 11 are left out**. No word of these lengths is ever in the training. They lie
# between lengths that are: that is the promise of this notebook, and no more. What happens beyond 13 comes at the end.
#
# The encoder reads the word and a full stop. The decoder reads a start sign `^` and what it has written so far, and says what comes
# next, at last the full stop:
#
# ```
# encoder   c a t .
# decoder   ^ t a c   ->   t a c .
# ```
#
# Words of different lengths stand in one batch, filled up with `_` at the right. Targets there are -100, which the loss leaves out.

# %%
import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.data import DataLoader, RandomSampler
from gradlab.nn import functional as F
from gradlab.testing import check_learning

LETTERS = "abcdefghijklmnopqrstuvwxyz.^_"
STOP, START, FILL = (LETTERS.index(sign) for sign in ".^_")
LEARNED = (3, 4, 6, 7, 9, 10, 12, 13)
UNSEEN = (5, 8, 11)


def words(n, lengths, rng):
    """What the encoder reads, what the decoder reads, and what it should say: (word, time) each."""
    time = max(lengths) + 1
    source, read, said = (np.full((n, time), FILL), np.full((n, time), FILL), np.full((n, time), -100))
    for row, length in enumerate(rng.choice(lengths, n)):
        word = rng.integers(0, 26, length)
        source[row, : length + 1] = [*word, STOP]
        said[row, : length + 1] = [*word[::-1], STOP]
        read[row, : length + 1] = [START, *word[::-1]]
    return source, read, said


source, read, said = words(1, (6,), np.random.default_rng(1))
for name, row in (("encoder reads", source[0]), ("decoder reads", read[0]), ("and says", said[0])):
    print(f"{name:14}", " ".join(LETTERS[i] for i in row))
print(f"data: random words, {len(LEARNED)} lengths to learn from {LEARNED}, tested on the unseen lengths {UNSEEN}")

# %% [markdown]
# ## The network
#
# To write letter i of a word of n letters the decoder has to look at letter n - 1 - i. So it must know where it is, and the encoder must
# tell each letter how far it is from the full stop. Attention by itself knows no places: it would give the same for letters in any order.
#
# Each place therefore gets waves of its own added (`SinusoidalPositions`). The longest is made for 100 places here and not for 10,000 as
# usual, because the words are short.
#
# And the word doesn't always begin at place 0: while it trains it is moved by 0 to 7 places, drawn anew for each batch. The full stop of a
# word of 11 letters stands then where that of a word of 10 or 12 stood before, so that the place of the full stop no longer
# tells the length apart: there is nothing left to learn by heart for each length. In the test it is moved by 4.


# %%
class Reverser(nn.Module):
    """For each letter the decoder has read the scores of the next one."""

    def __init__(self, d=64):
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS), d)
        self.positions = nn.SinusoidalPositions(d, batch_first=True, base=100.0)
        self.transformer = nn.Transformer(d, 4, 2, 2, 2 * d, dropout=0.0, batch_first=True, norm_first=True)
        self.head = nn.Linear(d, len(LETTERS))

    def encode(self, source):  # (batch, time)
        """What the decoder may look at, and True where there is nothing to see."""
        filled = source == FILL
        moved = gl.randint(0, 8, (1,)).item() if self.training else 4
        memory = self.transformer.encoder(self.positions(self.embedding(source), offset=moved), src_key_padding_mask=filled)
        return memory, filled

    def decode(self, read, memory, filled, cache=None):
        """Scores for each place; with a cache `read` holds the new letters only."""
        x = self.positions(self.embedding(read), offset=0 if cache is None else cache.steps)
        y = self.transformer.decoder(x, memory, memory_key_padding_mask=filled, tgt_is_causal=True, cache=cache)
        return self.head(y)

    def forward(self, source, read):
        return self.decode(read, *self.encode(source))


def loss_of(scores, said):
    """Surprise at a letter, in nats: (batch, time, letter) and (batch, time)."""
    return F.cross_entropy(scores.reshape(-1, len(LETTERS)), said.reshape(-1))


def exact(model, length, n=500):
    """The share of n new words of one length that are written backwards without a fault, full stop included."""
    source, _, said = words(n, (length,), np.random.default_rng(1000 + length))
    model.eval()
    with gl.no_grad():
        memory, filled = model.encode(gl.tensor(source, device=DEVICE))
        cache, letter, written = nn.KVCache(), gl.full((n, 1), START, device=DEVICE), []
        for _ in range(length + 1):
            letter = model.decode(letter, memory, filled, cache)[:, -1:].argmax(dim=-1)
            written.append(letter)
        return (gl.cat(written, dim=1).cpu().numpy() == said).all(axis=1).mean()


# %% [markdown]
# Here the network gets no hint: what it reads is what it has written itself, letter by letter. One fault and the word counts as wrong.
#
# ## Learning
#
# `nn.Transformer` has three kinds of attention: the encoder looks at all letters of the word, the decoder at what is written so far, and
# from each layer of the decoder one looks over at the encoder. In the inspector's **Graph** each is a box
# `attention`; there are six, as both halves have two layers. The validation is of the unseen lengths alone.

# %%
EPOCHS, STEPS = (1, 10) if SMALL else (8, 60)


def trained(seed):
    """A network, what was measured after each epoch, and its parameters before."""
    gl.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model = Reverser().to(DEVICE)
    before = model.state_dict()
    train, validation = (words(64 * STEPS * EPOCHS, LEARNED, rng), words(300, UNSEEN, rng))
    loader = DataLoader(train, 64, sampler=RandomSampler(train[0], num_samples=64 * STEPS, seed=seed))
    optimizer = gl.optim.AdamW(model.parameters(), lr=3e-3)
    scheduler = gl.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=STEPS * EPOCHS, pct_start=0.1)
    trainer = gl.Trainer(model, optimizer, loss_of, scheduler=scheduler, clip_norm=1.0)
    history = trainer.fit(loader, DataLoader(validation, batch_size=100), epochs=EPOCHS)
    return model, history, before


runs = [trained(seed) for seed in SEEDS]
for seed, (_, history, _) in zip(SEEDS, runs, strict=True):
    print(f"seed {seed}: loss on unseen lengths after each epoch", " ".join(f"{loss:.4f}" for loss in history["val_loss"]))

# %% [markdown]
# ## How good is it?

# %%
share = {length: np.mean([exact(model, length) for model, _, _ in runs]) for length in range(3, 17)}
for length, right in share.items():
    kind = "learned" if length in LEARNED else "UNSEEN" if length in UNSEEN else "beyond all that was learned"
    print(f"{length:3} letters  {right:7.1%}  {kind}")
final = np.mean([share[length] for length in UNSEEN])
print(f"result: {final:.2%} of words of the unseen lengths {UNSEEN} without a fault")
assert SMALL or final >= 0.99

# %% [markdown]
# The lengths that it never saw are as good as those beside them: it is the rule that it has learned. Two things to be fair about:
#
# * **Longer words fail.** At 14 letters the decoder has to write from a place where it never was, and nothing has told it what the waves
#   there mean. The longest lengths of the training are the weakest, too.
# * **The moving matters.** Without it, and with 6, 9 and 12 left out, one seed of the same network came to 100 % on 11 and 13 letters,
#   and to 91 % on 12.
#
# ## Where does it look?
#
# The decoder's last look over at the encoder, for one word of an unseen length, the mean of the four heads: each row is a letter being
# written, each column one of the word. The large ones run from the upper right to the
# lower left: to write a letter it looks at its place in the word, counted from the end.

# %%
model = runs[0][0].eval()
source, read, _ = words(1, (8,), np.random.default_rng(5))
looks = []
layer = model.transformer.decoder.layers[-1]


def remember(attention, given, output):
    """Do the same attention once more, and keep its weights."""
    looks.append(attention.forward(*given[:3])[1])


handle = layer.multihead_attn.register_forward_hook(remember)
with gl.no_grad():
    model(gl.tensor(source, device=DEVICE), gl.tensor(read, device=DEVICE))
handle.remove()

print("        ", "  ".join(f"{LETTERS[i]:>2}" for i in source[0]))
for letter, row in zip([*read[0][1:], STOP], looks[0].cpu().numpy()[0], strict=True):
    print(f"write {LETTERS[letter]}  ", "  ".join(f"{100 * weight:2.0f}" for weight in row))

# %% [markdown]
# ## Does everything learn?
#
# A network that trains only in part can still reach a good figure. So we look: has the training moved each parameter, does one more step
# move each, and does the encoder alone stay as it is when it is *frozen*? All is put back afterwards.

# %%
model, _, before = runs[0]
model.train()
source, read, said = (gl.tensor(part, device=DEVICE) for part in words(32, LEARNED, np.random.default_rng(3)))
print(check_learning(model, lambda: loss_of(model(source, read), said), freeze="transformer.encoder", since=before))

# %% [markdown]
# ## What to try next
#
# * Set `moved` to 4 in training too, and look at the unseen lengths.
# * Put 14 and 15 into `LEARNED`. How far does it hold now?
# * `14_char_gpt.ipynb` makes do with one half: a decoder that reads what it writes.
