"""Deep learning from scratch on NumPy and CuPy, made to be looked into."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import autograd as autograd
from . import ops as ops
from ._tensor import Tensor as Tensor
from ._version import __version__ as __version__
from .backend import Device as device  # noqa: N813
from .backend import bool_ as bool  # noqa: A004
from .backend import cuda as cuda
from .backend import float16 as float16
from .backend import float32 as float32
from .backend import float64 as float64
from .backend import get_rng_state as get_rng_state
from .backend import int8 as int8
from .backend import int16 as int16
from .backend import int32 as int32
from .backend import int64 as int64
from .backend import manual_seed as manual_seed
from .backend import set_rng_state as set_rng_state
from .backend import uint8 as uint8
from .create import arange as arange
from .create import as_tensor as as_tensor
from .create import empty as empty
from .create import empty_like as empty_like
from .create import eye as eye
from .create import from_dlpack as from_dlpack
from .create import from_numpy as from_numpy
from .create import full as full
from .create import full_like as full_like
from .create import linspace as linspace
from .create import logspace as logspace
from .create import ones as ones
from .create import ones_like as ones_like
from .create import rand as rand
from .create import rand_like as rand_like
from .create import randint as randint
from .create import randint_like as randint_like
from .create import randn as randn
from .create import randn_like as randn_like
from .create import randperm as randperm
from .create import tensor as tensor
from .create import zeros as zeros
from .create import zeros_like as zeros_like
from .errors import AnomalyError as AnomalyError
from .errors import ArgumentError as ArgumentError
from .errors import DataError as DataError
from .errors import DeviceError as DeviceError
from .errors import DimError as DimError
from .errors import DTypeError as DTypeError
from .errors import GradcheckError as GradcheckError
from .errors import GradlabError as GradlabError
from .errors import GraphError as GraphError
from .errors import KeywordError as KeywordError
from .errors import LabelError as LabelError
from .errors import ShapeError as ShapeError
from .errors import StateError as StateError
from .function import Function as Function
from .grad_mode import enable_grad as enable_grad
from .grad_mode import inference_mode as inference_mode
from .grad_mode import is_grad_enabled as is_grad_enabled
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .ops import abs as abs  # noqa: A004
from .ops import absolute as absolute
from .ops import acos as acos
from .ops import acosh as acosh
from .ops import adaptive_avg_pool1d as adaptive_avg_pool1d
from .ops import adaptive_avg_pool2d as adaptive_avg_pool2d
from .ops import adaptive_avg_pool3d as adaptive_avg_pool3d
from .ops import adaptive_max_pool1d as adaptive_max_pool1d
from .ops import adaptive_max_pool2d as adaptive_max_pool2d
from .ops import adaptive_max_pool3d as adaptive_max_pool3d
from .ops import add as add
from .ops import addcdiv as addcdiv
from .ops import addcmul as addcmul
from .ops import addmm as addmm
from .ops import addmv as addmv
from .ops import all as all  # noqa: A004
from .ops import allclose as allclose
from .ops import alpha_dropout as alpha_dropout
from .ops import amax as amax
from .ops import amin as amin
from .ops import aminmax as aminmax
from .ops import any as any  # noqa: A004
from .ops import arccos as arccos
from .ops import arccosh as arccosh
from .ops import arcsin as arcsin
from .ops import arcsinh as arcsinh
from .ops import arctan as arctan
from .ops import arctan2 as arctan2
from .ops import arctanh as arctanh
from .ops import argmax as argmax
from .ops import argmin as argmin
from .ops import argsort as argsort
from .ops import argwhere as argwhere
from .ops import asin as asin
from .ops import asinh as asinh
from .ops import atan as atan
from .ops import atan2 as atan2
from .ops import atanh as atanh
from .ops import atleast_1d as atleast_1d
from .ops import atleast_2d as atleast_2d
from .ops import atleast_3d as atleast_3d
from .ops import avg_pool1d as avg_pool1d
from .ops import avg_pool2d as avg_pool2d
from .ops import avg_pool3d as avg_pool3d
from .ops import baddbmm as baddbmm
from .ops import batch_norm as batch_norm
from .ops import bernoulli as bernoulli
from .ops import bilinear as bilinear
from .ops import binary_cross_entropy as binary_cross_entropy
from .ops import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from .ops import bincount as bincount
from .ops import bitwise_and as bitwise_and
from .ops import bitwise_left_shift as bitwise_left_shift
from .ops import bitwise_not as bitwise_not
from .ops import bitwise_or as bitwise_or
from .ops import bitwise_right_shift as bitwise_right_shift
from .ops import bitwise_xor as bitwise_xor
from .ops import block_diag as block_diag
from .ops import bmm as bmm
from .ops import broadcast_tensors as broadcast_tensors
from .ops import broadcast_to as broadcast_to
from .ops import bucketize as bucketize
from .ops import cartesian_prod as cartesian_prod
from .ops import cast as cast
from .ops import cat as cat
from .ops import cdist as cdist
from .ops import ceil as ceil
from .ops import celu as celu
from .ops import chain_matmul as chain_matmul
from .ops import channel_shuffle as channel_shuffle
from .ops import chunk as chunk
from .ops import clamp as clamp
from .ops import clamp_max as clamp_max
from .ops import clamp_min as clamp_min
from .ops import clip as clip
from .ops import clone as clone
from .ops import column_stack as column_stack
from .ops import concat as concat
from .ops import concatenate as concatenate
from .ops import contiguous as contiguous
from .ops import conv1d as conv1d
from .ops import conv2d as conv2d
from .ops import conv3d as conv3d
from .ops import conv_transpose1d as conv_transpose1d
from .ops import conv_transpose2d as conv_transpose2d
from .ops import conv_transpose3d as conv_transpose3d
from .ops import copysign as copysign
from .ops import cos as cos
from .ops import cosh as cosh
from .ops import cosine_embedding_loss as cosine_embedding_loss
from .ops import cosine_similarity as cosine_similarity
from .ops import count_nonzero as count_nonzero
from .ops import cross as cross
from .ops import cross_entropy as cross_entropy
from .ops import cummax as cummax
from .ops import cummin as cummin
from .ops import cumprod as cumprod
from .ops import cumsum as cumsum
from .ops import cumulative_trapezoid as cumulative_trapezoid
from .ops import deg2rad as deg2rad
from .ops import diag as diag
from .ops import diag_embed as diag_embed
from .ops import diagonal as diagonal
from .ops import diff as diff
from .ops import digamma as digamma
from .ops import div as div
from .ops import divide as divide
from .ops import dot as dot
from .ops import dropout as dropout
from .ops import dropout1d as dropout1d
from .ops import dropout2d as dropout2d
from .ops import dropout3d as dropout3d
from .ops import dstack as dstack
from .ops import einsum as einsum
from .ops import elu as elu
from .ops import embedding as embedding
from .ops import embedding_bag as embedding_bag
from .ops import eq as eq
from .ops import equal as equal
from .ops import erf as erf
from .ops import erfc as erfc
from .ops import erfinv as erfinv
from .ops import exp as exp
from .ops import exp2 as exp2
from .ops import expand as expand
from .ops import expand_as as expand_as
from .ops import expit as expit
from .ops import expm1 as expm1
from .ops import feature_alpha_dropout as feature_alpha_dropout
from .ops import fix as fix
from .ops import flatten as flatten
from .ops import flip as flip
from .ops import fliplr as fliplr
from .ops import flipud as flipud
from .ops import float_power as float_power
from .ops import floor as floor
from .ops import floor_divide as floor_divide
from .ops import fmax as fmax
from .ops import fmin as fmin
from .ops import fmod as fmod
from .ops import fold as fold
from .ops import frac as frac
from .ops import gather as gather
from .ops import gaussian_nll_loss as gaussian_nll_loss
from .ops import ge as ge
from .ops import gelu as gelu
from .ops import getitem as getitem
from .ops import glu as glu
from .ops import greater as greater
from .ops import greater_equal as greater_equal
from .ops import group_norm as group_norm
from .ops import gru as gru
from .ops import gru_cell as gru_cell
from .ops import gt as gt
from .ops import gumbel_softmax as gumbel_softmax
from .ops import hardshrink as hardshrink
from .ops import hardsigmoid as hardsigmoid
from .ops import hardswish as hardswish
from .ops import hardtanh as hardtanh
from .ops import heaviside as heaviside
from .ops import hinge_embedding_loss as hinge_embedding_loss
from .ops import histc as histc
from .ops import hstack as hstack
from .ops import huber_loss as huber_loss
from .ops import hypot as hypot
from .ops import index_add as index_add
from .ops import index_copy as index_copy
from .ops import index_fill as index_fill
from .ops import index_put as index_put
from .ops import index_select as index_select
from .ops import inner as inner
from .ops import instance_norm as instance_norm
from .ops import isclose as isclose
from .ops import isfinite as isfinite
from .ops import isin as isin
from .ops import isinf as isinf
from .ops import isnan as isnan
from .ops import isneginf as isneginf
from .ops import isposinf as isposinf
from .ops import kl_div as kl_div
from .ops import kron as kron
from .ops import kthvalue as kthvalue
from .ops import l1_loss as l1_loss
from .ops import layer_norm as layer_norm
from .ops import le as le
from .ops import leaky_relu as leaky_relu
from .ops import lerp as lerp
from .ops import less as less
from .ops import less_equal as less_equal
from .ops import lgamma as lgamma
from .ops import linear as linear
from .ops import local_response_norm as local_response_norm
from .ops import log as log
from .ops import log1p as log1p
from .ops import log2 as log2
from .ops import log10 as log10
from .ops import log_softmax as log_softmax
from .ops import logaddexp as logaddexp
from .ops import logaddexp2 as logaddexp2
from .ops import logcumsumexp as logcumsumexp
from .ops import logical_and as logical_and
from .ops import logical_not as logical_not
from .ops import logical_or as logical_or
from .ops import logical_xor as logical_xor
from .ops import logit as logit
from .ops import logsigmoid as logsigmoid
from .ops import logsumexp as logsumexp
from .ops import lp_pool1d as lp_pool1d
from .ops import lp_pool2d as lp_pool2d
from .ops import lp_pool3d as lp_pool3d
from .ops import lstm as lstm
from .ops import lstm_cell as lstm_cell
from .ops import lt as lt
from .ops import margin_ranking_loss as margin_ranking_loss
from .ops import masked_fill as masked_fill
from .ops import masked_scatter as masked_scatter
from .ops import masked_select as masked_select
from .ops import matmul as matmul
from .ops import max as max  # noqa: A004
from .ops import max_pool1d as max_pool1d
from .ops import max_pool2d as max_pool2d
from .ops import max_pool3d as max_pool3d
from .ops import maximum as maximum
from .ops import mean as mean
from .ops import median as median
from .ops import meshgrid as meshgrid
from .ops import min as min  # noqa: A004
from .ops import minimum as minimum
from .ops import mish as mish
from .ops import mm as mm
from .ops import moveaxis as moveaxis
from .ops import movedim as movedim
from .ops import mse_loss as mse_loss
from .ops import msort as msort
from .ops import mul as mul
from .ops import multi_margin_loss as multi_margin_loss
from .ops import multilabel_margin_loss as multilabel_margin_loss
from .ops import multilabel_soft_margin_loss as multilabel_soft_margin_loss
from .ops import multinomial as multinomial
from .ops import multiply as multiply
from .ops import mv as mv
from .ops import nan_to_num as nan_to_num
from .ops import nanmean as nanmean
from .ops import nanmedian as nanmedian
from .ops import nanquantile as nanquantile
from .ops import nansum as nansum
from .ops import narrow as narrow
from .ops import ne as ne
from .ops import neg as neg
from .ops import negative as negative
from .ops import nll_loss as nll_loss
from .ops import nonzero as nonzero
from .ops import norm as norm
from .ops import normal as normal
from .ops import normalize as normalize
from .ops import not_equal as not_equal
from .ops import one_hot as one_hot
from .ops import outer as outer
from .ops import pad as pad
from .ops import pairwise_distance as pairwise_distance
from .ops import permute as permute
from .ops import pixel_shuffle as pixel_shuffle
from .ops import pixel_unshuffle as pixel_unshuffle
from .ops import poisson as poisson
from .ops import poisson_nll_loss as poisson_nll_loss
from .ops import positive as positive
from .ops import pow as pow  # noqa: A004
from .ops import prelu as prelu
from .ops import prod as prod
from .ops import put as put
from .ops import quantile as quantile
from .ops import rad2deg as rad2deg
from .ops import ravel as ravel
from .ops import reciprocal as reciprocal
from .ops import relu as relu
from .ops import relu6 as relu6
from .ops import remainder as remainder
from .ops import repeat as repeat
from .ops import repeat_interleave as repeat_interleave
from .ops import reshape as reshape
from .ops import reshape_as as reshape_as
from .ops import rms_norm as rms_norm
from .ops import rnn as rnn
from .ops import rnn_relu_cell as rnn_relu_cell
from .ops import rnn_tanh_cell as rnn_tanh_cell
from .ops import roll as roll
from .ops import rot90 as rot90
from .ops import round as round  # noqa: A004
from .ops import rrelu as rrelu
from .ops import rsqrt as rsqrt
from .ops import scaled_dot_product_attention as scaled_dot_product_attention
from .ops import scatter as scatter
from .ops import scatter_add as scatter_add
from .ops import scatter_reduce as scatter_reduce
from .ops import searchsorted as searchsorted
from .ops import select as select
from .ops import selu as selu
from .ops import set_index as set_index
from .ops import sgn as sgn
from .ops import sigmoid as sigmoid
from .ops import sign as sign
from .ops import signbit as signbit
from .ops import silu as silu
from .ops import sin as sin
from .ops import sinc as sinc
from .ops import sinh as sinh
from .ops import smooth_l1_loss as smooth_l1_loss
from .ops import soft_margin_loss as soft_margin_loss
from .ops import softmax as softmax
from .ops import softmin as softmin
from .ops import softplus as softplus
from .ops import softshrink as softshrink
from .ops import softsign as softsign
from .ops import sort as sort
from .ops import split as split
from .ops import sqrt as sqrt
from .ops import square as square
from .ops import squeeze as squeeze
from .ops import stack as stack
from .ops import std as std
from .ops import std_mean as std_mean
from .ops import sub as sub
from .ops import subtract as subtract
from .ops import sum as sum  # noqa: A004
from .ops import swapaxes as swapaxes
from .ops import swapdims as swapdims
from .ops import t as t
from .ops import take as take
from .ops import take_along_dim as take_along_dim
from .ops import tan as tan
from .ops import tanh as tanh
from .ops import tanhshrink as tanhshrink
from .ops import tensor_split as tensor_split
from .ops import tensordot as tensordot
from .ops import threshold as threshold
from .ops import tile as tile
from .ops import to as to
from .ops import topk as topk
from .ops import trace as trace
from .ops import transpose as transpose
from .ops import trapezoid as trapezoid
from .ops import tril as tril
from .ops import tril_indices as tril_indices
from .ops import triplet_margin_loss as triplet_margin_loss
from .ops import triu as triu
from .ops import triu_indices as triu_indices
from .ops import true_divide as true_divide
from .ops import trunc as trunc
from .ops import unbind as unbind
from .ops import unflatten as unflatten
from .ops import unfold as unfold
from .ops import unfold_copy as unfold_copy
from .ops import unique as unique
from .ops import unique_consecutive as unique_consecutive
from .ops import unsqueeze as unsqueeze
from .ops import var as var
from .ops import var_mean as var_mean
from .ops import view as view
from .ops import view_as as view_as
from .ops import vstack as vstack
from .ops import where as where
from .ops import xlogy as xlogy

if TYPE_CHECKING:
    from . import data as data
    from . import nn as nn
    from . import notebook as notebook
    from . import optim as optim
    from . import sim as sim
    from . import testing as testing
    from . import trace as trace

_PARTS = ("nn", "optim", "data", "sim", "testing", "trace", "notebook")


def __getattr__(name: str) -> Any:
    """Load a part of gradlab when it is first used, so that importing gradlab starts no tracer and no notebook."""
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"gradlab has no {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PARTS})


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext gradlab`: trace this kernel and open the inspector."""
    importlib.import_module(f"{__name__}.notebook").load_ipython_extension(ipython)


def unload_ipython_extension(ipython: Any) -> None:
    """`%unload_ext gradlab`: stop tracing and close the inspector."""
    importlib.import_module(f"{__name__}.notebook").unload_ipython_extension(ipython)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "gradlab"}]
