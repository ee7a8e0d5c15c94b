/** A histogram whose counts are drawn by their logarithm: one entry still shows beside thousands. */

import { svg } from './element';

/** Bars for counts, as high as `height` for the most. */
export function histogram(counts: Int32Array, width: number, height: number, name: string): SVGSVGElement {
  const most = Math.log1p(Math.max(1, ...counts));
  const bar = width / counts.length;
  let path = '';
  counts.forEach((n, i) => {
    if (n === 0) return;
    const tall = Math.max(1, (Math.log1p(n) / most) * height);
    path += `M${(i * bar).toFixed(2)} ${height}v${(-tall).toFixed(2)}h${Math.max(0.8, bar - 0.6).toFixed(2)}v${tall.toFixed(2)}z`;
  });
  return svg('svg', { class: 'gl-hist', width, height, role: 'img', 'aria-label': name }, svg('path', { d: path }));
}
