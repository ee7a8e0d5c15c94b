/** The graph on a canvas, for more nodes than SVG moves in time: only what is in view is drawn, again whenever that changes. */

import { html } from '../draw/element';
import type { Layout, Placed, PlacedEdge } from '../draw/layout';
import { KINDS, Painter } from '../draw/paint';
import type { Severity } from '../draw/severity';
import type { Structure } from '../protocol/messages';
import type { Scene, SceneBox } from './fold';
import type { Hit, Picture } from './picture';
import type { Palette } from './theme';
import { madeAt } from './view';
import { isDashed, isDouble } from './way';

/** Of a node that is too far away for a sign. */
const COLOURS: Record<Severity, string> = { error: '--gl-error', warning: '--gl-warn', info: '--gl-info' };

/** Things are looked up by stripes of this height. */
const STRIPE = 400;

interface Stripe {
  rects: Placed[];
  boxes: Placed[];
  edges: number[];
}

type Make = new (structure: Structure, scene: Scene, where: Layout, palette: Palette) => Picture;

/** The class of canvas pictures, on the base that all pictures have: this module is loaded apart from that. */
export function canvasPicture(base: typeof Picture): Make {
  return class CanvasPicture extends base {
    readonly element: HTMLElement;
    private readonly canvas = html('canvas', { class: 'gl-canvas', role: 'img' });
    private readonly stripes: Stripe[] = [];
    private zoom = 1;
    private due = 0;
    /** How long the last drawing took, in milliseconds. */
    took = 0;

    constructor(structure: Structure, scene: Scene, where: Layout, palette: Palette) {
      super(structure, scene, where, palette);
      this.canvas.setAttribute('aria-label', `${this.label}. The outline lists them.`);
      this.element = html('div', { class: 'gl-sheet' }, this.canvas);
      const put = (list: keyof Stripe, what: unknown, top: number, bottom: number) => {
        for (let s = Math.floor(top / STRIPE); s <= Math.floor(bottom / STRIPE); s++) {
          const stripe = (this.stripes[s] ??= { rects: [], boxes: [], edges: [] });
          (stripe[list] as unknown[]).push(what);
        }
      };
      for (const box of where.boxes) put('boxes', box, box.y, box.y + box.height);
      for (const rect of this.places.values()) put('rects', rect, rect.y, rect.y + rect.height);
      where.edges.forEach((edge, e) => {
        const ys = edge.points.map(([, y]) => y);
        put('edges', e, Math.min(...ys), Math.max(...ys));
      });
    }

    protected drawNumbers(): void {
      this.redraw();
    }

    protected drawLook(): void {
      this.redraw();
    }

    override scrolled(): void {
      this.redraw();
    }

    resize(zoom: number): void {
      this.zoom = zoom;
      this.element.style.width = `${Math.round(this.layout.width * zoom)}px`;
      this.element.style.height = `${Math.round((this.layout.height + 1) * zoom)}px`;
      this.redraw();
    }

    /** Draw before the next frame is shown, however often it is asked for. */
    private redraw(): void {
      if (this.due) return;
      this.due = requestAnimationFrame(() => {
        this.due = 0;
        this.draw();
      });
    }

    /** What lies in the stripes between two heights, each once. */
    private between(top: number, bottom: number): { rects: Set<Placed>; boxes: Set<Placed>; edges: Set<number> } {
      const found = { rects: new Set<Placed>(), boxes: new Set<Placed>(), edges: new Set<number>() };
      for (let s = Math.max(0, Math.floor(top / STRIPE)); s <= Math.floor(bottom / STRIPE) && s < this.stripes.length; s++) {
        const stripe = this.stripes[s];
        for (const rect of stripe?.rects ?? []) found.rects.add(rect);
        for (const box of stripe?.boxes ?? []) found.boxes.add(box);
        for (const edge of stripe?.edges ?? []) found.edges.add(edge);
      }
      return found;
    }

    /** Draw what is in view now. */
    draw(): void {
      const room = this.element.parentElement;
      const ctx = this.canvas.getContext('2d');
      if (!room || !ctx) return;
      const started = performance.now();
      const [width, height] = [Math.min(room.clientWidth, Math.ceil(this.layout.width * this.zoom)), room.clientHeight];
      const dense = window.devicePixelRatio || 1;
      const { canvas, zoom, palette } = this;
      const [w, h] = [Math.round(width * dense), Math.round(height * dense)];
      if (canvas.width !== w || canvas.height !== h) {
        [canvas.width, canvas.height] = [w, h];
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
      }
      const left = room.scrollLeft;
      const top = room.scrollTop;
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.clearRect(0, 0, w, h);
      ctx.setTransform(dense * zoom, 0, 0, dense * zoom, -left * dense, -top * dense);
      const seen = this.between(top / zoom, (top + height) / zoom);
      const painter = new Painter(ctx, palette.colour, palette.fonts, this.stripLook, zoom);
      const boxes = [...seen.boxes].sort((a, b) => b.height - a.height);
      for (const box of boxes) painter.box(box.x, box.y, box.width, box.height);
      this.drawEdges(painter, seen.edges);
      if (zoom < 0.15) this.drawFar(ctx, seen.rects);
      else for (const rect of seen.rects) this.drawRect(ctx, painter, rect);
      ctx.globalAlpha = 1;
      for (const box of boxes) this.drawHeader(painter, box);
      this.took = performance.now() - started;
    }

    private drawEdges(painter: Painter, edges: ReadonlySet<number>): void {
      const { look } = this;
      type Points = PlacedEdge['points'][];
      const kinds = { plain: [] as Points, dashed: [] as Points, chip: [] as Points, hot: [] as Points, flow: [] as Points };
      for (const e of edges) {
        const edge = this.layout.edges[e] as PlacedEdge;
        if (look.traced && !(look.traced.has(edge.from) && look.traced.has(edge.to))) continue;
        const [from, to] = [this.part(edge.from), this.part(edge.to)];
        const flows = this.flows(edge);
        const kind = look.edges.has(e)
          ? 'hot'
          : flows
            ? 'flow'
            : edge.chip && from.colour === 'parameter'
              ? 'chip'
              : isDashed(edge, from, to)
                ? 'dashed'
                : 'plain';
        kinds[kind].push(edge.points);
      }
      painter.edges(kinds.plain, '--gl-edge', 1.5, false, true);
      painter.edges(kinds.dashed, '--gl-edge', 1.5, true, true);
      painter.edges(kinds.chip, '--gl-param', 1.5, false, false);
      painter.edges(kinds.flow, '--gl-grad', 2.5, false, true);
      painter.edges(kinds.hot, '--gl-brand', 2.5, false, true);
    }

    /** From far away a node is a block of the colour of its kind. */
    private drawFar(ctx: CanvasRenderingContext2D, rects: ReadonlySet<Placed>): void {
      const groups = new Map<string, Placed[]>();
      for (const rect of rects) {
        const { selected, line } = this.look;
        const found = this.look.found.get(rect.id)?.[0]?.severity;
        const mark = selected.has(rect.id) ? '--gl-brand' : line.has(rect.id) ? '--gl-flash-edge' : found ? COLOURS[found] : null;
        const name = mark ?? KINDS[this.part(rect.id).colour] ?? '--gl-shape';
        const list = groups.get(name);
        if (list) list.push(rect);
        else groups.set(name, [rect]);
      }
      for (const [name, list] of groups) {
        ctx.fillStyle = this.palette.colour(name);
        for (const { x, y, width, height } of list) ctx.fillRect(x, y, width, height);
      }
    }

    private drawRect(ctx: CanvasRenderingContext2D, painter: Painter, { id, x, y, width, height }: Placed): void {
      const { look } = this;
      const part = this.part(id);
      ctx.globalAlpha = look.traced && !look.traced.has(id) ? 0.25 : 1;
      const found = this.signOf(id, part);
      if (height < 40) return painter.chip(x, y, part.title, part.shape, part.kind === 'past', look.chips.has(id), found);
      const error = this.errorOf(part);
      const [value, gradient] = this.numbers(part, id);
      const selected = look.selected.has(id);
      const op = this.structure.ops[part.ops[0] ?? -1];
      const made = selected && part.kind === 'op' && op ? madeAt(this.structure, op) : '';
      painter.node(
        x,
        y,
        width,
        {
          title: part.title,
          note: made || part.note,
          link: made !== '',
          shape: error && !part.grad ? null : part.shape,
          batch: this.batch,
          colour: part.colour,
          text: this.textOf(part)[0] ?? '',
          value,
          gradient: part.grad ? gradient : null,
          words: this.words(id, part),
          strips: this.strips(part)
        },
        {
          selected,
          failed: !!error,
          dashed: !part.grad && part.kind !== 'leaf' && !error,
          double: isDouble(part),
          fresh: look.fresh.has(id),
          now: look.at === id,
          found
        }
      );
      if (!look.line.has(id) || selected) return;
      ctx.strokeStyle = this.palette.colour('--gl-flash-edge');
      ctx.lineWidth = 2;
      ctx.strokeRect(x, y, width, height);
    }

    private drawHeader(painter: Painter, placed: Placed): void {
      const box = this.scene.boxes[placed.id] as SceneBox;
      painter.header(placed.x, placed.y, placed.width, this.headOf(placed), ...this.boxText(placed.id), this.boxTime(placed.id));
      if (box.unit.kind !== 'repeat') return;
      const { x, width } = this.sliderOf(placed);
      painter.slider(placed.x + x, placed.y, width, this.heat(box), box.index, box.unit.blocks.length);
    }

    hit({ clientX, clientY }: { clientX: number; clientY: number }): Hit {
      const none = { part: -1, box: -1, index: -1 };
      const { left, top } = this.element.getBoundingClientRect();
      const [x, y] = [(clientX - left) / this.zoom, (clientY - top) / this.zoom];
      const inside = (p: Placed) => x >= p.x && x <= p.x + p.width && y >= p.y && y <= p.y + p.height;
      const stripe = this.stripes[Math.floor(y / STRIPE)];
      const rect = stripe?.rects.find(inside);
      if (rect) return { ...none, part: rect.id };
      const placed = stripe?.boxes.filter(inside).sort((a, b) => a.height - b.height)[0];
      const box = placed && this.scene.boxes[placed.id];
      if (!placed || !box) return none;
      const down = y - placed.y;
      const slider = this.sliderOf(placed);
      const along = (x - placed.x - slider.x) / slider.width;
      if (box.unit.kind === 'repeat' && down > 20 && down < 44 && along >= 0 && along < 1) {
        return { part: -1, box: placed.id, index: Math.floor(along * box.unit.blocks.length) };
      }
      return down <= 20 ? { ...none, box: placed.id } : none;
    }
  };
}
