"""Going back in time, gains, and the optimizer microscope, beside plain NumPy in the same notebook."""

from __future__ import annotations

import json
from typing import Any

import pytest
from labdriver import LOAD, NET, Lab, expect

SETUP = LOAD + "\n%gradlab budget off" + NET.format(seed=7) + "losses = []\n"

TRAIN = """
for _ in range(30):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
"""

# Forward, backward and AdamW in float64, from the weights the training started with. No gradlab in it.
CHECK = """
X, Y, p = np.array(x.data, dtype=np.float64), np.array(y.data), dict(start)
m = {n: 0.0 for n in p}
v = {n: 0.0 for n in p}
norm = lambda array: float(np.sqrt(np.sum(array**2)))
rms = lambda array: float(np.sqrt(np.mean(array**2)))
steps = []
for t in range(1, 31):
    h = X @ p["fc1.weight"].T + p["fc1.bias"]
    a = np.tanh(h)
    z = a @ p["fc2.weight"].T + p["fc2.bias"]
    q = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    loss_value = -np.log(q[np.arange(8), Y]).mean()
    dz = (q - np.eye(3)[Y]) / 8
    da = dz @ p["fc2.weight"]
    dh = da * (1 - a**2)
    g = {"fc1.weight": dh.T @ X, "fc1.bias": dh.sum(axis=0), "fc2.weight": dz.T @ a, "fc2.bias": dz.sum(axis=0)}
    looks = {}
    for n in p:
        m[n] = 0.9 * m[n] + 0.1 * g[n]
        v[n] = 0.999 * v[n] + 0.001 * g[n] ** 2
        root = np.sqrt(v[n] / (1 - 0.999**t))
        u = -0.01 * (m[n] / (1 - 0.9**t) / (root + 1e-8) + 0.1 * p[n])
        looks[n] = {"update": rms(u), "cos": float(-(u * g[n]).sum() / norm(u) / norm(g[n])), "eps": float((root < 1e-8).mean()),
                    "decay:gradient": rms(0.001 * p[n]) / rms(u + 0.001 * p[n])}
        p[n] = p[n] + u
    steps.append({
        "loss": loss_value, "ops": [[norm(h), norm(dh)], [norm(a), norm(da)], [norm(z), norm(dz)], [loss_value, 1.0]],
        "gains": [norm(dz), norm(da) / norm(dz), norm(dh) / norm(da), norm(g["fc1.weight"]) / norm(dh)],
        "g": {n: norm(g[n]) for n in p}, "looks": looks,
    })
print(json.dumps(steps))
"""

MORE = TRAIN.replace("30", "5")


def shown(lab: Lab) -> dict[str, Any]:
    """Read loss, norms of the ops and gains from the page."""
    graph, gain = lab.panel("graph"), lab.panel("gradients").locator(".gl-gainvalue")
    return {
        "loss": lab.number(lab.panel("strip").locator('[data-field="loss"]')),
        "ops": [[lab.number(graph.locator(f'[data-op="{i}"] .gl-{letter}')) for letter in "vg"] for i in range(4)],
        "gains": [lab.number(gain.nth(i)) for i in range(gain.count())],
    }


def like(step: dict[str, Any]) -> dict[str, Any]:
    """What NumPy says of the same."""
    return {
        "loss": pytest.approx(step["loss"], rel=1e-4),
        "ops": [pytest.approx(pair, rel=1e-4) for pair in step["ops"]],
        "gains": pytest.approx(step["gains"], rel=1e-4),
    }


