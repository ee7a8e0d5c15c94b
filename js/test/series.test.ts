import { describe, expect, it } from 'vitest';
import { decimate } from '../draw/decimate';
import { heatColour, heatPixels, spansUnder, type HeatInput, type HeatLook } from '../draw/heat';
import { clipped, decades, logPart, stepAt, stepAxis, stepTicks, stepX, panned, zoomed } from '../draw/scale';
import { decadeTicks, linePath, Lines, oddPath, rangePath, valueRange, type Line } from '../draw/lines';
import { sequential } from '../draw/colour';
import type { Spans } from '../protocol/decode';
import { LAST, MAX, MIN, Series } from '../panels/series';

const NAMES = ['loss', 'grad_norm', 'g/w', 'w/w', 'u/w'];

/** One exact span a step, all columns the same number. */
function steps(from: number, values: readonly number[], width = NAMES.length): Spans {
  const first = new Int32Array(values.map((_, i) => from + i));
  const data = new Float32Array(values.flatMap(v => new Array<number>(3 * width).fill(v)));
  return { first, last: first.slice(), data, width };
}

function series(most?: number): Series {
  const out = new Series(most);
  out.setColumns(NAMES);
  return out;
}

describe('the history of a run', () => {
  it('grows at its end and answers by column name', () => {
    const s = series();
    s.append(steps(1, [3, 2]));
    s.append(steps(3, [1]));
    expect([s.size, s.firstStep, s.lastStep]).toEqual([3, 1, 3]);
    expect(Array.from(s.values('loss'))).toEqual([3, 2, 1]);
    expect(s.latest('g/w')).toBe(1);
    expect(s.latest('g/absent')).toBeNaN();
    expect(s.parameters()).toEqual(['w']);
  });

  it('takes a repeated history in place of the old one', () => {
    const s = series();
    s.append(steps(1, [3, 2, 1]));
    s.append(steps(1, [3, 2, 1, 0.5]));
    expect(Array.from(s.values('loss'))).toEqual([3, 2, 1, 0.5]);
  });

  it('has no number for the steps before a parameter was there', () => {
    const s = series();
    s.append(steps(1, [3]));
    s.setColumns([...NAMES, 'g/late', 'w/late', 'u/late']);
    s.append(steps(2, [2], NAMES.length + 3));
    expect(Array.from(s.values('g/late'))).toEqual([NaN, 2]);
    expect(Array.from(s.values('loss'))).toEqual([3, 2]);
  });

  it('merges pairs above its limit and keeps a spike of one step', () => {
    const s = series(64);
    for (let t = 1; t <= 1000; t++) s.append(steps(t, [t === 77 ? 500 : 1]));
    expect(s.size).toBeLessThanOrEqual(64);
    expect([s.firstStep, s.lastStep]).toEqual([1, 1000]);
    expect(Math.max(...s.values('loss', MAX))).toBe(500);
    expect(Math.max(...s.values('loss', MIN))).toBe(1);
    for (let i = 1; i < s.size; i++) expect(s.first[i]).toBe((s.last[i - 1] as number) + 1);
  });

  it('keeps spans of like length however long the run: the middle of the run is in the middle', () => {
    const s = new Series(1000);
    s.setColumns(['loss']);
    for (let first = 1; first <= 100_000; first += 50) {
      s.append(
        steps(
          first,
          Array.from({ length: 50 }, (_, i) => (first + i === 50_000 ? 1e6 : 1))
        )
      );
    }
    const values = Array.from(s.values('loss', 1));
    expect(values.filter(v => v > 1)).toEqual([1e6]);
    expect(Math.abs(values.indexOf(1e6) / s.size - 0.5)).toBeLessThan(0.35);
    const widths = Array.from({ length: s.size - 1 }, (_, i) => (s.last[i] as number) - (s.first[i] as number) + 1);
    expect(widths.reduce((a, b) => a + b, 0)).toBe(99_999);
    expect(Math.max(...widths)).toBeLessThanOrEqual(512);
    expect(s.size).toBeGreaterThan(400);
  });

  it('takes the newest row again without losing the steps that were merged with it', () => {
    const s = series();
    const merged = { ...steps(1, [9, 5]), first: Int32Array.of(1, 11), last: Int32Array.of(10, 20) };
    s.append(merged);
    s.append(steps(20, [7, 6]));
    expect([...s.first.subarray(0, s.size)]).toEqual([1, 11, 20, 21]);
    expect([...s.last.subarray(0, s.size)]).toEqual([10, 19, 20, 21]);
    expect(Array.from(s.values('loss'))).toEqual([9, 5, 7, 6]);
  });

  it('loses no step and keeps the newest number when every row comes twice and pairs are merged', () => {
    const s = series(16);
    for (let t = 1; t <= 500; t++) s.append(t === 1 ? steps(1, [1]) : steps(t - 1, [t - 1, -1]));
    expect([s.firstStep, s.lastStep, s.latest('loss')]).toEqual([1, 500, -1]);
    for (let i = 1; i < s.size; i++) expect(s.first[i]).toBe((s.last[i - 1] as number) + 1);
    expect(Math.min(...s.values('loss', MIN).subarray(0, s.size - 1))).toBe(1);
  });

  it('stays below 64 MB however many columns there are, and keeps 500 spans of them', () => {
    const width = 4000;
    const s = new Series();
    s.setColumns(NAMES);
    for (let t = 1; t <= 2000; t++) s.append(steps(t, [1]));
    s.setColumns([...NAMES, ...Array.from({ length: width - NAMES.length }, (_, i) => `g/${i}`)]);
    const wide = { ...steps(2001, new Array<number>(400).fill(1)), data: new Float32Array(400 * 3 * width).fill(1), width };
    s.append(wide);
    expect(s.size).toBeGreaterThanOrEqual(500);
    expect(s.size).toBeLessThanOrEqual(64e6 / (12 * width));
    expect(s.bytes).toBeLessThan(72e6);
    expect([s.firstStep, s.lastStep]).toEqual([1, 2400]);
  });

  it('marks a merged span in which a step was not a number', () => {
    const s = series(8);
    for (let t = 1; t <= 9; t++) s.append(steps(t, [t === 4 ? NaN : 1]));
    expect(s.at(1, s.column('g/w'), MAX)).toBe(Infinity);
    expect(s.at(1, s.column('g/w'), MIN)).toBe(1);
    expect(s.at(0, s.column('g/w'), MAX)).toBe(1);
  });

  it('forgets everything on a reset', () => {
    const s = series();
    s.append(steps(1, [1, 2]));
    s.clear();
    expect([s.size, s.columns.length, s.lastStep]).toEqual([0, 0, 0]);
  });

  it('keeps the last number of a span beside its extremes', () => {
    const s = series(2);
    s.append(steps(1, [5, 1, 3]));
    expect([s.at(0, 0, MIN), s.at(0, 0, MAX), s.at(0, 0, LAST)]).toEqual([1, 5, 1]);
  });
});

