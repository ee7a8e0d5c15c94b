/** The parameters of a run in depth order, and which of them are looked at closely. */

import { shorten, textWidth } from '../draw/text';
import type { Structure } from '../protocol/messages';
import type { Series } from './series';

const MOST_LINES = 3;
/** More parameters than these are not drawn one by one. */
export const MOST_ROWS = 200;

/** Parameters in the order in which the forward pass first reads them; those it never read come last. */
export function depthOrder(series: Series, structure: Structure | undefined): string[] {
  const all = series.parameters();
  if (!structure) return all;
  const place = new Map<string, number>();
  for (const op of structure.ops) {
    for (const [from, j] of op.inputs) {
      const leaf = from === 'leaf' ? structure.leaves[j] : undefined;
      if (leaf?.kind === 'parameter' && !place.has(leaf.name)) place.set(leaf.name, place.size);
    }
  }
  return [...all].sort((a, b) => (place.get(a) ?? Infinity) - (place.get(b) ?? Infinity) || 0);
}

/** The rows that get lines: the selected ones, or else weights spread over the depth, at most three. */
export function closeRows(order: readonly string[], selected: ReadonlySet<string>): string[] {
  const chosen = order.filter(name => selected.has(name));
  if (chosen.length > 0) return chosen.slice(0, MOST_LINES);
  const weights = order.filter(name => /(^|\.)(weight|w\d*)$/i.test(name));
  const from = weights.length > 0 ? weights : order;
  if (from.length <= MOST_LINES) return [...from];
  return [0, 0.5, 1].map(part => from[Math.round(part * (from.length - 1))] as string);
}

/** At most 200 of the rows, spread evenly over the depth, with the selected ones among them. */
export function visibleRows(order: readonly string[], selected: ReadonlySet<string>): string[] {
  if (order.length <= MOST_ROWS) return [...order];
  const kept = new Set<string>();
  for (let i = 0; i < MOST_ROWS; i++) kept.add(order[Math.floor((i * order.length) / MOST_ROWS)] as string);
  return order.filter(name => kept.has(name) || selected.has(name));
}

/** A dotted name in `width` pixels: whole, or with its last word as a letter, or less of its first words. */
export function fitName(name: string, width: number, font: string): string {
  const fits = (text: string) => textWidth(text, font) <= width;
  if (name.length < 200 && fits(name)) return name;
  const parts = name.slice(0, 400).split('.');
  const last = parts.pop() ?? '';
  if (parts.length === 0 || name.length > 400) return shorten(name, width, font);
  const end = `.${last.charAt(0)}`;
  const short = parts.join('.') + end;
  if (fits(short)) return short;
  const stem = parts.pop() ?? '';
  // A number alone says too little: keep the beginning of what it counts.
  const head = /^\d+$/.test(stem) ? (parts[0] ?? '') : '';
  const tail = `${stem}${end}`;
  for (let n = head.length; n > 0; n--) if (fits(`${head.slice(0, n)}….${tail}`)) return `${head.slice(0, n)}….${tail}`;
  if (parts.length > 0 && fits(`…${tail}`)) return `…${tail}`;
  for (let n = stem.length; n > 0; n--) {
    const text = n === stem.length ? tail : `${stem.slice(0, n)}…${end}`;
    if (fits(text)) return text;
  }
  return shorten(tail, width, font);
}
