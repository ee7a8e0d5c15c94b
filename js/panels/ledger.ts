/** The gradient ledger: what has been added to each `.grad` since it was last cleared, as a stack that a forgotten zero_grad lets grow. */

import { html, write } from '../draw/element';
import { count, full, plain, plural } from '../draw/format';
import { fitNames, nameCell } from './pathname';
import { visibleRows } from './rows';
import { marked } from './store';
import { followWidth, watch, type View } from './view';
import { askWhileShown } from './while-shown';

type Entry = [backward: number, op: string | null, norm: number | string | null];

interface Ledger {
  name: string;
  entries: Entry[];
}

const norm = (entry: Entry) => (entry[2] === null ? NaN : Number(entry[2]));

/** What a stack means: how many backward calls it is the sum of, and from which ops it came. */
export function told({ entries }: Ledger): string {
  const calls = new Set(entries.map(([backward]) => backward)).size;
  const sources = [...new Set(entries.map(([, op]) => op ?? 'the loss'))];
  return `${plural(calls, 'backward call')}${sources.length > 1 ? ` · ${sources.join(', ')}` : ''}`;
}

/** Blocks thinner than this, with the gap between two, run together: then all of one backward call are one. */
const THIN = 5;

/** The entries as blocks of a stack: one each, or one a backward call where there is no room. */
export function blocksOf(entries: readonly Entry[], fine: boolean): Entry[][] {
  const out: Entry[][] = [];
  for (const entry of entries) {
    const last = out.at(-1);
    if (!fine && last?.[0]?.[0] === entry[0]) last.push(entry);
    else out.push([entry]);
  }
  return out;
}

/** Whether one sentence says all: every gradient is of as many entries, of the same calls and ops. */
export function alike(all: readonly Ledger[]): boolean {
  const [first] = all;
  return all.length > 1 && all.every(one => one.entries.length === first?.entries.length && told(one) === told(first));
}

/** Draw it; it asks again when new numbers come, for as long as it is shown. */
export function ledgerPart(view: View, into: HTMLElement): void {
  const { store, signal } = view;
  const note = html('div', { class: 'gl-further', role: 'status' });
  const rows = html('div', { class: 'gl-scroll gl-long', role: 'list' });
  const all = html('button', { type: 'button', class: 'gl-button', hidden: true });
  let unfolded = false;
  all.addEventListener('click', () => ((unfolded = true), fold()), { signal });
  into.replaceChildren(note, all, rows);
  const fold = () => {
    rows.hidden = all.dataset['alike'] !== undefined && !unfolded;
    all.hidden = !rows.hidden;
    fitNames(rows);
  };

  let last: [Ledger[], number] | null = null;
  const draw = (ledgers: Ledger[], more: number) => {
    last = [ledgers, more];
    const selected = marked(store.selected.peek(), store.step.peek()?.structure).parameters;
    const kept = new Set(
      visibleRows(
        ledgers.map(({ name }) => name),
        selected
      )
    );
    const most = Math.max(...ledgers.map(({ entries }) => entries.length), 1);
    const fine = most * THIN <= (into.clientWidth || 400) * 0.56 - 108;
    rows.replaceChildren(
      ...ledgers
        .filter(({ name }) => kept.has(name))
        .map(ledger => {
          const { name, entries } = ledger;
          const calls = [...new Set(entries.map(([backward]) => backward))];
          const blocks = blocksOf(entries, fine).map(block => {
            const [entry] = block as [Entry];
            const look = block.every(one => Number.isFinite(norm(one))) ? (calls.indexOf(entry[0]) % 2 ? 'gl-even' : '') : 'gl-odd';
            const said = block.length > 1 ? `${count(block.length)} parts` : `${entry[1] ?? 'the loss'} · ‖g‖ ${full(norm(entry))}`;
            const style = fine ? null : `flex-basis:${((100 * block.length) / most).toFixed(2)}%`;
            return html('u', { class: look, style, title: `backward ${entry[0]} · ${said}` });
          });
          const times = !fine && entries.length > 1 && html('span', { class: 'gl-muted' }, `×${count(entries.length)}`);
          const stack = html('span', { class: 'gl-stack', style: `--most:${Math.max(most, 8)}` }, ...blocks, times);
          const sum = html('span', { class: `gl-gainvalue${calls.length > 1 ? ' gl-out' : ''}`, title: told(ledger) }, told(ledger));
          const last = entries.at(-1);
          const title = `${name}\n${told(ledger)}${last ? `\nthe newest ‖g‖ ${plain(norm(last))}` : ''}`;
          return html(
            'div',
            { class: `gl-gainrow${selected.has(name) ? ' gl-selected' : ''}`, role: 'listitem', title, 'data-ledger': name },
            html('span', { class: 'gl-gainname' }, nameCell(name)),
            stack,
            sum
          );
        })
    );
    const grown = ledgers.filter(({ entries }) => new Set(entries.map(([backward]) => backward)).size > 1);
    const calls = Math.max(0, ...grown.map(({ entries }) => new Set(entries.map(([backward]) => backward)).size));
    const further = more > 0 ? ` ${plural(more, 'more parameter')}.` : '';
    note.classList.toggle('gl-warnline', grown.length > 0);
    const step = store.step.peek();
    const clear = step && step.frame.optimizers.length === 0 ? 'set .grad to None before backward()' : 'call optimizer.zero_grad()';
    const text =
      ledgers.length === 0
        ? 'Nothing was added to a gradient yet, or every gradient is None now.'
        : grown.length > 0
          ? `${plural(grown.length, 'gradient')} of up to ${calls} backward calls: ${clear} in every step, unless you mean to accumulate.${further}`
          : `Each gradient is of one backward call: cleared in every step.${further}`;
    // To a reader of an earlier step it is not of that one.
    const now = store.at.peek() === null ? '' : `Now, after step ${count(store.series.lastStep)}: `;
    write(note, now ? `${now}${text.charAt(0).toLowerCase()}${text.slice(1)}` : text);
    all.toggleAttribute('data-alike', alike(ledgers));
    write(all, `Show the ${plural(kept.size, 'gradient')}`);
    fold();
  };

  followWidth(view, into, () => fitNames(rows));
  watch(view, () => {
    void store.at.value;
    if (last) draw(...last);
  });
  rows.addEventListener(
    'click',
    event => {
      const row = (event.target as Element).closest('[data-ledger]');
      if (row) store.toggle(`param:${row.getAttribute('data-ledger')}`);
    },
    { signal }
  );
  askWhileShown(view, into, {
    what: 'ledgers',
    draw: ({ content }) => draw(content.ledgers as Ledger[], Number(content.more)),
    note
  });
}
