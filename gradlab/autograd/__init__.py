"""Gradients: the backward pass, and what is built on it."""

from __future__ import annotations

from . import functional as functional
from .anomaly import detect_anomaly as detect_anomaly
from .anomaly import is_anomaly_enabled as is_anomaly_enabled
from .anomaly import set_detect_anomaly as set_detect_anomaly
from .check import gradcheck as gradcheck
from .check import gradgradcheck as gradgradcheck
from .recompute import checkpoint as checkpoint
from .run import backward as backward
from .run import grad as grad
