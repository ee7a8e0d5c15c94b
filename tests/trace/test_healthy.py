"""On healthy runs every rule is silent."""

from __future__ import annotations

import pytest

import gradlab as gl
from gradlab.nn import functional as F
from gradlab.trace import diagnose, recording

from .planted import NETS, OPTIMIZERS, train


@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
@pytest.mark.parametrize("net", list(NETS))
def test_a_healthy_run_has_no_finding(net: str, optimizer: str) -> None:
    model, draw = NETS[net]()
    with recording() as recorder:
        train((model, draw), OPTIMIZERS[optimizer](model.parameters()), 120)
        with gl.no_grad():
            x, y = draw()
            F.cross_entropy(model(x), y)
        found = diagnose(recorder)
    assert [str(finding) for finding in found] == []
