"""What `import gradlab` may and may not do."""

from __future__ import annotations

import subprocess
import sys


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_gradlab_loads_no_tracer_no_notebook_and_no_gpu():
    code = """
import gradlab, sys
gradlab.nn.Linear, gradlab.optim.SGD, gradlab.data.DataLoader
heavy = ("gradlab.trace", "gradlab.notebook", "gradlab.sim", "cupy", "ipywidgets", "anywidget", "IPython", "traitlets")
print([m for m in sys.modules if m.startswith(heavy)])
"""
    assert run(code) == "[]"


def test_importing_gradlab_changes_nothing_in_numpy():
    code = """
import numpy as np
before = {m.__name__: dict(vars(m)) for m in (np, np.random, np.linalg)}
state = np.random.get_state()[1].tolist(); errors = np.geterr(); shown = np.get_printoptions()
import gradlab as gl
gl.nn; gl.optim; gl.data
gl.manual_seed(3); gl.randn(3)
after = {m.__name__: dict(vars(m)) for m in (np, np.random, np.linalg)}
changed = [(n, k) for n in before for k in before[n] if after[n][k] is not before[n][k]]
print(changed, np.random.get_state()[1].tolist() == state, np.geterr() == errors, np.get_printoptions() == shown)
"""
    assert run(code) == "[] True True True"


def test_a_missing_name_says_so():
    code = """
import gradlab
try: gradlab.nonsense
except AttributeError as error: print(error)
"""
    assert "nonsense" in run(code)


def test_every_public_op_is_at_the_top_level():
    code = """
import gradlab as gl
public = {n for n, f in vars(gl.ops).items() if n.islower() and callable(f) and not n.startswith("_")}
print([n for n in public if n != "trace" and getattr(gl, n, None) is not getattr(gl.ops, n)], len(public) > 50)
"""
    assert run(code) == "[] True"
