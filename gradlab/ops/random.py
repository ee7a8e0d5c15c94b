"""Ops that draw random numbers, from gradlab's own generator (`gl.manual_seed`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, as_array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .argument import not_in_place
from .draw import kept_at_random
from .dtype import need_floats

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike

CASES = (
    Case(Draw((3, 4)), p=0.0),
    Case(Draw((2, 3, 4)), p=1.0),
    Case(Draw(()), p=0.0),
    Case(Draw((0, 3)), p=0.5),
    Case(Draw((2, 3, 4)), p=1.0, drawn=2),
)


def _places(x: Array, drawn: int | None) -> tuple[int, ...]:
    """Where numbers are drawn: everywhere, or once for what stands behind the first `drawn` axes."""
    return x.shape if drawn is None else (*x.shape[:drawn], *[1] * (x.ndim - drawn))


class Dropout(Function):
    """y = m x with m = 0 at probability p, else 1 / (1 - p);  dx = g m."""

    latex = r"y = m\,x, \quad m \in \left\{0, \tfrac{1}{1-p}\right\}, \quad \bar x = \bar y\, m"
    cases = CASES
    reads = ()
    fresh = True
    mask: Array | None = None

    def forward(self, x: Array, p: float, drawn: int | None = None) -> Array:
        if self.mask is None:  # a node that runs again keeps what it drew
            need_floats("dropout", x)
            self.mask = kept_at_random(x, _places(x, drawn), p, 1 / (1 - p) if p < 1 else 0.0)
        return x * self.mask

    def backward(self, g: Array) -> Array:
        return g * self.mask


def dropout(input: TensorLike, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set entries to 0 with probability `p` and scale the others by 1 / (1 - p), so that the mean stays; the identity unless `training`.

    Shapes: input: (*), y: (*)

    Raises:
        ArgumentError: `p` is no probability.
        KeywordError: `inplace` is asked for.

    >>> dropout([1.0, 2.0], p=1.0).data
    array([0., 0.], dtype=float32)
    >>> dropout([1.0, 2.0], p=0.5, training=False).data
    array([1., 2.], dtype=float32)
    """
    not_in_place("dropout", inplace)
    return _dropped(Dropout, "dropout", input, p, training)


def _dropped(op: type[Function], name: str, x: Any, p: float, training: bool, ndims: tuple[int, ...] = ()) -> Tensor:
    """`op` where there is something to drop; of whole channels where the numbers of axes that have them are given.

    The channels are the second axis; the first if there are the fewest axes.
    """
    if not (isinstance(p, (int, float)) and 0.0 <= p <= 1.0):
        raise ArgumentError(explain(f"{name}: p is the probability to drop an entry", got={"p": p}, need="a number from 0 to 1"))
    tensor = hasattr(x, "grad_fn")
    if tensor and not ndims and not (training and p):
        return x  # nothing to do, so no step
    p = p if training else 0.0
    if not ndims:
        return op.apply(x, p=p)
    x = x if tensor else as_array(x)
    if len(x.shape) not in ndims:
        need = " or ".join(f"{n} axes" for n in ndims)
        raise ShapeError(explain(f"{name}: these axes are not a batch of channels", got={"x": x.shape}, need=need))
    if tensor and not p:
        return x
    return op.apply(x, p=p, drawn=1 if len(x.shape) == ndims[0] and len(ndims) > 1 else 2)


