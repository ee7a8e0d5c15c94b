"""Function: one differentiable step, and the two doors every step goes through."""

# pyright: reportPrivateUsage=false
# Function and Tensor are two halves of one idea: the hot path reads a tensor's slots, not its properties.

from __future__ import annotations

import functools
from itertools import count
from sys import getrefcount
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from . import observe
from .backend import ARRAY_TYPES, Array, align, as_array, need_one_device, unbroadcast
from .cases import Case
from .errors import GraphError, ShapeError, explain
from .grad_mode import recording

if TYPE_CHECKING:
    from ._tensor import Tensor, TensorLike

_sequence = count(1)
_new = object.__new__
_NO_PARAMS: dict[str, Any] = {}
Kind = Literal["matmul", "elementwise", "reduce", "shape", "loss"]


class Constant:
    """A Python number as an input: it stays a number, so that it widens no dtype (NEP 50) and needs no copy to a GPU."""

    __slots__ = ("_data",)
    shape = ()
    requires_grad = _requires_grad = False
    grad_fn = None
    version = 0
    _version: ClassVar[list[Any]] = [0]  # a number never changes

    def __init__(self, number: float) -> None:
        self._data = number

    @property
    def data(self) -> float:
        """The number."""
        return self._data

    def __repr__(self) -> str:
        return repr(self._data)


