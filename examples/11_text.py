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
# # Hamlet, letter by letter: LSTM and GRU on a long text
#
# A text of 174,000 letters is one very long sequence. You see how a recurrent network learns from it piece by piece, by *truncated*
# backpropagation through time, what the state that is handed on is worth, and what a network writes that has read nothing but Hamlet.
#
# * **Data.** Shakespeare's Hamlet, 173,942 characters (public domain). It comes with gradlab.
# * **Time.** Three minutes on one core, for two networks with three seeds each.
# * **Result.** In nats a character of the last tenth, the mean of three seeds: LSTM 1.767, GRU 1.689; counting pairs of characters 2.441.
#   (*Nats* measure surprise: -ln of the chance that was given to what came.)

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # or "cuda"
SMALL = False  # True: a part of the text and one pass, to see that everything runs
SEEDS = (0, 1, 2)  # each network is trained once for each of these

# %% [markdown]
# ## The data
#
# The first nine tenths are learned from, the last tenth is for the test. Both are cut into strips that lie below one another, and a
# window moves over the strips from left to right:
#
# ```
#           window 0                   window 1
# strip 0   You come most carefully up | on your hour. Ber. 'Tis no | ...
# strip 1   do, my lord; Hercules and  | his load too. Ham. It is n | ...
# ```
#
# So what the network sees in a window goes on in the next one, in the same row. The targets are the same letters, moved by one.

# %%
import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.data import CharTokenizer, hamlet
from gradlab.nn import functional as F
from gradlab.testing import check_learning

WINDOW = 50  # as many steps the gradients go back

text = hamlet()[: 12_000 if SMALL else None]
tokenizer = CharTokenizer(text)
ids = np.array(tokenizer.encode(text))
CHARACTERS = tokenizer.vocab_size
cut = len(ids) * 9 // 10


def strips(ids, n):
    """n strips below one another: what is read and what comes next, (strip, time) each."""
    time = (len(ids) - 1) // n
    return ids[: n * time].reshape(n, time), ids[1 : n * time + 1].reshape(n, time)


train, test = strips(ids[:cut], 32), strips(ids[cut:], 8)
print(f"data: Hamlet, {cut:,} characters to learn from in {len(train[0])} strips, {len(ids) - cut:,} for the test")

# %% [markdown]
# A measure to beat is again to count pairs: which character follows which, in the part that is learned from.

# %%
counts = np.zeros((CHARACTERS, CHARACTERS))
np.add.at(counts, (ids[: cut - 1], ids[1:cut]), 1)


def surprise(extra):
    """Of counting, in nats a character of the test; `extra` is added to all counts, so that a new pair isn't impossible."""
    chance = (counts + extra) / (counts + extra).sum(axis=1, keepdims=True)
    return -np.log(chance[test[0], test[1]]).mean()


bigram = min(surprise(extra) for extra in (0.01, 0.03, 0.1, 0.3, 1.0))  # the best of these for the test: counting gets this help
print(f"counting pairs: {bigram:.3f} nats a character")

# %% [markdown]
# ## The network


# %%
class TextModel(nn.Module):
    """For each character so far the scores of the next one, and the state behind them."""

    def __init__(self, kind):
        super().__init__()
        self.embedding = nn.Embedding(CHARACTERS, 64)
        self.recurrent = getattr(nn, kind)(64, 128, batch_first=True)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(128, CHARACTERS)

    def forward(self, x, state=None):  # (strip, time)
        h, state = self.recurrent(self.embedding(x), state)  # (strip, time, 128)
        return self.head(self.drop(h)), state  # (strip, time, character)


def detached(state):
    """The same numbers without their past: no gradient goes back beyond here."""
    return state.detach() if isinstance(state, gl.Tensor) else tuple(part.detach() for part in state)


def windows(strips):
    """The strips window by window, on the device."""
    for start in range(0, strips[0].shape[1], WINDOW):
        yield tuple(gl.tensor(part[:, start : start + WINDOW], device=DEVICE) for part in strips)


def measured(model, keep):
    """Surprise at a character of the test, in nats; with `keep` the state goes from window to window, else it begins anew."""
    model.eval()
    state, total = None, 0.0
    with gl.no_grad():
        for x, y in windows(test):
            scores, state = model(x, state if keep else None)
            total += F.cross_entropy(scores.reshape(-1, CHARACTERS), y.reshape(-1), reduction="sum").item()
    return total / test[0].size


