"""Transposed convolutions: every entry of the image lays down the kernel, times itself; what `conv` does to gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, total, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .correlation import correlate, correlate_for_input, correlate_for_kernel
from .dtype import beside, need_one_dtype, wide
from .windows import AXES, Size, Sizes, Windows, need_axes, per_axis

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _windows(x: Array, weight: Array, stride: Size, padding: Size, output_padding: Size, dilation: Size) -> tuple[Windows, Sizes]:
    """The windows of the convolution that goes the other way, and the sizes of what comes out."""
    n = weight.ndim - 2
    op = f"conv_transpose{n}d"
    s, d = per_axis(op, "stride", stride, n, 1), per_axis(op, "dilation", dilation, n, 1)
    p, more = per_axis(op, "padding", padding, n), per_axis(op, "output_padding", output_padding, n)
    if any(m >= max(a, b) for m, a, b in zip(more, s, d, strict=True)):
        got = {"output_padding": output_padding, "stride": stride, "dilation": dilation}
        raise ArgumentError(explain(f"{op}: output_padding is too large", got=got, need="less than stride, or less than dilation"))
    at = Windows(weight.shape[2:], s, d, p, tuple([a - b for a, b in zip(p, more, strict=True)]))
    sizes = tuple([(n - 1) * a + r - b + m - b for n, a, r, b, m in zip(x.shape[-n:], s, at.reach, p, more, strict=True)])
    if min(sizes) < 1:
        got = {"x": x.shape, "weight": weight.shape, "padding": padding, "y": sizes}
        raise ShapeError(explain(f"{op}: nothing would come out", got=got, need="less padding"))
    return at, sizes


class ConvTranspose(Function):
    """y[c, p s + i d - padding] = sum of w[o, c, i] x[o, p] + b[c];  dx: g with w, dw: g with x, summed as `conv` does; db = sum of g."""

    latex = (r"y_{c,\,ps + id} = b_c + \sum_{o,i} w_{oci}\, x_{op}, \quad \bar x_{op} = \sum_{c,i} w_{oci}\, \bar y_{c,\,ps + id}, \quad "
             r"\bar w_{oci} = \sum_p x_{op}\, \bar y_{c,\,ps + id}, \quad \bar b_c = \sum_p \bar y_{cp}")  # fmt: skip
    kind = "matmul"
    cases = (
        Case(Draw((2, 2, 3, 2)), Draw((2, 3, 2, 2)), Draw((3,))),
        Case(Draw((1, 2, 3, 3)), Draw((2, 1, 3, 2)), stride=2, padding=1),
        Case(Draw((1, 1, 2, 3)), Draw((1, 2, 3, 3)), Draw((2,)), stride=(3, 2), output_padding=(2, 1)),
        Case(Draw((1, 4, 2, 2)), Draw((4, 1, 2, 2)), Draw((2,)), groups=2),
        Case(Draw((1, 2, 3, 3)), Draw((2, 1, 2, 2)), stride=2, groups=2, padding=1),
        Case(Draw((1, 1, 3, 3)), Draw((1, 1, 2, 2)), dilation=(2, 3), output_padding=1, padding=1),
        Case(Draw((1, 2, 2, 2)), Draw((2, 1, 1, 1)), stride=2),
        Case(Draw((2, 2, 2)), Draw((2, 1, 2, 2)), padding=1),
        Case(Draw((2, 2, 3)), Draw((2, 1, 3)), Draw((1,)), stride=2),
        Case(Draw((1, 1, 2, 1, 2)), Draw((1, 2, 2, 2, 1)), stride=(1, 2, 1)),
        Case(Draw((0, 2, 3, 3)), Draw((2, 2, 2, 2)), Draw((2,)), stride=2),
    )
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(
        x: Array,
        weight: Array,
        bias: Any = 0.0,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1,
        dilation: Size = 1,
    ) -> Array:
        """The formula as printed; along each axis a table of ones says which entry i of the kernel takes x at p to y at h."""
        xp, n, one = xp_of(x), weight.ndim - 2, x.ndim == weight.ndim - 1
        x = x[None] if one else x
        at, sizes = _windows(x, weight, stride, padding, output_padding, dilation)
        tables: list[Array] = []
        for k, s, d, low, size, many in zip(at.kernel, at.stride, at.dilation, at.low, sizes, x.shape[2:], strict=True):
            i, h, p = xp.arange(k)[:, None, None], xp.arange(size)[:, None], xp.arange(many)
            tables.append(xp.asarray(h + low == p * s + i * d, dtype=weight.dtype))
        letters = ["ijk"[:n], "hwd"[:n], "pqr"[:n]]
        rule = ",".join(map("".join, zip(*letters, strict=True))) + f",goc{letters[0]},ngo{letters[2]}->ngc{letters[1]}"
        o, c = weight.shape[:2]
        w = weight.reshape((groups, o // groups, c, *at.kernel))
        y = xp.einsum(rule, *tables, w, x.reshape((x.shape[0], groups, o // groups, *x.shape[2:])))
        y = y.reshape((x.shape[0], groups * c, *sizes)) + (xp.asarray(bias) + xp.zeros(groups * c)).reshape((-1, *[1] * n))
        return y[0] if one else y

    def forward(
        self,
        x: Array,
        weight: Array,
        bias: Array | None = None,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1,
        dilation: Size = 1,
    ) -> Array:
        xp, n = xp_of(x), weight.ndim - 2
        op = f"conv_transpose{n}d"
        self.one = need_axes(op, x, n)
        x = x[None] if self.one else x
        _need_channels(op, x, weight, bias, groups)
        need_one_dtype(op, x=x, weight=weight)
        if bias is not None:
            need_one_dtype(op, bias=bias, weight=weight)
        self.at, sizes = _windows(x, weight, stride, padding, output_padding, dilation)
        self.x, self.weight, self.groups = x, weight, groups
        y = correlate_for_input(wide(x), wide(weight), self.at, groups, sizes)
        if bias is not None:
            y += bias.reshape((-1, *[1] * n))
        y = xp.asarray(y, dtype=x.dtype)
        return y[0] if self.one else y

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        needs, groups = self.needs, self.groups
        g = wide(g[None] if self.one else g)
        dx = dw = None
        if needs[0]:
            dx = correlate(g, wide(self.weight), self.at, groups)
            dx = dx[0] if self.one else dx
        if needs[1]:
            dw = correlate_for_kernel(g, wide(self.x), self.at, groups)
        if len(needs) == 2:
            return dx, dw
        return dx, dw, total(g, (0, *range(2, g.ndim))) if needs[2] else None


def _need_channels(op: str, x: Array, weight: Array, bias: Array | None, groups: int) -> None:
    """Refuse sizes of x, weight and bias that do not belong together."""
    o, c = weight.shape[:2]
    if type(groups) is not int or groups < 1 or o % groups:
        got, need = {"weight": weight.shape, "groups": groups}, "groups that divide weight's first size"
        raise ArgumentError(explain(f"{op}: the channels that come in don't split into groups", got=got, need=need))
    if x.shape[1] != o:
        got, need = {"x": x.shape, "weight": weight.shape}, f"x with {o} channels: weight's first size"
        raise ShapeError(explain(f"{op}: the numbers of channels differ", got=got, need=need))
    if bias is not None and bias.shape != (c * groups,):
        got = {"weight": weight.shape, "groups": groups, "bias": bias.shape}
        raise ShapeError(explain(f"{op}: the bias does not fit the weight", got=got, need=f"bias: ({c * groups},)"))


def _conv_transpose(
    n: int,
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None,
    stride: Size,
    padding: Size,
    output_padding: Size,
    groups: int,
    dilation: Size,
) -> Tensor:
    input, weight = beside(input, weight), beside(weight, input)
    shape: Any = getattr(weight, "shape", ())
    if len(shape) != n + 2:
        need = f"(in, out / groups, {AXES[n][1:]}"
        raise ShapeError(explain(f"conv_transpose{n}d: the number of axes does not fit", got={"weight": shape}, need=need))
    params: dict[str, Any] = {
        "stride": stride,
        "padding": padding,
        "output_padding": output_padding,
        "groups": groups,
        "dilation": dilation,
    }
    params = {name: value for name, value in params.items() if value != (1 if name in ("stride", "groups", "dilation") else 0)}
    if bias is None:
        return ConvTranspose.apply(input, weight, **params)
    return ConvTranspose.apply(input, weight, beside(bias, weight), **params)


def conv_transpose1d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """Lay kernels down along one axis, as `conv_transpose2d` does over two.

    Shapes: input: (batch, in, *size) or (in, *size), weight: (in, out / groups, *kernel), bias: (out),
        y: (batch, out, *size) with size = (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1

    Raises:
        ShapeError: sizes that do not belong together, or a padding that leaves nothing.
        ArgumentError: a stride, padding, dilation or number of groups that means nothing.
        DTypeError: the dtypes differ.

    >>> conv_transpose1d([[1.0, 2.0]], [[[1.0, 10.0]]], stride=2).data
    array([[ 1., 10.,  2., 20.]], dtype=float32)
    """
    return _conv_transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """Lay the kernel down at every place of the image, times the entry there, `stride` apart; what overlaps adds up.

    This is the adjoint of `conv2d` with the same weight: it takes the sizes that come out of it back to those that went in.
    `padding` cuts off that much all around; `output_padding` adds rows behind, since several sizes give one and the same size
    when a stride is rounded off. The order of `groups` and `dilation` is PyTorch's.

    Shapes: input: (batch, in, *size) or (in, *size), weight: (in, out / groups, *kernel), bias: (out),
        y: (batch, out, *size) with size = (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1

    Raises:
        ShapeError: sizes that do not belong together, or a padding that leaves nothing.
        ArgumentError: a stride, padding, dilation or number of groups that means nothing.
        DTypeError: the dtypes differ.

    >>> conv_transpose2d([[[1.0, 2.0]]], [[[[1.0, 2.0], [3.0, 4.0]]]]).data
    array([[[ 1.,  4.,  4.],
            [ 3., 10.,  8.]]], dtype=float32)
    """
    return _conv_transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Size = 1,
    padding: Size = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
) -> Tensor:
    """Lay kernels down through a volume, as `conv_transpose2d` does over an image.

    Shapes: input: (batch, in, *size) or (in, *size), weight: (in, out / groups, *kernel), bias: (out),
        y: (batch, out, *size) with size = (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1

    Raises:
        ShapeError: sizes that do not belong together, or a padding that leaves nothing.
        ArgumentError: a stride, padding, dilation or number of groups that means nothing.
        DTypeError: the dtypes differ.

    >>> conv_transpose3d([[[[1.0]], [[2.0]]]], [[[[[1.0]], [[10.0]]]]]).data.ravel()
    array([ 1., 12., 20.], dtype=float32)
    """
    return _conv_transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)
