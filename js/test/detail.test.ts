import { signal } from '@preact/signals-core';
import { describe, expect, it } from 'vitest';
import { pack } from '../draw/colour';
import { cellSize, ink, part, wrapped } from '../draw/matrix';
import { detailPanel } from '../panels/detail';
import { experimentsPart } from '../panels/experiments';
import { formula } from '../panels/formula';
import { tableOf } from '../panels/texts';
import { Store } from '../panels/store';
import { shownOf } from '../panels/values';
import type { Ask } from '../protocol/messages';
import { recorded } from './page';

const all = recorded('capture');
const answer = (id: string) => all.find(({ message }) => message.id === id)!;

describe('an array as it is shown', () => {
  const { message, buffers } = answer('captured op:0');
  const [value, gradient] = shownOf(message, buffers);

  it('has the entries that the kernel sent, with what is not finite', () => {
    [1, 0, -2, 0.5, NaN, 4].forEach((x, k) => {
      if (Number.isNaN(x)) expect(value!.matrix.values[k]).toBeNaN();
      else expect(value!.matrix.values[k]).toBeCloseTo(Math.tanh(x), 6);
    });
    expect(Array.from(gradient!.matrix.values)).toEqual([3, 3, 3, 3, 3, 3]);
    expect([value!.counted, value!.size, value!.seen]).toEqual(['1 exact zero · 1 NaN', 6, 'the whole array · float32']);
    expect(value!.counts.reduce((a, b) => a + b)).toBe(5);
  });

  it('wraps a vector, and colours by the square root', () => {
    const row = { values: new Float64Array(130), rows: 1, columns: 130, low: 0, high: 1 };
    expect([wrapped(row).rows, wrapped(row).columns]).toEqual([3, 64]);
    expect(cellSize(wrapped(row), 640)[0]).toBe(10);
    expect([part(0.25, 0, 1), part(-0.25, -1, 1), part(0, -1, 1), part(5, 5, 5)]).toEqual([0.5, 0.25, 0.5, 0.5]);
  });
});

describe('a map', () => {
  const size = (rows: number, columns: number, width: number) =>
    cellSize({ values: new Float64Array(rows * columns), rows, columns, low: 0, high: 1 }, width);

  it('is as wide as its captions need, and not much higher than 240 pixels', () => {
    expect(size(8, 4, 400)).toEqual([64, 22]);
    expect(size(3, 1, 400)[0]).toBe(240);
    const [w, h] = size(64, 64, 480);
    expect([w * 64, h * 64 <= 240]).toEqual([480, true]);
    expect(size(4, 4, 176)[0]).toBe(44);
  });

  it('has numbers in black or white, whichever contrasts more with the colour of their cell', () => {
    expect(['#3fa7ef', '#ffa23a', '#1f5f91', '#2c2c2c', '#ffffff', '#0665a8'].map(hex => ink(pack(hex)))).toEqual([
      '#000',
      '#000',
      '#fff',
      '#fff',
      '#000',
      '#fff'
    ]);
  });
});

describe('a formula', () => {
  it('keeps MathML and leaves out what does not belong there', () => {
    const bad =
      '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi onclick="x()">a</mi><script>b</script><mo stretchy="false">(</mo></math>';
    const made = formula(bad)!;
    expect(made.querySelector('script')).toBeNull();
    expect(made.textContent).toBe('ab(');
    expect(made.querySelector('mi')!.attributes.length).toBe(0);
    expect(made.querySelector('mo')!.getAttribute('stretchy')).toBe('false');
    expect(formula('no <b')).toBeNull();
  });
});

