import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Sketch } from '../gallery/sketch';
import type { Ask, Gate } from '../protocol/messages';
import { feed, onPage, root, sent, show, store } from './page';

const RUNNING: Gate = { wanted: 'run', held: null, aside: true };
const HELD: Gate = { wanted: 'run', held: { step: 12, op: null, at: null, backward: false, where: null, reason: null }, aside: true };

/** A frame whose gate stands so. */
function say(gate: Gate, on = true): void {
  const sketch = new Sketch('k');
  const x = sketch.leaf('x', 'input', [2]);
  sketch.op('exp', 'elementwise', [['leaf', x]], [2], { value: 1 });
  sketch.op('log', 'elementwise', [['op', 0]], [2], { value: 2 });
  const frame = sketch.frame({ step: 12, state: 'running', tracing: { on, share: null, every: 1 }, gate });
  feed([sketch.structureMessage(), frame]);
}

const button = (label: string) => root.querySelector<HTMLButtonElement>(`.gl-control button[aria-label="${label}"]`);
const line = () => root.querySelector<HTMLElement>('.gl-held')!;
const asked = () => sent.filter((message): message is Ask => message.kind === 'ask');
const answer = (ok = true) => store.receive({ v: 1, kind: 'answer', id: asked().at(-1)!.id, ok, error: ok ? undefined : 'no' });

beforeEach(() => void vi.useFakeTimers());
onPage();
beforeEach(() => void show([], 'strip'));
afterEach(() => void vi.useRealTimers());

describe('the buttons', () => {
  it('can be pressed while tracing is on, and say nothing while nothing is held', () => {
    expect(button('Pause')!.disabled).toBe(true);
    say(RUNNING);
    expect([button('Pause')!.disabled, button('Step')!.disabled, button('Step op')!.disabled]).toEqual([false, false, false]);
    expect(line().hidden).toBe(true);
    say(RUNNING, false);
    expect(button('Pause')!.disabled).toBe(true);
  });

  it('ask for what they say; Pause becomes Resume while training is held or about to be', () => {
    say(RUNNING);
    button('Pause')!.click();
    say({ ...RUNNING, wanted: 'pause' });
    expect(line().textContent).toBe('Pauses at the end of the step');
    say(HELD);
    expect(line().hidden).toBe(false);
    expect(line().textContent).toBe('Paused at step 12');
    expect(button('Pause')).toBeNull();
    button('Step')!.click();
    button('Step op')!.click();
    button('Resume')!.click();
    expect(asked().map(({ what }) => what)).toEqual(['pause', 'step', 'step op', 'resume']);
    say(RUNNING);
    expect(button('Pause')).not.toBeNull();
    expect(line().hidden).toBe(true);
  });

  it('say op, line and condition where training is held inside a step, and the op is selected', () => {
    say({
      ...HELD,
      held: { step: 12, op: 'log', at: 1, backward: false, where: 'In[4]:7', reason: 'loss > 10 and <b>' }
    });
    expect(line().textContent).toBe('Paused at step 12op log, In[4]:7 · loss > 10 and <b>');
    expect(line().querySelector('b')!.textContent).toBe('Paused at step 12');
    expect(store.selected.value).toBe('op:1');
    say({ ...HELD, held: { step: 12, op: 'log', at: 1, backward: true, where: null, reason: null } });
    expect(line().textContent).toBe('Paused at step 12backward of log');
    say({ ...HELD, held: { step: 12, op: 'backward', at: 1, backward: true, where: null, reason: null } });
    expect(line().textContent).toBe('Paused at step 12after backward');
  });

  it('say that they act when the cell ends where the kernel does not answer, until it does', async () => {
    say({ ...RUNNING, aside: false });
    expect(button('Pause')!.title).toContain('acts when the cell ends');
    button('Pause')!.click();
    expect(line().hidden).toBe(true);
    vi.advanceTimersByTime(1000);
    expect(line().textContent).toBe('The kernel hears this when the cell ends.');
    answer();
    await vi.runAllTimersAsync();
    expect(line().hidden).toBe(true);
    say(RUNNING);
    expect(button('Pause')!.title).not.toContain('when the cell ends');
  });

  it('put what the kernel refuses in the console and go on', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    say(RUNNING);
    button('Step')!.click();
    answer(false);
    await vi.runAllTimersAsync();
    expect(warn).toHaveBeenCalledOnce();
    expect(button('Step')!.disabled).toBe(false);
    warn.mockRestore();
  });

  it('are marked for readers that hear the page', () => {
    expect(root.querySelector('.gl-control')!.getAttribute('role')).toBe('group');
    expect(line().getAttribute('role')).toBe('status');
    for (const b of root.querySelectorAll('.gl-control button')) expect(b.getAttribute('aria-label')).toBeTruthy();
  });
});
