"""Axes that are not there and sizes that don't go together: refused in words, by every op that can meet them."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import ops
from gradlab.errors import ArgumentError, DimError, KeywordError, ShapeError

REDUCTIONS = [gl.sum, gl.mean, gl.prod, gl.amax, gl.amin, gl.max, gl.min, gl.argmax, gl.argmin, gl.var, gl.std, gl.logsumexp]
ALONG = [*REDUCTIONS, gl.softmax, gl.log_softmax]
PAIRWISE = [gl.add, gl.sub, gl.mul, gl.div, gl.pow, gl.maximum, gl.minimum, gl.lt, gl.le, gl.gt, gl.ge, gl.eq, gl.ne]


@pytest.mark.parametrize("op", ALONG, ids=lambda op: op.__name__)
@pytest.mark.parametrize("dim", [2, -3, 9])
def test_an_axis_that_is_not_there_is_named(op, dim):
    with pytest.raises(DimError, match=rf"there is no axis {dim}\n  x     \(2, 3\)\n  dim   {dim}\n  need: a dim from -2 to 1") as error:
        op(gl.ones(2, 3), dim=dim)
    assert isinstance(error.value, IndexError) and isinstance(error.value, ValueError) and error.value.__suppress_context__


@pytest.mark.parametrize(
    "op", [gl.sum, gl.mean, gl.prod, gl.amax, gl.amin, gl.var, gl.std, gl.norm, gl.logsumexp], ids=lambda op: op.__name__
)
def test_of_several_axes_the_wrong_one_is_named(op):
    with pytest.raises(DimError, match="there is no axis 7"):
        op(gl.ones(2, 3), dim=(0, 7))
    with pytest.raises(DimError, match="an axis is named twice"):
        op(gl.ones(2, 3), dim=(0, -2))


@pytest.mark.parametrize("op", ALONG, ids=lambda op: op.__name__)
def test_a_single_number_has_one_axis_for_a_reduction(op):
    x = gl.tensor(np.array(2.0), requires_grad=True)
    for dim in (0, -1):
        with np.errstate(invalid="ignore"):
            y = op(x, dim=dim)
        values = getattr(y, "values", y)
        assert values.shape == ()
        if values.requires_grad:
            values.backward()
            assert x.grad.shape == ()
    with pytest.raises(DimError, match="there is no axis 1"):
        op(x, dim=1)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: gl.cat([x, x], 2),
        lambda x: gl.stack([x, x], 4),
        lambda x: x.narrow(2, 0, 1),
        lambda x: x.split(1, 2),
        lambda x: x.chunk(2, -3),
        lambda x: x.transpose(0, 2),
        lambda x: x.permute(0, 2),
        lambda x: x.squeeze(2),
        lambda x: x.unsqueeze(4),
        lambda x: x.flatten(2),
    ],
)
def test_ops_that_rearrange_name_the_axis_too(f):
    with pytest.raises(DimError, match=r"there is no axis (2|4|-3)\n  x     \(2, 3\)"):
        f(gl.ones(2, 3))


@pytest.mark.parametrize("op", PAIRWISE, ids=lambda op: op.__name__)
def test_shapes_that_do_not_broadcast_are_both_named(op):
    for a, b in [((3,), (2,)), ((2, 3), (2,)), ((2, 3), (3, 2))]:
        with pytest.raises(ShapeError, match=f"{op.__name__}: the shapes don't broadcast") as error:
            op(gl.ones(a), np.ones(b, "float32"))
        assert f"a     {a}\n  b     {b}" in str(error.value) and error.value.__suppress_context__


def test_where_names_all_three_shapes():
    with pytest.raises(ShapeError, match=r"where: the shapes don't broadcast\n  a     \(3,\)\n  b     \(2,\)\n  c     \(\)"):
        gl.where([True, False, True], gl.ones(2), 0.0)


def test_an_error_that_is_not_about_shapes_passes():
    class Odd(ops.Add):
        def forward(self, a, b):
            raise ValueError("something else")

    with pytest.raises(ValueError, match="something else"):
        Odd.apply(gl.ones(2), gl.ones(2))


def test_integers_to_a_negative_power_are_refused_with_what_works():
    x, n = gl.tensor([2, 4]), gl.tensor([-1, 1])
    for f, fixed in [(lambda: x**-1, "a.float() ** b"), (lambda: x**n, "a.float() ** b"), (lambda: 2**n, "float(a) ** b")]:
        with pytest.raises(ArgumentError, match="pow: an integer to a negative power is no integer") as error:
            f()
        assert f"try:  {fixed}" in str(error.value)
    assert (x.float() ** -1).tolist() == [0.5, 0.25] and (float(2) ** n).tolist() == [0.5, 2.0] and (x**-1.0).tolist() == [0.5, 0.25]
    with pytest.raises(ArgumentError, match="no integer"):
        x.pow_(-1)
    assert x.tolist() == [2, 4] and x.version == 0


def test_a_reshape_is_suggested_only_where_it_keeps_the_order():
    for a, b, suggested in [((2, 1), (2,), True), ((1, 3), (3, 1), True), ((2, 3), (3, 2), False), ((4,), (2, 2), False)]:
        with pytest.raises(ShapeError) as error:
            gl.mse_loss(gl.ones(a), gl.ones(b))
        assert ("try:   target.reshape(input.shape)" in str(error.value)) == suggested


@pytest.mark.parametrize("bias", [(2, 4), (2, 1), (1, 4), (3,), (2, 4, 4), (0,)], ids=str)
def test_linear_refuses_a_bias_that_is_not_one_number_a_feature(bias):
    with pytest.raises(ShapeError, match=r"linear: the bias does not fit the weight\n  weight \(4, 3\)\n  bias   .*\n  need:  bias: \(4,"):
        gl.linear(gl.ones(2, 3), gl.ones(4, 3), gl.ones(bias))


@pytest.mark.parametrize("bias", [(4,), (1,), ()], ids=str)
def test_linear_takes_a_bias_that_broadcasts_to_the_features(bias):
    b = gl.ones(bias, requires_grad=True)
    gl.linear(gl.ones(2, 3), gl.ones(4, 3), b).sum().backward()
    assert b.grad.shape == bias and b.grad.data.sum() == 8


@pytest.mark.parametrize("dim", ["0", 1.0, (0, 1.5), [None]])
def test_a_dim_that_is_no_whole_number_is_refused(dim):
    x = gl.ones(2, 3)
    for op in (gl.sum, gl.mean, gl.prod, gl.amax, gl.var, gl.norm):
        with pytest.raises(KeywordError, match="dim: this is no whole number"):
            op(x, dim=dim)


def test_a_0d_tensor_has_the_axes_0_and_minus_1_each_once():
    x = gl.tensor(3.0)
    assert gl.sum(x, dim=(0,)).item() == gl.sum(x, dim=-1).item() == gl.sum(x, dim=()).item() == 3.0
    with pytest.raises(DimError, match="sum: an axis is named twice"):
        gl.sum(x, dim=(0, -1))


NAMED = ["add", "sub", "div", "floor_divide", "remainder", "clamp_min", "bitwise_and", "logical_or", "lerp", "isclose", "pow", "hypot"]


@pytest.mark.parametrize("name", [*NAMED, "fmax", "xlogy", "copysign", "addcmul"])
def test_shapes_that_do_not_broadcast_are_named_by_the_op_that_was_called(name):
    f = getattr(gl, name)
    x, y = (gl.tensor(np.ones(n, int if name.startswith("bit") else "float32")) for n in (2, 3))
    said = "clamp" if name == "clamp_min" else name
    with pytest.raises(ShapeError, match=rf"{said}: the shapes don't broadcast\n  a     \(2,\)\n  b     \(3,\)"):
        f(x, y, x) if name in ("lerp", "addcmul") else f(x, y)
    if name in ("add", "sub"):
        with pytest.raises(ShapeError, match="add: the shapes"):
            f(x, y, alpha=2)
