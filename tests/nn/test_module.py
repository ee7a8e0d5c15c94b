from __future__ import annotations

import copy
import gc
import weakref

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, observe


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(2, 3), nn.Linear(3, 3, bias=False)])
        self.table = nn.ModuleDict({"a": nn.Linear(1, 1, bias=False)})
        self.deep = nn.ParameterDict({"b": nn.Parameter([1.0])})
        self.scale = nn.Parameter([2.0])
        self.loose = gl.tensor([1.0], requires_grad=True)
        self.register_buffer("mean", gl.tensor([0.5]))

    def forward(self, x):
        return self.hidden[1](self.hidden[0](x)) * self.scale


class Lists(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(1, 1)
        self.hidden = [nn.Linear(2, 3)]
        self.table = {"a": ({"deep": nn.Parameter([1.0])}, "text")}


def test_parameters_are_found_in_attributes_and_in_the_modules_below():
    names = [name for name, _ in Net().named_parameters()]
    assert names == ["scale", "hidden.0.weight", "hidden.0.bias", "hidden.1.weight", "table.a.weight", "deep.b"]


def test_a_list_of_modules_may_grow_after_it_was_assigned():
    net = Net()
    net.hidden.append(nn.Linear(3, 4))
    assert "hidden.2.weight" in dict(net.named_parameters())


@pytest.mark.parametrize("ask", [lambda net: net.parameters(), lambda net: net.state_dict()], ids=["parameters", "state_dict"])
def test_parameters_that_only_plain_lists_hold_are_an_error_that_names_them(ask):
    net = Lists()
    assert [name for name, _ in net.named_parameters()] == ["fc.weight", "fc.bias"]
    for model in (net, nn.Sequential(net)):
        with pytest.raises(
            gl.RegistrationError, match=r"(?s)plain list.*hidden\.0\.weight +shape \(3, 2\).*table\.a\.0\.deep.*nn\.ModuleList"
        ):
            ask(model)
    net.hidden, net.table = nn.ModuleList(net.hidden), None
    assert len(list(net.parameters())) == 4


def test_an_optimizer_is_not_made_of_a_model_that_it_would_train_in_part():
    net = nn.Module()
    net.weights = [nn.Parameter([1.0])]
    with pytest.raises(gl.RegistrationError, match=r"(?s)weights\.0 +shape \(1,\).*need: +nn\.ParameterList or nn\.ParameterDict"):
        gl.optim.SGD(net.parameters(), lr=0.1)


def test_plain_lists_may_hold_what_is_frozen_or_registered_elsewhere():
    net = nn.Module()
    net.teacher = [nn.Linear(1, 1).requires_grad_(False)]
    net.fc = nn.Linear(1, 1)
    net.order, net.words, net.many = [net.fc, net.fc.weight], ["a"] * 9, set()
    assert len(list(net.parameters())) == 2 and list(net.state_dict()) == ["fc.weight", "fc.bias"]


def test_plain_tensors_and_buffers_are_no_parameters():
    names = {name for name, _ in Net().named_parameters()}
    assert not names & {"loose", "mean"}
    assert [name for name, _ in Net().named_buffers()] == ["mean"]


def test_a_shared_parameter_counts_once_and_its_gradient_is_the_sum():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    net = Tied()
    net.a.weight.data[...] = [[1, 2], [3, 4]]
    assert [name for name, _ in net.named_parameters()] == ["a.weight"]
    assert list(net.state_dict()) == ["a.weight", "b.weight"]
    net(gl.tensor([[1.0, 1.0]])).sum().backward()
    assert net.a.weight.grad.tolist() == [[7, 11], [9, 13]]


def test_recurse_false_gives_a_modules_own_parameters():
    assert [p.tolist() for p in Net().parameters(recurse=False)] == [[2.0]]


def test_modules_and_children_are_named_by_where_they_are():
    net = Net()
    assert [name for name, _ in net.named_modules()] == ["", "hidden", "hidden.0", "hidden.1", "table", "table.a", "deep"]
    assert [name for name, _ in net.named_children()] == ["hidden", "table", "deep"]
    assert list(net.children()) == [net.hidden, net.table, net.deep]
    assert next(net.modules()) is net


def test_names_can_begin_with_a_prefix():
    assert [name for name, _ in nn.Linear(1, 1).named_parameters("net")] == ["net.weight", "net.bias"]


def test_a_module_may_point_back_at_the_one_it_is_in():
    net = nn.Sequential(nn.Identity())
    net[0].owner = net
    assert len(list(net.modules())) == 2
    assert net.state_dict() == {} and "(owner): ..." in repr(net)
    assert not net.eval().training


def test_train_and_eval_reach_every_module():
    net = Net()
    net.eval()
    assert [m.training for m in net.modules()] == [False] * 7
    net.train()
    assert all(m.training for m in net.modules())


def test_apply_goes_from_the_inside_out():
    order = []
    net = nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh()))
    assert net.apply(order.append) is net
    assert order[-1] is net and order.index(net[1][0]) < order.index(net[1])


