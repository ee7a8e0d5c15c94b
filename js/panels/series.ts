/** The history of one run: append-only columns over spans of steps, at most 10,000 of them and about 64 MB. */

import { isMissing, type Spans } from '../protocol/decode';

const MOST_SPANS = 10_000;
const MOST_BYTES = 64e6;
const FEWEST_SPANS = 500; // however many columns there are
export const MIN = 0;
export const MAX = 1;
export const LAST = 2;
export type Pick = typeof MIN | typeof MAX | typeof LAST;

/**
 * Spans of steps with min, max and last of every column.
 *
 * Full history merges neighbours into spans of about the same number of steps, extremes stay. A merged span in which a step was not finite keeps
 * Infinity as its maximum, so that one bad step among thousands is still seen.
 */
export class Series {
  columns: string[] = [];
  size = 0;
  first = new Int32Array(256);
  last = new Int32Array(256);
  private index = new Map<string, number>();
  private gradients: number[] = [];
  private width = 0;
  private data = new Float32Array(0);

  constructor(private readonly most = MOST_SPANS) {}

  /** How many spans there may be with this many columns: min, max and last take 12 bytes each. */
  private limit(width: number): number {
    return Math.min(this.most, Math.max(FEWEST_SPANS, Math.floor(MOST_BYTES / (12 * width))));
  }

  /** The place of a column; -1 where the run has none of that name. */
  column(name: string): number {
    return this.index.get(name) ?? -1;
  }

  /** The parameter names in the order of the timeline. */
  parameters(): string[] {
    return this.columns.filter(name => name.startsWith('g/')).map(name => name.slice(2));
  }

  at(span: number, column: number, pick: Pick): number {
    return column < 0 ? NaN : (this.data[(span * 3 + pick) * this.width + column] as number);
  }

  /** Whether the gradients of a span were read; of a light step only the norm of all is known. */
  read(span: number): boolean {
    return this.gradients.some(c => !isMissing(this.data, (span * 3 + LAST) * this.width + c));
  }

  /** One column over all spans. */
  values(name: string, pick: Pick = MAX): Float32Array {
    const column = this.column(name);
    const out = new Float32Array(this.size).fill(NaN);
    if (column >= 0) for (let s = 0; s < this.size; s++) out[s] = this.at(s, column, pick);
    return out;
  }

  /** The number of a column at the newest of the last `steps` steps that measured it; NaN where none did. */
  latest(name: string, steps = 1): number {
    const column = this.column(name);
    if (column < 0) return NaN;
    for (let i = this.size - 1; i >= 0 && (this.last[i] as number) > this.lastStep - steps; i--) {
      if (!isMissing(this.data, (i * 3 + LAST) * this.width + column)) return this.at(i, column, LAST);
    }
    return NaN;
  }

  /** What the numbers take in memory. */
  get bytes(): number {
    return this.data.byteLength;
  }

  get firstStep(): number {
    return this.size > 0 ? (this.first[0] as number) : 1;
  }

  get lastStep(): number {
    return this.size > 0 ? (this.last[this.size - 1] as number) : 0;
  }

  clear(): void {
    this.size = 0;
    this.columns = [];
    this.index.clear();
    this.width = 0;
    this.data = new Float32Array(0);
  }

  setColumns(names: readonly string[]): void {
    this.columns = [...names];
    this.index = new Map(names.map((name, i) => [name, i]));
    this.gradients = [...this.index].flatMap(([name, i]) => (name.startsWith('g/') ? [i] : []));
    this.widen(names.length);
  }

