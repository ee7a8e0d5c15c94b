"""Changes to pictures: what is computed, what is drawn, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import data

X = np.random.default_rng(0).random((40, 3, 8, 6), dtype=np.float32)
ALL = [
    data.Normalize([0.1, 0.2, 0.3], 0.5),
    data.RandomHorizontalFlip(),
    data.RandomCrop((5, 4), padding=1),
    data.RandomErasing(),
    data.RandomErasing(value="random"),
]


def test_normalize_takes_means_and_spreads_of_each_channel():
    got = data.Normalize([0.1, 0.2, 0.3], [1, 2, 4])(X)
    for c in range(3):
        np.testing.assert_allclose(got[:, c], (X[:, c] - (c + 1) / 10) / 2**c, rtol=1e-6)
    mean, std = X.mean((0, 2, 3)), X.std((0, 2, 3))
    done = data.Normalize(mean, std)(X)
    np.testing.assert_allclose([done.mean(), done.std()], [0, 1], atol=1e-5)


def test_each_picture_is_turned_for_itself_and_half_of_them_are():
    got = data.RandomHorizontalFlip()(X)
    same, turned = (np.array([np.array_equal(a, b) for a, b in zip(got, y, strict=True)]) for y in (X, X[..., ::-1]))
    assert (same ^ turned).all() and 10 < turned.sum() < 30
    assert np.array_equal(data.RandomHorizontalFlip(1.0)(X), X[..., ::-1]) and np.array_equal(data.RandomHorizontalFlip(0)(X), X)


def windows(x, height, width):
    return {x[:, i : i + height, j : j + width].tobytes() for i in range(x.shape[1] - height + 1) for j in range(x.shape[2] - width + 1)}


def test_each_picture_is_cut_at_a_place_of_its_own_and_all_places_come():
    got = data.RandomCrop((5, 4))(X)
    assert got.shape == (40, 3, 5, 4) and got.flags.c_contiguous
    assert all(a.tobytes() in windows(b, 5, 4) for a, b in zip(got, X, strict=True))
    same = np.broadcast_to(X[0], (400, 3, 8, 6))
    assert {a.tobytes() for a in data.RandomCrop((5, 4))(same)} == windows(X[0], 5, 4)
    assert np.array_equal(data.RandomCrop((8, 6))(X), X)


@pytest.mark.parametrize(
    ("padding", "mode", "border"),
    [
        (1, "constant", ((1, 1), (1, 1))),
        ((1, 2), "edge", ((2, 2), (1, 1))),
        ((1, 2, 3, 0), "reflect", ((2, 0), (1, 3))),
        ([2], "symmetric", ((2, 2), (2, 2))),
    ],
)
def test_a_border_is_added_on_the_sides_it_is_asked_for(padding, mode, border):
    fill = {"constant_values": 7} if mode == "constant" else {}
    padded = np.pad(X[0], ((0, 0), *border), mode=mode, **fill)
    whole = data.RandomCrop(padded.shape[1:], padding=padding, fill=7, padding_mode=mode)
    assert np.array_equal(whole(X)[0], padded) and np.array_equal(whole(X[0]), padded)


def test_rectangles_of_the_stated_sizes_are_overwritten_in_the_stated_share_of_pictures():
    x = np.ones((400, 2, 20, 20), np.float32)
    got = data.RandomErasing(p=0.5, scale=(0.1, 0.2), ratio=(0.5, 2), value=[3, 4])(x)
    erased = got[:, 0] == 3
    assert np.array_equal(erased, got[:, 1] == 4) and (got[:, 0][~erased] == 1).all()
    hit = erased.any((1, 2))
    assert 150 < hit.sum() < 250
    for mask in erased[hit]:
        rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
        height, width = rows[-1] - rows[0] + 1, columns[-1] - columns[0] + 1
        assert mask.sum() == height * width and 0.07 < mask.mean() < 0.24 and 0.4 < height / width < 2.5
    assert (x == 1).all()
    noise = data.RandomErasing(p=1, scale=(0.3, 0.33), value="random")(x)
    drawn = noise[noise != 1]
    assert abs(drawn.mean()) < 0.05 and abs(drawn.std() - 1) < 0.05


@pytest.mark.parametrize("transform", ALL, ids=repr)
def test_tensors_give_tensors_of_the_same_numbers_and_dtype_also_on_a_device(transform):
    gl.manual_seed(3)
    want = transform(X)
    before = X.copy()
    for x in (gl.tensor(X), gl.tensor(X).to("sim")):
        gl.manual_seed(3)
        got = transform(x)
        assert got.device == x.device and np.array_equal(got.cpu().data, want) and got.dtype == "float32"
    assert np.array_equal(X, before) and want.dtype == np.float32
    assert transform(X.astype(np.float16)).dtype == np.float16
    gl.manual_seed(3)
    one = transform(X[0])
    assert one.shape == want.shape[1:]


@pytest.mark.parametrize("transform", ALL[1:], ids=repr)
def test_a_seed_repeats_what_was_drawn_and_each_call_draws_anew(transform):
    gl.manual_seed(1)
    a, b = transform(X), transform(X)
    gl.manual_seed(1)
    assert np.array_equal(transform(X), a) and not np.array_equal(a, b)


def test_bytes_stay_bytes_where_nothing_is_computed():
    x = (X * 255).astype(np.uint8)
    for transform in (data.RandomHorizontalFlip(), data.RandomCrop(4, padding=2), data.RandomErasing()):
        assert transform(x).dtype == np.uint8


def test_transforms_are_composed_in_order_and_work_in_a_loader():
    class Pictures(data.Dataset):
        change = data.Compose([data.RandomCrop(6, padding=1), data.RandomHorizontalFlip(), lambda x: x * 2])

        def __len__(self):
            return 6

        def __getitem__(self, i):
            return self.change(X[i])

    def epoch(workers):
        gl.manual_seed(5)
        return np.concatenate([x.data for x in data.DataLoader(Pictures(), 2, num_workers=workers)])

    assert np.array_equal(epoch(0), epoch(3)) and epoch(0).shape == (6, 3, 6, 6)
    assert repr(Pictures.change).startswith("Compose(RandomCrop(size=(6, 6), padding=[1, 1, 1, 1]")


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: data.Normalize(0, 0), gl.ArgumentError, "std above 0"),
        (lambda: data.Normalize([np.nan], 1), gl.ArgumentError, "finite numbers"),
        (lambda: data.Normalize([0, 0], 1)(X), gl.ShapeError, r"(?s)other channels.*channels +3"),
        (lambda: data.Normalize(0, 1)((X * 9).astype(np.uint8)), gl.DTypeError, r"x\.float\(\) / 255"),
        (lambda: data.RandomHorizontalFlip(1.5), gl.ArgumentError, "0 <= p <= 1"),
        (lambda: data.RandomHorizontalFlip()(X[0, 0]), gl.ShapeError, "these are no pictures"),
        (lambda: data.RandomHorizontalFlip()([[1]]), gl.KeywordError, "a tensor or an array"),
        (lambda: data.RandomHorizontalFlip()(gl.tensor(X, requires_grad=True)), gl.GraphError, r"x\.detach\(\)"),
        (lambda: data.RandomCrop(9)(X), gl.ShapeError, r"(?s)window is larger.*\(8, 6\)"),
        (lambda: data.RandomCrop(0), gl.ArgumentError, "this is no size"),
        (lambda: data.RandomCrop((1, 2, 3)), gl.ArgumentError, "this is no size"),
        (lambda: data.RandomCrop(2, padding=-1), gl.ArgumentError, "this is no border"),
        (lambda: data.RandomCrop(2, padding=(1, 2, 3)), gl.ArgumentError, "this is no border"),
        (lambda: data.RandomCrop(2, padding_mode="wrap"), gl.ArgumentError, "no such padding_mode"),
        (lambda: data.RandomErasing(scale=(0.5, 0.1)), gl.ArgumentError, "scale goes from low to high"),
        (lambda: data.RandomErasing(ratio=(0, 1)), gl.ArgumentError, "ratio goes from low to high"),
        (lambda: data.RandomErasing(value="noise"), gl.ArgumentError, "no such value"),
        (lambda: data.RandomErasing(1.0, value=[1, 2])(X), gl.ShapeError, "other channels"),
        (lambda: data.Compose([3]), gl.KeywordError, "a transform is called"),
    ],
    ids=range(19),
)
def test_what_makes_no_sense_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call()
