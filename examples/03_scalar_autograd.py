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
# # Gradients from nothing
#
# How does a network find out in which direction to move each of its weights? Here you build the machine that does it, for single
# numbers, in about fifty lines. Then you meet it again in the inspector, where it does the same for whole tensors. The way is that of
# [micrograd](https://github.com/karpathy/micrograd) (A. Karpathy, MIT licence), and its example is computed below.
#
# You will make one prediction, and solve one exercise that is checked.
#
# * **Data.** 32 points on two half circles, computed here.
# * **Time.** Ten seconds on one core.
# * **Result.** micrograd's example gives 24.7041, 138.8338 and 645.5773, by your machine and by gradlab. A network of single numbers
#   gets 32 of 32 points right, and gradlab's twin of it has the same loss, 0.0431, with weights that differ by 3e-16.

# %%
# %load_ext gradlab

# %% tags=["parameters"]
DEVICE = "cpu"  # "cuda" runs gradlab's part on a GPU
SMALL = False  # True: 60 steps in place of 400
SEEDS = (0,)  # the first weights

# %% [markdown]
# ## What a gradient is
#
# A gradient answers one question: if I move this number a little, how much does the result move? We can simply try it.


# %%
def height(x):
    return 3 * x**2 - 4 * x + 5


nudge = 1e-6
(height(3 + nudge) - height(3)) / nudge

# %% [markdown]
# Near 3 the result moves 14 times as far as `x` does. School says so too: the slope is 6x - 4.
#
# To try it costs one more run for each number, and a network has millions of them. The machine below finds all slopes in a single
# walk.
#
# ## A number that remembers
#
# Every calculation is made of small steps, and for a small step the slope is known:
#
# | step | slope for a | slope for b |
# |---|---|---|
# | a + b | 1 | 1 |
# | a * b | b | a |
# | a ** n | n * a ** (n - 1) | |
# | relu(a), which is a where a is positive, else 0 | 1 where a is positive, else 0 | |
#
# So a `Value` holds a number, what it was *made of*, and the *slope* for each of those. Every step makes a new one.


# %%
class Value:
    """A number that remembers how it was made."""

    def __init__(self, data, made_of=(), slopes=()):
        self.data = data
        self.grad = 0.0  # how far the final result moves with this number
        self.made_of = made_of
        self.slopes = slopes  # how far this number moves with each that it was made of

    def __add__(self, other):
        other = as_value(other)
        return Value(self.data + other.data, (self, other), (1.0, 1.0))

    def __mul__(self, other):
        other = as_value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, n):
        return Value(self.data**n, (self,), (n * self.data ** (n - 1),))

    def relu(self):
        return Value(max(self.data, 0.0), (self,), (float(self.data > 0),))

    # The rest is made of those: -a is a * -1, and a / b is a * b ** -1.
    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -as_value(other)

    def __truediv__(self, other):
        return self * as_value(other) ** -1

    def __rtruediv__(self, other):
        return self**-1 * other

    def __rsub__(self, other):
        return -self + other

    __radd__ = __add__  # 2 + a is a + 2
    __rmul__ = __mul__

    def __repr__(self):
        return f"Value({self.data:.4f}, grad={self.grad:.4f})"


def as_value(x):
    return x if isinstance(x, Value) else Value(x)


a, b = Value(3.0), Value(2.0)
a * b + a

# %% [markdown]
# ## The walk back
#
# The result moves with itself one to one: its gradient is 1. From there we walk back. What a number was made of gets *the gradient of
# the number times the slope of the step*. That is the **chain rule**: if c moves twice as far as b, and b three times as far as a, then
# c moves six times as far as a.
#
# Two things have to be right:
#
# * **Order.** A number hands on its gradient only when it has all of it, so everything made from it comes first.
# * **Sum.** A number that is used twice gets a gradient by each way, and they *add up*.


# %%
def in_order(result):
    """All values that a result was made of, each after those it was made of itself."""
    order, seen = [], set()

    def visit(value):
        if id(value) not in seen:
            seen.add(id(value))
            for part in value.made_of:
                visit(part)
            order.append(value)

    visit(result)
    return order


def backward(result):
    """Give every value its gradient."""
    result.grad = 1.0
    for value in reversed(in_order(result)):
        for part, slope in zip(value.made_of, value.slopes, strict=True):
            part.grad += slope * value.grad


a, b = Value(3.0), Value(2.0)
result = a * b + a
backward(result)
a, b, result

# %% [markdown]
# `a` is used twice: its gradient is 2 by the product and 1 by the sum, together 3. Try it by hand: with a = 3.01 the result is 9.03.
#
# ## A prediction
#
# What if we had written `part.grad = ...` in place of `part.grad += ...`? Think of `y = x * x` at x = 3, whose slope is 6. **Which
# gradient would `x` get?** Write your number down before you go on.

# %%
prediction = None  # your number

