/** The gradient ledger: what has been added to each `.grad` since it was last cleared, as a stack that a forgotten zero_grad lets grow. */

import { html, write } from '../draw/element';
import { full, plain, plural } from '../draw/format';
import { pathName } from './pathname';
import { visibleRows } from './rows';
import { marked } from './store';
import type { View } from './view';
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

/** Draw it; it asks again when new numbers come, for as long as it is shown. */
export function ledgerPart(view: View, into: HTMLElement): void {
  const { store, signal } = view;
  const note = html('div', { class: 'gl-further', role: 'status' });
  const rows = html('div', { class: 'gl-scroll gl-long', role: 'list' });
  into.replaceChildren(rows, note);

  const draw = (all: Ledger[], more: number) => {
    const selected = marked(store.selected.peek(), store.step.peek()?.structure).parameters;
    const kept = new Set(
      visibleRows(
        all.map(({ name }) => name),
        selected
      )
    );
    const most = Math.max(...all.map(({ entries }) => entries.length), 1);
    rows.replaceChildren(
      ...all
        .filter(({ name }) => kept.has(name))
        .map(ledger => {
          const { name, entries } = ledger;
          const calls = [...new Set(entries.map(([backward]) => backward))];
          const blocks = entries.map(entry => {
            const look = Number.isFinite(norm(entry)) ? (calls.indexOf(entry[0]) % 2 ? 'gl-even' : '') : 'gl-odd';
            return html('u', { class: look, title: `backward ${entry[0]} · ${entry[1] ?? 'the loss'} · ‖g‖ ${full(norm(entry))}` });
          });
          const stack = html('span', { class: 'gl-stack', style: `--most:${Math.max(most, 8)}` }, ...blocks);
          const sum = html('span', { class: `gl-gainvalue${calls.length > 1 ? ' gl-out' : ''}`, title: told(ledger) }, told(ledger));
          const last = entries.at(-1);
          const title = `${name}\n${told(ledger)}${last ? `\nthe newest ‖g‖ ${plain(norm(last))}` : ''}`;
          return html(
            'div',
            { class: `gl-gainrow${selected.has(name) ? ' gl-selected' : ''}`, role: 'listitem', title, 'data-ledger': name },
            html('span', { class: 'gl-gainname' }, pathName(name)),
            stack,
            sum
          );
        })
    );
    const grown = all.filter(({ entries }) => new Set(entries.map(([backward]) => backward)).size > 1);
    const calls = Math.max(0, ...grown.map(({ entries }) => new Set(entries.map(([backward]) => backward)).size));
    const further = more > 0 ? ` ${plural(more, 'more parameter')}.` : '';
    note.classList.toggle('gl-warnline', grown.length > 0);
    write(
      note,
      all.length === 0
        ? 'Nothing was added to a gradient yet, or every gradient is None now.'
        : grown.length > 0
          ? `${plural(grown.length, 'gradient')} of up to ${calls} backward calls: call optimizer.zero_grad() in every step, unless you mean to accumulate.${further}`
          : `Each gradient is of one backward call: cleared in every step.${further}`
    );
  };

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
