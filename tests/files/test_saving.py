"""What gl.save keeps, and what it leaves behind when it can't."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

import gradlab as gl
from gradlab import nn, optim
from gradlab.files import saving


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.safetensors"


def back(value, path):
    gl.save(value, path)
    return gl.load(path)


PLAIN = [
    None, True, 3, -(2**127), 10**40, 0.1, -0.0, 1e-320, float("inf"), "", "é😀\n\x00", "\ud800", [], {}, (), [1, [2.5, (3,)]],
    {"a": 1, 2: "b", None: [], (1, "x"): {}, 1.5: 0, True: 2}, {3}, frozenset({1}), OrderedDict(b=1, a=2), Counter("abca"),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_come_back_as_they_were(value, path):
    got = back(value, path)
    assert got == value and type(got) is type(value) and repr(got) == repr(value)  # -0.0 and key order too


def test_not_a_number_and_a_dict_with_a_factory_come_back_as_values(path):
    got = back({"nan": float("nan"), "d": defaultdict(list, a=[1])}, path)
    assert got["nan"] != got["nan"] and got["d"] == {"a": [1]} and type(got["d"]) is dict


ARRAYS = {
    "0-d": np.array(2.5),
    "empty": np.zeros((0, 3), np.float32),
    "bool": np.array([True, False]),
    "half": np.array([1.5, np.inf], np.float16),
    "float64": np.array([1e300, np.nan]),
    "uint8": np.arange(4, dtype=np.uint8),
    "int16": np.array([-3], np.int16),
    "int32": np.arange(3, dtype=np.int32),
    "uint64": np.array([2**64 - 1], np.uint64),
    "columns": np.arange(6.0).reshape(2, 3).T,
    "backwards": np.arange(6)[::-2],
    "expanded": np.broadcast_to(np.float32(2), (2, 2)),
    "big-endian": np.arange(3, dtype=">f4"),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_and_tensors_of_every_kind_come_back_as_they_were(kind, path):
    array = ARRAYS[kind]
    got = back({"t": gl.tensor(array), "a": array}, path)
    assert isinstance(got["t"], gl.Tensor) and isinstance(got["a"], np.ndarray)
    for one in (got["t"].data, got["a"]):
        np.testing.assert_array_equal(one, array)
        assert one.dtype == array.dtype.newbyteorder("=") and one.shape == array.shape and one.flags.writeable and one.flags.c_contiguous


def test_complex_arrays_and_numpys_scalars_stay_what_they_are(path):
    got = back([np.array([1 + 2j], np.complex64), np.float32(0.1), np.int64(3), np.bool_(True)], path)
    assert got[0].dtype == np.complex64 and [type(v) for v in got[1:]] == [np.float32, np.int64, np.bool_] and got[1] == np.float32(0.1)


def test_a_state_dict_lies_in_the_file_under_its_own_names(path):
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    gl.save(model.state_dict(), path)
    theirs = load_file(path)
    assert sorted(theirs) == sorted(model.state_dict())
    np.testing.assert_array_equal(theirs["0.weight"], model[0].weight.data)
    with safe_open(path, "np") as file:
        assert file.metadata()["format"] == "pt"


def test_a_whole_training_goes_on_where_it_was_saved(path):
    def fresh():
        gl.manual_seed(1)
        model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 1))
        return model, optim.Adam([{"params": model[0].parameters()}, {"params": model[3].parameters(), "lr": 0.01}], lr=0.1)

    def train(model, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            model(gl.randn(4, 2)).square().sum().backward()
            optimizer.step()

    model, optimizer = fresh()
    generator = gl.Generator().manual_seed(5)
    train(model, optimizer, 3)
    run = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": gl.get_rng_state(), "own": generator.get_state()}
    gl.save(run, path)
    train(model, optimizer, 3)
    want = [p.data.copy() for p in model.parameters()], gl.randn(2, generator=generator).tolist()

    model, optimizer = fresh()
    kept = gl.load(path)
    model.load_state_dict(kept["model"])
    optimizer.load_state_dict(kept["optimizer"])
    gl.set_rng_state(kept["rng"])
    generator.set_state(kept["own"])
    train(model, optimizer, 3)
    for p, w in zip(model.parameters(), want[0], strict=True):
        assert np.array_equal(p.data, w)
    assert gl.randn(2, generator=generator).tolist() == want[1]


def test_tied_tensors_lie_in_the_file_once_and_are_one_again(path):
    w, other = gl.randn(100, 100), gl.randn(100, 100)
    got = back({"in": w, "out": w, "array": w.data, "detached": w.detach(), "other": other, "turned": w.T}, path)
    assert got["in"] is got["out"] is got["detached"] and got["in"] is not got["other"]
    assert np.array_equal(got["turned"].data, w.data.T) and not np.shares_memory(got["turned"].data, got["in"].data)
    assert sorted(load_file(path)) == ["in", "other", "turned"] and path.stat().st_size < 125_000


def test_weights_that_a_model_shares_lie_in_its_file_once_and_are_loaded_under_both_names(path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
            self.last.weight = self.first.weight

    model, other = Tied(), Tied()
    gl.save(model.state_dict(), path)
    assert list(load_file(path)) == ["first.weight"]
    other.load_state_dict(gl.load(path))
    assert np.array_equal(other.last.weight.data, model.first.weight.data) and other.last.weight is other.first.weight


def test_a_state_of_another_model_is_refused_with_all_that_is_wrong_in_one_message(path):
    gl.save({"0.weight": gl.zeros(3, 3), "0.bias": gl.zeros(3), "9.bias": gl.zeros(1)}, path)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    before = model[0].bias.tolist()
    with pytest.raises(
        gl.StateError, match=r"(?s)missing +2\.weight, 2\.bias.*unexpected +9\.bias.*0\.weight +shape \(3, 3\), not \(3, 2\)"
    ):
        model.load_state_dict(gl.load(path))
    assert model[0].bias.tolist() == before


SCHEDULES = {
    "StepLR": lambda o, s: s.StepLR(o, 2),
    "CosineAnnealingLR": lambda o, s: s.CosineAnnealingLR(o, 5),
    "OneCycleLR": lambda o, s: s.OneCycleLR(o, 0.5, total_steps=20),
    "MultiStepLR": lambda o, s: s.MultiStepLR(o, [1, 4]),
    "SequentialLR": lambda o, s: s.SequentialLR(o, [s.LinearLR(o), s.ExponentialLR(o, 0.9)], [2]),
    "ReduceLROnPlateau": lambda o, s: s.ReduceLROnPlateau(o, patience=0),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_optimizers_and_schedules_go_on_exactly_where_their_file_was_saved(name, path):
    def fresh():
        w = nn.Parameter(gl.tensor([1.0, -2.0]))
        optimizer = optim.SGD([w], lr=0.1, momentum=0.9)
        return w, optimizer, SCHEDULES[name](optimizer, optim.lr_scheduler)

    def train(w, optimizer, schedule, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
            schedule.step(*([1.0] if name == "ReduceLROnPlateau" else []))

    straight, run = fresh(), fresh()
    train(*straight, 6)
    train(*run, 3)
    gl.save({"w": run[0], "optimizer": run[1].state_dict(), "schedule": run[2].state_dict()}, path)
    kept, (w, optimizer, schedule) = gl.load(path), fresh()
    w.data = kept["w"]
    optimizer.load_state_dict(kept["optimizer"])
    schedule.load_state_dict(kept["schedule"])
    train(w, optimizer, schedule, 3)
    assert w.tolist() == straight[0].tolist() and optimizer.param_groups[0]["lr"] == straight[1].param_groups[0]["lr"]


def test_names_that_meet_in_the_file_are_told_apart(path):
    value = {"a": {"b": gl.tensor([1.0])}, "a.b": gl.tensor([2.0]), "": gl.tensor([3.0]), "__metadata__": gl.tensor([4.0])}
    got = back(value, path)
    assert [got["a"]["b"].item(), got["a.b"].item(), got[""].item(), got["__metadata__"].item()] == [1, 2, 3, 4]
    assert back(gl.tensor([5.0]), path).tolist() == [5.0]


def test_what_is_loaded_has_no_history_and_its_own_memory(path):
    w = nn.Parameter(gl.ones(2))
    first, second = back(w * 2, path), gl.load(path)
    assert not first.requires_grad and first.grad_fn is None and type(gl.load(path)) is gl.Tensor
    first.data[0] = 9
    assert second.tolist() == [2.0, 2.0]


def test_tensors_on_a_device_go_to_the_file_and_where_they_are_wanted(path):
    gl.save({"t": gl.ones(2, device="sim")}, path)
    assert gl.load(path)["t"].device == "cpu" and gl.load(path, map_location="sim")["t"].device.type == "sim"
    assert gl.load(path, weights_only=True)["t"].device == "cpu"
    with gl.device("sim"):
        assert gl.load(path)["t"].device == "cpu"
    with pytest.raises(gl.DeviceError):
        gl.load(path, map_location="nowhere")


class Thing:
    pass


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [
        ({"net": nn.Linear(1, 1)}, gl.KeywordError, r"(?s)net can't be kept.*try:  net\.state_dict\(\)"),
        (nn.Linear(1, 1), gl.KeywordError, r"(?s)this can't be kept.*try:  model\.state_dict\(\)"),
        ({"a": [1, Thing()]}, gl.KeywordError, r"(?s)a\.1 can't be kept.*Thing.*need: +tensors, arrays"),
        ({"f": len}, gl.KeywordError, "f can't be kept"),
        ({Thing: 1}, gl.KeywordError, "key can't be kept"),
        ({"o": np.array([None])}, gl.DTypeError, r"o holds what a file can't[\s\S]*object"),
        (np.array(["a"]), gl.DTypeError, "value holds what a file can't"),
        (np.zeros(1, np.longdouble), gl.DTypeError, "up to 64 bits"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_file_can_not_hold_is_refused_before_anything_is_written(value, error, match, path):
    path.write_text("old")
    with pytest.raises(error, match=match):
        gl.save(value, path)
    assert path.read_text() == "old" and os.listdir(path.parent) == [path.name]


def test_a_list_in_itself_and_too_much_text_are_refused(path, monkeypatch):
    ring: list = []
    ring.append(ring)
    with pytest.raises(gl.ArgumentError, match="nested too deep, or in itself"):
        gl.save(ring, path)
    monkeypatch.setattr(saving, "_LONGEST", 100)
    with pytest.raises(gl.ArgumentError, match="long lists as arrays"):
        gl.save(list(range(1000)), path)


def test_arguments_in_the_wrong_order_and_no_path_are_refused(path):
    with pytest.raises(gl.KeywordError, match=r"(?s)f is a path.*try:  gl\.save\(state, path\)"):
        gl.save(path, {"a": 1})
    with pytest.raises(gl.KeywordError, match="f is a path"):
        gl.load(3)


@pytest.mark.parametrize("place", ["missing/state.safetensors", "file/state.safetensors", "folder"])
def test_a_folder_that_can_not_be_written_is_a_clear_error(place, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(gl.FileError, match=r"(?s)could not write .*need: +a folder that can be written") as raised:
        gl.save({"a": 1}, tmp_path / place)
    assert isinstance(raised.value, OSError) and sorted(os.listdir(tmp_path)) == ["file", "folder"]


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_a_folder_without_permission_is_a_clear_error(path):
    gl.save({"old": 1}, path)
    path.parent.chmod(0o500)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)  # nobody, since root may write everywhere
    try:
        with pytest.raises(gl.FileError, match="Permission denied"):
            gl.save({"new": 2}, path)
    finally:
        if root:
            os.seteuid(0)
        path.parent.chmod(0o700)
    assert gl.load(path) == {"old": 1}


@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes are POSIX's")
def test_a_disk_without_room_leaves_the_old_file_and_nothing_else(path):
    gl.save({"old": gl.ones(3)}, path)
    code = """
