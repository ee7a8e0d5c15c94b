/** The shapes table: every tensor of the step, where it was made, and how large it is. */

import type { ReadonlySignal } from '@preact/signals-core';
import { html, write } from '../draw/element';
import { bytes, count, plural } from '../draw/format';
import type { Op, Structure } from '../protocol/messages';
import { dtypesOf, isFailed, mainType, measure, rowOf, type Look } from './operands';
import { emptyState } from './section';
import { foldOut } from './fold-out';
import { marked } from './store';
import { batchOf, followWidth, watch, type PanelParts, type View } from './view';

/** More rows than these are made only where they are seen. */
const MOST_ROWS = 300;
const ROW = 24;
/** A longer table scrolls by itself: the next panel stays near. */
const FEW_ROWS = 16;

type Key = 'tape' | 'name' | 'bytes';

/** The shapes panel. */
export function shapesPanel(view: View, open: ReadonlySignal<boolean>): PanelParts {
  const { store } = view;
  const body = html('div', { class: 'gl-shapes' });
  const summary = html('div', { class: 'gl-sum' });
  const empty = emptyState('Nothing traced yet. Run a cell that calls a gradlab op.');
  const columns = html('colgroup');
  const head = html('tr');
  const rows = html('tbody');
  const table = html('table', {}, columns, html('thead', {}, head), rows);
  const scroller = html('div', { class: 'gl-scroll' }, table);
  const footer = html('div', { class: 'gl-legend' });
  const keepers = foldOut(
    view,
    'keepers',
    'what keeps graphs in memory',
    'looks through your variables for results that still have their graph'
  );
  const options = { signal: view.signal };
  let structure: Structure | null = null;
  let order: number[] = [];
  let sort: Key = 'tape';
  let down = false;
  let room = 416;
  let selected: ReadonlySet<number> = new Set();
  let look: Look = { batch: -1, dtype: '', column: false, at: true, letters: 0 };
  const made = new Map<number, HTMLTableRowElement>();

  const row = (i: number) => {
    const now = structure as Structure;
    let element = made.get(i);
    if (!element) {
      element = rowOf(now, i, look);
      made.set(i, element);
    }
    element.classList.toggle('gl-selected', selected.has(i));
    return element;
  };
  /** All rows of a short table; of a long one those in view, between two spacers. */
  const fill = () => {
    if (!structure) return;
    if (order.length <= MOST_ROWS) {
      rows.replaceChildren(...order.map(row));
      return;
    }
    const first = Math.max(0, Math.floor(scroller.scrollTop / ROW) - 8);
    const last = Math.min(order.length, first + Math.ceil((scroller.clientHeight || 360) / ROW) + 16);
    const spacer = (n: number) => html('tr', { class: 'gl-spacer', style: `height:${n * ROW}px`, 'aria-hidden': 'true' });
    if (made.size > 2000) made.clear();
    rows.replaceChildren(spacer(first), ...order.slice(first, last).map(row), spacer(order.length - last));
  };
  const arrange = () => {
    const now = structure as Structure;
    order = now.ops.map((_, i) => i);
    const by = {
      tape: (a: number, b: number) => a - b,
      name: (a: number, b: number) => (now.ops[a] as Op).name.localeCompare((now.ops[b] as Op).name) || a - b,
      bytes: (a: number, b: number) => (now.ops[b] as Op).bytes - (now.ops[a] as Op).bytes || a - b
    }[sort];
    order.sort(by);
    if (down) order.reverse();
    fill();
  };
  const heading = (text: string, left: boolean, key?: Key) => {
    const sorted = key === sort && (key !== 'tape' || down) ? (down ? 'descending' : 'ascending') : null;
    const cell = html('th', { class: left ? 'gl-left' : null, scope: 'col', 'aria-sort': sorted });
    if (!key) {
      cell.append(text);
      return cell;
    }
    const button = html('button', { type: 'button', title: `Sort by ${key === 'tape' ? 'tape order' : text}` }, text);
    button.addEventListener(
      'click',
      () => {
        down = sort === key ? !down : false;
        sort = key;
        build();
      },
      options
    );
    cell.append(button);
    return cell;
  };
  const build = () => {
    const now = structure as Structure;
    const measured = measure(now, room);
    look = measured.look;
    columns.replaceChildren(...measured.widths.map(w => html('col', { style: w < 0 ? null : `width:${w}px` })));
    // In a very narrow dock the table scrolls sideways: its inputs keep a readable width.
    table.style.minWidth = `${measured.widths.reduce((sum, w) => sum + Math.max(0, w), 100)}px`;
    const dtype = look.column ? [heading('dtype', true)] : [];
    head.replaceChildren(
      heading('op', true, 'name'),
      ...(look.at ? [heading(measured.brief ? 'at' : 'made at', true, 'tape')] : []),
      heading('inputs', true),
      heading('output', true),
      ...dtype,
      heading('bytes', false, 'bytes')
    );
    scroller.classList.toggle('gl-long', now.ops.length > FEW_ROWS);
    made.clear();
    arrange();
  };
  const say = (now: Structure) => {
    const graph = now.ops.filter(op => op.grad);
    const made = now.ops.filter(op => !isFailed(op));
    const types = [...dtypesOf(now)];
    const stretched = rows.querySelector('.gl-ghost') !== null;
    const dtype = types.length === 1 ? `all ${types[0]} · ` : look.column ? '' : `${mainType(now)} where not named · `;
    const further = now.folded > 0 ? ` · ${plural(now.folded, 'op')} not kept` : '';
    footer.replaceChildren();
    if (stretched)
      footer.append(
        html('span', {}, html('span', { class: 'gl-ghost gl-code' }, String(batchOf(now) > 0 ? batchOf(now) : 'n')), ' broadcast axis')
      );
    footer.append(html('span', {}, `${dtype}${count(graph.length)} of ${plural(made.length, 'op')} want a gradient${further}`));
  };

  watch(view, () => {
    const now = store.step.value?.structure ?? null;
    const ops = now?.ops.filter(op => op.grad) ?? [];
    const failed = now?.ops.filter(isFailed).length ?? 0;
    const shown = ops.length > 0 ? ops : (now?.ops.filter(op => !isFailed(op)) ?? []);
    write(
      summary,
      now
        ? `${plural(shown.length, 'op')} forward${failed ? ` · ${count(failed)} failed` : ''} · ${bytes(shown.reduce((sum, op) => sum + op.bytes, 0))}`
        : 'nothing traced yet'
    );
    if (!open.value) return;
    if (!now || now.ops.length === 0) {
      structure = null;
      body.replaceChildren(empty);
      return;
    }
    if (now === structure) return;
    structure = now;
    build();
    say(now);
    if (scroller.parentElement !== body) body.replaceChildren(scroller, footer, keepers);
  });
  watch(view, () => {
    selected = marked(store.selected.value, store.step.value?.structure).ops;
    for (const [i, element] of made) element.classList.toggle('gl-selected', selected.has(i));
  });
  scroller.addEventListener('scroll', () => order.length > MOST_ROWS && fill(), { ...options, passive: true });
  rows.addEventListener(
    'click',
    event => {
      const found = (event.target as Element).closest('[data-op]');
      if (found) store.toggle(`op:${found.getAttribute('data-op')}`);
    },
    options
  );
  followWidth(view, body, width => {
    if (Math.abs(width - room) < 8) return;
    room = width;
    if (structure && open.value) build();
  });
  return { title: 'Shapes', body, summary };
}
