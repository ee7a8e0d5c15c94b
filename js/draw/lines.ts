/** Lines over steps on a logarithmic axis, with uPlot; they share the x axis of the map above them. */

import uPlot from 'uplot';
import { html } from './element';
import type { StepAxis } from './scale';

/** The height of a label. */
const LABEL = 13;

/** One line: its points in the order of steps; NaN leaves a gap. */
export interface Line {
  name: string;
  steps: ArrayLike<number>;
  values: ArrayLike<number>;
  colour: string;
  /** Steps at which the number was not finite. */
  odd: readonly number[];
}

export interface LinesLook {
  text: string;
  grid: string;
  odd: string;
  font: string;
  band: string;
}

export interface LinesInput {
  lines: readonly Line[];
  axis: StepAxis;
  left: number;
  right: number;
  height: number;
  look: LinesLook;
  /** A range of values to tint, from and to. */
  band?: readonly [number, number];
  format: (x: number) => string;
  /** Cuts the names to the room at the right end. */
  fit: (names: readonly string[], width: number, font: string) => string[];
}

/** The decades of all points, wide enough for flat lines. */
export function valueRange(lines: readonly Line[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const line of lines) {
    for (let i = 0; i < line.values.length; i++) {
      const x = line.values[i] as number;
      if (x > 0 && x < Infinity) {
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

/**
 * Merge the lines into the table uPlot wants: one row of x, one row for each line.
 *
 * `undefined` stands where a line has no point and goes on, null where it breaks.
 */
export function tabulate(lines: readonly Line[]): (number | null | undefined)[][] {
  const steps = [...new Set(lines.flatMap(line => Array.from(line.steps)))].sort((a, b) => a - b);
  const rows = lines.map(line => {
    const known = new Map<number, number>();
    for (let i = 0; i < line.steps.length; i++) known.set(line.steps[i] as number, line.values[i] as number);
    return steps.map(step => {
      const x = known.get(step);
      return x === undefined ? undefined : x > 0 && x < Infinity ? x : null;
    });
  });
  return [steps, ...rows];
}

/** A chart that is made anew only when its size, lines or colours change. */
export class Lines {
  readonly element = html('div', { class: 'gl-lines', role: 'img' });
  private plot: uPlot | null = null;
  private made = '';
  private input: LinesInput | null = null;
  private readonly names = html('div', { class: 'gl-line-names', 'aria-hidden': 'true' });

  constructor(label: string) {
    this.element.setAttribute('aria-label', label);
  }

  update(input: LinesInput): void {
    this.input = input;
    const { lines, axis, left, right, height, look } = input;
    const table = tabulate(lines);
    const key = JSON.stringify([lines.map(l => [l.name, l.colour]), left, right, axis.width, height, look]);
    if (key !== this.made) {
      this.destroy();
      this.made = key;
      if (!document.createElement('canvas').getContext('2d')) return;
      this.plot = new uPlot(this.options(), table as unknown as uPlot.AlignedData, this.element);
      this.element.append(this.names);
    } else this.plot?.setData(table as unknown as uPlot.AlignedData, true);
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
    this.names.remove();
    this.made = '';
  }

  private options(): uPlot.Options {
    const { lines, axis, left, right, height, look } = this.input as LinesInput;
    return {
      width: left + axis.width + right,
      height,
      padding: [9, right, 7, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: () => [(this.input as LinesInput).axis.first - 0.5, (this.input as LinesInput).axis.last + 0.5] },
        y: { distr: 3, range: () => valueRange((this.input as LinesInput).lines) }
      },
      axes: [
        { show: false },
        {
          size: left,
          gap: 6,
          font: look.font,
          stroke: look.text,
          grid: { stroke: look.grid, width: 1 },
          ticks: { show: false },
          splits: (u: uPlot, _i: number, min: number, max: number) => decadeTicks(min, max, u.bbox.height / uPlot.pxRatio),
          filter: (_u: uPlot, splits: number[]) => splits,
          values: (_u: uPlot, splits: number[]) => splits.map((this.input as LinesInput).format)
        }
      ],
      series: [
        {},
        ...lines.map(line => ({ label: line.name, stroke: line.colour, width: 1.3, points: { show: line.steps.length < 3, size: 4 } }))
      ],
      hooks: { drawClear: [u => this.drawBand(u)], draw: [u => this.drawOdd(u), u => this.label(u)] }
    };
  }

  /** Tint the good range behind the lines. */
  private drawBand(u: uPlot): void {
    const { band, look } = this.input as LinesInput;
    if (!band) return;
    const clamp = (y: number) => Math.min(u.bbox.top + u.bbox.height, Math.max(u.bbox.top, y));
    const [bottom, top] = band.map(v => clamp(u.valToPos(v, 'y', true))) as [number, number];
    u.ctx.fillStyle = look.band;
    u.ctx.fillRect(u.bbox.left, top, u.bbox.width, bottom - top);
  }

  /** Steps that were not finite stand as ticks along the top. */
  private drawOdd(u: uPlot): void {
    const { lines, look } = this.input as LinesInput;
    u.ctx.fillStyle = look.odd;
    for (const line of lines) {
      for (const step of line.odd) u.ctx.fillRect(Math.round(u.valToPos(step, 'x', true)) - 1, u.bbox.top, 3, 8);
    }
  }

  /** Names at the right end of the lines, moved apart where they would cover each other. */
  private label(plot: uPlot): void {
    const input = this.input as LinesInput;
    const { lines, left, axis, right, height } = input;
    const ends = lines.map(line => {
      const tail: number[] = [];
      for (let i = line.values.length - 1; i >= 0 && tail.length < 6; i--) {
        const x = line.values[i] as number;
        if (x > 0 && x < Infinity) tail.push(Math.log10(x));
      }
      const mean = tail.reduce((a, b) => a + b, 0) / tail.length;
      return { line, y: tail.length > 0 ? plot.bbox.top / uPlot.pxRatio + plot.valToPos(10 ** mean, 'y') : height / 2 };
    });
    ends.sort((a, b) => a.y - b.y);
    ends.forEach((end, i) => (end.y = Math.max(end.y, i > 0 ? (ends[i - 1]?.y ?? 0) + 13 : 6)));
    const over = (ends.at(-1)?.y ?? 0) - (height - 8);
    if (over > 0) for (const end of ends) end.y -= over;
    const texts = input.fit(
      ends.map(({ line }) => line.name),
      right - 6,
      `600 ${input.look.font}`
    );
    this.names.replaceChildren(
      ...ends.map(({ line, y }, i) =>
        html(
          'span',
          { style: `left:${left + axis.width + 6}px;top:${(y - 7).toFixed(1)}px;color:${line.colour}`, title: line.name },
          texts[i]
        )
      )
    );
  }
}
