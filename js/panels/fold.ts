/** What of a step is drawn: which ops get a node, which modules, loops and ranges a box, and what is folded into one node. */

import type { LayoutBox, LayoutInput, LayoutNode } from '../draw/layout';
import type { Kind, Leaf, Op, Structure } from '../protocol/messages';
import { plural } from '../draw/format';
import { APART, SIDE } from './nesting';
import { blockOf, opsOf, unitsOf, type Unit, type Units } from './units';

/** A graph of so many ops is drawn as it is; of a larger one as many levels are open as leave this many nodes. */
export const AUTO_NODES = 120;
/** More nodes than these are never drawn, whatever is opened. */
export const MOST_NODES = 1000;

/** The header of a repeat: its name, under it a strip of heat, and the room for an arrow. */
const REPEAT_HEADER = 50;

export type PartKind = 'op' | 'leaf' | 'module' | 'evaluation' | 'chip' | 'past';

/** One node or chip of the drawn graph; its number is its place in the layout. */
export interface Part {
  /** A `module` stands for everything in a closed module, loop or range. */
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
  /** What the choice to open it is kept under. */
  path: string;
}

export interface SceneBox {
  unit: Unit;
  ops: number[];
  /** Which stretch of a repeat is shown. */
  index: number;
}

export interface Scene {
  parts: Part[];
  boxes: SceneBox[];
  input: LayoutInput;
  /** Per op the part that shows it; -1 for none. */
  partOf: Int32Array;
  /** Per path whether its box is open. */
  open: Map<string, boolean>;
  /** How many ops have no node of their own, and in how many groups they are. */
  folded: { ops: number; groups: number };
}

/** What the reader chose to see. */
export interface Choice {
  /** Per path whether it is open. */
  folds: ReadonlyMap<string, boolean>;
  /** Per path of a repeat which stretch is shown. */
  indices: ReadonlyMap<string, number>;
  /** The op that has to be in sight; everything around it is open. */
  focus: number;
  /** Fold nothing, however much it is: only to measure what drawing costs. */
  all: boolean;
}

const FREE: Choice = { folds: new Map(), indices: new Map(), focus: -1, all: false };

/** A node that is drawn: an op, or a unit that is closed. */
interface Run {
  unit: Unit;
  ops: number[];
  around: Unit[];
}

/** Which units are open, and which stretch of each repeat is shown. */
class Plan {
  readonly opened = new Map<Unit, boolean>();
  /** Few ops: loops and ranges are drawn without a box, as if they weren't units. */
  readonly flat: boolean;
  private readonly focus = new Set<Unit>();

  constructor(
    readonly units: Units,
    private readonly choice: Choice
  ) {
    this.flat = choice.all || units.root.size <= AUTO_NODES;
    for (let unit: Unit | null = units.of[choice.focus] ?? null; unit; unit = unit.parent) this.focus.add(unit);
    let level = [units.root];
    let count = 0;
    for (let auto = true; level.length > 0;) {
      const shown = level.flatMap(unit => this.inside(unit));
      const holders = shown.filter(unit => unit.kind !== 'op');
      count += shown.length - (level[0] === units.root ? 0 : level.length);
      const cost = holders.reduce((sum, unit) => sum + this.inside(unit).length - 1, 0);
      auto &&= choice.all || count + cost <= AUTO_NODES;
      let room = choice.all ? Infinity : MOST_NODES - count;
      level = holders.filter(unit => {
        const wanted = this.focus.has(unit) || this.inline(unit) || (choice.folds.get(unit.path) ?? auto);
        const more = this.inside(unit).length - 1;
        const open = wanted && more <= room;
        if (open) room -= more;
        this.opened.set(unit, open);
        return open;
      });
    }
  }

  inline(unit: Unit): boolean {
    return this.flat && (unit.kind === 'repeat' || unit.kind === 'range') && this.choice.folds.get(unit.path) === undefined;
  }

  index(repeat: Unit): number {
    const unit = this.units.of[this.choice.focus];
    const focused = unit && this.focus.has(repeat) ? blockOf(repeat, unit) : -1;
    return focused >= 0 ? focused : Math.min(repeat.blocks.length - 1, this.choice.indices.get(repeat.path) ?? 0);
  }

  inside(unit: Unit): Unit[] {
    if (unit.kind !== 'repeat') return unit.children;
    return this.inline(unit) ? unit.blocks.flat() : (unit.blocks[this.index(unit)] as Unit[]);
  }

  /** The nodes in tape order, and the repeats whose shown stretch ends after a node. */
  runs(): { runs: Run[]; ends: Map<number, Unit[]> } {
    const runs: Run[] = [];
    const ends = new Map<number, Unit[]>();
    const todo: (Unit | { end: Unit })[] = [...this.units.root.children].reverse();
    const around: Unit[] = [];
    for (let next = todo.pop(); next; next = todo.pop()) {
      if ('end' in next) {
        around.pop();
        if (next.end.kind === 'repeat') ends.set(runs.length, [...(ends.get(runs.length) ?? []), next.end]);
      } else if (next.kind !== 'op' && this.opened.get(next)) {
        if (!this.inline(next)) {
          around.push(next);
          todo.push({ end: next });
        }
        todo.push(...this.inside(next).slice().reverse());
      } else runs.push({ unit: next, ops: opsOf([next]), around: [...around] });
    }
    return { runs, ends };
  }
}

/** Collects parts, boxes and edges in tape order. */
class Builder {
  readonly parts: Part[] = [];
  readonly nodes: LayoutNode[] = [];
  readonly boxes: SceneBox[] = [];
  readonly parents: LayoutBox[] = [];
  readonly edges: { from: number; to: number }[] = [];
  readonly partOf: Int32Array;
  private readonly boxOf = new Map<Unit, number>();
  /** Per op the part that stands for it where an edge starts: also for one in a stretch that is not shown. */
  private readonly source: Int32Array;
  private readonly leafPart = new Map<number, number>();
  private readonly seen = new Set<string>();

