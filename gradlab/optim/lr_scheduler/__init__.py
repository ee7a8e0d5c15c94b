"""Schedules: which learning rate holds at which step."""

from .cycle import CyclicLR as CyclicLR
from .function import LambdaLR as LambdaLR
from .function import MultiplicativeLR as MultiplicativeLR
from .one_cycle import OneCycleLR as OneCycleLR
from .plateau import ReduceLROnPlateau as ReduceLROnPlateau
from .restart import CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts
from .scaled import ConstantLR as ConstantLR
from .scaled import CosineAnnealingLR as CosineAnnealingLR
from .scaled import ExponentialLR as ExponentialLR
from .scaled import LinearLR as LinearLR
from .scaled import MultiStepLR as MultiStepLR
from .scaled import PolynomialLR as PolynomialLR
from .scaled import StepLR as StepLR
from .scheduler import LRScheduler as LRScheduler
from .several import ChainedScheduler as ChainedScheduler
from .several import SequentialLR as SequentialLR