import resource, sys, gradlab as gl
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try: gl.save({"new": gl.ones(10_000)}, sys.argv[1])
except gl.FileError as error: print(error)
"""
    said = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout
    assert "could not write" in said and "untouched" in said
    assert gl.load(path)["old"].tolist() == [1.0, 1.0, 1.0] and os.listdir(path.parent) == [path.name]


def test_an_interrupt_while_writing_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    gl.save({"old": 1}, path)

    def stop(place, access):
        raise KeyboardInterrupt

    monkeypatch.setattr(saving, "_force", stop)
    with pytest.raises(KeyboardInterrupt):
        gl.save({"new": 2}, path)
    assert gl.load(path) == {"old": 1} and os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(os.name != "posix", reason="permissions and links are POSIX's")
def test_a_replaced_file_keeps_its_permissions_and_a_link_stays_one(path):
    old = os.umask(0o022)
    try:
        gl.save({"a": 1}, path)
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o644
    path.chmod(0o600)
    link = path.with_name("last.safetensors")
    link.symlink_to(path)
    gl.save({"a": 2}, link)
    assert link.is_symlink() and gl.load(path) == {"a": 2} and path.stat().st_mode & 0o777 == 0o600


def raw(path, tensors, metadata=None):
    """Write a safetensors file by hand: name -> (kind, shape, bytes)."""
    header, body = ({"__metadata__": metadata} if metadata else {}), b""
    for name, (kind, shape, data) in tensors.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def test_bfloat16_is_read_as_float32_in_the_order_of_the_file(path):
    halves = (np.array([1.5, -2.0, 3.0e38, np.inf, np.nan, 1e-40], np.float32).view(np.uint32) >> 16).astype("<u2")
    raw(path, {"z": ("BF16", [2, 3], halves.tobytes()), "b": ("F32", [], np.float32(3).tobytes()), "a": ("BF16", [], halves[:1].tobytes())})
    got = gl.load(path)
    assert list(got) == ["z", "b", "a"] and got["z"].dtype == "float32" and got["z"].shape == (2, 3) and got["a"].item() == 1.5
    np.testing.assert_array_equal(got["z"].data.ravel(), (halves.astype(np.uint32) << 16).view(np.float32))


def test_numbers_that_numpy_does_not_have_are_refused(path):
    raw(path, {"w": ("F8_E4M3", [2], b"ab")})
    with pytest.raises(gl.DTypeError, match=r"(?s)NumPy has no such numbers.*w +F8_E4M3"):
        gl.load(path)


def test_a_missing_file_is_a_file_not_found_error(path):
    with pytest.raises(FileNotFoundError, match=r"(?s)no such file.*state\.safetensors"):
        gl.load(path)
    with pytest.raises(gl.MissingFileError, match=r"need: +a folder "):
        gl.load(path.parent / "nowhere" / "a")
    with pytest.raises(gl.FileError, match="could not read"):
        gl.load(path.parent)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "cut off or damaged"),
        (b"abc", "cut off or damaged"),
        (b"PK\x03\x04" + b"\x00" * 99, r"(?s)a zip, as torch\.save.*try:  safetensors\.torch\.save_file"),
        (b"\x80\x04\x95" + b"\x00" * 99, "a pickle, which could run any code"),
        (b"\x93NUMPY" + b"\x00" * 99, "a NumPy array"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (struct.pack("<Q", 10) + b"notjson...", "cut off or damaged"),
        (b"\xff" * 99, "cut off or damaged"),
    ],
    ids=lambda v: str(v)[:20],
)
def test_files_of_another_kind_and_damaged_ones_are_refused_in_words(content, match, path):
    path.write_bytes(content)
    with pytest.raises(gl.FormatError, match=match):
        gl.load(path)


def test_a_file_cut_off_anywhere_is_refused(path):
    gl.save({"a": gl.ones(5), "b": [1, "text"]}, path)
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 7), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(gl.FormatError, match="cut off or damaged"):
            gl.load(path)
    path.write_bytes(whole + b"x")
    with pytest.raises(gl.FormatError):
        gl.load(path)


@pytest.mark.parametrize(
    ("layout", "match"),
    [
        ("nonsense", "damaged"),
        ("[]", "damaged"),
        ('{"version": 1}', "damaged"),
        ('{"version": 1, "value": {"tensor": "absent"}}', "damaged"),
        ('{"version": 1, "value": {"os.system": ["ls"]}}', "damaged"),
        ('{"version": 1, "value": {}}', "damaged"),
        ('{"version": 1, "value": {"dict": [[[], 1]]}}', "damaged"),
        ('{"version": 1, "value": ' + "[" * 5000 + "]" * 5000 + "}", "damaged"),
        ('{"version": 2, "value": 1}', r"newer gradlab[\s\S]*version of the file +2"),
    ],
    ids=lambda v: str(v)[:40],
)
def test_a_damaged_or_newer_layout_is_refused(layout, match, path):
    raw(path, {"a": ("F32", [], np.float32(3).tobytes())}, {"gradlab": layout})
    with pytest.raises(gl.FormatError, match=match):
        gl.load(path)


def test_a_long_header_whose_length_begins_like_a_pickle_is_no_pickle(path):
    for n in range(200):
        gl.save("x" * n, path)
        if path.read_bytes()[0] == 0x80:
            assert gl.load(path) == "x" * n
            break
    else:
        raise AssertionError("no such length was met")


@pytest.mark.torch
def test_files_go_to_pytorch_and_come_from_there(path):
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("safetensors.torch")
    model = nn.Linear(3, 2)
    gl.save(model.state_dict(), path)
    other = torch.nn.Linear(3, 2)
    other.load_state_dict(theirs.load_file(path))
    assert np.array_equal(other.weight.detach().numpy(), model.weight.data)
    theirs.save_file({"weight": torch.ones(2, 3, dtype=torch.bfloat16) / 3, "bias": torch.zeros(2)}, path)
    model.load_state_dict(gl.load(path))
    assert model.weight.data[0, 0] == float(torch.tensor(1 / 3, dtype=torch.bfloat16))
