/** Columns of the timeline as lines over the steps that all charts show. */

import { decimate } from '../draw/decimate';
import { html } from '../draw/element';
import { full } from '../draw/format';
import type { Line } from '../draw/lines';
import { stepAxis, stepTicks, stepX, type StepAxis } from '../draw/scale';
import { textWidth } from '../draw/text';
import { shortNames, visibleRows } from './rows';
import { LAST, MAX, MIN, type Series } from './series';
import { spanAt } from './span';
import type { Store } from './store';
import type { Palette } from './theme';
import type { TipText } from './tip';

/** The colours of up to three lines. */
export const STROKES = ['var(--gl-line1)', 'var(--gl-line2)', 'var(--gl-line3)'];

/** Left of a plot stand names or numbers, right of it the scale or the names of the lines. */
export interface Margins {
  left: number;
  right: number;
}

/** Margins for a panel of this width: as much as the names of the run need, within what the plot can spare. */
export function marginsOf(width: number, series: Series, { fonts }: Palette): Margins {
  const names = visibleRows(series.parameters(), new Set());
  const font = `11px ${fonts.ui}`;
  const bold = `600 ${font}`;
  const need = (room: number, look: string) =>
    shortNames(names, room, look).reduce((most, text) => Math.max(most, textWidth(text, look)), 8) + 8;
  const clamp = (x: number, least: number, most: number) => Math.ceil(Math.min(most, Math.max(least, x)));
  const wide = width >= 700;
  const room = width * (width < 500 ? 0.3 : 0.36);
  return {
    left: clamp(need(room - 8, font), wide ? 120 : 72, room),
    right: clamp(need(wide ? 140 : width < 500 ? 78 : 100, bold), wide ? 84 : 46, 150)
  };
}

/** The steps that all charts show: those zoomed to, or all; to a reader who went back in time, no later ones than there were then. */
export function axisOf(store: Store, width: number): StepAxis {
  const zoom = store.range.value;
  const end = store.lastShown;
  return zoom ? { first: zoom[0], last: zoom[1], width, end } : { ...stepAxis(store.series.firstStep, end, width), end };
}

/** How many spans of the history an axis shows the beginning of. */
export function spansOf(series: Series, axis: StepAxis): number {
  const end = Math.min(axis.last, axis.end ?? axis.last);
  if (series.size === 0) return 0;
  const span = spanAt(series, end);
  return (series.first[span] as number) <= end ? span + 1 : span;
}

/** The labels of a step axis: the first step, round ones, the last, and in bold the one on show, from which the others keep away. */
export function stepLabels({ series, at }: Store, axis: StepAxis, left: number): HTMLElement[] {
  const firstStep = Math.ceil(axis.first);
  const lastStep = Math.min(Math.floor(axis.last), axis.end ?? series.lastStep);
  const x = (step: number) => (step < lastStep ? stepX(axis, step) : Math.max(stepX(axis, step), 56));
  const chosen = at.value !== null && at.value >= firstStep && at.value < lastStep ? at.value : lastStep;
  const ticks = stepTicks(axis.first, lastStep, Math.max(2, Math.floor(axis.width / 60)));
  const label = (text: string, x: number, look: string | null = null) => html('span', { class: look, style: `left:${left + x}px` }, text);
  if (lastStep <= firstStep) return [label(`step ${lastStep}`, 0, 'gl-first gl-last')];
  const marks = ticks.filter(t => x(t) > 52 && x(t) < x(lastStep) - 30);
  const others = [...marks, lastStep].filter(t => Math.abs(x(t) - x(chosen)) > 30).map(t => label(String(t), x(t)));
  const first = x(chosen) > 52 ? [label(`step ${firstStep}`, 0, 'gl-first')] : [];
  return [...first, ...others, label(`${first[0] ? '' : 'step '}${chosen}`, x(chosen), 'gl-last')];
}

/** One column as a line of at most one point a pixel; peaks of one step stay, up and down. */
export function lineOf(series: Series, column: string, name: string, axis: StepAxis, colour: string): Line {
  const c = series.column(column);
  const total = series.column('grad_norm');
  const from = Math.max(0, spanAt(series, axis.first) - 1);
  const size = Math.min(series.size, spansOf(series, axis) + (axis.last < (axis.end ?? axis.last) ? 1 : 0));
  const at = (pick: typeof MIN | typeof MAX | typeof LAST) => (s: number) => series.at(s, c, pick);
  const { first, last } = series;
  const pixels = decimate({ first, last, from, size, low: at(MIN), high: at(MAX), end: at(LAST) }, axis.width);
  const odd = Float32Array.from(pixels.odd, (bad, p) => {
    if (!bad || c < 0) return 0;
    const span = spanAt(series, pixels.steps[p] as number);
    if (series.at(span, c, MAX) === Infinity) return Infinity;
    // What was not measured is no number either.
    return total >= 0 && Number.isFinite(series.at(span, total, MAX)) ? 0 : NaN;
  });
  const unread = (i: number) => !series.read(spanAt(series, pixels.steps[i] as number));
  return { name, steps: pixels.steps, low: pixels.low, high: pixels.high, last: pixels.end, colour, odd, unread };
}

/** What some columns say of a step, or of the steps that were merged with it. */
export function readout(series: Series, step: number, columns: readonly (readonly [name: string, column: string])[]): TipText | null {
  if (series.size === 0 || step < series.firstStep || step > series.lastStep) return null;
  const span = spanAt(series, step);
  const [first, last] = [series.first[span] as number, series.last[span] as number];
  const lines = columns.map(([name, column]): [string, string] => {
    const c = series.column(column);
    const [low, high] = [series.at(span, c, MIN), series.at(span, c, MAX)];
    return [name, low === high || Number.isNaN(low) ? full(series.at(span, c, LAST)) : `${full(low)} to ${full(high)}`];
  });
  return { title: first === last ? `step ${first}` : `steps ${first} to ${last}`, lines };
}
