"""Write docs/ops.md, the page of all ops, from their classes: `python docs/ops.py`. With `--check` it only says whether it is so.

Every public function of gradlab.ops is listed with its arguments and its first sentence, and under it the steps it is made of:
the formula and its gradient, as typeset mathematics and in one line of text. Nothing on the page is written twice.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import types
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).with_suffix(".md")
sys.path.insert(0, str(PAGE.parent.parent))

from docs.written import keep, plain, signature  # noqa: E402
from gradlab import ops  # noqa: E402 (this checkout's)
from gradlab.function import Function  # noqa: E402

FAMILIES = {
    "Arithmetic": "arithmetic division blend maximum clamp rounding sign bitwise",
    "Functions of one number": "power exponential logaddexp trigonometry angle hyperbolic error_function gamma",
    "Activations": "rectifier elu hard sigmoid gelu gate softmax gumbel",
    "Questions": "comparison logic closeness truth member count",
    "Reductions": "reduce present extremum length spread median quantile",
    "Along an axis": "cumulative running sort",
    "Shape": "shape axes squeeze expand repeat arrange split join pad triangle diagonal",
    "Reading and writing entries": "index gather where put scatter scatter_reduce",
    "Products and matrices": "linalg linear product einsum vander inverse pseudoinverse determinant factor solve decomposition",
    "Windows": "conv conv_transpose max_pool max_unpool winner avg_pool adaptive_pool lp_pool unfold",
    "Images": "interpolate resize shuffle grid_sample",
    "Normalisation, attention, embedding": "layer_norm batch_norm group_norm response_norm attention embedding embedding_bag",
    "Recurrent steps": "rnn gru lstm",
    "Losses": "regression_loss binary_loss cross_entropy nll_loss ctc_loss divergence margin_loss multi_margin_loss similarity distance",
    "Random": "random chance",
    "Copies, dtypes, devices": "cast",
    "Second names": "alias",
}


def files() -> list[str]:
    """The names of the files of gradlab/ops that hold ops."""
    folder = Path(ops.__file__).parent
    return [p.stem for p in sorted(folder.glob("*.py")) if p.stem not in ("__init__", "numpy_names") and functions(p.stem)]


def functions(file: str) -> list[types.FunctionType]:
    """The public functions of a file, in its order."""
    module = importlib.import_module(f"gradlab.ops.{file}")
    return [f for name, f in vars(module).items() if isinstance(f, types.FunctionType) and _is_public(name, f, module)]


def _is_public(name: str, f: types.FunctionType, module: types.ModuleType) -> bool:
    return f.__module__ == module.__name__ and not name.startswith("_") and getattr(ops, name, None) is f and name != "raw_index"


def steps(f: types.FunctionType) -> list[type[Function]]:
    """The Functions that a public function names, also by way of private helpers of its file."""
    found: dict[type[Function], None] = {}
    todo, seen = [f], set()
    while todo:
        function = todo.pop(0)
        seen.add(function)
        for node in ast.walk(ast.parse(inspect.getsource(function))):
            value = f.__globals__.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(value, type) and issubclass(value, Function) and value.__module__.startswith("gradlab.ops"):
                found[value] = None
            elif (
                isinstance(value, types.FunctionType)
                and value.__name__.startswith("_")
                and value not in seen
                and value.__module__ == f.__module__
            ):
                todo.append(value)
    return list(found)


def entry(f: types.FunctionType) -> Iterator[str]:
    """What the page says of one function."""
    yield f"#### `{f.__name__}({signature(f)})`"
    yield ""
    yield (f.__doc__ or "").partition("\n")[0]
    yield ""
    for step in steps(f):
        yield f"- ${step.latex}$"
        yield f"  <br>`{step.__name__}`: {plain((step.__doc__ or '').partition(chr(10))[0])}"
    if steps(f):
        yield ""


def page() -> str:
    """The whole page."""
    classes = {c for c in vars(ops).values() if isinstance(c, type) and issubclass(c, Function)}
    count = sum(len(functions(file)) for file in files())
    lines = [
        "# The ops of gradlab",
        "",
        f"{count} functions, made of {len(classes)} steps. For each function: what it is called with, what it does, and the formula of its",
        r"steps with the gradient. $\bar x$ is the gradient of the loss with respect to $x$; in the line of text it is `dx`, and `g` the",
        "gradient that comes in. All of them are `gl.name`; most are methods of a Tensor too, and activations, losses and layers are also",
        "in `gradlab.nn.functional`. This page is made by `python docs/ops.py`.",
        "",
    ]
    for family, names in families().items():
        anchor = "".join(c for c in family.lower().replace(" ", "-") if c.isalnum() or c == "-")
        lines.append(f"- [{family}](#{anchor}): {sum(len(functions(name)) for name in names)}")
    for family, names in families().items():
        lines += ["", f"## {family}"]
        for file in names:
            module = importlib.import_module(f"gradlab.ops.{file}")
            lines += [
                "",
                f"### {(module.__doc__ or '').partition(chr(10))[0].rstrip('.')}",
                "",
                f"[`gradlab/ops/{file}.py`](../gradlab/ops/{file}.py)",
                "",
            ]
            for f in functions(file):
                lines += entry(f)
    return "\n".join(lines).rstrip() + "\n"


def families() -> dict[str, list[str]]:
    """The files of each family; those of none come last."""
    there = files()
    placed = {family: [name for name in names.split() if name in there] for family, names in FAMILIES.items()}
    rest = [name for name in there if not any(name in names for names in placed.values())]
    return {family: names for family, names in {**placed, "Others": rest}.items() if names}


if __name__ == "__main__":
    sys.exit(keep(PAGE, page(), sys.argv[1:]))
