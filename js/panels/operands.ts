/** The rows of the shapes table: operands as the op sees them, and how wide the columns are. */

import { html } from '../draw/element';
import { bytes, count, shape } from '../draw/format';
import type { Op, Structure } from '../protocol/messages';
import { severitySign } from '../draw/severity';
import { batchOf, madeAt } from './view';

/** The width of a letter of code. */
const LETTER = 6.2;

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

/** Each of two operands has axes that the other stretches: seldom meant. */
const BOTH = 'both stretched';

const plainAxes = (sizes: readonly number[]) => sizes.map(size => ({ size, stretched: false }));

/** How a table is drawn: what its rows have in common. */
export interface Look {
  batch: number;
  /** The dtype that most ops have; others are named. */
  dtype: string;
  /** Whether another dtype has a column of its own, or stands beside the shape. */
  column: boolean;
  /** Whether there is room for where an op was made; where not, its name says it. */
  at: boolean;
  /** Letters that there is room for in the column of the inputs: what is left out is left out whole. */
  letters: number;
}

const SHORT: Record<string, string> = { float: 'f', int: 'i', uint: 'u', complex: 'c' };

/** float32 as f32, int64 as i64. */
export function shortType(dtype: string): string {
  return dtype.replace(/^(float|int|uint|complex)(?=\d)/, word => SHORT[word] as string);
}

/** The operands of an op as text nodes, and the same as a title. */
function inputsOf(structure: Structure, op: Op, look: Look): { nodes: (Node | string)[]; title: string; both: boolean } {
  const parts: (Node | string)[][] = [];
  const titles: string[] = [];
  const tensors = op.inputs.filter(([from]) => from === 'op' || from === 'leaf').length;
  let spread = 0; // operands that are stretched
  for (const [from, what] of op.inputs) {
    if (from === 'scalar' || from === 'past') {
      parts.push([from === 'past' ? `earlier ${what}`.slice(0, 60) : what.slice(0, 60)]);
      titles.push(what);
      continue;
    }
    const sizes = (from === 'op' ? structure.ops[what] : structure.leaves[what])?.shape ?? [];
    const parameter = from === 'leaf' && structure.leaves[what]?.kind === 'parameter';
    const axes = op.kind === 'elementwise' && tensors > 1 ? stretch(sizes, op.shape) : plainAxes(sizes);
    if (axes.some(axis => axis.stretched)) spread++;
    parts.push(shapeNodes(axes, parameter ? -1 : look.batch));
    titles.push(`${from === 'op' ? structure.ops[what]?.name : structure.leaves[what]?.name.slice(0, 200)} ${shape(sizes)}`);
  }
  // A ghost's frame is as wide as a letter.
  const long = (one: Node | string) =>
    typeof one === 'string' ? one.length : (one.textContent?.length ?? 0) + Number((one as Element).className === 'gl-ghost');
  const sum = (n: number) => parts.slice(0, n).reduce((all, part) => part.reduce((a, one) => a + long(one), all + 1), -1);
  let n = parts.length;
  if (sum(n) > look.letters) while (n > 1 && sum(n) + 2 > look.letters) n--;
  const nodes = parts.slice(0, n).flatMap((part, i) => (i ? [' ', ...part] : part));
  if (n < parts.length) nodes.push(' …');
  const title = titles.join('  ');
  if (spread < 2) return { nodes, title, both: false };
  const room = sum(n) + BOTH.length + 4 <= look.letters;
  nodes.unshift(severitySign('warning', 11), ' ');
  return { nodes: room ? [...nodes, ` ${BOTH}`] : nodes, title: `${BOTH}: ${title}`, both: true };
}

/** The dtypes of a step's ops. */
export function dtypesOf(structure: Structure): Set<string> {
  return new Set(structure.ops.map(op => op.dtype).filter(Boolean));
}

