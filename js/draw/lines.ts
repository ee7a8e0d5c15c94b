/** Lines over steps on a logarithmic axis, as SVG: colours are CSS, so that a new theme paints them by itself. */

import { html, set, svg, write } from './element';
import { stepX, type StepAxis } from './scale';
import { whole } from './text';

/** The height of a label. */
const LABEL = 13;
const TOP = 9;
const BOTTOM = 7;
/** Points at least so many pixels apart stand for steps whose range is a pale bar; nearer ones make a line of the extremes. */
const APART = 4;
/** So many points in a row may be missing and the line goes on: larger parameters are measured in every tenth step. */
const LONGEST_GAP = 12;

/** One line: at each point the lowest, highest and last number of the steps it stands for; NaN where there is none. */
export interface Line {
  name: string;
  steps: ArrayLike<number>;
  low: ArrayLike<number>;
  high: ArrayLike<number>;
  last: ArrayLike<number>;
  colour: string;
  /** What among the steps of a point was not finite: NaN, Infinity, or 0 where all was. */
  odd: ArrayLike<number>;
  /** Whether a point is of steps that were not read, and so tells nothing. */
  unread?: ((i: number) => boolean) | undefined;
}

export interface LinesInput {
  lines: readonly Line[];
  axis: StepAxis;
  left: number;
  right: number;
  height: number;
  /** The font of names, to measure them. */
  font: string;
  /** The ends of a linear axis, in place of a logarithmic one. */
  linear?: readonly [number, number] | undefined;
  /** A range of values to tint, from and to. */
  band?: readonly [number, number] | undefined;
  format: (x: number) => string;
  /** Cuts the names to the room at the right end. */
  fit: (names: readonly string[], width: number, font: string) => readonly string[];
}

const isPositive = (x: number) => x > 0 && x < Infinity;

/** The range of all points, wide enough for flat lines. */
export function valueRange(lines: readonly Line[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const line of lines) {
    for (const column of [line.low, line.high]) {
      for (let i = 0; i < column.length; i++) {
        const x = column[i] as number;
        if (!isPositive(x)) continue;
        low = Math.min(low, x);
        high = Math.max(high, x);
      }
    }
  }
  if (low > high) return [0.1, 10];
  if (high / low < 4) return [low / 2, high * 2];
  return [low * 0.8, high * 1.25];
}

/** Decades, or every few of them where the range is wide; round numbers between them where it is not. */
export function decadeTicks(low: number, high: number, height = 80): number[] {
  const [a, b] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const size = Math.max(1, Math.ceil((b - a) / 4));
  const ticks: number[] = [];
  for (let e = a; e <= b; e += size) ticks.push(10 ** e);
  if (ticks.length > 1) return ticks;
  const dense = (0.3 * height) / Math.log10(high / low) >= LABEL;
  const round = [a - 1, a, b + 1].flatMap(e => (dense ? [1, 2, 5] : [1, 3]).map(m => Number(`${m}e${e}`)));
  return [...new Set(round)].filter(x => x >= low * 0.999 && x <= high * 1.001);
}

/** Bars from the lowest to the highest of the steps that a point stands for, where points are so far apart that each is seen. */
export function rangePath(line: Line, x: (step: number) => number, y: (value: number) => number): string {
  const points = Array.from(line.high, (_, i) => i).filter(i => isPositive(line.high[i] as number));
  const at = (i: number | undefined) => x(line.steps[i as number] as number);
  if (points.length === 0 || at(points.at(-1)) - at(points[0]) < APART * (points.length - 1)) return '';
  const bars = points.filter(i => (line.low[i] as number) > 0 && line.low[i] !== line.high[i]);
  return bars.map(i => `M${at(i).toFixed(1)} ${y(line.high[i] as number).toFixed(1)}V${y(line.low[i] as number).toFixed(1)}`).join('');
}

/**
 * The path of a line, and of the dots where a number stands alone.
 *
 * From point to point it goes along the last numbers; where a point stands for several steps it goes up to their highest
 * and down to their lowest as well, unless these have bars. It breaks where a number was zero or not finite.
 */
