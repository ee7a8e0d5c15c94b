"""Gradients: the backward pass, and what is built on it."""

from __future__ import annotations

from .check import gradcheck as gradcheck
from .check import gradgradcheck as gradgradcheck
from .run import backward as backward
from .run import grad as grad
