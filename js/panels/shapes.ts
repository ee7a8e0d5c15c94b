/** The shapes table: every tensor of the step, where it was made, and how large it is. */

import type { ReadonlySignal } from '@preact/signals-core';
import { html, write } from '../draw/element';
import { bytes, count, plural, shape } from '../draw/format';
import type { Op, Structure } from '../protocol/messages';
import { emptyState } from './section';
import { marked } from './store';
import { batchOf, followWidth, madeAt, watch, type PanelParts, type View } from './view';

/** More rows than these are made only where they are seen. */
const MOST_ROWS = 300;
const ROW = 24;
const LETTER = 6.2;

type Key = 'tape' | 'name' | 'bytes';

/** The axes of one operand as the op sees them; `stretched` axes have the size they are broadcast to. */
export function stretch(sizes: readonly number[], to: readonly number[]): { size: number; stretched: boolean }[] {
  const ahead = Math.max(0, to.length - sizes.length);
  return Array.from({ length: Math.max(sizes.length, to.length) }, (_, axis) => {
    const own = axis < ahead ? 1 : (sizes[axis - ahead] as number);
    const target = to[axis] ?? own;
    const stretched = axis < ahead || (own === 1 && target !== 1);
    return { size: stretched ? target : own, stretched };
  });
}

function ghost(size: number): HTMLElement {
  return html('span', { class: 'gl-ghost', title: 'broadcast: stretched to this size' }, String(size));
}

/** A shape with its batch axis muted and its broadcast axes as ghosts. */
function shapeNodes(axes: readonly { size: number; stretched: boolean }[], batch: number): (Node | string)[] {
  const out: (Node | string)[] = ['('];
  axes.forEach(({ size, stretched }, axis) => {
    if (axis > 0) out.push(', ');
    if (stretched) out.push(ghost(size));
    else if (axis === 0 && size === batch) out.push(html('span', { class: 'gl-batch-text' }, String(size)));
    else out.push(String(size));
  });
  out.push(axes.length === 1 ? ',)' : ')');
  return out;
}

const plainAxes = (sizes: readonly number[]) => sizes.map(size => ({ size, stretched: false }));

/** How a table is drawn: what its rows have in common. */
interface Look {
  batch: number;
  /** The dtype that most ops have; others are named. */
  dtype: string;
  /** Whether another dtype has a column of its own, or stands beside the shape. */
  column: boolean;
  /** Parameters as 128×64, where the whole of every row would not fit. */
  compact: boolean;
}

const SHORT: Record<string, string> = { float: 'f', int: 'i', uint: 'u', complex: 'c' };

/** float32 as f32, int64 as i64. */
export function shortType(dtype: string): string {
  return dtype.replace(/^(float|int|uint|complex)(?=\d)/, word => SHORT[word] as string);
}

/** The operands of an op as text nodes, and the same as a title. */
function inputsOf(structure: Structure, op: Op, look: Look): { nodes: (Node | string)[]; title: string } {
  const nodes: (Node | string)[] = [];
  const titles: string[] = [];
  const tensors = op.inputs.filter(([from]) => from === 'op' || from === 'leaf').length;
  for (const [from, what] of op.inputs) {
    if (nodes.length > 0) nodes.push(' ');
    if (from === 'scalar' || from === 'past') {
      nodes.push(from === 'past' ? `earlier ${what}`.slice(0, 60) : what.slice(0, 60));
      titles.push(what);
      continue;
    }
    const sizes = (from === 'op' ? structure.ops[what] : structure.leaves[what])?.shape ?? [];
    const parameter = from === 'leaf' && structure.leaves[what]?.kind === 'parameter';
    const axes = op.kind === 'elementwise' && tensors > 1 ? stretch(sizes, op.shape) : plainAxes(sizes);
    if (parameter && look.compact && !axes.some(axis => axis.stretched)) nodes.push(sizes.join('×') || '1');
    else nodes.push(...shapeNodes(axes, parameter ? -1 : look.batch));
    titles.push(`${from === 'op' ? structure.ops[what]?.name : structure.leaves[what]?.name.slice(0, 200)} ${shape(sizes)}`);
  }
  return { nodes, title: titles.join('  ') };
}

function dtypesOf(structure: Structure): Set<string> {
  return new Set(structure.ops.map(op => op.dtype));
}

