/** Where in the user's code a selection was made: what the JupyterLab extension goes to. */

import type { Op, Structure } from '../protocol/messages';
import { marked } from './store';
import { nameOf } from './nesting';

/** A line of a cell or file, and what to call the op. */
export interface Place {
  cell: string | null;
  count: number | null;
  file: string | null;
  /** Where the file is, and the home directory that a `~` in paths means. */
  path: string | null;
  home: string | null;
  line: number | null;
  /** The op with its module: `fc2 / matmul`. */
  label: string;
  /** The other ops of the line: `add · gelu`. */
  others: string;
}

/** What the window event `gradlab:goto` carries; no place where nothing is selected any more. */
export interface Goto {
  model_id: string;
  kernel_id: string;
  place: Place | null;
}

const MOST_OTHERS = 4;

/** The place of an op, or of the first op that reads a leaf or parameter; null for one that is written nowhere. */
export function placeOf(selected: string, structure: Structure | undefined): Place | null {
  if (!selected || !structure) return null;
  const { ops, leaves } = marked(selected, structure);
  const reads = (op: Op) => op.inputs.some(([from, j]) => from === 'leaf' && leaves.has(j));
  const at = ops.size > 0 ? Math.min(...ops) : structure.ops.findIndex(reads);
  const op = structure.ops[at];
  const cell = op?.cell === null || op?.cell === undefined ? undefined : structure.cells[op.cell];
  if (!op || !cell) return null;
  const module = op.module === null ? undefined : structure.modules[op.module];
  const others = structure.ops.filter((other, i) => i !== at && other.cell === op.cell && other.line === op.line).map(other => other.name);
  const few = [...new Set(others)];
  if (few.length > MOST_OTHERS) few.splice(MOST_OTHERS, few.length, '…');
  return {
    cell: cell.id,
    count: cell.count,
    file: cell.file,
    path: cell.path ?? null,
    home: cell.home ?? null,
    line: op.line,
    // The model itself is around all of them.
    label: module && module.parent !== null ? `${nameOf(module)} / ${op.name}` : op.name,
    others: few.join(' · ')
  };
}
