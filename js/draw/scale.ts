/** Where a number stands on a logarithmic or linear scale. */

/** The fraction, 0 to 1, at which `x` stands between 10^low and 10^high; NaN for what has no logarithm. */
export function logPart(x: number, low: number, high: number): number {
  if (!(x > 0)) return NaN;
  return Math.min(1, Math.max(0, (Math.log10(x) - low) / (high - low)));
}

/** The decades a set of numbers spans, widened to whole decades and to at least `least` of them. */
export function decades(values: Iterable<number>, least = 3): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const x of values) {
    if (!(x > 0) || x === Infinity) continue;
    low = Math.min(low, x);
    high = Math.max(high, x);
  }
  if (low > high) return [-least, 0];
  const top = Math.ceil(Math.log10(high) - 1e-9) + 0;
  return [Math.min(Math.floor(Math.log10(low) + 1e-9), top - least), top];
}

/** Decades of a map at most. */
export const DECADES = 6;

/**
 * The range, in decades, that holds all but `cut` of the numbers at either end, rounded outward to
 * tenths so that one new step does not recolour the whole map; and no more decades than can be told apart, so that
 * gradients which are zero but for rounding leave the colours to the others.
 */
export function clipped(values: readonly number[], cut = 0.01): [number, number] {
  const logs = values.filter(x => x > 0 && x !== Infinity).map(Math.log10);
  if (logs.length === 0) return [-2, 1];
  logs.sort((a, b) => a - b);
  const at = (part: number) => logs[Math.round(part * (logs.length - 1))] as number;
  const high = Math.ceil(at(1 - cut) * 10) / 10;
  const low = Math.max(Math.floor(at(cut) * 10) / 10, high - DECADES);
  return high - low < 1 ? [(low + high) / 2 - 0.5, (low + high) / 2 + 0.5] : [low, high];
}

/** At most `most` round steps between `first` and `last`, without the first one. */
export function stepTicks(first: number, last: number, most: number): number[] {
  const rough = Math.max(1, (last - first) / Math.max(1, most));
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 5, 10].map(m => m * power).find(m => m >= rough) as number;
  const ticks: number[] = [];
  for (let t = Math.ceil((first + size / 2) / size) * size; t <= last; t += size) ticks.push(t);
  return ticks;
}

/** Steps `first..last` along `width` pixels, each step as wide as the next. */
export interface StepAxis {
  first: number;
  last: number;
  width: number;
  /** The last step that anything is drawn of. */
  end?: number;
}

/** An axis for steps `first..last`. */
export function stepAxis(first: number, last: number, width: number): StepAxis {
  return { first, last: Math.max(first, last), width };
}

/** The middle of a step's column. */
export function stepX(axis: StepAxis, step: number): number {
  return ((step - axis.first + 0.5) / (axis.last - axis.first + 1)) * axis.width;
}

/** The step under a pixel. */
export function stepAt(axis: StepAxis, x: number): number {
  return axis.first + Math.floor((x / axis.width) * (axis.last - axis.first + 1));
}

/** What stands at the ends of the time bar's rail has so much room. */
const RAIL_END = 6;

/** Where a step stands on the rail of the time bar: the first and the last at its ends, a single one at the right. */
export function railX(first: number, last: number, width: number, step: number): number {
  return last > first ? RAIL_END + ((step - first) / (last - first)) * (width - 2 * RAIL_END) : width - RAIL_END;
}

/** The step nearest to a pixel of the rail. */
export function railStep(first: number, last: number, width: number, x: number): number {
  return first + Math.round(((x - RAIL_END) / (width - 2 * RAIL_END)) * (last - first));
}

/** The first and last step on show. */
export type Range = readonly [number, number];

/** Fewest steps that a chart zooms to. */
const CLOSEST = 8;

/** A range made longer by `factor` about the step `at`, inside `all`; null where it would show all of it. */
export function zoomed([first, last]: Range, all: Range, factor: number, at: number): Range | null {
  const length = Math.round(Math.max(CLOSEST, (last - first + 1) * factor));
  if (length > all[1] - all[0]) return null;
  const part = (at - first + 0.5) / (last - first + 1);
  const start = Math.round(at + 0.5 - part * length);
  return panned([start, start + length - 1], all, 0);
}

/** A range moved by some steps, but not out of `all`. */
export function panned([first, last]: Range, all: Range, steps: number): Range {
  const start = Math.max(all[0], Math.min(first + steps, all[1] - (last - first)));
  return [start, start + last - first];
}
