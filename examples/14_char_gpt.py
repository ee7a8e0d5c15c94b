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
# # A small GPT that writes Hamlet
#
# A transformer learns Hamlet character by character: at each place it sees what came before and says what comes next. You measure it
# honestly, against counting pairs in the same text, and let it write.
#
# * **Data.** Shakespeare's Hamlet, 173,942 characters (public domain). It comes with gradlab.
# * **Time.** A minute and a half on one core, for three seeds.
# * **Result.** 1.856 nats a character of the last tenth, the mean of three seeds; counting pairs of characters 2.441, so 0.586 less.
#   (*Nats* measure surprise: -ln of the chance that was given to what came.)

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # or "cuda"
SMALL = False  # True: a part of the text, a tiny network and a few steps, to see that everything runs
SEEDS = (0, 1, 2)  # one training for each of these

# %% [markdown]
# ## The data
#
# The first nine tenths of the play are learned from. The last tenth, nearly all of the last scene, is for the validation: the network never
# learns from it. The text is cut into windows of 32 characters. Those to learn from overlap by a quarter; those of the validation don't, so
# that each character counts once.

# %%
import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.data import CharTokenizer, DataLoader, hamlet
from gradlab.nn import functional as F
from gradlab.testing import check_learning

TIME = 32

text = hamlet()[: 15_000 if SMALL else None]
tokenizer = CharTokenizer(text)
ids = np.array(tokenizer.encode(text))
CHARACTERS = tokenizer.vocab_size
cut = len(ids) * 9 // 10


def windows(ids, stride):
    """What is read, and the same one character later: (window, time) each."""
    each = np.lib.stride_tricks.sliding_window_view(ids, TIME + 1)[::stride]
    return each[:, :-1], each[:, 1:]


train, validation = windows(ids[:cut], 32 if SMALL else 24), windows(ids[cut:], TIME)
print(f"data: Hamlet, {cut:,} characters to learn from, {validation[1].size:,} to validate, {CHARACTERS} kinds")

# %% [markdown]
# ## What to beat: counting pairs
#
# A *bigram* looks at one character and says how often each other one followed. That is counted in the part to learn from, and measured
# on the validation, on just the characters that the network is measured on. Something is added to each count, so that a pair which
# never came isn't impossible. How much? We take what is best for the validation. That is a help which the network doesn't get.

# %%
counts = np.zeros((CHARACTERS, CHARACTERS))
np.add.at(counts, (ids[: cut - 1], ids[1:cut]), 1)


def surprise(extra):
    """Of counting, in nats a character of the validation."""
    chance = (counts + extra) / (counts + extra).sum(axis=1, keepdims=True)
    return -np.log(chance[validation]).mean()


bigram = min(surprise(extra) for extra in (0.01, 0.03, 0.1, 0.3, 1.0))
print(f"blind guessing {np.log(CHARACTERS):.3f}, counting pairs {bigram:.3f} nats a character")

# %% [markdown]
# ## The network
#
# `gl.models.GPT` is GPT-2, here with two blocks instead of twelve. A block has an attention, by which each place fetches what it needs
# from the places before it, and two linear layers that each place runs through by itself. Both are added to what was there.
#
# GPT-2 draws its first weights with a standard deviation of 0.02. That is for 768 channels; with our 64 everything would begin so small
# that the inspector warns (rule R11: "layers begin at uneven sizes"), and learning to look back would take longer. So they are
# scaled by the square root of 768 / 64: a sum over fewer channels needs larger weights to come out the same. What is left is
# a remark (*info R11*): what the first attention puts out is still rather small.


# %%
def loss_of(scores, y):
    """Surprise at a character, in nats: (batch, time, character) and (batch, time)."""
    return F.cross_entropy(scores.reshape(-1, CHARACTERS), y.reshape(-1))


def fresh(seed):
    """A network that has learned nothing."""
    gl.manual_seed(seed)
    sizes = {"n_embd": 32, "n_layer": 1} if SMALL else {"n_embd": 64, "n_layer": 2}
    model = gl.models.GPT(CHARACTERS, n_positions=TIME, n_head=4, resid_pdrop=0.0, **sizes).to(DEVICE)
    with gl.no_grad():
        for p in model.parameters():
            if p.ndim > 1:
                p.mul_((768 / sizes["n_embd"]) ** 0.5)
    return model


