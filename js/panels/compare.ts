/** Two steps side by side: A, that was marked, and B, that is drawn; with the quotient per parameter and per op. */

import { bar, sides } from '../draw/bars';
import { html, set, write } from '../draw/element';
import { count, full, plain, special } from '../draw/format';
import { mark } from '../draw/node';
import type { Step } from './past';
import { rowAt } from './past';
import { fitNames, nameCell } from './pathname';
import { visibleRows } from './rows';
import { marked } from './store';
import { followWidth, leafNumber, opGradient, opValue, watch, type View } from './view';

/** One line of the comparison; null where a step has no number. */
export interface Pair {
  name: string;
  /** What is selected by a click. */
  what: string;
  a: number | null;
  b: number | null;
}

type Kind = 'g' | 'w' | 'u' | 'ov' | 'og';
const KINDS: [Kind, string, string][] = [
  ['g', '‖g‖', 'gradient norm of every parameter'],
  ['w', '‖w‖', 'norm of every parameter'],
  ['u', 'u : w', 'update ratio of every parameter'],
  ['ov', 'op ‖v‖', 'norm of what every op gives'],
  ['og', 'op ‖g‖', 'norm of the gradient of what every op gives']
];

const known = (x: number | undefined) => (x === undefined || Number.isNaN(x) ? null : x);

/** The pairs of one kind of number. Ops are the same where they stand at the same place and do the same. */
export function pairs(kind: Kind, a: Step, b: Step, columns: readonly string[]): Pair[] {
  const of = (step: Step, name: string) => known(step.row?.[columns.indexOf(name)]);
  const totals: Pair[] = ['loss', 'grad_norm'].map(name => {
    const frame = (step: Step) => (name === 'loss' ? step.frame.loss : step.frame.grad_norm);
    return { name: name === 'loss' ? 'loss' : '‖grad‖', what: '', a: frame(a), b: frame(b) };
  });
  if (kind === 'ov' || kind === 'og') {
    const number = kind === 'ov' ? opValue : opGradient;
    const ops = b.structure.ops.flatMap((op, i): Pair[] => {
      const other = a.structure.ops[i];
      const module = op.module === null ? '' : (b.structure.modules[op.module]?.path ?? '');
      const path = module.endsWith(op.name) ? module : `${module} ${op.name}`.trim();
      const same = other?.name === op.name && String(other.shape) === String(op.shape);
      return [{ name: path, what: `op:${i}`, a: same ? number(a.frame, i) : null, b: number(b.frame, i) }];
    });
    return [...totals, ...ops];
  }
  const names = columns.filter(name => name.startsWith('g/')).map(name => name.slice(2));
  const leaf = (step: Step, name: string) => {
    const j = step.structure.leaves.findIndex(l => l.kind === 'parameter' && l.name === name);
    return j < 0 || kind === 'u' ? null : leafNumber(step.frame, j, kind === 'g' ? 'gradient' : 'value');
  };
  const number = (step: Step, name: string) => of(step, `${kind}/${name}`) ?? (step.frame.of === undefined ? leaf(step, name) : null);
  return [...totals, ...names.map((name): Pair => ({ name, what: `param:${name}`, a: number(a, name), b: number(b, name) }))];
}

const times = (x: number) => special(x) ?? `${plain(x)}×`;

