"""Deep learning from scratch on NumPy and CuPy, made to be looked into."""

from __future__ import annotations

import importlib
from typing import Any

from . import autograd as autograd
from . import ops as ops
from ._tensor import Tensor as Tensor
from ._version import __version__ as __version__
from .backend import bool_ as bool  # noqa: A004
from .backend import float16 as float16
from .backend import float32 as float32
from .backend import float64 as float64
from .backend import int8 as int8
from .backend import int16 as int16
from .backend import int32 as int32
from .backend import int64 as int64
from .backend import manual_seed as manual_seed
from .backend import uint8 as uint8
from .create import arange as arange
from .create import eye as eye
from .create import from_numpy as from_numpy
from .create import full as full
from .create import linspace as linspace
from .create import ones as ones
from .create import ones_like as ones_like
from .create import rand as rand
from .create import randint as randint
from .create import randn as randn
from .create import randperm as randperm
from .create import tensor as tensor
from .create import zeros as zeros
from .create import zeros_like as zeros_like
from .errors import DeviceError as DeviceError
from .errors import DTypeError as DTypeError
from .errors import GradlabError as GradlabError
from .errors import GraphError as GraphError
from .errors import ShapeError as ShapeError
from .function import Function as Function
from .function import enable_grad as enable_grad
from .function import is_grad_enabled as is_grad_enabled
from .function import no_grad as no_grad
from .function import set_grad_enabled as set_grad_enabled

_PARTS = ("nn", "optim", "data", "testing", "trace", "notebook")


def __getattr__(name: str) -> Any:
    """Load a part of gradlab when it is first used, so that importing gradlab starts no tracer and no notebook."""
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    try:
        return getattr(ops, name)
    except AttributeError:
        raise AttributeError(f"gradlab has no {name!r}") from None


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext gradlab`: trace this kernel and open the inspector."""
    importlib.import_module(f"{__name__}.notebook").load_ipython_extension(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """`%unload_ext gradlab`: stop tracing and close the inspector."""
    importlib.import_module(f"{__name__}.notebook").unload_ipython_extension(ipython)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "gradlab"}]
