"""Whole models under the layouts that published weights have."""

from .bert import Bert as Bert
from .gpt import GPT as GPT
