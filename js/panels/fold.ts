/** What of a step is drawn: which ops get a node, which modules a box, and what is folded into one. */

import type { Layout, LayoutInput, LayoutNode } from '../draw/layout';
import type { Kind, Leaf, Op, Structure } from '../protocol/messages';
import { plural } from '../draw/format';
import { APART, Modules, nameOf, roles, SIDE } from './nesting';

/** More nodes than these are not drawn: modules are folded first, then the middle of the tape. */
export const MOST_NODES = 300;
const KEEP_ENDS = 120;

export type PartKind = 'op' | 'leaf' | 'module' | 'more' | 'evaluation' | 'chip' | 'past';

/** One node or chip of the drawn graph; its number is its place in the layout. */
export interface Part {
  kind: PartKind;
  /** The ops it stands for, in tape order; the last one gives its numbers. */
  ops: number[];
  leaves: number[];
  title: string;
  note: string;
  shape: readonly number[] | null;
  colour: Kind | 'input' | 'parameter';
  /** Whether the graph that `backward()` walks holds it. */
  grad: boolean;
  /** The path of the module it stands for. */
  path: string;
}

export interface SceneBox {
  module: number;
  ops: number[];
}

export interface Scene {
  parts: Part[];
  boxes: SceneBox[];
  input: LayoutInput;
  /** Per op the part that shows it; -1 for none. */
  partOf: Int32Array;
  /** Per module path whether its box is open. */
  open: Map<string, boolean>;
  layout?: Layout;
}

/** A run of ops that becomes one node. */
interface Run {
  kind: 'op' | 'module' | 'more';
  module: number;
  ops: number[];
  around: number[];
}

function runsOf(structure: Structure, role: Uint8Array, modules: Modules, closed: readonly boolean[]): Run[] {
  const runs: Run[] = [];
  const byModule = new Map<number, Run>();
  structure.ops.forEach((op, i) => {
    if (role[i] === APART) return;
    const around = modules.around(op);
    const at = around.findIndex(m => closed[m]);
    if (at < 0) {
      runs.push({ kind: 'op', module: -1, ops: [i], around });
      return;
    }
    const module = around[at] as number;
    const known = byModule.get(module);
    if (known) known.ops.push(i);
    else {
      const run: Run = { kind: 'module', module, ops: [i], around: around.slice(0, at) };
      byModule.set(module, run);
      runs.push(run);
    }
  });
  return runs;
}

/** Keep both ends of a tape that is still too long, and say how much stands between them. */
function foldMiddle(runs: Run[]): Run[] {
  if (runs.length <= MOST_NODES) return runs;
  const middle = runs.slice(KEEP_ENDS, runs.length - KEEP_ENDS);
  const ops = middle.flatMap(run => run.ops);
  return [...runs.slice(0, KEEP_ENDS), { kind: 'more', module: -1, ops, around: [] }, ...runs.slice(runs.length - KEEP_ENDS)];
}

/** Collects parts, boxes and edges in tape order. */
class Builder {
  readonly parts: Part[] = [];
  readonly nodes: LayoutNode[] = [];
  readonly boxes: SceneBox[] = [];
  readonly parents: { parent: number }[] = [];
  readonly edges: { from: number; to: number }[] = [];
  readonly partOf: Int32Array;
  private readonly boxOf = new Map<number, number>();
  private readonly leafPart = new Map<number, number>();
  private readonly seen = new Set<string>();

  constructor(
    private readonly structure: Structure,
    private readonly role: Uint8Array
  ) {
    this.partOf = new Int32Array(structure.ops.length).fill(-1);
  }

  private add(part: Part, node: LayoutNode): number {
    this.parts.push(part);
    return this.nodes.push(node) - 1;
  }

  private box(around: readonly number[], ops: readonly number[]): number {
    let box = -1;
    for (const module of around) {
      let next = this.boxOf.get(module);
      if (next === undefined) {
        next = this.boxes.push({ module, ops: [] }) - 1;
        this.parents.push({ parent: box });
        this.boxOf.set(module, next);
      }
      (this.boxes[next] as SceneBox).ops.push(...ops);
      box = next;
    }
    return box;
  }

  private link(from: number, to: number, once: boolean): void {
    const key = `${from} ${to}`;
    if (once && this.seen.has(key)) return;
    this.seen.add(key);
    this.edges.push({ from, to });
  }

  private leaf(j: number): Part {
    const leaf = this.structure.leaves[j] as Leaf;
    const colour = leaf.kind === 'parameter' ? 'parameter' : 'input';
    const note = leaf.kind === 'constant' ? 'constant' : '';
    return { kind: 'leaf', ops: [], leaves: [j], title: leaf.name, note, shape: leaf.shape, colour, grad: leaf.requires_grad, path: '' };
  }

  /** Inputs that no op made: nodes above their first reader, or beside it where something else flows down to it. */
  private inputs(run: Run): { above: number[]; beside: number[]; chips: number[]; past: string[]; scalars: string[] } {
    const out = { above: [] as number[], beside: [] as number[], chips: [] as number[], past: [] as string[], scalars: [] as string[] };
    for (const i of run.ops) {
      const op = this.structure.ops[i] as Op;
      let fed = op.inputs.some(([from]) => from === 'op');
      for (const [from, j] of op.inputs) {
        if (from === 'past') out.past.push(j);
        if (from === 'scalar') out.scalars.push(j);
        if (from !== 'leaf') continue;
        const leaf = this.structure.leaves[j] as Leaf;
        if (leaf.kind === 'parameter') {
          if (!out.chips.includes(j)) out.chips.push(j);
        } else if (!this.leafPart.has(j) && ![...out.above, ...out.beside].includes(j)) {
          (fed && !leaf.requires_grad ? out.beside : out.above).push(j);
          fed = true;
        } else fed = true;
      }
    }
    return out;
  }

