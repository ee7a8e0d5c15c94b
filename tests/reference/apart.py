"""Where gradlab and PyTorch are meant to differ, and why: by op, by variant of the call ("*" is every one)."""

from __future__ import annotations

ONE_SHAPE = "a loss refuses shapes that would broadcast: (4, 1) against (4,) is 16 differences"
FLOATS = "what only moves or masks numbers in PyTorch is refused for integers here: dropping entries of integers cannot keep their mean"
BOOLS = "PyTorch has no rule for these dtypes"
WEIGHT = "here a weight has to be a matrix, and a bias a vector"
EMPTY = "PyTorch lets one-dimensional empty tensors pass everywhere in cat, for old programs"
FITS = "PyTorch repeats an axis of size 1 in the sums of tensordot"
NUMBER = "here the factors of integers are refused or give floats, PyTorch cuts them off"
LOSS = "a loss of integers is refused: whoever has them forgot to make floats of them"
TARGET = "whether input or target says the dtype of a loss has no rule in PyTorch"
SOURCE = "PyTorch takes more values than indices, and then fails in backward"
TIES = "which of equal numbers comes first has no rule in PyTorch"
CRASHES = "PyTorch ends the process"
MASK = "a mask larger than the tensor is refused"
MASK_VALUE = "integers take no fraction; PyTorch cuts it off where x is a single number"
BATCH = "PyTorch takes more axes in front than a batch and channels, in some poolings"
DIVIDES = "PyTorch refuses integers since it once divided them with a remainder; here the division is true"
BASE = "PyTorch gives 1 for base 1 and refuses by the exponent alone where it is a number; here negative exponents of integers are refused"
PROMOTES = "dtypes that differ are brought to one"
LIMITS = "PyTorch writes the upper limit into the shape the lower one gave; here all three broadcast"
NO_SOFTMAX = "PyTorch has no softmax of integers, only one of no integers"
BROADCASTS = "here shapes broadcast, PyTorch wants as many axes on both sides"

