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
# # Names, letter by letter: RNN, LSTM and GRU
#
# Three recurrent networks read first names letter by letter and learn to guess the next letter. Then they invent names. You see what
# a state is, what gates are good for, and how the three compare.
#
# * **Data.** 5,163 first names of the United States (Census 1990, public domain). They come with gradlab.
# * **Time.** A minute and a quarter on one core, for three networks and three seeds each.
# * **Result.** In nats a letter of names never seen, the mean of three seeds: RNN 1.947, LSTM 1.908, GRU 1.897; counting pairs of letters
#   2.341. (A *nat* measures surprise: -ln of the chance that was given to what came. 0 is knowing it, 3.30 blind guessing of 27.)

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # or "cuda"
SMALL = False  # True: a few names and one pass, to see that everything runs
SEEDS = (0, 1, 2)  # each network is trained once for each of these

# %% [markdown]
# ## The data
#
# A name becomes a row of numbers: `.` is 0, a to z are 1 to 26. The network reads `.emma` and has to say `emma.` : for each letter
# the next one, and at last that the name ends. Names are of different lengths, so the rows are filled up at the right. What is
# filled in has the target -100, which the loss leaves out.
#
# Every tenth name is set aside. The networks never learn from those.

# %%
import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.data import DataLoader, names
from gradlab.nn import functional as F
from gradlab.testing import check_learning

LETTERS = ".abcdefghijklmnopqrstuvwxyz"
IGNORE = -100  # what cross_entropy leaves out unless told otherwise


def rows(names):
    """What is read and what should be said: (name, time) each."""
    time = max(map(len, names)) + 1
    x, y = np.zeros((len(names), time), int), np.full((len(names), time), IGNORE)
    for row, name in enumerate(names):
        numbers = [LETTERS.index(letter) for letter in name]
        x[row, 1 : len(name) + 1] = numbers
        y[row, : len(name) + 1] = [*numbers, 0]
    return x, y


everything = names()
order = np.random.default_rng(0).permutation(len(everything))
shuffled = [everything[i] for i in order][: 600 if SMALL else None]
held_out, known = shuffled[::10], [name for i, name in enumerate(shuffled) if i % 10]
train, test = rows(known), rows(held_out)
print(f"data: first names (Census 1990), {len(known):,} to learn from, {len(held_out)} to be tested on")

# %% [markdown]
# ## How well does counting do?
#
# A measure to beat: look at one letter only, and count what came next in the names to learn from. The loss is the surprise at each
# letter of the names set aside, in nats: 3.30 = ln 27 would be blind guessing. One is added to each count, so that a pair which never
# came isn't impossible.

# %%
counts = np.ones((27, 27))
for x, y in zip(*train, strict=True):
    np.add.at(counts, (x[y >= 0], y[y >= 0]), 1)
chance = counts / counts.sum(axis=1, keepdims=True)
x, y = test
bigram = -np.log(chance[x[y >= 0], y[y >= 0]]).mean()
print(f"blind guessing {np.log(27):.3f}, counting pairs of letters {bigram:.3f} nats a letter")

# %% [markdown]
# ## The network
#
# Each letter becomes 32 numbers (`embedding`). The recurrent layer walks along the name and keeps 128 numbers, its **state**: all it
# knows about the letters so far. From the state come 27 scores for the next letter.
#
# * **RNN** makes the whole state anew at every step: `tanh(W x + U h)`.
# * **LSTM** has a second state, the *cell*, and three gates: numbers between 0 and 1 by which it is overwritten, kept and shown.
# * **GRU** makes do with one state and two gates.
#
# A gate can leave the state as it is. Then the gradient comes back unharmed, too, through many steps.


# %%
class NameModel(nn.Module):
    """For each letter so far the scores of the next one."""

    def __init__(self, kind):
        super().__init__()
        self.embedding = nn.Embedding(27, 32)
        self.recurrent = getattr(nn, kind)(32, 128, batch_first=True)
        self.head = nn.Linear(128, 27)

    def forward(self, x, state=None):  # (batch, time)
        h, state = self.recurrent(self.embedding(x), state)  # (batch, time, 128)
        return self.head(h), state  # (batch, time, letter)


def loss_of(model, x, y):
    """The mean surprise at a letter, in nats."""
    scores, _ = model(x)
    return F.cross_entropy(scores.reshape(-1, 27), y.reshape(-1))


