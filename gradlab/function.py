"""Function: one differentiable step, and the two doors every step goes through."""

# pyright: reportPrivateUsage=false, reportPossiblyUnboundVariable=false
# Function and Tensor are two halves of one idea: the hot path reads a tensor's slots, not its properties.

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter_ns as clock
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast
from weakref import WeakSet

import numpy as np

from . import observe
from .backend import ARRAY_TYPES, Array, align, as_array, need_one_device, unbroadcast
from .cases import Case
from .errors import ArgumentError, DTypeError, GraphError, ShapeError, explain
from .grad_mode import recording
from .order import Version, sequence

if TYPE_CHECKING:
    from ._tensor import Tensor, TensorLike

_NO_PARAMS: dict[str, Any] = {}
_ndarray = np.ndarray
Kind = Literal["matmul", "elementwise", "reduce", "shape", "loss"]


class Constant:
    """A Python number as an input: it stays a number, so that it widens no dtype (NEP 50) and needs no copy to a GPU."""

    __slots__ = ("_data",)
    shape = ()
    requires_grad = _requires_grad = False
    grad_fn = _version = None
    version = 0

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
        edges: per input, where that gradient goes: the Function that had made the input, a leaf itself, or None.
        params: the keyword arguments of `apply`.
        seq: the place in the order of all steps and changes of this process.
    """

    latex: ClassVar[str] = ""  # the formula, for panels to typeset
    kind: ClassVar[Kind] = "elementwise"  # what colour the node has in the graph
    cases: ClassVar[tuple[Case, ...]] = ()  # what the step is checked on
    aligns: ClassVar[bool] = False  # operands are brought to one dtype before forward, see `backend.align`
    exact: ClassVar[bool] = False  # given inputs of one shape and dtype, backward answers in them: there is nothing to repair
    reads: ClassVar[tuple[str, ...]] = ("inputs", "output")  # the values backward relies on: a change of them is an error
    fresh: ClassVar[bool] = False  # backward returns new arrays only, so that a leaf may keep them without a copy
    joins: ClassVar[bool] = False  # `add_into(total, g)` adds the gradient to what the only input has already, without an array of its size
    by_reference: ClassVar[bool] = False  # backward is right in itself, but its derivative is not: `reference` is differentiated twice
    params: dict[str, Any] = _NO_PARAMS
    retained: list[Any] | None = None  # weak references to outputs whose gradient is to be kept
    hooks: Any = None  # what is called with the gradient of the output, see gradlab.autograd.hook
    output_version: Version | None = None  # how often the output was changed, where it was; see Tensor.bump

    __slots__ = ("__dict__", "__weakref__", "edges", "fits", "inputs", "needs", "seq")
    seq: int
    inputs: tuple[Tensor | Constant, ...]
    needs: tuple[bool, ...]
    fits: bool  # whether what `exact` promises holds here, so that gradients need no look
    edges: tuple[Function | Tensor | None, ...]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in ("forward", "backward"):
            if isinstance(vars(cls).get(name), (staticmethod, classmethod)):
                raise ArgumentError(
                    explain(
                        f"{cls.__name__}.{name}: a step is an instance here, with no `ctx` beside it",
                        got={name: "a static or class method"},
                        need="def forward(self, *arrays) and def backward(self, g); what forward keeps on self is saved",
                    )
                )

    def forward(self, *arrays: Any, **params: Any) -> Array:
        """Compute the output array from the input arrays."""
        raise NotImplementedError(f"{type(self).__name__} must define forward(self, *arrays, **params)")

    def backward(self, g: Array) -> Array | tuple[Array | None, ...]:
        """Map the gradient of the output to the gradients of the inputs."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient: write backward(self, g), or detach its inputs")

    def add_into(self, total: Array, g: Array) -> None:
        """Where the step `joins`: add `backward(g)` to `total` in its place."""
        raise NotImplementedError(f"{type(self).__name__} joins nothing: write add_into(self, total, g)")

    def refuse(self, error: ValueError) -> None:
        """Raise a clearer error for what an array library said in `forward`, where there is one."""

    @classmethod
    def apply(cls, *inputs: TensorLike, **params: Any) -> Tensor:
        """Run the step on tensors and, where a gradient is wanted, remember how.

        Anything that is not a Tensor is taken as a constant: numbers, arrays, nested lists.
        """
        fn = cls()
        fn.seq = next(sequence)
        if params:
            fn.params = params
        for x in inputs:
            if not isinstance(x, _tensor_type):
                inputs = tuple([_as_input(x) for x in inputs])
                break
        fn.inputs = inputs  # type: ignore[assignment]
        told = observe.ops
        if told is None:
            return fn._run()
        if told.before is not None:
            told.before(fn)
        began = clock()
        try:
            out = fn._run()
        except BaseException as error:
            told.failed(fn, None, error, began)
            raise
        told.forward(fn, out, began)
        return out

    def _run(self) -> Tensor:
        arrays: list[Any] = [t._data for t in self.inputs]
        if self.aligns:
            arrays = align(arrays)
        try:
            data = self.forward(*arrays, **self.params) if self.params else self.forward(*arrays)
        except (ValueError, TypeError) as error:
            _explain(self, arrays, error)
            raise
        return self._made(data, arrays)

    def _made(self, data: Any, arrays: Sequence[Any]) -> Tensor:
        """The output tensor; where a gradient is wanted, the node notes where it goes."""
        if data.__class__ is not _ndarray:
            data = _placed(self, data, arrays)
        inputs: tuple[Any, ...] = self.inputs
        wanted = False
        for t in inputs:  # a plain loop: half the time of any(...)
            if t._requires_grad:
                wanted = recording.get()[-1] and data.dtype.kind == "f"
                break
        out = _tensor_type.made(data, self if wanted else None)
        base = data.base
        if base is not None or (arrays and (data is arrays[0] or data is arrays[-1])):
            _share(out, data, base, inputs)
        if wanted:
            needs: list[bool] = []
            edges: list[Any] = []
            looked_at = False
            for t in inputs:
                maker = t.grad_fn
                needs.append(t._requires_grad)
                edges.append((maker or t) if t._requires_grad else None)
                if maker is not None and t._version is not None:
                    looked_at = True
            self.needs, self.edges = tuple(needs), tuple(edges)
            if looked_at:
                self.inputs = tuple([_held(t) for t in inputs])
            self.fits = self.exact and len(inputs) == 1 and data.ndim > 0  # of 0-d arrays NumPy makes numbers
        return out

    def pull(self, g: Array) -> tuple[Array | None, ...]:
        """`backward(g)`: one gradient per input, each in its input's shape and dtype (None where none is needed)."""
        told = observe.ops
        return self.pull_unwatched(g) if told is None else self.pull_watched(g, told)

    def pull_watched(self, g: Array, told: observe.Told) -> tuple[Array | None, ...]:
        """What `pull` does, with the event."""
        began = clock()
        try:
            grads = self.pull_unwatched(g)
        except BaseException as error:
            told.failed(self, g, error, began)
            raise
        told.backward(self, g, grads, began)
        return grads

    def pull_unwatched(self, g: Array) -> tuple[Array | None, ...]:
        """What `pull` does, without the event: for a pass that nobody watches."""
        result = self.backward(g)
        grads: tuple[Array | None, ...] = result if result.__class__ is tuple else (result,)
        if self.fits:
            return grads
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
        if "inputs" in self.reads:
            for i, t in enumerate(inputs):
                if t._version is not None and t._version.changed > self.seq:
                    raise _changed(self, f"input {i}, shape {t.shape},", t._version)
        if "output" in self.reads and self.output_version is not None and self.output_version.changed > self.seq:
            raise _changed(self, "its output", self.output_version)

    def free(self) -> None:
        """Drop what was saved; a later backward through this step is an error that says so."""
        self.inputs = self.edges = None  # type: ignore[assignment]
        self.fits = False
        self.__dict__.clear()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


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


