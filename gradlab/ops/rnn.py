"""The plain recurrent layer: one step, and a whole sequence in one op.

Source: J. L. Elman, Finding Structure in Time, Cognitive Science 14 (1990) 179-211.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, explain
from ..function import Function
from .dtype import wide
from .recurrent import added, inputs, need_fit, rows, sums

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _bent(z: Array, relu: bool) -> Array:
    return xp_of(z).maximum(z, 0.0) if relu else xp_of(z).tanh(z)


def _unbent(d: Array, h: Array, relu: bool) -> Array:
    """The gradient before the nonlinearity from that behind it, and what came out of it."""
    return d * (h > 0) if relu else d * (1 - h * h)


class RNN(Function):
    """h' = f(W x + U h + b), f tanh or relu;  dz = dh f'(z), dh = U^T dz, dW = sum of dz x^T, dU = sum of dz h^T, db = sum of dz.

    Gives (time + 1, batch, hidden): h before the first step and after every step.
    """

    latex = (
        r"h_t = f(W x_t + U h_{t-1} + b), \quad \bar z_t = \bar h_t\, f'(z_t), \quad \bar h_{t-1} \mathrel{+}= U^\top \bar z_t, \quad "
        r"\bar x_t = W^\top \bar z_t, \quad \bar W = \sum_t \bar z_t x_t^\top, \quad \bar U = \sum_t \bar z_t h_{t-1}^\top"
    )
    kind = "matmul"
    cases = (
        Case(Draw((3, 2, 3)), Draw((2, 2)), Draw((2, 3)), Draw((2, 2)), Draw((2,)), Draw((2,))),
        Case(Draw((3, 2, 1)), Draw((2, 3)), Draw((3, 1)), Draw((3, 3)), Draw((3,)), Draw((3,)), relu=True),
        Case(Draw((2, 1, 2)), Draw((1, 2)), Draw((2, 2)), Draw((2, 2))),
        Case(Draw((0, 2, 1)), Draw((2, 1)), Draw((1, 1)), Draw((1, 1)), Draw((1,)), Draw((1,))),
        Case(Draw((2, 0, 1)), Draw((0, 1)), Draw((1, 1)), Draw((1, 1)), Draw((1,)), Draw((1,))),
    )
    fresh = True
    by_reference = True  # the loop works in place

    @staticmethod
    def reference(x: Array, h: Array, w_ih: Array, w_hh: Array, b_ih: Any = 0.0, b_hh: Any = 0.0, *, relu: bool = False) -> Array:
        """The formula as printed, step by step."""
        xp, hs = xp_of(x), [h]
        for t in range(x.shape[0]):
            hs.append(_bent(x[t] @ w_ih.T + b_ih + hs[-1] @ w_hh.T + b_hh, relu))
        return xp.stack(hs)

    def forward(self, x: Array, h: Array, w_ih: Array, w_hh: Array, b_ih: Any = None, b_hh: Any = None, *, relu: bool = False) -> Array:
        need_fit("rnn", 1, 3, x, {"h": h}, w_ih, w_hh, b_ih, b_hh)
        xp, dtype, (time, batch, n) = xp_of(x), x.dtype, (*x.shape[:2], h.shape[1])
        self.w_ih, self.w_hh, self.relu = wide(w_ih), wide(w_hh), relu
        self.x = rows(wide(x))
        # All products with x are one; a step multiplies only by h.
        z = self.x @ self.w_ih.T
        if b_ih is not None:
            z += added(b_ih, b_hh)
        z, u = z.reshape((time, batch, n)), self.w_hh.T
        self.states = hs = xp.empty((time + 1, batch, n), dtype=z.dtype)
        hs[0] = h
        for t in range(time):
            hs[t + 1] = _bent(z[t] + hs[t] @ u, relu)
        return xp.asarray(hs, dtype=dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, needs, hs = xp_of(g), self.needs, self.states
        time, batch, n = hs.shape[0] - 1, hs.shape[1], hs.shape[2]
        g = wide(g)
        dh, dz = xp.array(g[time]), xp.empty((time, batch, n), dtype=hs.dtype)
        for t in range(time - 1, -1, -1):
            dz[t] = _unbent(dh, hs[t + 1], self.relu)
            dh = dz[t] @ self.w_hh + g[t]
        flat = rows(dz)
        return (
            (flat @ self.w_ih).reshape((time, batch, self.w_ih.shape[1])) if needs[0] else None,
            dh if needs[1] else None,
            flat.T @ self.x if needs[2] else None,
            flat.T @ rows(hs[:-1]) if needs[3] else None,
            *sums(flat, needs[4:]),
        )


def rnn(
    input: TensorLike,
    hx: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
    nonlinearity: str = "tanh",
) -> Tensor:
    """Run one plain recurrent layer over a sequence, in one direction; gives h after every step, the last of which is `[-1]`.

    What a sequence shorter than the others ends with is at its own last step: later steps don't reach back.

    Shapes: input: (time, batch, feature), hx: (batch, hidden), w_ih: (hidden, feature), w_hh: (hidden, hidden), biases: (hidden),
        y: (time, batch, hidden)

    Raises:
        ArgumentError: `nonlinearity` is neither "tanh" nor "relu".
        ShapeError: the shapes don't go together.
        DTypeError: not floats, or of several kinds.

    >>> rnn([[[1.0]], [[2.0]]], [[0.0]], [[1.0]], [[1.0]], nonlinearity="relu").tolist()
    [[[1.0]], [[3.0]]]
    """
    if nonlinearity not in ("tanh", "relu"):
        raise ArgumentError(explain("rnn: which nonlinearity?", got={"nonlinearity": repr(nonlinearity)}, need='"tanh" or "relu"'))
    given = inputs(input, hx, w_ih, w_hh, biases=(b_ih, b_hh))
    return (RNN.apply(*given, relu=True) if nonlinearity == "relu" else RNN.apply(*given))[1:]


class RNNCell(Function):
    """h' = f(W x + U h + b), f tanh or relu, (batch, hidden);  dz = g f'(z), dx = dz W, dh = dz U, dW = dz^T x, dU = dz^T h."""

    latex = (
        r"h' = f(z), \quad z = W x + U h + b, \quad \bar z = \bar h'\, f'(z), \quad \bar x = W^\top \bar z, \quad "
        r"\bar h = U^\top \bar z, \quad \bar W = \bar z x^\top, \quad \bar U = \bar z h^\top"
    )
    kind = "matmul"
    cases = (
        Case(Draw((2, 3)), Draw((2, 2)), Draw((2, 3)), Draw((2, 2)), Draw((2,)), Draw((2,))),
        Case(Draw((2, 3)), Draw((2, 2)), Draw((2, 3)), Draw((2, 2)), relu=True),
        Case(Draw((0, 1)), Draw((0, 1)), Draw((1, 1)), Draw((1, 1)), Draw((1,)), Draw((1,))),
    )
    fresh = True

    def forward(self, x: Array, h: Array, w_ih: Array, w_hh: Array, b_ih: Any = None, b_hh: Any = None, *, relu: bool = False) -> Array:
        need_fit("rnn_relu_cell" if relu else "rnn_tanh_cell", 1, 2, x, {"h": h}, w_ih, w_hh, b_ih, b_hh)
        xp, dtype, self.relu = xp_of(x), x.dtype, relu
        self.given = x, h, w_ih, w_hh = [wide(a) for a in (x, h, w_ih, w_hh)]
        z = x @ w_ih.T + h @ w_hh.T
        self.h = _bent(z if b_ih is None else z + added(b_ih, b_hh), relu)
        return xp.asarray(self.h, dtype=dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        needs, (x, h, w_ih, w_hh) = self.needs, self.given
        dz = _unbent(wide(g), self.h, self.relu)
        return (
            dz @ w_ih if needs[0] else None,
            dz @ w_hh if needs[1] else None,
            dz.T @ x if needs[2] else None,
            dz.T @ h if needs[3] else None,
            *sums(dz, needs[4:]),
        )


def rnn_tanh_cell(
    input: TensorLike, hx: TensorLike, w_ih: TensorLike, w_hh: TensorLike, b_ih: TensorLike | None = None, b_hh: TensorLike | None = None
) -> Tensor:
    """Take one step of a plain recurrent layer with tanh.

    Shapes: input: (batch, feature), hx: (batch, hidden), w_ih: (hidden, feature), w_hh: (hidden, hidden), biases: (hidden),
        y: (batch, hidden)

    Raises:
        ShapeError: the shapes don't go together.
        DTypeError: not floats, or of several kinds.

    >>> rnn_tanh_cell([[1.0]], [[2.0]], [[1.0]], [[-0.5]]).tolist()
    [[0.0]]
    """
    return RNNCell.apply(*inputs(input, hx, w_ih, w_hh, biases=(b_ih, b_hh)))


def rnn_relu_cell(
    input: TensorLike, hx: TensorLike, w_ih: TensorLike, w_hh: TensorLike, b_ih: TensorLike | None = None, b_hh: TensorLike | None = None
) -> Tensor:
    """Take one step of a plain recurrent layer with relu.

    Shapes: input: (batch, feature), hx: (batch, hidden), w_ih: (hidden, feature), w_hh: (hidden, hidden), biases: (hidden),
        y: (batch, hidden)

    Raises:
        ShapeError: the shapes don't go together.
        DTypeError: not floats, or of several kinds.

    >>> rnn_relu_cell([[1.0]], [[2.0]], [[1.0]], [[0.5]]).tolist()
    [[2.0]]
    """
    return RNNCell.apply(*inputs(input, hx, w_ih, w_hh, biases=(b_ih, b_hh)), relu=True)
