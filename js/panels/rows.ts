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

/** A dotted name from its `from`-th word on; the number of its layer stays: `layers.3.attention.key.weight` is `3…key.weight`. */
function form(words: readonly string[], from: number): string {
  if (from > 0 && NUMBER.test(words[from - 1] as string)) from--;
  const rest = words.slice(from).join('.');
  if (from === 0 || NUMBER.test(words[from] as string)) return rest;
  return `${words.slice(0, from).find(word => NUMBER.test(word)) ?? ''}…${rest}`;
}

/** The first letter of a word, or as many as tell it from those beside it; all of a number, and of what an op or a range is called. */
function initial(word: string, beside: readonly string[]): string {
  if (/\W|^\d+$/.test(word)) return word;
  let n = 1;
  while (n < word.length && beside.length < MOST_BESIDE && beside.some(other => other !== word && other.startsWith(word.slice(0, n)))) n++;
  return word.slice(0, n);
}

/** Give texts of different names that are alike another form. */
function apart(names: readonly string[], texts: string[], make: (i: number, alike: readonly number[]) => string): string[] {
  const same = new Map<string, number[]>();
  texts.forEach((text, i) => same.set(text, [...(same.get(text) ?? []), i]));
  for (const alike of same.values()) {
    if (alike.some(i => names[i] !== names[alike[0] as number])) for (const i of alike) texts[i] = make(i, alike);
  }
  return texts;
}

/** Names of which not all fit. */
function cut(names: readonly string[], width: number, font: string, letter: boolean): string[] {
  const fits = (text: string) => text.length < 400 && textWidth(text, font) <= width;
  /** The longest of what `make` makes of a number of letters. */
  const longest = (most: number, make: (n: number) => string) => {
    let n = Math.min(most, 60);
    while (n > 1 && !fits(make(n))) n--;
    return make(n);
  };
  const words = names.map(name => name.split('.'));
  let shared = 0;
  if (names.length > 1) {
    while (words.every(w => w.length > shared + 2 && w[shared] === words[0]?.[shared])) shared++;
    // A number and one word more are too little to know a parameter by.
    if (words.some(w => w.length === shared + 2 && NUMBER.test(w[shared] as string))) shared = Math.max(0, shared - 1);
  }
  const ends = words.map(w => w.slice(shared));
  /** As many first words less as names that begin alike need, so that each of them fits that can. */
  const pick = (all: readonly string[][]) => {
    const start = new Map<string, number>();
    const last = (w: readonly string[]) => Math.max(0, w.length - 2);
    const from = (w: readonly string[]) => Math.min(start.get(w[0] as string) ?? 0, last(w));
    for (const w of all) {
      let k = from(w);
      while (k < last(w) && !fits(form(w, k))) k++;
      if (fits(form(w, k))) start.set(w[0] as string, Math.max(k, start.get(w[0] as string) ?? 0));
    }
    return all.map(w => (fits(form(w, from(w))) ? form(w, from(w)) : form(w, last(w))));
  };
  const inner = (w: readonly string[]) => w.slice(0, -1).join('.');
  const siblings = new Map<string, string[]>();
  for (const w of ends) siblings.set(inner(w), [...(siblings.get(inner(w)) ?? []), w.at(-1) as string]);
  const whole = pick(ends);
  const brief = pick(
    !letter ? ends : ends.map(w => (w.length > 1 ? [...w.slice(0, -1), initial(w.at(-1) as string, siblings.get(inner(w)) ?? [])] : w))
  );
  const letters = ends.map(w => Array.from(w.join('.').slice(0, 9999)));
  /** Cut what does not fit; what else has that number and that end has as much of its beginning before it as there is room for. */
  const finish = (texts: readonly string[]) => {
    const out = texts.map(text => {
      if (fits(text)) return text;
      const [, number, rest] = /^(\d*)[.…](.*)$/s.exec(text) ?? [];
      const end = Array.from(rest?.slice(-99) ?? '');
      return rest === undefined ? shortenMiddle(text, width, font) : longest(end.length, n => `${number}…${end.slice(-n).join('')}`);
    });
    return apart(names, out, i => {
      const text = out[i] as string;
      const between = !text.includes('…') ? '…' : text.startsWith('…') ? '' : '.';
      const made = longest(ends[i]?.[0]?.length ?? 1, n => `${letters[i]?.slice(0, n).join('')}${between}${text}`);
      return fits(made) ? made : text;
    });
  };
  // Where a name is too long in any form, the others keep their words.
  const all = whole.every((text, i) => fits(text) || brief[i] === text || text.length > 60) ? finish(whole) : [];
  const different = new Set(names).size;
  const out = new Set(all).size === different ? all : finish(brief);
  return apart(names, out, (i, alike) => {
    const [first, ...others] = alike.map(k => letters[k] as string[]) as [string[], ...string[][]];
    let same = 0;
    while (same < first.length && others.every(other => other[same] === first[same])) same++;
    const rest = letters[i]?.slice(same) ?? [];
    return rest.length === 0 ? (out[i] as string) : longest(rest.length, n => `…${rest.slice(0, n).join('')}`);
  });
}

const known = new Map<string, readonly string[]>();

/**
 * Dotted names in `width` pixels, so that each keeps its end and still differs from the others.
 *
 * Where not all of them fit, the words that all begin with go first, then the first words of those that begin alike; then the last word
 * becomes a letter, in all of them, unless `letter` forbids it: that of a module says what it is. What is left out within a name is one ellipsis.
 */
export function shortNames(names: readonly string[], width: number, font: string, letter = true): readonly string[] {
  const key = [width, font, letter, ...names].join('\n');
  let out = known.get(key);
  if (!out) {
    out = names.every(name => name.length < 200 && textWidth(name, font) <= width) ? names : cut(names, width, font, letter);
    if (known.size > 50) known.clear();
    known.set(key, out);
  }
  return out;
}

/** One dotted name in `width` pixels. */
export function fitName(name: string, width: number, font: string): string {
  return shortNames([name], width, font)[0] as string;
}
