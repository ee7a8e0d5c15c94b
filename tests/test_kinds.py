"""What dtypes can hold and where they meet; the names of kinds, the powers of numbers: against fixed values and PyTorch's."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import gradlab as gl
from gradlab.errors import ArgumentError, DTypeError, GraphError, KeywordError, ShapeError

KINDS = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool"]


def test_floating_dtypes_tell_what_they_hold():
    info = gl.finfo(gl.float16)
    assert (info.bits, info.max, info.min, info.dtype) == (16, 65504.0, -65504.0, "float16")
    assert info.eps == 2**-10 and info.tiny == info.smallest_normal == 2**-14
    assert gl.finfo().dtype == "float32" and gl.finfo("float64").eps == 2**-52 and type(info.eps) is float
    with pytest.raises(DTypeError, match="finfo: tells about floating dtypes"):
        gl.finfo(gl.int64)


def test_integer_dtypes_tell_what_they_hold():
    assert [(gl.iinfo(k).bits, gl.iinfo(k).min, gl.iinfo(k).max) for k in ("uint8", "int16")] == [(8, 0, 255), (16, -32768, 32767)]
    assert gl.iinfo(gl.int64).max == 2**63 - 1 and gl.iinfo(gl.int64).dtype == "int64"
    for wrong in (gl.float32, gl.bool):
        with pytest.raises(DTypeError, match="iinfo: tells about integer dtypes"):
            gl.iinfo(wrong)


@pytest.mark.parametrize(
    ("pair", "want"),
    [
        (("int64", "float16"), "float16"), (("uint8", "int8"), "int16"), (("bool", "bool"), "bool"), (("bool", "uint8"), "uint8"),
        (("float16", "float64"), "float64"), (("int32", "int64"), "int64"),
    ],
)  # fmt: skip
def test_two_dtypes_meet_where_their_tensors_do(pair, want):
    assert gl.promote_types(*pair) == gl.promote_types(*pair[::-1]) == want
    a, b = [gl.ones(2, dtype=dtype) for dtype in pair]
    if want != "bool":
        assert (a + b).dtype == want


def test_the_dtype_of_a_sum_counts_numbers_and_0d_tensors_last():
    ones, i, h = gl.ones, gl.int32, gl.float16
    for a, b, want in [
        (ones(2, dtype=i), 1.5, "float32"), (ones(2, dtype=h), ones((), dtype=gl.float64), "float16"), (1, 2.0, "float32"),
        (True, 1, "int64"), (ones(2, dtype=i), ones((), dtype=gl.int64), "int32"), (ones((), dtype=i), ones((), dtype=gl.int64), "int64"),
        (ones(2, dtype=i), ones((), dtype=gl.float64), "float64"),
    ]:  # fmt: skip
        assert gl.result_type(a, b) == gl.result_type(b, a) == want, (a, b)
    with pytest.raises(KeywordError, match="result_type: tensor2 is no number"):
        gl.result_type(ones(2), "a")


def test_floats_are_not_cast_to_integers_nor_numbers_to_truth_values():
    assert gl.can_cast("float64", "float16") and gl.can_cast("int32", "uint8") and gl.can_cast("bool", "int8")
    assert not gl.can_cast("float16", "int64") and not gl.can_cast("int8", "bool")
    with pytest.raises(DTypeError, match="can_cast: no kind of number"):
        gl.can_cast("complex64", "float32")


def test_type_names_a_kind_and_changes_it():
    assert gl.ones(2).type() == "gradlab.FloatTensor" and gl.tensor([1], device="sim").type() == "gradlab.sim.LongTensor"
    x = gl.ones(2, requires_grad=True)
    y = x.type(gl.float64)
    y.sum().backward()
    assert y.dtype == "float64" and y.type() == "gradlab.DoubleTensor" and x.grad.dtype == "float32"


def test_powers_of_numbers_and_their_gradient():
    x = gl.tensor([2.0, 0.0, -3.0], dtype=gl.float64, requires_grad=True)
    for n, increasing in product((None, 0, 1, 4), (False, True)):
        y = gl.vander(x, n, increasing=increasing)
        np.testing.assert_array_equal(y.data, np.vander(x.data, n, increasing))
    y.sum().backward()
    assert x.grad.tolist() == [1 + 4 + 12, 1, 1 - 6 + 27]
    assert gl.vander(gl.tensor([1, 2])).dtype == "int64" and gl.vander(gl.tensor([True, False])).tolist() == [[1, 1], [0, 1]]
    assert gl.autograd.gradcheck(lambda t: gl.vander(t, 4), (x,)) and gl.vander(gl.tensor([2.0], device="sim"), 3).tolist() == [
        [4.0, 2.0, 1.0]
    ]
    with pytest.raises(ShapeError, match="vander: the powers of a list of numbers"):
        gl.vander(gl.ones(2, 2))
    with pytest.raises(ArgumentError, match="vander: how many powers"):
        gl.vander(x, -1)


SHAPED = {
    "unsqueeze_": (1,), "squeeze_": (), "transpose_": (0, 2), "swapaxes_": (0, -1), "swapdims_": (1, 0), "t_": ()
}  # fmt: skip


@pytest.mark.parametrize(("name", "arguments"), SHAPED.items(), ids=SHAPED)
def test_a_shape_is_changed_in_place_on_the_same_memory(name, arguments):
    values = np.arange(6.0).reshape((2, 3) if name == "t_" else (2, 1, 3))
    x = gl.tensor(values)
    view = x[1]
    want = getattr(gl.tensor(values), name[:-1])(*arguments)
    assert getattr(x, name)(*arguments) is x and x.shape == want.shape and x.tolist() == want.tolist() and x.version == 1
    x.zero_()
    assert not view.data.any()  # a view still looks there


def test_the_shape_of_what_a_graph_may_have_read_is_not_changed():
    leaf = gl.ones(2, 3, requires_grad=True)
    with pytest.raises(GraphError, match=r"x\.t_\(\): a leaf that requires a gradient can't change its shape[\s\S]*no_grad"):
        leaf.t_()
    result = leaf * 2.0
    for context in (gl.enable_grad(), gl.no_grad()):
        with context, pytest.raises(GraphError, match=r"a result that earlier steps may have read[\s\S]*x = x\.unsqueeze\(\.\.\.\)"):
            result.unsqueeze_(0)
    with gl.no_grad():
        assert leaf.t_().shape == (3, 2) and leaf.requires_grad and leaf.is_leaf
    w, z = gl.ones(2, requires_grad=True), gl.ones(2)
    y = w * z
    z.unsqueeze_(0)
    with pytest.raises(GraphError, match="changed in place"):
        y.sum().backward()


def test_detaching_in_place_makes_a_leaf_and_leaves_what_was_made_before():
    x = gl.ones(2, requires_grad=True)
    y = x * 2.0
    y.retain_grad()
    z = (y * y).sum()
    assert y.detach_() is y and y.is_leaf and not y.requires_grad
    z.backward()
    assert x.grad.tolist() == [8.0, 8.0] and y.grad is None
    assert not x.detach_().requires_grad
    v = (gl.ones(2, requires_grad=True) * 2.0)[:1]
    with pytest.raises(GraphError, match=r"x\.detach_\(\): a view can't be detached in place[\s\S]*x = x\.detach\(\)"):
        v.detach_()


def test_a_second_derivative_does_not_lose_what_was_detached_since():
    x = gl.tensor([2.0], requires_grad=True)
    y = x * 2.0
    z = (y * y * y).sum()
    y.detach_()
    with pytest.raises(GraphError, match="was changed in place after it was used"):
        gl.autograd.grad(z, x, create_graph=True)


@pytest.mark.torch
def test_dtypes_meet_as_in_pytorch():
    torch = pytest.importorskip("torch")
    for a, b in product(KINDS, KINDS):
        theirs = getattr(torch, a), getattr(torch, b)
        assert str(gl.promote_types(a, b)) == str(torch.promote_types(*theirs))[6:], (a, b)
        assert gl.can_cast(a, b) == torch.can_cast(*theirs), (a, b)
        for shapes in product(((), (2,)), repeat=2):
            want = torch.result_type(*[torch.ones(s, dtype=k) for s, k in zip(shapes, theirs, strict=True)])
            assert str(gl.result_type(*[gl.ones(s, dtype=k) for s, k in zip(shapes, (a, b), strict=True)])) == str(want)[6:]
        for number in (True, 2, 2.0):
            assert str(gl.result_type(gl.ones(2, dtype=a), number)) == str(torch.result_type(torch.ones(2, dtype=theirs[0]), number))[6:]
        assert gl.ones(2, dtype=a).type()[8:] == torch.ones(2, dtype=theirs[0]).type()[6:]
    for name, fields in [("finfo", "bits eps max min tiny smallest_normal resolution dtype"), ("iinfo", "bits max min dtype")]:
        for kind in [k for k in KINDS[:-1] if (k[0] == "f") == (name[0] == "f")]:
            ours, other = getattr(gl, name)(kind), getattr(torch, name)(getattr(torch, kind))
            assert [getattr(ours, field) for field in fields.split()] == [getattr(other, field) for field in fields.split()]
    for n, increasing in product((None, 0, 1, 4), (False, True)):
        x = torch.tensor([2.0, 0.0, -3.0])
        assert gl.vander(x.numpy(), n, increasing).tolist() == torch.vander(x, n, increasing).tolist()
