"""What recording costs in the kernel, without a page: `python -m benchmarks.recording`.

The tracer's cost while training is `python -m benchmarks -w mlp8,digits,tiny -p gradlab,gradlab+structure,gradlab+norms`. Here is
what comes on top for somebody who looks: messages and memory, at 10 to 10,000 ops, 1,000 parameters and 10,000 steps; and what one
op costs with nobody watching. Times are CPU times, the best of some.
"""

from __future__ import annotations

import timeit
import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import Any

import gradlab as gl
from gradlab import observe
from gradlab.notebook import protocol
from gradlab.notebook.stream import Stream
from gradlab.trace import Recorder, recording

ROUNDS = 5


def chain(ops: int, parameters: int) -> Callable[[], None]:
    """A training step of so many ops, `parameters` of which read a parameter of their own."""
    weights = [gl.nn.Parameter(gl.rand(4) + 0.5) for _ in range(parameters)]
    optimizer = gl.optim.SGD(weights, lr=1e-6)
    every = max(1, ops // parameters)
    x = gl.ones(4)

    def step() -> None:
        y = x
        for i in range(ops - 1):
            y = y * weights[i // every] if i % every == 0 and i // every < parameters else y.tanh()
        loss = y.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def best(call: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Milliseconds of CPU time."""
    times = []
    for _ in range(rounds):
        began = process_time()
        call()
        times.append(process_time() - began)
    return 1e3 * min(times)


def size(message: protocol.Message) -> int:
    """Bytes on the wire, nearly."""
    import json

    return len(json.dumps(message.content)) + sum(map(len, message.buffers))


def messages(ops: int, parameters: int) -> dict[str, float]:
    """What a page is sent of a step of so many ops: the first time, and for each step after."""
    sent: list[protocol.Message] = []
    step = chain(ops, parameters)
    with recording() as recorder:
        recorder.frame_interval = 0.0
        stream = Stream(recorder, sent.append)
        for _ in range(3):
            step()
        hello = best(lambda: stream.hello("a", True, "idle", 1), 3)
        first = sum(size(m) for m in sent[-4:] if m.content["kind"] in ("structure", "frame"))
        frames = []
        for _ in range(ROUNDS):
            step()
            sent.clear()
            frames.append(best(lambda: stream.push("running", 1), 1))
        frame = max(size(m) for m in sent if m.content["kind"] == "frame")
    return {"hello ms": hello, "hello bytes": first, "frame ms": min(frames), "frame bytes": frame}


def memory(parameters: int, steps: int) -> dict[str, float]:
    """Bytes that the recorder holds after so many steps, by its own account and by Python's."""
    step = chain(2 * parameters, parameters)
    recorder = Recorder()
    step()
    tracemalloc.start()
    recorder.attach()
    try:
        for _ in range(steps):
            step()
        held = tracemalloc.get_traced_memory()[0]
        timeline, history = recorder.timeline, recorder.steps.run.history
        kept = len(timeline.rows(0)[1])
        return {"held": held, "timeline": timeline.size_bytes, "kept": kept, "history": history.size_bytes}
    finally:
        recorder.detach()
        tracemalloc.stop()


def off() -> float:
    """Nanoseconds of the test that each op makes for an observer where there is none."""
    read = min(timeit.repeat("o.ops is None", globals={"o": observe}, number=1_000_000, repeat=ROUNDS))
    return 1e3 * (read - min(timeit.repeat("pass", number=1_000_000, repeat=ROUNDS)))


def main() -> None:
    """Print the tables."""
    print(f"an op with nobody watching: {off():.0f} ns (target <= 60)\n")
    print("| ops | parameters | first messages ms | kB | a frame ms | kB (target <= 50 at 200 parameters) |\n|---|---|---|---|---|---|")
    for ops, parameters in ((10, 4), (100, 20), (400, 200), (1000, 200), (2000, 1000), (10_000, 200)):
        row = messages(ops, parameters)
        figures = f"{row['hello ms']:.3g} | {row['hello bytes'] / 1e3:.0f} | {row['frame ms']:.3g} | {row['frame bytes'] / 1e3:.0f}"
        print(f"| {ops:,} | {parameters:,} | {figures} |", flush=True)
    print("\n| parameters | steps | steps kept | timeline MB | earlier steps MB | all that Python holds MB |\n|---|---|---|---|---|---|")
    for parameters, steps in ((10, 10_000), (100, 300), (1_000, 50)):
        held = memory(parameters, steps)
        megabytes = " | ".join(f"{held[name] / 1e6:.1f}" for name in ("timeline", "history", "held"))
        print(f"| {parameters:,} | {steps:,} | {held['kept']:,} | {megabytes} |", flush=True)


if __name__ == "__main__":
    main()
