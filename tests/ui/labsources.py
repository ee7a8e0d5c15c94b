"""Models that ask much of a notebook, as the source of a cell: what tests and benchmarks share."""

from __future__ import annotations

# Sixteen ops a time; `unroll` trains nothing, but goes back through all of it.
UNROLLED = """
import gradlab as gl
from gradlab import nn

class Cell(nn.Module):
    def __init__(self, inputs, units):
        super().__init__()
        self.x, self.h, self.units = nn.Linear(inputs, 4 * units), nn.Linear(units, 4 * units), units
    def forward(self, x, state):
        h, c = state
        z, n = self.x(x) + self.h(h), self.units
        i, f, o, g = z[:, :n].sigmoid(), z[:, n:2*n].sigmoid(), z[:, 2*n:3*n].sigmoid(), z[:, 3*n:].tanh()
        c = f * c + i * g
        return o * c.tanh(), c

cell = Cell(4, 3)
x = gl.randn(2, 4)
def unroll(times):
    h, c = gl.zeros(2, 3), gl.zeros(2, 3)
    for t in range(times):
        h, c = cell(x, (h, c))
    h.pow(2).mean().backward()
"""

# A weight of 400 MB. `train` begins where it stopped.
LARGE = """
import gradlab as gl
from gradlab import nn
gl.manual_seed(0)
model = nn.Linear(20000, 5000)
optimizer = gl.optim.SGD(model.parameters(), lr=0.01)
x = gl.randn(2, 20000)
def train(steps):
    for _ in range(steps):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

# Thousands of steps a second, one of them with a loss of a million.
TINY = """
import time
import gradlab as gl
from gradlab import nn
gl.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
optimizer = gl.optim.SGD(model.parameters(), lr=0.01)
x, y = gl.tensor([[0.0, 0], [0, 1], [1, 0], [1, 1]]), gl.tensor([[0.0], [1], [1], [0]])
def train(steps, spike=-1):
    for t in range(steps):
        loss = ((model(x) - y) ** 2).mean() + (1e6 if t == spike else 0.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if t % 10_000 == 0:
            print(f"<{t}>", flush=True)
"""
