"""A device without a device: NumPy's numbers under CuPy's rules, so that code for GPUs is tested where there is none.

It is used as CuPy is: `xp = gradlab.sim`, or device="sim". Its arrays are no NumPy arrays, become none in secret, and take
none as operands; functions and keywords that CuPy lacks are refused, by a table recorded from CuPy itself
(docs/record_cupy_api.py). Whatever would make the host wait for a GPU is counted, with the line where it happens.

Where it is stricter than CuPy: NumPy arrays as an index and lists as values are refused (CuPy copies them over in secret);
so is what a GPU leaves open (different values written to one place, a result over an operand that is read elsewhere, a float
cast to an integer that there is not); memory from `empty` is full of NaN; views of `broadcast_to` can't be written to;
`linalg` raises for singular matrices. What it can't show: the order in which a GPU adds up, and time.

>>> import gradlab.sim as xp
>>> xp.asarray([1.0, 2.0]) + 1
sim.array([2., 3.])
"""

from __future__ import annotations

from typing import Any

from .counts import HostSyncError as HostSyncError
from .counts import Stats as Stats
from .counts import no_sync as no_sync
from .counts import stats as stats
from .functions import Ufunc as Ufunc
from .functions import function
from .simulated import ndarray as ndarray


def __getattr__(name: str) -> Any:
    """A function, ufunc or constant that CuPy has."""
    if name.startswith("__"):
        raise AttributeError(name)
    value = globals()[name] = function(name)
    return value
