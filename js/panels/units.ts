/**
 * The tape as a tree: modules hold their calls, a stretch that repeats is told once with a count, and what is still too long
 * is cut into ranges, so that no unit holds more than a screenful. Everything is iterative: a tape may have 30,000 ops.
 */

import type { Structure } from '../protocol/messages';
import { count, plural } from '../draw/format';
import { APART, Modules, nameOf, roles } from './nesting';

export interface Unit {
  kind: 'op' | 'module' | 'repeat' | 'range';
  /** What a reader's choice to open or close it is kept under. */
  path: string;
  module: number;
  parent: Unit | null;
  /** In tape order; of a repeat, every stretch in `blocks`. */
  children: Unit[];
  blocks: Unit[][];
  first: number;
  /** How many ops it holds. */
  size: number;
  /** Equal for units that look alike. */
  sign: number;
}

/** A unit with more children is cut into ranges. */
const MOST_CHILDREN = 60;
const RANGE = 50;
const FEW_RANGES = 16;
/** Layers of one kind are listed up to this number; more of them are told once. */
const LISTED = 16;
const LEAST_REPEATS = 3;
/** A stretch shorter than this, all its times together, is not worth a box. */
const LEAST_OPS = 16;
const LONGEST_PERIOD = 200;

/** The tree of one structure, and which unit each op is in. */
export class Units {
  readonly root: Unit;
  readonly role: Uint8Array;
  readonly modules: Modules;
  /** Per op its own unit; undefined for what stands apart. */
  readonly of: Unit[] = [];
  private readonly signs = new Map<string, number>();

  constructor(readonly structure: Structure) {
    this.role = roles(structure.ops);
    this.modules = new Modules(structure, this.role);
    this.root = this.unit('module', '', null, 0);
    const holders = [this.root];
    const byModule = new Map<number, Unit>();
    structure.ops.forEach((op, i) => {
      if (this.role[i] === APART) return;
      let holder = this.root;
      for (const m of this.modules.around(op)) {
        let next = byModule.get(m);
        if (!next) {
          next = this.unit('module', structure.modules[m]?.path ?? '', holder, i, m);
          byModule.set(m, next);
          holders.push(next);
          holder.children.push(next);
        }
        holder = next;
      }
      const unit = this.unit('op', '', holder, i);
      unit.size = 1;
      unit.sign = this.sign(`${op.name} ${op.shape} ${op.cell}:${op.line} ${op.grad}`);
      holder.children.push(unit);
      this.of[i] = unit;
    });
    // Those inside come after those around them.
    for (const holder of holders.reverse()) {
      this.foldRepeats(holder);
      this.cut(holder);
      holder.size = holder.children.reduce((sum, child) => sum + child.size, 0);
      const module = structure.modules[holder.module];
      const alike = module ? `${module.cls} ${module.path.replace(/\d+/g, '#')} ${module.repr}` : '';
      holder.sign = this.sign(`${alike} [${holder.children.map(child => child.sign).join()}]`);
    }
  }

  private unit(kind: Unit['kind'], path: string, parent: Unit | null, first: number, module = -1): Unit {
    return { kind, path, module, parent, children: [], blocks: [], first, size: 0, sign: -1 };
  }

  private sign(text: string): number {
    const known = this.signs.get(text);
    if (known === undefined) this.signs.set(text, this.signs.size);
    return known ?? this.signs.size - 1;
  }

  /** Replace every stretch that follows itself at least three times by one unit. */
  private foldRepeats(holder: Unit): void {
    const all = holder.children;
    const out: Unit[] = [];
    const next = new Int32Array(all.length).fill(-1);
    const seen = new Map<number, number>();
    for (let i = all.length - 1; i >= 0; i--) {
      const sign = (all[i] as Unit).sign;
      next[i] = seen.get(sign) ?? -1;
      seen.set(sign, i);
    }
    for (let i = 0; i < all.length;) {
      const [period, times] = this.repeatAt(all, next, i);
      if (times === 0) {
        out.push(all[i++] as Unit);
        continue;
      }
      const unit = this.unit('repeat', '', holder, (all[i] as Unit).first);
      for (let k = 0; k < times; k++, i += period) unit.blocks.push(all.slice(i, i + period));
      unit.children = unit.blocks[0] as Unit[];
      unit.size = times * unit.children.reduce((sum, child) => sum + child.size, 0);
      unit.sign = this.sign(`${times} x ${unit.children.map(child => child.sign).join()}`);
      unit.path = `${holder.path}×${this.titleOf(unit.children)}@${unit.first}`;
      for (const block of unit.blocks) for (const child of block) child.parent = unit;
      out.push(unit);
    }
    holder.children = out;
  }

