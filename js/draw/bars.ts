/** Bars to the left and right of 1, on a logarithmic scale. */

import { html, set } from './element';

/** A place in the rows: 0 at the left end of the scale, 1 at its right end. */
function part(x: number, decades: number): number {
  return Math.min(1, Math.max(0, 0.5 + Math.log10(x) / (2 * decades)));
}

/** How many decades each side needs for these numbers, at least one and at most six. */
export function sides(values: readonly number[]): number {
  const most = values.reduce((m, x) => (x > 0 && x < Infinity ? Math.max(m, Math.abs(Math.log10(x))) : m), 0.9);
  return Math.min(6, Math.ceil(most + 0.1));
}

/** Which ends of the scale these numbers lie beyond: the low one, the high one. */
export function beyond(values: readonly number[], decades: number): [boolean, boolean] {
  const end = 10 ** decades * (1 + 1e-9);
  return [values.some(x => x > 0 && x * end < 1), values.some(x => x > end && x < Infinity)];
}

/** A bar from 1 to `x`, with a point where it would go on; zero reaches the end with a class of its own, Inf and NaN are a hatched stub
 * there; null has none. */
export function bar(x: number | null, decades: number): HTMLElement {
  const inner = html('u', {});
  if (x === null) return html('span', { class: 'gl-gainbar' });
  const odd = Number.isNaN(x) || x === Infinity;
  const from = odd ? 0.92 : Math.min(0.5, part(x, decades));
  const to = odd ? 1 : Math.max(0.5, part(x, decades));
  const look = odd ? 'gl-odd' : x === 0 ? 'gl-none' : x < 1 ? 'gl-less' : 'gl-more';
  set(inner, 'style', `left:${(from * 100).toFixed(1)}%;width:${Math.max(0.4, (to - from) * 100).toFixed(1)}%`);
  const cut = beyond([x], decades).includes(true) ? ' gl-cut' : '';
  return html('span', { class: `gl-gainbar ${look}${cut}` }, inner);
}

/** The marks below the bars: 0.01\u00d7, 1\u00d7, 100\u00d7; an end says so where bars go on beyond it. */
export function barTicks(decades: number, [low, high] = [false, false]): [string, number][] {
  const step = Math.max(1, Math.ceil(decades / 2));
  const out: [string, number][] = [];
  for (let e = -Math.floor(decades / step) * step; e <= decades; e += step) {
    const sign = e === -decades && low ? '\u2264' : e === decades && high ? '\u2265' : '';
    out.push([sign + (Math.abs(e) > 3 ? `10${superscript(e)}\u00d7` : `${10 ** e}\u00d7`), 0.5 + e / (2 * decades)]);
  }
  return out;
}

function superscript(e: number): string {
  return [...String(e)].map(c => '\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079'['-0123456789'.indexOf(c)]).join('');
}
