"""Every op beside PyTorch's on random shapes: `pytest -m torch`, where torch is installed."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reference.all import TABLE
from tests.reference.apart import set_apart
from tests.reference.chooser import Drawn
from tests.reference.compare import disagreement, of_gradlab, variants
from tests.reference.theirs import of_torch

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
EXAMPLES = 15


@pytest.mark.parametrize("key", TABLE)
def test_values_gradients_dtypes_and_refusals_are_pytorchs(key):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    row = TABLE[key]

    @settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def agree(data):
        call = row.make(Drawn(data.draw, st.integers))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, c in (("", call), *variants(call)):
                if not set_apart(row.name, name):
                    found = disagreement(of_gradlab(row, c), of_torch(row, c), name, row.slack)
                    assert not found, f"{key}{c} {name}: {found}"

    agree()
