"""dev.py: what it refuses and how it says so, when it installs again, what it starts."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
POSIX = pytest.mark.skipif(os.name == "nt", reason="stands in for .venv with a symbolic link")


def load(path: Path) -> ModuleType:
    """Return dev.py at `path` as a module."""
    spec = importlib.util.spec_from_file_location("dev", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def dev(tmp_path: Path) -> ModuleType:
    """Return dev.py in a small checkout of its own, so that nothing here touches the real .venv."""
    for name in ("dev.py", "js/fingerprint.py", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "js/panels").mkdir()
    (tmp_path / "js/panels/graph.ts").write_text("one")
    return load(tmp_path / "dev.py")


@pytest.fixture
def installed(dev: ModuleType, tmp_path: Path) -> ModuleType:
    """Return dev.py in a checkout that looks as after a setup."""
    for name in (
        "gradlab/static/session.js",
        "gradlab/static/more.js",
        "gradlab/static/panel.js",
        ".venv/share/jupyter/labextensions/gradlab/package.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("built")
    dev.PYTHON.parent.mkdir()
    dev.PYTHON.symlink_to(sys.executable)
    dev.RECORD.write_text(f"dev,lab\n{dev.state()}")
    return dev


def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the real dev.py."""
    return subprocess.run([sys.executable, str(ROOT / "dev.py"), *arguments], capture_output=True, text=True, check=False)


# What it refuses


def test_an_old_python_can_read_the_file_and_is_told_what_to_do():
    source = (ROOT / "dev.py").read_text()
    ast.parse(source, feature_version=(3, 7))
    outside = {line.split()[1].split(".")[0] for line in source.splitlines() if line.startswith(("import ", "from "))}
    assert outside <= sys.stdlib_module_names


@pytest.mark.parametrize(("platform", "advice"), [("linux", "apt install python3.12"), ("darwin", "brew install"), ("win32", "python.org")])
def test_an_old_python_is_refused_with_advice_for_the_system(dev: ModuleType, platform: str, advice: str):
    with pytest.raises(dev.SetupError, match=r"needs Python 3\.11 or newer; this is 3\.10\.4") as refusal:
        dev.require_python((3, 10, 4), platform)
    assert advice in str(refusal.value)
    dev.require_python((3, 11, 0), platform)


@pytest.mark.parametrize(("apt", "advice"), [("/usr/bin/apt-get", "sudo apt install python3"), (None, "your system's package")])
def test_a_python_without_ensurepip_is_refused_with_what_to_install(dev: ModuleType, monkeypatch: pytest.MonkeyPatch, apt, advice: str):
    monkeypatch.setattr(shutil, "which", lambda name: apt)
    with pytest.raises(dev.SetupError, match=advice):
        dev.require_venv(find=lambda name: None if name == "ensurepip" else object())


def test_a_failed_step_shows_the_end_of_its_output_and_where_the_rest_is(dev: ModuleType):
    dev.LOG.parent.mkdir()
    with pytest.raises(dev.SetupError) as failure:
        dev.logged([sys.executable, "-c", "print('Temporary failure in name resolution'); raise SystemExit(3)"])
    text = str(failure.value)
    assert "| Temporary failure in name resolution" in text
    assert "check the connection" in text
    assert str(Path("build/setup.log")) in text


def test_unknown_words_are_answered_with_those_that_exist():
    nothing, wrong, check = ask(), ask("tests"), ask("check", "mypy")
    assert (nothing.returncode, wrong.returncode, check.returncode) == (2, 2, 1)
    assert "dev.py lab " in nothing.stdout
    assert "no command 'tests'" in wrong.stdout
    assert "no check 'mypy'. There are: lint, format" in check.stderr


# When it installs


