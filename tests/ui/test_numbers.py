"""What the page shows equals what plain NumPy computes, in the same notebook, from the same weights."""

from __future__ import annotations

import json
from typing import Any

import pytest
from labdriver import LOAD, NET, Lab

TRAIN = """
for _ in range(3):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

# Three steps of forward, backward and AdamW in float64, from the weights the training started with. No gradlab in it.
CHECK = """
X, Y, p = np.array(x.data, dtype=np.float64), np.array(y.data), dict(start)
m = {n: 0.0 for n in p}
v = {n: 0.0 for n in p}
for t in range(1, 4):
    h = X @ p["fc1.weight"].T + p["fc1.bias"]
    a = np.tanh(h)
    z = a @ p["fc2.weight"].T + p["fc2.bias"]
    q = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    loss_value = -np.log(q[np.arange(8), Y]).mean()
    dz = (q - np.eye(3)[Y]) / 8
    da = dz @ p["fc2.weight"]
    dh = da * (1 - a**2)
    g = {"fc1.weight": dh.T @ X, "fc1.bias": dh.sum(axis=0), "fc2.weight": dz.T @ a, "fc2.bias": dz.sum(axis=0)}
    before, rows = dict(p), {}
    for n in p:
        m[n] = 0.9 * m[n] + 0.1 * g[n]
        v[n] = 0.999 * v[n] + 0.001 * g[n] ** 2
        m_hat, v_hat = m[n] / (1 - 0.9**t), v[n] / (1 - 0.999**t)
        p[n] = before[n] - 0.01 * (m_hat / (np.sqrt(v_hat) + 1e-8) + 0.1 * before[n])
        rms = lambda array: float(np.sqrt(np.mean(array**2)))
        root = float(np.sqrt(np.mean(v_hat)))
        rows[n] = {"rms g": rms(g[n]), "m_hat": rms(m_hat), "v_hat": root, "effective_lr": 0.01 / (root + 1e-8),
                   "update:weight": rms(p[n] - before[n]) / rms(before[n])}

norm = lambda array: float(np.sqrt(np.sum(array**2)))
print(json.dumps({
    "ops": [[norm(h), norm(dh)], [norm(a), norm(da)], [norm(z), norm(dz)], [loss_value, 1.0]],
    "parameters": {n: [norm(before[n]), norm(g[n])] for n in p},
    "rows": rows,
}))
"""


# Leaves are numbered as the ops first read them: x, then the four parameters, then y.
CHIPS = {"fc1.weight": 1, "fc2.bias": 4}


def readings(lab: Lab) -> dict[str, Any]:
    """Read from the page: three ops, two parameters, one row of the optimizer."""
    graph, optimizer = lab.panel("graph"), lab.panel("optimizer")
    columns = ["rms g", "m_hat", "v_hat", "effective_lr", "update:weight"]
    row = optimizer.locator('[data-param="fc1.weight"]')

    def norms(where: str) -> list[float]:
        return [lab.number(graph.locator(f"{where} .gl-{letter}")) for letter in "vg"]

    return {
        "ops": [norms(f'[data-op="{i}"]') for i in range(4)],
        "parameters": {name: norms(f'[data-leaf="{i}"]') for name, i in CHIPS.items()},
        "row": {column: lab.number(row.locator(f'[data-col="{column}"]')) for column in columns},
    }


def trained(lab: Lab, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train with this seed and return what the page shows and what NumPy computes."""
    lab.source(0, LOAD + NET.format(seed=seed))
    lab.run(0)
    lab.run(1)
    computed = json.loads(lab.run(2))
    first = lab.panel("graph").locator('[data-op="0"] .gl-v')
    lab.eventually(lambda: lab.number(first) == pytest.approx(computed["ops"][0][0], rel=1e-5))
    return readings(lab), computed


def test_the_page_shows_what_numpy_computes_and_other_numbers_for_another_seed(lab: Lab) -> None:
    lab.open("numbers.ipynb", "", TRAIN, CHECK)
    shown, computed = trained(lab, seed=5)
    lab.shot("seed-5")
    other, other_computed = trained(lab, seed=6)
    for on_page, by_numpy in ((shown, computed), (other, other_computed)):
        assert on_page["ops"] == [pytest.approx(pair, rel=1e-5) for pair in by_numpy["ops"]]
        for name, pair in on_page["parameters"].items():
            assert pair == pytest.approx(by_numpy["parameters"][name], rel=1e-5), name
        assert on_page["row"] == pytest.approx(by_numpy["rows"]["fc1.weight"], rel=1e-5)
    for i in range(4):
        assert shown["ops"][i][0] != pytest.approx(other["ops"][i][0], rel=1e-3)
    for name, pair in shown["parameters"].items():
        assert pair != pytest.approx(other["parameters"][name], rel=1e-3), name
    for column in ("rms g", "m_hat", "v_hat", "effective_lr"):
        assert shown["row"][column] != pytest.approx(other["row"][column], rel=1e-3), column
