/** The graph as SVG, for as many nodes as a page draws in time: built once, then only its numbers and marks change. */

import { arrowPath, edgePath } from '../draw/edge';
import { set, svg } from '../draw/element';
import type { Layout, Placed } from '../draw/layout';
import { BoxView, ChipView, NodeView, RepeatView } from '../draw/node';
import type { Structure } from '../protocol/messages';
import type { Part, Scene, SceneBox } from './fold';
import { Picture, type Hit } from './picture';
import type { Palette } from './theme';
import { madeAt } from './view';
import { isDashed, isDouble } from './way';

/** So many of its ops are named on the element of a group. */
const MOST_NAMED = 1000;

let pictures = 0;

export class SvgPicture extends Picture {
  readonly element: SVGSVGElement;
  private readonly nodes = new Map<number, NodeView>();
  private readonly chips = new Map<number, ChipView>();
  private readonly boxes = new Map<number, BoxView>();
  private readonly repeats = new Map<number, RepeatView>();
  private readonly lines: SVGPathElement[] = [];
  private readonly heads: SVGPathElement[] = [];

  constructor(structure: Structure, scene: Scene, where: Layout, palette: Palette) {
    super(structure, scene, where, palette);
    const hatch = `gl-hatch-${++pictures}`;
    const [under, edges, over] = [svg('g'), svg('g', { 'aria-hidden': 'true' }), svg('g')];
    this.drawBoxes(under, over);
    this.drawEdges(edges);
    for (const placed of where.nodes) this.drawNode(placed, over, hatch);
    for (const placed of where.chips) {
      if (this.part(placed.id).kind === 'leaf') this.drawNode(placed, over, hatch);
      else this.drawChip(placed, over);
    }
    this.element = svg(
      'svg',
      { class: 'gl-graph', viewBox: `0 0 ${where.width} ${where.height + 1}`, role: 'group', 'aria-label': this.label },
      svg('defs', {}, hatchPattern(hatch)),
      under,
      edges,
      over
    );
  }

  private drawBoxes(under: SVGGElement, over: SVGGElement): void {
    const { fonts } = this.palette;
    for (const placed of this.layout.boxes) {
      const { unit, index } = this.scene.boxes[placed.id] as SceneBox;
      const [name, detail] = this.boxText(placed.id);
      const view = new BoxView(name, detail, 16, placed.width, placed.height, this.headOf(placed), fonts);
      for (const element of [view.element, view.header]) set(element, 'transform', `translate(${placed.x} ${placed.y})`);
      set(view.header, 'data-module', unit.path);
      set(view.header, 'data-box', placed.id);
      set(view.header, 'aria-label', `${name}, ${detail}: fold`);
      if (unit.kind === 'repeat') {
        const repeat = new RepeatView(this.sliderOf(placed), index, unit.blocks.length, name);
        this.repeats.set(placed.id, repeat);
        view.header.append(repeat.element);
      }
      this.boxes.set(placed.id, view);
      under.append(view.element);
      over.append(view.header);
    }
  }

