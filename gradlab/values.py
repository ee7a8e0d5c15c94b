"""What a tensor says of itself, and what it is as a value of Python or NumPy, copied, stored and printed."""

# pyright: standard, reportArgumentType=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# `self` is a Tensor: Tensor alone is made of this class.

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import interchange, numpy_call
from .autograd.replay import on_tensors
from .backend import DEFAULT_FLOAT, Array, Device, as_array, device_of, moved, on_host, to_numpy
from .errors import GraphError, ShapeError, explain
from .function import made

if TYPE_CHECKING:
    from ._tensor import Tensor


class Values:
    """What can be asked of a Tensor; nothing here is a step of the graph."""

    __slots__ = ()
    _data: Array
    _requires_grad: bool
    grad_fn: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self._data.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._data.ndim

    @property
    def dtype(self) -> Any:
        """Kind of number."""
        return self._data.dtype

    @property
    def device(self) -> Device:
        """Where the array lives."""
        return device_of(self._data)

    @property
    def is_cuda(self) -> bool:
        """Whether the array lives on a GPU."""
        return self.device.type == "cuda"

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded step made it."""
        return self.grad_fn is None

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one axis."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """Number of axes."""
        return self._data.ndim

    def numel(self) -> int:
        """Number of entries."""
        return int(self._data.size)

    def nelement(self) -> int:
        """Number of entries."""
        return int(self._data.size)

    def element_size(self) -> int:
        """Bytes of one entry."""
        return int(self._data.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all entries."""
        return int(self._data.nbytes)

    def stride(self, dim: int | None = None) -> Any:
        """How many entries further the next one of an axis lies; of all axes, or of one."""
        steps = tuple(step // self._data.itemsize for step in self._data.strides)
        return steps if dim is None else steps[dim]

    def is_floating_point(self) -> bool:
        """Whether the entries are floating numbers, which alone have gradients."""
        return self._data.dtype.kind == "f"

    # -- others of its kind

    def new_full(self, size: Any, fill_value: float, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        """One number everywhere, in a shape of your own; in this dtype and on this device where none is named."""
        place = self.device if device is None else Device(device)
        with place.scope():
            array = place.xp.full(size, fill_value, dtype=self._data.dtype if dtype is None else dtype)
        return made(array).requires_grad_(requires_grad)

    def new_zeros(self, *shape: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        """Zeros of a shape, given as numbers or as one tuple; in this dtype and on this device where none is named."""
        return self.new_full(_size(shape) if size is None else size, 0, dtype, device, requires_grad)

    def new_ones(self, *shape: Any, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        """Ones of a shape, given as numbers or as one tuple; in this dtype and on this device where none is named."""
        return self.new_full(_size(shape) if size is None else size, 1, dtype, device, requires_grad)

    def new_tensor(self, data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
        """A copy of numbers, in this dtype and on this device where none is named."""
        place = self.device if device is None else Device(device)
        array = as_array(data._data if hasattr(data, "grad_fn") else data)
        array = moved(array.astype(self._data.dtype if dtype is None else dtype, copy=True), place)
        return made(array).requires_grad_(requires_grad)

    # -- as a value of Python

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The array in main memory, shared with the tensor; by `force` also without its graph, and as a copy from a device.

        Raises:
            GraphError: the tensor requires a gradient, which NumPy would lose.
            DeviceError: it is on a device: the copy from there has to be asked for.
        """
        if force:
            return self.detach().cpu()._data  # type: ignore[attr-defined]
        if self.requires_grad:
            raise GraphError(
                explain(
                    "numpy: this tensor requires a gradient, which an array would lose",
                    got={"shape": self.shape},
                    need="a tensor without history",
                    fix="t.detach().numpy()" if on_host(self._data) else "t.detach().cpu().numpy()",
                )
            )
        interchange.need_host(self, "numpy: this tensor is on a device", "t.cpu().numpy()")
        return self._data

    def item(self) -> Any:
        """The only entry as a Python number."""
        self._need_no_graph("item: a number would lose the graph that a rule is making")
        self._need_one_entry("item: only a tensor with one entry is a number", "t.tolist()")
        return self._data.item()

    def _need_no_graph(self, what: str) -> None:
        if self._requires_grad and on_tensors.get():
            raise GraphError(explain(what, got={"shape": self.shape}, need="operators, and functions of xp_of(x)"))

    def _need_one_entry(self, what: str, fix: str) -> None:
        if self._data.size != 1:
            raise ShapeError(explain(what, got={"shape": self.shape}, need="one entry", fix=fix))

    def tolist(self) -> Any:
        """The numbers in nested lists."""
        return self._data.tolist()

    def __len__(self) -> int:
        if not self._data.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self._data.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self._data.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        self._need_one_entry("bool: only a tensor with one entry is true or false", "t.all() or t.any()")
        return bool(self._data)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else str(self)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self._data.dtype.kind not in "iu":
            raise TypeError(f"only an integer tensor can be an index, not {self._data.dtype}")
        return int(self.item())

    # -- as an array, see gradlab.numpy_call and gradlab.interchange

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        interchange.need_host(self, "numpy: this tensor is on a device, and became no array", "t.detach().cpu().numpy()")
        self._need_no_graph("numpy: an array would lose the graph that a rule is making")
        return np.array(self._data, dtype=dtype, copy=copy)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return interchange.lent(self, "cuda", "__cuda_array_interface__").__cuda_array_interface__

    def __cupy_override_elementwise_kernel__(self, kernel: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        return numpy_call.kernel(kernel.name, args, out, kwargs)

    @property
    def __sim_array__(self) -> Array:  # the same rule for the simulated device
        return interchange.lent(self, "sim", "__sim_array__")

    def __dlpack__(self, *, copy: bool | None = None, **protocol: Any) -> Any:
        return interchange.exported(self, copy, protocol)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._data.__dlpack_device__()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        return numpy_call.ufunc(ufunc, method, inputs, out, kwargs)

    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return numpy_call.function(function, args, kwargs)

    # -- copied, stored, printed

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self.grad_fn is not None:
            raise GraphError(
                explain(
                    "deepcopy: this tensor is a result, and its graph can't be copied",
                    got={"grad_fn": self.grad_fn},
                    need="a leaf",
                    fix="t.detach().clone()",
                )
            )
        out = type(self).made(self._data.copy(), None)
        out._requires_grad = self._requires_grad
        out.grad = self._grad
        memo[id(self)] = out
        return out

    def __copy__(self) -> Tensor:
        out = type(self).made(self._data, self.grad_fn)
        out._requires_grad = self._requires_grad
        out.share(self)
        return out

    def __reduce__(self) -> Any:
        if self.grad_fn is not None:
            raise GraphError(
                explain(
                    "pickle: this tensor is a result, and its graph can't be stored",
                    got={"grad_fn": self.grad_fn},
                    need="a leaf",
                    fix="t.detach()",
                )
            )
        return rebuilt, (type(self), to_numpy(self._data), self.requires_grad, str(self.device))

    def __repr__(self) -> str:
        numbers = np.array2string(to_numpy(self._data), separator=", ", prefix="tensor(", threshold=200, edgeitems=3)
        notes = [f"shape={self.shape}"]
        if self.dtype not in (DEFAULT_FLOAT, np.dtype("int64"), np.dtype("bool")):
            notes.append(f"dtype={self.dtype}")
        if not on_host(self._data):
            notes.append(f"device='{self.device}'")
        if self.grad_fn is not None:
            notes.append(f"grad_fn={self.grad_fn}")
        elif self.requires_grad:
            notes.append("requires_grad=True")
        return f"tensor({numbers}, {', '.join(notes)})"


def rebuilt(cls: type[Tensor], array: np.ndarray, requires_grad: bool, device: str = "cpu") -> Tensor:
    """What unpickling calls."""
    out = cls.made(moved(array, Device(device)), None)
    out._requires_grad = requires_grad
    return out


def _size(size: tuple[Any, ...]) -> Any:
    return size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
