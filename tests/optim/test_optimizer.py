from __future__ import annotations

import gc
import json
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


def test_named_parameters_keep_their_names_and_move():
    net = nn.Linear(2, 1)
    optimizer = optim.SGD(net.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert [id(p) for p in optimizer.param_groups[0]["params"]] == [id(net.weight), id(net.bias)]
    before = net.bias.item()
    net(gl.ones(3, 2)).sum().backward()
    optimizer.step()
    assert net.bias.item() == pytest.approx(before - 0.3)
    saved = optimizer.state_dict()
    assert saved["param_groups"][0]["param_names"] == ["weight", "bias"]
    saved["param_groups"][0]["param_names"][0] = "other"
    assert optimizer.param_groups[0]["param_names"][0] == "weight" and "names" not in repr(optimizer)
    with pytest.raises(ValueError, match=r"(?s)some parameters have names.*1 of 2"):
        optim.SGD([("w", net.weight), net.bias])
    with pytest.raises(ValueError, match=r"(?s)some groups have names.*without names"):
        optimizer.add_param_group({"params": [nn.Parameter([1.0])]})
    optimizer.add_param_group({"params": [("head", nn.Parameter([1.0]))]})
    assert len(optimizer.param_groups) == 2 and optimizer.param_groups[1]["param_names"] == ["head"]


def test_a_tied_parameter_is_named_by_its_first_name_and_moved_once():
    a, b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    b.weight = a.weight
    optimizer = optim.Adagrad(nn.Sequential(a, b).named_parameters(), lr=1.0)
    assert optimizer.param_groups[0]["param_names"] == ["0.weight"]
    before = a.weight.data.copy()
    a.weight.grad = np.ones((2, 2), np.float32)
    optimizer.step()
    assert b.weight is a.weight and np.allclose(before - a.weight.data, 1.0)


def test_a_set_has_no_order_and_a_word_is_no_group():
    p = nn.Parameter([1.0])
    with pytest.raises(TypeError, match="a set has no order"):
        optim.SGD({p})
    with pytest.raises(TypeError, match="a set has no order"):
        optim.SGD([{"params": {p}}])
    with pytest.raises(TypeError, match="moves tensors only"):
        optim.SGD([p, {"params": [p]}])
    with pytest.raises(TypeError, match="a group is a dict"):
        optim.SGD([{"params": [p]}, p])


def test_options_are_numbers_of_pythons_whatever_came():
    p = nn.Parameter([1.0])
    optimizer = optim.Adam([{"params": [p], "eps": np.float32(0.5)}], lr=gl.tensor(0.25), betas=[np.float64(0.5), 0.75])
    group = optimizer.param_groups[0]
    assert (group["lr"], group["betas"], group["eps"]) == (0.25, [0.5, 0.75], 0.5) and type(group["lr"]) is float
    p.grad = [1.0]
    optimizer.step()
    assert p.data.dtype == np.float32 and optimizer.state[p]["exp_avg"].dtype == np.float32
    for lr in ("0.1", None, gl.ones(2), float("nan"), -0.1):
        with pytest.raises((TypeError, ValueError), match="lr"):
            optim.RMSprop([p], lr=lr)


def numbers(state):
    """A saved state with lists of numbers for arrays."""
    entries = {k: {n: v.tolist() if isinstance(v, np.ndarray) else v for n, v in entry.items()} for k, entry in state["state"].items()}
    return {"state": entries, "param_groups": state["param_groups"]}


@pytest.mark.parametrize("kind", [np.array, gl.tensor], ids=["arrays", "tensors"])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_state_that_went_through_json_goes_on_bit_for_bit(make, kind):
    net, x = model(), gl.randn(8, 4)
    optimizer = make(net.parameters())
    for _ in range(3):
        turn(net, optimizer, x)
    other = model()
    other.load_state_dict(net.state_dict())
    state = json.loads(json.dumps(numbers(optimizer.state_dict())))
    for entry in state["state"].values():
        entry.update({n: kind(np.array(v, np.float32)) for n, v in entry.items() if n != "step"})
    resumed = make(other.parameters())
    resumed.load_state_dict(state)
    assert resumed.param_groups[0].get("betas", ()) == optimizer.param_groups[0].get("betas", ())
    for _ in range(3):
        turn(net, optimizer, x)
        turn(other, resumed, x)
    for a, b in zip(net.parameters(), other.parameters(), strict=True):
        assert a.data.tobytes() == b.data.tobytes()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_state_that_went_through_a_file_goes_on_bit_for_bit_also_under_a_schedule(make, tmp_path):
    def run():
        net = model()
        optimizer = make(net.parameters())
        return net, optimizer, optim.lr_scheduler.OneCycleLR(optimizer, 0.1, 9, cycle_momentum="momentum" in optimizer.defaults)

    def some(net, optimizer, schedule):
        for _ in range(3):
            turn(net, optimizer, x)
            schedule.step()

    x, first, second = gl.randn(8, 4), run(), run()
    some(*first)
    gl.save([part.state_dict() for part in first], tmp_path / "run.safetensors")
    for part, state in zip(second, gl.load(tmp_path / "run.safetensors"), strict=True):
        part.load_state_dict(state)
    some(*first)
    some(*second)
    for a, b in zip(first[0].parameters(), second[0].parameters(), strict=True):
        assert a.data.tobytes() == b.data.tobytes()
    assert first[2].get_last_lr() == second[2].get_last_lr() and first[1].param_groups[0]["lr"] == second[1].param_groups[0]["lr"]


def test_keys_that_users_and_schedules_keep_in_a_group_are_saved_and_loaded():
    p = nn.Parameter([1.0])
    optimizer = optim.SGD([{"params": [p], "name": "body"}], lr=0.5)
    optimizer.param_groups[0]["depth"] = 3
    optim.lr_scheduler.StepLR(optimizer, 5)
    state = optimizer.state_dict()
    again = optim.SGD([p], lr=0.1)
    with pytest.raises(ValueError, match=r"(?s)another method saved this.*depth"):
        again.load_state_dict(state)
    again.param_groups[0]["depth"] = 1
    again.load_state_dict(state)
    assert {k: again.param_groups[0][k] for k in ("name", "depth", "initial_lr", "lr")} == {
        "name": "body", "depth": 3, "initial_lr": 0.5, "lr": 0.5,
    }  # fmt: skip


def test_a_closure_has_a_graph_also_where_the_step_is_taken_in_no_grad():
    for make in MAKERS.values():
        p = nn.Parameter([1.0])
        optimizer = make([p])

        def closure(p=p, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (p * p).sum()
            loss.backward()
            return loss

        with gl.no_grad():
            assert optimizer.step(closure).item() == 1.0
        assert p.item() != 1.0


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_an_error_in_one_parameter_leaves_all_of_them_and_their_state_as_they_are(make):
    big, p = nn.Parameter(np.ones(20_000, np.float32)), nn.Parameter([1.0, 1.0])
    optimizer = make([big, p])
    big.grad, p.grad = np.ones(20_000), [1.0, 1.0]
    optimizer.step()
    before, values = repr(optimizer.state_dict()), big.data.copy()
    p.data = np.ones(3, np.float32)
    with pytest.raises(gl.ShapeError, match="another shape than its gradient"):
        optimizer.step()
    p.grad = None
    p.grad = np.ones(3)
    if optimizer.state[p]:
        with pytest.raises(gl.ShapeError, match="another shape than at its last step"):
            optimizer.step()
    if optimizer.state[p]:
        assert repr(optimizer.state_dict()) == before and np.array_equal(big.data, values)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_small_parameters_move_as_large_ones_do(make):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=20_000), rng.normal(size=(5, 20_000))
    whole, parts = nn.Parameter(start.copy()), [nn.Parameter(part.copy()) for part in np.split(start, 50)]
    a, b = make([whole]), make(parts)
    for g in grads:
        whole.grad = g
        for p, part in zip(parts, np.split(g, 50), strict=True):
            p.grad = part
        a.step()
        b.step()
    np.testing.assert_allclose(np.concatenate([p.data for p in parts]), whole.data, rtol=1e-12)
    kept = [p.data for p in parts]
    b.step()
    assert all(p.data is array for p, array in zip(parts, kept, strict=True)), "p.data stays the user's"


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_a_step_never_writes_into_a_gradient(make):
    for size in (3, 20_000):
        p = nn.Parameter(np.ones(size, np.float32))
        optimizer = make([p])
        for turn_ in range(3):
            p.grad = np.full(size, 1.0 + turn_, np.float32)
            optimizer.step()
            assert (p.grad.data == 1.0 + turn_).all()


@pytest.mark.parametrize(("make", "switched"), [
    (lambda p: optim.SGD(p, lr=0.1), {"momentum": 0.9}), (lambda p: optim.Adam(p, lr=0.1), {"amsgrad": True}),
    (lambda p: optim.RMSprop(p, lr=0.1), {"momentum": 0.9, "centered": True}),
], ids=["SGD", "Adam", "RMSprop"])  # fmt: skip
def test_an_option_can_be_switched_on_and_off_between_steps(make, switched):
    p = nn.Parameter([1.0, 2.0])
    optimizer = make([p])
    for options in ({}, switched, {}):
        optimizer.param_groups[0].update({**optimizer.defaults, **options})
        p.grad = [1.0, -1.0]
        optimizer.step()
        again = make([p])
        again.load_state_dict(optimizer.state_dict())
        assert np.isfinite(p.data).all() and repr(again.state_dict()) == repr(optimizer.state_dict())


def by_pytorch(torch, kind, options, state=None, steps=3):
    """A parameter moved by PyTorch, from a state or from nothing, and its optimizer."""
    p = torch.nn.Parameter(torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64))
    optimizer = getattr(torch.optim, kind)([p], **options)
    if state is not None:
        optimizer.load_state_dict(state)
    for _ in range(steps):
        p.grad = torch.tensor([0.5, 1.0, -1.0], dtype=torch.float64)
        optimizer.step()
    return p, optimizer


