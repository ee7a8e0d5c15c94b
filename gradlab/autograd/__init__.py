"""Gradients: the backward pass, and what is built on it.

`run` has the public functions and the short loop; `general` the pass with hooks, chosen inputs, a graph or an observer. `replay`
and `names` run a step's rule on Tensors, for higher derivatives. The rest is named after what it is for.
"""

from __future__ import annotations

from ..function import Function as Function
from ..grad_mode import enable_grad as enable_grad
from ..grad_mode import inference_mode as inference_mode
from ..grad_mode import no_grad as no_grad
from ..grad_mode import set_grad_enabled as set_grad_enabled
from . import functional as functional
from .anomaly import detect_anomaly as detect_anomaly
from .anomaly import is_anomaly_enabled as is_anomaly_enabled
from .anomaly import set_detect_anomaly as set_detect_anomaly
from .check import gradcheck as gradcheck
from .check import gradgradcheck as gradgradcheck
from .recompute import checkpoint as checkpoint
from .run import backward as backward
from .run import grad as grad