def test_zero_grad_forgets_gradients_or_fills_them_with_zeros():
    net = nn.Linear(1, 1)
    net(gl.ones(1, 1)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.weight.grad.tolist() == [[0]]
    net.zero_grad()
    assert net.weight.grad is None


def test_frozen_parameters_get_no_gradient():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[0].requires_grad_(False)
    net(gl.ones(1, 2)).sum().backward()
    assert net[0].weight.grad is None and net[1].weight.grad is not None


def test_to_converts_parameters_gradients_and_buffers():
    net = Net()
    net(gl.ones(1, 2)).sum().backward()
    assert net.to(gl.float64) is net
    assert {t.dtype for t in [*net.parameters(), *net.buffers(), net.scale.grad]} == {np.dtype("float64")}
    for wrong in (gl.int64, "words"):
        with pytest.raises(gl.DTypeError, match="float16, float32 or float64"):
            net.to(wrong)


@pytest.mark.parametrize(
    "value", [lambda: nn.Linear(1, 1), lambda: nn.Parameter([1.0]), lambda: nn.ModuleList([nn.ReLU()])], ids=["module", "parameter", "list"]
)
def test_a_forgotten_super_init_is_named(value):
    class Forgot(nn.Module):
        def __init__(self):
            self.part = value()

    with pytest.raises(AttributeError, match=r"Forgot: part was set before super\(\).__init__\(\)"):
        Forgot()


def test_a_parameter_cannot_be_replaced_by_a_tensor_but_by_another_or_none():
    net = Net()
    for wrong in (gl.tensor([1.0]), np.ones(1), 3.0):
        with pytest.raises(TypeError, match="is a Parameter"):
            net.scale = wrong
    net.scale = nn.Parameter([3.0])
    assert dict(net.named_parameters())["scale"].tolist() == [3]
    net.scale = None
    assert "scale" not in dict(net.named_parameters())
    del net.hidden
    assert [name for name, _ in net.named_modules()] == ["", "table", "table.a", "deep"]


def test_a_module_cannot_be_replaced_by_anything_but_another_a_parameter_or_none():
    net = Net()
    for wrong in (gl.tensor([1.0]), 3.0, lambda x: x, [nn.ReLU()]):
        with pytest.raises(TypeError, match="is a Module and can't become anything else"):
            net.hidden = wrong
    net.hidden = nn.ReLU()
    net.table = nn.Parameter([1.0])
    net.deep = None
    assert [name for name, _ in net.named_parameters()] == ["table", "scale"]


def test_a_missing_attribute_is_an_attribute_error_with_close_names():
    with pytest.raises(AttributeError, match="Linear has no attribute 'wieght'; did you mean weight"):
        _ = nn.Linear(1, 1).wieght
    assert not hasattr(Net(), "qqqqq")


def test_a_buffer_stays_a_tensor():
    net = Net()
    net.mean = gl.tensor([7.0])
    assert net.state_dict()["mean"].tolist() == [7]
    with pytest.raises(TypeError, match="is a buffer"):
        net.mean = 3.0
    with pytest.raises(KeyError, match="already has"):
        net.register_buffer("scale", gl.tensor([1.0]))
    with pytest.raises(TypeError, match="plain tensor"):
        net.register_buffer("other", nn.Parameter([1.0]))
    del net.mean
    assert list(net.buffers()) == []


def test_a_buffer_before_super_init_is_refused():
    class Forgot(nn.Module):
        def __init__(self):
            self.register_buffer("mask", gl.tensor([1.0]))

    with pytest.raises(AttributeError, match="__init__"):
        Forgot()


def test_a_module_without_forward_says_so():
    with pytest.raises(NotImplementedError, match="Module must define forward"):
        nn.Module()(1)


def test_the_tree_is_printed_as_pytorch_does():
    assert repr(nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU()))) == (
        "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n  (1): Sequential(\n    (0): ReLU()\n  )\n)"
    )
    assert "(hidden): ModuleList(\n    (0): Linear(" in repr(Net())

    class Head(nn.Sequential):
        def extra_repr(self):
            return "classes=10"

    assert repr(Head(nn.ReLU())) == "Head(\n  classes=10\n  (0): ReLU()\n)" and repr(Head()) == "Head(classes=10)"


