"""Methods whose every entry moves by its own gradient and its own past: small parameters go together, large ones in parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._tensor import Tensor
from ..backend import Array, quiet, xp_of
from .flat import CHUNK, SMALL, Flat, parts
from .optimizer import Group, Optimizer, Params


class Entrywise(Optimizer):
    """Moves arrays of any length by one formula, which a subclass writes as `_move`.

    >>> class SignDescent(Entrywise):
    ...     def _move(self, p, g, moments, t, group):
    ...         p -= group["lr"] * (g > 0)
    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = SignDescent([w], {"lr": 0.5})
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w.tolist()
    [0.5, 1.5]
    """

    remembers: tuple[str, ...] = ("step",)
    gathers: bool = True  # whether the formula is long enough for small parameters to be worth a copy

    def __init__(self, params: Params, defaults: Mapping[str, Any]) -> None:
        super().__init__(params, defaults)
        self._flats: dict[Tensor, Flat] = {}  # by the first of its parameters, which it keeps alive

    def _move(self, p: Array, g: Array, moments: list[Array], t: int, group: Group) -> None:
        """Write the new values of step t over `p`, and what is remembered over `moments`; `g` is only read.

        Shapes: p, g: (*), each of moments: (*), as `moments_of(group)` names them
        """
        raise NotImplementedError(f"{type(self).__name__} must define _move(self, p, g, moments, t, group)")

    def _first(self, name: str, group: Group) -> float:
        """What is remembered of a parameter before its first step."""
        return 0.0

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Move every parameter that has a gradient; returns what `closure` returned."""
        loss = self._loss(closure)
        with quiet():  # NaN and Inf in gradients are data
            counts, turns = "step" in self.remembers, []
            for group, moving in self._moving():
                names = self.moments_of(group)
                flat = self._flats.get(moving[0][0]) if moving else None
                if flat is not None and flat.serves_all(moving, names, self.state, counts):
                    turns.append((group, names, flat, ()))
                else:
                    turns.append((group, names, None, self._ready(moving, names)))
            # All is ready now: from here on nothing is refused.
            for group, names, flat, moving in turns:
                if flat is not None:
                    self._move_flat(flat, flat.count() if counts else 2, group)
                    continue
                together: dict[tuple[int, Any, Any], list[Tensor]] = {}  # small ones of one dtype and device, and as many steps
                for p, g, entry in moving:
                    data, t = p._data, 2  # where steps are not counted: the first, or another
                    for name in names:
                        if name not in entry:
                            entry[name], t = xp_of(data).full(data.shape, self._first(name, group), data.dtype), 1
                    if counts:
                        entry["step"] = t = entry.get("step", 0) + 1
                    if self.gathers and data.size < SMALL:
                        together.setdefault((t, data.dtype, str(data.device)), []).append(p)
                    else:
                        self._move_alone(p, g, [entry[name] for name in names] if names else [], t, group)
                for (t, *_), parameters in together.items():
                    self._move_together(parameters, names, t, group)
        return loss

    def _ready(self, moving: list[tuple[Tensor, Array]], names: tuple[str, ...]) -> list[tuple[Tensor, Array, dict[str, Any]]]:
        """Each with its gradient and what is remembered of it, which follows the parameter to another dtype and device."""
        if not names and "step" not in self.remembers:
            nothing: dict[str, Any] = {}
            return [(p, g, nothing) for p, g in moving]
        found = []
        for p, g in moving:
            entry, data = self.state[p], p._data
            shape, dtype, device = data.shape, data.dtype, data.device
            for name in names:
                moment = entry.get(name)
                if moment is not None and (moment.dtype != dtype or moment.shape != shape or moment.device != device):
                    entry[name] = self._fitted(p, moment)
            found.append((p, g, entry))
        return found

    def _move_together(self, parameters: list[Tensor], names: tuple[str, ...], t: int, group: Group) -> None:
        flat = self._flats.get(parameters[0])
        if flat is None or not flat.serves(parameters, names, self.state):
            flat = self._flats[parameters[0]] = Flat(parameters, names, self.state)
        self._move_flat(flat, t, group)

    def _move_flat(self, flat: Flat, t: int, group: Group) -> None:
        flat.gather()
        for part in parts(flat.p.size):
            self._move(flat.p[part], flat.g[part], [m[part] for m in flat.moments], t, group)
        flat.scatter()

    def _move_alone(self, p: Tensor, g: Array, moments: list[Array], t: int, group: Group) -> None:
        data = p._data
        if data.size * len(moments) > 4 * CHUNK and all(x.flags.c_contiguous for x in (data, *moments)):  # else a flat view would be a copy
            data, g, moments = data.reshape(-1), g.reshape(-1), [m.reshape(-1) for m in moments]
            for part in parts(data.size):
                self._move(data[part], g[part], [m[part] for m in moments], t, group)
        else:
            self._move(data, g, moments, t, group)
        p.bump()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:  # noqa: D102 (explained in Optimizer)
        super().load_state_dict(state_dict)
        self._flats.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_flats": {}}  # a copy's moments would no longer be views into the copy's long arrays


def slope(p: Array, g: Array, group: Mapping[str, Any], *, decay: bool = True) -> Array:
    """The gradient of what is made small: of -loss to maximize the loss, and with `decay` of loss + weight_decay |p|^2 / 2."""
    g = -g if group["maximize"] else g
    return g + group["weight_decay"] * p if decay and group["weight_decay"] else g
