"""Which class, which set: one-hot rows, membership. No gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backend import Array, on_host, xp_of
from ..cases import Case, Draw, Given, Ints
from ..errors import ArgumentError, DTypeError, LabelError, explain
from ..function import Function
from .argument import tensor_of, whole
from .dtype import all_below

if TYPE_CHECKING:
    from .._tensor import Tensor, TensorLike


class OneHot(Function):
    """y_ik = 1 where x_i is k, else 0;  no gradient."""

    latex = r"y_{ik} = [x_i = k]"
    kind = "shape"
    cases = (Case(Ints((3,)), classes=4), Case(Ints((2, 3, 1)), classes=5), Case(Ints(()), classes=4), Case(Ints((0, 3)), classes=2))
    reads = ()

    def forward(self, x: Array, classes: int) -> Array:
        xp = xp_of(x)
        return xp.asarray(xp.expand_dims(x, -1) == xp.arange(classes), dtype="int64")


def one_hot(input: TensorLike, num_classes: int = -1) -> Tensor:
    """Write every class id as a row with one 1; without `num_classes` there are as many as the largest id needs.

    Shapes: input: (*), y: (*, num_classes), int64

    Raises:
        DTypeError: the ids are no integers.
        LabelError: an id is none of the classes.
        ArgumentError: the number of classes can't be seen from an empty `input`.

    >>> one_hot([0, 2], 3).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    t = tensor_of(input)
    if t.dtype.kind not in "iu":
        raise DTypeError(explain("one_hot: class ids are integers", got={"x": t.dtype}, need="integers", fix="x.long()"))
    num_classes = whole("num_classes", num_classes)
    if num_classes == -1:
        if not t.numel():
            raise ArgumentError(explain("one_hot: how many classes?", got={"x": t.shape}, need="num_classes"))
        num_classes = int(xp_of(t.data).max(t.data)) + 1
    if on_host(t.data) and t.numel() and not all_below(t.data, num_classes):
        low, high = int(xp_of(t.data).min(t.data)), int(xp_of(t.data).max(t.data))
        got = {"ids": f"{low} to {high}", "num_classes": num_classes}
        raise LabelError(explain("one_hot: an id is none of the classes", got=got, need="0 <= id < num_classes"))
    return OneHot.apply(t, classes=num_classes)


class IsIn(Function):
    """y = whether x is one of the values s;  no gradient."""

    latex = r"y_i = [x_i \in s]"
    kind = "elementwise"
    cases = (
        Case(Given([1.0, 2.0, 3.0]), Given([2.0, 5.0])),
        Case(Draw((2, 3, 1)), Draw((2,)), invert=True),
        Case(Draw(()), Draw(())),
        Case(Draw((0, 3)), Draw((2,))),
    )
    reads = ()

    def forward(self, x: Any, s: Any, invert: bool = False) -> Array:
        xp = xp_of(x) if hasattr(x, "shape") else xp_of(s)
        y = xp.isin(xp.asarray(x).reshape(-1), xp.asarray(s).reshape(-1)).reshape(xp.shape(x))
        return ~y if invert else y


def isin(elements: TensorLike, test_elements: TensorLike, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Say of every entry whether it is among the test elements; with `invert`, whether it is not.

    Shapes: elements: (*), test_elements: (+), y: (*), bool

    >>> isin([1.0, 2.0, 3.0], [2.0, 5.0]).tolist()
    [False, True, False]
    """
    return IsIn.apply(elements, test_elements, invert=invert)
