"""The rows of the table of layers: importing this fills it."""

from __future__ import annotations

import numpy as np

from tests.nn.layers import TABLE as TABLE
from tests.nn.layers import Numbers, fixed, floats, ids, log_probs, positive, row, signs

# -- linear and convolutions
row("Linear", floats(2, 3, 4), 4, 5)
row("Linear", floats(4), 4, 3, bias=False)
row("Bilinear", (floats(3, 2), floats(3, 4)), 2, 4, 3)
row("Bilinear", (floats(2, 3, 2), floats(2, 3, 3)), 2, 3, 2, bias=False)
row("Conv1d", floats(2, 3, 8), 3, 4, 3)
row("Conv1d", floats(2, 4, 9), 4, 6, 3, stride=2, padding=1, dilation=2, groups=2, bias=False)
row("Conv1d", floats(3, 7), 3, 2, 4, padding="same", padding_mode="circular")
row("Conv2d", floats(2, 3, 6, 5), 3, 4, 3)
row("Conv2d", floats(2, 4, 6, 7), 4, 4, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=4)
row("Conv2d", floats(1, 2, 5, 5), 2, 3, 3, padding="same")
row("Conv2d", floats(1, 2, 5, 5), 2, 3, 3, padding="valid", bias=False)
row("Conv2d", floats(1, 2, 5, 4), 2, 3, 3, padding=1, padding_mode="reflect")
row("Conv2d", floats(1, 2, 5, 4), 2, 3, (3, 2), padding="same", padding_mode="replicate")
row("Conv3d", floats(1, 2, 4, 3, 4), 2, 3, 2)
row("Conv3d", floats(1, 2, 4, 4, 4), 2, 2, (3, 1, 2), stride=2, padding=(1, 0, 1), groups=2, bias=False)
row("ConvTranspose1d", floats(2, 3, 4), 3, 2, 3)
row("ConvTranspose1d", floats(2, 4, 4), 4, 6, 3, stride=2, padding=1, output_padding=1, groups=2, bias=False, dilation=2)
row("ConvTranspose2d", floats(2, 3, 3, 4), 3, 2, 3)
row("ConvTranspose2d", floats(2, 2, 3, 3), 2, 4, (2, 3), stride=2, padding=(0, 1), groups=2)
row("ConvTranspose2d", floats(1, 2, 3, 3), 2, 2, 3, stride=2, padding=1, _call={"output_size": (6, 5)})
row("ConvTranspose3d", floats(1, 2, 2, 3, 2), 2, 2, 2)
row("ConvTranspose3d", floats(1, 2, 2, 2, 2), 2, 2, 2, stride=2, padding=1, output_padding=1, bias=False)

# -- pooling
for n in (1, 2, 3):
    image = (7, 6, 5)[:n]
    row(f"MaxPool{n}d", floats(2, 2, *image), 2)
    row(f"MaxPool{n}d", floats(2, *image), 3, stride=2, padding=1, ceil_mode=True)
    row(f"MaxPool{n}d", floats(1, 2, *image), 2, dilation=2, stride=1, return_indices=True)
    row(f"AvgPool{n}d", floats(2, 2, *image), 2)
    row(f"AvgPool{n}d", floats(2, *image), 3, stride=2, padding=1, ceil_mode=True, count_include_pad=False)
    row(f"LPPool{n}d", positive(1, 2, *image), 2.0, 2)
    row(f"LPPool{n}d", positive(1, 2, *image), 3.0, 3, stride=2, ceil_mode=True)
    row(f"AdaptiveAvgPool{n}d", floats(2, 2, *image), 2)
    row(f"AdaptiveMaxPool{n}d", floats(2, 2, *image), 3)
    row(f"AdaptiveMaxPool{n}d", floats(1, 2, *image), 2, return_indices=True)
    corner = np.arange(2) * 2
    places = corner if n == 1 else (4 * corner[:, None] + corner) if n == 2 else 16 * corner[:, None, None] + 4 * corner[:, None] + corner
    row(f"MaxUnpool{n}d", (floats(1, 1, *[2] * n), fixed(*[[places]])), 2)
