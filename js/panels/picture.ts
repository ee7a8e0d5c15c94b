/** The drawn graph of one structure: built once, then only its numbers and marks change. */

import { arrowPath, edgePath } from '../draw/edge';
import { set, svg } from '../draw/element';
import { count, duration, full, shape, special } from '../draw/format';
import { NODE_WIDTH } from '../draw/geometry';
import { layout, type Layout, type Placed } from '../draw/layout';
import { BoxView, ChipView, NodeView, type Fonts } from '../draw/node';
import type { Frame } from '../protocol/decode';
import type { Leaf, Structure } from '../protocol/messages';
import type { Part, Scene } from './fold';
import { nameOf } from './nesting';
import type { Marked } from './store';
import { batchOf, leafNumber, madeAt, opGradient, opValue, timeOf } from './view';
import type { TipText } from './tip';
import { READABLE } from './viewport';
import { pathEdges, rootOf } from './way';

let pictures = 0;

/** A graph wider than this has lanes beside each other. */
const ONE_LANE = 560;

/** The layout with as many lanes as are readable in `room` pixels. */
function layoutFor(scene: Scene, widest: Layout, room: number): Layout {
  let result = widest;
  for (let lanes = 4; lanes > 0 && result.width * READABLE > room; lanes--) result = layout(scene.input, lanes);
  return result;
}

/** `Linear(in_features=64, out_features=128, bias=True)` as `Linear(64, 128)`; a module that holds others as its class. */
export function briefRepr(repr: string, cls: string): string {
  const inside = /^[\w.]+\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)$/.exec(repr)?.[1];
  if (inside === undefined) return /^[\w.]+\(\)$/.test(repr) ? repr : cls;
  const parts = inside.split(/, (?![^(]*\))/).filter(part => part !== 'bias=True');
  return `${cls}(${parts.map(part => part.replace(/^\w+=(?=[\d(-])/, '')).join(', ')})`;
}

export class Picture {
  readonly element: SVGSVGElement;
  readonly layout: Layout;
  /** Whether it has branches that want lanes beside each other. */
  readonly branched: boolean;
  private readonly nodes = new Map<number, NodeView>();
  private readonly chips = new Map<number, ChipView>();
  private readonly boxes = new Map<number, BoxView>();
  private readonly lines: SVGPathElement[] = [];
  private readonly heads: SVGPathElement[] = [];
  private readonly places = new Map<number, Placed>();
  private frame: Frame | null = null;

  constructor(
    readonly structure: Structure,
    readonly scene: Scene,
    fonts: Fonts,
    room: number
  ) {
    const widest = layout(scene.input);
    this.branched = widest.width > ONE_LANE;
    this.layout = layoutFor(scene, widest, room);
    const hatch = `gl-hatch-${++pictures}`;
    const under = svg('g', {});
    const edges = svg('g', { 'aria-hidden': 'true' });
    const over = svg('g', {});
    this.drawBoxes(under, over, fonts);
    this.drawEdges(edges);
    const batch = batchOf(structure);
    for (const placed of this.layout.nodes) this.drawNode(placed, over, fonts, hatch, batch);
    for (const placed of this.layout.chips) {
      if (placed.height === 40) this.drawNode(placed, over, fonts, hatch, batch);
      else this.drawChip(placed, over, fonts);
    }
    const { width, height } = this.layout;
    const ops = structure.ops.length + structure.folded;
    this.element = svg(
      'svg',
      { class: 'gl-graph', viewBox: `0 0 ${width} ${height + 1}`, role: 'group', 'aria-label': `Graph of one step, ${count(ops)} ops` },
      svg('defs', {}, hatchPattern(hatch)),
      under,
      edges,
      over
    );
  }

  private drawBoxes(under: SVGGElement, over: SVGGElement, fonts: Fonts): void {
    for (const placed of this.layout.boxes) {
      const module = this.structure.modules[this.scene.boxes[placed.id]?.module ?? -1];
      const name = nameOf(module);
      const detail = `${briefRepr(module?.repr ?? '', module?.cls ?? '')}${(module?.call ?? 1) > 1 ? ` · call ${module?.call}` : ''}`;
      const view = new BoxView(name, detail, 16, placed.width, placed.height, fonts);
      set(view.element, 'transform', `translate(${placed.x} ${placed.y})`);
      set(view.header, 'transform', `translate(${placed.x} ${placed.y})`);
      set(view.header, 'data-module', module?.path ?? '');
      set(view.header, 'aria-label', `${name}, ${detail}: fold`);
      this.boxes.set(placed.id, view);
      under.append(view.element);
      over.append(view.header);
    }
  }