/** Draw the comparison while a step is marked. */
export function comparePart(view: View, into: HTMLElement): void {
  const { store, signal } = view;
  let kind: Kind = 'g';
  let first: Step | null = null;
  const close = html('button', { type: 'button', class: 'gl-button', title: 'End the comparison' }, 'Close');
  const swap = html(
    'button',
    { type: 'button', class: 'gl-button', title: 'Mark the step on show as A, and go to the one that was' },
    'Swap'
  );
  const buttons = KINDS.map(([k, text, title]) => {
    const button = html('button', { type: 'button', title }, text);
    button.addEventListener('click', () => ((kind = k), draw()), { signal });
    return button;
  });
  const seg = html('div', { class: 'gl-seg', role: 'group', 'aria-label': 'What is compared' }, ...buttons);
  const [headA, headB] = [html('th', { scope: 'col' }), html('th', { scope: 'col' })];
  const body = html('tbody', {});
  const quotient = html('th', { scope: 'col', title: 'B divided by A; bars to the left are smaller, to the right larger' }, 'B : A');
  const widths = [31, 20, 20, 29].map(share => html('col', { style: `width:${share}%` }));
  const table = html(
    'table',
    { class: 'gl-compare' },
    html('colgroup', {}, ...widths),
    html('thead', {}, html('tr', {}, html('th', { scope: 'col' }, ''), headA, headB, quotient)),
    body
  );
  const note = html('div', { class: 'gl-further', role: 'status' });
  into.replaceChildren(
    html('div', { class: 'gl-comparehead' }, seg, swap, close),
    html('div', { class: 'gl-scroll gl-long' }, table),
    note
  );

  const draw = () => {
    buttons.forEach((button, i) => set(button, 'aria-pressed', String(KINDS[i]?.[0] === kind)));
    const step = store.step.peek();
    if (!first || !step) return;
    const b = step.row ? step : { ...step, row: rowAt(store.series, store.series.lastStep) };
    const all = pairs(kind, first, b, store.series.columns);
    const { parameters, ops } = marked(store.selected.peek(), b.structure);
    const on = (what: string) => (what.startsWith('op:') ? ops.has(Number(what.slice(3))) : parameters.has(what.slice(6)));
    const kept = new Set(
      visibleRows(
        all.map(pair => pair.what),
        new Set(all.map(pair => pair.what).filter(on))
      )
    );
    const shown = all.filter(pair => kept.has(pair.what));
    const ratios = shown.map(({ a, b: to }) => (a === null || to === null || (a === 0 && to === 0) ? null : to / a));
    const decades = sides(ratios.filter(x => x !== null));
    const number = (x: number | null, column: string) => {
      const cell = html(
        'td',
        { class: `gl-code${x !== null && special(x) ? ' gl-odd-text' : ''}`, 'data-col': column, title: x === null ? null : full(x) },
        x === null ? '–' : plain(x)
      );
      mark(cell, x);
      return cell;
    };
    body.replaceChildren(
      ...shown.map((pair, i) => {
        const ratio = ratios[i] ?? null;
        const far = ratio !== null && !(ratio > 0.1 && ratio < 10);
        const text = html('span', { class: 'gl-gainvalue' }, ratio === null ? '' : times(ratio));
        const cell = html('td', { class: far ? 'gl-out' : null, 'data-col': 'ratio' }, ratio === null ? null : bar(ratio, decades), text);
        mark(cell, ratio);
        const difference = pair.a === null || pair.b === null ? '' : `\nB − A ${full(pair.b - pair.a)}`;
        return html(
          'tr',
          {
            'data-compare': pair.name,
            'data-what': pair.what,
            class: on(pair.what) ? 'gl-selected' : null,
            title: `${pair.name}${difference}`
          },
          html('td', {}, nameCell(pair.name)),
          number(pair.a, 'a'),
          number(pair.b, 'b'),
          cell
        );
      })
    );
    fitNames(table);
    write(headA, `A: step\u00a0${count(first.frame.step)}`);
    write(headB, `B: step\u00a0${count(b.frame.step)}`);
    const others = [first, b]
      .filter(s => s.frame.of !== undefined)
      .map(s => `op norms of step ${count(s.frame.of as number)} for ${count(s.frame.step)}`);
    const same = first.frame.step === b.frame.step ? 'Go to another step to compare it with A.' : '';
    write(note, [same, ...others].filter(Boolean).join(' '));
  };

  followWidth(view, table, () => fitNames(table));
  close.addEventListener(
    'click',
    () => {
      store.mark.value = null;
      view.root.querySelector<HTMLElement>('.gl-ab')?.focus();
    },
    { signal }
  );
  swap.addEventListener(
    'click',
    () => {
      const [a, b] = [store.mark.peek(), store.step.peek()?.frame.step ?? null];
      if (a === null || b === null) return;
      store.mark.value = b;
      store.scrub(a);
    },
    { signal }
  );
  body.addEventListener(
    'click',
    event => {
      const what = (event.target as Element).closest('[data-what]')?.getAttribute('data-what');
      if (what) store.toggle(what);
    },
    { signal }
  );
  watch(view, () => {
    const a = store.mark.value;
    if (a === null || first?.frame.step === a) return;
    first = null;
    write(note, 'reading …');
    void store
      .stepAt(a)
      .then(step => {
        if (store.mark.peek() !== a) return;
        first = step;
        draw();
      })
      .catch((error: Error) => write(note, error.message));
  });
  watch(view, () => {
    void store.step.value;
    void store.selected.value;
    if (store.mark.value !== null) draw();
  });
}
