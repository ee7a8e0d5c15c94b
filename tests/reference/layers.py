"""Calls of layers: windows, normalisation, attention, embedding, recurrent steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .chooser import Call, Chooser, call, still
from .table import rows


def convolution(n: int, transposed: bool = False) -> Callable[[Chooser], Call]:
    """Strides, paddings, dilations and groups in n dimensions."""

    def make(c: Chooser) -> Call:
        groups, out = c.pick(1, 1, 2), c.pick(1, 2)
        cin, cout = groups * c.pick(1, 2), groups * out
        kernel = [c.whole(1, 3) for _ in range(n)]
        dilation = c.pick(1, 1, 2)
        size = [(k - 1) * dilation + c.whole(1, 3) for k in kernel]  # the kernel fits; padding may make a transposed one too small
        batch = c.pick((2,), (1,), ())
        weight = c.floats(cin, out, *kernel) if transposed else c.floats(cout, cin // groups, *kernel)
        stride = c.pick(1, 2, tuple([c.whole(1, 2) for _ in range(n)]))
        options: dict[str, Any] = {
            "stride": stride,
            "padding": 0 if transposed and min(kernel) == 1 else c.pick(0, 1, tuple([c.whole(0, 1) for _ in range(n)])),
            "dilation": dilation,
            "groups": groups,
        }
        if transposed:
            options["output_padding"] = c.pick(0, 1) if stride == 2 else 0
        elif stride == 1:
            options["padding"] = c.pick(options["padding"], "same", "valid")
        return call(c.floats(*batch, cin, *size), weight, c.pick(None, c.floats(cout)), **options)

    return make


rows("conv1d", convolution(1))
rows("conv2d", convolution(2))
rows("conv3d", convolution(3))
rows("conv_transpose1d", convolution(1, transposed=True))
rows("conv_transpose2d", convolution(2, transposed=True))
rows("conv_transpose3d", convolution(3, transposed=True))


def pooling(n: int, average: bool = False) -> Callable[[Chooser], Call]:
    """Windows with strides and padding of less than half of them."""

    def make(c: Chooser) -> Call:
        kernel = c.whole(1, 3)
        shape = (*c.pick((2, 2), (1, 1), (2,)), *[kernel + c.whole(0, 3) for _ in range(n)])
        options: dict[str, Any] = {"stride": c.pick(None, 1, 2), "padding": c.pick(0, kernel // 2), "ceil_mode": c.pick(None, True)}
        if average:
            options["count_include_pad"] = c.pick(None, False)
        return call(c.distinct(*shape), kernel, **options)

    return make


rows("max_pool1d", pooling(1))
rows("max_pool2d", pooling(2))
rows("max_pool3d", pooling(3))
rows("max_pool2d", lambda c: call(c.distinct(1, 2, 5, 5), 2, dilation=2, return_indices=c.pick(None, True)))
rows("avg_pool1d", pooling(1, average=True))
rows("avg_pool2d", pooling(2, average=True))
rows("avg_pool3d", pooling(3, average=True))
rows("lp_pool1d", lambda c: call(c.floats(1, 2, 5, lo=0.2), c.pick(1.0, 2.0, 3.0), c.whole(1, 3), stride=c.pick(None, 1)))
rows("lp_pool2d", lambda c: call(c.floats(1, 2, 4, 4, lo=0.2), c.pick(1.0, 2.0, 3.0), 2, stride=c.pick(None, 1)))
rows("adaptive_avg_pool1d adaptive_max_pool1d", lambda c: call(c.distinct(2, 2, c.whole(1, 6)), c.whole(1, 4)))
rows("adaptive_avg_pool2d adaptive_max_pool2d", lambda c: call(c.distinct(2, 1, c.whole(1, 6), 5), c.pick(1, 2, (3, 2), (2, 4))))
rows("adaptive_avg_pool3d adaptive_max_pool3d", lambda c: call(c.distinct(1, 1, 3, c.whole(1, 4), 3), c.pick(1, 2, (3, 2, 1))))


def padded(c: Chooser) -> Call:
    """Each mode on 1, 2 or 3 of the last axes; constant pads may be negative."""
    n, mode = c.whole(1, 2), c.pick("constant", "reflect", "replicate", "circular")
    x = c.floats(*c.pick((2, 2), (1, 3)), *[c.whole(3, 4) for _ in range(n)])
    lo = -1 if mode == "constant" else 0
    return call(x, tuple([c.whole(lo, 2) for _ in range(2 * n)]), mode=mode, value=c.pick(None, 1.5) if mode == "constant" else None)


rows("pad", padded)
rows("unfold", lambda c: call(c.floats(2, 2, 4, c.whole(3, 5)), c.pick(2, (2, 3)), dilation=1, padding=c.pick(0, 1), stride=c.pick(1, 2)))
rows("fold", lambda c: call(c.floats(1, 2 * 4, 9), (4, 4), 2), "nn.functional.fold")
rows("interpolate", lambda c: call(c.floats(1, 2, 3, 4), scale_factor=c.pick(2, 3), mode="nearest"))
rows(
    "interpolate",
    lambda c: call(c.floats(1, 2, 3, 4), size=c.pick((5, 3), (2, 2), (6, 8)), mode=c.pick("bilinear", "nearest"), align_corners=None),
)
rows("interpolate", lambda c: call(c.floats(1, 2, 3, 4), size=c.pick((5, 3), (6, 8)), mode="bilinear", align_corners=c.flag()))
rows("pixel_shuffle", lambda c: call(c.floats(*c.shape(0, 2, empty=False), 4, 2, 3), 2))
rows("pixel_unshuffle", lambda c: call(c.floats(*c.shape(0, 2, empty=False), 1, 4, 2), 2))
rows("channel_shuffle", lambda c: call(c.floats(2, 4, 3, 1), c.pick(1, 2)))


def normalised(c: Chooser, bias: bool = True) -> Call:
    """Over the last one or two axes, with weight and bias or without."""
    shape = tuple([n + 1 for n in c.shape(2, 3, empty=False)])
    over = shape[-c.whole(1, 2) :]
    weight = c.pick(None, c.floats(*over))
    return call(c.floats(*shape), over, weight, *([c.pick(None, c.floats(*over))] if bias else []), eps=c.pick(None, 1e-3))


rows("layer_norm", normalised)
rows("rms_norm", lambda c: normalised(c, bias=False))


def batch_normalised(c: Chooser) -> Call:
    """In training without running statistics, and with them in evaluation."""
    shape = c.pick((4, 3), (3, 2, 4), (2, 3, 2, 2))
    channels = shape[1]
    weight, bias = c.pick((None, None), (c.floats(channels), c.floats(channels)))
    if c.flag():
        return call(c.floats(*shape), None, None, weight, bias, training=True, eps=c.pick(None, 1e-3))
    frozen = still(c.floats(channels)), still(c.floats(channels, lo=0.5))
    return call(c.floats(*shape), *frozen, weight, bias, training=False)


rows("batch_norm", batch_normalised)


def by_channel(c: Chooser, channels: int) -> dict[str, Any]:
    """A weight and a bias per channel, or neither."""
    return {"weight": c.floats(channels), "bias": c.floats(channels)} if c.flag() else {}


def grouped(c: Chooser) -> Call:
    """Groups of channels."""
    return call(c.floats(2, 4, *c.shape(0, 2, empty=False), 3), c.pick(1, 2, 4), **by_channel(c, 4), eps=c.pick(None, 1e-3))


rows("group_norm", grouped, slack=1e-7)
rows("instance_norm", lambda c: call(c.floats(2, 3, *c.shape(0, 1, empty=False), 4), **by_channel(c, 3)), slack=1e-7)
rows("local_response_norm", lambda c: call(c.floats(2, 5, 3), c.whole(1, 4), alpha=c.pick(None, 0.5)))


def attended(c: Chooser) -> Call:
    """With masks of both kinds, causal, with its own scale."""
    batch, q, k, d, v = c.shape(0, 2, side=2, empty=False), c.whole(1, 3), c.whole(1, 4), c.whole(1, 3), c.whole(1, 3)
    kind = c.pick("plain", "bool", "float", "causal")
    mask: Any = None
    if kind == "bool":
        mask = c.bools(q, k)
        mask[:, 0] = True
    elif kind == "float":
        mask = c.floats(*c.pick(batch, ()), q, k)
    return call(
        c.floats(*batch, q, d), c.floats(*batch, k, d), c.floats(*batch, k, v),
        attn_mask=mask, is_causal=True if kind == "causal" else None, scale=c.pick(None, 0.3),
    )  # fmt: skip


rows("scaled_dot_product_attention", attended)
rows("embedding", lambda c: call(c.ints(*c.shape(), hi=5), c.floats(5, 3), padding_idx=c.pick(None, 1, -1)))
rows("dropout alpha_dropout", lambda c: call(c.floats(*c.shape()), p=c.pick(0.5, 0.0), training=False))
rows("dropout", lambda c: call(c.floats(*c.shape()), p=c.pick(0.0, 1.0), training=True))
rows("dropout1d feature_alpha_dropout", lambda c: call(c.floats(2, 3, 2), p=c.pick(0.5, 0.0), training=False))
rows("dropout2d", lambda c: call(c.floats(2, 3, 2, 2), p=0.0))
rows("dropout3d", lambda c: call(c.floats(2, 3, 2, 1, 2), p=0.0))

rows("lp_pool3d", lambda c: call(c.floats(1, 1, 3, 3, 2, lo=0.2), c.pick(1.0, 2.0), 2, stride=c.pick(None, 1)))
rows("embedding_bag", lambda c: call(c.ints(2, c.whole(1, 3), hi=5), c.floats(5, 2), mode=c.pick(None, "sum", "mean", "max")))
rows("embedding_bag", lambda c: call(c.ints(6, hi=5), c.floats(5, 2), np.array([0, 2, 2]), mode=c.pick("sum", "mean")))


def unpooled(n: int) -> Callable[[Chooser], Call]:
    """Values put back where a max pooling of 2 found them."""

    def make(c: Chooser) -> Call:
        x = c.floats(1, 2, *[2] * n)
        cells = np.arange(x.size // 2).reshape(x.shape[2:])
        corner = sum(2 * axis * 4**k for k, axis in enumerate(np.indices(cells.shape)[::-1]))
        return call(x, np.stack([corner, corner])[None] + c.whole(0, 1), 2)

    return make


rows("max_unpool1d", unpooled(1))
rows("max_unpool2d", unpooled(2))
rows("max_unpool3d", unpooled(3))
rows("upsample", lambda c: call(c.floats(1, 2, 3, 4), scale_factor=c.pick(2, 3)))
rows("upsample", lambda c: call(c.floats(1, 2, 3), size=c.pick(5, 2)))


SIDES = ("zeros", "border", "reflection")
rows("affine_grid", lambda c: call(c.floats(2, 2, 3), (2, 1, 3, c.whole(1, 3)), align_corners=c.flag()))
rows(
    "grid_sample",
    lambda c: call(c.floats(1, 2, 3, 4), c.floats(1, 2, 3, 2, lo=-1.3, hi=1.3), padding_mode=c.pick(*SIDES), align_corners=c.flag()),
)


# -- recurrent


def weights(c: Chooser, gates: int, feature: int, hidden: int) -> list[Any]:
    """w_ih, w_hh and, or not, two biases."""
    biases = c.pick(0, 2)
    return [c.floats(gates * hidden, feature), c.floats(gates * hidden, hidden), *[c.floats(gates * hidden) for _ in range(biases)]]


def cell(gates: int) -> Callable[[Chooser], Call]:
    """One step; LSTM's state is h and c."""

    def make(c: Chooser) -> Call:
        batch, feature, hidden = c.whole(1, 3), c.whole(1, 3), c.whole(1, 3)
        h = c.floats(batch, hidden)
        return call(c.floats(batch, feature), (h, c.floats(batch, hidden)) if gates == 4 else h, *weights(c, gates, feature, hidden))

    return make


def sequence(gates: int) -> Callable[[Chooser], Call]:
    """Some steps."""

    def make(c: Chooser) -> Call:
        step = cell(gates)(c)
        x = step.args[0]
        return call(c.floats(c.whole(1, 3), *x.shape), *step.args[1:])

    return make


def _theirs(name: str) -> Callable[..., Any]:
    def run(torch: Any, x: Any, hx: Any, *given: Any) -> Any:
        hx = tuple([s[None] for s in hx]) if isinstance(hx, tuple) else hx[None]
        return getattr(torch, name)(x, hx, given, len(given) == 4, 1, 0.0, False, False, False)[:: 2 if name == "lstm" else 3]

    return run


def _lstm(*args: Any) -> Any:
    from gradlab import ops

    h, c = ops.lstm(*args)
    return h, c[-1:]


rows("rnn_tanh_cell rnn_relu_cell", cell(1))
rows("gru_cell", cell(3))
rows("lstm_cell", cell(4))
rows("rnn", sequence(1), _theirs("rnn_tanh"))
rows("gru", sequence(3), _theirs("gru"))
rows("lstm", sequence(4), _theirs("lstm"), ours=_lstm)