model = fresh(0)
print(f"{sum(p.numel() for p in model.parameters()):,} numbers to learn")
print(f"loss before it learns: {loss_of(model(gl.tensor(train[0][:8], device=DEVICE)), gl.tensor(train[1][:8], device=DEVICE)).item():.3f}")

# %% [markdown]
# The loss begins near blind guessing, as it should. Were it much higher, the network would be sure of something before it knows anything.
#
# ## Learning
#
# The learning rate rises for a tenth of the steps and then falls to nothing (`OneCycleLR`). Gradients longer than 1 are shortened.
#
# In the inspector, look at **Graph**: twice the same block, and in each two sums that let the gradient through unharmed. Click
# `attention` to see its formula.

# %%
EPOCHS = 1 if SMALL else 2


def trained(seed):
    """A network, what was measured after each epoch, and its parameters before."""
    model = fresh(seed)
    before = model.state_dict()
    loader = DataLoader(train, batch_size=16, shuffle=True, seed=seed)
    optimizer = gl.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.99))
    scheduler = gl.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=EPOCHS * len(loader), pct_start=0.1)
    trainer = gl.Trainer(model, optimizer, loss_of, scheduler=scheduler, clip_norm=1.0)
    history = trainer.fit(loader, DataLoader(validation, batch_size=128), epochs=EPOCHS)
    return model, history, before


runs = [trained(seed) for seed in SEEDS]
for seed, (_, history, _) in zip(SEEDS, runs, strict=True):
    print(f"seed {seed}: loss of the validation after each epoch", " ".join(f"{loss:.3f}" for loss in history["val_loss"]))

# %% [markdown]
# ## How good is it?
#
# "Below the bigram by 0.3 nats" means that at each character the network gives what really comes 1.35 times the chance (e to the 0.3).

# %%
final = np.mean([history["val_loss"][-1] for _, history, _ in runs])
print(f"result: {final:.3f} nats a character on the validation, counting pairs {bigram:.3f}: {bigram - final:.3f} less")
assert SMALL or final <= bigram - 0.3

# %% [markdown]
# ## Writing
#
# The network reads the beginning once. Then it is handed each new character alone: `KVCache` keeps what the attention needs of those
# before. It has places for 32 characters; when they are used up it reads the last 16 again and goes on.

# %%
rng = np.random.default_rng(0)


def written(model, beginning, length, temperature=0.8):
    """The beginning and `length` characters that the model puts behind it."""
    model.eval()
    said, cache = tokenizer.encode(beginning), nn.KVCache()
    new = said[-TIME:]
    with gl.no_grad():
        for _ in range(length):
            if cache.steps + len(new) > TIME:
                new, cache = said[-TIME // 2 :], nn.KVCache()
            scores = model(gl.tensor([new], device=DEVICE), cache)[0, -1]
            chances = F.softmax(scores.double() / temperature, dim=0)
            new = [int(rng.choice(CHARACTERS, p=chances.cpu().numpy()))]
            said += new
    return tokenizer.decode(said)


print(written(runs[0][0], "Ham.\n", 60 if SMALL else 600))

# %% [markdown]
# The lines are as long as Shakespeare's, the speakers take turns, and many of the words are words. There is no sense in it: for that,
# the network is too small and has read too little. The GRU of `11_text.ipynb` comes to 1.689 on the same play, after three times as many
# passes: attention has to learn first that what stands next to it matters, which a recurrent network knows from the beginning.
#
# ## Does everything learn?
#
# A network that trains only in part can still reach a good figure. So we look: has the training moved each parameter, does one more step
# move each, and does a block that is *frozen* alone stay as it is? All is put back afterwards.

# %%
model, _, before = runs[0]
model.train()
x, y = (gl.tensor(part[:16], device=DEVICE) for part in train)
print(check_learning(model, lambda: loss_of(model(x), y), freeze="blocks.0", since=before))

# %% [markdown]
# ## What to try next
#
# * `TIME = 64`, `n_embd = 128`, three blocks and six epochs: by a rough estimate half an hour on one core. How far does the
#   validation fall, and when does it begin to rise?
# * Set `temperature` to 0.3, and to 1.5.
# * `15_bpe_gpt.ipynb` reads more at a time: in tokens.
