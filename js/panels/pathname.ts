/** A dotted name that keeps its end where there is little room. */

import { html } from '../draw/element';

/** Of longer names only the two ends are read. */
const MOST = 300;
const END = 60;

/** Two words of more letters than these are too many to stay both. */
const LONG = 24;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const NUMBER = /^\d+$/;

/**
 * A name in parts, of which the most telling stay: of `blocks.layers.0.attention.key.weight` first `blocks.layers.` goes, then
 * `attention.` gives way; `0.`, which tells one layer from the next, and `key.weight` stay.
 */
export function pathName(name: string): HTMLElement {
  const text = name.length <= MOST ? name : `${name.slice(0, MOST - END)}…${name.slice(-END)}`;
  const words = RIGHT_TO_LEFT.test(text) ? [text] : text.split('.');
  const last = words.splice(words.slice(-2).join('.').length > LONG ? -1 : -2).join('.');
  const counted = words.findLastIndex(word => NUMBER.test(word));
  const part = (from: number, to: number) =>
    words
      .slice(from, to)
      .map(word => `${word}.`)
      .join('');
  const [head, number, middle] = [part(0, Math.max(0, counted)), counted < 0 ? '' : `${words[counted]}.`, part(counted + 1, words.length)];
  return html(
    'span',
    { class: 'gl-path' },
    head && html('span', {}, head),
    html(
      'span',
      { class: 'gl-pathend' },
      number && html('span', {}, number),
      middle && html('span', { class: 'gl-pathmiddle' }, html('bdi', {}, middle)),
      html('span', { class: 'gl-pathlast' }, last)
    )
  );
}

/** A name that may be written from right to left, so that what follows it in a line stays behind it. */
export function isolated(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}