class Function:
    """One step of a computation; the instance is the graph node (`grad_fn`) of the tensor it made.

    A subclass writes `forward` on arrays and `backward`, which maps the gradient `g` of the loss with respect to the
    output to one gradient per input. Whatever `forward` keeps on `self` is what it saved; nothing else is stored.

    Attributes:
        inputs: what the step read: Tensors, and Constants for Python numbers.
        needs: per input, whether a gradient has to go there; `backward` may return None where it does not.
        parents: per input, the Function that had made it at that time; None for a leaf.
        params: the keyword arguments of `apply`.
        seq: the place in the order of all steps of this process.
    """

    latex: ClassVar[str] = ""  # the formula, for panels to typeset
    kind: ClassVar[Kind] = "elementwise"  # what colour the node has in the graph
    cases: ClassVar[tuple[Case, ...]] = ()  # what the step is checked on
    aligns: ClassVar[bool] = False  # operands are brought to one dtype before forward, see `backend.align`
    reads: ClassVar[tuple[str, ...]] = ("inputs", "output")  # the values backward relies on: a change of them is an error
    fresh: ClassVar[bool] = False  # backward returns new arrays only, so that a leaf may keep them without a copy
    retained: list[Any] | None = None  # weak references to outputs whose gradient is to be kept
    hooks: Any = None  # what is called with the gradient of the output, see gradlab.autograd.hook

    __slots__ = ("__dict__", "__weakref__", "inputs", "needs", "params", "parents", "seen", "seq", "versions")
    seq: int
    inputs: tuple[Tensor | Constant, ...]
    parents: tuple[Function | None, ...]
    needs: tuple[bool, ...]
    params: dict[str, Any]
    versions: list[list[Any]]  # the counts of changes of what backward reads, inputs first
    seen: list[int]  # what they were
    _reads_inputs: ClassVar[bool] = True
    _reads_output: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._reads_inputs, cls._reads_output = "inputs" in cls.reads, "output" in cls.reads

    def forward(self, *arrays: Any, **params: Any) -> Array:
        """Compute the output array from the input arrays."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(self, *arrays, **params)")

    def backward(self, g: Array) -> Array | tuple[Array | None, ...]:
        """Map the gradient of the output to the gradients of the inputs."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient: write backward(self, g), or detach its inputs")

    def refuse(self, error: ValueError) -> None:
        """Raise a clearer error for what an array library said in `forward`, where there is one."""

    @classmethod
    def apply(cls, *inputs: TensorLike, **params: Any) -> Tensor:
        """Run the step on tensors and, where a gradient is wanted, remember how.

        Anything that is not a Tensor is taken as a constant: numbers, arrays, nested lists.
        """
        fn = _new(cls)
        fn.seq = next(_sequence)
        fn.params = params or _NO_PARAMS
        for x in inputs:
            if not isinstance(x, _tensor_type):
                inputs = tuple([_as_input(x) for x in inputs])
                break
        fn.inputs = inputs  # type: ignore[assignment]
        observer = observe.current
        if observer is None:
            return fn._run()
        return observe.watched(observer, "forward", fn, inputs, fn._run)

    def _run(self) -> Tensor:
        inputs: tuple[Any, ...] = self.inputs
        arrays: list[Any] = []
        needs: list[bool] = []
        shared = False
        for t in inputs:  # one plain loop: a comprehension an attribute costs twice as much
            arrays.append(t._data)
            needs.append(t._requires_grad)
            if len(t._version) > 1:
                shared = True
        if self.aligns:
            arrays = align(arrays)
        try:
            data = self.forward(*arrays, **self.params) if self.params else self.forward(*arrays)
        except (ValueError, TypeError) as error:
            _explain(self, arrays, error)
            raise
        if data.__class__ is not np.ndarray:
            data = _placed(self, data, arrays)
        self.needs = tuple(needs)
        wanted = True in needs and recording.get()[-1] and data.dtype.kind == "f"
        out = _tensor_type.made(data, self if wanted else None)
        base = data.base
        if base is not None or (arrays and (data is arrays[0] or data is arrays[-1])):
            _share(out, data, base, inputs)
        if wanted:
            self._remember(inputs, out, shared)
        return out

    def _remember(self, inputs: tuple[Any, ...], out: Tensor, shared: bool) -> None:
        """Note where the gradient goes, and the versions of what backward reads."""
        parents: list[Function | None] = []
        versions: list[list[Any]] = []
        for t in inputs:
            parents.append(t.grad_fn)
            if self._reads_inputs:
                versions.append(t._version)
        if self._reads_output:
            versions.append(out._version)
        self.parents, self.versions = tuple(parents), versions
        self.seen = [version[0] for version in versions] if versions else versions  # type: ignore[assignment]
        if shared:
            self.inputs = tuple([_held(t) for t in inputs])

    def pull(self, g: Array) -> tuple[Array | None, ...]:
        """`backward(g)`: one gradient per input, each in its input's shape and dtype (None where none is needed)."""
        observer = observe.current
        if observer is None:
            return self.pull_unwatched(g)
        return observe.watched(observer, "backward", self, (g,), functools.partial(self.pull_unwatched, g))

    def pull_unwatched(self, g: Array) -> tuple[Array | None, ...]:
        """What `pull` does, without the event: for a pass that nobody watches."""
        result = self.backward(g)
        grads: tuple[Array | None, ...] = result if result.__class__ is tuple else (result,)
        inputs: tuple[Any, ...] = self.inputs
        if len(grads) != len(inputs):
            raise GraphError(
                explain(
                    f"{type(self).__name__}.backward: one gradient per input, please",
                    got={"inputs": len(inputs), "gradients": type(result).__name__ if len(grads) == 1 else len(grads)},
                    need=f"a tuple of {len(inputs)} arrays, or None where there is no gradient",
                )
            )
        for d, t, need in zip(grads, inputs, self.needs):  # noqa: B905 (lengths are equal, and this loop is hot)
            if d is None:
                continue
            if not need or d.__class__ not in ARRAY_TYPES or d.shape != t._data.shape or d.dtype is not t._data.dtype:
                return tuple(
                    [_fitted(self, d, t) if need and d is not None else None for d, t, need in zip(grads, inputs, self.needs, strict=True)]
                )
        return grads

    def check(self) -> None:
        """Refuse a pull that would read freed or changed values.

        Raises:
            GraphError: the step was freed by an earlier backward, or something it reads was changed in place.
        """
        inputs = cast("tuple[Any, ...] | None", self.inputs)
        if inputs is None:
            raise GraphError(
                explain(
                    "backward: this graph was freed by an earlier backward",
                    got={"step": type(self).__name__},
                    need="a graph not used yet",
                    fix="the forward pass again, or loss.backward(retain_graph=True) the first time",
                )
            )
        i = 0
        for version in self.versions:
            if version[0] != self.seen[i]:
                at_input = self._reads_inputs and i < len(inputs)
                raise _changed(self, f"input {i}, shape {inputs[i].shape}," if at_input else "its output", self.seen[i], version[0])
            i += 1  # noqa: SIM113 (a plain count is quicker in this hot loop)

    def free(self) -> None:
        """Drop what was saved; a later backward through this step is an error that says so."""
        self.inputs = self.parents = None  # type: ignore[assignment]
        if getrefcount(self) > _UNHELD:  # else it goes away right now, and its dictionary need not be made
            self.__dict__.clear()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def _count_of_an_unheld_node() -> int:
    """What `getrefcount(self)` says inside `free` when only the backward pass still has the node."""

    class Probe(Function):
        def free(self) -> None:
            self.seen = [getrefcount(self)]

    fn = Probe()
    fn.free()
    return fn.seen[0]