  private drawEdges(group: SVGGElement): void {
    for (const edge of this.layout.edges) {
      const [from, to] = [this.scene.parts[edge.from] as Part, this.scene.parts[edge.to] as Part];
      const past = from.kind === 'past';
      const look = edge.chip && from.colour === 'parameter' ? 'gl-chipline' : 'gl-edge';
      const dashed = !edge.chip && (!to.grad || !from.grad) && to.kind !== 'leaf' && !(to.grad && from.kind === 'leaf');
      const line = svg('path', {
        class: `${look}${dashed || past ? ' gl-dashed' : ''}`,
        d: edgePath(edge.points, edge.chip ? 0 : 4),
        'data-from': edge.from,
        'data-to': edge.to
      });
      const head = svg('path', { class: 'gl-arrow', d: edge.chip ? '' : arrowPath(edge.points) });
      this.lines.push(line);
      this.heads.push(head);
      group.append(line, head);
    }
  }

  private drawNode(placed: Placed, over: SVGGElement, fonts: Fonts, hatch: string, batch: number): void {
    const part = this.scene.parts[placed.id] as Part;
    const error = part.kind === 'op' ? this.structure.ops[part.ops[0] as number]?.error : null;
    const view = new NodeView(
      {
        title: part.title,
        note: part.note,
        shape: error && !part.grad ? null : part.shape,
        batch,
        colour: part.colour,
        dashed: !part.grad && part.kind !== 'leaf' && !error,
        double: part.kind === 'module' || part.kind === 'more' || part.kind === 'evaluation',
        width: placed.width,
        text: error ? `failed: ${error.split('\n')[0]}` : part.kind === 'evaluation' ? 'not part of this graph' : '',
        hatch
      },
      fonts
    );
    this.position(placed, view.element, over);
    view.element.classList.toggle('gl-failed', !!error);
    if (part.kind === 'op') set(view.element, 'data-op', part.ops[0] as number);
    if (part.kind === 'leaf') set(view.element, 'data-leaf', part.leaves[0] as number);
    if (part.kind === 'module') set(view.element, 'data-module', part.path);
    if (part.kind !== 'op') set(view.element, 'data-ops', part.ops.join(' '));
    this.nodes.set(placed.id, view);
  }

  private drawChip(placed: Placed, over: SVGGElement, fonts: Fonts): void {
    const part = this.scene.parts[placed.id] as Part;
    const view = new ChipView(part.title, part.shape, part.kind === 'past', fonts);
    this.position(placed, view.element, over);
    if (part.leaves.length === 1) set(view.element, 'data-leaf', part.leaves[0] as number);
    this.chips.set(placed.id, view);
  }

  private position(placed: Placed, element: SVGGElement, over: SVGGElement): void {
    set(element, 'transform', `translate(${placed.x} ${placed.y})`);
    set(element, 'data-part', placed.id);
    set(element, 'role', 'button');
    set(element, 'tabindex', -1);
    this.places.set(placed.id, placed);
    over.append(element);
  }

  /** Write the numbers of a frame. */
  update(frame: Frame): void {
    this.frame = frame;
    for (const [id, view] of this.nodes) {
      const part = this.scene.parts[id] as Part;
      const [value, gradient] = this.numbers(part);
      view.update(value, part.grad ? gradient : null, this.words(id, part));
      set(view.element, 'aria-label', this.label(part, value, gradient));
    }
    for (const [id, view] of this.chips) {
      const part = this.scene.parts[id] as Part;
      if (part.leaves.length === 1) view.update(...this.numbers(part));
      set(view.element, 'aria-label', this.label(part, ...this.numbers(part)));
    }
    for (const [id, view] of this.boxes) {
      const [forward, backward] = timeOf(frame, this.scene.boxes[id]?.ops ?? []);
      view.update(`${duration(forward)}${backward > 0 ? ` · back ${duration(backward)}` : ''}`);
    }
  }

  private numbers(part: Part): [number | null, number | null] {
    const { frame } = this;
    if (!frame || part.kind === 'evaluation' || part.kind === 'past') return [null, null];
    if (part.ops.length > 0) {
      const i = part.ops.at(-1) as number;
      return [opValue(frame, i), opGradient(frame, i)];
    }
    if (part.leaves.length !== 1) return [null, null];
    const j = part.leaves[0] as number;
    return [leafNumber(frame, j, 'value'), leafNumber(frame, j, 'gradient')];
  }

