"""Every name of tests/names.txt is where PyTorch's users look for it, and every public op is in the list."""

from __future__ import annotations

import pytest

from tests.names import ELSEWHERE, PLACES, exported, listed

DEMANDED = """
    add sub mul div neg pow lt le gt ge eq ne floor ceil round trunc frac sin cos tan asin acos atan atan2 sinh cosh tanh asinh
    acosh atanh exp exp2 expm1 log log2 log10 log1p erf erfc erfinv clamp where masked_fill maximum minimum sign abs remainder
    fmod floor_divide sqrt rsqrt reciprocal square sum mean prod max min amax amin argmax argmin var std norm logsumexp any all
    cumsum cumprod sort argsort topk reshape view flatten squeeze unsqueeze transpose permute movedim expand repeat tile roll flip
    pad cat stack split chunk unbind tril triu diag diagonal gather scatter scatter_add index_select index_add take_along_dim
    one_hot multinomial matmul einsum outer bmm tensordot inverse solve det slogdet logdet cholesky conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d max_pool1d max_pool2d avg_pool1d avg_pool2d adaptive_avg_pool1d adaptive_avg_pool2d
    adaptive_max_pool1d adaptive_max_pool2d unfold fold interpolate pixel_shuffle relu leaky_relu prelu elu selu celu gelu silu
    mish softplus softsign hardtanh hardsigmoid hardswish relu6 logsigmoid softmax log_softmax glu sigmoid tanh cross_entropy
    nll_loss binary_cross_entropy binary_cross_entropy_with_logits mse_loss l1_loss smooth_l1_loss huber_loss kl_div
    hinge_embedding_loss margin_ranking_loss multi_margin_loss cosine_similarity cosine_embedding_loss triplet_margin_loss
    layer_norm batch_norm rms_norm group_norm instance_norm scaled_dot_product_attention embedding dropout rnn_tanh_cell gru_cell
    lstm_cell
"""


AWAITED = {"interpolate"}


@pytest.mark.parametrize("place", PLACES)
def test_every_listed_name_is_there(place):
    missing = [name for (_, where), names in listed().items() if where == place for name in names if not hasattr(PLACES[place], name)]
    assert not missing


def test_the_list_has_every_public_op_and_all_that_models_use():
    names = {name for names in listed().values() for name in names}
    assert not set(exported()) - names, "python -m tests.names writes the list anew"
    assert not set(DEMANDED.split()) - names - AWAITED


@pytest.mark.torch
def test_names_are_where_pytorch_has_them():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    for place, there in (("F", torch.nn.functional), ("Tensor", torch.Tensor)):
        known = {name for (_, where), names in listed().items() if where == place for name in names}
        there_too = {name for name in exported() if callable(getattr(there, name, None)) and (place, name) not in ELSEWHERE}
        assert not there_too - known