_UNHELD = _count_of_an_unheld_node()


def _fitted(fn: Function, d: Array, tensor: Any) -> Array:
    """The gradient in its input's shape and dtype; un-broadcasting is here, so that rules stay textbook."""
    data = tensor._data
    shape = data.shape
    if d.__class__ not in ARRAY_TYPES:
        d = np.asarray(d)
    if d.shape != shape:
        try:
            d = unbroadcast(d, shape)
        except (ValueError, IndexError):
            raise ShapeError(
                explain(
                    f"{type(fn).__name__}.backward: a gradient doesn't fit its input",
                    got={"gradient": d.shape, "input": shape},
                    need="the input's shape, or one it broadcasts to",
                )
            ) from None
    if d.dtype is not data.dtype and d.dtype != data.dtype:
        d = d.astype(data.dtype)
    return d


def _changed(fn: Function, what: str, then: int, now: int) -> GraphError:
    return GraphError(
        explain(
            f"{type(fn).__name__}: {what} was changed in place after it was used",
            got={"version at use": then, "version now": now},
            need="the values that forward saw",
            fix="change a copy: y = x.clone()",
        )
    )


def _explain(fn: Function, arrays: list[Any], error: Exception) -> None:
    """Raise a clearer error for what went wrong in `forward`, where there is one."""
    if any(a.__class__ is not np.ndarray for a in arrays):
        need_one_device(type(fn).__name__, arrays)
    if isinstance(error, ValueError):
        fn.refuse(error)


def _placed(fn: Function, data: Any, arrays: list[Any]) -> Array:
    """What `forward` returned, as an array, where that is no NumPy array: a NumPy scalar, or an array on a device.

    There the inputs are asked whether they are on one device: some mixtures raise nothing by themselves.
    """
    if data.__class__ not in ARRAY_TYPES:
        data = as_array(data)
    if data.__class__ is not np.ndarray and len(arrays) > 1:
        need_one_device(type(fn).__name__, arrays)
    return data


def _as_input(x: Any) -> Tensor | Constant:
    if isinstance(x, _tensor_type):
        return x
    if isinstance(x, np.generic):  # first: np.float64 is a float too, and widens
        return Constant(cast("float", x.item()))
    if isinstance(x, (bool, int, float)):
        return Constant(x)
    if isinstance(x, (list, tuple)) and wants_gradient(cast("Any", x)):
        raise GraphError(
            explain(
                "a list of tensors would lose their gradient",
                got={"type": "list"},
                need="one tensor",
                fix="gl.stack(tensors)",
            )
        )
    return _tensor_type.made(as_array(x), None)


def wants_gradient(values: Any) -> bool:
    """Whether a tensor that requires a gradient is among these values, at any depth of lists and tuples."""
    if isinstance(values, (list, tuple)):
        return any(wants_gradient(v) for v in cast("list[Any]", values))
    return getattr(values, "requires_grad", False)


def _held(t: Any) -> Any:
    """What a node keeps of a result whose memory others look at: a twin, so that only what the user has counts as looking."""
    if t.grad_fn is None or len(t._version) == 1:
        return t
    twin = _tensor_type.made(t._data, t.grad_fn)
    twin._version = t._version
    return twin


def _share(out: Tensor, data: Array, base: Array | None, inputs: tuple[Any, ...]) -> None:
    """Let `out` count changes together with the input whose memory it looks at, if there is one."""
    for t in inputs:
        array = t._data
        if data is array or (base is not None and array.__class__ in ARRAY_TYPES and (base is array or base is array.base)):
            out.share(t)
            return


_tensor_type: type[Tensor]  # filled by gradlab._tensor, which sits above this module


def made(data: Array) -> Tensor:
    """A tensor without history around an array as it is, for modules below `gradlab._tensor`."""
    return _tensor_type.made(data, None)


def use_tensor_type(cls: type[Tensor]) -> None:
    """Tell Function what a Tensor is; called once, by `gradlab._tensor`."""
    global _tensor_type
    _tensor_type = cls