# %% [markdown]
# ## Learning
#
# To go back from the last letter to the first would take the memory of the whole text. So the gradients go back to the beginning of the
# window and stop there: `detach` cuts the state off its past. The state itself is handed on, so the network still *knows* what
# came before the window. It only can't learn how to have remembered it better.
#
# In the inspector, **Graph** shows it: the state comes into `lstm` as an input, with nothing behind it. Take `detached` away, and
# the second window fails: its gradients would go back into the graph of the first, which `backward` has used up.

# %%
EPOCHS = 1 if SMALL else 6


def trained(kind, seed):
    """A network of that kind, its test loss after each pass, and its parameters before."""
    gl.manual_seed(seed)
    model = TextModel(kind).to(DEVICE)
    before = model.state_dict()
    optimizer = gl.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=0.01)
    steps = EPOCHS * -(-train[0].shape[1] // WINDOW)
    scheduler = gl.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=steps, pct_start=0.1)
    losses = []
    for epoch in range(EPOCHS):
        model.train()
        state = None  # the strips begin
        for x, y in windows(train):
            scores, state = model(x, state)
            loss = F.cross_entropy(scores.reshape(-1, CHARACTERS), y.reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            state = detached(state)
        losses.append(measured(model, keep=True))
        print(f"{kind:4} seed {seed} pass {epoch + 1}   loss {loss.item():.3f}   test {losses[-1]:.3f}")
    return model, losses, before


runs = {kind: [trained(kind, seed) for seed in SEEDS] for kind in ("LSTM", "GRU")}

# %% [markdown]
# ## How good is it, and what is the state worth?
#
# In the last column the network starts each window of the test without the state. The difference is what it had carried over from before
# the window.

# %%
final = {kind: np.mean([losses[-1] for _, losses, _ in found]) for kind, found in runs.items()}
forgetful = {kind: np.mean([measured(model, keep=False) for model, _, _ in found]) for kind, found in runs.items()}
print("result: nats a character", ", ".join(f"{kind} {loss:.3f}" for kind, loss in final.items()), f"(counting pairs {bigram:.3f})")
print(f"counting pairs  {bigram:.3f}")
for kind in runs:
    print(f"{kind:14}  {final[kind]:.3f}   {bigram - final[kind]:.3f} less   {forgetful[kind]:.3f} with a new state in each window")
assert SMALL or all(loss <= bigram - 0.3 for loss in final.values()), final

# %% [markdown]
# Without what it carried over the LSTM loses 0.055 nats and the GRU 0.076: part of that is just the first few characters of each window,
# where nothing is known yet. Most of what these networks use stands less than 50 characters back. The loss of learning is
# above that of the test, as dropout is on while it learns.
#
# ## Writing
#
# As with the names: draw a character by its chance, hand it back in together with the state.

# %%
rng = np.random.default_rng(0)


def written(model, beginning, length, temperature=0.7):
    """The beginning and `length` characters that the model puts behind it."""
    model.eval()
    said, read, state = beginning, tokenizer.encode(beginning), None
    with gl.no_grad():
        for _ in range(length):
            scores, state = model(gl.tensor([read], device=DEVICE), state)
            chances = F.softmax(scores[0, -1].double() / temperature, dim=0)
            read = [int(rng.choice(CHARACTERS, p=chances.cpu().numpy()))]
            said += tokenizer.decode(read)
    return said


for kind, found in runs.items():
    print(f"----- {kind} -----")
    print(written(found[0][0], "Ham.\n", 60 if SMALL else 500))

# %% [markdown]
# ## Does everything learn?
#
# A network that trains only in part can still reach a good figure. So we look: has the training moved each parameter, does one more step
# move each, and does a layer that is *frozen* alone stay as it is? All is put back afterwards.

# %%
x, y = next(windows(train))
for kind, found in runs.items():
    model, _, before = found[0]
    model.train()

    def loss(model=model):
        return F.cross_entropy(model(x)[0].reshape(-1, CHARACTERS), y.reshape(-1))

    print(f"{kind:4}", check_learning(model, loss, freeze="recurrent", since=before))

# %% [markdown]
# ## What to try next
#
# * Make the windows 10 characters long, or 200. What does it cost, and what does it bring?
# * Give the LSTM two layers and twice as many passes. `14_char_gpt.ipynb` reads the same text with attention.
