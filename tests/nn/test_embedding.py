from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn


def test_the_row_for_padding_starts_at_0_and_gets_no_gradient():
    layer = nn.Embedding(3, 2, padding_idx=-1)
    assert layer.weight.data[2].tolist() == [0, 0] and layer.padding_idx == 2
    layer(gl.tensor([2, 0, 2])).sum().backward()
    assert layer.weight.grad.tolist() == [[1, 1], [0, 0], [0, 0]]


def test_a_table_that_is_there_is_shared_and_frozen_unless_told_otherwise():
    table = gl.randn(4, 3)
    layer = nn.Embedding.from_pretrained(table)
    assert layer.weight.data is table.data and not layer.weight.requires_grad
    assert nn.Embedding.from_pretrained(table, freeze=False).weight.requires_grad
    bag = nn.EmbeddingBag.from_pretrained(table, mode="sum", freeze=False)
    assert np.allclose(bag([[0, 1]]).data, table.data[:2].sum(0)) and bag.weight.requires_grad
    with pytest.raises(gl.ShapeError, match=r"(?s)no table.*\(id, feature\)"):
        nn.Embedding.from_pretrained([1.0, 2.0])


def test_long_rows_are_shortened_when_they_are_looked_up():
    layer = nn.Embedding.from_pretrained([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], max_norm=1.0)
    layer([0, 1])
    np.testing.assert_allclose(layer.weight.data, [[0.6, 0.8], [0.3, 0.4], [6, 8]], rtol=1e-6)


def test_bags_begin_at_their_offsets():
    bag = nn.EmbeddingBag.from_pretrained([[1.0], [2.0], [4.0]], mode="max")
    assert bag(gl.tensor([0, 1, 2, 0]), gl.tensor([0, 2])).tolist() == [[2], [4]]


@pytest.mark.parametrize("bad", [[3], [-1]])
def test_ids_without_a_row_are_refused(bad):
    for layer in (nn.Embedding(3, 2), nn.EmbeddingBag(3, 2)):
        with pytest.raises(gl.errors.LabelError, match="0 to 2"):
            layer(gl.tensor([bad]))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: nn.Embedding(3, 2, padding_idx=3), r"(?s)padding_idx has no row.*3"),
        (lambda: nn.Embedding(3, 2, sparse=True), "no sparse gradients"),
        (lambda: nn.Embedding(3, -2), "can't be negative"),
        (lambda: nn.EmbeddingBag(3, 2, mode="median"), "unknown mode"),
        (lambda: nn.Embedding(3, 2, _weight=gl.ones(2, 2)), "the table has other sizes"),
        (lambda: nn.Embedding(3, 2)(gl.tensor([0.5])), "ids are integers"),
    ],
)
def test_what_means_nothing_is_refused(make, text):
    with pytest.raises(gl.GradlabError, match=text):
        make()