  addRun(run: Run): void {
    const { structure } = this;
    const found = this.inputs(run);
    const side = run.kind === 'op' && this.role[run.ops[0] as number] === SIDE;
    const more = run.kind === 'more';
    const box = this.box(run.around, run.ops);
    if (!more) {
      for (const j of found.above) this.leafPart.set(j, this.add(this.leaf(j), { box: -1 }));
      if (side) for (const j of found.beside.splice(0)) this.leafPart.set(j, this.add(this.leaf(j), { box, side: true }));
    }
    const last = structure.ops[run.ops.at(-1) as number] as Op;
    const part = this.add(this.partFor(run, last, found.scalars), { box, side });
    for (const i of run.ops) this.partOf[i] = part;
    this.connect(run, part);
    if (more) return;
    for (const j of found.beside) {
      const leaf = this.add(this.leaf(j), { box, beside: part, height: 40 });
      this.leafPart.set(j, leaf);
      this.link(leaf, part, false);
    }
    this.chips(found, part, box, run.kind === 'module');
  }

  private partFor(run: Run, last: Op, scalars: readonly string[]): Part {
    const { modules } = this.structure;
    const base = { ops: run.ops, leaves: [], shape: last.shape, grad: last.grad, path: '' };
    if (run.kind === 'more') return { ...base, kind: 'more', title: plural(run.ops.length, 'op'), note: 'folded', colour: 'shape' };
    if (run.kind === 'module') {
      const module = modules[run.module];
      const first = this.structure.ops[run.ops[0] as number] as Op;
      const note = `${plural(run.ops.length, 'op')}${(module?.call ?? 1) > 1 ? ` · call ${module?.call}` : ''}`;
      return { ...base, kind: 'module', title: nameOf(module), note, colour: first.kind, path: module?.path ?? '' };
    }
    const named = last.module !== null && !run.around.includes(last.module) ? modules[last.module] : undefined;
    const wrapper = named && named.parent !== null ? named.name : '';
    return { ...base, kind: 'op', title: last.name, note: scalars.length > 0 ? scalars.join(', ') : wrapper, colour: last.kind };
  }

  /** Edges for the inputs that already have a part; those that stand beside this one come with it. */
  private connect(run: Run, part: number): void {
    for (const i of run.ops) {
      for (const [from, j] of (this.structure.ops[i] as Op).inputs) {
        const source = from === 'op' ? (this.partOf[j] as number) : from === 'leaf' ? (this.leafPart.get(j) ?? -1) : -1;
        if (source >= 0 && source !== part) this.link(source, part, run.kind !== 'op' || this.parts[source]?.kind !== 'op');
      }
    }
  }

  private chips(found: { chips: number[]; past: string[] }, part: number, box: number, merge: boolean): void {
    const base = { ops: [], grad: true, path: '', note: '' };
    const leaves = found.chips.map(j => this.structure.leaves[j] as Leaf);
    const put = (chip: Part) => this.link(this.add(chip, { box, beside: part }), part, false);
    if (merge && leaves.length > 1) {
      const [a, b] = leaves.map(leaf => leaf.short.charAt(0));
      const title = leaves.length === 2 && a !== b ? `${a} + ${b}` : plural(leaves.length, 'parameter');
      const shape = leaves.length === 2 && a !== b ? (leaves[0] as Leaf).shape : null;
      put({ ...base, kind: 'chip', leaves: found.chips, title, shape, colour: 'parameter' });
    } else {
      leaves.forEach((leaf, i) =>
        put({
          ...base,
          kind: 'chip',
          leaves: [found.chips[i] as number],
          title: leaf.short || leaf.name,
          shape: leaf.shape,
          colour: 'parameter'
        })
      );
    }
    for (const name of found.past) put({ ...base, kind: 'past', leaves: [], title: `earlier ${name}`, shape: null, colour: 'shape' });
  }

  /** One node for all ops of an evaluation: they have no edge to the training graph. */
  evaluation(ops: number[], further: number): void {
    const total = ops.length + further;
    if (total === 0) return;
    const title = ops.length > 0 ? 'evaluation' : 'not kept';
    const note = plural(total, 'op');
    this.add({ kind: 'evaluation', ops, leaves: [], title, note, shape: null, colour: 'shape', grad: false, path: '' }, { box: -1 });
  }
}

/** Fold one step into what can be drawn; `chosen` says which modules the reader opened or closed. */
export function fold(structure: Structure, chosen: ReadonlyMap<string, boolean> = new Map()): Scene {
  const role = roles(structure.ops);
  const modules = new Modules(structure, role);
  let closed = modules.closed(Infinity, chosen);
  let runs = runsOf(structure, role, modules, closed);
  for (const limit of [2, 1]) {
    if (runs.length <= MOST_NODES) break;
    closed = modules.closed(limit, chosen);
    runs = runsOf(structure, role, modules, closed);
  }
  const builder = new Builder(structure, role);
  for (const run of foldMiddle(runs)) builder.addRun(run);
  const apart: number[] = [];
  role.forEach((r, i) => r === APART && apart.push(i));
  builder.evaluation(apart, structure.folded);
  const open = new Map(structure.modules.map((module, m) => [module.path, !closed[m]]));
  const { parts, boxes, nodes, parents, edges, partOf } = builder;
  return { parts, boxes, input: { nodes, boxes: parents, edges }, partOf, open };
}
