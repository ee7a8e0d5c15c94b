from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, optim

MAKERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
    "Adam": lambda p: optim.Adam(p, lr=0.01),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01, weight_decay=0.1),
    "amsgrad": lambda p: optim.Adam(p, lr=0.01, amsgrad=True, maximize=True),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01),
    "centered": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.9, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.1),
}


def model():
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))


def turn(net, optimizer, x):
    optimizer.zero_grad()
    (net(x) ** 2).mean().backward()
    optimizer.step()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_loaded_state_goes_on_bit_for_bit(make):
    net, x = model(), gl.randn(8, 4)
    optimizer = make(net.parameters())
    for _ in range(3):
        turn(net, optimizer, x)
    other = model()
    other.load_state_dict(net.state_dict())
    resumed = make(other.parameters())
    resumed.load_state_dict(optimizer.state_dict())
    for _ in range(3):
        turn(net, optimizer, x)
        turn(other, resumed, x)
    for a, b in zip(net.parameters(), other.parameters(), strict=True):
        assert a.data.tobytes() == b.data.tobytes()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_saved_state_is_a_copy(make):
    net = model()
    optimizer = make(net.parameters())
    turn(net, optimizer, gl.randn(8, 4))
    saved = optimizer.state_dict()
    arrays = [(v, v.copy()) for entry in saved["state"].values() for v in entry.values() if isinstance(v, np.ndarray)]
    turn(net, optimizer, gl.randn(8, 4))
    assert all(np.array_equal(now, then) for now, then in arrays)
    assert saved["param_groups"][0]["params"] == [0, 1, 2, 3]


def test_loading_takes_the_options_along_and_refuses_what_does_not_fit():
    net = model()
    optimizer = optim.Adam(net.parameters(), lr=0.5)
    turn(net, optimizer, gl.randn(8, 4))
    saved = optimizer.state_dict()
    other = optim.Adam(model().parameters())
    other.load_state_dict(saved)
    assert other.param_groups[0]["lr"] == 0.5
    with pytest.raises(ValueError, match="groups differ"):
        optim.Adam(nn.Linear(1, 1).parameters()).load_state_dict(saved)
    different = optim.Adam(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)).parameters())
    with pytest.raises(gl.ShapeError, match="parameter 0 has another shape"):
        different.load_state_dict(saved)
    assert different.state == {} and different.param_groups[0]["lr"] == 1e-3


def test_a_generator_of_parameters_is_kept():
    assert len(optim.SGD(nn.Linear(2, 2).parameters(), lr=1.0).param_groups[0]["params"]) == 2


def test_no_parameters_are_an_error_that_names_the_usual_reason():
    net = nn.Linear(1, 1)
    used = net.parameters()
    list(used)
    for empty in ([], used):
        with pytest.raises(ValueError, match="no parameters came in"):
            optim.SGD(empty, lr=0.1)


@pytest.mark.parametrize(
    ("params", "fix"),
    [(lambda: nn.Linear(1, 1), r"model.parameters\(\)"), (lambda: nn.Parameter([1.0]), r"\[w\]"), (lambda: "weights", "iterable")],
)
def test_what_is_no_list_of_parameters_is_refused_with_a_way_out(params, fix):
    with pytest.raises(TypeError, match=f"(?s)needs a list of parameters.*{fix}"):
        optim.SGD(params(), lr=0.1)


def test_members_that_cannot_be_moved_are_refused():
    w = gl.tensor([1.0], requires_grad=True)
    with pytest.raises(ValueError, match=r"can't move the result of <Mul>"):
        optim.SGD([w * 2], lr=0.1)
    with pytest.raises(ValueError, match="requires no gradient"):
        optim.SGD([gl.tensor([1.0])], lr=0.1)
    with pytest.raises(TypeError, match="moves tensors only"):
        optim.SGD([np.ones(2)], lr=0.1)