def test_a_deep_copy_learns_alone():
    net = Net()
    other = copy.deepcopy(net)
    other.scale.data[...] = 9
    assert net.scale.tolist() == [2] and other.hidden[0].weight is not net.hidden[0].weight


class Seen:
    def __init__(self):
        self.events = []

    def begin(self, kind, target, inputs):
        if kind == "module":
            self.events.append(("begin", target, inputs))
        return kind, target

    def end(self, token, output, error):
        if token[0] == "module":
            self.events.append(("end", token[1], output if error is None else error))


@pytest.fixture
def seen():
    observer = Seen()
    observe.attach(observer)
    yield observer
    observe.detach(observer)


def test_a_call_is_an_event_with_arguments_and_result(seen):
    net = nn.Sequential(nn.ReLU())
    x = gl.tensor([-1.0, 1.0])
    y = net(x)
    assert [(what, target) for what, target, _ in seen.events] == [("begin", net), ("begin", net[0]), ("end", net[0]), ("end", net)]
    assert seen.events[0][2] == (x,) and seen.events[-1][2] is y


def test_an_error_in_forward_reaches_the_observer_and_the_caller(seen):
    with pytest.raises(gl.ShapeError):
        nn.Linear(3, 2)(gl.ones(1, 2))
    assert isinstance(seen.events[-1][2], ValueError)


def test_keyword_arguments_reach_forward_with_and_without_an_observer(seen):
    class Scale(nn.Module):
        def forward(self, x, *, by):
            return x * by

    assert Scale()(gl.tensor([2.0]), by=3).tolist() == [6]
    observe.detach(seen)
    assert Scale()(gl.tensor([2.0]), by=3).tolist() == [6]


def test_nothing_of_a_call_outlives_it():
    gc.collect()
    gc.disable()
    try:
        net = Net()
        h = net(gl.ones(1, 2))
        h.sum().backward()
        result, module = weakref.ref(h), weakref.ref(net)
        del h, net
        assert result() is None and module() is None
    finally:
        gc.enable()


def test_a_module_reached_by_many_paths_is_looked_into_once():
    net = nn.Linear(1, 1)
    for _ in range(60):  # 2^60 paths: only a walk that passes what it has seen comes to an end
        net = nn.Sequential(net, net)
    assert [name for name, _ in net.named_parameters()] == [".".join("0" * 60) + ".weight", ".".join("0" * 60) + ".bias"]
    assert len(list(net.modules())) == 61 and not any(m.training for m in net.eval().modules())
    net.requires_grad_(False).zero_grad()
    assert not any(p.requires_grad for p in net.to(gl.float64).parameters()) and list(net.buffers()) == []
    assert net.apply(lambda module: None) is net and [name for name, _ in net.named_children()] == ["0"]


