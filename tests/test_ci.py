"""The report of .ci/run: what it counts, and what it does not let pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PASSED = '<testcase classname="{}" name="a"/>'
FAILED = '<testcase classname="{}" name="a"><failure message="no"/></testcase>'
SKIPPED = '<testcase classname="{}" name="a"><skipped message="{}"/></testcase>'
GOOD = [PASSED.format(name) for name in ("tests.test_ops", "tests.notebook.test_examples", "tests.ui.test_dock")]

pytestmark = pytest.mark.skipif(not (ROOT / ".ci").exists(), reason="not shipped in the sdist")


def report(command: str, folder: Path) -> tuple[int, list[str]]:
    """Return the exit status and the lines of .ci/report.py."""
    done = subprocess.run([sys.executable, str(ROOT / ".ci/report.py"), command, str(folder)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def leave(folder: Path, pytest_cases: list[str], vitest_cases: list[str], stages: str = "") -> Path:
    """Write the files that a run leaves."""
    for runner, cases in (("pytest", pytest_cases), ("vitest", vitest_cases)):
        (folder / f"{runner}.xml").write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    (folder / "stages.txt").write_text(stages)
    return folder


def test_the_last_line_sums_tests_and_stages(tmp_path: Path):
    cases = [*GOOD, SKIPPED.format("tests.test_gpu", "no gpu")]
    code, lines = report("summary", leave(tmp_path, cases, [PASSED.format("js")], "tests 0 100\nlint 0 1\n"))
    assert (code, lines[-1]) == (0, "5 passed, 0 failed, 1 skipped")


def test_a_failed_test_counts_once_and_fails_the_run(tmp_path: Path):
    code, lines = report("summary", leave(tmp_path, [*GOOD, FAILED.format("tests.test_ops")], [], "tests 1 100\n"))
    assert (code, lines[-1]) == (1, "3 passed, 1 failed, 0 skipped")


def test_the_end_of_what_a_failed_test_said_stands_last(tmp_path: Path):
    said = "\n".join(f"line {number}" for number in range(100))
    failed = f'<testcase classname="tests.test_ops" name="test_add"><failure message="no">{said}</failure></testcase>'
    code, lines = report("summary", leave(tmp_path, [*GOOD, failed], [], "tests 1 100\n"))
    assert code == 1
    assert lines[-44:-41] == ["", "failed: tests.test_ops::test_add", "   line 60"]
    assert lines[-3:] == ["   line 99", "", "3 passed, 1 failed, 0 skipped"]


def test_a_runner_that_died_counts_as_a_failure(tmp_path: Path):
    (tmp_path / "stages.txt").write_text("tests 124 480\nlint 1 2\n")
    code, lines = report("summary", tmp_path)
    assert (code, lines[-1]) == (1, "0 passed, 2 failed, 0 skipped")


@pytest.mark.parametrize(("python", "javascript", "complaint"), [
    (GOOD[:2], GOOD, "no browser test ran"),
    (GOOD[2:], GOOD, "no example notebook ran"),
    (GOOD, [], "no JavaScript test ran"),
    ([], GOOD, "no Python test ran"),
    ([*GOOD, SKIPPED.format("tests.test_x", "no browser here")], GOOD, "skipped: tests.test_x: no browser here"),
])  # fmt: skip
def test_what_ci_exists_to_run_may_not_be_missing(tmp_path: Path, python: list[str], javascript: list[str], complaint: str):
    code, lines = report("required", leave(tmp_path, python, javascript))
    assert code == 1
    assert complaint in lines


def test_what_needs_a_gpu_or_pytorch_may_be_skipped(tmp_path: Path):
    skipped = [SKIPPED.format("tests.a", "CuPy is not installed"), SKIPPED.format("tests.b", "could not import 'torch'")]
    assert report("required", leave(tmp_path, [*GOOD, *skipped], GOOD))[0] == 0
