/** The parameters of a run in depth order, and which of them are looked at closely. */

import { shortenMiddle, textWidth } from '../draw/text';
import type { Structure } from '../protocol/messages';
import type { Series } from './series';

const MOST_LINES = 3;
/** Among more names than these a letter has to do. */
const MOST_BESIDE = 50;
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

const NUMBER = /^\d+$/;

/** What a dotted name can be called in `width` pixels, best first: fewer and fewer of its first words. */
function forms(words: readonly string[], width: number, font: string, start: number): string[] {
  const fits = (text: string) => text.length < 400 && textWidth(text, font) <= width;
  const out: string[] = [];
  for (let from = Math.min(start, Math.max(0, words.length - 2)); from < Math.max(1, words.length - 1); from++) {
    const rest = words.slice(from).join('.');
    const counts = from > 0 && NUMBER.test(words[from] as string);
    // `layers.3.attention.key.weight` is `3…key.weight`.
    const number = from > 1 && !counts ? words.slice(0, from).find(word => NUMBER.test(word)) : undefined;
    if (number && fits(`${number}…${rest}`)) out.push(`${number}…${rest}`);
    if (from > 0 && !counts && fits(`…${rest}`)) out.push(`…${rest}`);
    else if (fits(rest)) out.push(rest);
    if (!counts) continue;
    // What else has that number? As much of the beginning of what it counts as there is room for.
    const counted = words[from - 1] as string;
    let n = counted.length - 1;
    while (n > 0 && !fits(`${counted.slice(0, n)}…${rest}`)) n--;
    if (n > 0) out.push(`${counted.slice(0, n)}…${rest}`);
  }
  return out;
}

/** How many first words names that begin alike have to leave out, so that each of them fits: all of them leave out as many. */
function starts(names: readonly string[][], width: number, font: string): (words: readonly string[]) => number {
  const of = new Map<string, number>();
  for (const words of names) {
    let from = of.get(words[0] as string) ?? 0;
    while (from < words.length - 2 && textWidth(words.slice(from).join('.').slice(0, 400), font) > width) from++;
    of.set(words[0] as string, from);
  }
  return words => of.get(words[0] as string) ?? 0;
}

/** Take the best form of each name that no other name has; the last one where all are taken. */
function distinct(choices: readonly string[][]): string[] {
  const level = choices.map(() => 0);
  for (;;) {
    const texts = choices.map((list, i) => list[level[i] as number] ?? '');
    const counts = new Map<string, number>();
    for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
    const more = choices.map((list, i) => (counts.get(texts[i] as string) as number) > 1 && (level[i] as number) < list.length - 1);
    if (!more.includes(true)) return texts;
    more.forEach((on, i) => (level[i] = (level[i] as number) + Number(on)));
  }
}

/** The first letter of a word, or as many as tell it from those beside it. */
function initial(word: string, beside: readonly string[]): string {
  let n = 1;
  while (n < word.length && beside.length < MOST_BESIDE && beside.some(other => other !== word && other.startsWith(word.slice(0, n)))) n++;
  return word.slice(0, n);
}

const known = new Map<string, string[]>();

/**
 * Dotted names in `width` pixels, so that each keeps its end and still differs from the others.
 *
 * Where not all of them fit, the words that all begin with go first; then the last word becomes a letter, in all of them.
 */
export function shortNames(names: readonly string[], width: number, font: string): string[] {
  const key = [width, font, ...names].join('\n');
  const before = known.get(key);
  if (before) return before;
  if (known.size > 50) known.clear();
  const words = names.map(name => name.split('.'));
  let shared = 0;
  if (names.length > 1 && !names.every(name => name.length < 200 && textWidth(name, font) <= width)) {
    while (words.every(w => w.length > shared + 2 && w[shared] === words[0]?.[shared])) shared++;
    // A number and one word more are too little to know a parameter by.
    if (words.some(w => w.length === shared + 2 && NUMBER.test(w[shared] as string))) shared = Math.max(0, shared - 1);
  }
  const ends = words.map(w => w.slice(shared));
  const start = starts(ends, width, font);
  const whole = distinct(ends.map(w => forms(w, width, font, start(w))));
  let out = whole;
  if (whole.includes('') || new Set(whole).size < names.length) {
    const inner = (w: readonly string[]) => w.slice(0, -1).join('.');
    const siblings = new Map<string, string[]>();
    for (const w of ends) {
      const beside = siblings.get(inner(w));
      if (beside) beside.push(w.at(-1) as string);
      else siblings.set(inner(w), [w.at(-1) as string]);
    }
    const brief = ends.map(w => (w.length > 1 ? [...w.slice(0, -1), initial(w.at(-1) as string, siblings.get(inner(w)) ?? [])] : w));
    const cut = (w: string[]) => shortenMiddle(w.join('.'), width, font);
    const then = starts(brief, width, font);
    out = distinct(brief.map(w => [...forms(w, width, font, then(w)), ...forms(w, width, font, 1), cut(w.slice(-2)), cut(w)]));
  }
  known.set(key, out);
  return out;
}

/** One dotted name in `width` pixels. */
export function fitName(name: string, width: number, font: string): string {
  return shortNames([name], width, font)[0] as string;
}