@pytest.mark.torch
@pytest.mark.parametrize(("kind", "options"), [
    ("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adam", {"amsgrad": True}), ("AdamW", {}), ("Adagrad", {}),
    ("RMSprop", {"momentum": 0.9, "centered": True}),
])  # fmt: skip
def test_a_state_of_pytorchs_goes_on_here_and_the_other_way_round(kind, options):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    p, theirs = by_pytorch(torch, kind, options)
    q = nn.Parameter(p.detach().numpy().copy())
    ours = getattr(optim, kind)([q])
    ours.load_state_dict(theirs.state_dict())
    state = ours.state_dict()
    for entry in state["state"].values():
        entry.update({n: torch.from_numpy(v) for n, v in entry.items() if isinstance(v, np.ndarray)})
    back, _ = by_pytorch(torch, kind, options, state)
    for _ in range(3):
        p.grad, q.grad = torch.tensor([0.5, 1.0, -1.0], dtype=torch.float64), np.array([0.5, 1.0, -1.0])
        theirs.step()
        ours.step()
    np.testing.assert_allclose(q.data, p.detach().numpy(), rtol=1e-12)
    moved = back.detach().numpy() - [1.0, -2.0, 3.0]
    start, _ = by_pytorch(torch, kind, options)
    if not options.get("weight_decay") and kind != "AdamW":  # what is added does not depend on where it is added
        np.testing.assert_allclose(moved, p.detach().numpy() - start.detach().numpy(), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_parameters_and_moments_keep_their_dtype(make, dtype):
    for size in (3, 70_000):
        p = nn.Parameter(np.ones(size, dtype))
        optimizer = make([p])
        optimizer.param_groups[0].update(weight_decay=np.float64(0.1), lr=np.float64(0.01))  # as a hand may write them
        for _ in range(2):
            p.grad = np.full(size, 0.5, dtype)
            optimizer.step()
        moments = [v for v in optimizer.state[p].values() if isinstance(v, np.ndarray)]
        assert {p.data.dtype, *(m.dtype for m in moments)} == {np.dtype(dtype)} and np.isfinite(p.data).all() and (p.data != 1).all()


def test_what_is_refused_leaves_no_moments_behind():
    new, old = nn.Parameter([1.0]), nn.Parameter([1.0])
    optimizer = optim.SGD([new, old], lr=1.0, momentum=0.5, dampening=0.5)
    old.grad = [1.0]
    optimizer.step()
    old.data, old.grad = np.ones(2), None
    new.grad, old.grad = [1.0], np.ones(2)
    with pytest.raises(gl.ShapeError, match="another shape than at its last step"):
        optimizer.step()
    old.grad = None
    optimizer.step()
    assert new.item() == 0.0, "the first step of a momentum is not dampened"
