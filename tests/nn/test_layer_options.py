"""Options that mean nothing are refused when a layer is made, and inputs that don't fit when it is called, in gradlab's words."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn

MADE = {
    "no channels": (lambda: nn.Conv2d(-1, 2, 3), "sizes can't be negative"),
    "channels that are no number": (lambda: nn.Conv2d("1", 2, 3), "no whole number"),
    "groups that don't divide": (lambda: nn.Conv2d(3, 4, 3, groups=2), r"(?s)don't make so many groups.*in_channels +3.*groups +2"),
    "no groups": (lambda: nn.Conv1d(3, 4, 3, groups=0), "don't make so many groups"),
    "a kernel of 0": (lambda: nn.Conv2d(1, 1, 0), "this kernel_size has no meaning"),
    "a kernel of three": (lambda: nn.Conv2d(1, 1, (3, 3, 3)), "Conv2d: this kernel_size has no meaning"),
    "a stride of 0": (lambda: nn.ConvTranspose2d(1, 1, 2, stride=0), "ConvTranspose2d: this stride has no meaning"),
    "same with a stride": (lambda: nn.Conv2d(1, 1, 3, stride=2, padding="same"), r"'same' with stride 1"),
    "an unknown padding": (lambda: nn.Conv2d(1, 1, 3, padding="all"), "this padding has no meaning"),
    "an unknown mode": (lambda: nn.Conv2d(1, 1, 3, padding_mode="mirror"), r"(?s)unknown padding_mode.*zeros, reflect"),
    "a transposed padding mode": (lambda: nn.ConvTranspose1d(1, 1, 3, padding_mode="reflect"), r"(?s)unknown padding_mode.*need: +zeros"),
    "a window of 0": (lambda: nn.MaxPool2d(0), "MaxPool2d: this kernel_size has no meaning"),
    "a window of words": (lambda: nn.AvgPool1d("2"), "AvgPool1d: this kernel_size has no meaning"),
    "an output below 0": (lambda: nn.AdaptiveAvgPool2d((2, -1)), "AdaptiveAvgPool2d: this output_size has no meaning"),
    "a norm of words": (lambda: nn.LPPool1d("2", 2), "norm_type is no number"),
    "three ends of two axes": (lambda: nn.ZeroPad2d((1, 2, 3)), r"(?s)ZeroPad2d: too many or too few.*one number, or 4"),
    "half a pad": (lambda: nn.ReflectionPad1d(0.5), "no whole number"),
    "a value of words": (lambda: nn.ConstantPad1d(1, "0"), "value is no number"),
    "no size": (lambda: nn.Upsample(), "size or scale_factor, one of them"),
    "two sizes": (lambda: nn.Upsample(size=2, scale_factor=2), "size or scale_factor, one of them"),
    "a factor of half": (lambda: nn.PixelShuffle(1.5), "no whole number"),
    "a slope of words": (lambda: nn.LeakyReLU("0.1"), "negative_slope is no number"),
    "limits the wrong way": (lambda: nn.Hardtanh(1.0, -1.0), "min_val < max_val"),
    "an unknown form": (lambda: nn.GELU("fast"), "'none' or 'tanh'"),
    "no axis": (lambda: nn.Softmax(dim=None), "along which axis"),
    "a probability of 2": (lambda: nn.Dropout2d(2), r"(?s)Dropout2d: p is a probability.*0 <= p <= 1"),
    "an unknown reduction": (lambda: nn.L1Loss(reduction="avg"), r"(?s)L1Loss: unknown reduction.*'mean', 'sum' or 'none'"),
    "a reduction of another": (lambda: nn.MSELoss(reduction="batchmean"), "MSELoss: unknown reduction"),
    "a margin of words": (lambda: nn.HingeEmbeddingLoss(margin="1"), "margin is no number"),
    "a share of 2": (lambda: nn.CrossEntropyLoss(label_smoothing=2.0), "0 <= label_smoothing <= 1"),
    "no features": (lambda: nn.Bilinear(2, -3, 1), "can't be negative"),
    "no slopes": (lambda: nn.PReLU("a"), "no whole number"),
}


@pytest.mark.parametrize("what", MADE)
def test_a_layer_is_not_made_of_what_means_nothing(what):
    make, text = MADE[what]
    with pytest.raises(gl.GradlabError, match=text):
        make()


X = gl.zeros(2, 3, 5, 5)
CALLED = {
    "other channels": (lambda: nn.Conv2d(4, 2, 3)(X), r"(?s)conv2d.*\(2, 3, 5, 5\)"),
    "too few axes": (lambda: nn.Conv2d(3, 2, 3)(X[0, 0]), "conv2d"),
    "a kernel larger than the image": (lambda: nn.Conv2d(3, 2, 7)(X), "conv2d"),
    "an output that no input has": (
        lambda: nn.ConvTranspose2d(3, 2, 3)(X, output_size=(9, 9)),
        r"(?s)no such output.*from \[7, 7\] to \[7, 7\]",
    ),
    "an output of one axis": (lambda: nn.ConvTranspose2d(3, 2, 3)(X, output_size=(7,)), "no such output"),
    "an image as a sequence": (
        lambda: nn.ReflectionPad1d(1)(X),
        r"(?s)ReflectionPad1d: this has another number of axes.*nn\.ReflectionPad2d",
    ),
    "a mirror beyond the image": (lambda: nn.ReflectionPad2d(5)(X), "pad"),
    "a window larger than the image": (lambda: nn.MaxPool2d(7)(X), "max_pool2d"),
    "no square of channels": (lambda: nn.PixelShuffle(2)(X), "pixel_shuffle"),
    "other features": (lambda: nn.Bilinear(2, 3, 4)(gl.zeros(1, 2), gl.zeros(1, 4)), "(?i)bilinear|einsum"),
    "a label out of range": (lambda: nn.CrossEntropyLoss()(gl.zeros(2, 3), gl.tensor([0, 3])), r"(?s)cross_entropy.*3"),
    "a negative label": (lambda: nn.NLLLoss()(gl.zeros(2, 3), gl.tensor([0, -1])), "nll_loss"),
    "a target that would broadcast": (lambda: nn.L1Loss()(gl.zeros(4, 1), gl.zeros(4)), r"(?s)l1_loss.*target\.reshape"),
    "a leaf in place": (lambda: nn.ReLU(inplace=True)(gl.ones(2, requires_grad=True)), r"(?s)nn\.ReLU\(inplace=True\).*leaf"),
    "what is no tensor": (lambda: nn.Conv2d(3, 2, 3)("image"), "(?s)."),
}


@pytest.mark.parametrize("what", CALLED)
def test_an_input_that_does_not_fit_is_refused(what):
    call, text = CALLED[what]
    with pytest.raises(gl.GradlabError, match=text):
        call()


A, B = gl.zeros(4, 1), gl.zeros(4)
STATED = [  # each class of error that a docstring names
    (gl.ShapeError, lambda: nn.Linear(2, 3)(X)), (gl.ShapeError, lambda: nn.MaxPool1d(2)(X)), (gl.ShapeError, lambda: nn.AvgPool2d(7)(X)),
    (gl.ShapeError, lambda: nn.LPPool2d(2.0, 7)(X)), (gl.ShapeError, lambda: nn.AdaptiveAvgPool1d(2)(X)),
    (gl.ShapeError, lambda: nn.AdaptiveMaxPool3d(2)(X[0, 0])), (gl.ShapeError, lambda: nn.MaxUnpool2d(2)(X, gl.zeros(2, 3, 5, 4).long())),
    (gl.ShapeError, lambda: nn.CircularPad2d(6)(X)), (gl.ShapeError, lambda: nn.ZeroPad2d(-3)(X)),
    (gl.ShapeError, lambda: nn.ReplicationPad1d(1)(X)), (gl.ShapeError, lambda: nn.LayerNorm(4)(X)),
    (gl.ShapeError, lambda: nn.RMSNorm(4)(X)), (gl.ShapeError, lambda: nn.LocalResponseNorm(2)(B)),
    (gl.ShapeError, lambda: nn.Dropout2d()(A)), (gl.ShapeError, lambda: nn.PixelUnshuffle(2)(X)),
    (gl.ShapeError, lambda: nn.ChannelShuffle(2)(X)), (gl.ShapeError, lambda: nn.Upsample(size=3, mode="linear")(X)),
    (gl.ShapeError, lambda: nn.Unfold(7)(X)), (gl.ShapeError, lambda: nn.Fold(4, 2)(gl.zeros(1, 8, 3))),
    (gl.ShapeError, lambda: nn.Unflatten(1, (2, 2))(X)), (gl.errors.DimError, lambda: nn.Unflatten(9, (2, 2))(X)),
    (gl.errors.DimError, lambda: nn.Flatten(7)(X)), (gl.errors.DimError, lambda: nn.Softmax(9)(X)),
    (gl.errors.DimError, lambda: nn.GLU(9)(X)), (gl.ShapeError, lambda: nn.PReLU(2)(X)),
    (gl.ShapeError, lambda: nn.PairwiseDistance()(X, B)), (gl.errors.DimError, lambda: nn.CosineSimilarity(dim=9)(X, X)),
    (gl.ShapeError, lambda: nn.GaussianNLLLoss()(A, B, A)), (gl.ShapeError, lambda: nn.MarginRankingLoss()(A, A, B)),
    (gl.ShapeError, lambda: nn.CosineEmbeddingLoss()(A, A, gl.ones(2))), (gl.ShapeError, lambda: nn.TripletMarginLoss()(A, A, A[:2])),
    (gl.errors.LabelError, lambda: nn.MultiMarginLoss()(gl.zeros(2, 3), gl.tensor([0, 3]))),
    (gl.errors.LabelError, lambda: nn.MultiLabelMarginLoss()(gl.zeros(1, 3), gl.tensor([[0, 3, -1]]))),
    (gl.errors.LabelError, lambda: nn.CTCLoss()(gl.zeros(4, 1, 3), gl.tensor([[1, 5]]), gl.tensor([4]), gl.tensor([2]))),
    *[(gl.ShapeError, lambda loss=loss: loss()(A, B)) for loss in (
        nn.SmoothL1Loss, nn.HuberLoss, nn.BCELoss, nn.BCEWithLogitsLoss, nn.KLDivLoss, nn.PoissonNLLLoss, nn.HingeEmbeddingLoss,
        nn.SoftMarginLoss, nn.MultiLabelSoftMarginLoss)],
]  # fmt: skip


@pytest.mark.parametrize(("error", "call"), STATED)
def test_the_errors_are_those_that_the_docstrings_name(error, call):
    with pytest.raises(error):
        call()


IN_PLACE = [nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.CELU, nn.SELU, nn.SiLU, nn.Mish, nn.Hardtanh, nn.Hardsigmoid, nn.Hardswish,
            nn.RReLU, nn.Dropout, lambda inplace=False: nn.Threshold(0.1, 7.0, inplace)]  # fmt: skip


@pytest.mark.parametrize("make", IN_PLACE)
def test_in_place_the_input_becomes_the_result_with_the_same_gradient(make):
    values, grads = [], []
    for layer in (make(), make(inplace=True)):
        gl.manual_seed(1)
        leaf = gl.tensor(np.linspace(-2, 2, 9), requires_grad=True)
        x = leaf * 1.5
        y = layer(x)
        assert (y is x) == layer.inplace
        (y * gl.tensor(np.arange(9.0))).sum().backward()
        values.append(x.data.copy() if layer.inplace else y.data)
        grads.append(leaf.grad.data)
    np.testing.assert_array_equal(*values)
    np.testing.assert_array_equal(*grads)
    assert "inplace=True" in repr(make(inplace=True))


def test_layers_are_made_where_and_of_what_kind_is_asked():
    for make in (nn.Linear, nn.Embedding, nn.GroupNorm):
        for p in make(2, 2, device="sim", dtype=gl.float64).parameters():
            assert p.device == "sim" and p.dtype == "float64"
    for layer in (
        nn.Conv2d(2, 2, 3, device="sim"),
        nn.BatchNorm1d(2, device="sim"),
        nn.PReLU(device="sim"),
        nn.Bilinear(1, 2, 3, device="sim"),
    ):
        assert {str(t.device) for t in [*layer.parameters(), *layer.buffers()]} == {"sim"}
    with gl.device("sim"):
        assert nn.Linear(1, 1).weight.device == "sim"


def test_what_is_drawn_in_training_is_dropped_by_channel_or_entry():
    gl.manual_seed(0)
    x = gl.ones(8, 6, 4)
    whole = nn.Dropout1d(0.5)(x).data
    assert all(np.all(row == row[0]) for sample in whole for row in sample) and set(np.unique(whole)) == {0.0, 2.0}
    assert len(np.unique(nn.Dropout(0.5)(x).data[0, 0])) <= 2 and nn.Dropout(0.5).eval()(x) is x
    a = nn.AlphaDropout(0.2)(gl.randn(200, 200)).data
    assert abs(a.mean()) < 0.05 and abs(a.std() - 1) < 0.05