asked: WeakSet[Function] = WeakSet()  # the steps whose output's gradient somebody asked for: a pass looks out for them


def _changed(fn: Function, what: str, version: Version) -> GraphError:
    return GraphError(
        explain(
            f"{type(fn).__name__}: {what} was changed in place after it was used",
            got={"version now": version.count},
            need="the values that forward saw",
            fix="change a copy: y = x.clone()",
        )
    )


def _explain(fn: Function, arrays: Sequence[Any], error: Exception) -> None:
    """Raise a clearer error for what went wrong in `forward`, where there is one."""
    if any(a.__class__ is not np.ndarray for a in arrays):
        named = {f"input {i}": a for i, a in enumerate(arrays)}
        for name, value in fn.params.items():  # an index may hold arrays too
            for x in cast("tuple[Any, ...]", value if isinstance(value, tuple) else (value,)):
                if x.__class__ in ARRAY_TYPES:
                    named[name] = x
        need_one_device(type(fn).__name__, named)
    if isinstance(error, ValueError):
        fn.refuse(error)
    elif "numpy boolean" in str(error):  # where NumPy has no rule for them
        got = {f"input {i}": a.dtype for i, a in enumerate(arrays) if hasattr(a, "dtype")}
        need = "numbers: truth values have no difference"
        raise DTypeError(explain(f"{type(fn).__name__}: takes no truth values", got=got, need=need, fix="x.float()")) from None


def _placed(fn: Function, data: Any, arrays: Sequence[Any]) -> Array:
    """What `forward` returned, as an array, where that is no NumPy array: a NumPy scalar, or an array on a device.

    There the inputs are asked whether they are on one device: some mixtures raise nothing by themselves.
    """
    if data.__class__ not in ARRAY_TYPES:
        kind = data.__class__
        if kind in (tuple, list, type(None)) or issubclass(kind, _tensor_type):
            need = "one array; tensors are inputs of apply, and several results are one array, cut by the caller"
            raise ArgumentError(explain(f"{type(fn).__name__}.forward: no array", got={"type": kind.__name__}, need=need))
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
    return _tensor_type.made(written(x), None)


def written(x: Any) -> Array:
    """The array of numbers, or of nested lists of them, that stand in a call.

    Raises:
        GraphError: a tensor in a list requires a gradient, which would be lost.
    """
    if isinstance(x, (list, tuple)) and wants_gradient(cast("Any", x)):
        kinds = dict.fromkeys([type(one).__name__ for one in cast("list[Any]", x)])
        got = {"type": f"{type(x).__name__} of {' and '.join(kinds)}"}  # pyright: ignore[reportUnknownArgumentType]
        need = "one tensor: gl.stack(tensors), or of what a layer returns the part that is meant: y, state = lstm(x)"
        raise GraphError(explain("a list of tensors would lose their gradient", got=got, need=need))
    return as_array(x)


def wants_gradient(values: Any) -> bool:
    """Whether a tensor that requires a gradient is among these values, at any depth of lists and tuples."""
    if isinstance(values, (list, tuple)):
        return any(wants_gradient(v) for v in cast("list[Any]", values))
    return getattr(values, "requires_grad", False)


def _held(t: Any) -> Any:
    """What a node keeps of a result whose memory others look at: a twin, so that only what the user has counts as looking."""
    if t.grad_fn is None or t._version is None or not t._version.lookers:
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