export function linePath(
  line: Line,
  x: (step: number) => number,
  y: (value: number) => number,
  isMark = isPositive,
  bars = ''
): [path: string, dots: string] {
  let path = '';
  let dots = '';
  let points = 0;
  let missing = 0;
  let start = '';
  const end = () => {
    if (points === 1) dots += start;
    points = 0;
  };
  for (let i = 0; i < line.steps.length; i++) {
    const [low, high, last] = [line.low[i], line.high[i], line.last[i]] as [number, number, number];
    if (line.odd[i] === 0 && high !== high && line.unread?.(i)) continue;
    if (line.odd[i] !== 0 || (high === 0 && !isMark(0)) || ++missing > LONGEST_GAP) end();
    if (!isMark(high)) continue;
    missing = 0;
    const at = x(line.steps[i] as number).toFixed(1);
    const to = y(isMark(last) ? last : high).toFixed(1);
    if (points === 0) start = `M${at} ${to}h0`;
    path += `${points++ > 0 ? 'L' : 'M'}${at} ${to}`;
    if (low !== high && !bars) path += `V${y(high).toFixed(1)}V${y(low).toFixed(1)}V${to}`;
  }
  end();
  return [path, dots];
}

/** Glyphs for what a logarithmic axis has no place for: NaN a cross and Inf an arrow at the top; exact zero a ring at the bottom. */
export function oddPath(line: Line, x: (step: number) => number, top: number, bottom: number): [odd: string, zeros: string] {
  let [odd, zeros] = ['', ''];
  let free = -Infinity;
  for (let i = 0; i < line.steps.length; i++) {
    const bad = line.odd[i] as number;
    const at = x(line.steps[i] as number);
    if ((bad === 0 && line.high[i] !== 0) || at < free) continue;
    free = at + 4;
    const m = `M${at.toFixed(1)} `;
    if (bad === 0) zeros += `${m}${bottom - 4}a2 2 0 1 0 .1 0`;
    else if (bad === Infinity) odd += `${m}${top + 7}v-7m-3 3l3 -3l3 3`;
    else odd += `${m}${top + 3}m-3 -3l6 6m0 -6l-6 6`;
  }
  return [odd, zeros];
}

/** The drawing of one line. */
class Stroke {
  readonly path = svg('path', {});
  private readonly range = svg('path', { class: 'gl-range' });
  private readonly dots = svg('path', { class: 'gl-dots' });
  private readonly odd = svg('path', { class: 'gl-odds' });
  readonly element = svg('g', { class: 'gl-line' }, this.path, this.range, this.dots, this.odd);

  update(line: Line, x: (step: number) => number, y: (value: number) => number, top: number, bottom: number, linear: boolean): void {
    const bars = rangePath(line, x, y);
    const [path, dots] = linePath(line, x, y, linear ? Number.isFinite : isPositive, bars);
    set(this.range, 'd', bars);
    const [odd, zeros] = oddPath(line, x, top, bottom);
    set(this.path, 'd', linear ? path : path + zeros);
    set(this.dots, 'd', dots);
    set(this.odd, 'd', odd);
    set(this.element, 'style', `stroke:${line.colour}`);
  }
}

/** A chart that changes in place. Whoever shows it adds what the pointer does. */
export class Lines {
  private readonly band = svg('rect', { class: 'gl-goodband' });
  private readonly grid = svg('g', { class: 'gl-grid' });
  private readonly plot = svg('g', {});
  private readonly leaders = svg('g', { class: 'gl-leaders' });
  private readonly cursor = svg('path', { class: 'gl-cursor', visibility: 'hidden' });
  private readonly chosen = svg('path', { class: 'gl-cursor gl-at', visibility: 'hidden' });
  private readonly picture = svg('svg', { 'aria-hidden': 'true' }, this.band, this.grid, this.leaders, this.plot, this.cursor, this.chosen);
  private readonly names = html('div', { class: 'gl-line-names', 'aria-hidden': 'true' });
  readonly element = html('div', { class: 'gl-lines', role: 'img' }, this.picture, this.names);
  private strokes: Stroke[] = [];
  /** What is drawn now. */
  input: LinesInput | null = null;

  constructor(label: string) {
    this.element.setAttribute('aria-label', label);
  }

