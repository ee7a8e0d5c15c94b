"""Record which functions, parameters, ufuncs and array attributes CuPy has, for the simulated device and the test of `xp` names.

It needs CuPy, but no GPU: `python docs/record_cupy_api.py` writes gradlab/sim/cupy_api.json.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PARTS = ("linalg", "fft", "lib", "stride_tricks")  # not random: gradlab draws on the host
TABLE = Path(__file__).parents[1] / "gradlab" / "sim" / "cupy_api.json"


def functions(module: ModuleType, ufunc: type, prefix: str = "") -> Iterator[tuple[str, list[str] | str | None]]:
    """Every public name below `module`: its parameters, "ufunc", or None where CuPy shows no signature."""
    for name in dir(module):
        value = getattr(module, name, None)
        if name.startswith("_") or name in ("errstate", "annotations"):
            continue
        if inspect.ismodule(value):
            if name in PARTS:
                yield from functions(value, ufunc, f"{prefix}{name}.")
        elif isinstance(value, ufunc):
            yield prefix + name, "ufunc"
        else:
            yield prefix + name, parameters(value)


def parameters(function: Any) -> list[str] | None:
    """The names of the parameters, `*args` and `**kwargs` with their stars."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [stars.get(p.kind, "") + p.name for p in found]


def main() -> None:
    """Write the table."""
    import cupy

    ndarray = [name for name in dir(cupy.ndarray) if not name.startswith("_")]
    table = {"cupy": cupy.__version__, "functions": dict(functions(cupy, cupy.ufunc)), "ndarray": ndarray}
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in table["functions"].items())
    text = f'{{"cupy": {json.dumps(table["cupy"])},\n"ndarray": {json.dumps(ndarray)},\n"functions": {{\n{rows}\n}}}}\n'
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE}: {len(table['functions'])} names of CuPy {cupy.__version__}, {len(text) // 1024} KiB")


if __name__ == "__main__":
    main()