LOSSES = """
    mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div poisson_nll_loss
    gaussian_nll_loss soft_margin_loss hinge_embedding_loss margin_ranking_loss multilabel_soft_margin_loss cosine_embedding_loss
    triplet_margin_loss triplet_margin_with_distance_loss
"""
APART: dict[str, dict[str, str]] = {
    "addbmm": {"integers": NUMBER, "booleans": NUMBER},
    "addcdiv": {"integers": DIVIDES, "booleans": DIVIDES},
    **{name: {"deeper": EMPTY, "flatter": EMPTY, "dim": EMPTY, "longer": EMPTY} for name in ("cat", "concat", "concatenate")},
    "masked_fill": {"deeper": MASK, "flatter": MASK, "longer": MASK, "integers": MASK_VALUE},
    "masked_scatter": {"deeper": MASK, "flatter": MASK, "longer": MASK},
    "cross_entropy": {"mixed": TARGET, "deeper": "weights are one a class, in one axis"},
    "nll_loss": {"deeper": "weights are one a class, in one axis"},
    **{f"{kind}_pool{n}d": {"integers": FLOATS, "booleans": FLOATS} for kind in ("avg", "lp") for n in (1, 2, 3)},
    **{f"adaptive_{kind}_pool{n}d": {"deeper": BATCH, "flatter": BATCH} for kind in ("avg", "max") for n in (1, 2, 3)},
    "matrix_power": {"integers": FLOATS, "booleans": FLOATS},
    "isin": {"booleans": BOOLS},
    "embedding_bag": {"integers": BOOLS, "booleans": BOOLS, "longer": "offsets that fall"},
    "cov": {"integers": FLOATS, "booleans": FLOATS},
    "corrcoef": {"integers": FLOATS, "booleans": FLOATS},
    "renorm": {"flatter": "rows of single numbers are rows too"},
    "repeat_interleave": {"flatter": "PyTorch looks for axis 1 of a single number"},
    "roll": {"flatter": "PyTorch takes a dim of a single number everywhere but here"},
    "getitem": {
        "deeper": "an index out of range is refused also where nothing would be taken",
        "flatter": "a 0-d index tensor beside others is one of them, as in NumPy; PyTorch takes it for a number",
    },
    "set_index": {"deeper": "an index out of range is refused also where nothing would be written"},
    "addmv": {"flatter": "PyTorch speaks of outer where the sum has no terms"},
    "kron": {"mixed": "PyTorch forgets there that a single number does not widen"},
    "clamp": {"longer": LIMITS, "flatter": LIMITS, "deeper": LIMITS},
    "aminmax": {"flatter": "PyTorch's gradient of a single number is wrong: it leaves out the one of max"},
    "local_response_norm": {"integers": "a norm of integers is refused"},
    "dropout2d": {"deeper": "PyTorch only warns that more axes are not a batch of channels"},
    "dropout3d": {"deeper": "PyTorch only warns that more axes are not a batch of channels"},
    "cross": {"flatter": BROADCASTS, "deeper": BROADCASTS},
    "dropout": {"integers": FLOATS, "booleans": FLOATS},
    "linear": {"flatter": WEIGHT, "deeper": WEIGHT},
    "softmax": {"integers": NO_SOFTMAX, "booleans": NO_SOFTMAX},
    "log_softmax": {"integers": NO_SOFTMAX, "booleans": NO_SOFTMAX},
    "softmin": {"integers": NO_SOFTMAX, "booleans": NO_SOFTMAX},
    "tensordot": {"deeper": FITS, "flatter": FITS},
    "pow": {"integers": BASE, "booleans": BASE},
    **{
        name: {"integers": TIES, "booleans": TIES, "longer": TIES, "flatter": TIES}
        for name in ("topk", "kthvalue", "median", "nanmedian", "mode")
    },
    "bucketize": {"longer": "numbers that are not sorted"},
    "index_reduce": {"*": "include_self=False: PyTorch lets an entry of x that ties with the largest have a share all the same"},
    "index_select": {"flatter": "no places of a single number are none"},
    "searchsorted": {"longer": "numbers that are not sorted"},
    "index_put": {"flatter": "a place written twice: PyTorch leaves open which value stays, here it is the last"},
    "put": {"flatter": "one value for all places"},
    **{name: {"longer": CRASHES, "flatter": CRASHES, "deeper": CRASHES} for name in ("lstm_cell", "lstm", "gru_cell", "gru")},
    "rnn": {"longer": CRASHES, "flatter": CRASHES, "deeper": CRASHES, "integers": LOSS, "booleans": LOSS},
    "chain_matmul": {"flatter": "vectors are products too", "deeper": "so are batches"},
    "rnn_tanh_cell": {"integers": LOSS, "booleans": LOSS, "deeper": "a state is of one batch"},
    "rnn_relu_cell": {"integers": LOSS, "booleans": LOSS, "deeper": "a state is of one batch"},
    "index_add": {"integers": NUMBER, "booleans": NUMBER, "flatter": "nothing added to a single number leaves it"},
    "addcmul": {"integers": NUMBER, "booleans": NUMBER},
    "addmm": {"integers": NUMBER, "booleans": NUMBER},
    "baddbmm": {"integers": NUMBER, "booleans": NUMBER},
    "pairwise_distance": {"integers": LOSS, "booleans": LOSS},
    **{name: {"longer": SOURCE, "flatter": SOURCE} for name in ("scatter", "scatter_add", "scatter_reduce")},
    **{
        name: {"longer": ONE_SHAPE, "flatter": ONE_SHAPE, "deeper": ONE_SHAPE, "integers": LOSS, "booleans": LOSS, "mixed": TARGET}
        for name in LOSSES.split()
    },
}


def set_apart(name: str, variant: str) -> bool:
    """Whether the two are meant to differ there."""
    reasons = APART.get(name, {})
    return "*" in reasons or variant in reasons or variant.partition(" ")[0] in reasons
