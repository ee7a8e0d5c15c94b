import { afterEach, beforeEach, expect, it } from 'vitest';
import { probePart, probesOf } from '../panels/probes';
import { Store } from '../panels/store';
import { Sketch } from '../gallery/sketch';
import { signal } from '@preact/signals-core';

let end: AbortController;
let root: HTMLElement;
let observed: ((entries: { contentRect: { width: number } }[]) => void)[];
const before = globalThis.ResizeObserver;

beforeEach(() => {
  end = new AbortController();
  root = document.createElement('div');
  document.body.append(root);
  observed = [];
  globalThis.ResizeObserver = class {
    constructor(tell: (typeof observed)[number]) {
      observed.push(tell);
    }
    observe() {}
    disconnect() {}
  } as unknown as typeof ResizeObserver;
});

afterEach(() => {
  end.abort();
  root.remove();
  globalThis.ResizeObserver = before;
});

it('each probe has a line with its newest value, and none is drawn for what is no probe', () => {
  const store = new Store(
    () => undefined,
    draw => draw()
  );
  const sketch = new Sketch('k');
  sketch.op('exp', 'elementwise', [], [2], { value: 1 });
  const names = ['loss', 'grad_norm', 'p/fc1 rms', 'p/fc1 mean', 'p/<b>x</b> zeros'];
  const rows = [1, 2, 3].map(t => [1, 1, 0.5 * t, -t, t / 4]);
  const frame = sketch.frame({ step: 3 }, names, rows);
  for (const { message, buffers } of [sketch.structureMessage(), frame]) store.receive(message, buffers);
  probePart({ store, root, signal: end.signal, theme: signal(0) }, root);
  observed.forEach(tell => tell([{ contentRect: { width: 400 } }]));
  const found = [...root.querySelectorAll<HTMLElement>('.gl-probe')];
  expect(found.map(e => e.dataset.probe)).toEqual(['fc1 rms', 'fc1 mean', '<b>x</b> zeros']);
  expect(found.map(e => Number(e.querySelector('b')!.dataset.value))).toEqual([1.5, -3, 0.75]);
  expect(found.every(e => (e.querySelector('.gl-line path')?.getAttribute('d') ?? '').startsWith('M'))).toBe(true);
  const more = sketch.frame({ step: 4 }, names, [[1, 1, 2, -4, 1]]);
  new Int32Array(more.buffers[5]!)[0] = new Int32Array(more.buffers[6]!)[0] = 4;
  store.receive(more.message, more.buffers);
  expect(found.map(e => Number(e.querySelector('b')!.dataset.value))).toEqual([2, -4, 1]);
  expect(root.querySelector('.gl-probename b b')).toBeNull();
  expect(probesOf(['loss', 'p/a norm', 'g/w'])).toEqual(['a norm']);
});
