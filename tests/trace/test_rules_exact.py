"""Exact and structural rules: each fires on three faults, in other nets, with other optimizers and sizes, within its patience."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn
from gradlab.function import Function
from gradlab.nn import functional as F
from gradlab.trace import check_batch, diagnose, recording
from gradlab.trace.rules import Finding

from .planted import CNN, LSTM, MLP, OPTIMIZERS, Made, attention, cnn, findings, lstm, mlp, train

Loss = Callable[[gl.Tensor, gl.Tensor], gl.Tensor]


def trained(made: Made, optimizer: str, loss: Loss, steps: int) -> Callable[[], None]:
    def run() -> None:
        model, draw = made
        moves = OPTIMIZERS[optimizer](model.parameters())
        for _ in range(steps):
            x, y = draw()
            value = loss(model(x), y)
            moves.zero_grad()
            value.backward()
            moves.step()

    return run


def only(found: list[Finding]) -> Finding:
    assert len(found) == 1, [str(finding) for finding in found]
    return found[0]


# R7


class Idle(MLP):
    """A layer that forward never calls."""

    def __init__(self) -> None:
        super().__init__((16, 20, 5))
        self.never = nn.Linear(20, 20)


class Cut(LSTM):
    """The input's weights are cut off from the loss."""

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        h = (self.x(x[:, 0]).detach() + self.h(gl.zeros(x.shape[0], self.hidden)))[:, : self.hidden]
        return self.head(h.tanh())


def test_r7_a_layer_that_is_never_called() -> None:
    finding = only(findings(lambda: train((Idle(), mlp()[1]), "adamw", 3), "R7"))
    assert finding.title == "2 parameters without a gradient"
    assert "`never.weight` and `never.bias`" in finding.verdict
    assert "never called" in finding.why


def test_r7_a_way_that_is_cut() -> None:
    finding = only(findings(lambda: train((Cut(), lstm()[1]), "sgd", 3), "R7"))
    assert "`x.weight` and `x.bias`" in finding.verdict
    assert "no way leads from there to the loss" in finding.why


def test_r7_parameters_in_no_optimizer() -> None:
    model, draw = cnn()
    finding = only(findings(lambda: train((model, draw), gl.optim.Adam(model.head.parameters(), lr=1e-3), 4), "R7"))
    assert finding.title == "2 parameters in no optimizer"
    assert finding.parameter == "k1"


def test_r7_an_optimizer_of_an_older_model() -> None:
    old, _ = mlp()
    optimizer = gl.optim.SGD(old.parameters(), lr=0.1)

    def run() -> None:
        train((old, mlp()[1]), optimizer, 3)
        train(mlp(), optimizer, 4)

    finding = only(findings(run, "R7"))
    assert (finding.title, finding.severity) == ("The optimizer holds another model", "error")


def test_r7_is_silent_where_layers_are_frozen_or_two_optimizers_take_turns() -> None:
    model, draw = mlp()
    model.fc1.weight.requires_grad = model.fc1.bias.requires_grad = False
    assert findings(lambda: train((model, draw), "adamw", 5), "R7") == []
    first, second = gl.nn.Linear(3, 4), gl.nn.Linear(4, 1)
    one, two = gl.optim.SGD(first.parameters(), lr=0.1), gl.optim.SGD(second.parameters(), lr=0.1)

    def turns() -> None:
        for _ in range(6):
            for optimizer in (one, two):
                loss = second(first(gl.randn(5, 3)).tanh()).mean()
                one.zero_grad()
                two.zero_grad()
                loss.backward()
                optimizer.step()

    assert findings(turns, "R7") == []


# R8


@pytest.mark.parametrize(("made", "optimizer"), [(mlp, "sgd"), (cnn, "adamw"), (attention, "adam")])
def test_r8_gradients_that_are_never_reset(made: Callable[[], Made], optimizer: str) -> None:
    model, draw = made()
    moves = OPTIMIZERS[optimizer](model.parameters())

    def run() -> None:
        for _ in range(3):
            x, y = draw()
            F.cross_entropy(model(x), y).backward()
            moves.step()

    finding = only(findings(run, "R8"))
    assert finding.verdict.startswith("**2** steps in a row, `backward()` added")
    assert finding.code.startswith("optimizer.zero_grad()\n")
    assert "holds 3 contributions" in finding.why or "contributions" in finding.why