  private words(id: number, part: Part): string {
    if ((this.places.get(id)?.width ?? 0) < NODE_WIDTH) return part.kind === 'leaf' ? 'input' : 'no grad';
    return part.grad ? 'no gradient yet' : 'no gradient wanted';
  }

  private label(part: Part, value: number | null, gradient: number | null): string {
    const numbers = [
      value === null ? '' : `value norm ${special(value) ?? full(value)}`,
      gradient === null ? '' : `gradient norm ${special(gradient) ?? full(gradient)}`
    ];
    return [part.title, part.note, part.shape ? `shape ${shape(part.shape)}` : '', ...numbers].filter(Boolean).join(', ');
  }

  /** Mark the selection, and the way from it to the loss. */
  mark(marked: Marked): void {
    const selected = new Set<number>();
    for (const i of marked.ops) if ((this.scene.partOf[i] ?? -1) >= 0) selected.add(this.scene.partOf[i] as number);
    const start = new Set(selected);
    this.scene.parts.forEach((part, id) => {
      if (part.kind !== 'leaf' && part.kind !== 'chip') return;
      const on = part.leaves.some(j => marked.leaves.has(j));
      if (part.kind === 'leaf' && on) start.add(id);
      const element = this.elementOf(id);
      element?.classList.toggle('gl-hot', part.kind === 'chip' && on);
      element?.classList.toggle('gl-selected', part.kind === 'leaf' && on);
    });
    for (const [id, view] of this.nodes) {
      const part = this.scene.parts[id] as Part;
      if (part.kind === 'leaf') continue;
      const on = selected.has(id);
      view.element.classList.toggle('gl-selected', on);
      set(view.element, 'aria-pressed', String(on));
      const op = this.structure.ops[part.ops[0] ?? -1];
      if (part.kind === 'op' && op) view.name(on ? madeAt(this.structure, op) || part.note : part.note, on ? 'gl-link' : '');
    }
    const hot = pathEdges(this.scene, start, rootOf(this.structure.ops));
    this.lines.forEach((line, e) => {
      const on = hot.has(e) && !this.layout.edges[e]?.chip;
      const head = this.heads[e] as SVGPathElement;
      // What is marked lies over what is not.
      if (on && !line.classList.contains('gl-hot')) line.parentElement?.append(line, head);
      line.classList.toggle('gl-hot', on);
      head.classList.toggle('gl-hot', on);
    });
  }

  elementOf(part: number): SVGGElement | undefined {
    return (this.nodes.get(part) ?? this.chips.get(part))?.element;
  }

  placeOf(part: number): Placed | undefined {
    return this.places.get(part);
  }

  /** The words for the pointer over the header of a module. */
  describeBox(path: string): TipText | null {
    const module = this.structure.modules.find(m => m.path === path);
    return module ? { title: (path || module.name).slice(0, 300), lines: [['module', module.repr.slice(0, 400)]] } : null;
  }

  /** The words for the pointer over a part. */
  describe(id: number): TipText | null {
    const part = this.scene.parts[id];
    if (!part) return null;
    const [value, gradient] = this.numbers(part);
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
      if (module) lines.push(['module', `${module.path || module.name} ${module.repr}`.slice(0, 300)]);
      const scalars = op.inputs.filter(([from]) => from === 'scalar').map(([, text]) => String(text));
      if (scalars.length > 0) lines.push(['numbers', scalars.join(', ')]);
      if (op.error) lines.push(['error', op.error]);
      if (this.frame) {
        const [forward, backward] = timeOf(this.frame, part.ops);
        lines.push(['time', `${duration(forward)}${backward > 0 ? ` · back ${duration(backward)}` : ''}`]);
      }
    }
    if (part.kind === 'module') lines.push(...(this.describeBox(part.path)?.lines ?? []));
    if (part.leaves.length > 1)
      for (const j of part.leaves.slice(0, 12))
        lines.push([this.structure.leaves[j]?.name.slice(0, 300) ?? '', shape(this.structure.leaves[j]?.shape ?? [])]);
    return { title: (leaf?.name ?? part.title).slice(0, 300), lines };
  }
}

/** Magenta stripes: a number that is not finite. */
function hatchPattern(id: string): SVGPatternElement {
  return svg(
    'pattern',
    { id, width: 4, height: 4, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
    svg('rect', { width: 4, height: 4, class: 'gl-odd-soft' }),
    svg('rect', { width: 2, height: 4, class: 'gl-odd-strong' })
  );
}
