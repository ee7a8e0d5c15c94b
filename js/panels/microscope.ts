/** The optimizer microscope: what the last step did to each parameter, and what the optimizers hold. */

import { html, set, write } from '../draw/element';
import { count, full, plain, plural, sci, special } from '../draw/format';
import { whole } from '../draw/text';
import { mark } from '../draw/node';
import { floats, isMissing } from '../protocol/decode';
import type { Answer } from './asking';
import { fitNames, nameCell } from './pathname';
import { visibleRows } from './rows';
import { marked } from './store';
import { followWidth, watch, type View } from './view';
import { askWhileShown } from './while-shown';

interface Table {
  label: string;
  lr: number;
  step: number;
  names: string[];
}

interface Holding {
  label: string;
  held: number;
  unread: string[];
  unheld: string[];
  stale: string;
  more: number;
}

/** What the table above it does not have: column of the kernel, title, hint, how its numbers are written, and the pixels it needs. */
const SHOWN: [column: string, title: string, hint: string, text: (x: number) => string, width: number][] = [
  ['update', 'update', 'root mean square of what the step really added', sci, 54],
  [
    'cos',
    'cos(u, \u2212g)',
    'cosine between the update and the downhill direction: 1 is straight down, below 0 is uphill',
    x => plain(x),
    76
  ],
  [
    'eps',
    'eps wins',
    'share of the entries whose \u221av\u0302 is below eps: there the step is lr m\u0302 / eps',
    x => `${plain(100 * x)} %`,
    67
  ],
  ['decay:gradient', 'decay : g', 'pull of weight decay beside that of the gradient; above 1 the weights mostly shrink', sci, 68]
];

/** From this width on the columns have more than they need. */
const ROOMY = 520;
const LOOKING = 'looking at the next step \u2026';

/** Whether a number of the microscope asks for a look. */
export function strange(column: string, x: number): boolean {
  if (Number.isNaN(x) || x === Infinity) return true;
  return (column === 'cos' && x < 0) || (column === 'eps' && x > 0.05) || (column === 'decay:gradient' && x > 1);
}

function holds({ label, held, unread, unheld, stale, more }: Holding): [text: string, bad: boolean] {
  if (stale) return [stale, true];
  const list = (names: string[]) => names.slice(0, 4).join(', ') + (Math.max(names.length, more) > 4 ? ', \u2026' : '');
  const parts = [`${label} holds ${plural(held, 'parameter')}`];
  if (unread.length > 0) parts.push(`of which the graph does not read ${list(unread)}`);
  if (unheld.length > 0) parts.push(`the graph reads ${list(unheld)}, which no optimizer holds`);
  if (parts.length === 1) parts.push('the graph reads all of them');
  return [`${parts.join('; ')}.`, parts.length > 1 && (unread.length > 0 || unheld.length > 0)];
}

/** Draw it; it asks again when new numbers come, for as long as it is shown. */
export function microscopePart(view: View, into: HTMLElement): void {
  const { store } = view;
  const table = html('table', { class: 'gl-microscope' });
  const note = html('div', { class: 'gl-further', role: 'status' }, LOOKING);
  const holding = html('div', { class: 'gl-holding' });
  into.replaceChildren(html('div', { class: 'gl-scroll gl-long' }, table), note, holding);

  const fit = (room: number) => {
    SHOWN.forEach(([, , , , width], i) =>
      (table.querySelectorAll('col')[i + 1] as HTMLElement | undefined)?.style.setProperty('width', `${room < ROOMY ? width : 92}px`)
    );
    fitNames(table);
  };
  const draw = ({ content, buffers }: Answer) => {
    const columns = content.columns as string[];
    const tables = content.optimizers as Table[];
    const numbers = floats(buffers[0]);
    const selected = marked(store.selected.peek(), store.step.peek()?.structure).parameters;
    const head = SHOWN.map(([, title, hint]) => html('th', { scope: 'col', title: hint }, title));
    let at = 0;
    const bodies = tables.flatMap(({ names, label }) => {
      const start = at;
      at += names.length * columns.length;
      const kept = new Set(visibleRows(names, selected));
      const rows = names.flatMap((name, r) => {
        if (!kept.has(name)) return [];
        const cells = SHOWN.map(([column, , , text]) => {
          const k = start + r * columns.length + columns.indexOf(column);
          const missing = isMissing(numbers, k);
          const x = numbers[k] as number;
          const look = `gl-code${!missing && strange(column, x) ? ' gl-out' : ''}${!missing && special(x) ? ' gl-odd-text' : ''}`;
          const cell = html(
            'td',
            { class: look, 'data-col': column, title: missing ? null : full(x) },
            missing ? '\u2013' : (special(x) ?? text(x))
          );
          mark(cell, missing ? null : x);
          return cell;
        });
        const row = html(
          'tr',
          { 'data-param': name, class: selected.has(name) ? 'gl-selected' : null },
          html('td', { title: whole(name) }, nameCell(name)),
          ...cells
        );
        return [row];
      });
      const title = tables.length > 1 ? [html('tr', {}, html('th', { colspan: SHOWN.length + 1, class: 'gl-left' }, label))] : [];
      return [html('tbody', {}, ...title, ...rows)];
    });
    table.replaceChildren(
      html('colgroup', {}, html('col', {}), ...SHOWN.map(() => html('col', {}))),
      html('thead', {}, html('tr', {}, html('th', { scope: 'col' }, 'parameter'), ...head)),
      ...bodies
    );
    fit(into.clientWidth);
    const steps = [...new Set(tables.map(({ step }) => step))];
    write(note, tables.length === 0 ? 'No full step was looked at yet.' : `Numbers of step ${steps.map(count).join(', ')}.`);
    const lines = (content.holdings as Holding[]).map(holds);
    holding.replaceChildren(...lines.map(([text, bad]) => html('div', { class: bad ? 'gl-warnline' : null }, text)));
  };

  followWidth(view, into, fit);
  watch(view, () => {
    const past = store.at.value !== null;
    set(into, 'data-past', past ? '' : null);
    if (table.rows.length === 0) write(note, past ? 'Shown for the newest step only: follow live.' : LOOKING);
  });
  askWhileShown(view, into, { what: 'microscope', draw, note, wanted: () => store.at.value === null });
}
