/** A dotted name that keeps its end where there is little room. */

import { html } from '../draw/element';

/** Longer names are never read to their end. */
const MOST = 300;

/** `layers.0.attention.key.weight` as `layers.0.att…` and `key.weight`: only the first gives way. */
export function pathName(name: string): HTMLElement {
  const words = name.slice(0, MOST).split('.');
  const tail = words.slice(-2).join('.');
  const head = words.length > 2 ? `${words.slice(0, -2).join('.')}.` : '';
  return html('span', { class: 'gl-path' }, head && html('span', {}, head), html('span', {}, tail));
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A name that may be written from right to left, so that what follows it in a line stays behind it. */
export function isolated(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}