describe('the detail panel', () => {
  const open = () => {
    const asked: Ask[] = [];
    const store = new Store(
      message => message.kind === 'ask' && asked.push(message),
      draw => draw()
    );
    for (const { message, buffers } of all.slice(0, 5)) store.receive(message, buffers);
    const root = document.createElement('div');
    const parts = detailPanel({ store, root, signal: new AbortController().signal, theme: signal(0) }, signal(true));
    root.append(parts.body);
    const reply = async (what: string) => {
      const ask = asked.findLast(one => one.what === what.split(' ')[0]) as Ask;
      const { message, buffers } = answer(what);
      store.receive({ ...message, id: ask.id }, buffers);
      await Promise.resolve();
      await new Promise(done => setTimeout(done));
    };
    return { store, asked, root, body: parts.body, reply };
  };

  it('asks about what is selected, and shows formula, source, values and cost', async () => {
    const { store, asked, body, reply } = open();
    expect(body.textContent).toContain('Select an op or a line.');
    store.select('op:0');
    expect(asked.map(({ what, args }) => [what, (args as { select: string }).select])).toEqual([['detail', 'op:0']]);
    await reply('detail op:0');
    expect(asked.map(one => one.what)).toEqual(['detail', 'captured']);
    await reply('captured op:0');
    expect(body.querySelectorAll('math').length).toBe(2);
    expect(body.querySelector('.gl-source')!.textContent).toContain('def forward(self');
    expect(body.querySelectorAll('canvas').length).toBe(2);
    expect(body.textContent).toContain('1 exact zero · 1 NaN');
    expect(body.textContent).toContain('captured at step');
    expect(body.textContent).toContain('operations and bytes');
  });

  it('says which step is captured, and what it takes', async () => {
    const { store, body, reply } = open();
    store.receive(all.findLast(({ message }) => message.state === 'open')!.message, []);
    const { step, bytes: kept } = store.capture.value;
    expect([step, kept]).toEqual([1, 132]);
    store.select('op:0');
    await reply('detail op:0');
    expect([...body.querySelector('.gl-capture')!.children].map(one => one.textContent)).toEqual(['Release step 1', '132 B kept so far']);
    const into = document.createElement('div');
    experimentsPart({ store, root: into, signal: new AbortController().signal, theme: signal(0) }, into);
    expect(into.querySelector('.gl-label span')!.textContent).toBe('on captured step 1; the run is untouched');
  });

  it('has columns of words at the left, as their names, and numbers at the right', () => {
    const head = ['call', 'added by', '\u2016added\u2016'];
    const table = tableOf({ title: 'ledger of w.grad', side: '', head, rows: [['backward 1', 'linear', '0.5']] });
    for (const tag of ['th', 'td'])
      expect([...table.querySelectorAll(tag)].map(cell => cell.className)).toEqual(['gl-left', 'gl-left', '']);
  });

  it('says the words of the kernel where it refuses', async () => {
    const { store, asked, body } = open();
    store.select('op:0');
    store.receive({ v: 1, kind: 'answer', id: asked[0]!.id, ok: false, error: 'the graph has changed since; select again' });
    await new Promise(done => setTimeout(done));
    expect(body.textContent).toContain('select again');
  });

  it('asks for another part when a slider is moved, one question at a time', async () => {
    const { store, asked, body, reply } = open();
    store.select('op:0');
    await reply('detail op:0');
    const large = answer('captured op:0');
    const axes = Object.entries({ 'axis 0': 3, row: 136, column: 236 });
    const header = { ...(large.message.value as object), shape: [4, 200, 300], axes };
    const content = { ...large.message, value: { ...header, at: [1, 0, 0] }, gradient: null };
    store.receive({ ...content, id: asked.at(-1)!.id }, large.buffers.slice(0, 2));
    await new Promise(done => setTimeout(done));
    const inputs = Array.from(body.querySelectorAll<HTMLInputElement>('input[type=range]'));
    expect(inputs.map(one => one.max)).toEqual(['3', '136', '236']);
    const before = asked.length;
    for (const to of ['5', '9', '40']) {
      inputs[1]!.value = to;
      inputs[1]!.dispatchEvent(new Event('input'));
    }
    expect(asked.length).toBe(before + 1);
    store.receive({ ...content, id: asked.at(-1)!.id }, large.buffers.slice(0, 2));
    await new Promise(done => setTimeout(done));
    expect(asked.length).toBe(before + 2);
    expect(asked.at(-1)!.args).toMatchObject({ at: [1, 40, 0] });
  });
});