/** The dtype that most ops of a step have. */
export function mainType(structure: Structure): string {
  const counts = new Map<string, number>();
  for (const op of structure.ops) counts.set(op.dtype, (counts.get(op.dtype) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
}

/** Whether an op has no result. */
export const isFailed = ({ error, grad }: Op) => error !== null && !grad;

/** The row of one op. */
export function rowOf(structure: Structure, i: number, look: Look): HTMLTableRowElement {
  const op = structure.ops[i] as Op;
  const inputs = inputsOf(structure, op, look);
  const where = madeAt(structure, op);
  const module = op.module === null ? '' : (structure.modules[op.module]?.path ?? '');
  const failed = isFailed(op);
  const other = !look.column && !failed && op.dtype !== look.dtype;
  return html(
    'tr',
    { 'data-op': i, class: op.grad || failed ? null : 'gl-nograd', tabindex: -1 },
    html(
      'td',
      { title: `${module ? `${module} / ` : ''}${op.name}${op.grad ? '' : ', no gradient'}${where && `, made at ${where}`}`.slice(0, 400) },
      html('i', { class: `gl-mark gl-back-${op.kind}` }),
      op.name.slice(0, 200)
    ),
    look.at && html('td', { class: 'gl-left gl-muted gl-code', title: where }, madeAt(structure, op, true)),
    html('td', { class: `gl-left gl-code${inputs.both ? ' gl-both' : ''}`, title: inputs.title.slice(0, 400) }, ...inputs.nodes),
    html(
      'td',
      { class: `gl-left gl-code${failed ? ' gl-failed' : ''}`, title: failed ? op.error : `${shape(op.shape)} ${op.dtype}` },
      ...(failed ? [severitySign('error', 11, true), ' failed'] : shapeNodes(plainAxes(op.shape), look.batch)),
      other && html('span', { class: 'gl-muted' }, ` ${shortType(op.dtype)}`)
    ),
    look.column && html('td', { class: 'gl-left gl-code gl-muted' }, op.dtype),
    html('td', { 'data-value': op.bytes, title: `${count(op.bytes)} bytes` }, failed ? '–' : bytes(op.bytes))
  );
}

/** Widths for the columns from what they hold, and how rows and head must be drawn to fit; the inputs take what is left. */
export function measure(structure: Structure, room: number): { look: Look; widths: number[]; brief: boolean } {
  const dtype = mainType(structure);
  const mixed = dtypesOf(structure).size > 1;
  const column = mixed && room > 560;
  const longest = (text: (op: Op) => string, letter: number, least: number, most: number) => {
    let letters = 0;
    for (const op of structure.ops) letters = Math.max(letters, text(op).length);
    return Math.min(most, Math.max(least, Math.ceil(letters * letter)));
  };
  const narrow = room < 400;
  const name = longest(op => op.name, LETTER, 56, Math.max(92, room * 0.22)) + 13;
  const output =
    longest(
      op => shape(op.shape) + (column || op.dtype === dtype ? '' : ` ${shortType(op.dtype)}`),
      LETTER,
      44,
      Math.max(96, room * 0.24)
    ) + 8;
  const shapesOf = (op: Op) =>
    op.inputs.map(([from, what]) =>
      from === 'op' || from === 'leaf' ? shape((from === 'op' ? structure.ops[what] : structure.leaves[what])?.shape ?? []) : what
    );
  const widest = structure.ops.reduce((most, op) => Math.max(most, shapesOf(op).join(' ').length * LETTER), 0);
  const widthsWith = (brief: boolean, at = true) => {
    const made = longest(op => madeAt(structure, op, true), LETTER, brief ? 24 : 54, 110) + 16;
    return [name, ...(at ? [made] : []), -1, output, ...(column ? [62] : []), narrow ? 50 : 54];
  };
  const left = (widths: number[]) => room - widths.reduce((sum, w) => sum + Math.max(0, w), 0) - 8;
  const brief = narrow || widest + 12 > left(widthsWith(false));
  const at = !(narrow && widest + 12 > left(widthsWith(true)));
  const widths = widthsWith(brief, at);
  const letters = Math.floor(Math.max(left(widths), 100) / LETTER);
  return { look: { batch: batchOf(structure), dtype, column, at, letters }, widths, brief };
}
