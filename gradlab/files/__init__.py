"""Saving and loading on safetensors: a crash leaves the old file, and nothing that is read can run code."""

from .loading import load as load
from .saving import save as save
