"""Every argument of PyTorch's has its name here, in its place and with its default: what tests/keywords.txt lists."""

from __future__ import annotations

import ast
import inspect

import numpy as np
import pytest

import gradlab as gl
import gradlab.nn.functional as F
from gradlab import linalg
from gradlab.errors import KeywordError
from tests.keywords import NOT_OFFERED, PLACES, demanded

DIFFERENT = [  # why, functions, arguments
    ("named as their pages do, where a call has three names", "dsplit hsplit vsplit tensor_split",
     "sections indices tensor_indices_or_sections indices_or_sections"),
    ("named as its page does, where a call takes both", "vector_norm", "x input"),
    ("named as its page does, which a call has not", "einsum", "equation args"),
    ("named alike, whether one or several", "isin", "element elements test_element test_elements"),
    ("the stub errs: so it is there", "linspace logspace", "steps"),
    ("the stub errs: so it is there", "requires_grad_", "mode"),
    ("to guess the axis is discouraged there", "softmax softmin log_softmax", "dim"),
    ("both triangles are read", "eigh eigvalsh", "UPLO"),
    ("other orders are told apart by what is in the place", "max min", "other"),
    ("other orders are told apart by what is in the place", "randint randint_like", "high size"),
    ("other orders are told apart by what is in the place", "scatter scatter_", "value"),
    ("other orders are told apart by what is in the place", "to", "dtype device non_blocking copy"),
    ("in the place of correction True and False are 1 and 0", "std std_mean var var_mean", "unbiased"),
    ("`from` is a word of Python's", "uniform_ random_", "from_ to"),
    ("integers have no gradient", "tril_indices triu_indices", "requires_grad"),
    ("a view of other numbers is not offered", "view", "dtype"),
    ("repeats alone would have to stand first", "repeat_interleave", "repeats input"),
    ("named as its page does, where a call has six names", "result_type", "tensor1 tensor2 tensor other scalar scalar1 scalar2"),
    ("no other device has a part in it", "type", "non_blocking"),
    ("a method has no A", "qr", "A self"),
]  # fmt: skip
EXCUSED = {(name, argument) for _, names, arguments in DIFFERENT for name in names.split() for argument in arguments.split()}


def plain(default):
    """A default where it is a plain value; no axes are all of them, and a list is a tuple."""
    try:
        value = ast.literal_eval(default)
    except (ValueError, SyntaxError):
        return None
    return tuple(value) if isinstance(value, list) else value if value != () else None


