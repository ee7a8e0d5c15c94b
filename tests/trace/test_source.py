"""Formulas and sources of the very Function, also of a user's own."""

from __future__ import annotations

import linecache

import numpy as np

from gradlab import ops
from gradlab.function import Function
from gradlab.trace.source import formulas, tokens, written

CELL = '''\
class Twice(Function):
    """y = 2 x;  dx = 2 g."""

    latex = r"y = 2x, \\quad \\bar x = 2 \\bar y"

    def forward(self, x):
        # doubled, \u00fc
        return 2.0 * x

    def backward(self, g):
        return g * 2.0
'''


def text_of(part):
    return "".join(text for _, text in part["tokens"])


def test_the_source_is_that_of_the_op():
    forward, backward = written(ops.Sigmoid)
    assert text_of(forward).startswith("def forward(self, x") and text_of(backward).startswith("def backward(self, g")
    assert forward["file"].endswith("sigmoid.py") and backward["line"] > forward["line"]
    assert ("keyword", "return") in backward["tokens"] and ("self", "self") in backward["tokens"]


def test_an_op_without_backward_shows_only_what_it_has():
    assert [part["name"] for part in written(ops.ArgMax)] == ["forward"]


def test_a_class_of_a_cell_is_read_from_where_the_notebook_keeps_it():
    name = "<ipython-input-7>"
    linecache.cache[name] = (len(CELL), None, CELL.splitlines(keepends=True), name)
    namespace = {"Function": Function, "__name__": "__main__"}
    exec(compile(CELL, name, "exec"), namespace)
    cls = namespace["Twice"]
    assert cls.apply(np.ones(2)).data.tolist() == [2.0, 2.0]
    forward, backward = written(cls)
    assert text_of(forward) == "def forward(self, x):\n    # doubled, \u00fc\n    return 2.0 * x" and forward["line"] == 6
    assert text_of(backward).endswith("return g * 2.0")
    assert formulas(cls) == ["y = 2x", "\\bar x = 2 \\bar y"]
    del linecache.cache[name]
    namespace = {"Function": Function, "__name__": "__main__"}
    exec(compile(CELL.replace("Twice", "Gone"), "<string>", "exec"), namespace)
    assert "no source" in written(namespace["Gone"])[0]["error"]


def test_pieces_put_together_are_the_text():
    for text in ("x = 'a\\n' # c\nif x: pass", "def f(:\n  '''", "", "a\r\nb = 1\n"):
        assert "".join(piece for _, piece in tokens(text)) == text


def test_commas_inside_braces_do_not_cut_a_formula():
    class Braces:
        latex = r"m \in \left\{0, \quad 1\right\}_{a, \quad b}, \quad y = 2"

    assert formulas(Braces)[-1] == "y = 2" and formulas(Braces)[0].endswith(r"_{a, \quad b}")