  private drawEdges(group: SVGGElement): void {
    for (const edge of this.layout.edges) {
      const [from, to] = [this.part(edge.from), this.part(edge.to)];
      const look = edge.chip && from.colour === 'parameter' ? 'gl-chipline' : 'gl-edge';
      const line = svg('path', {
        class: `${look}${isDashed(edge, from, to) ? ' gl-dashed' : ''}`,
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

  private drawNode(placed: Placed, over: SVGGElement, hatch: string): void {
    const part = this.part(placed.id);
    const error = this.errorOf(part);
    const view = new NodeView(
      {
        title: part.title,
        note: part.note,
        shape: error && !part.grad ? null : part.shape,
        batch: this.batch,
        colour: part.colour,
        dashed: !part.grad && part.kind !== 'leaf' && !error,
        double: isDouble(part),
        width: placed.width,
        height: placed.height,
        text: this.textOf(part),
        hatch
      },
      this.palette.fonts
    );
    this.position(placed, view.element, over);
    view.element.classList.toggle('gl-failed', !!error);
    if (part.kind === 'op') set(view.element, 'data-op', part.ops[0] as number);
    if (part.kind === 'leaf') set(view.element, 'data-leaf', part.leaves[0] as number);
    if (part.kind === 'module') set(view.element, 'data-module', part.path);
    if (part.kind !== 'op') set(view.element, 'data-ops', part.ops.slice(0, MOST_NAMED).join(' '));
    this.nodes.set(placed.id, view);
  }

  private drawChip(placed: Placed, over: SVGGElement): void {
    const part = this.part(placed.id);
    const view = new ChipView(part.title, part.shape, part.kind === 'past', placed.height, this.palette.fonts);
    this.position(placed, view.element, over);
    if (part.leaves.length === 1) set(view.element, 'data-leaf', part.leaves[0] as number);
    this.chips.set(placed.id, view);
  }

  private position(placed: Placed, element: SVGGElement, over: SVGGElement): void {
    set(element, 'transform', `translate(${placed.x} ${placed.y})`);
    set(element, 'data-part', placed.id);
    set(element, 'role', 'button');
    set(element, 'tabindex', -1);
    over.append(element);
  }

  protected drawNumbers(): void {
    for (const [id, view] of this.nodes) {
      const part = this.part(id);
      const [value, gradient] = this.numbers(part, id);
      view.update(value, part.grad ? gradient : null, this.words(id, part));
      const strips = this.strips(part);
      if (strips) {
        view.value?.strip(strips[0], this.stripLook);
        if (gradient !== null) view.gradient?.strip(strips[1], this.stripLook);
      }
      set(view.element, 'aria-label', this.say(part, value, gradient));
    }
    for (const [id, view] of this.chips) {
      const part = this.part(id);
      if (part.leaves.length === 1) view.update(...this.numbers(part, id));
      set(view.element, 'aria-label', this.say(part, ...this.numbers(part, id)));
    }
    for (const [b, view] of this.boxes) view.update(this.boxTime(b));
    for (const [b, view] of this.repeats) view.update(...this.heat(this.scene.boxes[b] as SceneBox), this.stripLook);
  }

  protected drawLook(): void {
    const { look } = this;
    const mark = (id: number, element: Element, part: Part) => {
      element.classList.toggle('gl-dim', look.traced !== null && !look.traced.has(id));
      element.classList.toggle('gl-hot', look.chips.has(id));
      element.classList.toggle('gl-selected', look.selected.has(id) && part.kind !== 'chip');
      element.classList.toggle('gl-fresh', look.fresh.has(id));
      element.classList.toggle('gl-now', look.at === id);
      element.classList.toggle('gl-reached', look.done?.has(id) === true);
    };
    for (const [id, view] of this.chips) {
      mark(id, view.element, this.part(id));
      view.found(this.signOf(id, this.part(id)));
    }
    for (const [id, view] of this.nodes) {
      const part = this.part(id);
      mark(id, view.element, part);
      const on = look.selected.has(id);
      if (part.kind !== 'leaf') set(view.element, 'aria-pressed', String(on));
      const op = this.structure.ops[part.ops[0] ?? -1];
      const made = on && part.kind === 'op' && op ? madeAt(this.structure, op) : '';
      view.name(made || part.note, made && 'gl-link', this.signOf(id, part));
    }
    this.lines.forEach((line, e) => {
      const on = look.edges.has(e);
      const head = this.heads[e] as SVGPathElement;
      const edge = this.layout.edges[e];
      // What is marked lies over what is not.
      if (on && !line.classList.contains('gl-hot')) line.parentElement?.append(line, head);
      const dim = look.traced !== null && !(edge && look.traced.has(edge.from) && look.traced.has(edge.to));
      const flows = edge !== undefined && this.flows(edge);
      for (const one of [line, head]) {
        one.classList.toggle('gl-hot', on);
        one.classList.toggle('gl-dim', dim);
        one.classList.toggle('gl-flows', flows);
      }
    });
  }

  elementOf(part: number): SVGGElement | undefined {
    return (this.nodes.get(part) ?? this.chips.get(part))?.element;
  }

  hit({ target, clientX }: { target: EventTarget | null; clientX: number }): Hit {
    const up = (what: string) => (target instanceof Element ? target.closest(`[${what}]`)?.getAttribute(what) : null);
    const box = Number(up('data-box') ?? -1);
    const slider = target instanceof Element ? target.closest('.gl-slider') : null;
    let index = -1;
    if (slider) {
      const { left, width } = this.element.getBoundingClientRect();
      const x = ((clientX - left) / width) * this.layout.width - (this.layout.boxes.find(b => b.id === box)?.x ?? 0);
      index = this.repeats.get(box)?.indexAt(x) ?? -1;
    }
    return { part: Number(up('data-part') ?? -1), box, index };
  }

  resize(zoom: number): void {
    set(this.element, 'width', Math.round(this.layout.width * zoom));
    set(this.element, 'height', Math.round((this.layout.height + 1) * zoom));
    this.element.classList.toggle('gl-far', zoom * 11 < 8);
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
