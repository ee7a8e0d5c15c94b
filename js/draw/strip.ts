/** A strip of heat: the numbers of many ops in a few cells, each as dark or light as the largest under it. */

import { css } from './colour';
import { logPart } from './scale';

/** What the cells of a strip look like. */
export interface StripLook {
  colours: Uint32Array;
  none: string;
  odd: string;
  zero: string;
}

/** The decades that the bars of nodes tell apart. */
export const LOW = -3;
export const HIGH = 4;

/** The largest number under each of `cells`: NaN where there is none, Infinity where one of them is not finite. */
export function binned(n: number, cells: number, at: (i: number) => number | null): Float64Array {
  const out = new Float64Array(Math.min(n, cells)).fill(NaN);
  for (let i = 0; i < n; i++) {
    const x = at(i);
    if (x === null) continue;
    const cell = Math.floor((i * out.length) / n);
    const size = Number.isFinite(x) ? Math.abs(x) : Infinity;
    if (!(size <= (out[cell] as number))) out[cell] = size;
  }
  return out;
}

/** The decades that the cells of a strip span, at least two: their colours tell them apart from one another. */
export function spanOf(cells: Float64Array): [number, number] {
  const logs = Array.from(cells).filter(x => x > 0 && x !== Infinity).map(Math.log10); // prettier-ignore
  const [low, high] = [Math.min(...logs), Math.max(...logs)];
  if (logs.length === 0) return [LOW, HIGH];
  return high - low < 2 ? [(low + high) / 2 - 1, (low + high) / 2 + 1] : [low, high];
}

/** The colour of one cell. */
export function cellColour(x: number, look: StripLook, [low, high]: readonly [number, number]): string {
  if (Number.isNaN(x)) return look.none;
  if (x === Infinity) return look.odd;
  if (x === 0) return look.zero;
  return css(look.colours[Math.round(logPart(x, low, high) * 255)] as number);
}
