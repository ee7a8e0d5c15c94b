"""Tensors that look at one memory: how each is found from the first, and how a change of one is a change of that first one.

A step that answers with a view of its input (a slice, a reshape, a transpose) tells how: run again on a changed first tensor
it gives the changed view, and it has an inverse that puts the entries of a view back into what was looked at.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from . import ops
from .function import Function

if TYPE_CHECKING:
    from ._tensor import Tensor


class View(NamedTuple):
    """A tensor, and the steps that make it from the first tensor on its memory."""

    tensor: Tensor
    steps: list[Function]


def family(x: Tensor, others: list[Tensor]) -> list[View] | None:
    """`x` and the others on its memory, `x` first; None if one of them was not made by steps that are known here.

    Such is what `detach()`, `no_grad` or a user's own step made: a change in the graph could not be brought there.
    """
    steps = lineage(x)
    fn, data = (steps[0].inputs[0].grad_fn, steps[0].inputs[0]._data) if steps else (x.grad_fn, x._data)
    views = [View(x, steps)]
    for t in others:
        steps = lineage(t)
        first = steps[0].inputs[0] if steps else t
        if fn is None or first.grad_fn is not fn or first._data is not data:
            return None
        views.append(View(t, steps))
    return views


def lineage(x: Tensor) -> list[Function]:
    """The steps that make `x` from the first tensor on its memory."""
    steps: list[Function] = []
    fn = x.grad_fn
    while x._version is not None and fn.__class__ in _PUT and fn is not None and fn.inputs and fn.inputs[0]._version is x._version:
        steps.append(fn)
        fn = fn.inputs[0].grad_fn
    return steps[::-1]


def put(view: View, value: Tensor) -> Tensor:
    """The first tensor with `value` in the place of the entries that the view looks at, by steps of the graph."""
    for fn in reversed(view.steps):
        value = _PUT[type(fn)](cast("Tensor", fn.inputs[0]), value, **fn.params)
    return value


def again(view: View, found: dict[int, Tensor]) -> Tensor:
    """The view of the first tensor as it is now; `found` has what was found anew already, by the id of the array it had before."""
    start = len(view.steps)
    while start > 1 and id(view.steps[start - 1].inputs[0]._data) not in found:
        start -= 1
    out = found[id(view.steps[start - 1].inputs[0]._data if view.steps else view.tensor._data)]
    for fn in view.steps[max(start - 1, 0) :]:
        out = type(fn).apply(out, **fn.params)
    return out


def laid_out_as(x: Tensor, before: Tensor) -> Tensor:
    """`x` in memory as `before` is, so that what was a view there is one here."""
    if x._data.strides == before._data.strides:
        return x
    order = sorted(range(x.ndim), key=lambda i: -before._data.strides[i])
    return x.permute(*order).contiguous().permute(*[order.index(i) for i in range(x.ndim)])


def _whole(before: Tensor, value: Tensor, **_: Any) -> Tensor:
    """Of a view that has all entries, in the same order."""
    return value.reshape(before.shape)


def _permuted(before: Tensor, value: Tensor, dims: tuple[int, ...]) -> Tensor:
    order = [d % before.ndim for d in dims]
    return value.permute(*[order.index(i) for i in range(before.ndim)])


def _narrowed(before: Tensor, value: Tensor, dim: int, start: int, length: int) -> Tensor:
    start = start + before.shape[dim] if start < 0 else start
    return ops.set_index(before, (*(slice(None),) * (dim % before.ndim), slice(start, start + length)), value)


_PUT: dict[Any, Callable[..., Tensor]] = {
    ops.Slice: lambda before, value, index: ops.set_index(before, index, value),
    ops.Narrow: _narrowed,
    ops.Diagonal: lambda before, value, **at: ops.diagonal_scatter(before, value, **at),
    ops.Transpose: lambda before, value, dim0, dim1: value.transpose(dim0, dim1),
    ops.Permute: _permuted,
    **dict.fromkeys([ops.Reshape, ops.Flatten, ops.Squeeze, ops.Unsqueeze, ops.Expand, ops.Cast], _whole),
}


def repeats(x: Any) -> bool:
    """Whether one place in memory stands for several entries, as after `expand`: a change of one would be one of all."""
    array = x._data
    return array.size > 1 and any(stride == 0 and n > 1 for stride, n in zip(array.strides, np.shape(array), strict=True))
