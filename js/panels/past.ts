/** An earlier step as it is drawn: from what the page has received, from the timeline, and from what the kernel keeps. */

import { bytes, floats, MISSING, toNumber, type Frame, type OptimizerTable } from '../protocol/decode';
import type { Structure, Wire } from '../protocol/messages';
import type { Answer } from './asking';
import { spanAt } from './span';
import { LAST, type Series } from './series';

/** One step as it is drawn: numbers always with the structure they belong to. */
export interface Step {
  structure: Structure;
  frame: Frame;
  /** The timeline's row of the step, by column; of the live step it is the newest row. */
  row?: Float32Array;
}

/** The timeline's row of a step; the last one of the steps that it was merged with. */
export function rowAt(series: Series, step: number): Float32Array {
  const span = spanAt(series, step);
  return Float32Array.from(series.columns, (_, c) => series.at(span, c, LAST));
}

/** Whether the timeline has a row of this very step. */
export function isExact(series: Series, step: number): boolean {
  const span = spanAt(series, step);
  return series.first[span] === step && series.last[span] === step;
}

/** A step drawn from the frame that comes nearest, with the numbers of the timeline's row where the frame is of another step. */
export function recalled(step: number, near: Step, row: Float32Array, columns: readonly string[]): Step {
  const { frame, structure } = near;
  if (frame.step === step) return { structure, frame, row };
  return { structure, frame: overwritten(frame, step, frame.of ?? frame.step, row, columns, structure), row };
}

/** What the kernel kept of a step; null where its structure has not come. */
export function answered(
  step: number,
  answer: Answer,
  like: Frame,
  columns: readonly string[],
  structures: ReadonlyMap<string, Structure>
): Step | null {
  const { content, buffers } = answer;
  const structure = structures.get(String(content.key));
  if (!structure) return null;
  const row = floats(buffers[4]);
  const of = Number(content.of);
  const numbers = { ops: floats(buffers[0]), op_has: bytes(buffers[1]), leaves: floats(buffers[2]), leaf_has: bytes(buffers[3]) };
  const frame = overwritten({ ...like, key: structure.key, ...numbers }, step, of, row, columns, structure);
  if (of === step) Object.assign(frame, { loss: toNumber(content.loss as Wire), grad_norm: toNumber(content.grad_norm as Wire) });
  return { structure, frame, row };
}

function overwritten(frame: Frame, step: number, of: number, row: Float32Array, columns: readonly string[], structure: Structure): Frame {
  const number = (name: string) => row[columns.indexOf(name)] ?? NaN;
  const known = (x: number) => (Number.isNaN(x) ? null : x);
  const optimizers = frame.optimizers.map((table, i) => tableOf(table, i, row, columns, structure));
  return {
    ...frame,
    step,
    of: of === step ? undefined : of,
    open: false,
    loss: known(number('loss')),
    grad_norm: known(number('grad_norm')),
    optimizers
  };
}

/** As much of an optimizer's table as the timeline has: rms of the gradient and update : weight. */
function tableOf(table: OptimizerTable, i: number, row: Float32Array, columns: readonly string[], { leaves }: Structure): OptimizerTable {
  const names = columns.filter(name => name.startsWith('g/'));
  const rates = columns.filter(name => name.startsWith('lr/'));
  const number = (name: string) => row[columns.indexOf(name)] ?? NaN;
  const sizes = new Map(leaves.map(leaf => [leaf.column, leaf.shape.reduce((a, b) => a * b, 1)]));
  const values = table.rows.flatMap(p => {
    const name = (names[p] ?? '').slice(2);
    return table.columns.map(column => {
      if (column === 'rms g') return number(`g/${name}`) / Math.sqrt(sizes.get(p) ?? NaN);
      return column === 'update:weight' ? number(`u/${name}`) : NaN;
    });
  });
  const out = Float32Array.from(values);
  // A gradient that is no number makes the sum of all no number; what else has none was not measured.
  const odd = Number.isNaN(number('grad_norm'));
  const bits = new Uint32Array(out.buffer);
  values.forEach((x, k) => {
    if (Number.isNaN(x) && !(odd && table.columns[k % table.columns.length] === 'rms g')) bits[k] = MISSING;
  });
  const rate = rates.includes(`lr/${table.label}`) ? `lr/${table.label}` : (rates[i] ?? '');
  return { ...table, of: undefined, lr: number(rate), values: out };
}
