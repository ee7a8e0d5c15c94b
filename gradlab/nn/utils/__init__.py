"""Helpers around models: what is done to gradients and parameters, and sequences of several lengths."""

from . import rnn as rnn
