"""Write docs/findings.md, what each rule finds and where it errs: `python docs/findings.py`. With `--check` it only says if that is so.

Every row is a training that was really run: the faults are planted by tests/trace/plants.py, three or more a rule, in networks that no
threshold was chosen on, and so are the runs without a fault. A fault is found where its rule speaks within the patience stated.
"""

from __future__ import annotations

import importlib
import sys
import types
import warnings
from pathlib import Path

PAGE = Path(__file__).with_suffix(".md")
ROOT = PAGE.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

import gradlab as gl  # noqa: E402 (this checkout's)
from docs.written import keep  # noqa: E402
from gradlab.trace.rules import RULES  # noqa: E402

_tests = types.ModuleType("trainings")
_tests.__path__ = [str(ROOT / "tests/trace")]
sys.modules.setdefault("trainings", _tests)
training = importlib.import_module("trainings.training")
plants = importlib.import_module("trainings.plants")
epochs = importlib.import_module("trainings.epochs")
PLANTS = [*plants.PLANTS, *epochs.PLANTS]

SEED = 11
ASKED = {"R21": "a batch that can not be learned: `gl.overfit`", "R22": "samples that are mixed: `gl.trace.check_batch`"}
"""Rules that need a pass of their own, and are asked for."""


def run(plant: plants.Plant) -> dict[str, training.Seen]:
    """What all rules say of one training; a planted one ends where its rule has spoken."""
    gl.manual_seed(SEED)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        return training.findings(plant.train(), plant.patience, rule=plant.rule or None)


def spoke(rule: str, seen: dict[str, training.Seen]) -> bool:
    """Whether the rule found its fault: by a warning, or where it only ever remarks, by that."""
    return rule in (seen if RULES[rule].severity == "info" else training.warned(seen))


def _number(rule: str) -> int:
    return int(rule[1:])


def answer(asked: plants.Asked) -> bool:
    """Whether there is a finding."""
    gl.manual_seed(SEED)
    return asked.ask() is not None


def page() -> str:
    """The whole page."""
    faulty = {plant: run(plant) for plant in PLANTS if plant.rule}
    sound = {plant.name: (run(plant), plant.patience) for plant in PLANTS if not plant.rule}
    for path in sorted((ROOT / "examples").glob("[0-9]*.py")):
        if path.name in training.LESSONS:
            continue
        gl.manual_seed(SEED)
        sound[f"examples/{path.name}"] = training.of_script(path), None
    ids = sorted(RULES, key=_number)
    found = {id: [spoke(id, seen) for plant, seen in faulty.items() if plant.rule == id] for id in ids}
    false = {id: [name for name, (seen, _) in sound.items() if id in training.warned(seen)] for id in ids}
    remarks = {id: [name for name, (seen, _) in sound.items() if id in seen and id not in training.warned(seen)] for id in ids}
    answers = {asked: answer(asked) for asked in plants.ASKED}
    for id in ASKED:
        found[id] = [said for asked, said in answers.items() if asked.rule == id and asked.fault]
        false[id] = [asked.name for asked, said in answers.items() if asked.rule == id and said and not asked.fault]
        remarks[id] = []
    hits, planted = sum(map(sum, found.values())), sum(map(len, found.values()))
    lines = [
        "# What the rules find",
        "",
        f"{len(found)} rules, {planted} planted faults, {len(sound)} runs without a fault. Found: **{hits} of {planted}**. Warnings in runs"
        f" without a fault: **{sum(map(len, false.values()))}**. This page is made by `python docs/findings.py`, which runs all of them.",
        "",
        "A rule warns where the network should be changed, and remarks (*info*) where it may be meant so; remarks in sound runs are",
        "counted too. Networks, sizes and optimizers of the planted faults are not those that thresholds were chosen on. All steps are",
        "read in full here; `tests/trace/test_rules_numeric.py` has the same with one full step in 9 and in 99.",
        "",
        "| rule | looks for | found | false alarms | remarks in sound runs |",
        "|---|---|---|---|---|",
    ]
    for id in sorted(found, key=_number):
        got = f"{sum(found[id])} of {len(found[id])}" if found[id] else "nothing is planted here"
        title = RULES[id].title if id in RULES else ASKED[id]
        lines.append(f"| {id} | {title} | {got} | {len(false[id])} | {len(remarks[id])} |")
    lines += ["", "## Planted faults", "", "| rule | fault | steps at most | found |", "|---|---|---|---|"]
    for plant, seen in sorted(faulty.items(), key=lambda one: int(one[0].rule[1:])):
        lines.append(f"| {plant.rule} | {plant.name} | {plant.patience} | {'yes' if spoke(plant.rule, seen) else '**no**'} |")
    lines += [f"| {one.rule} | {one.name} | | {'yes' if said else '**no**'} |" for one, said in answers.items() if one.fault]
    lines += ["", "## Runs without a fault", "", "| run | steps | warnings | remarks |", "|---|---|---|---|"]
    for name, (seen, steps) in sound.items():
        wrong = training.warned(seen)
        rest = [id for id in ids if id in seen and id not in wrong]
        lines.append(f"| {name} | {steps or 'all'} | {', '.join(wrong) or 'none'} | {', '.join(rest) or 'none'} |")
    lines += ["", "## What is behind each rule", ""]
    lines += [f"- **{id}, {RULES[id].title}.** {RULES[id].learn}" for id in ids]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(keep(PAGE, page(), sys.argv[1:]))
