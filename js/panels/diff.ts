/** What one graph has that another has not. */

import type { Structure } from '../protocol/messages';

export interface Diff {
  /** Ops of the new graph that the old one has not. */
  added: number[];
  removed: number;
}

function signOf(structure: Structure, i: number): string {
  const op = structure.ops[i];
  const module = op?.module === null || op?.module === undefined ? '' : structure.modules[op.module]?.path;
  return op ? `${op.name} ${op.shape} ${op.dtype} ${module} ${op.cell === null ? '' : structure.cells[op.cell]?.id} ${op.line}` : '';
}

/** Compare the ops that have a gradient as two bags: a loop that ran once more has just its ops more. */
export function diff(before: Structure, after: Structure): Diff {
  const left = new Map<string, number>();
  let removed = 0;
  before.ops.forEach((op, i) => {
    if (!op.grad) return;
    const sign = signOf(before, i);
    left.set(sign, (left.get(sign) ?? 0) + 1);
    removed++;
  });
  const added: number[] = [];
  after.ops.forEach((op, i) => {
    if (!op.grad) return;
    const sign = signOf(after, i);
    const known = left.get(sign) ?? 0;
    if (known > 0) {
      left.set(sign, known - 1);
      removed--;
    } else added.push(i);
  });
  return { added, removed };
}

/** `+3 ops, −1`. */
export function says({ added, removed }: Diff): string {
  return [added.length > 0 ? `+${added.length} op${added.length === 1 ? '' : 's'}` : '', removed > 0 ? `−${removed}` : '']
    .filter(Boolean)
    .join(', ');
}
