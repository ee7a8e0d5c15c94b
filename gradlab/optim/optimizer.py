"""Optimizer: parameter groups, their options and state, and the step that a tracer can watch."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self, TypeAlias

from .._tensor import Tensor
from ..backend import Array, device_of, moved
from ..errors import ArgumentError, KeywordError, ShapeError, explain
from ..grad_mode import enable_grad
from ..nn.module import Module
from ..nn.state import writeable
from .given import group_of, listed, need_keywords, plain
from .saved import copied, loaded, need_entry
from .update import Scratch, observed

Group: TypeAlias = dict[str, Any]
Params: TypeAlias = Iterable[Tensor] | Iterable[Mapping[str, Any]]


class Optimizer:
    """Moves parameters against their gradients.

    A subclass writes `step`: it reads `p._grad`, writes into `p._data` and calls `p.bump()`; a parameter whose gradient is
    None is left alone. Every `step`, also one that you write, is seen by a tracer as the change it made.

    Attributes:
        param_groups: dicts with "params" and the options that hold for them.
        state: per parameter, what the method remembers between steps.
        has_stepped: whether `step` was called; schedules ask.
        columns: names of the numbers that `summary` gives.
        remembers: all names in the state of a parameter, "step" or of arrays in its shape; empty where a class doesn't say.

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
    remembers: tuple[str, ...] = ()
    has_stepped: bool = False
    _stepping: bool = False
    _scratch: Scratch | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Refuse options by other names, before anything is made."""
        need_keywords(cls, kwargs)
        return super().__new__(cls)

    def __init__(self, params: Params, defaults: Mapping[str, Any]) -> None:
        self.defaults = {option: plain(value) for option, value in defaults.items()}
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)  # `self.state[p]` of your step is {} at first
        self.param_groups: list[Group] = []
        self._owners: dict[Tensor, Group] = {}
        groups = listed(type(self).__name__, params)
        if not groups:
            raise ArgumentError(
                explain(
                    f"{type(self).__name__}: no parameters came in",
                    got={"params": "empty"},
                    need="at least one; a tensor in an attribute is none unless nn.Parameter, and a generator can be read only once",
                )
            )
        for group in groups if isinstance(groups[0], Mapping) else [{"params": groups}]:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = observed(cls.__dict__["step"])  # type: ignore[method-assign]

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Take on more parameters, with options of their own where the group names them.

        Args:
            param_group: a dict with "params" (tensors, or pairs of name and tensor as `named_parameters` gives them) and options.

        Raises:
            KeywordError: something in it is no tensor, or an option no number.
            ArgumentError: a parameter that is no leaf, needs no gradient or is in another group; a missing or unknown option;
                names for some parameters only.
            Nothing is changed then.
        """
        name = type(self).__name__
        new = group_of(name, param_group, self.defaults)
        for p in new["params"]:
            if any(p is q for other in self.param_groups for q in other["params"]):
                raise ArgumentError(
                    explain(f"{name}: a parameter is in two groups", got={"shape": p.shape}, need="each parameter in one group")
                )
        if self.param_groups and ("param_names" in new) != ("param_names" in self.param_groups[0]):
            raise ArgumentError(
                explain(
                    f"{name}: some groups have names for their parameters",
                    got={"new group": "with names" if "param_names" in new else "without names"},
                    need="all of them, or none",
                )
            )
        self._check(new)
        self.param_groups.append(new)
        self._owners.update(dict.fromkeys(new["params"], new))

    def _check(self, group: Group) -> None:
        """Refuse options that make no sense; a subclass says which."""

    def moments_of(self, group: Group) -> tuple[str, ...]:
        """Names of the arrays, in the shape of a parameter, that the method remembers under these options."""
        return ()

    def params(self) -> list[Tensor]:
        """The parameters of all groups that have a gradient now."""
        return [p for _, parameters in self._moving() for p, _ in parameters]

    def _moving(self) -> list[tuple[Group, list[tuple[Tensor, Array]]]]:
        """Each group with those of its parameters that have a gradient now, and that; all of them can be written into."""
        moving = [(group, [(p, g) for p in group["params"] if (g := p._grad) is not None]) for group in self.param_groups]
        for _, parameters in moving:
            for p, g in parameters:
                if not writeable(p):
                    raise ArgumentError(
                        explain(
                            f"{type(self).__name__}: a parameter's array is read-only; nothing was moved",
                            got={"shape": p.shape},
                            need="an array of its own, not an expanded one",
                            fix="p.data = p.data.copy()",
                        )
                    )
                if g.shape != p._data.shape:
                    raise ShapeError(
                        explain(
                            f"{type(self).__name__}: a parameter has another shape than its gradient; nothing was moved",
                            got={"parameter": p.shape, "gradient": g.shape},
                            need="the same shape: a gradient of the parameter as it is now",
                        )
                    )
        return moving

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient.

        Args:
            closure: computes the loss anew and returns it; called first, its value is the result.
        """
        raise NotImplementedError(f"{type(self).__name__} must define step(self)")

    def _loss(self, closure: Callable[[], Any] | None) -> Any:
        """What `closure` returns, computed with a graph also inside `no_grad`."""
        if closure is None:
            return None
        if isinstance(closure, (Module, Tensor)) or not callable(closure):
            raise KeywordError(
                explain(
                    f"{type(self).__name__}.step: takes nothing, or a function that computes the loss anew",
                    got={"closure": type(closure).__name__},
                    need="loss.backward(), then optimizer.step(): it has the parameters already",
                )
            )
        with enable_grad():
            return closure()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or fill them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    p.grad.zero_()

    # What a tracer reads

    def lr_of(self, p: Tensor) -> float:
        """The learning rate that holds for `p`; NaN where the method has none."""
        return float(self._group_of(p).get("lr", math.nan))

    def summary(self, p: Tensor) -> dict[str, float]:
        """The state of `p` in a few numbers, one for each of `columns`."""
        return {}

    @property
    def scratch_bytes(self) -> int:
        """Memory held because steps are observed: one copy of the parameters, made once and used again."""
        return 0 if self._scratch is None else self._scratch.nbytes

    @property
    def last_updates(self) -> list[tuple[Tensor, Array]]:
        """What the last step added to each parameter; empty where nobody measured it. Valid until the next step."""
        return [] if self._scratch is None else self._scratch.updates

    def _group_of(self, p: Tensor) -> Group:
        group = self._owners.get(p)
        if group is None or not any(group is g for g in self.param_groups):  # somebody wrote into param_groups
            self._owners = {q: g for g in self.param_groups for q in g["params"]}
            group = self._owners.get(p)
        if group is not None:
            return group
        raise KeyError(f"{type(self).__name__}: this tensor of shape {p.shape} is not one of its parameters")

    # State

    def _fitted(self, p: Tensor, moment: Array) -> Array:
        """`moment` in the dtype of `p`, and where it is: the parameter may have been converted, or moved, since."""
        if moment.shape != p._data.shape:
            raise ShapeError(
                explain(
                    f"{type(self).__name__}: a parameter has another shape than at its last step",
                    got={"parameter": p._data.shape, "its moments": moment.shape},
                    need="the same shape, or a new optimizer",
                )
            )
        moment = moved(moment, device_of(p._data))
        return moment if moment.dtype == p._data.dtype else moment.astype(p._data.dtype)

    def state_dict(self) -> dict[str, Any]:
        """A copy of the state and the options; parameters are numbers, in the order of the groups."""
        numbers = {id(p): i for i, p in enumerate(self._all())}
        state = {
            numbers[id(p)]: {key: copied(value) for key, value in entry.items()} for p, entry in self.state.items() if id(p) in numbers
        }
        groups = [
            {**{k: list(v) if isinstance(v, list) else v for k, v in group.items()}, "params": [numbers[id(p)] for p in group["params"]]}
            for group in self.param_groups
        ]
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on exactly where `state_dict` was taken; the values are copied.

        Raises:
            ArgumentError: it was saved by another method or for other groups, or its options make no sense.
            ShapeError: it belongs to parameters of other shapes.
            Nothing is changed then.
        """
        name = type(self).__name__
        groups, entries = loaded(name, state_dict, self.param_groups, self.defaults)
        for group in groups:
            self._check(group)
        owners = {p: group for group in groups for p in group["params"]}
        for number, p, entry in entries:
            needed = [key for key in self.remembers if key == "step" or key in self.moments_of(owners[p])]
            need_entry(name, number, p, entry, self.remembers, needed)
        self.state = defaultdict(dict, {p: {key: copied(value) for key, value in entry.items()} for _, p, entry in entries})
        for group, new in zip(self.param_groups, groups, strict=True):
            group.update(new)

    def _all(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"]]

    def __repr__(self) -> str:
        options = [
            ", ".join([*(f"{k}={v}" for k, v in group.items() if k not in ("params", "param_names")), f"params={len(group['params'])}"])
            for group in self.param_groups
        ]
        return f"{type(self).__name__}({options[0]})" if len(options) == 1 else "\n  ".join([f"{type(self).__name__}(", *options]) + "\n)"
