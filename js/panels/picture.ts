/** The drawn graph of one structure: what is where, which numbers and words it has. Subclasses draw it. */

import { count, duration, full, plain, shape, special } from '../draw/format';
import { whole } from '../draw/text';
import { HEADER, NODE_WIDTH } from '../draw/geometry';
import { layout, TooLate, type Layout, type Placed } from '../draw/layout';
import { binned, type StripLook } from '../draw/strip';
import { CELLS } from '../draw/node';
import type { Frame } from '../protocol/decode';
import type { Leaf, Structure } from '../protocol/messages';
import type { Part, Scene, SceneBox } from './fold';
import { nameOf } from './nesting';
import type { Marked } from './store';
import type { Palette } from './theme';
import { batchOf, leafNumber, madeAt, opGradient, opValue, timeOf } from './view';
import type { TipText } from './tip';
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
  protected frame: Frame | null = null;
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
    if (!frame || part.kind === 'evaluation' || part.kind === 'past') return [null, null];
    const yet = this.look.done === null || id < 0 || this.look.done.has(id);
    if (part.ops.length > 0) {
      const i = part.ops.at(-1) as number;
      return [opValue(frame, i), yet ? opGradient(frame, i) : null];
    }
    if (part.leaves.length !== 1) return [null, null];
    const j = part.leaves[0] as number;
    return [leafNumber(frame, j, 'value'), yet ? leafNumber(frame, j, 'gradient') : null];
  }

  /** The words in place of a gradient. */
  words(id: number, part: Part): string {
    if ((this.places.get(id)?.width ?? 0) < NODE_WIDTH) return part.kind === 'leaf' ? 'input' : 'no grad';
    if (!part.grad) return 'no gradient wanted';
    return this.look.done && !this.look.done.has(id) ? 'not reached' : 'no gradient yet';
  }

  /** The words in place of all numbers; empty for none. */
  textOf(part: Part): string {
    const error = this.errorOf(part);
    if (error) return `failed: ${error.split('\n')[0]}`;
    return part.kind === 'evaluation' ? 'not part of this graph' : '';
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
    return [part.title, part.note, part.shape ? `shape ${shape(part.shape)}` : '', ...numbers].filter(Boolean).join(', ');
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

  /** The words for the pointer over the header of a module. */
  describeBox(b: number): TipText | null {
    const box = this.scene.boxes[b];
    const module = this.structure.modules[box?.unit.module ?? -1];
    const path = module?.path ?? '';
    const [title, note] = box ? this.boxText(b) : ['', ''];
    if (box && !module) return { title, lines: [['holds', note], ...this.numbersOfStretch(box)] };
    return module ? { title: whole(path || module.name), lines: [['module', module.repr.slice(0, 400)]] } : null;
  }

  /** The words for the pointer over a part. */
  describe(id: number): TipText | null {
    const part = this.scene.parts[id];
    if (!part) return null;
    const [value, gradient] = this.numbers(part, id);
    const lines: [string, string][] = [];
    const op = part.ops.length === 1 ? this.structure.ops[part.ops[0] as number] : undefined;
    const leaf = part.leaves.length === 1 ? (this.structure.leaves[part.leaves[0] as number] as Leaf) : undefined;
    const of = op ?? leaf;
    if (of && (part.grad || !op?.error)) lines.push(['shape', `${shape(of.shape)} ${of.dtype}`]);
    if (value !== null) lines.push(['‖value‖', full(value)]);
    if (gradient !== null) lines.push(['‖gradient‖', full(gradient)]);
    else if (part.kind === 'op' || part.kind === 'leaf') lines.push(['gradient', part.grad ? 'not yet' : 'not wanted']);
    if (op) {
      const where = madeAt(this.structure, op);
      if (where) lines.push(['made at', where]);
      const module = op.module === null ? undefined : this.structure.modules[op.module];
      if (module) lines.push(['module', `${whole(module.path || module.name)} ${module.repr.slice(0, 300)}`]);
      const scalars = op.inputs.filter(([from]) => from === 'scalar').map(([, text]) => String(text));
      if (scalars.length > 0) lines.push(['numbers', scalars.join(', ')]);
      if (op.error) lines.push(['error', op.error]);
      if (this.frame) {
        const [forward, backward] = timeOf(this.frame, part.ops);
        if (forward > 0) lines.push(['time', `${duration(forward)}${backward > 0 ? ` · back ${duration(backward)}` : ''}`]);
      }
    }
    if (part.kind === 'module') lines.push(['holds', part.note]);
    if (part.leaves.length > 1)
      for (const j of part.leaves.slice(0, 12))
        lines.push([whole(this.structure.leaves[j]?.name ?? ''), shape(this.structure.leaves[j]?.shape ?? [])]);
    return { title: whole(leaf?.name ?? part.title), lines };
  }

  private numbersOfStretch(box: SceneBox): [string, string][] {
    const range = (cells: Float64Array): string => {
      const known = Array.from(cells).filter(x => !Number.isNaN(x));
      const odd = known.includes(Infinity) ? ', some not finite' : '';
      const finite = known.filter(Number.isFinite);
      return finite.length === 0 ? 'unknown' : `${plain(Math.min(...finite))} to ${plain(Math.max(...finite))}${odd}`;
    };
    const [values, gradients] = box.unit.kind === 'repeat' ? this.heat(box) : [new Float64Array(), new Float64Array()];
    if (values.length > 0)
      return [
        ['‖value‖', range(values)],
        ['‖gradient‖', range(gradients)],
        ['shown', `${count(box.index + 1)} of ${count(box.unit.blocks.length)}`]
      ];
    return [];
  }
}
