from __future__ import annotations

import copy

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, observe
from gradlab.trace import recording


class Sum(nn.Module):
    def forward(self, a, b, *, times=1.0):
        return (a + b) * times, a * b


def test_forward_hooks_see_and_replace_arguments_and_output():
    layer, seen = nn.Identity(), []
    layer.register_forward_pre_hook(lambda m, args: seen.append((m, args)))
    layer.register_forward_pre_hook(lambda m, args: args[0] + 1)
    layer.register_forward_hook(lambda m, args, out: seen.append((m, args, out)))
    layer.register_forward_hook(lambda m, args, out: out * 10)
    assert layer(1) == 20
    assert seen == [(layer, (1,)), (layer, (2,), 2)]


def test_hooks_with_keyword_arguments_get_and_give_both():
    layer = Sum()
    layer.register_forward_pre_hook(lambda m, args, kwargs: (args, {"times": kwargs["times"] * 2}), with_kwargs=True)
    layer.register_forward_hook(lambda m, args, kwargs, out: (out[0], kwargs["times"]), with_kwargs=True)
    y, times = layer(gl.tensor(1.0), gl.tensor(2.0), times=3.0)
    assert y.item() == 18 and times == 6


def test_a_hook_goes_first_where_that_is_asked_for_and_goes_away_with_its_handle():
    layer, order = nn.Identity(), []
    first = layer.register_forward_hook(lambda *_: order.append("a"))
    layer.register_forward_hook(lambda *_: order.append("b"), prepend=True)
    layer(0)
    first.remove()
    first.remove()
    with layer.register_forward_hook(lambda *_: order.append("c")):
        layer(0)
    layer(0)
    assert order == ["b", "a", "b", "c", "b"]


def test_a_hook_may_be_called_after_an_error_too():
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    layer, seen = Fails(), []
    layer.register_forward_hook(lambda m, args, out: seen.append(out), always_call=True)
    layer.register_forward_hook(lambda m, args, out: seen.append("never"))
    with pytest.raises(ValueError, match="no"):
        layer(1)
    assert seen == [None]


def test_backward_hooks_see_all_gradients_of_inputs_and_outputs_at_once():
    layer, seen = Sum(), []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((m, gi, go)))
    a, b = gl.tensor(2.0, requires_grad=True), gl.tensor(3.0, requires_grad=True)
    y, z = layer(a, b)
    (y * 5 + z * 7).backward()
    ((module, given, came),) = seen
    assert module is layer and [g.item() for g in came] == [5, 7]
    assert [g.item() for g in given] == [5 + 7 * 3, 5 + 7 * 2] == [a.grad.item(), b.grad.item()]


def test_backward_hooks_replace_gradients_before_and_after_the_module():
    layer = nn.Linear(1, 1, bias=False)
    layer.weight.data[...] = 3
    layer.register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))
    layer.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
    x = gl.tensor([[5.0]], requires_grad=True)
    layer(x).sum().backward()
    assert layer.weight.grad.tolist() == [[10]] and x.grad.tolist() == [[60]]


def test_of_what_has_no_gradient_hooks_get_none():
    layer, seen = Sum(), []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    a = gl.tensor(2.0, requires_grad=True)
    layer(a, 3.0)[0].backward()
    ((given, came),) = seen
    assert given[1] is None and given[0].item() == 1 and came[1] is None


def test_a_first_layer_whose_input_needs_no_gradient_is_heard_too():
    layer, seen = nn.Linear(2, 1), []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go[0].tolist())))
    layer(gl.ones(1, 2)).sum().backward()
    assert seen == [((None,), [[1.0]])]


def test_gradients_with_a_graph_go_through_hooks_with_it():
    layer = nn.Tanh()
    layer.register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
    x = gl.tensor(0.5, dtype=gl.float64, requires_grad=True)
    (d,) = gl.autograd.grad(layer(x), x, create_graph=True)
    (dd,) = gl.autograd.grad(d, x)
    t = np.tanh(0.5)
    assert d.item() == pytest.approx(2 * (1 - t * t)) and dd.item() == pytest.approx(
        -4 * t * (1 - t * t)
    )  # as in PyTorch, the second pass is not doubled