@POSIX
def test_a_second_run_installs_nothing(installed: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(installed, "logged", lambda command: pytest.fail(f"ran {command}"))
    installed.set_up("lab")


@POSIX
@pytest.mark.parametrize("name", ["pyproject.toml", "js/panels/graph.ts", "package-lock.json"])
def test_a_change_of_what_was_installed_installs_again(installed: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str):
    assert installed.installed() == {"dev", "lab"}
    (tmp_path / name).write_text("changed")
    steps: list[list[str]] = []
    monkeypatch.setattr(installed, "logged", steps.append)
    installed.set_up("lab")
    assert [step[1:4] for step in steps] == [["-m", "pip", "install"]]
    assert installed.installed() == {"lab"}


@POSIX
def test_a_change_of_the_python_code_alone_installs_nothing(installed: ModuleType, tmp_path: Path):
    (tmp_path / "gradlab/function.py").write_text("changed")
    assert installed.installed() == {"dev", "lab"}


@POSIX
def test_what_the_tests_need_is_added_to_what_jupyterlab_needed(installed: ModuleType, monkeypatch: pytest.MonkeyPatch):
    installed.RECORD.write_text(f"lab\n{installed.state()}")
    steps: list[list[str]] = []
    monkeypatch.setattr(installed, "logged", steps.append)
    installed.set_up("lab")
    assert steps == []
    installed.set_up("lab", "dev")
    assert [step[-1] for step in steps] == [".[dev,lab]"]


@POSIX
def test_a_broken_environment_is_made_again(installed: ModuleType, monkeypatch: pytest.MonkeyPatch):
    installed.PYTHON.unlink()
    installed.PYTHON.symlink_to("/nowhere/python3")
    steps: list[list[str]] = []
    monkeypatch.setattr(installed, "logged", steps.append)
    installed.set_up("lab")
    assert [step[2] for step in steps] == ["venv", "pip"]


def test_programs_find_the_environment_first_and_no_other(dev: ModuleType, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    env = dev.environment()
    assert env["PATH"].split(os.pathsep)[0] == str(dev.BIN)
    assert "PYTHONPATH" not in env


# What it starts


@pytest.fixture
def started(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the list of the programs that dev.py starts; none of them really is."""
    commands: list[list[str]] = []
    monkeypatch.setattr(dev, "set_up", lambda *extras: None)
    monkeypatch.setattr(dev, "run", lambda command: commands.append(command) or 0)
    monkeypatch.setattr(dev, "require_packages", lambda: "node")
    monkeypatch.delenv("GRADLAB_REPORTS", raising=False)
    return commands


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no root here")
@pytest.mark.parametrize(("uid", "extra"), [(0, ["--allow-root"]), (1000, [])])
def test_lab_opens_the_first_example_also_for_root(dev: ModuleType, started, monkeypatch: pytest.MonkeyPatch, uid: int, extra: list[str]):
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert dev.main(["lab", "--no-browser"]) == 0
    ((program, *arguments),) = started
    assert program == str(dev.PYTHON)
    assert "--LabApp.default_url=/lab/tree/examples/01_digits.ipynb" in arguments
    assert arguments[4:] == [*extra, "--no-browser"]
    assert (ROOT / "examples/01_digits.ipynb").is_file()


@pytest.mark.parametrize("arguments", [["pyproject.toml::a_test"], ["-k", "softmax"]])
def test_certain_tests_that_are_asked_for_are_all_that_runs(dev: ModuleType, started, arguments: list[str]):
    assert dev.main(["test", *arguments]) == 0
    assert [command[1:] for command in started] == [["-m", "pytest", "-rs", *arguments]]


@pytest.mark.parametrize(("arguments", "again"), [([], []), (["-x", "--cov=gradlab", "-m", ""], ["--cov-append"])])
def test_all_tests_are_those_of_python_in_several_processes_then_the_browser_s_then_javascript_s(
    dev: ModuleType, started, monkeypatch: pytest.MonkeyPatch, arguments: list[str], again: list[str]
):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert dev.main(["test", *arguments]) == 0
    python, browser, javascript = started
    assert python[1:] == ["-m", "pytest", "-rs", "-n", "2", "--ignore=tests/ui", *arguments]
    assert browser[1:] == ["-m", "pytest", "-rs", *again, "tests/ui", *arguments]
    assert javascript[0] == "node"


def test_the_tests_pass_without_node_and_say_what_was_skipped(dev: ModuleType, started, monkeypatch: pytest.MonkeyPatch, capsys):
    def refuse() -> str:
        raise dev.SetupError("no Node 20.19 or newer here")

    monkeypatch.setattr(dev, "require_packages", refuse)
    assert dev.main(["test"]) == 0
    assert "JavaScript tests skipped: no Node 20.19" in capsys.readouterr().out


def test_one_failed_check_fails_the_command_after_all_have_run(dev: ModuleType, started, monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr(dev, "run", lambda command: int("ruff" in command))
    assert dev.main(["check", "lint", "imports"]) == 1
    assert capsys.readouterr().out == "lint: failed\nimports: passed\n"