def measured(model):
    """The same for the names set aside, all at once."""
    model.eval()
    with gl.no_grad():
        return loss_of(model, *(gl.tensor(part, device=DEVICE) for part in test)).item()


for kind in ("RNN", "LSTM", "GRU"):
    print(f"{kind:4} {sum(p.numel() for p in NameModel(kind).parameters()):7,} numbers to learn")

# %% [markdown]
# ## Learning
#
# The gradients come back through all letters of a name: that is *backpropagation through time*. The learning rate falls to nothing in
# the end, by a cosine.
#
# While it runs, look at **Gradients** in the inspector: `weight_hh`, which carries the state from step to step, has its own row.
# Three kinds come one after the other, and the **Graph** changes with them: click the box `rnn`, `lstm` or `gru` to see its formula.

# %%
EPOCHS = 1 if SMALL else 8


def trained(kind, seed):
    """A network of that kind, its test loss after each epoch, and its parameters before."""
    gl.manual_seed(seed)
    model = NameModel(kind).to(DEVICE)
    before = model.state_dict()
    optimizer = gl.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.05)
    loader = DataLoader(train, batch_size=64, shuffle=True, seed=seed)
    scheduler = gl.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * len(loader))
    losses = []
    for _ in range(EPOCHS):
        model.train()
        for x, y in loader:
            loss = loss_of(model, x.to(DEVICE), y.to(DEVICE))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        losses.append(measured(model))
    print(f"{kind:4} seed {seed}:", " ".join(f"{loss:.3f}" for loss in losses))
    return model, losses, before


runs = {kind: [trained(kind, seed) for seed in SEEDS] for kind in ("RNN", "LSTM", "GRU")}

# %% [markdown]
# ## How do they compare?

# %%
final = {kind: np.mean([losses[-1] for _, losses, _ in found]) for kind, found in runs.items()}
print(f"counting pairs  {bigram:.3f}")
print("result: nats a letter", ", ".join(f"{kind} {loss:.3f}" for kind, loss in final.items()), f"(counting pairs {bigram:.3f})")
for kind, loss in final.items():
    print(f"{kind:14}  {loss:.3f}   {bigram - loss:.3f} less")
assert SMALL or all(loss <= bigram - 0.3 for loss in final.values()), final

# %% [markdown]
# All three are far below counting pairs, so they remember more than one letter. Those with gates are better than the plain one, for each
# seed, but not by much: names have six letters on average, and that far back a plain state can carry. The GRU is ahead from
# the first epoch on, with three quarters of the LSTM's numbers.
#
# ## New names
#
# To invent a name, draw a letter by its chance, hand it back in with the state, and go on until `.` comes. Two things to note: the
# state is all that is handed on, and only one new letter is read in each step.

# %%
rng = np.random.default_rng(0)


def invented(model, temperature=0.8):
    """A name, drawn letter by letter; below 1 the temperature prefers the likely ones."""
    model.eval()
    name, letter, state = "", 0, None
    with gl.no_grad():
        while len(name) < 20:
            scores, state = model(gl.tensor([[letter]], device=DEVICE), state)
            letter = int(rng.choice(27, p=F.softmax(scores[0, 0].double() / temperature, dim=0).cpu().numpy()))
            if letter == 0:
                break
            name += LETTERS[letter]
    return name


for kind, found in runs.items():
    drawn = [invented(found[0][0]) for _ in range(10)]
    print(f"{kind:4}", " ".join(name if name in everything else name + "*" for name in drawn))
print("* is no name of the list")

# %% [markdown]
# ## Does everything learn?
#
# A network that trains only in part can still reach a good figure. So we look: has the training moved each parameter, does one more step
# move each, and does a layer that is *frozen* alone stay as it is? All is put back afterwards.

# %%
x, y = (gl.tensor(part[:64], device=DEVICE) for part in train)
for kind, found in runs.items():
    model, _, before = found[0]
    model.train()
    print(f"{kind:4}", check_learning(model, lambda model=model: loss_of(model, x, y), freeze="recurrent", since=before))

# %% [markdown]
# ## What to try next
#
# * Take the clipping of the gradients out, and set `lr` to 0.05: which of the three suffers first?
# * Hand `num_layers=2` to the recurrent layer. Is it worth the time?
# * `11_text.ipynb` reads a text that is too long to go back through to its beginning.
