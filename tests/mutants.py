"""Do the checks of gradients bite? Break every `backward` in small ways, and see that its op's cases notice.

`python -m tests.mutants` breaks all of them, `python -m tests.mutants Softmax Conv2d` these; the last line counts, and
mutants that nobody noticed ("survivors") are listed with the line that was changed. A survivor means a missing case.

A mutant is one change: a gradient negated, doubled, zeroed or exchanged for another of its shape; or one term, factor,
divisor or condition left out of a line of `backward` or of a function that only `backward` reaches. Each is judged by the numeric
differences that `check_function` uses (they do not depend on `backward`, so they are computed once), on the op's cases as they
are and with the work cut in other ways (`PLANS`), so that small cases cross the borders of blocks. A line of a function that
several ops share needs one of them to notice it. What the cases let pass is run against the files of tests/ops that name the
op's function: there is what only shows at an infinity, in float16 or in a large array.

Two kinds of mutants are counted and left out. What `gradlab/ops/plan.py` computes, and what it is given, says how much is done
at a time and never changes a value: `test_mutants.py` proves it, by running the cases with other plans. And a gradient that
differs by axes of size 1 only is the same one to the engine, which sums them away.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import os
import re
import signal
import sys
import textwrap
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from gradlab import ops, testing
from gradlab.function import Function
from gradlab.ops import plan

TESTS = Path(__file__).parent / "ops"
OPS = sorted({f for f in vars(ops).values() if isinstance(f, type) and issubclass(f, Function)}, key=lambda f: f.__name__)
DIFFERENTIABLE = [op for op in OPS if op.backward is not Function.backward]
_MODULES = [m for name, m in list(sys.modules.items()) if name.startswith("gradlab.ops")]
PATIENCE_S = 5.0  # a count left out of a loop may leave it running
# Other ways to cut the work than the one for this machine: how many of n, which (samples, rows) of an image, thick or thin.
PLANS: tuple[dict[str, Any], ...] = (
    {},
    {"portion": lambda x, n, *_: 1, "parts": lambda x, n, rows, *_: (1, 1), "thick": lambda rows: True},
    {"portion": lambda x, n, *_: 2, "parts": lambda x, n, rows, *_: (min(2, max(1, n)), min(2, rows)), "thick": lambda rows: False},
    {"portion": lambda x, n, *_: 3, "parts": lambda x, n, rows, *_: (min(2, max(1, n)), min(2, rows)), "thick": lambda rows: True},
    {"portion": lambda x, n, *_: max(1, n), "parts": lambda x, n, rows, *_: (max(1, n), rows), "thick": lambda rows: True},
)


@dataclass(frozen=True)
class Mutant:
    """One change: while it is `made`, `owner.name` is `broken`."""

    op: type[Function]
    what: str
    owner: Any
    name: str
    broken: Any
    function: Any = None  # what is broken
    plans: bool = False  # whether it only changes how much is done at a time

    @contextlib.contextmanager
    def made(self) -> Iterator[None]:
        """Put the change in for a while, wherever the function was imported to."""
        whole = inspect.getattr_static(self.owner, self.name)
        owners = [m for m in _MODULES if vars(m).get(self.name) is whole] if isinstance(self.owner, types.ModuleType) else [self.owner]
        with contextlib.ExitStack() as stack:
            for owner in owners:
                stack.enter_context(patch.object(owner, self.name, self.broken))
            yield

    def everywhere(self) -> list[Mutant]:
        """This change for every op that it reaches: a function of a module may be used by several."""
        if isinstance(self.owner, type):
            return [self]
        reached = [(op, *reached_by(op).get(self.function, (None, ""))) for op in DIFFERENTIABLE if op is not self.op]
        return [self, *[replace(self, op=op, owner=owner, name=name) for op, owner, name in reached if owner]]

    def __str__(self) -> str:
        return f"{self.op.__name__}: {self.what}"


class Hunt(NamedTuple):
    """How many mutants were made; of these, how many only plan or only reshape; and those that nobody noticed."""

    made: int
    planning: int
    reshaping: int
    survivors: list[Mutant]


# -- mutants of the result


def of_results(op: type[Function]) -> Iterator[Mutant]:
    """Each gradient negated, doubled or zeroed; each two exchanged, which counts where they have one shape."""

    def changed(what: str, change: Callable[[list[Any]], None]) -> Mutant:
        backward = op.backward

        def broken(self: Function, g: Any) -> Any:
            result = backward(self, g)
            grads = list(_listed(result))
            change(grads)
            return tuple(grads)

        return Mutant(op, what, op, "backward", broken)

    def at(i: int, f: Callable[[Any], Any]) -> Callable[[list[Any]], None]:
        def change(grads: list[Any]) -> None:
            if i < len(grads) and grads[i] is not None:
                grads[i] = f(grads[i])

        return change

    def exchange(i: int, j: int) -> Callable[[list[Any]], None]:
        def change(grads: list[Any]) -> None:
            if j < len(grads) and grads[i] is not None and grads[j] is not None and np.shape(grads[i]) == np.shape(grads[j]):
                grads[i], grads[j] = grads[j], grads[i]

        return change

    wanted = [i for i in range(max(len(case.inputs) for case in op.cases)) if any(_floats(case, i) for case in op.cases)]
    for i in wanted:
        if not any(np.any(_expected(op, case)[i]) for case in op.cases if _floats(case, i)):
            yield changed(f"gradient {i}, which is 0 everywhere, replaced by 1", at(i, lambda d: d + 1.0))
            continue
        yield changed(f"gradient {i} negated", at(i, lambda d: -d))
        yield changed(f"gradient {i} doubled", at(i, lambda d: 2.0 * d))
        yield changed(f"gradient {i} zeroed", at(i, lambda d: 0.0 * d))
    for i in wanted:
        for j in wanted:
            if i < j and _exchange_shows(op, i, j):
                yield changed(f"gradients {i} and {j} exchanged", exchange(i, j))


def _floats(case: Any, i: int) -> bool:
    return i < len(case.inputs) and case.inputs[i].array(np.random.default_rng(0)).dtype.kind == "f"


def _exchange_shows(op: type[Function], i: int, j: int) -> bool:
    """Whether some case has the numeric gradients i and j in one shape and different: in y = a + b both are g."""
    for case in op.cases:
        ds = _expected(op, case)
        if j < len(ds) and ds[i] is not None and ds[j] is not None and ds[i].shape == ds[j].shape and not np.allclose(ds[i], ds[j]):
            return True
    return False


# -- mutants of the text


def of_lines(op: type[Function]) -> Iterator[Mutant]:
    """One term, factor, divisor or condition left out, in `backward` and in what it calls."""
    for owner, name, function in _reached(op):
        plain = inspect.unwrap(function)
        tree = ast.parse(textwrap.dedent(inspect.getsource(plain)))
        lines = ast.unparse(tree).splitlines()
        for site in range(10_000):
            copy = ast.parse(ast.unparse(tree))
            cut = _Cut(site)
            cut.visit(copy)
            if not cut.done:
                break
            ast.fix_missing_locations(copy)
            where = "" if name == "backward" else f"in {name}: "
            what = f"{where}{lines[cut.line - 1].strip()}  ->  {ast.unparse(cut.replacement) if cut.replacement else 'nothing'}"
            plans = cut.plans or plain.__module__ == plan.__name__
            yield Mutant(op, what, owner, name, _compiled(copy, plain, function), plain, plans)


class _Cut(ast.NodeTransformer):
    """Leaves out the `site`-th part that can be left out."""

    def __init__(self, site: int) -> None:
        self.left, self.done, self.line, self.replacement = site, False, 0, None
        self.plans, self.planning = False, False  # whether the part is given to a plan; whether we are inside of one

    def _here(self, node: ast.AST, replacement: ast.AST | None) -> bool:
        if self.done:
            return False
        self.left -= 1
        if self.left >= 0:
            return False
        self.done, self.line, self.replacement, self.plans = True, node.lineno, replacement, self.planning
        return True

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        left, right = node.left, node.right
        options: list[ast.AST] = []
        if isinstance(node.op, (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr)):
            options = [left, right]
        elif isinstance(node.op, ast.Sub):
            options = [left, ast.UnaryOp(ast.USub(), right)]
        elif isinstance(node.op, (ast.Div, ast.Pow)):
            options = [left]
        for option in options:
            if self._here(node, option):
                return ast.copy_location(option, node)
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        signed = isinstance(node.op, (ast.USub, ast.Invert)) and not isinstance(node.operand, ast.Constant)
        if signed and self._here(node, node.operand):
            return node.operand
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if self._here(node, None):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _of_plan(node.func):
            self.planning, outside = True, self.planning
            self.generic_visit(node)
            self.planning = outside
            return node
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        unit = {"multiply": "ones_like", "divide": "ones_like", "add": "zeros_like", "subtract": "zeros_like"}.get(name)
        if unit and len(node.args) >= 2:  # the in-place forms: xp.multiply(g, y, out=dx)
            for i in (0, 1) if name in ("multiply", "add") else (1,):
                neutral = ast.Call(ast.Attribute(node.func.value, unit, ast.Load()), [node.args[i]], [])
                args = [neutral if j == i else a for j, a in enumerate(node.args)]
                replacement = ast.Call(node.func, args, node.keywords)
                if self._here(node, replacement):
                    return ast.copy_location(replacement, node)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [self.visit(line) for line in node.body]  # the body only: an annotation computes nothing
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node  # the words of an error are no mathematics

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


def _of_plan(f: ast.AST) -> bool:
    return isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id == "plan"


@functools.cache
def reached_by(op: type[Function]) -> dict[Any, tuple[Any, str]]:
    """The functions that `backward` of `op` comes to, and where each is found."""
    return {inspect.unwrap(function): (owner, name) for owner, name, function in _reached(op)}


def _reached(op: type[Function]) -> Iterator[tuple[Any, str, Any]]:
    """`backward`, and the functions of `gradlab.ops` and methods of `op` that it comes to, as (owner, name, function)."""
    todo: list[tuple[Any, str, Any]] = [(op, "backward", op.backward)]
    seen: set[Any] = set()
    while todo:
        owner, name, function = todo.pop()
        plain = inspect.unwrap(function)
        if plain in seen:
            continue
        seen.add(plain)
        yield owner, name, function
        tree = ast.parse(textwrap.dedent(inspect.getsource(plain)))
        # What is a key of min or sorted only orders the work.
        keys = {n for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg == "key" for n in ast.walk(k)}
        for node in set(ast.walk(tree)) - keys:
            if isinstance(node, ast.Name):
                f = plain.__globals__.get(node.id)
                if isinstance(f, types.FunctionType) and f.__module__.startswith("gradlab.ops.") and node.id not in ("kept",):
                    todo.append((sys.modules[plain.__module__], node.id, f))
            elif _of_plan(node):
                f = getattr(plan, node.attr)
                if isinstance(f, types.FunctionType):
                    todo.append((plan, node.attr, f))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                f = inspect.getattr_static(op, node.attr, None)
                f = f.__func__ if isinstance(f, (staticmethod, classmethod)) else f
                if isinstance(f, types.FunctionType) and f.__module__.startswith("gradlab.ops."):
                    todo.append((op, node.attr, f))


def _compiled(tree: ast.Module, plain: Any, function: Any) -> Any:
    space: dict[str, Any] = {}
    free = plain.__code__.co_freevars
    if free:  # a rule made by another function: give it what it closes over
        cells = dict(zip(free, [c.cell_contents for c in plain.__closure__ or ()], strict=True))
        space.update(cells)
    exec(compile(tree, "<mutant>", "exec"), {**plain.__globals__, **space} if free else plain.__globals__, space)
    broken = space[plain.__name__]
    return broken


# -- judging


_numbers: dict[tuple[Any, int], list[Any]] = {}


def _expected(op: type[Function], case: Any) -> list[Any]:
    """The numeric gradients of one case, per input (None for integers)."""
    key = (op, id(case))
    if key not in _numbers:
        xs = testing._inputs(case, 0)
        _, y = testing._run(op, xs, case)
        w = _cotangent(y)
        _numbers[key] = [testing._differences(op, case, xs, i, w) if x.dtype.kind == "f" else None for i, x in enumerate(xs)]
    return _numbers[key]


def _cotangent(y: Any) -> Any:
    return np.random.default_rng([0, 99]).standard_normal(y.shape)


def noticed_by_cases(mutant: Mutant) -> bool:
    """Whether the check of gradients fails on one of the op's cases, however the work is cut."""
    plans = PLANS if any(f.__module__ == plan.__name__ for f in reached_by(mutant.op)) else PLANS[:1]
    return any(_noticed(mutant, case, answers) for answers in plans for case in mutant.op.cases)


