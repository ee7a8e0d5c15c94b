"""Grad modes hold for their block, thread and task, and come back however it ends."""

from __future__ import annotations

import asyncio
import threading

import pytest

import gradlab as gl


def test_inference_mode_is_no_grad_by_another_name():
    x = gl.ones(2, requires_grad=True)
    with gl.inference_mode():
        assert not gl.is_grad_enabled() and not (x * 2.0).requires_grad
    with gl.inference_mode(False):
        assert (x * 2.0).requires_grad

    @gl.inference_mode
    def bare(x):
        return x * 2.0

    @gl.inference_mode()
    def called(x):
        return x * 2.0

    assert not bare(x).requires_grad and not called(x).requires_grad and gl.is_grad_enabled()


def test_tasks_that_take_turns_have_modes_of_their_own():
    seen = []

    async def off():
        with gl.no_grad():
            for _ in range(3):
                await asyncio.sleep(0)
                seen.append(("off", gl.is_grad_enabled()))

    async def on():
        for _ in range(3):
            seen.append(("on", gl.is_grad_enabled()))
            await asyncio.sleep(0)

    async def both():
        await asyncio.gather(off(), on(), off())

    asyncio.run(both())
    assert set(seen) == {("off", False), ("on", True)} and gl.is_grad_enabled()


def test_a_cancelled_task_leaves_its_mode():
    async def off():
        with gl.no_grad():
            await asyncio.sleep(10)

    async def main():
        task = asyncio.create_task(off())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return gl.is_grad_enabled()

    assert asyncio.run(main())


def test_a_mode_ends_with_an_error_in_any_depth():
    with pytest.raises(ZeroDivisionError), gl.no_grad(), gl.enable_grad(), gl.no_grad():
        _ = 1 / 0
    assert gl.is_grad_enabled()


def test_a_thread_starts_with_gradients_on_and_changes_only_its_own():
    inside = threading.Event()
    go_on = threading.Event()
    seen = []

    def work():
        seen.append(gl.is_grad_enabled())
        with gl.no_grad():
            inside.set()
            go_on.wait(5)
            seen.append(gl.is_grad_enabled())

    thread = threading.Thread(target=work)
    with gl.no_grad():
        thread.start()
        inside.wait(5)
    assert gl.is_grad_enabled()
    go_on.set()
    thread.join()
    assert seen == [True, False]


def test_backward_inside_no_grad_works_and_what_hooks_do_records_nothing():
    x, kinds = gl.ones(2, requires_grad=True), []
    y = (x * x).sum()
    with x.register_hook(lambda g: kinds.append((g * x).requires_grad)), gl.no_grad():
        y.backward(retain_graph=True)
    with x.register_hook(lambda g: kinds.append((g * x).requires_grad)):
        gl.autograd.grad(y, x, create_graph=True)
    assert kinds == [False, True]
