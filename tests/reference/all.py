"""The whole table: importing this fills it."""

from __future__ import annotations

from . import arrays as arrays
from . import elementwise as elementwise
from . import layers as layers
from . import linalg as linalg
from . import losses as losses
from .table import TABLE as TABLE