# %%
x = Value(3.0)
y = x * x
for part, slope in zip(y.made_of, y.slopes, strict=True):
    part.grad = slope * 1.0  # set, not added
verdict = "You have not predicted" if prediction is None else "Just as you said" if prediction == x.grad else f"You said {prediction}"
print(f"{verdict}: without the sum x.grad is {x.grad}. The second way has overwritten the first, and half is lost.")

x.grad = 0.0
backward(x * x)
print(f"With the sum it is {x.grad}.")

# %% [markdown]
# That mistake is silent: nothing fails, the network only learns badly. Real engines have made it.
#
# ## The example of micrograd
#
# A calculation that means nothing, and has everything in it: numbers that are used many times, powers, quotients, and two relus. One of
# those is at a negative number, so it lets no gradient through.


# %%
def example(a, b):
    c = a + b
    d = a * b + b**3
    c = c + c + 1
    c = c + 1 + c + (-a)
    d = d + d * 2 + (b + a).relu()
    d = d + 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    return f / 2.0 + 10.0 / f


a, b = Value(-4.0), Value(2.0)
g = example(a, b)
backward(g)
print(f"g = {g.data:.4f}, dg/da = {a.grad:.4f}, dg/db = {b.grad:.4f}")
assert [round(n, 4) for n in (g.data, a.grad, b.grad)] == [24.7041, 138.8338, 645.5773]

# %% [markdown]
# ## The same in gradlab
#
# gradlab's tensors take the same formula, for a single number as for a million. **Run the next cell and look at the graph**: it is the
# calculation, box by box, that `in_order` walked. Each box has its value and the gradient that came back to it; the last has exactly 1.
# Find the two boxes *relu*: one has the value 0, and the box before it got the gradient 0, though 27.8 came to the relu. **Click it**:
# its line is marked in the cell where it was written.

# %%
import gradlab as gl

p = gl.tensor(-4.0, requires_grad=True, dtype="float64", device=DEVICE)
q = gl.tensor(2.0, requires_grad=True, dtype="float64", device=DEVICE)
result = example(p, q)
result.backward()
print(f"g = {result.item():.4f}, dg/dp = {p.grad.item():.4f}, dg/dq = {q.grad.item():.4f}")
assert abs(p.grad.item() - a.grad) < 1e-9 and abs(q.grad.item() - b.grad) < 1e-9

# %% [markdown]
# ## Your turn
#
# A network needs a step that bends, and `tanh` is a soft one: it squashes every number into -1 to 1. Below it lacks its slope. You
# may use `t`, which is tanh(x): at x = 0 the slope is 1, and far out, where `t` is near 1 or -1, it is nearly 0. The next cell checks
# it against numbers.

# %%
import math


def tanh(x):
    t = math.tanh(x.data)
    slope = None  # your formula, of t
    return Value(t, (x,), (slope,))


# %%
def check(tanh):
    """Compare the slope with a nudge, in five places."""
    for at in (-2.0, -0.5, 0.0, 0.3, 1.5):
        made = tanh(Value(at))
        if made.slopes == (None,):
            return "Not solved yet. If you are stuck, the solution stands below."
        want = (math.tanh(at + 1e-6) - math.tanh(at - 1e-6)) / 2e-6
        assert made.data == math.tanh(at), f"at {at} the value is {made.data:.4f}, and tanh is {math.tanh(at):.4f}"
        (got,) = made.slopes
        assert abs(got - want) < 1e-6, f"at {at} your slope is {got:.4f}; a nudge gives {want:.4f}"
    return "Right: in five places your slope is that of a nudge."


print(check(tanh))

# %% [markdown]
# <details><summary>The solution</summary>
#
# `slope = 1 - t**2`: 1 at zero, where t = 0, and nearly 0 far out, where t is near 1 or -1.
#
# </details>
#
# What follows uses your `tanh` if it is solved, else this one.


# %%
def solution(x):
    t = math.tanh(x.data)
    return Value(t, (x,), (1 - t**2,))


assert check(solution).startswith("Right")
if check(tanh).startswith("Not"):
    tanh = solution

# %% [markdown]
# ## A network of single numbers
#
# A neuron multiplies each input by a weight, adds a bias, and bends the sum. A layer is a few neurons side by side, a network is a few
# layers in a row. Ours has 2 inputs, 8 neurons and 1 output: 33 numbers to learn.
#
# It is to tell two half circles from one another, which no straight line can.

# %%
import numpy as np

rng = np.random.default_rng(SEEDS[0])
turn = np.pi * np.arange(16) / 15
upper = np.stack([np.cos(turn), np.sin(turn)], 1)
lower = np.stack([1 - np.cos(turn), 0.5 - np.sin(turn)], 1)
points = np.concatenate([upper, lower])  # (point, 2)
wanted = np.repeat([1.0, -1.0], 16)  # (point,)
print(f"data: two half circles, {len(points)} points, computed")