@pytest.mark.parametrize("to_none", [True, False])
def test_r8_is_silent_where_gradients_are_reset_or_accumulated(to_none: bool) -> None:
    model, draw = mlp()
    moves = gl.optim.SGD(model.parameters(), lr=0.1)

    def run() -> None:
        for _ in range(5):
            moves.zero_grad(set_to_none=to_none)
            for _ in range(3):
                x, y = draw()
                F.cross_entropy(model(x), y).backward()
            moves.step()

    assert findings(run, "R8") == []


BY_HAND = {
    "a model": (
        "net = nn.Linear(3, 2)\nx = gl.randn(5, 3)\nparameters = list(net.parameters())\nforward = lambda: net(x).pow(2).mean()",
        "net.zero_grad()\nloss.backward()",
    ),
    "a tensor": (
        "w = gl.tensor([1.0, 2.0], requires_grad=True)\nparameters = [w]\nforward = lambda: w.exp().sum()",
        "w.grad = None\nloss.backward()",
    ),
    "two tensors": (
        "w = gl.tensor([1.0, 2.0], requires_grad=True)\nb = gl.tensor(3.0, requires_grad=True)\n"
        "parameters = [w, b]\nforward = lambda: (w * w).sum() * b",
        "for p in (w, b):\n    p.grad = None\nloss.backward()",
    ),
}


@pytest.mark.parametrize(("made", "fix"), BY_HAND.values(), ids=BY_HAND)
def test_r8_without_an_optimizer_the_lines_to_paste_run_and_reset(notebook, made: str, fix: str) -> None:
    notebook.run(made)
    step = "loss = forward()\nloss.backward()\nwith gl.no_grad():\n    for p in parameters:\n        p -= 0.01 * p.grad"
    notebook.run(f"for _ in range(4):\n    {step.replace(chr(10), chr(10) + '    ')}")
    finding = only([one for one in diagnose(notebook.recorder) if one.rule == "R8"])
    assert finding.code == fix
    parameters = notebook.namespace["parameters"]
    notebook.run("for p in parameters: p.grad = None\nforward().backward()")
    alone = [np.array(p.grad.data) for p in parameters]
    notebook.run("loss = forward()")
    notebook.run(finding.code)
    for p, gradient in zip(parameters, alone, strict=True):
        np.testing.assert_allclose(p.grad.data, gradient, rtol=1e-6)


def test_r8_of_what_has_no_name_the_lines_to_paste_are_a_comment() -> None:
    tensors = [gl.tensor([1.0, 2.0], requires_grad=True)]

    def run() -> None:
        for _ in range(4):
            tensors[0].exp().sum().backward()
            tensors[0].data -= 0.01 * tensors[0].grad.data

    assert only(findings(run, "R8")).code == "# p.grad = None for each parameter p, and then\nloss.backward()"


# R9


@pytest.mark.parametrize(
    ("made", "optimizer", "loss", "title"),
    [
        (mlp, "sgd", lambda y, t: F.cross_entropy(y.softmax(1), t), "Softmax twice"),
        (lstm, "adamw", lambda y, t: F.cross_entropy(F.softmax(y, -1).reshape(-1, 3), t), "Softmax twice"),
        (cnn, "adam", lambda y, t: F.binary_cross_entropy_with_logits(y[:, 0].sigmoid(), (t > 1).float()), "Sigmoid before"),
        (attention, "sgd", lambda y, t: F.nll_loss(y, t), "The log_softmax is missing"),
    ],
)
def test_r9_a_softmax_too_many_or_too_few(made: Callable[[], Made], optimizer: str, loss: Loss, title: str) -> None:
    finding = only(findings(trained(made(), optimizer, loss, 1), "R9"))
    assert finding.title.startswith(title)
    assert finding.severity == "error"


def test_r9_says_where_the_loss_has_its_floor() -> None:
    finding = only(findings(trained(mlp(), "sgd", lambda y, t: F.cross_entropy(y.softmax(1), t), 2), "R9"))
    assert finding.numbers[0].value == pytest.approx(np.log(1 + 4 / np.e))