row("AvgPool2d", floats(1, 2, 4, 4), 2, divisor_override=3)
DRAWN = Numbers((((0.3, 0.8), (0.05, 0.55)),))
row("FractionalMaxPool2d", floats(1, 2, 7, 6), 2, output_size=(4, 3), _random_samples=DRAWN)
row("FractionalMaxPool2d", floats(1, 2, 7, 6), (2, 3), output_ratio=0.6, return_indices=True, _random_samples=DRAWN)
THREE = Numbers((((0.3, 0.8, 0.1), (0.05, 0.55, 0.9)),))
row("FractionalMaxPool3d", floats(1, 2, 5, 6, 4), 2, output_size=(3, 4, 2), return_indices=True, _random_samples=THREE)
row("MaxPool2d", floats(1, 2, 5, 4), (2, 3), stride=(1, 2))
row("AdaptiveAvgPool2d", floats(1, 2, 5, 4), (3, None))
row("AdaptiveAvgPool3d", floats(2, 3, 4, 5), (1, 2, 3))
row("MaxUnpool1d", (floats(1, 1, 2), fixed([[0, 3]])), 2, stride=2, _call={"output_size": (5,)})

# -- normalisation
for n in (1, 2, 3):
    places = (4, 3, 2)[:n]
    row(f"BatchNorm{n}d", floats(3, 2, *places), 2)
    row(f"BatchNorm{n}d", floats(2, 2, *places), 2, eps=0.1, momentum=0.3, _eval=True)
    row(f"BatchNorm{n}d", floats(2, 2, *places), 2, affine=False, track_running_stats=False, _eval=True)
    row(f"InstanceNorm{n}d", floats(2, 3, *places), 3)
    row(f"InstanceNorm{n}d", floats(2, 3, *places), 3, affine=True, track_running_stats=True)
    row(f"InstanceNorm{n}d", floats(3, *places), 3, affine=True, track_running_stats=True, bias=False, _eval=True)
row("BatchNorm1d", floats(4, 3), 3, momentum=None)
row("BatchNorm1d", floats(4, 3), 3, bias=False)
row("LayerNorm", floats(2, 3, 4), 4)
row("LayerNorm", floats(2, 3, 4), (3, 4), eps=1e-3, bias=False)
row("LayerNorm", floats(2, 4), [4], elementwise_affine=False)
row("RMSNorm", floats(2, 3, 4), 4)
row("RMSNorm", floats(2, 3, 4), (3, 4), eps=1e-3, elementwise_affine=False)
row("GroupNorm", floats(2, 4, 3), 2, 4)
row("GroupNorm", floats(2, 4), 2, 4, affine=False)
row("GroupNorm", floats(2, 4, 2, 2), 4, 4, eps=0.1, bias=False)
row("LocalResponseNorm", floats(2, 5, 3), 3)
row("LocalResponseNorm", floats(2, 5, 3, 2), 2, alpha=0.5, beta=0.6, k=1.5)

# -- dropout: what is drawn is compared in tests/nn/test_dropout.py
for name, shape in {
    "Dropout": (3, 4),
    "Dropout1d": (2, 3, 4),
    "Dropout2d": (2, 3, 2, 2),
    "Dropout3d": (2, 3, 2, 1, 2),
    "AlphaDropout": (3, 4),
    "FeatureAlphaDropout": (2, 3, 4),
}.items():
    row(name, floats(*shape), 0.3, _eval=True)
    row(name, floats(*shape), 0.0)
row("Dropout", floats(3, 4), p=1.0)

# -- tables
row("Embedding", ids(5, 2, 3), 5, 3)
row("Embedding", ids(5, 4), 5, 3, padding_idx=2)
row("Embedding", ids(4, 2, 3), 4, 2, padding_idx=-1, max_norm=0.5, norm_type=1.0, scale_grad_by_freq=True)
row("EmbeddingBag", ids(5, 2, 3), 5, 3)
row("EmbeddingBag", ids(5, 2, 3), 5, 3, mode="max")
row("EmbeddingBag", (ids(5, 6), fixed(0, 2, 2)), 5, 3, mode="sum", padding_idx=1)

