/** Columns of the timeline as lines, in the colours of the theme. */

import { decimate } from '../draw/decimate';
import type { Line, LinesLook } from '../draw/lines';
import type { Series } from './series';
import { MAX, MIN } from './series';
import type { Palette } from './theme';

/** Left of a plot stand names or numbers, right of it the scale or the names of the lines. */
export interface Margins {
  left: number;
  right: number;
}

/** Margins for a panel of this width: wide ones have room for longer names. */
export function marginsOf(width: number): Margins {
  return width < 700 ? { left: 72, right: 46 } : { left: 120, right: 84 };
}

/** The look of line charts in this theme. */
export function linesLook({ text, grid, odd, band, fonts }: Palette): LinesLook {
  return { text, grid, odd, band, font: `11px ${fonts.ui}` };
}

/** One column as a line of at most two points a pixel; peaks of one step stay. */
export function lineOf(series: Series, column: string, name: string, width: number, stroke: string): Line {
  const c = series.column(column);
  const total = series.column('grad_norm');
  const pixels = decimate(
    { first: series.first, last: series.last, size: series.size, low: s => series.at(s, c, MIN), high: s => series.at(s, c, MAX) },
    width
  );
  const odd: number[] = [];
  pixels.odd.forEach((bad, p) => {
    if (bad && c >= 0 && !Number.isFinite(nearest(series, total, pixels.steps[p] as number))) odd.push(pixels.steps[p] as number);
  });
  return { name, steps: pixels.steps, values: pixels.high, colour: stroke, odd };
}

function nearest(series: Series, column: number, step: number): number {
  let low = 0;
  let high = series.size - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((series.last[middle] as number) < step) low = middle + 1;
    else high = middle;
  }
  return column < 0 ? 0 : series.at(low, column, MAX);
}
