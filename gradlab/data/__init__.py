"""Datasets, their way into batches, and real data to begin with."""

from .collate import collate as collate
from .dataset import Dataset as Dataset
from .dataset import TensorDataset as TensorDataset
from .loader import DataLoader as DataLoader
from .sampler import RandomSampler as RandomSampler
from .sampler import SequentialSampler as SequentialSampler
from .sources import Digits as Digits
from .sources import digits as digits