def test_earlier_steps_gains_and_the_microscope_show_what_numpy_computes(lab: Lab) -> None:
    lab.open("time.ipynb", SETUP, TRAIN, CHECK, MORE)
    lab.run(0)
    lab.run(1)
    lab.sees_step(30)
    steps = json.loads(lab.run(2))
    bar = lab.dock.locator(".gl-time")
    lab.eventually(lambda: shown(lab) == like(steps[29]))

    # The microscope's code comes when it is opened; it looks at the last step.
    optimizer = lab.panel("optimizer")
    optimizer.get_by_role("button", name="microscope").click()
    row = optimizer.locator('.gl-microscope [data-param="fc1.weight"]')
    for column in ("update", "cos", "eps", "decay:gradient"):
        assert lab.number(row.locator(f'[data-col="{column}"]')) == pytest.approx(steps[29]["looks"]["fc1.weight"][column], rel=1e-3)
    expect(optimizer).to_contain_text("AdamW holds 4 parameters; the graph reads all of them.")
    row.scroll_into_view_if_needed()
    lab.shot("microscope")

    # Back by a key, by the slider and by a click into a chart.
    lab.panel("graph").locator(".gl-viewport").focus()
    lab.page.keyboard.press("[")
    expect(lab.panel("strip")).to_contain_text("of 30")
    lab.eventually(lambda: shown(lab) == like(steps[28]))
    bar.get_by_role("slider").focus()
    lab.page.keyboard.press("Home")
    lab.eventually(lambda: shown(lab) == like(steps[0]))
    lab.shot("first-step")
    lab.page.keyboard.press("PageUp")
    lab.eventually(lambda: shown(lab) == like(steps[3]))

    # Two steps side by side.
    bar.get_by_role("button", name="A|B").click()
    lab.page.keyboard.press("]")
    compared = lab.dock.locator('[data-panel="compare"]')
    lab.eventually(lambda: shown(lab) == like(steps[4]))
    for name in ("fc1.weight", "fc2.bias"):
        row = compared.locator(f'[data-compare="{name}"]')
        assert [lab.number(row.locator(f'[data-col="{c}"]')) for c in "ab"] == pytest.approx(
            [steps[t]["g"][name] for t in (3, 4)], rel=1e-4
        )
    compared.get_by_role("button", name="op ‖v‖").click()
    row = compared.locator('[data-what="op:1"]')
    assert [lab.number(row.locator(f'[data-col="{c}"]')) for c in "ab"] == pytest.approx([steps[t]["ops"][1][0] for t in (3, 4)], rel=1e-4)
    compared.scroll_into_view_if_needed()
    lab.shot("compare")
    compared.get_by_role("button", name="Close").click()
    lab.page.keyboard.press("[")
    lab.eventually(lambda: shown(lab) == like(steps[3]))

    # New steps come, and the view stays where it is.
    lines = lab.panel("gradients").locator(".gl-line path").first
    before = (lines.get_attribute("d"), lab.panel("gradients").locator(".gl-ticks").inner_text())
    lab.run(3)
    expect(bar).to_contain_text("Follow live +5")
    assert shown(lab) == like(steps[3])
    assert (lines.get_attribute("d"), lab.panel("gradients").locator(".gl-ticks").inner_text()) == before
    bar.get_by_role("button", name="Follow live").click()
    lab.sees_step(35)

    # The share of zeros is counted from now on; tanh has none.
    lab.panel("gradients").get_by_role("button", name="zeros").click()
    expect(lab.panel("gradients").locator(".gl-scale")).to_contain_text("100 %")

    # The ledger: one backward call a gradient, for zero_grad is called.
    lab.panel("gradients").get_by_role("button", name="ledger").click()
    expect(lab.panel("gradients")).to_contain_text("Each gradient is of one backward call: cleared in every step.")
    expect(lab.panel("gradients").locator('[data-ledger="fc1.weight"]')).to_contain_text("1 backward call")

    # Thirty-five losses keep their graphs.
    shapes = lab.panel("shapes")
    shapes.get_by_role("button", name="what keeps graphs").click()
    expect(shapes).to_contain_text("losses (In[1]) keeps 35 graphs")
    expect(shapes).to_contain_text("append loss.item()")
    shapes.scroll_into_view_if_needed()
    lab.shot("keepers")
    lab.theme("JupyterLab Dark")
    try:
        bar.get_by_role("slider").focus()
        for _ in range(4):
            lab.page.keyboard.press("PageDown")
        lab.panel("gradients").scroll_into_view_if_needed()
        lab.shot("dark")
    finally:
        lab.theme("JupyterLab Light")