def test_r9_compares_the_floor_with_its_own_part_of_the_loss() -> None:
    model, draw = mlp()
    parts, totals = [], []

    def loss(y: gl.Tensor, t: gl.Tensor) -> gl.Tensor:
        part = F.cross_entropy(y.softmax(1), t)
        total = part + 0.5 * model.fc1.weight.pow(2).sum()
        parts.append(part.item())
        totals.append(total.item())
        return total

    finding = only(findings(trained((model, draw), "sgd", loss, 12), "R9"))
    numbers = {number.name: number.value for number in finding.numbers}
    assert numbers == {"floor of cross_entropy": pytest.approx(np.log(1 + 4 / np.e)), "cross_entropy": pytest.approx(parts[-1], rel=1e-5)}
    assert abs(totals[-1] - parts[-1]) > 0.1 and "its part of the loss can't fall below" in finding.verdict
    assert finding.trend is not None and finding.trend.label == "cross_entropy"
    assert finding.trend.steps == tuple(range(1, 13)) and finding.trend.values == pytest.approx(parts, rel=1e-5)


def test_r9_of_a_loss_for_each_sample_says_no_number_that_is_another() -> None:
    finding = only(findings(trained(mlp(), "sgd", lambda y, t: F.cross_entropy(y.softmax(1), t, reduction="none").mean(), 3), "R9"))
    assert [number.name for number in finding.numbers] == ["floor of cross_entropy"] and finding.trend is None


def test_r9_is_silent_where_log_softmax_feeds_nll_loss() -> None:
    assert findings(trained(mlp(), "adamw", lambda y, t: F.nll_loss(y.log_softmax(1), t), 2), "R9") == []


# R12


class Dropping(MLP):
    def __init__(self, sizes: tuple[int, ...] = (16, 32, 24, 5)) -> None:
        super().__init__(sizes)
        self.drop = nn.Dropout(0.2)

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        return super().forward(self.drop(self.fc1(x).relu()[:, :16]))


@pytest.mark.parametrize(("optimizer", "batch"), [("sgd", 32), ("adamw", 7), ("adam", 64)])
def test_r12_dropout_under_no_grad(optimizer: str, batch: int) -> None:
    model, (_, draw) = Dropping(), mlp(batch)

    def run() -> None:
        train((model, draw), optimizer, 3)
        with gl.no_grad():
            model(draw()[0])

    finding = only(findings(run, "R12"))
    assert finding.title == "dropout in training mode under no_grad"


@pytest.mark.parametrize(("optimizer", "batch"), [("sgd", 9), ("adamw", 32), ("adam", 16)])
def test_r12_training_in_eval_mode(optimizer: str, batch: int) -> None:
    model = Dropping()
    model.eval()
    finding = only(findings(lambda: train((model, mlp(batch)[1]), optimizer, 2), "R12"))
    assert finding.title == "Training in eval mode"


def test_r12_is_silent_where_the_mode_is_switched() -> None:
    model, (_, draw) = Dropping(), mlp()

    def run() -> None:
        for _ in range(3):
            model.train()
            train((model, draw), "adamw", 3)
            model.eval()
            with gl.no_grad():
                model(draw()[0])

    assert findings(run, "R12") == []


# R13


def regression(batch: int, width: int) -> tuple[nn.Module, gl.Tensor, gl.Tensor]:
    return MLP((width, 12, 1)), gl.randn(batch, width), gl.randn(batch)


@pytest.mark.parametrize(
    ("batch", "width", "optimizer", "loss"),
    [
        (64, 3, "sgd", lambda y, t: ((y - t) ** 2).mean()),
        (10, 8, "adamw", lambda y, t: (t - y).abs().sum() / 10),
        (33, 5, "adam", lambda y, t: ((y * 2.0 - t).square().sum() + 1e-9).sqrt()),
    ],
)
def test_r13_a_silent_broadcast_at_its_first_step(batch: int, width: int, optimizer: str, loss: Loss) -> None:
    model, x, t = regression(batch, width)
    finding = only(findings(lambda: trained((model, lambda: (x, t)), optimizer, loss, 1)(), "R13"))
    assert finding.severity == "error"
    assert f"**{batch * batch:,}** entries" in finding.verdict
    assert finding.op is not None


def test_r13_is_caught_before_any_backward() -> None:
    model, x, t = regression(20, 4)
    assert only(findings(lambda: ((model(x) - t) ** 2).mean(), "R13")).severity == "error"


def test_r13_is_silent_on_tables_that_are_meant() -> None:
    def tables() -> None:
        x, t = gl.randn(9, 4, requires_grad=True), gl.randn(9)
        ((x[:, None, :] - x[None, :, :]) ** 2).mean()  # distances of all pairs
        (gl.arange(9).reshape(9, 1) * gl.randn(4)).sin().mean()  # places times frequencies
        ((x.sum(1) - t) ** 2).mean()
        (x - x.mean(1, keepdim=True)).mean()

    assert findings(tables, "R13") == []