@contextlib.contextmanager
def planned(answers: dict[str, Any]) -> Iterator[None]:
    """Let the plans of the work give other answers for a while."""
    with contextlib.ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(patch.object(plan, name, answer))
        yield


def _noticed(mutant: Mutant, case: Any, answers: dict[str, Any]) -> bool:
    expected = _expected(mutant.op, case)
    with planned(answers):
        fn, y = testing._run(mutant.op, testing._inputs(case, 0), case)
    if fn is None or not any(d is not None and d.size for d in expected):
        return False
    try:
        with warnings.catch_warnings(), _patience(), planned(answers), mutant.made():
            warnings.simplefilter("ignore")
            grads = fn.pull(_cotangent(y))
            for d, e in zip(grads, expected, strict=True):
                if e is not None:
                    assert d is not None
                    np.testing.assert_allclose(d, e, rtol=1e-6, atol=1e-8)
    except Exception:
        return True
    return False


def changes_nothing(mutant: Mutant) -> bool:
    """Whether the gradients are the same numbers, only under more or fewer axes of size 1: those the engine sums away anyway."""
    reshaped = False
    for case in mutant.op.cases:
        fn, y = testing._run(mutant.op, testing._inputs(case, 0), case)
        if fn is None:
            continue
        whole = _listed(fn.backward(_cotangent(y)))
        fn, y = testing._run(mutant.op, testing._inputs(case, 0), case)
        try:
            with mutant.made():
                broken = _listed(fn.backward(_cotangent(y)))
        except Exception:
            return False
        for d, e in zip(whole, broken, strict=True):
            if (d is None) != (e is None) or (d is not None and not np.array_equal(np.squeeze(d), np.squeeze(e))):
                return False
            reshaped |= np.shape(d) != np.shape(e)
    return reshaped


