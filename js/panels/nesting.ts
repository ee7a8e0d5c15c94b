/** Which ops belong to the training graph, and how its modules nest. */

import type { Module, Op, Structure } from '../protocol/messages';

/** In the training graph, or needed by it. */
const MAIN = 0;
/** Reads from the graph without a gradient. */
export const SIDE = 1;
/** An evaluation beside the graph. */
export const APART = 2;

/**
 * Which ops belong to the training graph (or feed it), which only read from it, and which are an evaluation beside it.
 *
 * Ops come in tape order, so that one pass forward and one backward see every ancestor.
 */
export function roles(ops: readonly Op[]): Uint8Array {
  const role = new Uint8Array(ops.length);
  if (!ops.some(op => op.grad)) return role;
  const reads = new Uint8Array(ops.length);
  ops.forEach((op, i) => {
    reads[i] = op.grad || op.inputs.some(([from, j]) => from === 'op' && reads[j as number]) ? 1 : 0;
    role[i] = op.grad ? MAIN : reads[i] || op.error ? SIDE : APART; // what failed is never folded away
  });
  for (let i = ops.length - 1; i >= 0; i--) {
    for (const [from, j] of (ops[i] as Op).inputs) {
      if (from === 'op') role[j] = Math.min(role[j] as number, role[i] as number);
    }
  }
  return role;
}

/** What a module is called: its name, and where that is a number the name it counts as well. */
export function nameOf(module: Module | undefined): string {
  return /[^.]+\.\d+$/.exec(module?.path ?? '')?.[0] || module?.name || module?.path || module?.cls || '';
}

/** How the modules of a step nest, and which of them deserve a box. */
export class Modules {
  readonly drawn: boolean[];
  readonly depth: number[];
  private readonly first: number[];

  constructor(
    private readonly structure: Structure,
    role: Uint8Array
  ) {
    const { modules, ops } = structure;
    const own = modules.map(() => 0);
    const held = modules.map(() => 0);
    this.first = modules.map(() => -1);
    ops.forEach((op, i) => {
      if (op.module === null || role[i] === APART) return;
      own[op.module] = (own[op.module] as number) + 1;
      const takes = op.inputs.some(([from, j]) => from === 'leaf' && structure.leaves[j as number]?.kind === 'parameter');
      if (takes) held[op.module] = (held[op.module] as number) + 1;
      if ((this.first[op.module] as number) < 0) this.first[op.module] = i;
    });
    const children = modules.map(() => 0);
    const busy = modules.map((_, m) => (own[m] as number) > 0);
    for (let m = modules.length - 1; m >= 0; m--) {
      const parent = modules[m]?.parent ?? null;
      if (parent !== null && busy[m]) {
        children[parent] = (children[parent] as number) + 1;
        busy[parent] = true;
      }
    }
    // A module of one op without parameters (GELU, a loss) is as well said by the op's own node.
    const bare = modules.map((_, m) => own[m] === 1 && children[m] === 0 && held[m] === 0);
    const roots = modules.filter((module, m) => module.parent === null && busy[m] && !bare[m]).length;
    this.drawn = modules.map((module, m) => {
      const wrapsAll = module.parent === null && roots === 1 && (children[m] as number) > 0;
      return busy[m] === true && !wrapsAll && !bare[m];
    });
    this.depth = modules.map(() => 0);
    modules.forEach((module, m) => {
      const above = module.parent === null ? 0 : (this.depth[module.parent] as number);
      this.depth[m] = above + (this.drawn[m] ? 1 : 0);
    });
  }

  /** The modules around an op, outermost first, that get a box. */
  around(op: Op): number[] {
    const out: number[] = [];
    for (let m = op.module; m !== null; m = this.structure.modules[m]?.parent ?? null) if (this.drawn[m]) out.push(m);
    return out.reverse();
  }

  /** Which modules are closed when everything deeper than `limit` is, less what the reader chose. */
  closed(limit: number, chosen: ReadonlyMap<string, boolean>): boolean[] {
    return this.structure.modules.map((module, m) => {
      if (!this.drawn[m]) return false;
      const open = chosen.get(module.path);
      return open === undefined ? (this.depth[m] as number) >= limit : !open;
    });
  }
}
