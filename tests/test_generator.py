"""Generators of their own: a seed repeats what was drawn, on every device, and gradlab's own numbers go on as they would."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import data, nn
from gradlab.errors import ArgumentError, KeywordError

X = gl.full((3, 4), 0.5)
DRAWS = {
    "rand": lambda g: gl.rand(3, generator=g),
    "randn": lambda g: gl.randn(2, 3, generator=g),
    "randint": lambda g: gl.randint(0, 1000, (5,), generator=g),
    "randperm": lambda g: gl.randperm(20, generator=g),
    "bernoulli": lambda g: gl.bernoulli(X, generator=g),
    "multinomial": lambda g: gl.multinomial(X, 3, generator=g),
    "multinomial with replacement": lambda g: gl.multinomial(X, 30, True, generator=g),
    "normal": lambda g: gl.normal(0.0, 1.0, (4,), generator=g),
    "poisson": lambda g: gl.poisson(X * 100.0, generator=g),
    "bernoulli_": lambda g: gl.zeros(30).bernoulli_(0.5, generator=g),
    "exponential_": lambda g: gl.zeros(3).exponential_(generator=g),
    "normal_": lambda g: gl.zeros(3).normal_(generator=g),
    "random_": lambda g: gl.zeros(9).random_(100, generator=g),
    "uniform_": lambda g: gl.zeros(3).uniform_(generator=g),
    "init.uniform_": lambda g: nn.init.uniform_(gl.zeros(3), generator=g),
    "init.normal_": lambda g: nn.init.normal_(gl.zeros(3), generator=g),
    "init.xavier_uniform_": lambda g: nn.init.xavier_uniform_(gl.zeros(3, 2), generator=g),
    "init.xavier_normal_": lambda g: nn.init.xavier_normal_(gl.zeros(3, 2), generator=g),
    "init.kaiming_uniform_": lambda g: nn.init.kaiming_uniform_(gl.zeros(3, 2), generator=g),
    "init.kaiming_normal_": lambda g: nn.init.kaiming_normal_(gl.zeros(3, 2), generator=g),
    "DataLoader": lambda g: gl.cat(list(data.DataLoader(gl.arange(30).tolist(), 5, shuffle=True, generator=g))),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_seed_repeats_what_was_drawn_and_leaves_the_other_numbers_alone(draw):
    gl.manual_seed(0)
    want = gl.rand(3).tolist()
    gl.manual_seed(0)
    g = gl.Generator()
    first, second = draw(g.manual_seed(5)), draw(g)
    assert first.tolist() != second.tolist()
    assert draw(g.manual_seed(5)).tolist() == first.tolist() and draw(gl.Generator().manual_seed(5)).tolist() == first.tolist()
    assert draw(g.manual_seed(6)).tolist() != first.tolist()
    assert gl.rand(3).tolist() == want


def test_a_device_gets_the_numbers_of_the_same_seed():
    for draw in (gl.rand, gl.randn):
        host, sim = [draw(4, device=d, generator=gl.Generator(d).manual_seed(1)) for d in ("cpu", "sim")]
        assert sim.device.type == "sim" and sim.tolist() == host.tolist()
    assert gl.Generator("sim").device.type == "sim"


def test_a_generator_tells_its_seed_and_goes_back_to_a_state():
    g = gl.Generator()
    assert g.initial_seed() == gl.Generator().initial_seed() and g.manual_seed(7) is g and g.initial_seed() == 7
    state = g.get_state()
    first = gl.rand(2, generator=g).tolist()
    g.set_state(state)
    assert gl.rand(2, generator=g).tolist() == first
    other = gl.Generator()
    other.set_state(state)
    assert gl.rand(2, generator=other).tolist() == first
    assert g.seed() == g.initial_seed() != 7 and repr(gl.Generator().manual_seed(7)) == "Generator(device='cpu', initial_seed=7)"


def test_what_is_no_generator_or_seed_is_refused():
    for wrong in (3, np.random.default_rng(0)):
        with pytest.raises(KeywordError, match=r"generator: this is none[\s\S]*a gl\.Generator"):
            gl.rand(2, generator=wrong)
    with pytest.raises(ArgumentError, match="a seed can't be negative"):
        gl.Generator().manual_seed(-1)


@pytest.mark.torch
def test_pytorch_takes_a_generator_where_these_do():
    torch = pytest.importorskip("torch")
    g = torch.Generator().manual_seed(0)
    x = torch.full((3, 4), 0.5)
    for call in (
        lambda: torch.rand(2, generator=g), lambda: torch.randn(2, generator=g), lambda: torch.randint(0, 9, (2,), generator=g),
        lambda: torch.randperm(3, generator=g), lambda: torch.bernoulli(x, generator=g), lambda: torch.multinomial(x, 2, generator=g),
        lambda: torch.normal(0.0, 1.0, (4,), generator=g), lambda: torch.poisson(x, generator=g),
        lambda: [getattr(x.clone(), name)(generator=g) for name in ("bernoulli_", "exponential_", "normal_", "uniform_")],
        lambda: torch.nn.init.kaiming_uniform_(x.clone(), generator=g),
    ):  # fmt: skip
        call()
