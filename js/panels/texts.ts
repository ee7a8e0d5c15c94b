/** A table of texts, as the kernel sends it. */

import { html } from '../draw/element';
import { pathName } from './pathname';

export interface Texts {
  title: string;
  side: string;
  head: string[];
  rows: string[][];
}

/** The table: the first column left, the others right. */
export function tableOf({ title, side, head, rows }: Texts): HTMLElement {
  const cells = (tag: 'td' | 'th', texts: string[]) =>
    html(
      'tr',
      {},
      ...texts.map((text, i) =>
        html(tag, { class: i ? null : 'gl-left', title: text.length > 20 ? text : null }, i ? text : pathName(text))
      )
    );
  return html(
    'div',
    {},
    html('div', { class: 'gl-label' }, html('b', { title }, title), html('span', {}, side)),
    html(
      'table',
      {},
      html('colgroup', {}, html('col', { style: `width:${head.length > 4 ? 24 : 36}%` })),
      html('thead', {}, cells('th', head)),
      html('tbody', {}, ...rows.map(row => cells('td', row)))
    )
  );
}
