"""The nets whose panels `docs/sheets.py` takes pictures of: real runs, each a notebook of a few cells."""

from __future__ import annotations

from typing import NamedTuple


class Scene(NamedTuple):
    """A notebook, and what is looked at when it has run."""

    cells: tuple[str, ...]
    select: str = ""
    """An op by its function's name, of which the middle one is selected; or a selection as the page writes it."""
    capture: bool = True
    """Keep all values of the first step of the last cell."""
    at: int = 0
    """Go back to this step."""
    mark: int = 0
    """Compare with this step."""


IMPORTS = """\
import numpy as np
import gradlab as gl
from gradlab import nn, optim
from gradlab.data import DataLoader, digits
from gradlab.nn import functional as F
gl.manual_seed(0);
"""

TRAIN = """\
def train(model, optimizer, batches, steps):
    for step, (x, y) in zip(range(steps), batches):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss
"""

ONE_MORE = "train(model, optimizer, batches(32), 1);"

DIGITS = """\
data, test = digits().split(test=0.2, seed=0)
def batches(size):
    while True:
        yield from DataLoader(data, batch_size=size, shuffle=True, seed=0)
"""

MLP = """\
class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 128)
        self.fc2 = nn.Linear(128, 64)
        self.fc3 = nn.Linear(64, 10)

    def forward(self, x):
        h = F.gelu(self.fc1(x))
        h = F.gelu(self.fc2(h))
        return self.fc3(h)

model = MLP()
optimizer = optim.AdamW(model.parameters(), lr=3e-3)
"""

RESNET = """\
class Conv(nn.Module):
    def __init__(self, inside, out):
        super().__init__()
        self.weight = nn.Parameter(gl.randn(out, inside, 3, 3) * (2 / (9 * inside)) ** 0.5)
        self.scale = nn.Parameter(gl.ones(out))
        self.shift = nn.Parameter(gl.zeros(out))

    def forward(self, x):
        y = F.conv2d(x, self.weight, padding=1)
        return F.batch_norm(y, None, None, self.scale, self.shift, training=True)

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = Conv(width, width)
        self.conv2 = Conv(width, width)

    def forward(self, x):
        h = F.relu(self.conv1(x))
        return F.relu(self.conv2(h) + x)

class ResNet(nn.Module):
    def __init__(self, width=8, depth=13):
        super().__init__()
        self.stem = Conv(1, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        h = F.relu(self.stem(x.reshape(-1, 1, 8, 8)))
        h = self.blocks(h)
        return self.head(h.mean(dim=(2, 3)))

model = ResNet()
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
"""

GPT = """\
class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(gl.ones(width))
        self.bias = nn.Parameter(gl.zeros(width))

    def forward(self, x):
        return F.layer_norm(x, (x.shape[-1],), self.weight, self.bias)

class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)

    def forward(self, x, mask):
        b, t, c = x.shape
        def split(y):
            return y.reshape(b, t, self.heads, c // self.heads).transpose(1, 2)
        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
        p = F.softmax(scores.masked_fill(mask, -1e9), dim=-1)
        return self.out((p @ v).transpose(1, 2).reshape(b, t, c))

class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))

class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.attention = Norm(width), Attention(width, heads)
        self.norm2, self.mlp = Norm(width), MLP(width)

    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))

class GPT(nn.Module):
    def __init__(self, letters, width=32, heads=4, layers=40, length=16):
        super().__init__()
        self.token = nn.Parameter(gl.randn(letters, width) * 0.1)
        self.place = nn.Parameter(gl.randn(length, width) * 0.1)
        self.layers = nn.Sequential(*[Layer(width, heads) for _ in range(layers)])
        self.norm, self.head = Norm(width), nn.Linear(width, letters)
        self.mask = gl.triu(gl.ones(length, length), 1) > 0

    def forward(self, tokens):
        x = F.embedding(tokens, self.token) + self.place
        for layer in self.layers:
            x = layer(x, self.mask)
        return self.head(self.norm(x))
"""

LETTERS = """\
text = "the quick brown fox jumps over the lazy dog. " * 20
names = sorted(set(text))
codes = np.array([names.index(c) for c in text])
def windows(size, length):
    at = np.random.default_rng(0)
    while True:
        i = at.integers(0, len(codes) - length - 1, size)
        rows = np.stack([codes[k : k + length + 1] for k in i])
        yield gl.tensor(rows[:, :-1]), gl.tensor(rows[:, 1:].reshape(-1))
"""

LSTM = """\
class LSTM(nn.Module):
    def __init__(self, letters, width=16):
        super().__init__()
        self.width = width
        self.token = nn.Parameter(gl.randn(letters, width) * 0.3)
        self.inside, self.hidden = nn.Linear(width, 4 * width), nn.Linear(width, 4 * width, bias=False)
        self.head = nn.Linear(width, letters)

    def forward(self, tokens):
        w = self.width
        x = F.embedding(tokens, self.token)
        h, c = gl.zeros(x.shape[0], w), gl.zeros(x.shape[0], w)
        for t in range(x.shape[1]):
            gates = self.inside(x[:, t]) + self.hidden(h)
            i, f = F.sigmoid(gates[:, :w]), F.sigmoid(gates[:, w : 2 * w])
            g, o = F.tanh(gates[:, 2 * w : 3 * w]), F.sigmoid(gates[:, 3 * w :])
            c = f * c + i * g
            h = o * F.tanh(c)
        return self.head(h)
"""