/** The dtype that most ops of a step have. */
function mainType(structure: Structure): string {
  const counts = new Map<string, number>();
  for (const op of structure.ops) counts.set(op.dtype, (counts.get(op.dtype) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
}

function rowOf(structure: Structure, i: number, look: Look): HTMLTableRowElement {
  const op = structure.ops[i] as Op;
  const inputs = inputsOf(structure, op, look);
  const where = madeAt(structure, op);
  const module = op.module === null ? '' : (structure.modules[op.module]?.path ?? '');
  const other = !look.column && op.dtype !== look.dtype;
  return html(
    'tr',
    { 'data-op': i, class: op.grad ? null : 'gl-nograd', tabindex: -1 },
    html(
      'td',
      { title: `${module ? `${module} / ` : ''}${op.name}${op.grad ? '' : ', no gradient'}`.slice(0, 400) },
      html('i', { class: `gl-mark gl-back-${op.kind}` }),
      op.name.slice(0, 200)
    ),
    html('td', { class: 'gl-left gl-muted gl-code', title: where }, madeAt(structure, op, true)),
    html('td', { class: 'gl-left gl-code', title: inputs.title.slice(0, 400) }, ...inputs.nodes),
    html(
      'td',
      { class: 'gl-left gl-code', title: `${shape(op.shape)} ${op.dtype}` },
      ...shapeNodes(plainAxes(op.shape), look.batch),
      other && html('span', { class: 'gl-muted' }, ` ${shortType(op.dtype)}`)
    ),
    look.column && html('td', { class: 'gl-left gl-code gl-muted' }, op.dtype),
    html('td', { 'data-value': op.bytes, title: `${count(op.bytes)} bytes` }, bytes(op.bytes))
  );
}

/** Widths for the columns from what they hold, and how the rows must be drawn to fit; the inputs take what is left. */
function measure(structure: Structure, room: number): { look: Look; widths: number[] } {
  const dtype = mainType(structure);
  const mixed = dtypesOf(structure).size > 1;
  const column = mixed && room > 560;
  const longest = (text: (op: Op) => string, letter: number, least: number, most: number) => {
    let letters = 0;
    for (const op of structure.ops) letters = Math.max(letters, text(op).length);
    return Math.min(most, Math.max(least, Math.ceil(letters * letter)));
  };
  const narrow = room < 400;
  const name = longest(op => op.name, 6.8, 56, narrow ? 66 : Math.max(92, room * 0.22)) + 13;
  const made = longest(op => madeAt(structure, op, true), LETTER, narrow ? 28 : 50, 110) + 8;
  const output =
    longest(
      op => shape(op.shape) + (column || op.dtype === dtype ? '' : ` ${shortType(op.dtype)}`),
      LETTER,
      44,
      Math.max(96, room * 0.24)
    ) + 10;
  const widths = [name, made, -1, output, ...(column ? [62] : []), narrow ? 50 : 54];
  const left = room - widths.reduce((sum, w) => sum + Math.max(0, w), 0) - 8;
  const shapesOf = (op: Op) =>
    op.inputs
      .map(([from, what]) =>
        from === 'op' ? shape(structure.ops[what]?.shape ?? []) : from === 'leaf' ? shape(structure.leaves[what]?.shape ?? []) : what
      )
      .join(' ');
  const compact = structure.ops.some(op => shapesOf(op).length * LETTER > left);
  return { look: { batch: batchOf(structure), dtype, column, compact }, widths };
}

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
  const options = { signal: view.signal };
  let structure: Structure | null = null;
  let order: number[] = [];
  let sort: Key = 'tape';
  let down = false;
  let room = 416;
  let selected: ReadonlySet<number> = new Set();
  let look: Look = { batch: -1, dtype: '', column: false, compact: false };
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
    const dtype = look.column ? [heading('dtype', true)] : [];
    head.replaceChildren(
      heading('op', true, 'name'),
      heading(room < 400 ? 'at' : 'made at', true, 'tape'),
      heading('inputs', true),
      heading('output', true),
      ...dtype,
      heading('bytes', false, 'bytes')
    );
    scroller.classList.toggle('gl-long', now.ops.length > MOST_ROWS);
    made.clear();
    arrange();
  };
  const say = (now: Structure) => {
    const graph = now.ops.filter(op => op.grad);
    const types = [...dtypesOf(now)];
    const stretched = rows.querySelector('.gl-ghost') !== null;
    const dtype = types.length === 1 ? `all ${types[0]} · ` : `${mainType(now)} where not named · `;
    const further = now.folded > 0 ? ` · ${plural(now.folded, 'op')} not kept` : '';
    footer.replaceChildren();
    if (stretched)
      footer.append(
        html('span', {}, html('span', { class: 'gl-ghost gl-code' }, String(batchOf(now) > 0 ? batchOf(now) : 'n')), ' broadcast axis')
      );
    footer.append(html('span', {}, `${dtype}${graph.length} of ${plural(now.ops.length, 'op')} want a gradient${further}`));
  };

  watch(view, () => {
    const now = store.step.value?.structure ?? null;
    const ops = now?.ops.filter(op => op.grad) ?? [];
    const shown = ops.length > 0 ? ops : (now?.ops ?? []);
    write(
      summary,
      now ? `${plural(shown.length, 'op')} forward · ${bytes(shown.reduce((sum, op) => sum + op.bytes, 0))}` : 'nothing traced yet'
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
    if (scroller.parentElement !== body) body.replaceChildren(scroller, footer);
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
