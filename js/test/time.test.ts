import { beforeEach, describe, expect, it, vi } from 'vitest';
import { History } from '../panels/history';
import { digitsRun } from '../gallery/digits';
import type { Sent } from '../gallery/sketch';
import { railStep, railX } from '../draw/scale';
import { decode, type Frame } from '../protocol/decode';
import type { Ask } from '../protocol/messages';
import { feed, number, onPage, root, sent, show, store, text } from './page';

onPage();
beforeEach(() => void show(digitsRun()));

const frameOf = ({ message, buffers }: Sent) => decode(message, buffers) as Frame;
const asks = () => sent.filter((message): message is Ask => message.kind === 'ask' && message.what === 'past');
const press = (key: string, target: Element = root.firstElementChild!.nextElementSibling!) =>
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
const settled = () => new Promise(done => setTimeout(done));

/** Answer the newest question as the kernel would: every op has the step's number as its norm. */
async function answer(step: number, more: object = {}): Promise<void> {
  const { structure } = store.live.value!;
  const ops = Float32Array.from(structure.ops.flatMap(() => [step, step, NaN, NaN]));
  const row = Float32Array.from(store.series.columns, (_, c) => step + c / 100);
  const buffers = [ops, new Uint8Array(structure.ops.length).fill(3), new Float32Array(structure.leaves.length * 2).fill(step)];
  const content = { v: 1, kind: 'answer', id: asks().at(-1)!.id, ok: true, step, of: step, key: structure.key, loss: step / 2 };
  store.receive(
    { ...content, grad_norm: step / 4, ...more },
    [...buffers, new Uint8Array(structure.leaves.length).fill(3), row].map(b => b.buffer as ArrayBuffer)
  );
  await settled();
}

describe('an earlier step', () => {
  it('shows its own numbers in all panels: the timeline at once, the ops when the kernel has answered', async () => {
    store.scrub(60);
    const at = (column: string) => store.series.at(59, store.series.column(column), 2);
    expect(text('.gl-strip .gl-fact')).toBe('60of 138');
    expect(number('[data-field="loss"]')).toBeCloseTo(at('loss'), 6);
    expect(number('[data-panel="optimizer"] [data-param="fc2.weight"] [data-col="update:weight"]')).toBeCloseTo(at('u/fc2.weight'), 8);
    expect(number('[data-panel="optimizer"] [data-param="fc2.weight"] [data-col="rms g"]')).toBeCloseTo(
      at('g/fc2.weight') / Math.sqrt(8192),
      6
    );
    expect(text('[data-panel="optimizer"] [data-param="fc2.weight"] [data-col="m_hat"]')).toBe('–');
    expect(asks().map(message => message.args)).toEqual([{ step: 60 }]);
    expect(store.step.value!.frame.of).toBe(138);
    await answer(60);
    expect(number('[data-panel="graph"] [data-op="2"] .gl-v')).toBe(60);
    expect([number('[data-field="loss"]'), number('[data-field="grad_norm"]')]).toEqual([30, 15]);
    expect(store.number('lr/AdamW')).toBeCloseTo(60 + store.series.column('lr/AdamW') / 100, 4);
    expect(store.step.value!.frame.of).toBeUndefined();
  });

  it('is not moved by what comes in the meantime, and Follow live shows it', async () => {
    store.scrub(60);
    await answer(60);
    const picture = () => [
      text('.gl-strip .gl-fact'),
      root.querySelector('.gl-lines path')!.getAttribute('d'),
      text('.gl-ticks'),
      text('.gl-times')
    ];
    const before = picture();
    feed(
      digitsRun({ steps: 200 }).map(({ message, buffers }) => ({
        message: message.kind === 'frame' ? { ...message, step: 200 } : message,
        buffers
      }))
    );
    expect(store.series.lastStep).toBe(200);
    expect(picture()).toEqual(['60of 200', ...before.slice(1)]);
    expect(text('.gl-live')).toBe('▸ Follow live +62');
    root.querySelector<HTMLElement>('.gl-live')!.click();
    expect([store.at.value, text('.gl-live'), store.step.value!.frame.step]).toEqual([null, 'Live', 200]);
  });

  it('has its number in bold below the charts, and none beside it', () => {
    const labels = () => [...root.querySelectorAll<HTMLElement>('[data-panel="gradients"] .gl-ticks span')];
    const bold = () => labels().filter(label => label.classList.contains('gl-last'));
    const left = (label: HTMLElement) => parseFloat(label.style.left);
    expect(bold().map(label => label.textContent)).toEqual(['138']);
    store.scrub(60);
    const marker = parseFloat(root.querySelector<HTMLElement>('.gl-chosen')!.style.left);
    const [one] = bold();
    const margin = left(labels()[0]!);
    expect([bold().length, one!.textContent, left(one!) - margin]).toEqual([1, '60', expect.closeTo(marker, 3)]);
    const others = labels().filter(label => label !== one);
    expect([others[0]!.textContent, others.at(-1)!.textContent]).toEqual(['step 1', '138']);
    for (const other of others.slice(1)) expect(Math.abs(left(other) - left(one!))).toBeGreaterThan(30);
    store.scrub(1);
    expect(bold().map(label => label.textContent)).toEqual(['step 1']);
    expect(labels().filter(label => label.textContent!.startsWith('step')).length).toBe(1);
  });

  it('asks for the newest wish only, while an answer is on its way', async () => {
    for (const step of [50, 51, 52, 53]) store.scrub(step);
    expect(asks().map(message => message.args)).toEqual([{ step: 50 }]);
    await answer(50);
    expect(asks().map(message => message.args)).toEqual([{ step: 50 }, { step: 53 }]);
    await answer(53);
    expect(number('[data-panel="graph"] [data-op="0"] .gl-v')).toBe(53);
    expect(asks().length).toBe(2);
  });

  it('says of which step the op numbers are, where its own are gone', async () => {
    store.scrub(60);
    await answer(60, { of: 41 });
    expect(store.step.value!.frame.of).toBe(41);
    expect(text('.gl-of')).toBe('op norms of step 41');
  });

  it('says so of the newest step too, and of it in the past, where no op of it was read', () => {
    expect(text('.gl-of')).toBe('');
    feed(
      digitsRun({ steps: 140 }).map(({ message, buffers }) => ({
        message: message.kind === 'frame' ? { ...message, step: 140, of: 137 } : message,
        buffers
      }))
    );
    expect([store.at.value, text('.gl-of')]).toEqual([null, 'op norms of step 137']);
    store.scrub(140);
    expect([store.at.value, text('.gl-of')]).toEqual([140, 'op norms of step 137']);
  });

  it('is left when a new run begins', () => {
    store.scrub(60);
    store.receive({ v: 1, kind: 'reset', run: 9 });
    expect([store.at.value, store.step.value]).toEqual([null, null]);
  });
});

