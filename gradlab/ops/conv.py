"""Convolutions over one, two or three axes: a small kernel slides over the image, one dot product a place."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from ..backend import Array, total, xp_of
from ..cases import Case, Draw
from ..errors import ArgumentError, ShapeError, explain
from ..function import Function
from .correlation import correlate, correlate_for_input, correlate_for_kernel
from .dtype import beside, need_one_dtype, wide
from .windows import AXES, Size, Windows, need_axes, need_room, per_axis, taps

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


def _windows(x: Array, weight: Array, stride: Size, padding: Size | str, dilation: Size) -> Windows:
    """How the kernel walks over `x`, from what the call says."""
    n = weight.ndim - 2
    op, kernel = f"conv{n}d", weight.shape[2:]
    steps, gaps = per_axis(op, "stride", stride, n, 1), per_axis(op, "dilation", dilation, n, 1)
    if not isinstance(padding, str):
        low = high = per_axis(op, "padding", padding, n)
    elif padding == "valid":
        low = high = (0,) * n
    elif padding == "same":
        if max(steps) > 1:
            got = {"padding": "'same'", "stride": stride}
            raise ArgumentError(explain(f"{op}: a stride above 1 can't keep the size", got=got, need="stride=1, or padding as numbers"))
        around = [(k - 1) * d for k, d in zip(kernel, gaps, strict=True)]
        low, high = tuple([a // 2 for a in around]), tuple([a - a // 2 for a in around])  # an odd one goes behind
    else:
        raise ArgumentError(explain(f"{op}: which padding?", got={"padding": repr(padding)}, need='numbers, "same" or "valid"'))
    return Windows(kernel, steps, gaps, low, high)


def _need_channels(op: str, x: Array, weight: Array, bias: Array | None, groups: int) -> None:
    """Refuse sizes of x, weight and bias that do not belong together."""
    o, c = weight.shape[:2]
    channels = x.shape[1]
    if type(groups) is not int or groups < 1 or o % groups:
        got = {"weight": weight.shape, "groups": groups}
        need = "groups that divide weight's first size"
        raise ArgumentError(explain(f"{op}: the channels that come out don't split into groups", got=got, need=need))
    if channels != c * groups:
        n = channels // c if c and channels % c == 0 else 0
        raise ShapeError(
            explain(
                f"{op}: the numbers of channels differ",
                got={"x": x.shape, "weight": weight.shape, "groups": groups},
                need=f"x with {c * groups} channels: groups times weight's second size",
                fix=f"groups={n}" if n > 1 and o % n == 0 else "",
            )
        )
    if bias is not None and bias.shape != (o,):
        raise ShapeError(
            explain(f"{op}: the bias does not fit the weight", got={"weight": weight.shape, "bias": bias.shape}, need=f"bias: ({o},)")
        )


class Conv(Function):
    """y[o, p] = sum of w[o, c, i] x[c, p s + i d - padding] + b[o];  dx, dw: g with w, g with x, summed the same way; db = sum of g."""

    latex = (r"y_{op} = b_o + \sum_{c,i} w_{oci}\, x_{c,\,ps + id}, \quad \bar x_{c,\,ps + id} = \sum_{o,i} w_{oci}\, \bar y_{op}, \quad "
             r"\bar w_{oci} = \sum_p \bar y_{op}\, x_{c,\,ps + id}, \quad \bar b_o = \sum_p \bar y_{op}")  # fmt: skip
    kind = "matmul"
    cases = (
        Case(Draw((2, 2, 4, 3)), Draw((3, 2, 3, 2)), Draw((3,))),
        Case(Draw((2, 2, 4, 5)), Draw((2, 2, 3, 2)), padding=(2, 1)),
        Case(Draw((1, 1, 4, 4)), Draw((2, 1, 3, 3)), Draw((2,)), stride=2),
        Case(Draw((1, 2, 5, 4)), Draw((1, 2, 2, 3)), stride=(3, 2), padding=1),
        Case(Draw((1, 1, 5, 5)), Draw((1, 1, 2, 2)), stride=2, dilation=2),
        Case(Draw((1, 1, 6, 5)), Draw((1, 1, 3, 2)), dilation=(2, 3), padding=(2, 0)),
        Case(Draw((2, 4, 3, 3)), Draw((2, 2, 2, 2)), Draw((2,)), groups=2),
        Case(Draw((1, 2, 3, 4)), Draw((4, 1, 2, 3)), groups=2, padding="same"),
        Case(Draw((2, 8, 3, 2)), Draw((2, 8, 3, 2)), padding=1),
        Case(Draw((1, 2, 3, 3)), Draw((2, 2, 1, 1)), stride=2),
        Case(Draw((1, 1, 3, 2)), Draw((1, 1, 1, 1)), padding=(1, 0)),
        Case(Draw((3, 1, 5, 2)), Draw((1, 1, 3, 2)), padding=(1, 0)),
        Case(Draw((2, 3, 3)), Draw((2, 2, 2, 2)), Draw((2,))),
        Case(Draw((2, 2, 7)), Draw((3, 2, 3)), Draw((3,)), stride=2, padding=1),
        Case(Draw((2, 6)), Draw((1, 2, 4)), padding="same", dilation=2),
        Case(Draw((1, 1, 3, 2, 3)), Draw((2, 1, 2, 2, 2)), Draw((2,)), padding=(1, 0, 1)),
        Case(Draw((1, 2, 3, 3, 2)), Draw((2, 1, 2, 1, 2)), stride=(2, 1, 1), groups=2),
        Case(Draw((0, 2, 3, 3)), Draw((2, 2, 2, 2)), Draw((2,))),
    )
    reads = ("inputs",)
    fresh = True

    @staticmethod
    def reference(
        x: Array, weight: Array, bias: Any = 0.0, stride: Size = 1, padding: Size | str = 0, dilation: Size = 1, groups: int = 1
    ) -> Array:
        """The formula as printed: one product an entry of the kernel, with what it meets in all windows at once."""
        xp, n, one = xp_of(x), weight.ndim - 2, x.ndim == weight.ndim - 1
        x = x[None] if one else x
        at = _windows(x, weight, stride, padding, dilation)
        count = at.places(x.shape[2:])
        x = xp.pad(x, [(0, 0), (0, 0), *zip(at.low, at.high, strict=True)])
        x = x.reshape((x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
        w = weight.reshape((groups, weight.shape[0] // groups, *weight.shape[1:]))
        y: Any = 0.0
        for tap in product(*map(range, at.kernel)):
            y = y + xp.einsum("ngc...,goc->ngo...", x[(..., *taps(at, count, tap))], w[(..., *tap)])
        y = y.reshape((x.shape[0], weight.shape[0], *count)) + (xp.asarray(bias) + xp.zeros(weight.shape[0])).reshape((-1, *[1] * n))
        return y[0] if one else y

    def forward(
        self,
        x: Array,
        weight: Array,
        bias: Array | None = None,
        stride: Size = 1,
        padding: Size | str = 0,
        dilation: Size = 1,
        groups: int = 1,
    ) -> Array:
        n = weight.ndim - 2
        op = f"conv{n}d"
        self.one = need_axes(op, x, n)
        batch = x[None] if self.one else x
        _need_channels(op, batch, weight, bias, groups)
        need_one_dtype(op, x=x, weight=weight)
        if bias is not None:
            need_one_dtype(op, bias=bias, weight=weight)
        self.at = _windows(x, weight, stride, padding, dilation)
        need_room(op, x, self.at, batch.shape[2:])
        self.x, self.weight, self.groups, self.sizes = batch, weight, groups, batch.shape[2:]
        y = correlate(wide(batch), wide(weight), self.at, groups, None if bias is None else wide(bias))
        y = xp_of(y).asarray(y, dtype=x.dtype)
        return y[0] if self.one else y

    def backward(self, g: Array) -> tuple[Array | None, ...]:
        needs, groups = self.needs, self.groups
        g = wide(g[None] if self.one else g)
        dx = dw = None
        if needs[0]:
            dx = correlate_for_input(g, wide(self.weight), self.at, groups, self.sizes)
            dx = dx[0] if self.one else dx
        if needs[1]:
            dw = correlate_for_kernel(wide(self.x), g, self.at, groups)
        if len(needs) == 2:
            return dx, dw
        return dx, dw, total(g, (0, *range(2, g.ndim))) if needs[2] else None


def _conv(
    n: int, input: TensorLike, weight: TensorLike, bias: TensorLike | None, stride: Size, padding: Size | str, dilation: Size, groups: int
) -> Tensor:
    input, weight = beside(input, weight), beside(weight, input)
    shape: Any = getattr(weight, "shape", ())
    if len(shape) != n + 2:
        raise ShapeError(
            explain(f"conv{n}d: the number of axes does not fit", got={"weight": shape}, need=f"(out, in / groups, {AXES[n][1:]}")
        )
    params: dict[str, Any] = {}
    if stride != 1:
        params["stride"] = stride
    if padding != 0:
        params["padding"] = padding
    if dilation != 1:
        params["dilation"] = dilation
    if groups != 1:
        params["groups"] = groups
    if bias is None:
        return Conv.apply(input, weight, **params)
    return Conv.apply(input, weight, beside(bias, weight), **params)


def conv1d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Slide kernels along one axis, as `conv2d` does along two.

    Shapes: input: (batch, in, length) or (in, length), weight: (out, in / groups, kernel), bias: (out),
        y: (batch, out, (length + 2 padding - dilation (kernel - 1) - 1) // stride + 1)

    Raises:
        ShapeError: sizes that do not belong together, or a kernel larger than the padded input.
        ArgumentError: a stride, padding, dilation or number of groups that means nothing.
        DTypeError: the dtypes differ.

    >>> conv1d([[1.0, 2.0, 4.0, 8.0]], [[[-1.0, 1.0]]]).data
    array([[1., 2., 4.]], dtype=float32)
    """
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Slide every kernel over the image, in steps of `stride`: one dot product a place and kernel, plus `bias`.

    `padding` is how many zeros go around the image, or "same" (what keeps the size) or "valid" (none); `dilation` is the distance
    between the entries that a kernel reads; `groups` splits the channels into that many convolutions side by side. As in
    PyTorch the kernel is not turned round, and rows that no window reaches are left out.

    Shapes: input: (batch, in, height, width) or (in, height, width), weight: (out, in / groups, *kernel), bias: (out),
        y: (batch, out, *size) with size = (height + 2 padding - dilation (kernel - 1) - 1) // stride + 1, and so for the width

    Raises:
        ShapeError: sizes that do not belong together, or a kernel larger than the padded input.
        ArgumentError: a stride, padding, dilation or number of groups that means nothing.
        DTypeError: the dtypes differ.

    >>> conv2d([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], [[[[1.0, 10.0]]]]).data
    array([[[21., 32.],
            [54., 65.]]], dtype=float32)
    """
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: Size = 1,
    padding: Size | str = 0,
    dilation: Size = 1,
    groups: int = 1,
) -> Tensor:
    """Slide kernels through a volume, as `conv2d` does over an image.

    Shapes: input: (batch, in, depth, height, width) or without batch, weight: (out, in / groups, *kernel), bias: (out),
        y: (batch, out, *sizes), each size as for `conv2d`

    Raises:
        ShapeError: sizes that do not belong together, or a kernel larger than the padded input.
        ArgumentError: a stride, padding, dilation or number of groups that means nothing.
        DTypeError: the dtypes differ.

    >>> conv3d([[[[1.0]], [[2.0]], [[4.0]]]], [[[[[1.0]], [[1.0]]]]]).data.ravel()
    array([3., 6.], dtype=float32)
    """
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)
