/** A table of texts, as the kernel sends it. */

import { html } from '../draw/element';

export interface Texts {
  title: string;
  side: string;
  head: string[];
  rows: string[][];
}

/** The table: the first column left, the others right. */
export function tableOf({ title, side, head, rows }: Texts): HTMLElement {
  const cells = (tag: 'td' | 'th', texts: string[]) =>
    html('tr', {}, ...texts.map((text, i) => html(tag, { class: i ? null : 'gl-left', title: text.length > 20 ? text : null }, text)));
  return html(
    'div',
    {},
    html('div', { class: 'gl-label' }, title, html('span', {}, side)),
    html('table', {}, html('thead', {}, cells('th', head)), html('tbody', {}, ...rows.map(row => cells('td', row))))
  );
}
