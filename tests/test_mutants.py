"""The cases of every op notice a broken gradient: see `tests/mutants.py`, which has a command line too."""

from __future__ import annotations

import numpy as np
import pytest

from gradlab import testing
from gradlab.cases import Case, Draw
from gradlab.function import Function
from gradlab.ops import plan
from tests import mutants

OPS = pytest.mark.parametrize("op", mutants.DIFFERENTIABLE, ids=lambda op: op.__name__)


@OPS
def test_a_gradient_negated_doubled_zeroed_or_exchanged_is_noticed(op):
    for mutant in mutants.of_results(op):
        assert mutants.noticed_by_cases(mutant), str(mutant)


@pytest.mark.slow
@OPS
def test_a_term_left_out_of_a_backward_is_noticed(op):
    made, _, _, left = mutants.hunt(op, mutants.of_lines)
    assert not left, f"{made} mutants, survivors: " + "; ".join(map(str, left))


def test_plans_of_the_work_change_no_value():
    """Why mutants of `gradlab/ops/plan.py` are left out: other answers than its own give the same outputs and gradients."""
    planning = [op for op in mutants.OPS if any(f.__module__ == plan.__name__ for f in mutants.reached_by(op))]
    assert {"Conv", "ConvTranspose", "GELU", "GroupNorm", "MaxPool"} <= {op.__name__ for op in planning}
    for op in planning:
        for case in op.cases:
            want, *others = [_value_and_gradients(op, case, answers) for answers in mutants.PLANS]
            for got in others:
                for a, b in zip(got, want, strict=True):
                    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=f"{op.__name__}[{case}]")


def _value_and_gradients(op, case, answers):
    xs = testing._inputs(case, 0)
    with mutants.planned(answers):
        fn, y = testing._run(op, xs, case)
        return [y.data, *[d for d in fn.pull(np.random.default_rng(1).standard_normal(y.shape)) if d is not None]]


class Blind(Function):
    """y = x^2 + 0;  dx = 2 x g + 0."""

    cases = (Case(Draw((3,))), Case(Draw(())))

    def forward(self, x):
        self.x = x
        return x * x

    def backward(self, g):
        return 2 * self.x * g + 0.0 * g


def test_the_hunt_makes_the_mutants_it_speaks_of_and_lists_those_that_survive():
    assert [m.what for m in mutants.of_results(Blind)] == ["gradient 0 negated", "gradient 0 doubled", "gradient 0 zeroed"]
    made, planning, _, left = mutants.hunt(Blind)
    assert (made, planning) == (3 + 8, 0)
    assert [m.what.rpartition("->")[2].strip() for m in left] == ["2 * self.x * g", "0.0"]


def test_the_cases_of_a_test_that_sums_would_let_a_broken_softmax_live():
    """Why the check pulls a random cotangent: the gradient of softmax's sum is 0, doubled or negated."""
    from gradlab.ops import Softmax

    mutant = next(mutants.of_results(Softmax))
    assert mutants.noticed_by_cases(mutant)
    fn = Softmax()
    fn.forward(np.array([1.0, 2.0]), dim=0)
    with mutant.made():
        np.testing.assert_allclose(fn.backward(np.ones(2)), 0.0, atol=1e-15)