describe('decimate', () => {
  const values = Float32Array.from({ length: 5000 }, (_, i) => (i === 1234 ? 99 : i === 4000 ? NaN : 1));
  const first = Int32Array.from(values, (_, i) => i + 1);
  const pixels = decimate(
    { first, last: first, size: values.length, low: s => values[s]!, high: s => values[s]!, end: s => values[s]! },
    300
  );

  it('gives at most one point a pixel, in the order of time', () => {
    expect(pixels.steps.length).toBe(300);
    for (let i = 1; i < 300; i++) expect(pixels.steps[i]!).toBeGreaterThan(pixels.steps[i - 1]!);
  });

  it('keeps a spike of one step at its height and its step', () => {
    const at = pixels.high.indexOf(99);
    expect(pixels.steps[at]).toBe(1235);
  });

  it('says where a number was not finite', () => {
    expect(pixels.odd.reduce((a, b) => a + b)).toBe(1);
  });
});

describe('the heat map', () => {
  const look: HeatLook = { colours: sequential(false), low: -2, high: 1, empty: 1, unread: 3, odd: 2 };
  const n = 2000;
  const first = Int32Array.from({ length: n }, (_, i) => i + 1);
  const cell = (row: number, s: number) => (s === 777 ? (row === 0 ? 10 : NaN) : 0.01);
  const input: HeatInput = { rows: 2, first, last: first, size: n, cell, odd: (row, s) => row === 1 && s === 777, read: () => true };

  it('shows the highest of the steps under a pixel, and what was not finite', () => {
    const out = heatPixels(input, stepAxis(1, n, 100), 100, look);
    expect(out.subarray(0, 100).filter(c => c === look.colours[255]).length).toBe(1);
    expect(out.subarray(100).filter(c => c === 2).length).toBe(1);
  });

  it('goes on through steps that were not read, and ends where a row has no number any more', () => {
    const seldom = { ...input, rows: 1, size: 100, odd: () => false };
    const axis = stepAxis(1, 100, 100);
    const painted = (more: Partial<HeatInput>) =>
      heatPixels({ ...seldom, ...more }, axis, 100, look).reduce((sum, c) => sum + Number(c !== look.empty), 0);
    expect(painted({ cell: (_, s) => (s % 50 === 0 ? 0.5 : NaN), read: s => s % 50 === 0 })).toBe(100);
    // After the last step that was read nothing is known; a few steps are no gap.
    const ends = (every: number) =>
      heatPixels({ ...seldom, cell: (_, s) => (s % every === 0 ? 0.5 : NaN), read: s => s % every === 0 }, axis, 100, look);
    expect(ends(50).indexOf(look.unread)).toBe(51);
    expect(ends(10).includes(look.unread)).toBe(false);
    expect(painted({ cell: (_, s) => (s < 20 ? 0.5 : NaN), read: () => true })).toBe(20 + 12);
  });

  it('leaves pixels after the last step empty', () => {
    const short = { ...input, size: 10, first: first.slice(0, 10), last: first.slice(0, 10) };
    const under = spansUnder(short, { first: 1, last: 24, width: 240 }, 240);
    expect(under[2 * 99]).toBe(9);
    expect(under[2 * 101]).toBe(-1);
  });

  it('clips to the ends of its colours', () => {
    expect(heatColour(0, look)).toBe(look.colours[0]);
    expect(heatColour(1e9, look)).toBe(look.colours[255]);
  });
});