  /** Add spans at the end; what the run already has of their steps (the newest row, or the whole history) gives way to them. */
  append(spans: Spans): void {
    const count = spans.first.length;
    if (count === 0) return;
    if (spans.width > this.width) this.widen(spans.width);
    this.cut(spans.first[0] as number);
    this.reserve(this.size + count);
    for (let s = 0; s < count; s++) {
      const row = this.size++;
      this.first[row] = spans.first[s] as number;
      this.last[row] = spans.last[s] as number;
      for (let part = 0; part < 3; part++) {
        const from = (s * 3 + part) * spans.width;
        const to = (row * 3 + part) * this.width;
        this.data.fill(NaN, to, to + this.width);
        this.data.set(spans.data.subarray(from, from + spans.width), to);
      }
    }
    this.shrink(this.width);
  }

  /** Let go of the steps from `step` on; a span that begins before it keeps its beginning. */
  private cut(step: number): void {
    while (this.size > 0 && (this.first[this.size - 1] as number) >= step) this.size--;
    if (this.size > 0 && (this.last[this.size - 1] as number) >= step) this.last[this.size - 1] = step - 1;
  }

  private shrink(width: number): void {
    const limit = this.limit(width);
    if (this.size <= limit) return;
    const enough = Math.max(2, 0.75 * limit);
    for (let steps = 2; this.size > enough; steps *= 2) this.merge(steps);
  }

  private widen(width: number): void {
    if (width <= this.width) return;
    this.shrink(width);
    const room = Math.min(this.first.length, this.limit(width) + 1);
    this.first = this.first.slice(0, room);
    this.last = this.last.slice(0, room);
    const wide = new Float32Array(room * 3 * width).fill(NaN);
    for (let row = 0; row < this.size * 3; row++) {
      wide.set(this.data.subarray(row * this.width, (row + 1) * this.width), row * width);
    }
    this.data = wide;
    this.width = width;
  }

  private reserve(size: number): void {
    if (size <= this.first.length && this.data.length >= size * 3 * this.width) return;
    const room = Math.max(size, Math.min(this.first.length * 2, this.limit(this.width) + 1));
    const grow = <T extends Int32Array | Float32Array>(old: T, fresh: T): T => {
      fresh.set(old as never);
      return fresh;
    };
    this.first = grow(this.first, new Int32Array(room));
    this.last = grow(this.last, new Int32Array(room));
    this.data = grow(this.data, new Float32Array(room * 3 * this.width));
  }

  /** Merge neighbours into spans of up to so many steps, but not the newest span, which may come again. */
  private merge(steps: number): void {
    const total = this.column('grad_norm');
    let into = 0;
    for (let s = 1; s < this.size; s++) {
      const fits = (this.last[s] as number) - (this.first[into] as number) < steps;
      if (fits && s < this.size - 1) this.add(into, s, total);
      else this.move(s, ++into);
    }
    this.size = into + 1;
  }

  /** Put span `b` at the end of `a`. */
  private add(a: number, b: number, total: number): void {
    const bad = total >= 0 && !(Number.isFinite(this.at(a, total, MAX)) && Number.isFinite(this.at(b, total, MAX)));
    for (let c = 0; c < this.width; c++) {
      const one = Number.isNaN(this.at(a, c, MAX)) !== Number.isNaN(this.at(b, c, MAX));
      const low = merge(Math.min, this.at(a, c, MIN), this.at(b, c, MIN));
      const high = bad && one ? Infinity : merge(Math.max, this.at(a, c, MAX), this.at(b, c, MAX));
      this.data[a * 3 * this.width + c] = low;
      this.data[(a * 3 + 1) * this.width + c] = high;
      this.data[(a * 3 + 2) * this.width + c] = this.at(b, c, LAST);
    }
    this.last[a] = this.last[b] as number;
  }

  private move(from: number, to: number): void {
    if (from === to) return;
    const row = 3 * this.width;
    this.data.copyWithin(to * row, from * row, (from + 1) * row);
    this.first[to] = this.first[from] as number;
    this.last[to] = this.last[from] as number;
  }
}

function merge(pick: (a: number, b: number) => number, a: number, b: number): number {
  return Number.isNaN(a) ? b : Number.isNaN(b) ? a : pick(a, b);
}