def _listed(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


@contextlib.contextmanager
def _patience() -> Iterator[None]:
    def late(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def noticed_by_tests(mutant: Mutant) -> bool:
    """Whether a test of tests/ops that names the op's function fails; they have to pass while nothing is broken."""
    words = _words(mutant.op)
    files = tuple([str(file) for file in sorted(TESTS.glob("test_*.py")) if words & set(re.findall(r"\w+", file.read_text()))])
    if not _passes_whole(files):
        raise AssertionError(f"these fail with nothing broken: {' '.join(files)}")
    return bool(files) and not _passes(files, mutant.made())


@functools.cache
def _passes_whole(files: tuple[str, ...]) -> bool:
    return not files or _passes(files, contextlib.nullcontext())


def _passes(files: tuple[str, ...], state: contextlib.AbstractContextManager[Any]) -> bool:
    """Run tests in a child process, since they import and patch; one that hangs ends by its alarm."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    import pytest

    signal.alarm(300)
    with Path(os.devnull).open("w") as silent, contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent), state:
        os._exit(int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *files])))


def _words(op: type[Function]) -> set[str]:
    """The op's name, and the public functions of its file that use it."""
    module = vars(sys.modules[op.__module__]).items()
    public = {name for name, f in module if isinstance(f, types.FunctionType) and f.__module__ == op.__module__}
    return {
        op.__name__,
        *[name for name in public if not name.startswith("_") and op.__name__ in inspect.getsource(vars(sys.modules[op.__module__])[name])],
    }


def hunt(op: type[Function], kinds: Callable[..., Iterator[Mutant]] | None = None) -> Hunt:
    """Break an op in every way and count who notices."""
    made = [m for kind in ((kinds,) if kinds else (of_results, of_lines)) for m in kind(op)]
    left = [m for m in made if not m.plans and not noticed_by_cases(m)]
    alive = [m for m in left if not changes_nothing(m)]
    survivors = [m for m in alive if not any(map(noticed_by_cases, m.everywhere()[1:])) and not any(map(noticed_by_tests, m.everywhere()))]
    return Hunt(len(made), sum(m.plans for m in made), len(left) - len(alive), survivors)


def main(names: list[str]) -> int:
    """Break the ops of these names, or all; 1 where a mutant survived."""
    hunts: list[Hunt] = []
    for op in DIFFERENTIABLE:
        if names and op.__name__ not in names:
            continue
        hunts.append(hunt(op))
        for mutant in hunts[-1].survivors:
            print(f"survived  {mutant}", flush=True)
    made, planning, reshaping = [sum(h[i] for h in hunts) for i in range(3)]
    alive = sum(len(h.survivors) for h in hunts)
    print(f"{made} mutants of {len(hunts)} ops: {made - planning - reshaping - alive} noticed, {planning} only plan the work, "
          f"{reshaping} only reshape, {alive} survivors")  # fmt: skip
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
