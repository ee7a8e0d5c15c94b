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
# # One step of learning, cell by cell
#
# Learning is four things in turn: go **forward** to the loss, go **backward** to the gradients, **update** the weights, and forget the
# gradients (**zero_grad**). Here each has a cell of its own, so that you can stop after each and look at the inspector.
# Run the cells one at a time with Shift+Enter.
#
# * **Data.** 32 of the UCI digits, which are in the package (CC BY 4.0).
# * **Time.** A few seconds.
# * **Result.** After a hundred steps the loss on the 32 digits is 0.0044, and 73 % of digits it has never seen are right.

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # "cuda" computes on a GPU
SMALL = False  # no difference here: all of it takes seconds
SEEDS = (1,)  # the split and the first weights

# %% [markdown]
# ## By hand
#
# Two layers of weights, made as bare tensors. `requires_grad=True` says: this is something to learn.

# %%
import gradlab as gl
from gradlab import nn
from gradlab.data import digits
from gradlab.testing import check_learning

gl.manual_seed(SEEDS[0])
train, test = digits().split(test=0.2, seed=SEEDS[0])
x, y = train.images[:32].to(DEVICE), train.labels[:32].to(DEVICE)  # (32, 64) pixels, (32,) digits
print(f"data: UCI digits, {len(y)} to learn from, {len(test.labels)} to be tested on")

W1 = gl.tensor(0.1 * gl.randn(64, 32).data, requires_grad=True, device=DEVICE)
b1 = gl.zeros(32, requires_grad=True, device=DEVICE)
W2 = gl.tensor(0.1 * gl.randn(32, 10).data, requires_grad=True, device=DEVICE)
b2 = gl.zeros(10, requires_grad=True, device=DEVICE)
lr = 0.5

# %% [markdown]
# ### Forward
#
# The next cell computes how wrong the network is about these 32 digits.

# %%
h = gl.tanh(x @ W1 + b1)  # (32, 32)
scores = h @ W2 + b2  # (32, 10)
loss = gl.cross_entropy(scores, y)
loss.item()

# %% [markdown]
# **Look at the graph.** Each operation of the cell is a box: `matmul`, `add`, `tanh` and so on, down to `cross_entropy`. The chips
# `W1`, `b1`, `W2`, `b2` sit where they are used. Every box has a shape and a value; none has a gradient yet, as nobody asked for one.
#
# **Look at the shapes.** The same operations line by line, each with the cell and the line that made it.
#
# ### Backward
#
# Now the question runs through the graph the other way round: if this number were a little larger, how much worse would the loss be?

# %%
loss.backward()

# %% [markdown]
# **Look at the graph again.** It is the same graph, and now every box also has the size of the gradient that came through it. The
# last box got exactly 1: the loss moves with itself. Each weight got its gradient, and each has the shape of the weight:

# %%
print("W1", W1.shape, "W1.grad", W1.grad.shape)

# %% [markdown]
# ### Update
#
# The gradient points to where the loss grows, so each weight goes a little way in the other direction. `.data` is the plain array of
# numbers inside the tensor.

# %%
W1.data -= lr * W1.grad
b1.data -= lr * b1.grad
W2.data -= lr * W2.grad
b2.data -= lr * b2.grad

# %% [markdown]
# **Look at the strip:** one step is done. **Look at the gradients:** each weight has its first column. **Look at the shapes:** the four
# products `lr * W1.grad` and so on are listed, but they are not part of the graph, since an update is not something to learn from.
#
# ### Forget the gradients
#
# gradlab *adds* each new gradient to the one that is there. Without the next cell the second step would use the sum of both.

# %%
W1.grad = b1.grad = W2.grad = b2.grad = None

# %% [markdown]
# Was it worth it? The same 32 digits once more. This forward pass begins a new step, so the gradients in the graph are gone again.

# %%
loss = gl.cross_entropy(gl.tanh(x @ W1 + b1) @ W2 + b2, y)
loss.item()

# %% [markdown]
# The loss went down. A hundred more of these steps, each the four things in turn:

# %%
for _ in range(100):
    loss = gl.cross_entropy(gl.tanh(x @ W1 + b1) @ W2 + b2, y)
    loss.backward()
    for p in (W1, b1, W2, b2):
        p.data -= lr * p.grad
        p.grad = None
loss.item()

# %% [markdown]
# **Look at the gradients.** A row for each weight, a column for each step. They fade as the network gets the 32 digits right: the
# less is wrong, the less there is to change.
#
# ## The same with nn and AdamW
#
# `nn.Linear` holds a weight and a bias, `nn.Sequential` runs one layer after the other, and an optimizer does the update for all of
# them.

# %%
model = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10)).to(DEVICE)
before = model.state_dict()
optimizer = gl.optim.AdamW(model.parameters(), lr=1e-2)

# %% [markdown]
# ### Forward

# %%
loss = nn.functional.cross_entropy(model(x), y)
loss.item()

# %% [markdown]
# **Look at the graph.** Matrix product and addition are one box now, `linear`, and the layers of the model stand around their boxes.
#
# ### Backward

# %%
loss.backward()

# %% [markdown]
# **Look at the graph:** gradients, as before. **Look at the optimizer:** it has nothing to say yet, as it has not moved anything.
#
# ### Update

# %%
optimizer.step()

# %% [markdown]
# **Look at the optimizer.** A row for each weight and bias: the gradient, what AdamW keeps in memory about it (a running mean of the
# gradients and of their squares), the step size that follows for this weight, and in *update:weight* how far it moved compared with
# its size.
#
# ### Forget the gradients

# %%
optimizer.zero_grad()

# %% [markdown]
# And that is all that training is. Once more in a loop; watch the panels while it runs:

# %%
for _ in range(100):
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

# %%
with gl.no_grad():
    right = model(test.images.to(DEVICE)).argmax(dim=1) == test.labels.to(DEVICE)
accuracy = right.float().mean().item()
print(f"result: loss {loss.item():.4f}, and {accuracy:.0%} right of {len(test.labels)} digits it has never seen, with 32 to learn from")
assert loss.item() < 0.05 and accuracy > 0.6

# %% [markdown]
# Has every weight and bias moved? And if one layer is *frozen*, does it alone stay? (All is put back afterwards.)

# %%
print(check_learning(model, lambda: nn.functional.cross_entropy(model(x), y), since=before))

# %% [markdown]
# ## What to try next
#
# * Run the *Backward* cell twice without the cell that forgets (the first one needs `retain_graph=True`): what do the gradients do?
# * Set `lr = 50` in the part by hand and watch the gradients.
# * Run a cell again, or in another order: the inspector shows what ran, not what stands in the notebook.
