/** The drawn graph of one structure: what is where, which numbers and words it has. Subclasses draw it. */

import { count, duration, full, shape, special } from '../draw/format';
import { wrap } from '../draw/text';
import { HEADER, NODE_HEIGHT, NODE_WIDTH } from '../draw/geometry';
import { layout, TooLate, type Layout, type Placed } from '../draw/layout';
import { binned, type StripLook } from '../draw/strip';
import { CELLS, LINE, type Fonts } from '../draw/node';
import type { Severity } from '../draw/severity';
import type { Finding, Findings, Frame } from '../protocol/decode';
import type { Op, Structure } from '../protocol/messages';
import type { Part, Scene, SceneBox } from './fold';
import { nameOf } from './nesting';
import type { Marked } from './store';
import type { Palette } from './theme';
import { batchOf, leafNumber, opGradient, opValue, timeOf } from './view';
import { opsOf, unitsOf } from './units';
import { READABLE } from './viewport';
import { pathEdges, rootOf } from './way';

/** A graph wider than this has lanes beside each other. */
const ONE_LANE = 560;
/** From the left and right edge of a repeat's box to its strip. */
const SLIDER_LEFT = 16;
const SLIDER_RIGHT = 110;
const SLIDER_CELLS = 100;

/**
 * Laying a graph out may take this long; then it is shown as a list. It needs no worker: a picture has at most a thousand
 * nodes, which take 4 ms (`python -m benchmarks.screen drawing`).
 */
const DEADLINE_MS = 1000;

/** The layout with as many lanes as are readable in `room` pixels; null where it takes too long. */
export function layoutFor(scene: Scene, room: number, patience = DEADLINE_MS): { layout: Layout | null; branched: boolean } {
  const until = performance.now() + patience;
  try {
    const widest = layout(scene.input, 4, until);
    let result = widest;
    for (let lanes = 3; lanes > 0 && result.width * READABLE > room; lanes--) result = layout(scene.input, lanes, until);
    return { layout: result, branched: widest.width > ONE_LANE };
  } catch (error) {
    if (!(error instanceof TooLate)) throw error;
    return { layout: null, branched: false };
  }
}

/** What an op failed with, in up to three lines: without the names of the error and of the op, then what it got. */
function failure({ name, error }: Op, fonts: Fonts): string[] {
  const [first = '', ...rest] = (error ?? '').split('\n').map(line => line.trim().replace(/\s+/g, ' '));
  const end = rest.findIndex(line => /^(need|try):/.test(line));
  const said = first.replace(/^\w+: (?=.)/, '').replace(`${name}: `, '');
  const got = rest
    .slice(0, end < 0 ? rest.length : end)
    .filter(Boolean)
    .join(' · ');
  const lines = (text: string, most: number) => wrap(text, NODE_WIDTH - 24, `11px ${fonts.ui}`, most);
  const top = lines(said, got ? 2 : 3);
  return got ? [...top, ...lines(got, 3 - top.length)] : top;
}

/** Give the ops that failed the room to say why. */
export function makeRoom({ parts, input }: Scene, { ops }: Structure, { fonts }: Palette): void {
  for (const [id, part] of parts.entries()) {
    const op = ops[part.kind === 'op' ? (part.ops[0] as number) : -1];
    const node = input.nodes[id];
    if (op?.error && node) node.height = NODE_HEIGHT + (failure(op, fonts).length - 1) * LINE;
  }
}

/** `Linear(in_features=64, out_features=128, bias=True)` as `Linear(64, 128)`; a module that holds others as its class. */
export function briefRepr(repr: string, cls: string): string {
  const inside = /^[\w.]+\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)$/.exec(repr)?.[1];
  if (inside === undefined) return /^[\w.]+\(\)$/.test(repr) ? repr : cls;
  const parts = inside.split(/, (?![^(]*\))/).filter(part => part !== 'bias=True');
  return `${cls}(${parts.map(part => part.replace(/^\w+=(?=[\d(-])/, '')).join(', ')})`;
}

/** How the parts stand out now. */
export interface Look {
  selected: ReadonlySet<number>;
  /** Made on the line that the cursor is on. */
  line: ReadonlySet<number>;
  /** Chips whose parameter is selected, and edges on the way to the loss. */
  chips: ReadonlySet<number>;
  edges: ReadonlySet<number>;
  /** Parts that are not muted; null where none is. */
  traced: ReadonlySet<number> | null;
  /** Parts that the step before had not. */
  fresh: ReadonlySet<number>;
  /** What the rules found, by the part that it names, the worst first. */
  found: ReadonlyMap<number, readonly Finding[]>;
  /** While the backward pass is played: the part it is at, and those that it has been to. */
  at: number;
  done: ReadonlySet<number> | null;
}