def test_frozen_parameters_may_come_along_and_stay():
    net = model()
    net[0].requires_grad_(False)
    before = net[0].weight.data.copy()
    turn(net, optim.Adam(net.parameters(), lr=0.1), gl.randn(8, 4))
    assert np.array_equal(net[0].weight.data, before)


def test_a_parameter_given_twice_is_warned_about_and_moved_once():
    p = nn.Parameter([1.0])
    with pytest.warns(UserWarning, match="1 parameters came in twice"):
        optimizer = optim.SGD([p, p], lr=0.1)
    p.grad = [1.0]
    optimizer.step()
    assert p.tolist() == pytest.approx([0.9])


def test_a_parameter_in_two_groups_is_refused():
    p = nn.Parameter([1.0])
    with pytest.raises(ValueError, match="two groups"):
        optim.SGD([{"params": [p]}, {"params": [p]}], lr=0.1)


def test_groups_have_options_of_their_own_and_can_be_added():
    a, b = nn.Parameter([1.0]), nn.Parameter([1.0])
    optimizer = optim.SGD([a], lr=0.1)
    optimizer.add_param_group({"params": b, "lr": 0.5})
    a.grad, b.grad = [1.0], [1.0]
    optimizer.step()
    assert (optimizer.lr_of(a), optimizer.lr_of(b)) == (0.1, 0.5)
    assert [a.item(), b.item()] == pytest.approx([0.9, 0.5])
    optimizer.add_param_group({"params": [nn.Parameter([1.0])], "name": "head"})
    assert optimizer.param_groups[2]["name"] == "head"
    optimizer.param_groups[0]["lr"] = 1.0
    optimizer.step()
    assert a.item() == pytest.approx(-0.1)
    with pytest.raises(ValueError, match="learning_rate"):
        optimizer.add_param_group({"params": [nn.Parameter([1.0])], "learning_rate": 1})
    with pytest.raises(ValueError, match="lr can't be negative"):
        optimizer.add_param_group({"params": [nn.Parameter([1.0])], "lr": -1})
    with pytest.raises(KeyError, match="not one of its parameters"):
        optimizer.lr_of(nn.Parameter([1.0]))


def test_zero_grad_forgets_or_fills_with_zeros():
    p = nn.Parameter([1.0])
    optimizer = optim.SGD([p], lr=0.1)
    p.grad = [1.0]
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0]
    optimizer.zero_grad()
    assert p.grad is None


def test_a_closure_gives_the_loss_and_its_result_comes_back():
    p = nn.Parameter([1.0])
    for optimizer in (optim.SGD([p], lr=0.0), optim.Adam([p], lr=0.0)):
        assert optimizer.step(lambda: 7) == 7
        assert optimizer.step() is None


def test_the_base_class_asks_for_a_step():
    with pytest.raises(NotImplementedError, match="must define step"):
        optim.Optimizer([nn.Parameter([1.0])], {}).step()


def test_a_method_without_a_learning_rate_and_groups_put_in_place_of_others():
    class Still(optim.Optimizer):
        def step(self):
            pass

    p, q = nn.Parameter([1.0]), nn.Parameter([1.0])
    still = Still([p], {})
    assert np.isnan(still.lr_of(p)) and still.summary(p) == {}
    still.param_groups = [{"params": [q], "lr": 2.0}]
    assert still.lr_of(q) == 2.0
    with pytest.raises(KeyError):
        still.lr_of(p)


def test_options_are_printed():
    p, q = nn.Parameter([1.0]), nn.Parameter([1.0])
    assert (
        repr(optim.SGD([p], lr=0.1))
        == "SGD(lr=0.1, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False, params=1)"
    )
    assert repr(optim.SGD([{"params": [p]}, {"params": [q]}], lr=0.1)).count("\n") == 3


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_training_loop_keeps_nothing_of_a_step_alive(make):
    gc.collect()
    gc.disable()
    try:
        net = model()
        optimizer, x, refs = make(net.parameters()), gl.randn(8, 4), []
        for _ in range(3):
            optimizer.zero_grad()
            h = net[0](x)
            loss = (net[2](net[1](h)) ** 2).mean()
            loss.backward()
            optimizer.step()
            refs += [weakref.ref(h), weakref.ref(loss), weakref.ref(h.grad_fn)]
        del h, loss
        assert [r() for r in refs] == [None] * 9
        whole = weakref.ref(optimizer)
        del optimizer
        assert whole() is None
    finally:
        gc.enable()


