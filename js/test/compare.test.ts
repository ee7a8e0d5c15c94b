import { beforeEach, describe, expect, it } from 'vitest';
import { pairs } from '../panels/compare';
import { told } from '../panels/ledger';
import { strange } from '../panels/microscope';
import { rowAt, type Step } from '../panels/past';
import { digitsRun } from '../gallery/digits';
import type { Ask } from '../protocol/messages';
import { number, onPage, root, sent, show, store } from './page';

onPage();
beforeEach(() => void show(digitsRun()));

const settled = () => new Promise(done => setTimeout(done, 40));

const step = (at: number): Step => ({
  ...store.live.value!,
  frame: { ...store.live.value!.frame, step: at },
  row: rowAt(store.series, at)
});

describe('two steps side by side', () => {
  it('have the timeline for parameters and the frames for ops', () => {
    const { columns } = store.series;
    const at = (name: string, t: number) => store.series.at(t - 1, store.series.column(name), 2);
    const rows = pairs('g', step(10), step(138), columns);
    expect(rows.map(pair => pair.name).slice(0, 4)).toEqual(['loss', '\u2016grad\u2016', 'fc1.weight', 'fc1.bias']);
    expect(rows[2]).toEqual({ name: 'fc1.weight', what: 'param:fc1.weight', a: at('g/fc1.weight', 10), b: at('g/fc1.weight', 138) });
    const other = step(10);
    other.frame.ops = other.frame.ops.map(x => 2 * x);
    const ops = pairs('ov', other, step(138), columns);
    expect([ops[2]!.what, ops[2]!.a! / ops[2]!.b!]).toEqual(['op:0', 2]);
  });

  it('have no number for an op that the other step has not', () => {
    const other = step(10);
    other.structure = { ...other.structure, ops: other.structure.ops.map((op, i) => (i === 1 ? { ...op, name: 'tanh' } : op)) };
    expect(pairs('og', other, step(138), store.series.columns)[3]).toMatchObject({ what: 'op:1', a: null });
  });

  it('are drawn in a panel while a step is marked, with what the kernel says of it', async () => {
    const panel = root.querySelector<HTMLElement>('[data-panel="compare"]')!;
    expect(panel.hidden).toBe(true);
    root.querySelector<HTMLButtonElement>('.gl-ab')!.click();
    await settled();
    expect([panel.hidden, store.mark.value]).toEqual([false, 138]);
    store.scrub(60);
    await settled();
    const row = '[data-compare="fc2.weight"]';
    const at = (t: number) => store.series.at(t - 1, store.series.column('g/fc2.weight'), 2);
    expect(number(`${row} [data-col="a"]`)).toBeCloseTo(at(138), 6);
    expect(number(`${row} [data-col="b"]`)).toBeCloseTo(at(60), 6);
    expect(number(`${row} [data-col="ratio"]`)).toBeCloseTo(at(60) / at(138), 6);
    expect(root.querySelector(row)!.getAttribute('title')).toContain('B \u2212 A ');
    panel.querySelectorAll<HTMLButtonElement>('.gl-button')[1]!.click();
    expect([panel.hidden, store.mark.value]).toEqual([true, null]);
  });
});

describe('the microscope', () => {
  it('asks when it is opened and shows each number, a dash where there is none', async () => {
    [...root.querySelectorAll<HTMLButtonElement>('.gl-foldout')].find(b => b.textContent!.startsWith('microscope'))!.click();
    await settled();
    const ask = sent.find((message): message is Ask => message.kind === 'ask' && message.what === 'microscope')!;
    const values = new Float32Array([0.25, -0.5, 0, 3]);
    new Uint32Array(values.buffer)[2] = 0x7fc00001;
    const holding = {
      label: 'Adam',
      held: 1,
      unread: ['model.w (In[2])'],
      unheld: ['model.w (In[5])'],
      stale: 'Adam holds <b>old</b>',
      more: 1
    };
    store.receive(
      {
        ...{ v: 1, kind: 'answer', id: ask.id, ok: true, columns: ['update', 'cos', 'eps', 'decay:gradient'] },
        optimizers: [{ label: 'Adam', lr: 0.1, step: 138, names: ['fc1.weight'], numbers: [0] }],
        holdings: [holding]
      },
      [values.buffer]
    );
    await settled();
    const cells = [...root.querySelectorAll('.gl-microscope td')].map(cell => cell.textContent);
    expect(cells).toEqual(['fc1.weight', '2.5e-1', '\u22120.500', '\u2013', '3.0e0']);
    expect(root.querySelector('.gl-holding .gl-warnline')!.textContent).toBe('Adam holds <b>old</b>');
  });

  it('knows what asks for a look', () => {
    expect([strange('cos', -0.1), strange('cos', 0.3), strange('eps', 0.2), strange('decay:gradient', 2), strange('update', NaN)]).toEqual([
      true,
      false,
      true,
      true,
      true
    ]);
  });
});

describe('the ledger', () => {
  const opened = async () => {
    [...root.querySelectorAll<HTMLButtonElement>('.gl-foldout')].find(b => b.textContent!.startsWith('ledger'))!.click();
    await settled();
    const ask = sent.find((message): message is Ask => message.kind === 'ask' && message.what === 'ledgers')!;
    const entries = [1, 2, 3].map(backward => [backward, 'linear', 0.5]);
    store.receive({ v: 1, kind: 'answer', id: ask.id, ok: true, ledgers: [{ name: 'fc1.weight', entries }], more: 0 }, []);
    await settled();
    return () => root.querySelector('[data-part="ledger"] .gl-further')!.textContent;
  };

  it('says which step it is of to a reader of an earlier one', async () => {
    const said = await opened();
    const live = '1 gradient of up to 3 backward calls: call optimizer.zero_grad() in every step, unless you mean to accumulate.';
    expect(said()).toBe(live);
    store.scrub(60);
    expect(said()).toBe(`Now, after step 138: ${live}`);
    store.scrub(null);
    expect(said()).toBe(live);
  });

  it('names no optimizer where none has stepped', async () => {
    const { frame } = store.live.value!;
    store.live.value = { ...store.live.value!, frame: { ...frame, optimizers: [] } };
    expect((await opened())()).toContain('3 backward calls: set .grad to None before backward() in every step');
  });
});

it('a ledger tells how many backward calls it is of, and its sources', () => {
  expect(told({ name: 'w', entries: [[1, 'mul', 2]] })).toBe('1 backward call');
  const twice: [number, string, number][] = [
    [1, 'mul', 2],
    [1, 'exp', 2],
    [2, 'mul', 2]
  ];
  expect(told({ name: 'w', entries: twice })).toBe('2 backward calls \u00b7 mul, exp');
});
