"""Check that what should learn does: a network that trains only in part can still reach a good figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ._tensor import Tensor
from .backend import asarray_like
from .errors import ArgumentError, explain
from .optim import Adam
from .trial import trial


class Learning(NamedTuple):
    """Which parameters learn, and which layer was frozen to see that it alone stays.

    Attributes:
        moved: for each parameter that learns, the share of its numbers that one step changed.
        frozen: the parameters that are not to learn.
        held: the layer or parameter that was frozen for the second step.
    """

    moved: dict[str, float]
    frozen: tuple[str, ...]
    held: str

    def __str__(self) -> str:
        still = f", the {len(self.frozen)} frozen ones stay" if self.frozen else ""
        return f"all {len(self.moved)} parameters learn{still}; with {self.held} frozen, {self.held} alone stays"


def check_learning(
    model: Any, loss: Callable[[], Tensor], *, freeze: str | None = None, since: Mapping[str, Any] | None = None
) -> Learning:
    """Assert that one step of Adam moves all that is to learn, and that a layer alone stays when it is frozen; put everything back.

    Args:
        model: a Module, in the mode and with the frozen parameters that it trains with.
        loss: makes the loss of one batch anew, without arguments.
        freeze: the layer, or the parameter, to freeze for a second step; the first layer that learns, if none is given.
        since: the `state_dict()` of before a training; it must have moved and left the same parameters.

    Raises:
        AssertionError: with the parameters that did not move, or moved and should not.
        ArgumentError: nothing is to learn, no parameter is called `freeze`, nothing would be left to learn, or `since` is of
            another model.

    >>> import gradlab as gl
    >>> _ = gl.manual_seed(0)
    >>> model = gl.nn.Sequential(gl.nn.Linear(4, 8), gl.nn.Tanh(), gl.nn.Linear(8, 3))
    >>> x, y = gl.randn(6, 4), gl.arange(6) % 3
    >>> print(check_learning(model, lambda: gl.nn.functional.cross_entropy(model(x), y)))
    all 4 parameters learn; with 0 frozen, 0 alone stays
    >>> check_learning(model, lambda: gl.nn.functional.cross_entropy(model[2](model[1](model[0](x)).detach()), y))
    Traceback (most recent call last):
    AssertionError: a step does not move 0.weight, 0.bias: is the way to the loss cut (detach, no_grad, argmax), or are all gradients zero?
    """
    named = dict(model.named_parameters())
    learns = [name for name, p in named.items() if p.requires_grad]
    if not learns:
        raise ArgumentError(explain("check_learning: nothing is to learn", got={"that require a gradient": 0}, need="two parameters"))
    held, chosen = _held(learns, freeze)
    if since is not None and (missing := [name for name in named if name not in since]):
        need = "the state_dict() of this model, from before the training"
        raise ArgumentError(explain(f"check_learning: since has no {_some(missing)}", got={"since": _some(list(since))}, need=need))
    with trial(model):
        if since is not None:
            _compare(_shares({name: since[name] for name in named}, named), learns, "the training")
        moved = _step(named, learns, loss)
        _compare(moved, learns, "a step")
    with trial(model):
        for name in chosen:
            named[name].requires_grad = False
        rest = [name for name in learns if name not in chosen]
        _compare(_step(named, rest, loss), rest, f"a step with {held} frozen")
    return Learning({name: moved[name] for name in learns}, tuple(name for name in named if name not in learns), held)


def _held(learns: list[str], freeze: str | None) -> tuple[str, list[str]]:
    """What is frozen for the second step, and the parameters that are part of it."""
    held = learns[0].rpartition(".")[0] if freeze is None else freeze
    chosen = [name for name in learns if name == held or name.startswith(f"{held}.")]
    if freeze is None and len(chosen) in (0, len(learns)):  # parameters of the model itself, or of its only layer
        held, chosen = learns[0], learns[:1]
    if not chosen:
        raise ArgumentError(
            explain("check_learning: freeze names nothing that learns", got={"freeze": freeze}, need=f"a part of {_some(learns)}")
        )
    if len(chosen) == len(learns):
        raise ArgumentError(
            explain("check_learning: nothing is left to learn", got={"frozen": _some(chosen)}, need="a parameter beside it")
        )
    return held, chosen


def _step(named: dict[str, Tensor], learns: list[str], loss: Callable[[], Tensor]) -> dict[str, float]:
    """Take one step, and return what share of each parameter moved."""
    before = {name: p.data.copy() for name, p in named.items()}
    for p in named.values():
        p.grad = None
    optimizer = Adam([named[name] for name in learns], lr=1e-3)  # its steps are as long for small gradients as for large ones
    loss().backward()
    optimizer.step()
    return _shares(before, named)


def _shares(before: Mapping[str, Any], named: dict[str, Tensor]) -> dict[str, float]:
    shares: dict[str, float] = {}
    for name, p in named.items():
        old = before[name]
        shares[name] = float((p.data != asarray_like(old.data if isinstance(old, Tensor) else old, p.data)).mean())
    return shares


def _compare(shares: dict[str, float], learns: list[str], what: str) -> None:
    still = [name for name in learns if not shares[name]]
    if still:
        cause = "is the way to the loss cut (detach, no_grad, argmax), or are all gradients zero?"
        raise AssertionError(f"{what} does not move {_some(still)}: {cause}")
    moved = [name for name, share in shares.items() if share and name not in learns]
    if moved:
        raise AssertionError(f"{what} moves {_some(moved)}, which should stay")


def _some(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