def dropout1d(input: TensorLike, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drop whole channels of sequences, with probability `p` each: neighbours in one channel say much the same.

    Shapes: input: (batch, channel, length) or (channel, length), y: as input

    Raises:
        ArgumentError: `p` is no probability.
        KeywordError: `inplace` is asked for.
        ShapeError: `input` has another number of axes.

    >>> dropout1d([[1.0, 2.0]], p=1.0).data
    array([[0., 0.]], dtype=float32)
    """
    not_in_place("dropout1d", inplace)
    return _dropped(Dropout, "dropout1d", input, p, training, (2, 3))


def dropout2d(input: TensorLike, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drop whole channels of images, with probability `p` each. Three axes are a batch of sequences, as in PyTorch.

    Shapes: input: (batch, channel, height, width) or (batch, channel, length), y: as input

    Raises:
        ArgumentError: `p` is no probability.
        KeywordError: `inplace` is asked for.
        ShapeError: `input` has another number of axes.

    >>> dropout2d([[[[1.0, 2.0]]]], p=1.0).data
    array([[[[0., 0.]]]], dtype=float32)
    """
    not_in_place("dropout2d", inplace)
    if len(getattr(input, "shape", ())) == 3:
        return _dropped(Dropout, "dropout2d", input, p, training, (3,))
    return _dropped(Dropout, "dropout2d", input, p, training, (4,))


def dropout3d(input: TensorLike, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Drop whole channels of volumes, with probability `p` each.

    Shapes: input: (batch, channel, depth, height, width) or (channel, depth, height, width), y: as input

    Raises:
        ArgumentError: `p` is no probability.
        KeywordError: `inplace` is asked for.
        ShapeError: `input` has another number of axes.

    >>> dropout3d([[[[[1.0, 2.0]]]]], p=1.0).data
    array([[[[[0., 0.]]]]], dtype=float32)
    """
    not_in_place("dropout3d", inplace)
    return _dropped(Dropout, "dropout3d", input, p, training, (4, 5))


LOWEST = -1.7580993408473766  # what SELU tends to at -inf


class AlphaDropout(Function):
    """y = a (m x + (1 - m) c) + b with m = 0 at probability p, else 1, a and b such that mean 0 and variance 1 stay;  dx = g a m.

    c is what SELU tends to at -inf.

    Source: G. Klambauer et al., Self-Normalizing Neural Networks, 2017, arXiv:1706.02515, section 2.
    """

    latex = (r"y = a\,(m x + (1 - m)\,c) + b, \quad a = \frac{1}{\sqrt{(1 - p)(1 + p c^2)}}, \quad b = -a p c, \quad "
             r"\bar x = \bar y\, a\, m")  # fmt: skip
    cases = CASES
    reads = ()
    fresh = True
    mask: Array | None = None

    def forward(self, x: Array, p: float, drawn: int | None = None) -> Array:
        a = ((1 - p) * (1 + p * LOWEST * LOWEST)) ** -0.5 if p < 1 else 0.0
        if self.mask is None:
            need_floats("alpha_dropout", x)
            self.mask = kept_at_random(x, _places(x, drawn), p, a)
        return xp_of(x).asarray(x * self.mask + ((self.mask == 0) * (a * LOWEST) - a * p * LOWEST), dtype=x.dtype)

    def backward(self, g: Array) -> Array:
        return g * self.mask


def alpha_dropout(input: TensorLike, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Drop entries so that mean 0 and variance 1 stay: for networks with SELU. The identity unless `training`.

    Shapes: input: (*), y: (*)

    Raises:
        ArgumentError: `p` is no probability.
        KeywordError: `inplace` is asked for.

    >>> alpha_dropout([1.0, 2.0], p=0.5).data
    array([1., 2.], dtype=float32)
    """
    not_in_place("alpha_dropout", inplace)
    return _dropped(AlphaDropout, "alpha_dropout", input, p, training)


def feature_alpha_dropout(input: TensorLike, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Drop whole channels as `alpha_dropout` drops entries.

    Shapes: input: (batch, channel, *), y: as input

    Raises:
        ArgumentError: `p` is no probability.
        KeywordError: `inplace` is asked for.
        ShapeError: `input` has no channels.

    >>> feature_alpha_dropout([[1.0, 2.0]], p=0.5).data
    array([[1., 2.]], dtype=float32)
    """
    not_in_place("feature_alpha_dropout", inplace)
    n = max(len(input.shape if hasattr(input, "shape") else as_array(input).shape), 2)  # type: ignore[union-attr]
    return _dropped(AlphaDropout, "feature_alpha_dropout", input, p, training, (n,))