  update(input: LinesInput): void {
    this.input = input;
    const { lines, axis, left, right, height, band, format, linear } = input;
    const bottom = height - BOTTOM;
    const range = linear ?? valueRange(lines);
    const scale = linear ? (value: number) => value : Math.log10;
    const [low, high] = range.map(scale) as [number, number];
    const x = (step: number) => left + stepX(axis, step);
    const y = (value: number) => Math.min(bottom, Math.max(TOP, bottom - ((scale(value) - low) / (high - low)) * (bottom - TOP)));
    set(this.picture, 'width', left + axis.width + right);
    set(this.picture, 'height', height);
    set(this.band, 'visibility', band ? null : 'hidden');
    if (band) {
      const [from, to] = [y(band[0]), y(band[1])];
      for (const [name, value] of Object.entries({ x: left, width: axis.width, y: to, height: from - to })) set(this.band, name, value);
    }
    const all = lines.flatMap(line => Array.from(line.high));
    const decades = all.some(isPositive) ? decadeTicks(...(range as [number, number]), bottom - TOP) : [];
    const marks = linear ? [linear[0], (linear[0] + linear[1]) / 2, linear[1]] : decades;
    const ticks = marks.map((value): [string, number] => [format(value), y(value)]);
    // Of nothing but zeros there are no decades: they stand on a floor of their own.
    if (ticks.length === 0 && all.includes(0)) ticks.push([format(0), bottom - 4]);
    if (this.grid.getAttribute('data-of') !== JSON.stringify([ticks, left, axis.width])) {
      set(this.grid, 'data-of', JSON.stringify([ticks, left, axis.width]));
      this.grid.replaceChildren(
        svg('path', { d: ticks.map(([, at]) => `M${left} ${Math.round(at) + 0.5}h${axis.width}`).join('') }),
        ...ticks.map(([text, at]) => svg('text', { x: left - 6, y: (at + 4).toFixed(1) }, text))
      );
    }
    if (this.strokes.length !== lines.length) {
      this.strokes = lines.map(() => new Stroke());
      this.plot.replaceChildren(...this.strokes.map(stroke => stroke.element));
    }
    this.strokes.forEach((stroke, i) => stroke.update(lines[i] as Line, x, y, TOP, bottom, linear !== undefined));
    this.label(input, y);
  }

  /** Mark the step under the pointer and the one that was gone back to; null takes a mark away. */
  point(near: number | null, at: number | null = null): void {
    for (const [mark, step] of [
      [this.cursor, near],
      [this.chosen, at]
    ] as const) {
      const input = this.input;
      const inside = input && step !== null && step >= input.axis.first && step <= input.axis.last;
      set(mark, 'visibility', inside ? null : 'hidden');
      if (inside) set(mark, 'd', `M${(input.left + stepX(input.axis, step)).toFixed(1)} ${TOP}V${input.height - BOTTOM}`);
    }
  }

  /** Names beside the plot where the lines end, moved apart where they would cover each other; a thin line leads to what ends early. */
  private label({ lines, left, axis, right, height, font, fit, linear }: LinesInput, y: (value: number) => number): void {
    const ends = lines.map(line => {
      const tail: number[] = [];
      let end = 0;
      let zero = false;
      for (let i = line.last.length - 1; i >= 0 && tail.length < 6; i--) {
        const x = line.last[i] as number;
        zero ||= x === 0;
        if (!Number.isNaN(x)) end = Math.max(end, stepX(axis, line.steps[i] as number));
        if (linear ? Number.isFinite(x) : isPositive(x)) tail.push(linear ? x : Math.log10(x));
      }
      const mean = tail.reduce((a, b) => a + b, 0) / tail.length;
      const at = tail.length > 0 ? y(linear ? mean : 10 ** mean) : zero ? height - BOTTOM - 4 : height / 2;
      const from = tail.length > 0 ? y(linear ? (tail[0] as number) : 10 ** (tail[0] as number)) : at;
      return { line, end: end || axis.width, from, y: at };
    });
    ends.sort((a, b) => a.y - b.y);
    ends.forEach((one, i) => (one.y = Math.max(one.y, i > 0 ? (ends[i - 1]?.y ?? 0) + LABEL : 6)));
    const over = (ends.at(-1)?.y ?? 0) - (height - 8);
    if (over > 0) for (const one of ends) one.y -= over;
    this.leaders.replaceChildren(
      ...ends
        .filter(({ end }) => axis.width - end > 8)
        .map(one =>
          svg('path', {
            d: `M${(left + one.end + 3).toFixed(1)} ${one.from.toFixed(1)}H${left + axis.width - 4}L${left + axis.width + 3} ${one.y.toFixed(1)}`,
            style: `stroke:${one.line.colour}`
          })
        )
    );
    const names = ends.map(({ line }) => line.name);
    const texts = fit(names, right - 6, `600 ${font}`);
    while (this.names.childElementCount < ends.length) this.names.append(html('span', {}));
    while (this.names.childElementCount > ends.length) this.names.lastChild?.remove();
    ends.forEach(({ line, y: at }, i) => {
      const span = this.names.children[i] as HTMLElement;
      set(span, 'style', `left:${left + axis.width + 6}px;top:${(at - 7).toFixed(1)}px;color:${line.colour}`);
      set(span, 'title', whole(line.name));
      write(span, texts[i] as string);
    });
  }
}
