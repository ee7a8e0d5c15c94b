"""A loss or gradient that is not finite stops training: with the op, the step and the line, and nothing is spoilt."""

from __future__ import annotations

import numpy as np
import pytest

import gradlab as gl
from gradlab import nn, observe
from gradlab.trace import diagnose, recording

from .test_resume import same
from .trainings import loader, net, points, trainer_of


class Bad(nn.Module):
    """Goes wrong in its `at`-th training step."""

    def __init__(self, at: int, how: str) -> None:
        super().__init__()
        self.inner, self.at, self.how, self.steps = net(), at, how, 0
        self.head = nn.Identity()

    def forward(self, x):
        y = self.inner(x)
        if not self.training:
            return y
        if self.how == "log":
            return y + (x[:, :1] * self.weight_of(x)).abs().log() * 0
        if self.how == "sqrt":
            return y + ((y * y).sum() * self.weight_of(x)).sqrt() * 0.1
        if self.how == "exp":
            return y + (y * 0 + (1 - self.weight_of(x)) * 1e3).exp()
        return y * (1 / self.weight_of(x))

    def weight_of(self, x):
        """0 in a batch whose first point is marked, else 1."""
        return float(x.data[0, 0] < 50)


def marked(at: int) -> list:
    """Batches of which the `at`-th begins with a large number."""
    batches = [(gl.tensor(x.data.copy()), y) for x, y in loader(48)]
    batches[at][0].data[0, 0] = 100.0
    return batches


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("log", "loss of step 4 is NaN.*made by +Log in Bad, forward\n  it made +inf.*0 to 0.*return y \\+ .*log"),
        ("sqrt", "gradient of step 4 is .*made by +Sqrt in Bad, backward\n  it made +a gradient with inf.*shape \\(\\), -?0 to -?0"),
        ("exp", "loss of step 4 is (NaN|Inf).*made by +Exp in Bad, forward.*1000 to 1000"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_op_the_step_and_the_line_are_named(how, text, tmp_path):
    gl.manual_seed(0)
    model = Bad(3, how)
    trainer = trainer_of(model, callbacks=gl.Checkpoint(tmp_path))
    with pytest.raises(gl.AnomalyError, match=f"(?s){text}"):
        trainer.fit(marked(3), epochs=2)
    assert trainer.step == 3
    saved = gl.load(tmp_path / "last.safetensors")
    assert saved["step"] == 3 and saved["position"]["train"]["batches"] == 3


@pytest.mark.parametrize("options", [{}, {"clip_norm": 1.0}, {"accumulate": 3}], ids=["plain", "clipped", "accumulated"])
@pytest.mark.parametrize("how", ["log", "sqrt"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_step_leaves_no_trace_and_training_can_go_on_without_it(how, options):
    batches = marked(3)
    gl.manual_seed(0)
    stopped = trainer_of(Bad(3, how), **options)
    with pytest.raises(gl.AnomalyError):
        stopped.fit(batches, epochs=1)
    gl.manual_seed(0)
    short = trainer_of(Bad(3, how), **options)
    short.fit(batches[:3], epochs=1)
    same(stopped.model.state_dict(), short.model.state_dict())
    same(stopped.optimizer.state_dict(), short.optimizer.state_dict())
    assert all(p.grad is None for p in stopped.model.parameters())
    repaired = [*batches[:3], (batches[2][0], batches[2][1]), *batches[4:]]
    stopped.fit(repaired, epochs=1, resume=True)
    assert stopped.history["epoch"] == [1] and np.isfinite(stopped.history["loss"]).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_tracer_hears_the_bad_step_once_and_its_finding_names_the_same_op():
    gl.manual_seed(0)
    trainer = trainer_of(Bad(3, "log"))
    with recording() as recorder, pytest.raises(gl.AnomalyError, match=r"made by +Log"):
        trainer.fit(marked(3), epochs=1)
    (finding,) = [one for one in diagnose(recorder) if one.rule == "R1"]
    assert finding.title.startswith("log made the first")
    assert recorder.step == 3
    assert observe.current is None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_parameter_that_is_not_finite_is_named():
    trainer = trainer_of()
    trainer.model[4].weight.data[1, 1] = np.nan
    with pytest.raises(
        gl.AnomalyError,
        match=r"(?s)step 1 is NaN.*made by +.* in 4, forward.*parameter 4\.weight shape .*because +parameter 4\.weight was not finite",
    ):
        trainer.fit(loader())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_data_that_are_not_finite_are_named():
    x, y = points(8)
    x.data[3, 1] = np.inf
    with pytest.raises(gl.AnomalyError, match=r"(?s)step 1 is (NaN|Inf).*because +the input was not finite"):
        trainer_of(nn.Sequential(nn.Linear(2, 3))).fit([(x, y)])


def test_a_fault_that_does_not_come_again_says_where_to_look():
    class Once(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.calls = net(), 0

        def forward(self, x):
            self.calls += 1
            return self.inner(x) * (float("nan") if self.calls == 3 else 1.0)

    with pytest.raises(gl.AnomalyError, match=r"not found: the same batch was finite when it ran again; gl.autograd.detect_anomaly"):
        trainer_of(Once()).fit(loader())


def test_squares_that_overflow_are_no_fault():
    x, y = points(8)
    model = nn.Linear(2, 3)
    trainer = gl.Trainer(model, gl.optim.SGD(model.parameters(), lr=1e-30), lambda o, t: (o * 1e25).sum(), progress=False)
    trainer.fit([(x, y)])
    assert trainer.step == 1 and np.isfinite(model.weight.data).all()


def test_gradients_whose_squares_overflow_are_cut_to_the_length_given():
    x, y = points(8)
    gradients = []

    class Look(gl.Callback):
        def on_step_end(self, trainer):
            gradients.append(np.concatenate([p.grad.data.ravel() for p in trainer.model.parameters()]))

    for scale in (1.0, 1e25):
        model = nn.Linear(2, 3)
        optimizer = gl.optim.SGD(model.parameters(), lr=0.1)
        trainer = gl.Trainer(model, optimizer, lambda o, t, scale=scale: (o * scale).sum(), clip_norm=0.5, callbacks=Look(), progress=False)
        trainer.fit([(x, y)])
    assert np.linalg.norm(gradients[1]) == pytest.approx(0.5, rel=1e-5)
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-5)