describe('scales', () => {
  it('put numbers where their logarithm stands', () => {
    expect(logPart(1, -3, 4)).toBeCloseTo(3 / 7);
    expect(logPart(0, -3, 4)).toBeNaN();
    expect(decades([0.02, 0.3, NaN, 0])).toEqual([-3, 0]);
    expect(decades([])).toEqual([-3, 0]);
  });

  it('cut a range to what most numbers need', () => {
    const values = [...Array.from({ length: 500 }, (_, i) => 0.1 + i / 500), 1e6];
    const [low, high] = clipped(values);
    expect(low).toBeGreaterThan(-1.2);
    expect(high).toBeLessThan(0.2);
  });

  it('leave what is zero but for rounding below the range', () => {
    const values = Array.from({ length: 500 }, (_, i) => (i % 10 ? 0.1 + i / 500 : 1e-10));
    const [low, high] = clipped(values);
    expect(high - low).toBeCloseTo(6);
    expect(high).toBeCloseTo(0.1);
  });

  it('put every step in the middle of its own column', () => {
    const axis = stepAxis(1, 100, 300);
    for (const step of [1, 50, 100]) expect(stepAt(axis, stepX(axis, step))).toBe(step);
  });

  it('zoom about a step and never leave the run', () => {
    expect(zoomed([1, 100], [1, 100], 0.5, 50)).toEqual([26, 75]);
    expect(zoomed([26, 75], [1, 100], 4, 50)).toBeNull();
    expect(zoomed([1, 10], [1, 100], 0.1, 1)).toEqual([1, 8]);
    expect(panned([26, 75], [1, 100], 60)).toEqual([51, 100]);
    expect(panned([26, 75], [1, 100], -60)).toEqual([1, 50]);
  });

  it('tick round steps', () => {
    expect(stepTicks(1, 200, 4)).toEqual([50, 100, 150, 200]);
    expect(stepTicks(1, 3, 4).every(t => Number.isInteger(t))).toBe(true);
  });
});

