"""Every op on the simulated device: the same values and gradients as on NumPy, by CuPy's rules, and without a host sync."""

from __future__ import annotations

import numpy as np
import pytest

from gradlab import sim
from gradlab.errors import GraphError
from gradlab.function import Function
from tests.on_device import CASES, OPS, WAITS, compare, drawn, name_of, run, twice


def check(op, case, dtype, rtol):
    xs = drawn(case, dtype)
    with sim.stats() as seen:
        got = run(op, case, xs, "sim")
    compare(op, got, run(op, case, xs, "cpu"), rtol)
    assert not seen.syncs or op.__name__ in WAITS, f"{op.__name__} waits for the device: {seen.where}"


@pytest.mark.parametrize(("op", "case"), [pytest.param(*c, id=name_of(*c)) for c in CASES])
def test_an_op_gives_on_the_device_what_it_gives_on_numpy(op, case):
    check(op, case, "float32", 1e-6)


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.__name__)
def test_an_op_takes_float16_on_the_device(op):
    for case in op.cases[:3]:
        check(op, case, "float16", 2e-3)


def test_ops_that_wait_are_those_that_have_to():
    assert {op.__name__ for op in OPS} >= WAITS


@pytest.mark.parametrize("op", [op for op in OPS if op.backward is not Function.backward], ids=lambda op: op.__name__)
def test_a_gradient_is_differentiated_again_on_the_device(op):
    for case in op.cases[:2]:
        xs = drawn(case, "float64")
        try:
            want = twice(op, case, xs, "cpu")
        except GraphError:
            continue  # not on the CPU either
        for d, w in zip(twice(op, case, xs, "sim"), want, strict=True):
            np.testing.assert_allclose(d.cpu().data, w.data, rtol=1e-9, atol=1e-9, err_msg=f"{op.__name__}-{case}")
