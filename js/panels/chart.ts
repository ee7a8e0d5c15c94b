/** Columns of the timeline as lines, in the colours of the theme. */

import { decimate } from '../draw/decimate';
import { html } from '../draw/element';
import type { Line, LinesLook } from '../draw/lines';
import { stepTicks, stepX, type StepAxis } from '../draw/scale';
import { textWidth } from '../draw/text';
import { shortNames, visibleRows } from './rows';
import type { Series } from './series';
import { MAX, MIN } from './series';
import type { Palette } from './theme';

/** Left of a plot stand names or numbers, right of it the scale or the names of the lines. */
export interface Margins {
  left: number;
  right: number;
}

/** Margins for a panel of this width: as much as the names of the run need, within what the plot can spare. */
export function marginsOf(width: number, series: Series, { fonts }: Palette): Margins {
  const names = visibleRows(series.parameters(), new Set());
  const font = `600 11px ${fonts.ui}`;
  const need = (texts: string[]) => texts.reduce((most, text) => Math.max(most, textWidth(text, font)), 0) + 8;
  const clamp = (x: number, least: number, most: number) => Math.ceil(Math.min(most, Math.max(least, x)));
  const wide = width >= 700;
  const left = clamp(need(shortNames(names, width * 0.27 - 8, font)), wide ? 120 : 72, width * 0.27);
  return { left, right: clamp(need(shortNames(names, wide ? 140 : 52, font)), wide ? 84 : 46, 150) };
}

/** The labels of a step axis: the first step, round ones, and in bold the last. */
export function stepLabels(series: Series, axis: StepAxis, left: number): HTMLElement[] {
  const { firstStep, lastStep } = series;
  const end = stepX(axis, lastStep);
  const ticks = stepTicks(axis.first, lastStep, Math.max(2, Math.floor(axis.width / 60)));
  const label = (text: string, x: number, look: string | null = null) => html('span', { class: look, style: `left:${left + x}px` }, text);
  const marks = ticks.filter(t => stepX(axis, t) > 52 && stepX(axis, t) < end - 30).map(t => label(String(t), stepX(axis, t)));
  if (end > 60) marks.push(label(String(lastStep), end, 'gl-last'));
  return [label(`step ${firstStep}`, 0, 'gl-first'), ...marks];
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
