"""Derivatives of functions of Tensors: `jacobian`, `hessian`, and their products with vectors, which need no matrix.

`inputs` is a Tensor or a tuple of them. What comes back has the same form: for a Tensor a Tensor, for a tuple a tuple. With
`create_graph` the results can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import ops
from ..backend import xp_of
from ..errors import GraphError, ShapeError, explain
from ..function import made
from ..grad_mode import enable_grad
from .names import Same
from .run import grad, several

if TYPE_CHECKING:
    from .._tensor import Tensor

Tensors = Any  # a Tensor, or a tuple of them


def vjp(func: Callable[..., Tensors], inputs: Tensors, v: Tensors = None, create_graph: bool = False) -> tuple[Tensors, Tensors]:
    """Compute `func(*inputs)` and the product v J of a row vector with the Jacobian: one backward pass.

    Args:
        v: in the form of the outputs; not needed for one output with one entry.

    >>> import gradlab as gl
    >>> vjp(lambda x: x * x, gl.tensor([1.0, 2.0]), gl.tensor([1.0, 10.0]))[1].data
    array([ 2., 40.], dtype=float32)
    """
    xs, outputs, ys = _called(func, inputs, create_graph)
    vs = [None] * len(ys) if v is None else _like("vjp", several(v), ys)
    return _formed(outputs, ys, create_graph), _formed(inputs, _pulled(ys, xs, vs, create_graph), create_graph)


def jvp(func: Callable[..., Tensors], inputs: Tensors, v: Tensors = None, create_graph: bool = False) -> tuple[Tensors, Tensors]:
    """Compute `func(*inputs)` and the product J v of the Jacobian with a column vector: how the outputs move when the inputs do.

    The product u J is linear in u, and its derivative by u is J: so two backward passes do what a forward pass would.

    Args:
        v: in the form of the inputs; not needed for one input with one entry.

    >>> import gradlab as gl
    >>> jvp(lambda x: x * x, gl.tensor([1.0, 2.0]), gl.tensor([1.0, 10.0]))[1].data
    array([ 2., 40.], dtype=float32)
    """
    xs, outputs, ys = _called(func, inputs, create_graph)
    vs = [None] * len(xs) if v is None else _like("jvp", several(v), xs)
    us = [made(xp_of(y.data).zeros_like(y.data)).requires_grad_() for y in ys]
    moves = _pulled(_pulled(ys, xs, us, True), us, vs, create_graph)
    return _formed(outputs, ys, create_graph), _formed(outputs, moves, create_graph)


def jacobian(func: Callable[..., Tensors], inputs: Tensors, create_graph: bool = False) -> Any:
    """Compute d(output entry) / d(input entry) for all of them, in a tensor of shape (*output, *input).

    Returns:
        for several inputs a tuple of such tensors, for several outputs a tuple of what one output gives.

    >>> import gradlab as gl
    >>> jacobian(lambda x: x * x, gl.tensor([1.0, 2.0])).data
    array([[2., 0.],
           [0., 4.]], dtype=float32)
    """
    xs, outputs, ys = _called(func, inputs, create_graph)
    blocks = [_formed(inputs, _rows(y, xs, create_graph), create_graph) for y in ys]
    return tuple(blocks) if isinstance(outputs, (list, tuple)) else blocks[0]


def hessian(func: Callable[..., Tensor], inputs: Tensors, create_graph: bool = False) -> Any:
    """Compute all second derivatives of a function that gives one number, in a tensor of shape (*input, *input).

    Returns:
        for several inputs a tuple of tuples: entry (i, j) has shape (*input i, *input j).

    >>> import gradlab as gl
    >>> hessian(lambda x: (x**3).sum(), gl.tensor([1.0, 2.0])).data
    array([[ 6.,  0.],
           [ 0., 12.]], dtype=float32)
    """

    def slope(*xs: Tensor) -> Tensors:
        y = _number("hessian", func(*xs))
        return _formed(inputs, _pulled([y], list(xs), [None], True), True)

    return jacobian(slope, inputs, create_graph)


def hvp(func: Callable[..., Tensor], inputs: Tensors, v: Tensors = None, create_graph: bool = False) -> tuple[Tensor, Tensors]:
    """Compute `func(*inputs)`, one number, and the product H v of its Hessian with a vector: two passes, and no matrix.

    Source: B. A. Pearlmutter, Fast Exact Multiplication by the Hessian, Neural Computation 6 (1994) 147-160.

    >>> import gradlab as gl
    >>> hvp(lambda x: (x**3).sum(), gl.tensor([1.0, 2.0]), gl.tensor([1.0, 10.0]))[1].data
    array([  6., 120.], dtype=float32)
    """
    xs, output, ys = _called(func, inputs, create_graph)
    vs = [None] * len(xs) if v is None else _like("hvp", several(v), xs)
    slopes = _pulled([_number("hvp", ys[0])], xs, [None], True)
    return _formed(output, ys, create_graph), _formed(inputs, _pulled(slopes, xs, vs, create_graph), create_graph)


def _called(func: Callable[..., Tensors], inputs: Tensors, create_graph: bool) -> tuple[list[Any], Tensors, list[Any]]:
    """The inputs as places to differentiate by, and what the function makes of them."""
    with enable_grad():
        xs: list[Any] = [Same.apply(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in several(inputs)]
        outputs = func(*xs)
    return xs, outputs, several(outputs)


def _pulled(ys: Sequence[Tensor], xs: Sequence[Tensor], vs: Sequence[Tensor | None], create_graph: bool) -> list[Tensor]:
    """The vector-Jacobian product, zeros where nothing depends on anything. The graph is kept, it may be needed again."""
    pairs = [(y, v) for y, v in zip(ys, vs, strict=True) if y.requires_grad]
    if not pairs:
        return [made(xp_of(x.data).zeros_like(x.data)) for x in xs]
    roots = [y for y, _ in pairs]
    return list(grad(roots, xs, [v for _, v in pairs], retain_graph=True, create_graph=create_graph, materialize_grads=True))


def _rows(y: Tensor, xs: Sequence[Tensor], create_graph: bool) -> list[Tensor]:
    """The Jacobian of one output by each input: a pass for every entry of the output."""
    xp, rows = xp_of(y.data), list[list[Any]]()
    for i in range(y.numel()):
        one = xp.zeros(y.numel(), dtype=y.dtype)
        one[i] = 1
        rows.append(_pulled([y], xs, [made(one.reshape(y.shape))], create_graph))
    if not rows:
        return [made(xp.zeros((*y.shape, *x.shape), dtype=x.dtype)) for x in xs]
    return [ops.reshape(ops.stack(column), (*y.shape, *x.shape)) for column, x in zip(zip(*rows, strict=True), xs, strict=True)]


def _formed(like: Tensors, values: Sequence[Tensor], create_graph: bool) -> Tensors:
    """One Tensor or a tuple, with its graph or without."""
    answer = tuple(values) if create_graph else tuple([t.detach() for t in values])
    return answer if isinstance(like, (list, tuple)) else answer[0]


def _like(what: str, vs: list[Any], ts: Sequence[Tensor]) -> list[Any]:
    shapes, wanted = [v.shape for v in vs], [t.shape for t in ts]
    if shapes != wanted:
        raise ShapeError(explain(f"{what}: the vector does not fit", got={"v": shapes, "tensors": wanted}, need="the same shapes"))
    return vs


def _number(what: str, y: Any) -> Tensor:
    if not hasattr(y, "grad_fn") or y.numel() != 1:
        got = {"output": getattr(y, "shape", type(y).__name__)}
        raise GraphError(explain(f"{what}: the function has to give one number", got=got, need="a tensor with one entry"))
    return y