# -- shapes, images, padding
row("Identity", floats(2, 3))
row("Flatten", floats(2, 3, 4))
row("Flatten", floats(2, 3, 4), 0, 1)
row("Unflatten", floats(2, 6), 1, (2, 3))
row("Unflatten", floats(2, 6), 1, (3, -1))
row("PixelShuffle", floats(2, 8, 2, 3), 2)
row("PixelUnshuffle", floats(2, 2, 4, 6), 2)
row("ChannelShuffle", floats(2, 6, 3), 3)
row("Upsample", floats(1, 2, 3, 4), scale_factor=2)
row("Upsample", floats(1, 2, 3, 4), size=(5, 3), mode="bilinear")
row("Upsample", floats(1, 2, 4), scale_factor=1.5, mode="linear", align_corners=True)
row("Upsample", floats(1, 2, 4, 4), scale_factor=(2, 1.5), mode="bicubic")
row("UpsamplingNearest2d", floats(1, 2, 3, 4), scale_factor=2)
row("UpsamplingBilinear2d", floats(1, 2, 3, 4), size=(5, 6))
row("Unfold", floats(2, 2, 4, 5), 2)
row("Unfold", floats(2, 2, 4, 5), (2, 3), dilation=1, padding=1, stride=2)
row("Fold", floats(2, 8, 9), (4, 4), 2)
row("Fold", floats(1, 8, 4), (4, 4), 2, stride=2)
for n in (1, 2, 3):
    axes, ends = (4, 3, 3)[:n], tuple(range(1, 2 * n + 1))
    row(f"ConstantPad{n}d", floats(1, 2, *axes), ends, 0.5)
    row(f"ConstantPad{n}d", floats(1, 2, *axes), -1, 0.0)
    row(f"ZeroPad{n}d", floats(1, 2, *axes), 1)
    few = tuple([1 + i % 2 for i in range(2 * n)])
    row(f"ReflectionPad{n}d", floats(1, 2, *axes), few)
    row(f"ReplicationPad{n}d", floats(1, 2, *axes), ends)
    row(f"CircularPad{n}d", floats(2, *axes), few)
    row(f"CircularPad{n}d", floats(1, 2, *axes), 1)

# -- activations
SMOOTH = "ELU CELU SELU GELU SiLU Mish Tanh Sigmoid LogSigmoid Softsign Tanhshrink Softplus"
PIECES = "ReLU ReLU6 LeakyReLU PReLU Hardtanh Hardsigmoid Hardswish Hardshrink Softshrink"
for name in (SMOOTH + " " + PIECES).split():
    row(name, floats(3, 4))
row("RReLU", floats(3, 4), _eval=True)
row("RReLU", floats(3, 4), 0.2, 0.2)
row("LeakyReLU", floats(3, 4), 0.3)
row("ELU", floats(3, 4), 0.5)
row("CELU", floats(3, 4), alpha=2.0)
row("GELU", floats(3, 4), approximate="tanh")
row("Softplus", floats(3, 4), 2.0, 1.5)
row("Hardtanh", floats(3, 4), -0.5, 0.7)
row("Hardshrink", floats(3, 4), 0.9)
row("Softshrink", floats(3, 4), 0.9)
row("Threshold", floats(3, 4), 0.3, -2.0)
row("PReLU", floats(2, 3, 2), 3, init=0.1)
row("GLU", floats(3, 4))
row("GLU", floats(4, 3), 0)
for name in ("Softmax", "Softmin", "LogSoftmax"):
    row(name, floats(3, 4), dim=1)
    row(name, floats(3, 4), dim=0)
row("Softmax2d", floats(2, 3, 2, 2))

# -- losses
for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"):
    for reduction in ("mean", "sum", "none"):
        row(name, (floats(3, 4), floats(3, 4)), reduction=reduction)