export const PLAIN: Look = {
  selected: new Set(),
  line: new Set(),
  chips: new Set(),
  edges: new Set(),
  traced: null,
  fresh: new Set(),
  found: new Map(),
  at: -1,
  done: null
};

/** What a header of a box was hit at. */
export interface Hit {
  part: number;
  /** A box by its number, -1 for none. */
  box: number;
  /** Which stretch of the repeat, where its strip was hit. */
  index: number;
}

export abstract class Picture {
  abstract readonly element: HTMLElement | SVGSVGElement;
  readonly layout: Layout;
  readonly places = new Map<number, Placed>();
  readonly batch: number;
  look: Look = PLAIN;
  frame: Frame | null = null;
  private readonly stretches = new Map<SceneBox, number[][]>();
  /** What was computed from the frame. */
  private readonly computed = new Map<object, [Float64Array, Float64Array]>();

  constructor(
    readonly structure: Structure,
    readonly scene: Scene,
    where: Layout,
    readonly palette: Palette
  ) {
    this.layout = where;
    this.batch = batchOf(structure);
    for (const placed of [...where.nodes, ...where.chips]) this.places.set(placed.id, placed);
  }

  /** Draw the numbers of the frame. */
  protected abstract drawNumbers(): void;
  /** Draw how the parts stand out. */
  protected abstract drawLook(before: Look): void;
  /** What is under the pointer. */
  abstract hit(event: { target: EventTarget | null; clientX: number; clientY: number }): Hit;
  /** The picture is to be `zoom` times as large as laid out. */
  abstract resize(zoom: number): void;
  /** Another part of it came into view. */
  scrolled(): void {}

  /** Write the numbers of a frame. */
  update(frame: Frame): void {
    this.frame = frame;
    this.computed.clear();
    this.drawNumbers();
  }

  show(look: Look): void {
    const before = this.look;
    this.look = look;
    this.drawLook(before);
    if (this.frame && look.done !== before.done) this.drawNumbers();
  }

  /** How many ops the structure has, kept or not. */
  get label(): string {
    return `Graph of one step, ${count(this.structure.ops.length + this.structure.folded)} ops`;
  }

  part(id: number): Part {
    return this.scene.parts[id] as Part;
  }

  /** Whether the backward pass has sent a gradient against an edge. */
  flows({ from, to }: { from: number; to: number }): boolean {
    const { done, at } = this.look;
    return done !== null && done.has(to) && this.part(from).grad && (at === to || done.has(from));
  }

  errorOf(part: Part): string | null {
    return part.kind === 'op' ? (this.structure.ops[part.ops[0] as number]?.error ?? null) : null;
  }

  /** Value and gradient norm; while the backward pass is played, only the gradients that it has come to. */
  numbers(part: Part, id = -1): [number | null, number | null] {
    const { frame } = this;
    if (!frame || part.kind === 'evaluation' || part.kind === 'past' || this.isLabel(id)) return [null, null];
    const yet = this.look.done === null || id < 0 || this.look.done.has(id);
    if (part.ops.length > 0) {
      const i = part.ops.at(-1) as number;
      return [opValue(frame, i), yet ? opGradient(frame, i) : null];
    }
    if (part.leaves.length !== 1) return [null, null];
    const j = part.leaves[0] as number;
    return [leafNumber(frame, j, 'value'), yet ? leafNumber(frame, j, 'gradient') : null];
  }

  private isSmall(id: number): boolean {
    return (this.places.get(id)?.width ?? NODE_WIDTH) < NODE_WIDTH;
  }

  /** Whether it stands in the column of the chips and holds no floating-point numbers: its norm says nothing. */
  private isLabel(id: number): boolean {
    const part = this.scene.parts[id];
    return part?.kind === 'leaf' && this.isSmall(id) && /int|bool/.test(this.structure.leaves[part.leaves[0] as number]?.dtype ?? '');
  }

  /** The words in place of a gradient. */
  words(id: number, part: Part): string {
    if (this.isLabel(id)) return this.structure.leaves[part.leaves[0] as number]?.dtype ?? '';
    if (this.isSmall(id)) return part.kind === 'leaf' ? '' : 'no grad';
    if (!part.grad) return 'no gradient wanted';
    return this.look.done && !this.look.done.has(id) ? 'not reached' : 'no gradient yet';
  }

  /** Lines of words in place of all numbers. */
  textOf(part: Part): string[] {
    if (this.errorOf(part)) return failure(this.structure.ops[part.ops[0] as number] as Op, this.palette.fonts);
    return part.kind === 'evaluation' ? ['not part of this graph'] : [];
  }

