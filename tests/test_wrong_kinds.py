"""Arguments of a wrong kind (text for a number, a number for a list) are named by modules, optimizers, loaders and factories."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import data, nn, optim
from gradlab.errors import ArgumentError, DTypeError, KeywordError, ShapeError
from gradlab.nn import functional as F

X = gl.ones(4, 3)
WEIGHT = nn.Parameter(np.ones((2, 3)))
ITEMS = [1, 2, 3]

WRONG = [
    (lambda: nn.Linear("a", 3), KeywordError, r"in_features: this is no whole number\n  in_features 'a'\n  need: +an integer"),
    (lambda: nn.Linear(3, None), KeywordError, "out_features: this is no whole number"),
    (lambda: nn.Linear(3, 2.5), KeywordError, "out_features: this is no whole number"),
    (lambda: nn.Linear(-1, 3), ShapeError, "Linear: sizes can't be negative"),
    (lambda: nn.Dropout("a"), KeywordError, r"Dropout: p is no number\n  p +'a'\n  need: a number"),
    (lambda: nn.CrossEntropyLoss(label_smoothing="a"), KeywordError, "CrossEntropyLoss: label_smoothing is no number"),
    (lambda: nn.Linear(3, 2)(3), KeywordError, r"linear: maps tensors\n  input +int"),
    (lambda: nn.Linear(3, 2).register_buffer("a.b", X), ArgumentError, "register_buffer: this can.t be a name"),
    (lambda: nn.init.normal_(3), KeywordError, r"init: this is no tensor\n  tensor int"),
    (lambda: nn.init.normal_(WEIGHT, "a"), KeywordError, "normal_: mean is no number"),
    (lambda: nn.init.uniform_(WEIGHT, 0.0, None), KeywordError, "uniform_: b is no number"),
    (lambda: nn.init.constant_(WEIGHT, "a"), KeywordError, "constant_: val is no number"),
    (lambda: nn.init.kaiming_uniform_(WEIGHT, a="x"), KeywordError, "calculate_gain: param is no number"),
    *[
        (lambda method=method, options=options: method([WEIGHT], **options), error, text)
        for method in (optim.Adam, optim.AdamW)
        for options, error, text in [
            ({"lr": "a"}, KeywordError, r"Adam\w?: lr is no number\n  lr +'a'\n  need: a number"),
            ({"betas": 0.9}, KeywordError, r"Adam\w?: one beta for each moment\n  betas 0.9\n  need: +two numbers"),
            ({"betas": ("a", 0.9)}, KeywordError, r"Adam\w?: b1 is no number"),
            ({"betas": (0.9, 0.99, 0.999)}, ArgumentError, "betas say how much of each moment is kept"),
            ({"betas": (0.9, 1.0)}, ArgumentError, "betas say how much of each moment is kept"),
            ({"eps": None}, KeywordError, r"Adam\w?: eps is no number"),
            ({"weight_decay": "a"}, KeywordError, r"Adam\w?: weight_decay is no number"),
        ]
    ],
    *[
        (lambda option=option: optim.SGD([WEIGHT], **{option: "a"}), KeywordError, f"SGD: {option} is no number")
        for option in ("lr", "momentum", "dampening", "weight_decay")
    ],
    (lambda: optim.SGD([{"params": [WEIGHT], "lr": "a"}], 0.1), KeywordError, "SGD: lr is no number"),
    (lambda: optim.SGD([WEIGHT], 0.1).step(nn.Linear(1, 1)), KeywordError, r"SGD.step: takes nothing, or a function[\s\S]*closure Linear"),
    (lambda: optim.Adam([WEIGHT]).step(gl.ones(1)), KeywordError, r"Adam.step: takes nothing, or a function[\s\S]*optimizer\.step\(\)"),
    (lambda: optim.Adam([WEIGHT], beta1=0.9), KeywordError, r"Adam: no such option as beta1[\s\S]*try: +betas=\(0\.9, 0\.999\)"),
    (lambda: optim.SGD([WEIGHT], learning_rate=0.9), KeywordError, r"no such option as learning_rate[\s\S]*try: +lr$"),
    (lambda: optim.RMSprop([WEIGHT], rho=0.9, epsilon=1), KeywordError, r"no such option as rho, epsilon[\s\S]*try: +alpha, eps$"),
    (lambda: optim.AdamW([WEIGHT], fused=True), KeywordError, r"no such option as fused[\s\S]*need: +params, lr, betas, eps, weight_decay"),
    (lambda: optim.SGD(nn.Linear(1, 1).parameters), KeywordError, r"needs a list of parameters[\s\S]*try: +model.parameters\(\)"),
    (lambda: optim.SGD([{"params": 3}], 0.1), KeywordError, r"SGD: needs a list of parameters\n  params int"),
    (lambda: optim.SGD([WEIGHT], 0.1).add_param_group(3), KeywordError, r"SGD: a group is a dict\n  group int"),
    (lambda: data.DataLoader(ITEMS, sampler=3), KeywordError, r"DataLoader: this is no sampler\n  sampler int"),
    (lambda: data.DataLoader(ITEMS, collate_fn=3), KeywordError, "DataLoader: collate_fn is called"),
    (lambda: gl.manual_seed(-1), ArgumentError, r"manual_seed: a seed can't be negative\n  seed +-1"),
    (lambda: gl.manual_seed("x"), KeywordError, r"manual_seed: this is no seed\n  seed +'x'\n  need: a whole number, 0 or more"),
    (lambda: gl.manual_seed(1.5), KeywordError, "manual_seed: this is no seed"),
    (lambda: gl.manual_seed(None), KeywordError, "manual_seed: this is no seed"),
    (lambda: gl.full((2,), [1, 2]), KeywordError, "full: fill_value is no number"),
    (lambda: gl.arange("a"), KeywordError, "arange: bound is no number"),
    (lambda: gl.arange(0, None), KeywordError, "arange: bound is no number"),
    (lambda: gl.linspace("a", 1, 3), KeywordError, "linspace: start is no number"),
    (lambda: gl.logspace(0, 1, 3, base="a"), KeywordError, "logspace: base is no number"),
    (lambda: gl.multinomial(gl.tensor([1.0, 2.0]), "a"), KeywordError, "num_samples: this is no whole number"),
    (
        lambda: X.split(gl.tensor([1, 3])),
        KeywordError,
        r"split: a tensor is no list of sizes\n  shape \(2,\)[\s\S]*try:  sizes\.tolist\(\)",
    ),
    (lambda: X.split("a"), KeywordError, "size: this is no whole number"),
    (lambda: X.split(1.5), KeywordError, "size: this is no whole number"),
    (lambda: X.split([1, "a"]), KeywordError, "size: this is no whole number"),
    (lambda: X.split([1, 1]), ShapeError, "split: the sizes don't add up"),
    (lambda: X.chunk("a"), KeywordError, "chunks: this is no whole number"),
    (lambda: X.view("a"), KeywordError, "size: this is no whole number"),
    (lambda: X.reshape(2.5, 2), KeywordError, "size: this is no whole number"),
    (lambda: X.expand("a"), KeywordError, "size: this is no whole number"),
    (lambda: X.tile("a"), KeywordError, "size: this is no whole number"),
    (lambda: X.roll("a"), KeywordError, "shifts: this is no whole number"),
    (lambda: X.narrow(0, 0, 1.5), KeywordError, "length: this is no whole number"),
    (lambda: X.diagonal("a"), KeywordError, "offset: this is no whole number"),
    (lambda: X.unfold(0, "a", 1), KeywordError, "size: this is no whole number"),
    (lambda: X.unflatten(0, 4), KeywordError, "unflatten: into which sizes"),
    (lambda: X.mean(dtype="foo"), DTypeError, "dtype: no kind of number of a tensor"),
    (lambda: X.var(correction="a"), KeywordError, "var: correction is no number"),
    (lambda: nn.CrossEntropyLoss(X, gl.tensor([0, 1])), KeywordError, "ignore_index: this is no whole number"),
    (
        lambda: nn.CrossEntropyLoss()(gl.tensor([0, 1, 2, 0]), X),
        DTypeError,
        r"cross_entropy: scores are floating numbers[\s\S]*try: +cross_entropy\(target, input\)",
    ),
    (lambda: gl.cat(3), KeywordError, r"cat: joins a list of tensors\n  tensors int"),
    (lambda: gl.stack("ab"), KeywordError, "stack: joins a list of tensors"),
    (lambda: gl.einsum(3, X), KeywordError, "einsum: the letters come first"),
    (lambda: F.one_hot(gl.tensor([3]), "a"), KeywordError, "num_classes: this is no whole number"),
]


@pytest.mark.parametrize(("call", "error", "text"), WRONG, ids=[text[:40] for *_, text in WRONG])
def test_a_wrong_kind_of_argument_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_numbers_of_every_kind_are_taken():
    for number in (np.float32(0.5), np.array(0.5), gl.tensor(0.5), True):
        assert nn.Dropout(number).p == number and optim.SGD([WEIGHT], lr=number).defaults["lr"] == number
    for size in (np.int64(2), gl.tensor(2)):
        assert nn.Linear(size, size).weight.shape == (2, 2) and X.reshape(size, -1).shape == (2, 6)
        assert [piece.shape for piece in X.split(size)] == [(2, 3)] * 2 and gl.manual_seed(size) is not None
    assert gl.cat(X).shape == (12,) and X.tolist() == [[1.0] * 3] * 4


def test_a_wrong_seed_leaves_the_generator_where_it_was():
    gl.manual_seed(3)
    want = gl.rand(2).tolist()
    gl.manual_seed(3)
    with pytest.raises(ArgumentError):
        gl.manual_seed(-3)
    assert gl.rand(2).tolist() == want