describe('keys', () => {
  it('[ and ] go a step back and on, and not while somebody types', () => {
    press('[');
    press('[');
    expect(store.at.value).toBe(136);
    press(']');
    expect(store.at.value).toBe(137);
    const input = document.createElement('input');
    root.firstElementChild!.nextElementSibling!.append(input);
    press('[', input);
    expect(store.at.value).toBe(137);
  });

  it('Space plays the run from its beginning and stops it', () => {
    vi.useFakeTimers();
    press(' ');
    expect([store.at.value, root.querySelector('.gl-play')!.getAttribute('aria-label')]).toEqual([1, 'Stop playing (Space)']);
    vi.advanceTimersByTime(1000);
    expect(store.at.value).toBe(11);
    press(' ');
    vi.advanceTimersByTime(1000);
    expect(store.at.value).toBe(11);
    vi.useRealTimers();
  });

  it('the track is a slider', () => {
    const track = root.querySelector('.gl-timetrack')!;
    press('Home', track);
    press('PageUp', track);
    press('ArrowRight', track);
    expect([store.at.value, track.getAttribute('aria-valuenow'), track.getAttribute('aria-valuetext')]).toEqual([
      16,
      '16',
      'step 16 of 138'
    ]);
  });
});

describe('the rail', () => {
  const thumb = () => Number(/\(([\d.]+) 0\)/.exec(root.querySelector('.gl-thumb')!.getAttribute('transform')!)![1]);
  const ends = () => {
    const points = [
      ...root
        .querySelector('.gl-past')!
        .getAttribute('d')!
        .matchAll(/[ML]([\d.]+) /g)
    ].map(match => Number(match[1]));
    return [points[0], points.at(-1)];
  };

  it('has the loss and the thumb on one scale, from end to end', () => {
    expect([...ends(), thumb()]).toEqual([6, 154, 154]);
    store.scrub(1);
    expect(thumb()).toBe(6);
    store.scrub(70);
    expect(thumb()).toBeCloseTo(6 + (148 * 69) / 137, 1);
    expect([1, 70, 138].map(step => railStep(1, 138, 160, railX(1, 138, 160, step)))).toEqual([1, 70, 138]);
  });

  it('has one number and one thumb for one step, and neither where there is none', () => {
    const [structure, frame] = digitsRun({ steps: 1 }) as [Sent, Sent];
    store.receive({ v: 1, kind: 'reset', run: 9 });
    expect([text('.gl-times'), root.querySelector('.gl-thumb')!.getAttribute('visibility')]).toEqual(['', 'hidden']);
    feed([structure, { ...frame, message: { ...frame.message, run: 9 } }]);
    expect([text('.gl-times'), root.querySelector('.gl-thumb')!.getAttribute('visibility')]).toEqual(['1', null]);
  });
});

describe('the frames kept', () => {
  const frame = frameOf(digitsRun().at(-1)!);

  it('answer for a step or the newest one before it', () => {
    const history = new History();
    for (const step of [10, 20, 30]) history.keep({ ...frame, step, open: false });
    history.keep({ ...frame, step: 40, open: true });
    expect([5, 10, 25, 99].map(step => history.at(step)!.step)).toEqual([10, 10, 20, 30]);
  });

  it('are bounded in bytes and stay spread over the run', () => {
    const history = new History(40_000);
    for (let step = 1; step <= 500; step++) history.keep({ ...frame, step, open: false });
    expect(history.bytes).toBeLessThanOrEqual(40_000);
    expect(history.at(250)!.step).toBeGreaterThan(100);
    expect(history.at(500)!.step).toBe(500);
  });
});
