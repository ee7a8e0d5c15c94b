"""Second and higher derivatives: the same rules, run on Tensors."""

from __future__ import annotations

import pytest

from gradlab import ops
from gradlab.errors import GraphError
from gradlab.function import Function
from gradlab.testing import check_twice

OPS = sorted({f for f in vars(ops).values() if isinstance(f, type) and issubclass(f, Function)}, key=lambda f: f.__name__)
CASES = [pytest.param(op, case, id=f"{op.__name__}-{case}") for op in OPS for case in op.cases if op.backward is not Function.backward]

# Ops without a second derivative, and why.
NOT_TWICE: dict[str, str] = {}
# Cases at a point where there is none.
SINGULAR = {"Std-scalar-correction=0": "the root of a variance that is 0"}


@pytest.mark.parametrize(("op", "case"), CASES)
def test_the_gradient_of_every_op_can_be_differentiated(op, case):
    if op.__name__ in NOT_TWICE:
        with pytest.raises(GraphError, match=f"{op.__name__}: its gradient can't be differentiated again"):
            check_twice(op, case)
    elif f"{op.__name__}-{case}" not in SINGULAR:
        check_twice(op, case)
