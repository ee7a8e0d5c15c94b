"""Training: the loop, what is told of it, and how it goes on after a stop."""

from __future__ import annotations

from .callback import Callback as Callback
from .checkpoint import Checkpoint as Checkpoint
from .early_stopping import EarlyStopping as EarlyStopping
from .history import History as History
from .trainer import Trainer as Trainer
