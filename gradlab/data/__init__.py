"""Datasets, their way into batches, and real data to begin with."""

from .collate import collate as collate
from .dataset import ConcatDataset as ConcatDataset
from .dataset import Dataset as Dataset
from .dataset import IterableDataset as IterableDataset
from .dataset import TensorDataset as TensorDataset
from .loader import DataLoader as DataLoader
from .sampler import BatchSampler as BatchSampler
from .sampler import RandomSampler as RandomSampler
from .sampler import Sampler as Sampler
from .sampler import SequentialSampler as SequentialSampler
from .sampler import SubsetRandomSampler as SubsetRandomSampler
from .sampler import WeightedRandomSampler as WeightedRandomSampler
from .sources import Digits as Digits
from .sources import digits as digits
from .subset import Subset as Subset
from .subset import random_split as random_split
from .worker import WorkerInfo as WorkerInfo
from .worker import get_worker_info as get_worker_info