def test_a_second_pass_through_a_kept_graph_calls_the_hooks_again():
    layer, seen = nn.Linear(1, 1), []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append(go[0].item()))
    y = layer(gl.ones(1, 1)).sum()
    y.backward(retain_graph=True)
    (3 * y).backward()
    assert seen == [1, 3]


def test_hooks_change_no_number_and_nothing_under_no_grad():
    plain = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    hooked = copy.deepcopy(plain)
    for module in hooked.modules():
        module.register_full_backward_hook(lambda m, gi, go: None)
        module.register_forward_hook(lambda m, args, out: None)
    x = gl.randn(5, 3)
    for net in (plain, hooked):
        (net(x) ** 2).sum().backward()
    for p, q in zip(plain.parameters(), hooked.parameters(), strict=True):
        np.testing.assert_array_equal(p.grad.data, q.grad.data)
    with gl.no_grad():
        assert not hooked(x).requires_grad


def test_what_a_hooked_module_gave_may_be_changed_in_place():
    layer = nn.Linear(2, 2)
    layer.register_full_backward_hook(lambda m, gi, go: None)
    x = gl.ones(1, 2)
    x.requires_grad_()
    y = layer(x)
    y *= 2
    y.sum().backward()
    np.testing.assert_allclose(x.grad.data, 2 * layer.weight.data.sum(0, keepdims=True), rtol=1e-6)


def test_hooks_work_where_the_parameters_are():
    layer, seen = nn.Linear(2, 2).to("sim"), []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append(str(go[0].device)))
    layer(gl.ones(1, 2, device="sim", requires_grad=True)).sum().backward()
    assert seen == ["sim"]


def test_an_observer_sees_the_call_with_its_hooks_as_one():
    class Seen:
        def begin(self, kind, target, inputs):
            return kind == "module" and (target, inputs)

        def end(self, token, output, error):
            if token:
                calls.append((*token, output))

    calls, layer, observer = [], nn.Identity(), Seen()
    layer.register_forward_hook(lambda m, args, out: out + 1)
    observe.attach(observer)
    try:
        layer(1)
    finally:
        observe.detach(observer)
    assert calls == [(layer, (1,), 2)]


@pytest.mark.parametrize(
    ("register", "text"),
    [
        (lambda m: m.register_forward_hook(3), "can't be called"),
        (lambda m: m.register_forward_pre_hook(lambda m, a, k: 1, with_kwargs=True), r"\(args, kwargs\), or None"),
        (lambda m: m.register_full_backward_hook(lambda m, gi, go: (1, 2)), r"(?s)as many gradients as grad_input has.*1 in a tuple"),
        (lambda m: m.register_full_backward_pre_hook(lambda m, go: ()), "as many gradients as grad_output has"),
    ],
)
def test_a_wrong_hook_says_what_it_should_return(register, text):
    def use():
        layer = nn.Tanh()
        register(layer)
        layer(gl.ones(1, requires_grad=True)).sum().backward()

    with pytest.raises(gl.errors.KeywordError, match=text):
        use()


def test_the_tracer_draws_a_graph_through_hooks():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
    net[1].register_full_backward_hook(lambda m, gi, go: None)
    with recording() as r:
        net(gl.randn(2, 3)).sum().backward()
    assert len(r.costs()) >= 4


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
def test_backward_hooks_hear_what_they_hear_in_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    heard = []
    for lib in (gl, torch):
        net, lines = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.Tanh(), lib.nn.Linear(3, 1)), []
        values = np.random.default_rng(0)
        for p in net.parameters():
            p.data = lib.tensor(values.standard_normal(tuple(p.shape)))
        for name, module in net.named_modules():
            module.register_full_backward_hook(
                lambda m, gi, go, name=name, lines=lines: lines.append(
                    (name, [None if g is None else g.tolist() for g in gi], [g.tolist() for g in go])
                )
            )
        net(lib.tensor([[0.3, -0.2]], dtype=lib.float64)).sum().backward()
        heard.append(lines)
    ours, theirs = heard
    assert [line[0] for line in ours] == [line[0] for line in theirs] and len(ours) == 4
    for a, b in zip(ours, theirs, strict=True):
        for x, y in zip([*a[1], *a[2]], [*b[1], *b[2]], strict=True):
            assert (x is None) == (y is None)
            if x is not None:
                np.testing.assert_allclose(x, y, rtol=1e-9)
