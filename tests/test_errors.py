"""Errors say what came in, what was needed and what to try."""

from __future__ import annotations

import pytest

from gradlab import errors


def test_an_error_is_laid_out_in_columns():
    text = errors.explain("matmul: the inner sizes differ", got={"a": (32, 784), "b": (10, 784)}, need="a: (n, k), b: (k, m)", fix="b.T")
    assert text.splitlines() == [
        "matmul: the inner sizes differ",
        "  a     (32, 784)",
        "  b     (10, 784)",
        "  need: a: (n, k), b: (k, m)",
        "  try:  b.T",
    ]


def test_without_a_sure_fix_nothing_is_suggested():
    assert "try" not in errors.explain("x", got={"a_long_name": 1}, need="y")


@pytest.mark.parametrize(
    "error, builtin",
    [
        (errors.ShapeError, ValueError),
        (errors.DTypeError, TypeError),
        (errors.GraphError, RuntimeError),
        (errors.DeviceError, RuntimeError),
    ],
)
def test_every_error_is_also_the_built_in_it_refines(error, builtin):
    assert issubclass(error, builtin) and issubclass(error, errors.GradlabError)