def test_a_module_thousands_deep_is_walked():
    net = nn.Linear(1, 1)
    for _ in range(3000):
        net = nn.Sequential(net)
    assert len(list(net.parameters())) == 2 and len(net.state_dict()) == 2


def test_plain_containers_may_hold_themselves_and_one_another():
    node, ring = {"layer": nn.Linear(1, 1, bias=False)}, [nn.Linear(1, 1, bias=False)]
    node["parent"] = node
    ring.append([ring, node])
    node["ring"] = ring
    net = nn.Module()
    net.node, net.ring, net.pair = node, ring, (node, node)
    with pytest.raises(gl.RegistrationError, match=r"(?s)node\.layer\.weight.*node\.ring\.0\.weight"):
        net.parameters()


def test_plain_containers_linked_in_a_long_row_or_shared_many_times_are_walked():
    row, shared = None, [nn.Linear(1, 1, bias=False)]
    for _ in range(5000):
        row = {"next": row}
    for _ in range(60):
        shared = [shared, shared]
    net = nn.Module()
    net.row, net.shared = row, shared
    with pytest.raises(gl.RegistrationError):
        net.parameters()


def test_a_shared_list_gives_its_parts_every_name_in_the_state():
    net = nn.Module()
    net.a = net.b = nn.ModuleList([nn.Linear(1, 1, bias=False)])
    assert list(net.state_dict()) == ["a.0.weight", "b.0.weight"]
    assert [name for name, _ in net.named_parameters()] == ["a.0.weight"]
    assert [name for name, _ in net.named_parameters(remove_duplicate=False)] == ["a.0.weight", "b.0.weight"]


@pytest.mark.parametrize("name", ["forward", "train", "parameters", "state_dict", "to", "__call__"])
@pytest.mark.parametrize(
    "value", [lambda: nn.Linear(1, 1), lambda: nn.Parameter([1.0]), list, lambda: 3], ids=["module", "parameter", "list", "int"]
)
def test_a_method_cannot_be_overwritten_by_a_part_of_the_model(name, value):
    net = nn.Module()
    with pytest.raises(gl.errors.ArgumentError, match=f"Module.{name} is a method"):
        setattr(net, name, value())
    assert name not in vars(net)


def test_a_method_of_your_own_is_not_hidden_by_a_module_but_a_function_may_replace_one():
    class Coder(nn.Module):
        layer = nn.Identity()

        def encode(self, x):
            return x

    net = Coder()
    with pytest.raises(gl.errors.ArgumentError, match=r"Coder.encode is a method"):
        net.encode = nn.Identity()
    net.layer = nn.ReLU()  # a class attribute is only a default
    net.forward = lambda x: x + 1
    assert net(1) == 2 and list(net.children()) == [net.layer]


def test_a_property_that_fails_says_why():
    class Net(nn.Module):
        @property
        def width(self):
            return self.layers[0].wieght

        @property
        def size(self):
            return self.width

        @property
        def odd(self):
            raise AttributeError("the real reason")

    net = Net()
    with pytest.raises(AttributeError, match="Net has no attribute 'layers'"):
        _ = net.size
    net.layers = nn.ModuleList([nn.Linear(1, 1)])
    for name in ("width", "size"):
        with pytest.raises(AttributeError, match="Linear has no attribute 'wieght'; did you mean weight"):
            getattr(net, name)
    with pytest.raises(AttributeError, match=r"^the real reason$"):
        _ = net.odd


def test_frozen_integers_cannot_be_unfrozen():
    net = nn.Module()
    net.ids = nn.Parameter(np.array([1, 2]), requires_grad=False)
    with pytest.raises(gl.DTypeError):
        net.requires_grad_()
    assert not net.requires_grad_(False).ids.requires_grad


def test_ordinary_attributes_do_not_come_to_the_search_for_close_names(monkeypatch):
    net, x = Net(), gl.ones(1, 2)

    def search(self, name):
        raise AssertionError(f"{name} was not found at once")

    monkeypatch.setattr(nn.Module, "__getattr__", search)
    net(x).sum().backward()
    net.eval().zero_grad()
    assert net.hidden[0].weight.grad is None and net.state_dict()
