import { describe, expect, it } from 'vitest';
import { bar, barTicks, beyond, sides } from '../draw/bars';
import { decode, type Frame } from '../protocol/decode';
import type { Structure } from '../protocol/messages';
import { fewer, gains, located, Waterfall, wayTo } from '../panels/gain';
import { alike, blocksOf } from '../panels/ledger';
import { examples, many } from '../gallery/examples';
import type { Sent } from '../gallery/sketch';

function read(messages: Sent[]): [Structure, Frame] {
  const all = messages.map(({ message, buffers }) => decode(message, buffers));
  return [all.find(m => m?.kind === 'structure') as Structure, all.find(m => m?.kind === 'frame') as Frame];
}
const leafOf = (structure: Structure, name: string) => structure.leaves.findIndex(leaf => leaf.name === name);

describe('the gain waterfall', () => {
  it('has what each op passes on beside what it gets, from the loss to the parameter', () => {
    const [structure, frame] = read(examples.digits!());
    const all = gains(structure, frame, leafOf(structure, 'fc1.weight'));
    expect(all.map(g => g.name)).toEqual(['cross_entropy', 'fc3 linear', 'gelu', 'fc2 linear', 'gelu', 'fc1.weight']);
    const g = (op: number) => frame.ops[op * 4 + 1] as number;
    expect(all[0]!.gain).toBeCloseTo(g(4) / g(5), 6);
    expect(all[2]!.gain).toBeCloseTo(g(2) / g(3), 6);
    const product = all.reduce((p, one) => p * one.gain, 1);
    expect(product).toBeCloseTo(frame.leaves[2 * leafOf(structure, 'fc1.weight') + 1]! / g(5), 6);
  });

  it('goes through the branch of a residual block, and says where a gradient is a sum', () => {
    const [structure, frame] = read(examples.residual!());
    const all = gains(structure, frame, leafOf(structure, 'blocks.1.fc1.weight'));
    expect(all.map(one => one.op)).toEqual([...all.map(one => one.op)].sort((a, b) => b! - a!));
    expect(all.some(one => one.readers > 1)).toBe(true);
    expect(wayTo(structure, leafOf(structure, 'no such'))).toEqual([]);
    // Bars of several ops say where these are, by the module around all of them.
    const bars = located(structure, all, fewer(all, 4));
    expect(bars.some(bar => /^blocks\.[12]$/.test(bar.name) && bar.count > 1)).toBe(true);
    expect(bars.reduce((sum, bar) => sum + bar.count, 0)).toBe(all.length);
    // Where they are of several modules, from which to which.
    expect(located(structure, all, fewer(all, 2))[0]!.name).toMatch(/^mse_loss – blocks\.\d$/);
  });

  it('stays short where a gradient is lost in rounding again and again', () => {
    const [structure, frame] = read(many(1000, false));
    const all = gains(structure, frame, leafOf(structure, 'w0')).map((g, i) => ({ ...g, gain: i % 2 ? Infinity : 0 }));
    expect(fewer(all).length).toBeLessThanOrEqual(14);
  });

  it('draws a thousand ops as a few bars and loses none of the gain', () => {
    const [structure, frame] = read(many(1000, false));
    const all = gains(structure, frame, leafOf(structure, 'w0'));
    const few = fewer(all);
    expect(few.length).toBeLessThanOrEqual(14);
    expect(few.reduce((sum, g) => sum + g.count, 0)).toBe(all.length);
    const logs = (list: typeof all) => list.reduce((sum, g) => sum + Math.log10(g.gain), 0);
    expect(logs(few)).toBeCloseTo(logs(all), 6);
    expect(few.at(-1)!.name).toBe('w0');
  });

  it('is as quick on a long way', () => {
    const [structure, frame] = read(many(20_000, false));
    const all = gains(structure, frame, leafOf(structure, 'w0'));
    expect(all.length).toBeGreaterThan(10_000);
    const few = fewer(all);
    expect(few.length).toBeLessThanOrEqual(14);
    expect(few.reduce((sum, g) => sum + g.count, 0)).toBe(all.length);
    const unknown = fewer(all.map(g => ({ ...g, gain: NaN })));
    expect(unknown.length).toBeLessThan(15);
  }, 30_000);

  it('has no factor for a gradient that is the sum of many backward calls, and neither axis nor sentence counts it', () => {
    const [structure, frame] = read(examples.digits!());
    const leaf = leafOf(structure, 'fc1.weight');
    // As if forty calls had added up: a factor of thousands that no op has.
    frame.leaves[2 * leaf + 1]! *= 1e-9;
    const shown = new Waterfall();
    const ticks = () => [...shown.element.querySelectorAll('.gl-gainticks span')].map(tick => tick.textContent);
    const last = () => shown.element.querySelector('.gl-gainrow:last-child')!;
    shown.update(structure, frame, leaf, new Set());
    expect([ticks()[0], last().querySelector('.gl-gainbar u') !== null]).toEqual(['\u226410\u207b\u2076\u00d7', true]);
    expect(shown.element.textContent).toContain('Most is lost in fc1.weight');
    frame.leaf_has[leaf]! |= 4;
    shown.update(structure, frame, leaf, new Set());
    expect(last().querySelector('.gl-gainbar, .gl-gainvalue')).toBeNull();
    expect(last().textContent).toBe('fc1.weight.grad: sum of several calls');
    const others = gains(structure, frame, leaf).slice(0, -1);
    expect(ticks()).toEqual(barTicks(sides(others.map(g => g.gain))).map(([tick]) => tick));
    const worst = others.reduce((w, g) => (g.gain < w.gain ? g : w));
    expect(worst.gain).toBeLessThan(0.2);
    expect(shown.element.textContent).toContain(`Most is lost in ${worst.name}: `);
  });

  it('keeps zero, Inf and NaN as bars of their own', () => {
    const one = (gain: number) => ({ op: 0, name: '', gain, before: 1, after: gain, count: 1, readers: 1 });
    const list = [
      ...Array.from({ length: 30 }, () => one(1)),
      one(0),
      one(NaN),
      one(Infinity),
      ...Array.from({ length: 30 }, () => one(1))
    ];
    expect(fewer(list).filter(g => g.gain === 0 || !Number.isFinite(g.gain)).length).toBe(3);
  });

  it('has a short stub at the end for what is not finite, and no mark where there is no number', () => {
    const style = (x: number) => bar(x, 2).querySelector('u')!.getAttribute('style');
    expect([Infinity, NaN].map(style)).toEqual(['left:92.0%;width:8.0%', 'left:92.0%;width:8.0%']);
    expect(bar(null, 2).children.length).toBe(0);
  });

  it('has a point where it goes on beyond the scale, and the tick there says so', () => {
    const cut = (x: number) => bar(x, 6).classList.contains('gl-cut');
    expect([1e-7, 1e7, 1e-6, 1e6, 0, Infinity, NaN].map(cut)).toEqual([true, true, false, false, false, false, false]);
    const ends = (...values: number[]) => [barTicks(6, beyond(values, 6))[0]![0], barTicks(6, beyond(values, 6)).at(-1)![0]];
    expect(ends(1e-23, 3)).toEqual(['\u226410\u207b\u2076\u00d7', '10\u2076\u00d7']);
    expect(ends(0.1, 1e22)).toEqual(['10\u207b\u2076\u00d7', '\u226510\u2076\u00d7']);
  });

  it('has 1 in the middle and whole decades at its ends', () => {
    expect([sides([0.5, 2]), sides([1e-3]), sides([1e30]), sides([0, NaN])]).toEqual([1, 4, 6, 1]);
    expect(barTicks(2)).toEqual([
      ['0.01\u00d7', 0],
      ['0.1\u00d7', 0.25],
      ['1\u00d7', 0.5],
      ['10\u00d7', 0.75],
      ['100\u00d7', 1]
    ]);
  });
});

describe('the ledger', () => {
  const entries = (...calls: number[]) => calls.map((call): [number, string, number] => [call, 'add', 1]);

  it('has a block for each entry, or one for each backward call where there is no room', () => {
    expect(blocksOf(entries(1, 1, 2), true).map(block => block.length)).toEqual([1, 1, 1]);
    expect(blocksOf(entries(1, 1, 2), false).map(block => block.length)).toEqual([2, 1]);
  });

  it('is one sentence where all gradients are alike', () => {
    const of = (...all: number[][]) => alike(all.map((calls, i) => ({ name: String(i), entries: entries(...calls) })));
    expect([of([1], [1], [1]), of([1], [1, 1]), of([1, 2], [1]), of([1])]).toEqual([true, false, false, false]);
  });
});