  /** What was found, by the part that it names. */
  found(findings: Findings | null): Map<number, Finding[]> {
    const found = new Map<number, Finding[]>();
    const { parts, partOf } = this.scene;
    for (const one of findings?.key === this.structure.key ? findings.findings : []) {
      const { op, leaf } = one;
      const of = (id: number) => void found.set(id, [...(found.get(id) ?? []), one]);
      if (op !== null) of(partOf[op] ?? -1);
      else if (leaf !== null) parts.forEach((part, id) => part.leaves.includes(leaf) && of(id));
    }
    return found;
  }

  /** The sign before a title: it failed, or something was found. */
  signOf(id: number, part: Part): Severity | undefined {
    return this.errorOf(part) ? 'error' : this.look.found.get(id)?.[0]?.severity;
  }

  /** The heat of everything inside a group, or null for what is no group. */
  strips(part: Part): [Float64Array, Float64Array] | null {
    const { frame } = this;
    if (!frame || part.kind !== 'module' || part.ops.length < 4) return null;
    const at = (read: typeof opValue) => binned(part.ops.length, CELLS, i => read(frame, part.ops[i] as number));
    return this.once(part, () => [at(opValue), at(opGradient)]);
  }

  /** The heat of every stretch of a repeat: the largest value and gradient norm in it. */
  heat(box: SceneBox): [Float64Array, Float64Array] {
    const { frame } = this;
    let stretches = this.stretches.get(box);
    if (!stretches) this.stretches.set(box, (stretches = box.unit.blocks.map(opsOf)));
    const all = stretches;
    const largest = (read: typeof opValue) => (k: number) => {
      let most: number | null = null;
      for (const i of all[k] as number[]) {
        const x = frame && read(frame, i);
        if (x !== null && !(Number(most) >= Math.abs(x))) most = Number.isFinite(x) ? Math.abs(x) : NaN;
        if (Number.isNaN(most)) return NaN;
      }
      return most;
    };
    const row = (read: typeof opValue) => binned(all.length, SLIDER_CELLS, largest(read));
    return this.once(box, () => [row(opValue), row(opGradient)]);
  }

  private once(key: object, compute: () => [Float64Array, Float64Array]): [Float64Array, Float64Array] {
    const known = this.computed.get(key) ?? compute();
    this.computed.set(key, known);
    return known;
  }

  get stripLook(): StripLook {
    const { palette } = this;
    return { colours: palette.heat, none: palette.track, odd: palette.odd, zero: palette.colour('--gl-layout') };
  }

  /** How high the header of a box is. */
  headOf(box: Placed): number {
    return this.scene.input.boxes[box.id]?.header ?? HEADER;
  }

  /** Where the strip of a repeat is in its box. */
  sliderOf(box: Placed): { x: number; width: number } {
    return { x: SLIDER_LEFT, width: box.width - SLIDER_LEFT - SLIDER_RIGHT };
  }

  /** Name and note of a box. */
  boxText(b: number): [string, string] {
    const { unit } = this.scene.boxes[b] as SceneBox;
    const module = this.structure.modules[unit.module];
    if (!module) return unitsOf(this.structure).nameOf(unit);
    return [nameOf(module), `${briefRepr(module.repr, module.cls)}${module.call > 1 ? ` · call ${module.call}` : ''}`];
  }

  boxTime(b: number): string {
    const [forward, backward] = this.frame ? timeOf(this.frame, this.scene.boxes[b]?.ops ?? []) : [0, 0];
    return forward > 0 ? `${duration(forward)}${backward > 0 ? ` · back ${duration(backward)}` : ''}` : '';
  }

  say(part: Part, value: number | null, gradient: number | null): string {
    const numbers = [
      value === null ? '' : `value norm ${special(value) ?? full(value)}`,
      gradient === null ? '' : `gradient norm ${special(gradient) ?? full(gradient)}`
    ];
    const error = this.errorOf(part);
    return [part.title, part.note, error && `failed: ${error}`, part.shape ? `shape ${shape(part.shape)}` : '', ...numbers]
      .filter(Boolean)
      .join(', ');
  }

  /** What is selected, and the way from it to the loss. */
  marked(marked: Marked): Pick<Look, 'selected' | 'chips' | 'edges'> {
    const selected = new Set<number>();
    const chips = new Set<number>();
    for (const i of marked.ops) if ((this.scene.partOf[i] ?? -1) >= 0) selected.add(this.scene.partOf[i] as number);
    const start = new Set(selected);
    this.scene.parts.forEach((part, id) => {
      if ((part.kind !== 'leaf' && part.kind !== 'chip') || !part.leaves.some(j => marked.leaves.has(j))) return;
      if (part.kind === 'chip') chips.add(id);
      else for (const set of [selected, start]) set.add(id);
    });
    const edges = pathEdges(this.scene, start, rootOf(this.structure.ops));
    for (const e of edges) if (this.layout.edges[e]?.chip) edges.delete(e);
    return { selected, chips, edges };
  }
}
