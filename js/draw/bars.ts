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

/** A bar from 1 to `x`; zero reaches the end with a class of its own, Inf and NaN are a hatched stub there; null has none. */
export function bar(x: number | null, decades: number): HTMLElement {
  const inner = html('u', {});
  if (x === null) return html('span', { class: 'gl-gainbar' });
  const odd = Number.isNaN(x) || x === Infinity;
  const from = odd ? 0.92 : Math.min(0.5, part(x, decades));
  const to = odd ? 1 : Math.max(0.5, part(x, decades));
  const look = odd ? 'gl-odd' : x === 0 ? 'gl-none' : x < 1 ? 'gl-less' : 'gl-more';
  set(inner, 'style', `left:${(from * 100).toFixed(1)}%;width:${Math.max(0.4, (to - from) * 100).toFixed(1)}%`);
  return html('span', { class: `gl-gainbar ${look}` }, inner);
}

/** The marks below the bars: 0.01\u00d7, 1\u00d7, 100\u00d7. */
export function barTicks(decades: number): [string, number][] {
  const step = Math.max(1, Math.ceil(decades / 2));
  const out: [string, number][] = [];
  for (let e = -Math.floor(decades / step) * step; e <= decades; e += step) {
    out.push([Math.abs(e) > 3 ? `10${superscript(e)}\u00d7` : `${10 ** e}\u00d7`, 0.5 + e / (2 * decades)]);
  }
  return out;
}

function superscript(e: number): string {
  return [...String(e)].map(c => '\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079'['-0123456789'.indexOf(c)]).join('');
}