# R18 and R19


@pytest.mark.parametrize(
    ("made", "scale", "shift", "severity"),
    [(mlp, 60.0, 100.0, "info"), (cnn, 0.1, 5.0, "info"), (lstm, 30.0, 0.0, "info")],
)
def test_r18_an_input_that_is_not_scaled(made: Callable[[], Made], scale: float, shift: float, severity: str) -> None:
    model, draw = made()

    def raw() -> tuple[gl.Tensor, gl.Tensor]:
        x, y = draw()
        return gl.tensor(x.data * np.float32(scale) + np.float32(shift)), y

    net = Flat(nn.Linear(35, 3)) if isinstance(model, LSTM) else model
    assert only(findings(lambda: train((net, raw), "adamw", 1), "R18")).severity == severity


class Flat(nn.Module):
    def __init__(self, head: nn.Module) -> None:
        super().__init__()
        self.head = head

    def forward(self, x: gl.Tensor) -> gl.Tensor:
        return self.head(x.reshape(x.shape[0], -1))


@pytest.mark.parametrize(("counts", "batch"), [((180, 5, 5, 5, 5), 50), ((90, 90, 2, 2, 2), 31), ((300, 0, 0, 0, 0), 100)])
def test_r19_labels_of_few_classes(counts: tuple[int, ...], batch: int) -> None:
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(5), counts))
    model, draw = mlp(batch)

    def skewed() -> tuple[gl.Tensor, gl.Tensor]:
        return draw()[0], gl.tensor(rng.choice(labels, batch))

    finding = only(findings(lambda: train((model, skewed), "adamw", 100 // batch + 2), "R19"))
    assert finding.severity == "info"


# R20


@pytest.mark.parametrize(
    ("layers", "optimizer"),
    [
        (lambda: nn.Sequential(nn.Linear(16, 40), nn.Linear(40, 5)), "sgd"),
        (lambda: nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.1), nn.Linear(16, 30), nn.ReLU(), nn.Linear(30, 5)), "adamw"),
        (lambda: nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 32), nn.Identity(), nn.Linear(32, 5)), "adam"),
    ],
)
def test_r20_layers_with_no_activation_between(layers: Callable[[], nn.Module], optimizer: str) -> None:
    finding = only(findings(lambda: train((layers(), mlp()[1]), optimizer, 1), "R20"))
    assert finding.title == "Two layers with no activation between"


def test_r20_scores_that_are_bent_and_much_dropout() -> None:
    bent = nn.Sequential(nn.Linear(16, 5), nn.ReLU())
    assert only(findings(lambda: train((bent, mlp()[1]), "sgd", 1), "R20")).title == "Relu after the last layer"
    wet = nn.Sequential(nn.Linear(16, 9), nn.ReLU(), nn.Dropout(0.8), nn.Linear(9, 5))
    assert only(findings(lambda: train((wet, mlp()[1]), "sgd", 1), "R20")).severity == "info"


def test_r20_is_silent_on_a_bottleneck() -> None:
    narrow = nn.Sequential(nn.Linear(16, 3), nn.Linear(3, 20), nn.ReLU(), nn.Linear(20, 5))
    assert findings(lambda: train((narrow, mlp()[1]), "sgd", 1), "R20") == []


# R22


@pytest.mark.parametrize(
    ("mixes", "shape"),
    [
        (lambda x: (x - x.mean(0)) * 2.0, (4, 3)),
        (lambda x: x.reshape(-1, 2, 6).transpose(0, 1).reshape(x.shape[0], -1), (4, 6)),
        (lambda x: (x @ x.transpose(0, 1)).softmax(-1) @ x, (8, 5)),
    ],
)
def test_r22_samples_that_are_mixed(mixes: Callable[[gl.Tensor], gl.Tensor], shape: tuple[int, ...]) -> None:
    finding = check_batch(mixes, gl.randn(*shape))
    assert finding is not None
    assert finding.rule == "R22"


def test_r22_is_silent_on_nets_that_keep_samples_apart_and_changes_nothing() -> None:
    for model, (_, draw) in ((MLP(), mlp()), (CNN(), cnn()), (LSTM(), lstm())):
        before, drawn = [p.data.copy() for p in model.parameters()], gl.get_rng_state()
        assert check_batch(model, draw()[0]) is None
        assert all(np.array_equal(a, p.data) for a, p in zip(before, model.parameters(), strict=True))
        assert all(p.grad is None for p in model.parameters())
        assert gl.get_rng_state() == drawn


