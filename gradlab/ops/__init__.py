"""Every op by its public name, and every Function behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .activation import LeakyReLU as LeakyReLU
from .activation import LogSigmoid as LogSigmoid
from .activation import ReLU as ReLU
from .activation import Sigmoid as Sigmoid
from .activation import SiLU as SiLU
from .activation import Softplus as Softplus
from .activation import Tanh as Tanh
from .activation import leaky_relu as leaky_relu
from .activation import logsigmoid as logsigmoid
from .activation import relu as relu
from .activation import sigmoid as sigmoid
from .activation import silu as silu
from .activation import softplus as softplus
from .activation import tanh as tanh
from .arithmetic import Abs as Abs
from .arithmetic import Add as Add
from .arithmetic import Div as Div
from .arithmetic import Maximum as Maximum
from .arithmetic import Minimum as Minimum
from .arithmetic import Mul as Mul
from .arithmetic import Neg as Neg
from .arithmetic import Sub as Sub
from .arithmetic import abs as abs  # noqa: A004
from .arithmetic import add as add
from .arithmetic import div as div
from .arithmetic import maximum as maximum
from .arithmetic import minimum as minimum
from .arithmetic import mul as mul
from .arithmetic import neg as neg
from .arithmetic import sub as sub
from .cast import Cast as Cast
from .cast import Clone as Clone
from .cast import cast as cast
from .cast import clone as clone
from .clamp import Clamp as Clamp
from .clamp import clamp as clamp
from .comparison import Eq as Eq
from .comparison import Ge as Ge
from .comparison import Gt as Gt
from .comparison import Le as Le
from .comparison import Lt as Lt
from .comparison import Ne as Ne
from .comparison import eq as eq
from .comparison import ge as ge
from .comparison import gt as gt
from .comparison import le as le
from .comparison import lt as lt
from .comparison import ne as ne
from .cross_entropy import CrossEntropy as CrossEntropy
from .cross_entropy import SoftCrossEntropy as SoftCrossEntropy
from .cross_entropy import cross_entropy as cross_entropy
from .extremum import AMax as AMax
from .extremum import AMin as AMin
from .extremum import ArgMax as ArgMax
from .extremum import ArgMin as ArgMin
from .extremum import Extremum as Extremum
from .extremum import Max as Max
from .extremum import Min as Min
from .extremum import amax as amax
from .extremum import amin as amin
from .extremum import argmax as argmax
from .extremum import argmin as argmin
from .extremum import max as max  # noqa: A004
from .extremum import min as min  # noqa: A004
from .gelu import GELU as GELU
from .gelu import GELUTanh as GELUTanh
from .gelu import gelu as gelu
from .index import Gather as Gather
from .index import SetIndex as SetIndex
from .index import Slice as Slice
from .index import Where as Where
from .index import getitem as getitem
from .index import masked_fill as masked_fill
from .index import raw_index as raw_index
from .index import set_index as set_index
from .index import where as where
from .join import Cat as Cat
from .join import Narrow as Narrow
from .join import Stack as Stack
from .join import cat as cat
from .join import chunk as chunk
from .join import narrow as narrow
from .join import split as split
from .join import stack as stack
from .linalg import Linear as Linear
from .linalg import MatMul as MatMul
from .linalg import linear as linear
from .linalg import matmul as matmul
from .loss import BinaryCrossEntropy as BinaryCrossEntropy
from .loss import BinaryCrossEntropyWithLogits as BinaryCrossEntropyWithLogits
from .loss import MSELoss as MSELoss
from .loss import binary_cross_entropy as binary_cross_entropy
from .loss import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from .loss import mse_loss as mse_loss
from .power import Cos as Cos
from .power import Exp as Exp
from .power import Log as Log
from .power import Pow as Pow
from .power import Sin as Sin
from .power import Sqrt as Sqrt
from .power import cos as cos
from .power import exp as exp
from .power import log as log
from .power import pow as pow  # noqa: A004
from .power import sin as sin
from .power import sqrt as sqrt
from .random import Dropout as Dropout
from .random import dropout as dropout
from .reduce import Mean as Mean
from .reduce import Prod as Prod
from .reduce import Sum as Sum
from .reduce import mean as mean
from .reduce import prod as prod
from .reduce import sum as sum  # noqa: A004
from .shape import Expand as Expand
from .shape import Flatten as Flatten
from .shape import Permute as Permute
from .shape import Reshape as Reshape
from .shape import Squeeze as Squeeze
from .shape import Transpose as Transpose
from .shape import Unsqueeze as Unsqueeze
from .shape import expand as expand
from .shape import flatten as flatten
from .shape import permute as permute
from .shape import reshape as reshape
from .shape import squeeze as squeeze
from .shape import transpose as transpose
from .shape import unsqueeze as unsqueeze
from .softmax import LogSoftmax as LogSoftmax
from .softmax import LogSumExp as LogSumExp
from .softmax import Softmax as Softmax
from .softmax import log_softmax as log_softmax
from .softmax import logsumexp as logsumexp
from .softmax import softmax as softmax
from .spread import Norm as Norm
from .spread import Std as Std
from .spread import Var as Var
from .spread import norm as norm
from .spread import std as std
from .spread import var as var

UFUNCS: dict[np.ufunc, Callable[..., Any]] = {  # what `numpy.exp(t)` and `array * t` mean
    np.add: add, np.subtract: sub, np.multiply: mul, np.true_divide: div, np.negative: neg, np.absolute: abs, np.power: pow,
    np.maximum: maximum, np.minimum: minimum, np.matmul: matmul, np.exp: exp, np.log: log, np.sqrt: sqrt, np.tanh: tanh,
    np.sin: sin, np.cos: cos, np.less: lt, np.less_equal: le, np.greater: gt, np.greater_equal: ge, np.equal: eq, np.not_equal: ne,
}  # fmt: skip