row("SmoothL1Loss", (floats(3, 4), floats(3, 4)), beta=0.5)
row("HuberLoss", (floats(3, 4), floats(3, 4)), delta=0.5)
WEIGHT = Numbers((0.5, 1.0, 2.0))
row("CrossEntropyLoss", (floats(4, 3), ids(3, 4)))
row("CrossEntropyLoss", (floats(4, 3), ids(3, 4)), weight=WEIGHT, ignore_index=1, label_smoothing=0.1)
row("CrossEntropyLoss", (floats(2, 3, 2), ids(3, 2, 2)), reduction="none")
row("NLLLoss", (log_probs(4, 3), ids(3, 4)))
row("NLLLoss", (log_probs(4, 3), ids(3, 4)), weight=WEIGHT, ignore_index=0, reduction="sum")
row("BCELoss", (positive(3, 3), positive(3, 3)))
row("BCELoss", (positive(3, 3), positive(3, 3)), weight=WEIGHT, reduction="sum")
row("BCEWithLogitsLoss", (floats(3, 3), positive(3, 3)))
row("BCEWithLogitsLoss", (floats(3, 3), positive(3, 3)), weight=WEIGHT, pos_weight=WEIGHT, reduction="none")
row("KLDivLoss", (log_probs(3, 4), positive(3, 4)), reduction="batchmean")
row("KLDivLoss", (log_probs(3, 4), log_probs(3, 4)), reduction="sum", log_target=True)
row("PoissonNLLLoss", (floats(3, 4), positive(3, 4)))
row("PoissonNLLLoss", (positive(3, 4), positive(3, 4)), log_input=False, full=True)
row("GaussianNLLLoss", (floats(3, 4), floats(3, 4), positive(3, 4)))
row("GaussianNLLLoss", (floats(3, 4), floats(3, 4), positive(3, 1)), full=True, reduction="sum")
row("CTCLoss", (log_probs(5, 2, 4), ids(4, 2, 2, low=1), fixed(5, 4), fixed(2, 1)))
row("CTCLoss", (log_probs(5, 2, 4), ids(3, 2, 2), fixed(5, 4), fixed(2, 2)), blank=3, reduction="sum", zero_infinity=True)
row("AdaptiveLogSoftmaxWithLoss", (floats(4, 8), fixed(0, 3, 5, 9)), 8, 10, [2, 5], div_value=2.0)
row("AdaptiveLogSoftmaxWithLoss", (floats(3, 4), fixed(1, 4, 2)), 4, 6, [3], head_bias=True)
row("HingeEmbeddingLoss", (floats(3, 4), signs(3, 4)))
row("HingeEmbeddingLoss", (floats(3, 4), signs(3, 4)), margin=0.4, reduction="sum")
row("MarginRankingLoss", (floats(4), floats(4), signs(4)))
row("MarginRankingLoss", (floats(4), floats(4), signs(4)), margin=0.4, reduction="none")
row("CosineEmbeddingLoss", (floats(4, 3), floats(4, 3), signs(4)))
row("CosineEmbeddingLoss", (floats(4, 3), floats(4, 3), signs(4)), margin=-0.4, reduction="sum")
row("SoftMarginLoss", (floats(3, 4), signs(3, 4)))
row("MultiMarginLoss", (floats(4, 3), ids(3, 4)))
row("MultiMarginLoss", (floats(4, 3), ids(3, 4)), p=2, margin=0.7, weight=WEIGHT, reduction="sum")
row("MultiLabelMarginLoss", (floats(2, 4), fixed([3, 0, -1, 1], [2, -1, 0, 0])))
row("MultiLabelSoftMarginLoss", (floats(4, 3), positive(4, 3)))
row("MultiLabelSoftMarginLoss", (floats(4, 3), positive(4, 3)), weight=WEIGHT, reduction="none")
row("TripletMarginLoss", (floats(4, 3), floats(4, 3), floats(4, 3)))
row("TripletMarginLoss", (floats(4, 3), floats(4, 3), floats(4, 3)), margin=2.0, p=1.0, swap=True, reduction="sum")
row("TripletMarginWithDistanceLoss", (floats(4, 3), floats(4, 3), floats(4, 3)), margin=0.5, swap=True)
row("CosineSimilarity", (floats(3, 4), floats(3, 4)))
row("CosineSimilarity", (floats(3, 4), floats(3, 4)), dim=0, eps=0.1)
row("PairwiseDistance", (floats(3, 4), floats(3, 4)))
row("PairwiseDistance", (floats(3, 4), floats(3, 4)), p=1.0, keepdim=True)
