"""Reads what the stages of .ci/run left: which tests ran, how much of the core they covered, how it all ended.

python3 .ci/report.py required|coverage|summary FOLDER
"""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

LEAST_PERCENT = 95.0
CORE = ("errors", "observe", "backend", "cases", "function", "autograd", "surface", "inplace", "_tensor", "ops/*")
MOST_LINES = 40  # of one failure in the summary, its last ones
MAY_BE_SKIPPED = ("gpu", "torch", "cupy", "is not here")  # what needs a machine, a package or data that CI does not have


def reports(folder: Path) -> dict[str, list[ElementTree.Element]]:
    """Return the tests that ran, by runner; a runner that left no report is absent."""
    found = {}
    for runner, names in {"pytest": ("pytest", "browser", "notebooks"), "vitest": ("vitest",)}.items():
        files = [path for name in names if (path := folder / f"{name}.xml").is_file()]
        if files:
            found[runner] = [case for path in files for case in ElementTree.parse(path).getroot().iter("testcase")]
    return found


def outcomes(folder: Path) -> dict[str, list[tuple[str, str, str]]]:
    """Return (file or class, outcome, reason) of every test, by runner."""
    return {runner: [(case.get("classname", ""), *outcome(case)) for case in cases] for runner, cases in reports(folder).items()}


def outcome(case: ElementTree.Element) -> tuple[str, str]:
    """Return what one test came to, and why it was skipped."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed", ""
    skipped = case.find("skipped")
    return ("passed", "") if skipped is None else ("skipped", skipped.get("message") or "")


def required(folder: Path) -> bool:
    """Say whether everything ran that CI exists to run, and what did not."""
    tests = outcomes(folder)
    pytest, vitest = tests.get("pytest", []), tests.get("vitest", [])
    browser = [state for name, state, _ in pytest if name.startswith("tests.ui")]
    missing = []
    if not pytest:
        missing.append("no Python test ran")
    if not any(state == "passed" for _, state, _ in vitest):
        missing.append("no JavaScript test ran")
    if "passed" not in browser:
        missing.append("no browser test ran")
    if not any(state == "passed" for name, state, _ in pytest if name.startswith("tests.notebook.test_examples")):
        missing.append("no example notebook ran")
    for name, state, reason in pytest:
        if state == "skipped" and not any(word in reason.lower() for word in MAY_BE_SKIPPED):
            missing.append(f"skipped: {name}: {reason}")
    print(f"{len(pytest)} Python tests ({len(browser)} in a browser), {len(vitest)} JavaScript tests")
    print(*missing, sep="\n")
    return not missing


def coverage(folder: Path) -> bool:
    """Say whether LEAST_PERCENT of the core's lines and of its branches were run, and what was not."""
    target = folder / "coverage.json"
    include = ",".join(f"gradlab/{name}.py" for name in CORE)
    if subprocess.run([sys.executable, "-m", "coverage", "json", "-q", f"--include={include}", "-o", str(target)], check=False).returncode:
        return False
    files = json.loads(target.read_text())["files"]
    total: Counter[str] = Counter()
    for name, report in sorted(files.items()):
        total.update({key: value for key, value in report["summary"].items() if isinstance(value, int)})
        branches = [f"{a}->{b}" for a, b in report["missing_branches"]]
        print(f"{name}: lines missed {report['missing_lines']}, branches missed {branches}")
    lines = 100 * total["covered_lines"] / total["num_statements"]
    jumps = 100 * total["covered_branches"] / total["num_branches"]
    print(
        f"lines: {lines:.1f} % of {total['num_statements']}, branches: {jumps:.1f} % of {total['num_branches']} (needed: {LEAST_PERCENT} %)"
    )
    return min(lines, jumps) >= LEAST_PERCENT


def failures(folder: Path) -> list[str]:
    """Return the end of what every failed test said, under its name."""
    lines = []
    for case in (case for cases in reports(folder).values() for case in cases):
        for said in (*case.iter("failure"), *case.iter("error")):
            text = (said.text or said.get("message") or "").rstrip().splitlines()
            lines += ["", f"failed: {case.get('classname')}::{case.get('name')}", *(f"   {line}" for line in text[-MOST_LINES:])]
    return lines


def summary(folder: Path) -> bool:
    """Print a line a stage, what failed, and the sum of all tests; a stage that is no test runner counts as one test."""
    counts: Counter[str] = Counter()
    for tests in outcomes(folder).values():
        counts.update(state for _, state, _ in tests)
    failed_tests = counts["failed"]
    print()
    for line in (folder / "stages.txt").read_text().splitlines():
        name, code, seconds = line.split()
        state = "passed" if code == "0" else "failed"
        print(f"{state}  {name:<10} {seconds:>4} s   {folder / name}.log")
        if name != "tests":
            counts[state] += 1
        elif state == "failed" and not failed_tests:
            counts["failed"] += 1  # a crash, or the time limit: no single test says so
    for line in failures(folder):
        print(line)
    print(f"\n{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return not counts["failed"]


if __name__ == "__main__":
    command = {"required": required, "coverage": coverage, "summary": summary}[sys.argv[1]]
    sys.exit(0 if command(Path(sys.argv[2])) else 1)