class Neuron:
    def __init__(self, inputs):
        self.weights = [Value(w) for w in rng.uniform(-1, 1, inputs)]
        self.bias = Value(0.0)

    def __call__(self, xs):
        return tanh(sum((w * x for w, x in zip(self.weights, xs, strict=True)), self.bias))


hidden, last = [Neuron(2) for _ in range(8)], Neuron(8)
layers = {"hidden": hidden, "last": [last]}


def numbers(name):
    """What a layer has to learn."""
    return [value for neuron in layers[name] for value in (*neuron.weights, neuron.bias)]


def loss_of_values():
    """How far the answers are from what is wanted: the mean of the squared distances."""
    answers = [last([neuron(point) for neuron in hidden]) for point in points]
    return sum((answer - want) ** 2 for answer, want in zip(answers, wanted, strict=True)) / len(points)


# %% [markdown]
# The same network in gradlab, with the same first weights: now a layer is one matrix product, and all 32 points go through at once.

# %%
from gradlab import nn

twin = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1), nn.Tanh()).to(DEVICE, gl.float64)
for layer, name in ((twin[0], "hidden"), (twin[2], "last")):
    layer.weight.data = gl.tensor([[w.data for w in neuron.weights] for neuron in layers[name]], dtype="float64", device=DEVICE)
    layer.bias.data = gl.tensor([neuron.bias.data for neuron in layers[name]], dtype="float64", device=DEVICE)
before = twin.state_dict()
inputs = gl.tensor(points, device=DEVICE)
targets = gl.tensor(wanted[:, None], device=DEVICE)


def loss_of_twin():
    return nn.functional.mse_loss(twin(inputs), targets)


# %% [markdown]
# Both learn, step by step: forward, backward, and every number a little against its gradient. **Look at the graph** while the cell
# runs: what takes some 2,500 `Value`s has five boxes. Look at the *gradients* too: four rows, one for each weight and bias of
# the two layers.

# %%
import time

RATE = 0.2
seconds = {"Value": 0.0, "gradlab": 0.0}
for step in range(61 if SMALL else 401):
    start = time.perf_counter()
    loss = loss_of_values()
    for value in in_order(loss):
        value.grad = 0.0  # the weights still have those of the step before
    backward(loss)
    for value in numbers("hidden") + numbers("last"):
        value.data -= RATE * value.grad
    middle = time.perf_counter()
    loss_of_tensors = loss_of_twin()
    twin.zero_grad()
    loss_of_tensors.backward()
    for parameter in twin.parameters():
        parameter.data -= RATE * parameter.grad
    seconds["Value"] += middle - start
    seconds["gradlab"] += time.perf_counter() - middle
    if step % 20 == 0:
        print(f"step {step:3}   loss {loss.data:.6f} by Values, {loss_of_tensors.item():.6f} by gradlab")

# %% [markdown]
# The same numbers, to the last digit that is shown. And how long did each take?

# %%
right = sum((last([neuron(point) for neuron in hidden]).data > 0) == (want > 0) for point, want in zip(points, wanted, strict=True))
apart = max(abs(w.data - float(there)) for w, there in zip(hidden[0].weights, twin[0].weight[0].tolist(), strict=True))
print(f"Values took {seconds['Value']:.1f} s, gradlab {seconds['gradlab']:.1f} s with the inspector on; weights differ by {apart:.0e}")
print(
    f"result: g, dg/da, dg/db = {g.data:.4f}, {a.grad:.4f}, {b.grad:.4f}; "
    f"{right} of {len(points)} points right, loss {loss.data:.4f} by Values and {loss_of_tensors.item():.4f} by gradlab"
)
assert abs(loss.data - loss_of_tensors.item()) < 1e-9
assert SMALL or right == len(points)

# %% [markdown]
# ## Does everything learn?
#
# If a layer is frozen, it alone must stay as it is. For the `Value`s we look ourselves; for the twin there is a check.

# %%
frozen = [value.data for value in numbers("hidden")]
others = [value.data for value in numbers("last")]
loss = loss_of_values()
for value in in_order(loss):
    value.grad = 0.0
backward(loss)
for value in numbers("last"):  # the hidden layer is frozen
    value.data -= RATE * value.grad
assert frozen == [value.data for value in numbers("hidden")]
assert all(old != value.data for old, value in zip(others, numbers("last"), strict=True))
print("with the hidden layer frozen, the last one moves and the hidden one stays")
print(gl.testing.check_learning(twin, loss_of_twin, since=before))

# %% [markdown]
# ## What to try next
#
# * Give `Value` an `exp`, and make `tanh` of it: (exp(2x) - 1) / (exp(2x) + 1). The gradients have to come out the same.
# * Take the two lines out that set gradients to zero. Why does the loss still fall at first, and what happens then?
# * A sum of 5,000 `Value`s fails in `in_order`: Python does not like functions that call themselves so often. gradlab walks without:
#   see `gradlab/autograd/run.py`.
# * `04_lines_and_moons.ipynb` goes on with the half circles.
