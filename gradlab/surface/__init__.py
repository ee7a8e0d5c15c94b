"""Tensor's methods and operators, one line each; what they do is said in `ops`."""

from __future__ import annotations

from .copies import Copies
from .elementwise import Elementwise
from .operators import Operators
from .order import Orders
from .place import Places
from .product import Products
from .reduction import Reductions
from .shape import Shapes


class Surface(Operators, Elementwise, Reductions, Places, Orders, Shapes, Products, Copies):
    """What can be written on a Tensor: operators with a Tensor, array or number on either side, and ops as methods."""

    __slots__ = ()