SIZES = {
    "10": Scene((IMPORTS, DIGITS, TRAIN, MLP, "train(model, optimizer, batches(32), 199);", ONE_MORE), "linear"),
    "100": Scene((IMPORTS, DIGITS, TRAIN, RESNET, "train(model, optimizer, batches(16), 59);", ONE_MORE), "conv"),
    "1000": Scene(
        (
            IMPORTS,
            LETTERS,
            GPT,
            "model = GPT(len(names))\noptimizer = optim.AdamW(model.parameters(), lr=1e-3)",
            """\
def train(steps):
    for step, (x, y) in zip(range(steps), windows(4, 16)):
        loss = F.cross_entropy(model(x).reshape(-1, len(names)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
            "train(29)",
            "train(1)",
        ),
        "softmax",
        mark=4,
    ),
    "10000": Scene(
        (
            IMPORTS,
            LETTERS,
            LSTM,
            "model = LSTM(len(names))\noptimizer = optim.Adam(model.parameters(), lr=1e-2)",
            """\
def train(steps):
    for step, (x, y) in zip(range(steps), windows(2, 590)):
        loss = F.cross_entropy(model(x), y[-len(x):])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
            "train(7)",
            "train(1)",
        ),
        "tanh",
    ),
}
"""Nets of about so many ops."""

NEURON = """\
x = gl.tensor([[2.0, 0.0], [1.0, -1.0]])
w = gl.tensor([[-3.0], [1.0]], requires_grad=True)
b = gl.tensor([6.8814], requires_grad=True)
y = gl.tanh(x @ w + b)
loss = (y * y).mean()
loss.backward()
"""

STATES = {
    "empty": Scene((IMPORTS,)),
    "neuron": Scene((IMPORTS, NEURON), "tanh", capture=False),
    "forward": Scene((IMPORTS, MLP, "with gl.no_grad():\n    model(gl.randn(32, 64)).softmax(1)", "model(gl.randn(32, 64)).softmax(1)")),
    "one-step": Scene((IMPORTS, DIGITS, TRAIN, MLP, "train(model, optimizer, batches(32), 1);"), capture=False),
    "no-optimizer": Scene(
        (
            IMPORTS,
            MLP,
            """\
x, y = gl.randn(32, 64), gl.randint(0, 10, (32,))
for _ in range(40):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    for p in model.parameters():
        p.data -= 0.01 * p.grad.data
""",
        )
    ),
    "error": Scene((IMPORTS, MLP, "h = model.fc1(gl.randn(32, 64))\nmodel.fc3(h)"), capture=False),
    "nan": Scene(
        (
            IMPORTS,
            DIGITS,
            MLP,
            """\
for step, (x, y) in zip(range(40), batches(32)):
    p = F.softmax(model(x), dim=1)
    loss = -(gl.log(p[gl.arange(32), y] - (0.02 if step > 30 else 0.0))).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        ),
        "log",
    ),
    "interrupted": Scene(
        (
            IMPORTS,
            DIGITS,
            TRAIN,
            MLP,
            """\
def until(batches):
    for step, batch in enumerate(batches):
        if step == 57:
            raise KeyboardInterrupt
        yield batch
train(model, optimizer, until(batches(32)), 200);
""",
        ),
        capture=False,
    ),
    "light": Scene(("%gradlab budget 0.01", IMPORTS, DIGITS, TRAIN, MLP, "train(model, optimizer, batches(32), 400);"), capture=False),
    "parameters": Scene(
        (
            IMPORTS,
            """\
model = nn.Sequential(*[layer for _ in range(500) for layer in (nn.Linear(4, 4), nn.Tanh())])
optimizer = optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    loss = model(gl.randn(8, 4)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        ),
        "param:498.weight",
        capture=False,
    ),
    "names": Scene(
        (
            IMPORTS,
            """\
class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        names = ["n" * 5000, "שכבה_ראשונה", "<b>bold</b><script>alert(1)</script>", "encoder layer with spaces and\\nlines", "😀"]
        self.layers = nn.ModuleDict({name: nn.Linear(4, 4) for name in names})

    def forward(self, x):
        for name in self.layers:
            x = F.tanh(self.layers[name](x))
        return x

model = Odd()
optimizer = optim.Adam([{"params": list(model.parameters()), "lr": 1e-2}])
very_long_name_of_the_input_that_nobody_would_ever_type_but_somebody_will = gl.randn(8, 4)
for _ in range(12):
    loss = (model(very_long_name_of_the_input_that_nobody_would_ever_type_but_somebody_will) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
        ),
        "linear",
    ),
    "findings": Scene(
        (
            IMPORTS,
            """\
class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(64, 80), nn.Linear(80, 10)
        self.scale = nn.Parameter(gl.randn(32, 1))

    def forward(self, x):
        return self.two(self.one(x)).softmax(1)

model = Twice()
optimizer = optim.SGD(model.parameters(), lr=0.1)
x, y, t = gl.randn(32, 64), gl.zeros(32, dtype=int), gl.randn(32)
losses = []
for _ in range(60):
    loss = F.cross_entropy(model(x), y) + ((model.scale - t) ** 2).mean()
    loss.backward()
    optimizer.step()
    losses.append(loss)
""",
        ),
        "param:one.weight",
        at=41,
    ),
    "validation": Scene(
        (
            IMPORTS,
            """\
data = gl.data.TensorDataset(gl.randn(48, 64), gl.randint(0, 10, (48,)))
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
trainer = gl.Trainer(model, optim.Adam(model.parameters(), lr=3e-3), F.cross_entropy, progress=False)
seen, unseen = gl.data.random_split(data, [32, 16])
trainer.fit(DataLoader(seen, 16), DataLoader(unseen, 16), epochs=30);
""",
        ),
        capture=False,
    ),
}
"""What else a reader may come upon."""
