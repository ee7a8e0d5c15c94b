"""LSTM: a memory cell that gates write, keep and read; one step, and a whole sequence in one op.

Source: S. Hochreiter, J. Schmidhuber, Long Short-Term Memory, Neural Computation 9 (1997) 1735-1780; with the forget gate of
F. A. Gers, J. Schmidhuber, F. Cummins, 2000. Gates stand in PyTorch's order: input, forget, candidate, output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..function import Function
from .dtype import wide
from .recurrent import added, inputs, need_fit, rows, sums

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class LSTMState(NamedTuple):
    """The hidden state, which the layer gives out, and the cell behind it."""

    h: Tensor
    c: Tensor


def _sigmoid(z: Array) -> Array:
    return 0.5 * xp_of(z).tanh(0.5 * z) + 0.5


def _step(z: Array, c: Array) -> tuple[Array, Array]:
    """One step as printed: from the sums z of the four gates, (batch, 4 hidden), and the cell."""
    xp, n = xp_of(z), c.shape[-1]
    i, f, g, o = [z[:, k * n : (k + 1) * n] for k in range(4)]
    c = _sigmoid(f) * c + _sigmoid(i) * xp.tanh(g)
    return _sigmoid(o) * xp.tanh(c), c


def _squares(n: int, like: Array) -> tuple[Array, Array]:
    """Per column of the gates, 1/2 where it is a sigmoid and 1 where it is a tanh; and 1 less that.

    sigmoid(z) = tanh(z / 2) / 2 + 1/2: with these all four gates are one tanh, one product and one sum.
    """
    half = xp_of(like).full(4 * n, 0.5, dtype=like.dtype)
    half[2 * n : 3 * n] = 1.0
    return half, 1 - half


class LSTM(Function):
    """i, f, o = sigmoid(z), g = tanh(z), z = W x + U h + b, c' = f c + i g, h' = o tanh(c');  dz from the last step on, dW = sum of dz x^T.

    Gives (2, time + 1, batch, hidden): h and c, before the first step and after every step.
    """

    latex = (
        r"\begin{aligned} &i, f, o = \sigma(z), \quad g = \tanh(z), \quad z = W x_t + U h_{t-1} + b \\ "
        r"&c_t = f c_{t-1} + i g, \quad h_t = o \tanh c_t \\ "
        r"&\bar c_t \mathrel{+}= \bar h_t\, o\,(1 - \tanh^2 c_t), \quad \bar z = (\bar c_t g\, i', \bar c_t c_{t-1} f', "
        r"\bar c_t i\, g', \bar h_t \tanh c_t\, o') \\ "
        r"&\bar c_{t-1} = \bar c_t f, \quad \bar h_{t-1} = U^\top \bar z, \quad \bar W = \sum_t \bar z x_t^\top, \quad "
        r"\bar U = \sum_t \bar z h_{t-1}^\top, \quad \bar b = \sum_t \bar z \end{aligned}"
    )
    kind = "matmul"
    cases = (
        Case(Draw((3, 2, 3)), Draw((2, 2)), Draw((2, 2)), Draw((8, 3)), Draw((8, 2)), Draw((8,)), Draw((8,))),
        Case(Draw((2, 1, 1)), Draw((1, 2)), Draw((1, 2)), Draw((8, 1)), Draw((8, 2))),
        Case(Draw((0, 2, 1)), Draw((2, 1)), Draw((2, 1)), Draw((4, 1)), Draw((4, 1)), Draw((4,)), Draw((4,))),
        Case(Draw((2, 0, 1)), Draw((0, 1)), Draw((0, 1)), Draw((4, 1)), Draw((4, 1)), Draw((4,)), Draw((4,))),
    )
    fresh = True
    by_reference = True  # the loop works in place

    @staticmethod
    def reference(x: Array, h: Array, c: Array, w_ih: Array, w_hh: Array, b_ih: Any = 0.0, b_hh: Any = 0.0) -> Array:
        """The formula as printed, step by step."""
        xp = xp_of(x)
        hs, cs = [h], [c]
        for t in range(x.shape[0]):
            z = x[t] @ w_ih.T + b_ih + hs[-1] @ w_hh.T + b_hh
            h, c = _step(z, cs[-1])
            hs.append(h)
            cs.append(c)
        return xp.stack((xp.stack(hs), xp.stack(cs)))

    def forward(self, x: Array, h: Array, c: Array, w_ih: Array, w_hh: Array, b_ih: Any = None, b_hh: Any = None) -> Array:
        need_fit("lstm", 4, 3, x, {"h": h, "c": c}, w_ih, w_hh, b_ih, b_hh)
        xp, dtype, (time, batch, n) = xp_of(x), x.dtype, (*x.shape[:2], h.shape[1])
        x, w_ih, self.w_hh = wide(x), wide(w_ih), wide(w_hh)
        self.x, self.w_ih = rows(x), w_ih
        # All products with x are one; a step multiplies only by h, and works in place.
        half, rest = _squares(n, x)
        gates = self.x @ (w_ih.T * half)
        if b_ih is not None:
            gates += added(b_ih, b_hh) * half
        u = self.w_hh.T * half
        self.gates = gates = gates.reshape((time, batch, 4 * n))
        self.states = states = xp.empty((2, time + 1, batch, n), dtype=x.dtype)
        self.tanh_c = xp.empty((time, batch, n), dtype=x.dtype)
        hs, cs = states
        hs[0], cs[0] = h, c
        product, written = xp.empty((batch, 4 * n), dtype=x.dtype), xp.empty((batch, n), dtype=x.dtype)
        for t in range(time):
            a, c, tanh_c = gates[t], cs[t + 1], self.tanh_c[t]
            xp.matmul(hs[t], u, out=product)
            a += product
            xp.tanh(a, out=a)
            a *= half
            a += rest
            xp.multiply(a[:, n : 2 * n], cs[t], out=c)
            xp.multiply(a[:, :n], a[:, 2 * n : 3 * n], out=written)
            c += written
            xp.tanh(c, out=tanh_c)
            xp.multiply(a[:, 3 * n :], tanh_c, out=hs[t + 1])
        return xp.asarray(states, dtype=dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, needs, (hs, cs), (time, batch, n) = xp_of(g), self.needs, self.states, self.tanh_c.shape
        half, rest = _squares(n, hs)
        gh, gc = wide(g)
        dh, dc = xp.array(gh[time]), xp.array(gc[time])
        dz = xp.empty((time, batch, 4 * n), dtype=hs.dtype)
        slope, part = xp.empty((batch, 4 * n), dtype=hs.dtype), xp.empty((batch, n), dtype=hs.dtype)
        linear, constant = 2 * rest, 2 * half - 1  # the slope of sigmoid is s - s^2, that of tanh 1 - g^2
        for t in range(time - 1, -1, -1):
            a, d, tanh_c = self.gates[t], dz[t], self.tanh_c[t]
            xp.multiply(dh, tanh_c, out=d[:, 3 * n :])
            xp.multiply(tanh_c, tanh_c, out=part)
            xp.subtract(1, part, out=part)
            part *= a[:, 3 * n :]
            part *= dh
            dc += part
            xp.multiply(dc, a[:, 2 * n : 3 * n], out=d[:, :n])
            xp.multiply(dc, cs[t], out=d[:, n : 2 * n])
            xp.multiply(dc, a[:, :n], out=d[:, 2 * n : 3 * n])
            xp.subtract(linear, a, out=slope)
            slope *= a
            slope += constant
            d *= slope
            dc *= a[:, n : 2 * n]
            dc += gc[t]
            xp.matmul(d, self.w_hh, out=dh)
            dh += gh[t]
        flat = rows(dz)
        dx = (flat @ self.w_ih).reshape((time, batch, self.w_ih.shape[1])) if needs[0] else None
        dw = flat.T @ self.x if needs[3] else None
        du = flat.T @ rows(hs[:-1]) if needs[4] else None
        return dx, dh if needs[1] else None, dc if needs[2] else None, dw, du, *sums(flat, needs[5:])


def lstm(
    input: TensorLike,
    hx: tuple[TensorLike, TensorLike],
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
) -> LSTMState:
    """Run one layer of LSTM over a sequence, in one direction; gives h and c after every step, the last of which are `[-1]`.

    What a sequence shorter than the others ends with is at its own last step: later steps don't reach back.

    Shapes: input: (time, batch, feature), hx: h and c, (batch, hidden) each, w_ih: (4 hidden, feature), w_hh: (4 hidden, hidden),
        biases: (4 hidden), y: h and c, (time, batch, hidden) each

    Raises:
        ShapeError: the shapes don't go together.
        DTypeError: not floats, or of several kinds.

    >>> one = [[1.0]] * 4
    >>> lstm([[[1.0]], [[1.0]]], ([[0.0]], [[0.0]]), one, one).h.data.round(3).ravel()
    array([0.37 , 0.651], dtype=float32)
    """
    states = LSTM.apply(*inputs(input, *hx, w_ih, w_hh, biases=(b_ih, b_hh)))
    return LSTMState(states[0, 1:], states[1, 1:])


class LSTMCell(Function):
    """One step: c' = f c + i g, h' = o tanh(c'), (2, batch, hidden);  dz = (dc g i', dc c f', dc i g', dh tanh(c') o'), dW = dz^T x."""

    latex = (
        r"c' = f c + i g, \quad h' = o \tanh c', \quad i, f, o = \sigma(z), \quad g = \tanh z, \quad z = W x + U h + b, \quad "
        r"\bar x = W^\top \bar z, \quad \bar h = U^\top \bar z, \quad \bar c = \bar c' f"
    )
    kind = "matmul"
    cases = (
        Case(Draw((2, 3)), Draw((2, 2)), Draw((2, 2)), Draw((8, 3)), Draw((8, 2)), Draw((8,)), Draw((8,))),
        Case(Draw((1, 1)), Draw((1, 2)), Draw((1, 2)), Draw((8, 1)), Draw((8, 2))),
        Case(Draw((0, 1)), Draw((0, 1)), Draw((0, 1)), Draw((4, 1)), Draw((4, 1)), Draw((4,)), Draw((4,))),
    )
    fresh = True

    @staticmethod
    def reference(x: Array, h: Array, c: Array, w_ih: Array, w_hh: Array, b_ih: Any = 0.0, b_hh: Any = 0.0) -> Array:
        """The formula as printed."""
        xp = xp_of(x)
        return xp.stack(_step(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh, c))

    def forward(self, x: Array, h: Array, c: Array, w_ih: Array, w_hh: Array, b_ih: Any = None, b_hh: Any = None) -> Array:
        need_fit("lstm_cell", 4, 2, x, {"h": h, "c": c}, w_ih, w_hh, b_ih, b_hh)
        xp, dtype, n = xp_of(x), x.dtype, h.shape[1]
        self.given = x, h, c, w_ih, w_hh = [wide(a) for a in (x, h, c, w_ih, w_hh)]
        z = x @ w_ih.T
        z += h @ w_hh.T
        if b_ih is not None:
            z += added(b_ih, b_hh)
        half, rest = _squares(n, z)
        z *= half
        self.a = a = xp.tanh(z, out=z)
        a *= half
        a += rest
        c = a[:, n : 2 * n] * c + a[:, :n] * a[:, 2 * n : 3 * n]
        self.tanh_c = xp.tanh(c)
        return xp.asarray(xp.stack((a[:, 3 * n :] * self.tanh_c, c)), dtype=dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, needs, (x, h, c, w_ih, w_hh), a = xp_of(g), self.needs, self.given, self.a
        n = c.shape[1]
        half, rest = _squares(n, a)
        i, f, candidate, o = [a[:, k * n : (k + 1) * n] for k in range(4)]
        dh, dc = wide(g)
        dc = dc + dh * o * (1 - self.tanh_c * self.tanh_c)
        dz = xp.concatenate((dc * candidate, dc * c, dc * i, dh * self.tanh_c), axis=1)
        dz *= (2 * rest - a) * a + (2 * half - 1)
        return (
            dz @ w_ih if needs[0] else None,
            dz @ w_hh if needs[1] else None,
            dc * f if needs[2] else None,
            dz.T @ x if needs[3] else None,
            dz.T @ h if needs[4] else None,
            *sums(dz, needs[5:]),
        )


def lstm_cell(
    input: TensorLike,
    hx: tuple[TensorLike, TensorLike],
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
) -> LSTMState:
    """Take one step of LSTM.

    Shapes: input: (batch, feature), hx: h and c, (batch, hidden) each, w_ih: (4 hidden, feature), w_hh: (4 hidden, hidden),
        biases: (4 hidden), y: h and c, (batch, hidden) each

    Raises:
        ShapeError: the shapes don't go together.
        DTypeError: not floats, or of several kinds.

    >>> h, c = lstm_cell([[1.0]], ([[0.0]], [[2.0]]), [[1.0]] * 4, [[1.0]] * 4)
    >>> c.data.round(3)
    array([[2.019]], dtype=float32)
    """
    states = LSTMCell.apply(*inputs(input, *hx, w_ih, w_hh, biases=(b_ih, b_hh)))
    return LSTMState(states[0], states[1])