def stepped(make, shape=(2,)):
    """An optimizer of one parameter that has made a step."""
    p = nn.Parameter(np.ones(shape, np.float32))
    optimizer = make([p])
    p.grad = np.ones(shape, np.float32)
    optimizer.step()
    return p, optimizer


@pytest.mark.parametrize(("saved", "own"), [("SGD", "Adam"), ("momentum", "Adam"), ("Adam", "SGD"), ("AdamW", "momentum")])
def test_a_state_of_another_method_is_refused_and_nothing_is_changed(saved, own):
    _, other = stepped(MAKERS[saved])
    _, optimizer = stepped(MAKERS[own])
    before = repr(optimizer.state_dict())
    with pytest.raises(gl.errors.ArgumentError, match=r"(?s)another method saved this; nothing was loaded.*options"):
        optimizer.load_state_dict(other.state_dict())
    assert repr(optimizer.state_dict()) == before
    optimizer.step()


def changed(state, **entries):
    return {"state": {0: {**state["state"][0], **entries}}, "param_groups": state["param_groups"]}


BROKEN = {
    "no dict": lambda s: [1],
    "a module's state": lambda s: nn.Linear(1, 1).state_dict(),
    "no groups": lambda s: {"state": {}},
    "groups without params": lambda s: {**s, "param_groups": [{"lr": 1.0}]},
    "state without entries": lambda s: {**s, "state": {0: 3}},
    "an unknown number": lambda s: {**s, "state": {7: s["state"][0]}},
    "a number as a word": lambda s: {**s, "state": {"w": s["state"][0]}},
    "a missing moment": lambda s: {**s, "state": {0: {"step": 1}}},
    "another name": lambda s: changed(s, momentum_buffer=np.ones(2)),
    "a moment of another shape": lambda s: changed(s, exp_avg=np.ones(1, np.float32)),
    "a moment that is a number": lambda s: changed(s, exp_avg=np.float32(1)),
    "a moment without axes": lambda s: changed(s, exp_avg=np.array(1, np.float32)),
    "a moment of integers": lambda s: changed(s, exp_avg_sq=np.ones(2, int)),
    "a moment of text": lambda s: changed(s, exp_avg_sq=np.array(["a", "b"])),
    "a step of 1.5": lambda s: changed(s, step=1.5),
    "a step below 0": lambda s: changed(s, step=-1),
    "an unknown option": lambda s: {**s, "param_groups": [{**s["param_groups"][0], "momentum": 0.9}]},
    "an option that makes no sense": lambda s: {**s, "param_groups": [{**s["param_groups"][0], "lr": -1.0}]},
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("kind", ["Adam", "AdamW"])
def test_a_broken_state_is_refused_before_anything_is_changed(kind, broken):
    p, optimizer = stepped(MAKERS[kind])
    good, before = optimizer.state_dict(), repr(optimizer.state_dict())
    with pytest.raises((gl.errors.ArgumentError, gl.ShapeError)):
        optimizer.load_state_dict(broken(good))
    assert repr(optimizer.state_dict()) == before
    optimizer.load_state_dict(good)
    optimizer.step()
    assert optimizer.state[p]["step"] == 2


def test_a_number_that_stands_for_two_parameters_is_refused():
    a, b = nn.Parameter([1.0]), nn.Parameter([1.0])
    optimizer = optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1)
    state = optimizer.state_dict()
    state["param_groups"][1]["params"] = [0]
    with pytest.raises(gl.errors.ArgumentError, match="twice"):
        optimizer.load_state_dict(state)


