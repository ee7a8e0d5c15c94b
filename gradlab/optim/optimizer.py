"""Optimizer: parameter groups, their options and state, and the step that a tracer can watch."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from .. import observe
from .._tensor import Tensor
from ..backend import is_array, xp_of
from ..errors import ShapeError, explain
from ..nn.parameter import Parameter
from .update import Scratch, differences

Group: TypeAlias = dict[str, Any]
Params: TypeAlias = Iterable[Tensor] | Iterable[Mapping[str, Any]]


class Optimizer:
    """Moves parameters against their gradients.

    A subclass writes `step`: it reads `p._grad`, writes into `p._data` and calls `p.bump()`; a parameter whose gradient is
    None is left alone. Every `step`, also one that you write, is seen by a tracer as the change it made.

    Attributes:
        param_groups: dicts with "params" and the options that hold for them.
        state: per parameter, what the method remembers between steps.
        columns: names of the numbers that `summary` gives.

    >>> class SignDescent(Optimizer):
    ...     def step(self):
    ...         for p in self.params():
    ...             p._data -= self.lr_of(p) * (p._grad > 0)
    ...             p.bump()
    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = SignDescent([w], {"lr": 0.5})
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w.tolist()
    [0.5, 1.5]
    """

    columns: tuple[str, ...] = ()
    _stepping: bool = False
    _scratch: Scratch | None = None

    def __init__(self, params: Params, defaults: Mapping[str, Any]) -> None:
        self.defaults = dict(defaults)
        self.state: dict[Tensor, dict[str, Any]] = {}
        self.param_groups: list[Group] = []
        groups = _listed(params)
        if not groups:
            raise ValueError(explain(f"{type(self).__name__}: no parameters came in", got={"params": "empty"},
                                     need="at least one; a generator can be read only once", fix="model.parameters()"))
        for group in groups if isinstance(groups[0], Mapping) else [{"params": groups}]:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _seen(cls.__dict__["step"])  # type: ignore[method-assign]

    def add_param_group(self, group: Mapping[str, Any]) -> None:
        """Take on more parameters, with options of their own where the group names them.

        Raises:
            TypeError: something in it is no tensor.
            ValueError: a parameter that is no leaf, needs no gradient or is in another group; a missing or unknown option.
        """
        name = type(self).__name__
        unknown = [key for key in group if key not in self.defaults and key != "params"]
        if unknown or "params" not in group:
            raise ValueError(explain(f"{name}: a group has params and options", got={"group": ", ".join(group)}, need=", ".join(["params", *self.defaults])))
        given = group["params"]
        new = {"params": _unique(name, [given] if isinstance(given, Tensor) else list(given)), **self.defaults, **{k: v for k, v in group.items() if k != "params"}}
        for p in new["params"]:
            if any(p is q for other in self.param_groups for q in other["params"]):
                raise ValueError(explain(f"{name}: a parameter is in two groups", got={"shape": p.shape}, need="each parameter in one group"))
        self._check(new)
        self.param_groups.append(new)

    def _check(self, group: Group) -> None:
        """Refuse options that make no sense; a subclass says which."""

    def params(self) -> list[Tensor]:
        """The parameters of all groups that have a gradient now."""
        return [p for group in self.param_groups for p in group["params"] if p._grad is not None]

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient.

        Args:
            closure: computes the loss anew and returns it; called first, its value is the result.
        """
        raise NotImplementedError(f"{type(self).__name__} must define step(self)")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or fill them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p._grad = None
                elif p._grad is not None:
                    p._grad[...] = 0

    # What a tracer reads

    def lr_of(self, p: Tensor) -> float:
        """The learning rate that holds for `p`."""
        return float(self._group_of(p)["lr"])

    def summary(self, p: Tensor) -> dict[str, float]:
        """The state of `p` in a few numbers, one for each of `columns`."""
        return {}

    @property
    def scratch_bytes(self) -> int:
        """Memory held because steps are observed: one copy of the parameters, made once and used again."""
        return 0 if self._scratch is None else self._scratch.nbytes

    def _group_of(self, p: Tensor) -> Group:
        for group in self.param_groups:
            for q in group["params"]:
                if q is p:
                    return group
        raise KeyError(f"{type(self).__name__}: this tensor of shape {p.shape} is not one of its parameters")

    # State

    def state_dict(self) -> dict[str, Any]:
        """A copy of the state and the options; parameters are numbers, in the order of the groups."""
        numbers = {id(p): i for i, p in enumerate(self._all())}
        state = {numbers[id(p)]: {key: _copy(value) for key, value in entry.items()} for p, entry in self.state.items()}
        groups = [{**{k: v for k, v in group.items() if k != "params"}, "params": [numbers[id(p)] for p in group["params"]]} for group in self.param_groups]
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken; the values are copied.

        Raises:
            ValueError: the groups have other sizes.
            ShapeError: the state belongs to parameters of other shapes; nothing is changed then.
        """
        saved = state_dict["param_groups"]
        sizes, own = [len(g["params"]) for g in saved], [len(g["params"]) for g in self.param_groups]
        if sizes != own:
            raise ValueError(explain(f"{type(self).__name__}.load_state_dict: the groups differ", got={"parameters per group": sizes}, need=str(own)))
        by_number = dict(zip([i for g in saved for i in g["params"]], self._all(), strict=True))
        for number, entry in state_dict["state"].items():
            for key, value in entry.items():
                if is_array(value) and value.shape not in ((), by_number[number].shape):
                    raise ShapeError(explain(f"{type(self).__name__}.load_state_dict: the state of parameter {number} has another shape",
                                             got={key: value.shape, "parameter": by_number[number].shape}, need="the same shape"))
        self.state = {by_number[number]: {key: _copy(value) for key, value in entry.items()} for number, entry in state_dict["state"].items()}
        for group, new in zip(self.param_groups, saved, strict=True):
            group.update({key: value for key, value in new.items() if key != "params"})

    def _all(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"]]

    def __repr__(self) -> str:
        options = [", ".join([*(f"{k}={v}" for k, v in group.items() if k != "params"), f"params={len(group['params'])}"]) for group in self.param_groups]
        return f"{type(self).__name__}({options[0]})" if len(options) == 1 else "\n  ".join([f"{type(self).__name__}(", *options]) + "\n)"


def _seen(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step`, and around it the `step` event where somebody watches; the numbers are the same either way."""

    @functools.wraps(step)
    def seen(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        observer = observe.current
        if observer is None or self._stepping:  # the latter: super().step() inside an observed step
            if observer is None:
                self._scratch = None
            return step(self, *args, **kwargs)
        result: list[Any] = []

        def run() -> list[tuple[Tensor, Any]]:
            result.append(step(self, *args, **kwargs))
            return differences(moving, before)

        moving = [p for group in getattr(self, "param_groups", ()) for p in group["params"] if args or kwargs or p._grad is not None]
        if self._scratch is None:
            self._scratch = Scratch()
        before = self._scratch.copies(moving)
        self._stepping = True
        try:
            observe.watched(observer, "step", self, (), run)
        finally:
            self._stepping = False
        return result[0]

    return seen


def _listed(params: Any) -> list[Any]:
    """The parameters or groups as a list; what is no list of parameters gets a clear answer."""
    if isinstance(params, Tensor) or not isinstance(params, Iterable) or isinstance(params, (str, Mapping)):
        fix = "model.parameters()" if hasattr(params, "parameters") else "[w]" if isinstance(params, Tensor) else ""
        raise TypeError(explain("optimizer: needs a list of parameters", got={"params": type(params).__name__}, need="an iterable of parameters, or of dicts", fix=fix))
    return list(params)


def _unique(name: str, tensors: list[Any]) -> list[Tensor]:
    """Each once, in order; one that no gradient can reach is refused."""
    found: dict[int, Tensor] = {}
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(explain(f"{name}: moves tensors only", got={"params": type(t).__name__}, need="Parameters, or tensors with requires_grad=True"))
        if not t.is_leaf:
            raise ValueError(explain(f"{name}: can't move the result of {t.grad_fn!r}", got={"shape": t.shape},
                                     need="a leaf: a Parameter, or a tensor that no op made", fix="t.detach().requires_grad_()"))
        if not (t.requires_grad or isinstance(t, Parameter)):  # a frozen Parameter is fine: it is skipped
            raise ValueError(explain(f"{name}: this tensor requires no gradient", got={"shape": t.shape}, need="requires_grad=True", fix="t.requires_grad_()"))
        found[id(t)] = t
    if len(found) < len(tensors):
        warnings.warn(f"{name}: {len(tensors) - len(found)} parameters came in twice; each is moved once a step", UserWarning, stacklevel=5)
    return list(found.values())


def _copy(value: Any) -> Any:
    return xp_of(value).array(value, order="C") if is_array(value) else value