def complaints():
    """(name, argument, what is wrong) for every call by PyTorch's words that would fail, or mean something else."""
    for name, arguments in demanded():
        place, _, word = name.partition(".")
        ours = inspect.signature(getattr(PLACES[place], word)).parameters
        places = [p.name for p in ours.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        many = any(p.kind is p.VAR_POSITIONAL for p in ours.values())
        for i, (argument, kind, default) in enumerate(arguments):
            p = ours.get(argument)
            if p is None or (p.kind is p.VAR_POSITIONAL and kind != "*"):
                yield name, argument, "there is none of that name"
            elif kind == "=" and not many and places[i : i + 1] != [argument]:
                yield name, argument, f"stands elsewhere than at place {i}"
            elif default and p.default is p.empty:
                yield name, argument, f"has no default, where {default} is PyTorch's"
            elif None not in (plain(default), plain(repr(p.default))) and plain(default) != p.default:
                yield name, argument, f"is {p.default!r} by default, where PyTorch's is {default}"
        given = {argument for argument, _, _ in arguments}
        for p in ours.values():
            if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in given:
                yield name, p.name, "has to be given, which PyTorch's has not"


def test_every_argument_has_pytorchs_name_place_and_default():
    wrong = [f"{name}: {argument} {what}" for name, argument, what in complaints() if (name.partition(".")[2], argument) not in EXCUSED]
    assert not wrong, "\n".join(wrong)


def test_no_difference_is_excused_that_is_none():
    different = {(name.partition(".")[2], argument) for name, argument, _ in complaints()}
    for why, names, arguments in DIFFERENT:
        for name in names.split():
            assert any((name, argument) in different for argument in arguments.split()), f"{name}: {why}"
        for argument in arguments.split():
            assert any((name, argument) in different for name in names.split()), f"{argument}: {why}"


def test_what_is_not_offered_is_nowhere():
    here = {p for place in PLACES.values() for f in vars(place).values() if inspect.isfunction(f) for p in inspect.signature(f).parameters}
    assert not here & set(NOT_OFFERED) - {"reduce"}  # scatter_reduce has one of its own


@pytest.mark.torch
def test_the_list_is_what_pytorch_says():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from tests import keywords

    assert keywords.FILE.read_text(encoding="utf-8").splitlines() == keywords.lines(), "python -m tests.names writes it anew"


X = gl.tensor([[1.0, 2.0, 4.0], [3.0, 5.0, 0.0]])


@pytest.mark.parametrize(
    ("call", "want"),
    [
        (lambda: gl.reshape(input=X, shape=(3, 2)), X.data.reshape(3, 2)),
        (lambda: X.view(size=[6]), X.data.reshape(6)),
        (lambda: X.expand(size=(2, 2, 3)), np.broadcast_to(X.data, (2, 2, 3))),
        (lambda: gl.broadcast_to(X, size=(1, 2, 3)), X.data[None]),
        (lambda: X.permute(dims=(1, 0)), X.data.T),
        (lambda: X.flip(dims=(0,)), X.data[::-1]),
        (lambda: gl.tile(X, dims=(2,)), np.tile(X.data, 2)),
        (lambda: X.repeat(repeats=(2, 1)), np.tile(X.data, (2, 1))),
        (lambda: X.new_ones(size=(2,)), np.ones(2)),
        (lambda: gl.max(X, other=gl.tensor(3.0)), np.maximum(X.data, 3)),
        (lambda: X.min(other=3.0), np.minimum(X.data, 3)),
        (lambda: X.norm(dim=1, dtype=gl.float64), np.linalg.norm(X.data.astype("float64"), axis=1)),
        (lambda: linalg.matrix_norm(X.long(), 1, dtype=gl.float32), 7.0),
        (lambda: X.cov(fweights=gl.tensor([1, 2, 3])), np.cov(X.data, fweights=[1, 2, 3])),
        (lambda: X.cov(correction=0, aweights=[0.5, 0.2, 0.3]), np.cov(X.data, ddof=0, aweights=[0.5, 0.2, 0.3])),
        (lambda: gl.cov(X, fweights=[1, 2, 3], aweights=[0.5, 0.2, 0.3]), np.cov(X.data, fweights=[1, 2, 3], aweights=[0.5, 0.2, 0.3])),
        (lambda: gl.unique_consecutive([[1, 1, 2], [3, 3, 4]], dim=1), [[1, 2], [3, 4]]),
        (lambda: gl.unique_consecutive([[1, 2], [1, 2], [1, 3]], True, True, dim=0)[1], [0, 0, 1]),
        (lambda: gl.unique_consecutive([[1, 2], [1, 2], [1, 3]], True, True, dim=0)[2], [2, 1]),
        (lambda: gl.zeros(5, 2).fill_diagonal_(fill_value=1.0, wrap=True), [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1]]),
        (lambda: gl.zeros(3, 2).fill_diagonal_(1.0), [[1, 0], [0, 1], [0, 0]]),
        (lambda: gl.zeros(2, 2, 2).fill_diagonal_(1.0).sum(), 2.0),
        (lambda: gl.randint(high=1, size=(2,)), [0, 0]),
        (lambda: gl.randint(low=4, high=5, size=(1,)), [4]),
        (lambda: gl.randint_like(X, high=1), np.zeros((2, 3))),
        (lambda: gl.zeros(3).random_(to=1), np.zeros(3)),
        (lambda: gl.zeros(1000).random_().max() > 2**23, True),
        (lambda: gl.zeros(1000, dtype=gl.bool).random_().long().sum() > 300, True),
        (lambda: gl.atleast_2d(gl.tensor(1.0), X)[0], [[1.0]]),
        (lambda: linalg.pinv(np.diag([1.0, 1e-3]), atol=1e-2), np.diag([1.0, 0.0])),
        (lambda: linalg.pinv(np.diag([2.0, 1e-3]), rcond=1e-2), np.diag([0.5, 0.0])),
        (lambda: linalg.matrix_rank(np.diag([1.0, 1e-3]), tol=1e-2), 1),
        (lambda: linalg.matrix_rank(np.diag([1.0, 1e-3]), atol=1e-4), 2),
        (lambda: gl.tril_indices(2, 2, dtype=gl.int32).dtype == "int32", True),
        (lambda: gl.normal(0.0, 1.0, (2,), device="sim", requires_grad=True).cpu().shape, [2]),
        (lambda: gl.tensor([1.0], requires_grad=True, device="sim").numpy(force=True), [1.0]),
        (lambda: gl.randn_like(X, generator=gl.Generator().manual_seed(0)), gl.randn(2, 3, generator=gl.Generator().manual_seed(0)).data),
        (lambda: (X * 0).bernoulli(1.0, generator=gl.Generator()), X.data * 0 + 1),
        (lambda: X.to(other=gl.zeros(1, dtype=gl.int64)).dtype == "int64", True),
        (lambda: F.gumbel_softmax(gl.tensor([0.0, 50.0]), 1.0, True, 1e-10, -1), [0.0, 1.0]),
        (lambda: gl.std(X, dim=0, unbiased=False), X.data.std(0)),
    ],
)  # fmt: skip
def test_arguments_by_name_do_what_they_say(call, want):
    got = call()
    np.testing.assert_allclose(getattr(got, "data", got), want, rtol=1e-6)


def test_a_tensor_from_elsewhere_is_copied_where_that_is_asked_for():
    array = np.zeros(2)
    shared, copied = gl.from_dlpack(array), gl.from_dlpack(array, copy=True)
    array[0] = 5
    assert shared.tolist() == [5.0, 0.0] and copied.tolist() == [0.0, 0.0]
    assert str(gl.from_dlpack(array, device="sim").device).startswith("sim")


def test_sizes_given_twice_are_refused():
    for call in (lambda: X.reshape(3, 2, shape=(6,)), lambda: X.permute(1, 0, dims=(0, 1)), lambda: gl.expand(X, 2, 3, size=(2, 3))):
        with pytest.raises(KeywordError, match="sizes: given twice"):
            call()