def test_options_are_checked_in_every_group_before_the_first_is_changed():
    a, b = nn.Parameter([1.0]), nn.Parameter([1.0])
    optimizer = optim.SGD([{"params": [a]}, {"params": [b]}], lr=0.1)
    state = optimizer.state_dict()
    state["param_groups"][0]["lr"], state["param_groups"][1]["momentum"] = 9.0, -1.0
    with pytest.raises(ValueError, match="momentum can't be negative"):
        optimizer.load_state_dict(state)
    assert optimizer.lr_of(a) == 0.1


def test_momentum_that_is_loaded_or_switched_on_has_its_column():
    _, saved = stepped(MAKERS["momentum"])
    p = nn.Parameter([1.0, 1.0])
    optimizer = optim.SGD([p], lr=0.1)
    assert optimizer.columns == ()
    optimizer.load_state_dict(saved.state_dict())
    assert optimizer.columns == ("momentum",) and optimizer.summary(p) == {"momentum": 1.0}
    optimizer.param_groups[0]["momentum"] = 0.0
    assert optimizer.columns == () and optimizer.summary(p) == {}


def test_a_method_of_your_own_loads_what_it_saved():
    class Counting(optim.Optimizer):
        def step(self):
            for p in self.params():
                self.state.setdefault(p, {"seen": 0, "sum": np.zeros(p.shape), "scale": np.array(1.0)})["seen"] += 1

    p, optimizer = stepped(lambda params: Counting(params, {"lr": 1.0}))
    again = Counting([p], {"lr": 2.0})
    again.load_state_dict(optimizer.state_dict())
    assert again.state[p]["seen"] == 1 and again.lr_of(p) == 1.0
    with pytest.raises(gl.ShapeError):
        again.load_state_dict({**optimizer.state_dict(), "state": {0: {"sum": np.zeros(3)}}})


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_read_only_parameter_is_refused_before_anything_is_moved(make):
    first, fixed = nn.Parameter([1.0]), nn.Parameter(np.broadcast_to(np.float32(1), (3,)))
    optimizer = make([{"params": [first]}, {"params": [fixed]}])
    first.grad, fixed.grad = [1.0], [1.0] * 3
    with pytest.raises(gl.errors.ArgumentError, match=r"(?s)read-only; nothing was moved.*try:  p.data = p.data.copy\(\)"):
        optimizer.step()
    assert first.tolist() == [1] and optimizer.state == {}
    fixed.data = fixed.data.copy()
    optimizer.step()
    assert first.item() != 1 and 1 not in fixed.tolist()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_new_tensor_never_takes_over_the_moments_of_one_that_is_gone(make):
    optimizer, after = make([nn.Parameter([1.0])]), set()
    for _ in range(50):  # a freed tensor's place in memory, and so its id, is soon used again
        p = nn.Parameter([1.0])
        optimizer.param_groups[0]["params"] = [p]
        optimizer.state.clear()
        p.grad = [1.0]
        optimizer.step()
        p.grad = [1.0]
        optimizer.step()
        after.add(p.item())
        assert optimizer.lr_of(p) == optimizer.param_groups[0]["lr"]
        del p
    assert len(after) == 1


def test_the_state_of_a_parameter_is_empty_at_first():
    class Slow(optim.Optimizer):
        @gl.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    state["m"] = state.get("m", gl.zeros_like(p)) * 0.5 + p.grad
                    p.sub_(state["m"], alpha=group["lr"])

    w = gl.ones(2, requires_grad=True)
    slow = Slow([w], {"lr": 0.25})
    for _ in range(2):
        slow.zero_grad()
        w.sum().backward()
        slow.step()
    assert w.tolist() == [0.375, 0.375]
    slow.load_state_dict(slow.state_dict())
    assert slow.state[w]["m"].tolist() == [1.5, 1.5] and slow.state[gl.ones(1)] == {}
