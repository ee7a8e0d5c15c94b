/** Dotted names in a column of a table: cut to the room that the column has, all of them alike. */

import { html, write } from '../draw/element';
import { shortNames } from './rows';

/** How many ops a row is of, behind its name. */
const COUNTED = /^(.+) · ([\d,]+ ops?)$/s;

/** A name for `fitNames` to cut, and a count that stays whole beside it; of one text the kernel has both. */
export function nameCell(text: string, count = ''): HTMLElement {
  const [, name = text, ops = count] = (!count && COUNTED.exec(text)) || [];
  return html('span', { class: 'gl-path' }, html('bdi', { 'data-name': name }, name), ops && html('span', { class: 'gl-muted' }, ops));
}

/** Cut the names of each table in an element, or of the element itself; before it is on the page they stay whole. */
export function fitNames(within: Element): void {
  const tables = within.querySelectorAll('table');
  for (const one of tables.length > 0 ? tables : [within]) {
    const cells = [...one.querySelectorAll<HTMLElement>('.gl-path > bdi')];
    const width = Math.min(...cells.map(cell => cell.clientWidth));
    if (cells.length === 0 || width < 1) continue;
    const { fontWeight, fontSize, fontFamily } = getComputedStyle(cells[0] as HTMLElement);
    const names = cells.map(cell => cell.dataset.name ?? '');
    const modules = one.querySelector('.gl-path > .gl-muted') !== null;
    const short = shortNames(names, width, `${fontWeight} ${fontSize} ${fontFamily}`, !modules);
    cells.forEach((cell, i) => write(cell, short[i] as string));
  }
}