  /** The period that covers most from here on, and how often it repeats; 0 times for none. */
  private repeatAt(all: readonly Unit[], next: Int32Array, i: number): [number, number] {
    let best: [number, number] = [0, 0];
    let tries = 0;
    for (let j = next[i] as number; j >= 0 && j - i <= LONGEST_PERIOD && tries < 8; j = next[j] as number, tries++) {
      const period = j - i;
      let end = j;
      while (end < all.length && all[end]?.sign === all[end - period]?.sign) end++;
      const times = Math.floor((end - i) / period);
      if (times * period > best[0] * best[1]) best = [period, times];
    }
    const [period, times] = best;
    const layers = period === 1 && all[i]?.kind === 'module' && this.pathAt(all[i]) !== this.pathAt(all[i + 1]);
    const ops = times * all.slice(i, i + period).reduce((sum, unit) => sum + unit.size, 0);
    return times >= LEAST_REPEATS && ops >= LEAST_OPS && !(layers && times <= LISTED) ? best : [0, 0];
  }

  private pathAt(unit: Unit | undefined): string {
    return unit?.path ?? '';
  }

  /** Cut a long list of children into ranges of consecutive ones, and those again, until there are few. */
  private cut(holder: Unit): void {
    if (holder.children.length <= MOST_CHILDREN) return;
    for (let size = RANGE; holder.children.length > FEW_RANGES; size = FEW_RANGES) {
      const cut: Unit[] = [];
      for (let i = 0; i < holder.children.length; i += size) {
        const children = holder.children.slice(i, i + size);
        const unit = this.unit('range', '', holder, (children[0] as Unit).first);
        unit.children = children;
        unit.size = children.reduce((sum, child) => sum + child.size, 0);
        unit.path = `${holder.path}#${unit.first}+${unit.size}`;
        for (const child of children) child.parent = unit;
        cut.push(unit);
      }
      holder.children = cut;
    }
  }

  private titleOf(units: readonly Unit[]): string {
    const names = units.slice(0, 3).map(unit => {
      const module = this.structure.modules[unit.module];
      return module ? nameOf(module).replace(/\.\d+$/, '') : (this.structure.ops[unit.first]?.name ?? '');
    });
    return names.join(' · ') + (units.length > 3 ? ' …' : '');
  }

  /** What a unit is called, and what stands beside its name. */
  nameOf(unit: Unit): [string, string] {
    const ops = plural(unit.size, 'op');
    if (unit.kind === 'repeat') return [this.titleOf(unit.children), `× ${count(unit.blocks.length)} · ${ops}`];
    if (unit.kind === 'range') return [`ops ${count(unit.first + 1)}–${count(lastOf(unit) + 1)}`, ops];
    const module = this.structure.modules[unit.module];
    return [nameOf(module), `${ops}${(module?.call ?? 1) > 1 ? ` · call ${module?.call}` : ''}`];
  }
}

/** All ops of some units, in tape order. */
export function opsOf(units: readonly Unit[]): number[] {
  const out: number[] = [];
  const todo = [...units].reverse();
  for (let unit = todo.pop(); unit; unit = todo.pop()) {
    if (unit.kind === 'op') out.push(unit.first);
    else {
      const inside = unit.kind === 'repeat' ? unit.blocks.flat() : unit.children;
      for (let i = inside.length - 1; i >= 0; i--) todo.push(inside[i] as Unit);
    }
  }
  return out;
}

function lastOf(unit: Unit): number {
  let last = unit;
  while (last.kind !== 'op') last = (last.kind === 'repeat' ? last.blocks.at(-1) : last.children)?.at(-1) as Unit;
  return last.first;
}

/** Which stretch of a repeat a unit inside it is in; -1 for none. */
export function blockOf(repeat: Unit, inside: Unit): number {
  let unit = inside;
  while (unit.parent && unit.parent !== repeat) unit = unit.parent;
  return repeat.blocks.findIndex(block => block.includes(unit));
}

const known = new WeakMap<Structure, Units>();

/** The tree of a structure, made once. */
export function unitsOf(structure: Structure): Units {
  let units = known.get(structure);
  if (!units) known.set(structure, (units = new Units(structure)));
  return units;
}
