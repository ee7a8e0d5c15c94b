"""gradcheck: right gradients pass, wrong ones are shown where they are furthest off."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.autograd import gradcheck, gradgradcheck
from gradlab.errors import DTypeError, GradcheckError, GraphError


def leaf(values):
    return gl.tensor(np.array(values, np.float64), requires_grad=True)


class Wrong(gl.Function):
    """y = x^2, with a gradient that is wrong at one entry."""

    def forward(self, x):
        self.x = x
        return x * x

    def backward(self, g):
        d = 2 * g * self.x
        d[1, 2] *= 1.5
        return d


def test_right_gradients_pass():
    r = np.random.default_rng(0)
    a, b = leaf(r.standard_normal((3, 4))), leaf(r.standard_normal((4, 2)))
    assert gradcheck(lambda a, b: (a @ b).softmax(1), [a, b])
    assert gradgradcheck(lambda a, b: (a @ b).softmax(1), (a, b))


def test_the_worst_entry_is_named_with_both_numbers():
    x = leaf(np.arange(1.0, 7.0).reshape(2, 3))
    with pytest.raises(GradcheckError) as error:
        gradcheck(lambda c, x: Wrong.apply(x) * c, [gl.tensor(2.0), x])
    text = str(error.value)
    assert text.startswith("gradcheck: the gradient of input 1 is wrong in 1 of 6 entries, furthest at [1, 2]")
    lines = dict(line.strip().split(maxsplit=1) for line in text.splitlines()[1:3])
    assert float(lines["backward"]) == pytest.approx(1.5 * float(lines["differences"]), rel=1e-6)
    assert "relative error 0.333" in text and "(2, 3)" in text


def test_it_may_answer_instead_of_raising():
    assert gradcheck(Wrong.apply, leaf(np.ones((2, 3))), raise_exception=False) is False


def test_a_softmax_that_loses_its_coupling_is_found():
    """Through a sum, every gradient of softmax is 0, and so is this one."""

    class Lost(gl.Function):
        def forward(self, x):
            e = np.exp(x - x.max())
            self.y = e / e.sum()
            return self.y

        def backward(self, g):
            return self.y * (g - g.mean())

    with pytest.raises(GradcheckError):
        gradcheck(Lost.apply, leaf([0.1, 0.5, -0.3]))


def test_inputs_have_to_be_float64():
    with pytest.raises(DTypeError, match=r"gradcheck: input 1 is too coarse[\s\S]*float32[\s\S]*x\.double\(\)"):
        gradcheck(lambda a, b: a * b, [leaf(1.0), gl.tensor(1.0, requires_grad=True)])


def test_something_has_to_require_a_gradient():
    with pytest.raises(GraphError, match="nothing to check"):
        gradcheck(lambda a: a, gl.tensor(1.0))


def test_a_function_gives_tensors_and_one_that_cuts_the_graph_is_found():
    with pytest.raises(GraphError, match=r"gradcheck: the function has to give tensors[\s\S]*float"):
        gradcheck(lambda x: 3.0, leaf([1.0]))
    with pytest.raises(GradcheckError, match=r"backward\s+0\s"):
        gradcheck(lambda x: x.detach() * 2.0, leaf([1.0]))
    assert gradcheck(lambda x: (x > 0).double(), leaf([1.0]))


def test_functions_with_several_outputs_other_inputs_and_none():
    x, ids = leaf([[1.0, 2.0], [3.0, 5.0]]), gl.tensor([1, 0])
    assert gradcheck(lambda x, ids, k: (x[ids] * k, x.argmax(), x.exp()), [x, ids, 3.0])
    assert gradcheck(lambda x, y: x * 2.0, [leaf([1.0]), leaf([2.0])])  # an unused input


def test_a_module_is_checked_through_its_parameters():
    layer = nn.Linear(3, 2)
    weight = leaf(np.random.default_rng(0).standard_normal((2, 3)))
    layer.bias.data = layer.bias.data.astype(np.float64)

    def f(x, weight):
        return nn.functional.linear(x, weight, layer.bias.double())

    assert gradcheck(f, [leaf(np.ones((4, 3))), weight])


def test_a_function_that_draws_is_refused():
    with pytest.raises(GradcheckError, match="other numbers each time"):
        gradcheck(lambda x: x * float(gl.rand(1).item()), leaf([1.0, 2.0]))


def test_nan_is_never_right():
    with pytest.raises(GradcheckError, match="nan"):
        gradcheck(lambda x: x.sqrt(), leaf([0.0]))


def test_wrong_second_derivatives_are_found():
    class Half(gl.Function):
        """Its gradient is right; but what it saved is a number that no derivative reaches."""

        def forward(self, x):
            self.x, self.number = x, x.detach().item() if hasattr(x, "detach") else x.item()
            return x**3

        def backward(self, g):
            return 3 * g * self.number * self.x

    assert gradcheck(Half.apply, leaf([2.0]))
    with pytest.raises(GradcheckError, match="gradgradcheck: the gradient of input 0"):
        gradgradcheck(Half.apply, leaf([2.0]))


def test_gradlabs_random_numbers_go_on_untouched():
    gl.manual_seed(5)
    want = gl.rand(2).tolist()
    gl.manual_seed(5)
    gradcheck(lambda x: x * x, leaf([1.0]))
    assert gl.rand(2).tolist() == want