describe('lines', () => {
  const line = (steps: number[], values: number[], more: Partial<Line> = {}): Line => ({
    ...{ name: 'l', steps, low: values, high: values, last: values, colour: '#000', odd: values.map(() => 0) },
    ...more
  });
  const same = (x: number) => x;

  it('go on over what was not measured, and break where a number was zero or not finite', () => {
    expect(linePath(line([1, 2, 3], [5, NaN, 6]), same, same)[0]).toBe('M1.0 5.0L3.0 6.0');
    const odd = line([1, 2, 3, 4, 5, 6], [5, NaN, 6, 7, 0, 8], { odd: [0, NaN, 0, 0, 0, 0] });
    expect(linePath(odd, same, same)).toEqual(['M1.0 5.0M3.0 6.0L4.0 7.0M6.0 8.0', 'M1.0 5.0h0M6.0 8.0h0']);
    expect(linePath(line([1, 30], [5, 6]), same, same)[0]).toBe('M1.0 5.0L30.0 6.0');
    const seldom = Array.from({ length: 31 }, (_, i) => (i % 10 === 0 ? 1 : NaN));
    expect(linePath(line([...seldom.keys()], seldom), same, same)[0].match(/M/g)?.length).toBe(1);
    const pause = Array.from({ length: 31 }, (_, i) => (i % 30 === 0 ? 1 : NaN));
    expect(linePath(line([...pause.keys()], pause), same, same)[0].match(/M/g)?.length).toBe(2);
    // Steps that were not read tell nothing of the line.
    const light = line([...pause.keys()], pause, { unread: (i: number) => i % 30 !== 0 });
    expect(linePath(light, same, same)[0].match(/M/g)?.length).toBe(1);
  });

  it('reach the highest and the lowest of the steps that a point stands for, and go on from the last', () => {
    const path = linePath(line([1, 2], [5, 6], { low: [5, 1], high: [5, 9] }), same, same)[0];
    expect(path).toBe('M1.0 5.0L2.0 6.0V9.0V1.0V6.0');
  });

  it('have pale bars for the range of steps where points are so far apart that spikes would stand alone', () => {
    const wide = line([10, 20, 30], [5, 6, 7], { low: [5, 1, 7], high: [5, 9, 7] });
    expect(rangePath(wide, same, same)).toBe('M20.0 9.0V1.0');
    expect(linePath(wide, same, same, undefined, 'bars')[0]).toBe('M10.0 5.0L20.0 6.0L30.0 7.0');
    expect(rangePath(line([1, 2, 3], [5, 6, 7], { high: [5, 9, 7] }), same, same)).toBe('');
  });

  it('of nothing but zeros have a floor called 0 and no decades; their names stand beside the plot, with a line to where they end', () => {
    const chart = new Lines('x');
    const axis = { first: 1, last: 10, width: 100 };
    const fit = (names: readonly string[]) => names;
    chart.update({
      lines: [line([1, 2, 3, 4, 5], [0, 0, 0, 0, 0])],
      axis,
      left: 10,
      right: 40,
      height: 60,
      font: '10px x',
      format: String,
      fit
    });
    expect([...chart.element.querySelectorAll('.gl-grid text')].map(text => text.textContent)).toEqual(['0']);
    expect(chart.element.querySelector<HTMLElement>('.gl-line-names span')!.style.left).toBe('116px');
    // The middle of step 5 of ten, in 100 pixels.
    expect(chart.element.querySelector('.gl-leaders path')!.getAttribute('d')).toMatch(/^M58\.0 [\d.]+H106L113 [\d.]+$/);
  });

  it('that end early are led to their names from the last of their numbers', () => {
    const chart = new Lines('x');
    const fit = (names: readonly string[]) => names;
    const axis = { first: 1, last: 10, width: 100 };
    const room = { axis, left: 0, right: 40, height: 60, font: '10px x', format: String, fit };
    chart.update({ ...room, lines: [line([1, 2, 3], [1, 1, 100]), line([1, 10], [10, 10])] });
    const [low, high] = valueRange([line([1, 2, 3], [1, 1, 100]), line([1, 10], [10, 10])]).map(Math.log10) as [number, number];
    const y = 53 - ((2 - low) / (high - low)) * (53 - 9);
    const leaders = [...chart.element.querySelectorAll('.gl-leaders path')].map(path => path.getAttribute('d')!);
    expect(leaders.length).toBe(1);
    expect(leaders[0]).toMatch(new RegExp(`^M28\\.0 ${y.toFixed(1)}H96L103 `));
  });

  it('have a glyph of its own for NaN and for Inf, in their colour, and for zero, in that of the line', () => {
    const odd = line([10, 20, 30, 40], [1, NaN, NaN, 0], { odd: [0, NaN, Infinity, 0] });
    expect(oddPath(odd, same, 0, 100)).toEqual(['M20.0 3m-3 -3l6 6m0 -6l-6 6M30.0 7v-7m-3 3l3 -3l3 3', 'M40.0 96a2 2 0 1 0 .1 0']);
  });

  it('have a range around what is positive, and a few ticks in it', () => {
    const [low, high] = valueRange([line([1, 2, 3], [0.01, 10, 0])]);
    expect([low < 0.01, high > 10]).toEqual([true, true]);
    expect(decadeTicks(low, high).map(t => Number(t.toPrecision(3)))).toEqual([0.01, 0.1, 1, 10]);
    expect(decadeTicks(5e-4, 2e-3)).toEqual([5e-4, 1e-3, 2e-3]);
    expect(decadeTicks(1.1e-4, 3.9e-3, 44)).toEqual([3e-4, 1e-3, 3e-3]);
    expect(valueRange([line([1], [NaN])])).toEqual([0.1, 10]);
  });
});
