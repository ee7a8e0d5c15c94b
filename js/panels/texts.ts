/** A table of texts, as the kernel sends it. */

import { html } from '../draw/element';
import { nameCell } from './pathname';

/** How wide columns are, in percent, by how many there are; the others share what is left. */
const WIDTHS: Record<number, number[]> = { 3: [26, 46], 4: [46] };

export interface Texts {
  title: string;
  side: string;
  head: string[];
  rows: string[][];
}

/** Columns of words. */
const WORDS = new Set(['added by', 'what']);

/** The table: the first column and those of words left, numbers right. */
export function tableOf({ title, side, head, rows }: Texts): HTMLElement {
  const cells = (tag: 'td' | 'th', texts: string[]) =>
    html(
      'tr',
      {},
      ...texts.map((text, i) =>
        html(
          tag,
          { class: i && !WORDS.has(head[i] as string) ? null : 'gl-left', title: i === 0 || text.length > 20 ? text : null },
          i ? text : nameCell(text)
        )
      )
    );
  return html(
    'div',
    {},
    html('div', { class: 'gl-label' }, html('b', { title }, title), html('span', {}, side)),
    html(
      'table',
      {},
      html('colgroup', {}, ...(WIDTHS[head.length] ?? [24]).map(share => html('col', { style: `width:${share}%` }))),
      html('thead', {}, cells('th', head)),
      html('tbody', {}, ...rows.map(row => cells('td', row)))
    )
  );
}
