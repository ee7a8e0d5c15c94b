from __future__ import annotations

import hashlib
from importlib.resources import files

import numpy as np
import pytest

from gradlab import data

COUNTS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]  # stated by UCI for its test set


def test_the_digits_are_the_1797_of_the_uci_test_set():
    images, labels = data.digits()
    assert images.shape == (1797, 64) and images.dtype == np.float32 and labels.dtype == np.int64
    assert np.bincount(labels.data).tolist() == COUNTS
    assert images.data.min() == 0 and images.data.max() == 1
    assert (images.data * 16 == (images.data * 16).round()).all()


def test_the_first_image_is_the_zero_it_says_it_is():
    images, labels = data.digits()
    rows = (images.data[0].reshape(8, 8) * 16).astype(int)
    assert labels.data[0] == 0 and rows[0].tolist() == [0, 0, 5, 13, 9, 1, 0, 0] and rows[3].tolist() == [0, 4, 12, 0, 0, 8, 8, 0]


def test_the_file_is_the_one_its_licence_note_names():
    folder = files("gradlab.data")
    digest = hashlib.sha256(folder.joinpath("digits.csv.gz").read_bytes()).hexdigest()
    note = folder.joinpath("digits.LICENSE.txt").read_text()
    assert digest in note and "CC BY 4.0" in note and "Alpaydin" in note and "scikit-learn" in note


@pytest.mark.parametrize("test", [0.2, 0.1, 1 / 3])
def test_both_parts_hold_the_same_share_of_every_digit_and_every_image_once(test):
    whole = data.digits()
    train, held_out = whole.split(test=test)
    n = len(held_out.labels.data)
    assert n == round(1797 * test) and n + len(train.labels.data) == 1797
    shares = np.bincount(held_out.labels.data) / np.array(COUNTS)
    assert np.abs(shares - test).max() < 0.01
    rows = {row.tobytes() for row in np.concatenate([train.images.data, held_out.images.data])}
    assert rows == {row.tobytes() for row in whole.images.data}


def test_the_seed_decides_who_is_held_out():
    whole = data.digits()
    a, b, c = (whole.split(seed=s)[1].images.data for s in (0, 0, 1))
    assert np.array_equal(a, b) and not np.array_equal(a, c)


def test_a_part_goes_straight_into_a_loader():
    _, held_out = data.digits().split()
    x, y = next(iter(data.DataLoader(held_out, batch_size=32)))
    assert x.shape == (32, 64) and y.shape == (32,)


@pytest.mark.parametrize("test", [0, 1, 20, -0.1])
def test_a_share_outside_of_0_and_1_is_refused(test):
    with pytest.raises(ValueError, match="0 < test < 1"):
        data.digits().split(test=test)
