"""Tensor: an array that remembers how it was made."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, TypeAlias

from . import autograd, written_out
from .autograd.general import adding
from .autograd.hook import Handle, register, register_after
from .autograd.names import names_of
from .backend import (
    ARRAY_TYPES,
    DEFAULT_FLOAT,
    Array,
    as_array,
    asarray_like,
    current_device,
    is_array,
    moved,
    need_one_device,
    on_host,
    xp_of,
)
from .changes import Changes
from .errors import DTypeError, GraphError, KeywordError, ShapeError, explain
from .function import Function, asked, use_tensor_type
from .order import Version
from .surface import Surface
from .values import Values

_serials = count(1)
_new = object.__new__


class Tensor(Surface, Changes, Values):
    """An array, its gradient, and the `Function` that made it (None for a leaf).

    `Tensor(data)` takes numbers as float32; `gl.tensor(data)` keeps integers and the dtype of arrays.

    >>> x = Tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.], shape=(2,))
    """

    __slots__ = ("__weakref__", "_data", "_gradient", "_requires_grad", "_serial", "_version", "after", "grad_fn", "hooks")
    grad_fn: Function | None
    _version: Version | None  # of the values, once they were changed or shared

    def __init__(self, data: object, requires_grad: bool = False, dtype: Any = None, device: Any = None) -> None:
        if isinstance(data, Tensor):
            data = data._data.copy()
        if dtype is None and not is_array(data) and not hasattr(data, "dtype"):
            dtype = DEFAULT_FLOAT
        array = as_array(data)
        if device is not None or on_host(array):
            array = moved(array, current_device(device))
        self._data: Array = array if dtype is None else array.astype(dtype, copy=False)
        self._gradient: Tensor | None = None
        self.grad_fn, self._version, self._serial, self._requires_grad = None, None, 0, False
        if requires_grad:
            if requires_grad is not True:  # Tensor(2, 3) is no shape here
                got = {"data": data, "requires_grad": requires_grad}
                raise KeywordError(
                    explain("Tensor: requires_grad is True or False", got=got, need="numbers, in one list", fix="gl.empty(2, 3)")
                )
            self.requires_grad_()

    @classmethod
    def made(cls, data: Array, fn: Function | None) -> Tensor:
        """A tensor around an array as it is; skips __init__, which would cost more than many steps."""
        self = _new(cls)
        self._data = data
        self._gradient = self._version = None
        self._serial = 0
        self.grad_fn = fn
        self._requires_grad = fn is not None
        return self

    # -- what it is

    @property
    def data(self) -> Array:
        """The array itself. Assigning counts as a change; a write into it (`t.data[0] = 9`) can't be seen."""
        return self._data

    @data.setter
    def data(self, value: Array | Tensor) -> None:
        array = value._data.copy() if isinstance(value, Tensor) else as_array(value)  # a copy: two tensors, two memories
        if self._requires_grad:
            _need_float(array, "data")
        self._data = array
        self.bump()

    @property
    def requires_grad(self) -> bool:
        """Whether backward brings a gradient here."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient, on the memory that the optimizer reads; None before the first backward."""
        grad = self._gradient
        if grad is not None and not grad._serial:
            grad._serial = next(_serials)
        return grad

    @grad.setter
    def grad(self, value: Array | Tensor | float | None) -> None:
        if value is None:
            self._gradient = None
            return
        if value is self._gradient:  # `p.grad *= 2` ends here
            return
        array = value._data if isinstance(value, Tensor) else as_array(value)
        if array is self._grad and not isinstance(value, Tensor):
            return
        if array.ndim == 0:
            xp = xp_of(self._data)
            array = xp.array(xp.broadcast_to(asarray_like(array, self._data, self._data.dtype), self._data.shape))
        need_one_device("grad", {"gradient": array, "tensor": self._data})
        if array.shape != self._data.shape:
            raise ShapeError(
                explain(
                    "grad: the gradient has another shape than its tensor",
                    got={"gradient": array.shape, "tensor": self.shape},
                    need="the same shape, 0 or None",
                )
            )
        if getattr(value, "grad_fn", None) is not None and array.dtype == self._data.dtype:
            self._gradient = value  # type: ignore[assignment] - a gradient that can be differentiated again
            return
        self._gradient = Tensor.made(array.astype(self._data.dtype, copy=True), None)  # a copy: this tensor's alone

    @property
    def _grad(self) -> Array | None:
        """The array of the gradient, for those that only compute with it."""
        return None if self._gradient is None else self._gradient._data

    @property
    def grad_was_read(self) -> bool:
        """Whether `.grad` was asked for since backward made it, so that it may hold something else by now."""
        return self._gradient is not None and self._gradient._serial > 0

    @property
    def version(self) -> int:
        """How often the values were changed in place, here or through a tensor that shares the memory."""
        return 0 if self._version is None else self._version.count

    def bump(self) -> None:
        """Count a change that was written into the array."""
        self._versions().change()

    def _versions(self) -> Version:
        """The count of changes, which the node that made this tensor is told of too."""
        if self._version is None:
            self._version = Version()
        if self.grad_fn is not None:
            self.grad_fn.output_version = self._version
        return self._version

    def share(self, other: Tensor) -> None:
        """Count changes together with `other`, whose memory this tensor looks at."""
        version = other._versions()
        if not version.lookers:
            version.add(other)
        version.add(self)
        self._version = version
        self._versions()

    def sharers(self) -> list[Tensor]:
        """The other living tensors that look at this memory."""
        return [t for t in self._version.living() if t is not self] if self._version else []

    @property
    def serial(self) -> int:
        """A number of this tensor alone in this process."""
        if not self._serial:
            self._serial = next(_serials)
        return self._serial

    # -- gradients

    def backward(
        self,
        gradient: TensorLike | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Add d(self)/d(leaf) to `.grad` of every leaf it was made from; see `gradlab.autograd.backward`."""
        autograd.backward(self, gradient, retain_graph, create_graph, inputs)

    def accumulate(self, d: Array, fresh: bool = False) -> None:
        """Add `d` into the gradient; `fresh` says that nobody else holds `d`, so that no copy is needed."""
        with adding:
            grad = self._gradient
            if grad is None:
                own = d if fresh and d.__class__ in ARRAY_TYPES else xp_of(d).array(d, copy=True, order="C")
                self._gradient = Tensor.made(own, None)
            else:
                grad._data += d
                grad.bump()
                grad.grad_fn, grad._requires_grad = None, False  # it is no longer what steps made

    def register_hook(self, hook: Callable[[Tensor], Any]) -> Handle:
        """Have `hook(gradient)` called in each backward; a tensor it returns takes the gradient's place. `.remove()` ends it."""
        return register(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], Any]) -> Handle:
        """Have `hook(leaf)` called each time a backward has added to `.grad` of this leaf. `.remove()` ends it."""
        return register_after(self, hook)

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this result."""
        return self.grad_fn is not None and any(reference() is self for reference in self.grad_fn.retained or ())

    def retain_grad(self) -> None:
        """Keep the gradient of this result in `.grad` too, when backward passes it."""
        if not self.requires_grad:
            raise GraphError(
                explain("retain_grad: this tensor requires no gradient", got={"shape": self.shape}, need="a result that requires one")
            )
        if self.grad_fn is not None:
            held = self.grad_fn.retained = self.grad_fn.retained or []
            if not self.retains_grad:
                held.append(weakref.ref(self))
            asked.add(self.grad_fn)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Ask for gradients of this leaf, or no longer.

        Raises:
            DTypeError: integers and booleans have no gradient.
            GraphError: the tensor is no leaf.
        """
        if requires_grad:
            _need_float(self._data, "requires_grad")
        if self.grad_fn is not None and not requires_grad:
            raise GraphError(
                explain(
                    "requires_grad_: this tensor is a result, not a leaf",
                    got={"grad_fn": self.grad_fn},
                    need="a leaf",
                    fix="y = x.detach()",
                )
            )
        self._requires_grad = bool(requires_grad)
        return self

    def detach(self) -> Tensor:
        """The same numbers, in the same memory, without history."""
        out = Tensor.made(self._data, None)
        out.share(self)
        return out

    @property
    def _xp(self) -> Any:
        """What `xp_of` answers: NumPy's names, each with an op behind it."""
        return names_of(xp_of(self._data))


TensorLike: TypeAlias = Tensor | Array | float | int | list[Any]


def _need_float(array: Array, what: str) -> None:
    if array.dtype.kind != "f":
        raise DTypeError(
            explain(
                f"{what}: only floating tensors have a gradient",
                got={"dtype": array.dtype},
                need="float16, float32 or float64",
                fix="the values as floats, for instance t.float()",
            )
        )


use_tensor_type(Tensor)
written_out.use_tensor_type(Tensor)