# R24


class Cube(Function):
    """y = x^3, with the gradient of x^2."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.x = x
        return x**3

    def backward(self, g: np.ndarray) -> np.ndarray:
        return g * 2 * self.x


class Swapped(Function):
    """y = a b, with the gradients of the other one."""

    def forward(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        self.a, self.b = a, b
        return a * b

    def backward(self, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return g * self.a, g * self.b


class Halved(Function):
    """y = softplus(x), with half its gradient."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.x = x
        return np.log1p(np.exp(x))

    def backward(self, g: np.ndarray) -> np.ndarray:
        return g * 0.5 / (1 + np.exp(-self.x))


class Right(Function):
    """y = x e^x."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        self.x = x
        return x * np.exp(x)

    def backward(self, g: np.ndarray) -> np.ndarray:
        return g * (1 + self.x) * np.exp(self.x)


@pytest.mark.parametrize(("op", "inputs", "shape"), [(Cube, 1, (4, 3)), (Swapped, 2, (7,)), (Halved, 1, (2, 3, 4))])
def test_r24_an_own_op_with_a_wrong_gradient(op: type[Function], inputs: int, shape: tuple[int, ...]) -> None:
    w = gl.randn(*shape, requires_grad=True)
    finding = only(findings(lambda: op.apply(*(w * (k + 1.5) for k in range(inputs))).sum().backward(), "R24"))
    assert finding.title == f"{op.__name__}: the gradient is wrong"
    assert finding.numbers[0].value > 1e-2


def test_r24_is_silent_on_a_right_one_and_draws_no_random_number() -> None:
    w = gl.randn(5, requires_grad=True)
    with recording() as recorder:
        Right.apply(w).sum().backward()
        state = gl.get_rng_state()
        assert [finding for finding in diagnose(recorder) if finding.rule == "R24"] == []
        assert gl.get_rng_state() == state
    assert list(recorder.steps.symptoms.checked.values())[0] < 1e-7  # noqa: RUF015


# R26


@pytest.mark.parametrize(("made", "optimizer", "retain"), [(mlp, "sgd", False), (cnn, "adamw", True), (attention, "adam", False)])
def test_r26_losses_that_are_kept(made: Callable[[], Made], optimizer: str, retain: bool) -> None:
    model, draw = made()
    moves, losses = OPTIMIZERS[optimizer](model.parameters()), []
    with recording(lambda: {id(losses): "losses"}) as recorder:
        for _ in range(6):
            x, y = draw()
            loss = F.cross_entropy(model(x), y)
            losses.append(loss)
            moves.zero_grad()
            loss.backward(retain_graph=retain)
            moves.step()
    finding = only([finding for finding in diagnose(recorder) if finding.rule == "R26"])
    assert finding.severity == ("warning" if retain else "info")
    assert finding.verdict.startswith("`losses` keeps the losses of")


# R27


@pytest.mark.parametrize(
    ("optimizer", "title"),
    [
        (lambda ps: gl.optim.Adam(ps, lr=1e-3, weight_decay=0.01), "Adam's decay is not decoupled"),
        (lambda ps: gl.optim.AdamW(ps, lr=1e-3, weight_decay=0.1), "Decay on biases and scales"),
        (lambda ps: gl.optim.SGD(ps, lr=1e-2, weight_decay=0.05), "Decay on biases and scales"),
    ],
)
def test_r27_decay_where_it_does_harm(optimizer: Callable[..., gl.optim.Optimizer], title: str) -> None:
    model, draw = mlp()
    finding = only(findings(lambda: train((model, draw), optimizer(model.parameters()), 2), "R27"))
    assert (finding.title, finding.severity) == (title, "info")


def test_r27_a_bias_that_a_batch_normalisation_takes_away() -> None:
    class Normed(MLP):
        def forward(self, x: gl.Tensor) -> gl.Tensor:
            h = gl.batch_norm(self.fc1(x), None, None, training=True)
            return self.fc2(h.relu())

    finding = only(findings(lambda: train((Normed((16, 32, 5)), mlp()[1]), "adamw", 2), "R27"))
    assert finding.parameter == "fc1.bias"