  constructor(
    private readonly structure: Structure,
    private readonly plan: Plan
  ) {
    this.partOf = new Int32Array(structure.ops.length).fill(-1);
    this.source = new Int32Array(structure.ops.length).fill(-1);
  }

  private add(part: Part, node: LayoutNode): number {
    this.parts.push(part);
    return this.nodes.push(node) - 1;
  }

  private box(around: readonly Unit[], ops: readonly number[]): number {
    let box = -1;
    for (const unit of around) {
      let next = this.boxOf.get(unit);
      if (next === undefined) {
        const index = unit.kind === 'repeat' ? this.plan.index(unit) : 0;
        next = this.boxes.push({ unit, ops: unit.kind === 'repeat' ? opsOf([unit]) : [], index }) - 1;
        this.parents.push({ parent: box, header: unit.kind === 'repeat' ? REPEAT_HEADER : undefined });
        this.boxOf.set(unit, next);
      }
      if (unit.kind !== 'repeat') for (const i of ops) (this.boxes[next] as SceneBox).ops.push(i);
      box = next;
    }
    return box;
  }

  /** The shown stretch of a repeat is complete: its nodes stand for those of the other stretches, as far as edges go. */
  endRepeat(repeat: Unit): void {
    const shown = opsOf(repeat.blocks[this.plan.index(repeat)] as Unit[]).map(i => this.source[i] as number);
    for (const block of repeat.blocks) {
      opsOf(block).forEach((i, k) => {
        if ((this.source[i] as number) < 0) this.source[i] = shown[k] as number;
      });
    }
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
    const side = run.unit.kind === 'op' && this.plan.units.role[run.ops[0] as number] === SIDE;
    const box = this.box(run.around, run.ops);
    // A group may read hundreds of inputs, one in each of its stretches: only what it alone does not hide gets a node.
    const group = run.unit.kind === 'repeat' || run.unit.kind === 'range';
    for (const j of group ? [] : found.above) this.leafPart.set(j, this.add(this.leaf(j), { box: -1 }));
    if (side) for (const j of found.beside.splice(0)) this.leafPart.set(j, this.add(this.leaf(j), { box, side: true }));
    const last = structure.ops[run.ops.at(-1) as number] as Op;
    const part = this.add(this.partFor(run, last, found.scalars), { box, side });
    for (const i of run.ops) this.partOf[i] = this.source[i] = part;
    this.connect(run, part, found.past);
    if (group) found.past = found.beside = [];
    for (const j of found.beside) {
      const leaf = this.add(this.leaf(j), { box, beside: part, height: 40 });
      this.leafPart.set(j, leaf);
      this.link(leaf, part, false);
    }
    this.chips(found, part, box, run.unit.kind !== 'op');
  }

  private partFor(run: Run, last: Op, scalars: readonly string[]): Part {
    const { modules } = this.structure;
    const base = { ops: run.ops, leaves: [], shape: last.shape, grad: last.grad, path: run.unit.path };
    if (run.unit.kind !== 'op') {
      const [title, note] = this.plan.units.nameOf(run.unit);
      const first = this.structure.ops[run.ops[0] as number] as Op;
      return { ...base, kind: 'module', title, note, colour: first.kind };
    }
    const named = last.module !== null && !run.around.some(unit => unit.module === last.module) ? modules[last.module] : undefined;
    const wrapper = named && named.parent !== null && named.name !== last.name ? named.name : '';
    return { ...base, kind: 'op', title: last.name, note: scalars.length > 0 ? scalars.join(', ') : wrapper, colour: last.kind };
  }

  /** Edges for the inputs that already have a part; those that stand beside this one come with it. */
  private connect(run: Run, part: number, past: string[]): void {
    for (const i of run.ops) {
      for (const [from, j] of (this.structure.ops[i] as Op).inputs) {
        const source = from === 'op' ? (this.source[j] as number) : from === 'leaf' ? (this.leafPart.get(j) ?? -1) : -1;
        if (source >= 0 && source !== part) this.link(source, part, run.unit.kind !== 'op' || this.parts[source]?.kind !== 'op');
        // Made in a stretch of the loop that is not shown.
        else if (from === 'op' && source < 0 && this.plan.units.of[j]) past.push(this.structure.ops[j]?.name ?? '');
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

/** Fold one step into what can be drawn. */
export function fold(structure: Structure, choice: Partial<Choice> = {}): Scene {
  const units = unitsOf(structure);
  const plan = new Plan(units, { ...FREE, ...choice });
  const builder = new Builder(structure, plan);
  const { runs, ends } = plan.runs();
  const groups = runs.filter(run => run.unit.kind !== 'op');
  for (let n = 0; n <= runs.length; n++) {
    for (const repeat of ends.get(n) ?? []) builder.endRepeat(repeat);
    if (n < runs.length) builder.addRun(runs[n] as Run);
  }
  const apart: number[] = [];
  units.role.forEach((r, i) => r === APART && apart.push(i));
  builder.evaluation(apart, structure.folded);
  const { parts, boxes, nodes, parents, edges, partOf } = builder;
  const open = new Map(structure.modules.map(module => [module.path, true]));
  for (const [unit, is] of plan.opened) open.set(unit.path, is);
  const hidden = units.root.size - (runs.length - groups.length);
  const repeats = boxes.filter(box => box.unit.kind === 'repeat').length;
  return {
    parts,
    boxes,
    input: { nodes, boxes: parents, edges },
    partOf,
    open,
    folded: { ops: hidden, groups: groups.length + repeats }
  };
}
