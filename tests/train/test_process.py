"""A real process that is interrupted as Ctrl-C does, and one that is killed: another process goes on, to the last bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gradlab as gl

from .test_resume import same

SCRIPT = """
import sys
import gradlab as gl
from gradlab import data, nn

folder, resume, slow = sys.argv[1:]
gl.manual_seed(0)
x = gl.randn(96, 4)
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3))
optimizer = gl.optim.AdamW(model.parameters(), lr=0.01)
schedule = gl.optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=36)


class Slow(gl.Callback):
    def on_step_end(self, trainer):
        if slow == "slow":
            print(trainer.step, flush=True)
            sys.stdin.readline()


trainer = gl.Trainer(
    model,
    optimizer,
    nn.CrossEntropyLoss(),
    scheduler=schedule,
    callbacks=[Slow(), gl.EarlyStopping("val_loss", patience=9), gl.Checkpoint(folder, every=1)],
    progress=False,
)
loader = data.DataLoader((x, (x.sum(1) > 0).to(gl.int64)), 8, shuffle=True)
trainer.fit(loader, loader, epochs=3, resume=folder if resume == "resume" else False)
"""


def started(folder: Path, *how: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder), *how], stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_another_process_goes_on(tmp_path, sign):
    whole = started(tmp_path / "whole", "new", "fast")
    stopped = started(tmp_path / "stopped", "new", "slow")
    assert stopped.stdin is not None and stopped.stdout is not None
    while (line := stopped.stdout.readline().strip()) != "17":
        assert line.isdigit(), stopped.communicate()[1]
        stopped.stdin.write("\n")
        stopped.stdin.flush()
    os.kill(stopped.pid, sign)  # in the callback, which it waits in
    if sign == signal.SIGINT:
        time.sleep(0.2)
    _, error = stopped.communicate("\n")
    assert stopped.returncode != 0
    if sign == signal.SIGINT:
        assert "KeyboardInterrupt: training stopped after step 17, in epoch 2 of 3; the model is whole and saved in" in error
    again = started(tmp_path / "stopped", "resume", "fast")
    for process in (whole, again):
        _, error = process.communicate()
        assert process.returncode == 0, error
    same(gl.load(tmp_path / "stopped/last.safetensors"), gl.load(tmp_path / "whole/last.safetensors"))
