"""GRU: a state that one gate resets and another keeps; one step, and a whole sequence in one op.

Source: K. Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014, arXiv:1406.1078; as in PyTorch the reset
gate multiplies U h + b, not h. Gates stand in PyTorch's order: reset, update, candidate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, xp_of
from ..cases import Case, Draw
from ..function import Function
from .dtype import wide
from .recurrent import inputs, need_fit, rows, sums

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _sigmoid(z: Array) -> Array:
    return 0.5 * xp_of(z).tanh(0.5 * z) + 0.5


def _step(a: Array, b: Array, h: Array) -> Array:
    """One step as printed: from the sums of the three gates with x and with h, (batch, 3 hidden) each, and the state."""
    n = h.shape[-1]
    r, z = _sigmoid(a[:, :n] + b[:, :n]), _sigmoid(a[:, n : 2 * n] + b[:, n : 2 * n])
    candidate = xp_of(a).tanh(a[:, 2 * n :] + r * b[:, 2 * n :])
    return (1 - z) * candidate + z * h


LATEX = (
    r"\begin{aligned} &r, z = \sigma(W x_t + U h_{t-1} + b), \quad n = \tanh(W_n x_t + b_n + r\, q), \quad q = U_n h_{t-1} + c_n, "
    r"\quad h_t = (1 - z)\, n + z h_{t-1} \\ "
    r"&\bar n = \bar h_t (1 - z)(1 - n^2), \quad \bar z = \bar h_t (h_{t-1} - n)\, z (1 - z), \quad \bar r = \bar n q\, r (1 - r), \\ "
    r"&\bar h_{t-1} = \bar h_t z + U^\top (\bar r, \bar z, \bar n r), \quad \bar W = \sum_t (\bar r, \bar z, \bar n) x_t^\top "
    r"\end{aligned}"
)


class GRU(Function):
    """r, z = sigmoid(W x + U h + b), n = tanh(W x + b + r q), q = U h + c, h' = (1 - z) n + z h;  dz = dh (h - n) z (1 - z) and so on.

    Gives (time + 1, batch, hidden): h before the first step and after every step.
    """

    latex = LATEX
    kind = "matmul"
    cases = (
        Case(Draw((3, 2, 3)), Draw((2, 2)), Draw((6, 3)), Draw((6, 2)), Draw((6,)), Draw((6,))),
        Case(Draw((2, 1, 1)), Draw((1, 2)), Draw((6, 1)), Draw((6, 2))),
        Case(Draw((0, 2, 1)), Draw((2, 1)), Draw((3, 1)), Draw((3, 1)), Draw((3,)), Draw((3,))),
        Case(Draw((2, 0, 1)), Draw((0, 1)), Draw((3, 1)), Draw((3, 1)), Draw((3,)), Draw((3,))),
    )
    fresh = True
    by_reference = True  # the loop works in place

    @staticmethod
    def reference(x: Array, h: Array, w_ih: Array, w_hh: Array, b_ih: Any = 0.0, b_hh: Any = 0.0) -> Array:
        """The formula as printed, step by step."""
        xp, hs = xp_of(x), [h]
        for t in range(x.shape[0]):
            hs.append(_step(x[t] @ w_ih.T + b_ih, hs[-1] @ w_hh.T + b_hh, hs[-1]))
        return xp.stack(hs)

    def forward(self, x: Array, h: Array, w_ih: Array, w_hh: Array, b_ih: Any = None, b_hh: Any = None) -> Array:
        need_fit("gru", 3, 3, x, {"h": h}, w_ih, w_hh, b_ih, b_hh)
        xp, dtype, (time, batch, n) = xp_of(x), x.dtype, (*x.shape[:2], h.shape[1])
        x, self.w_ih, self.w_hh = wide(x), wide(w_ih), wide(w_hh)
        self.x = rows(x)
        # sigmoid(z) = tanh(z / 2) / 2 + 1/2; all products with x are one, a step multiplies only by h, and works in place.
        half = xp.full(3 * n, 0.5, dtype=x.dtype)
        half[2 * n :] = 1.0
        gates = self.x @ (self.w_ih.T * half)
        if b_ih is not None:
            gates += b_ih * half
        after = b_hh * half if hasattr(b_hh, "shape") else None
        u = self.w_hh.T * half
        self.gates = gates = gates.reshape((time, batch, 3 * n))
        self.states = hs = xp.empty((time + 1, batch, n), dtype=x.dtype)
        self.q = xp.empty((time, batch, n), dtype=x.dtype)
        hs[0] = h
        product = xp.empty((batch, 3 * n), dtype=x.dtype)
        for t in range(time):
            a, q, h = gates[t], self.q[t], hs[t + 1]
            xp.matmul(hs[t], u, out=product)
            if after is not None:
                product += after
            two, candidate = a[:, : 2 * n], a[:, 2 * n :]
            two += product[:, : 2 * n]
            xp.tanh(two, out=two)
            two *= 0.5
            two += 0.5
            q[...] = product[:, 2 * n :]
            candidate += a[:, :n] * q
            xp.tanh(candidate, out=candidate)
            xp.subtract(hs[t], candidate, out=h)
            h *= a[:, n : 2 * n]
            h += candidate
        return xp.asarray(hs, dtype=dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, needs, hs, (time, batch, n) = xp_of(g), self.needs, self.states, self.q.shape
        g = wide(g)
        dh = xp.array(g[time])
        through_h, through_x = xp.empty((time, batch, 3 * n), dtype=hs.dtype), xp.empty((time, batch, n), dtype=hs.dtype)
        for t in range(time - 1, -1, -1):
            a, d, dn = self.gates[t], through_h[t], through_x[t]
            r, z, candidate = a[:, :n], a[:, n : 2 * n], a[:, 2 * n :]
            xp.subtract(1, z, out=dn)
            dn *= dh
            xp.subtract(hs[t], candidate, out=d[:, n : 2 * n])
            d[:, n : 2 * n] *= dh
            dn *= 1 - candidate * candidate
            xp.multiply(dn, self.q[t], out=d[:, :n])
            two = a[:, : 2 * n]
            d[:, : 2 * n] *= two - two * two
            xp.multiply(dn, r, out=d[:, 2 * n :])
            dh *= z
            dh += d @ self.w_hh
            dh += g[t]
        flat = rows(through_h)
        du = flat.T @ rows(hs[:-1]) if needs[3] else None
        after = sums(flat, needs[5:])
        flat = rows(xp.concatenate((through_h[..., : 2 * n], through_x), axis=2))  # the candidate meets x without the reset gate
        dx = (flat @ self.w_ih).reshape((time, batch, self.w_ih.shape[1])) if needs[0] else None
        return dx, dh if needs[1] else None, flat.T @ self.x if needs[2] else None, du, *sums(flat, needs[4:5]), *after


def gru(
    input: TensorLike, hx: TensorLike, w_ih: TensorLike, w_hh: TensorLike, b_ih: TensorLike | None = None, b_hh: TensorLike | None = None
) -> Tensor:
    """Run one layer of GRU over a sequence, in one direction; gives h after every step, the last of which is `[-1]`.

    What a sequence shorter than the others ends with is at its own last step: later steps don't reach back.

    Shapes: input: (time, batch, feature), hx: (batch, hidden), w_ih: (3 hidden, feature), w_hh: (3 hidden, hidden),
        biases: (3 hidden), y: (time, batch, hidden)

    Raises:
        ShapeError: the shapes don't go together.
        DTypeError: not floats, or of several kinds.

    >>> gru([[[1.0]], [[1.0]]], [[0.0]], [[1.0]] * 3, [[1.0]] * 3).data.round(3).ravel()
    array([0.205, 0.347], dtype=float32)
    """
    return GRU.apply(*inputs(input, hx, w_ih, w_hh, biases=(b_ih, b_hh)))[1:]


class GRUCell(Function):
    """h' = (1 - z) n + z h, r, z and n as in GRU, (batch, hidden);  dh = g z + U^T (dr, dz, dn r), dW = (dr, dz, dn)^T x."""

    latex = LATEX
    kind = "matmul"
    cases = (
        Case(Draw((2, 3)), Draw((2, 2)), Draw((6, 3)), Draw((6, 2)), Draw((6,)), Draw((6,))),
        Case(Draw((1, 1)), Draw((1, 2)), Draw((6, 1)), Draw((6, 2))),
        Case(Draw((0, 1)), Draw((0, 1)), Draw((3, 1)), Draw((3, 1)), Draw((3,)), Draw((3,))),
        Case(Draw((2, 2)), Draw((2, 1)), Draw((3, 2)), Draw((3, 1))),
    )
    fresh = True

    @staticmethod
    def reference(x: Array, h: Array, w_ih: Array, w_hh: Array, b_ih: Any = 0.0, b_hh: Any = 0.0) -> Array:
        """The formula as printed."""
        return _step(x @ w_ih.T + b_ih, h @ w_hh.T + b_hh, h)

    def forward(self, x: Array, h: Array, w_ih: Array, w_hh: Array, b_ih: Any = None, b_hh: Any = None) -> Array:
        need_fit("gru_cell", 3, 2, x, {"h": h}, w_ih, w_hh, b_ih, b_hh)
        xp, dtype, n = xp_of(x), x.dtype, h.shape[1]
        self.given = x, h, w_ih, w_hh = [wide(a) for a in (x, h, w_ih, w_hh)]
        a, b = x @ w_ih.T, h @ w_hh.T
        if b_ih is not None:
            a += b_ih
            b += b_hh
        self.two, self.q = _sigmoid(a[:, : 2 * n] + b[:, : 2 * n]), b[:, 2 * n :]
        self.candidate = xp.tanh(a[:, 2 * n :] + self.two[:, :n] * self.q)
        return xp.asarray(self.candidate + self.two[:, n:] * (h - self.candidate), dtype=dtype)

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        xp, needs, (x, h, w_ih, w_hh) = xp_of(g), self.needs, self.given
        n, two, candidate, g = h.shape[1], self.two, self.candidate, wide(g)
        r, z = two[:, :n], two[:, n:]
        dn = g * (1 - z) * (1 - candidate * candidate)
        gates = xp.concatenate((dn * self.q, g * (h - candidate)), axis=1) * (two - two * two)
        through_x, through_h = xp.concatenate((gates, dn), axis=1), xp.concatenate((gates, dn * r), axis=1)
        return (
            through_x @ w_ih if needs[0] else None,
            g * z + through_h @ w_hh if needs[1] else None,
            through_x.T @ x if needs[2] else None,
            through_h.T @ h if needs[3] else None,
            *sums(through_x, needs[4:5]),
            *sums(through_h, needs[5:]),
        )


def gru_cell(
    input: TensorLike, hx: TensorLike, w_ih: TensorLike, w_hh: TensorLike, b_ih: TensorLike | None = None, b_hh: TensorLike | None = None
) -> Tensor:
    """Take one step of GRU.

    Shapes: input: (batch, feature), hx: (batch, hidden), w_ih: (3 hidden, feature), w_hh: (3 hidden, hidden), biases: (3 hidden),
        y: (batch, hidden)

    Raises:
        ShapeError: the shapes don't go together.
        DTypeError: not floats, or of several kinds.

    >>> gru_cell([[1.0]], [[0.0]], [[1.0]] * 3, [[1.0]] * 3).data.round(3)
    array([[0.205]], dtype=float32)
    """
    return GRUCell.apply(*inputs(input, hx, w_ih, w_hh, biases=(b_ih, b_hh)))
