"""Values, gradients, dtypes and refusals of every op are PyTorch's, as written down by `python -m tests.reference.make`."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

from tests.names import exported
from tests.reference.all import TABLE
from tests.reference.apart import set_apart
from tests.reference.compare import Outcome, disagreement, of_gradlab, variants
from tests.reference.make import CALLS, FILE, fingerprint, forms

STORED = np.load(FILE)
NUMBERS = STORED["numbers"]
INDEX = json.loads(STORED["index"].tobytes())
AT = {}
_place = 0
for _key, _calls in INDEX["rows"].items():
    AT[_key] = _place
    _place += sum(int(np.prod(shape)) for c in _calls for _, shape in (*c["values"], *c["grads"]))
OF_OTHERS = {name for name, file in exported().items() if file == "create"}  # tests/test_create.py
AGAIN = "; write them down again: python -m tests.reference.make"


def test_the_file_covers_the_table_and_says_what_made_it():
    assert list(INDEX["rows"]) == list(TABLE), "rows came or went" + AGAIN
    assert INDEX["torch"] and INDEX["numpy"]
    assert len(NUMBERS) == _place
    assert FILE.stat().st_size < 1_000_000


RANDOM = "bernoulli gumbel_softmax multinomial normal poisson"  # draws of another generator


def test_every_public_op_is_in_the_table():
    assert set(exported()) - {row.name for row in TABLE.values()} == set(RANDOM.split()) | OF_OTHERS


@pytest.mark.parametrize("key", TABLE)
def test_an_op_gives_what_pytorch_gives(key):
    row, place = TABLE[key], AT[key]
    for call, stored in zip(row.draws(CALLS), INDEX["rows"][key], strict=True):
        assert fingerprint(call) == stored["call"], "the call changed" + AGAIN

        def read(dtype, shape):
            nonlocal place
            place += (n := int(np.prod(shape)))
            return NUMBERS[place - n : place].reshape(shape).astype(dtype)

        theirs = Outcome([read(*f) for f in stored["values"]], [read(*f) for f in stored["grads"]])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ours = of_gradlab(row, call)
        if set_apart(row.name, ""):
            continue
        assert not (found := disagreement(ours, theirs, slack=row.slack)), f"{key}{call}: {found}"
        for name, variant in variants(call):
            if set_apart(row.name, name) or (want := stored["variants"].get(name)) is None:
                continue
            ours = of_gradlab(row, variant)
            if name == "mixed" and (ours.error or want == "error"):
                continue
            got = "error" if ours.error else forms(ours.values)
            assert got == want, f"{key}{variant} ({name}): {ours.error or got}, PyTorch: {want}"
