/** A node, a chip and a box of the graph as SVG; numbers change in place. */

import { set, svg, write } from './element';
import { count as countText, full, brief, plain, shape as shapeText, special } from './format';
import { ARROW_ROOM, CHIP_WIDTH } from './geometry';
import { logPart } from './scale';
import { severitySign, type Severity } from './severity';
import { cellColour, HIGH, LOW, spanOf, type StripLook } from './strip';
import { shorten, shortenMiddle, textWidth } from './text';

/** The font families of the page, as CSS lists. */
export interface Fonts {
  ui: string;
  code: string;
}

/** What a node shows besides its numbers. */
export interface Face {
  title: string;
  note: string;
  shape: readonly number[] | null;
  /** The size of the batch axis, drawn muted where a shape begins with it. */
  batch: number;
  colour: string;
  dashed: boolean;
  /** A second border: it stands for a whole module. */
  double: boolean;
  width: number;
  height: number;
  /** Lines of words in place of the numbers. */
  text: readonly string[];
  /** Where the hatch for what is not finite is defined. */
  hatch: string;
}

/** Between lines of words. */
export const LINE = 14;
/** The sign of a finding before a title, and the room that it takes. */
export const SIGN = 12;
export const SIGN_ROOM = SIGN + 4;
export const METER = 44;
/** How high the ground of a header's line is, over which no edge is seen. */
export const HEADER_LINE = 18;
/** Where the gradient's meter begins in a node, and where the number of a meter ends in it. */
export const GRADIENT_X = 132;
export const NUMBER_END = 102;
/** The cells of a strip where a bar would be. */
export const CELLS = 23;

/** A name, a log bar from 10^-3 to 10^4 with a tick at 1, and the number. */
class Meter {
  readonly element: SVGGElement;
  private readonly bar = svg('rect', { y: 25.5, height: 5, class: 'gl-bar' });
  private readonly number: SVGTextElement;
  private readonly tick: SVGPathElement;
  private readonly track: SVGRectElement;
  private readonly name: SVGTextElement;
  private readonly words: SVGTextElement;
  private readonly cells: SVGRectElement[] = [];

  constructor(
    private readonly x: number,
    name: string,
    private readonly kind: 'value' | 'gradient',
    private readonly hatch: string,
    right: number
  ) {
    const zero = x + 10 + (-LOW / (HIGH - LOW)) * METER;
    this.name = svg('text', { x, y: 32, class: 'gl-quiet' }, name);
    this.track = svg('rect', { x: x + 10, y: 25.5, width: METER, height: 5, class: 'gl-track' });
    this.tick = svg('path', { d: `M${zero} 24v8`, class: 'gl-tick' });
    this.number = svg('text', { x: x + NUMBER_END, y: 32, class: `gl-mono gl-end ${kind === 'value' ? 'gl-v' : 'gl-g'}` });
    this.words = svg('text', { x: right, y: 32, class: 'gl-quiet gl-end' });
    set(this.bar, 'x', x + 10);
    this.bar.classList.add(`gl-fill-${kind}`);
    this.element = svg('g', {}, this.name, this.track, this.bar, this.tick, this.number, this.words);
  }

  /** A strip of heat in place of the bar: the numbers of everything inside. */
  strip(cells: Float64Array, look: StripLook): void {
    set(this.bar, 'visibility', 'hidden');
    set(this.tick, 'visibility', 'hidden');
    const width = METER / cells.length;
    const span = spanOf(cells);
    cells.forEach((x, i) => {
      const cell = (this.cells[i] ??= this.element.appendChild(svg('rect', { y: 25, height: 6 })));
      set(cell, 'x', (this.x + 10 + i * width).toFixed(1));
      set(cell, 'width', width.toFixed(2));
      set(cell, 'fill', cellColour(x, look, span));
    });
  }

  /** Show a number, or the words for why there is none. */
  update(value: number | null, words = ''): void {
    const none = value === null;
    for (const part of [this.name, this.track, this.bar, this.tick, this.number]) set(part, 'visibility', none ? 'hidden' : null);
    write(this.words, none ? words : '');
    mark(this.number, value);
    if (value === null) return;
    const odd = special(value);
    const part = odd ? 1 : logPart(value, LOW, HIGH);
    set(this.bar, 'width', (Math.max(0.02, Number.isNaN(part) ? 1 : part) * METER).toFixed(1));
    set(this.bar, 'fill', odd ? `url(#${this.hatch})` : null);
    const look = odd ? 'gl-odd' : value === 0 ? `gl-hollow gl-line-${this.kind}` : `gl-fill-${this.kind}`;
    set(this.bar, 'class', `gl-bar ${look}`);
    set(this.bar, 'x', value === 0 ? this.x + 10.5 : this.x + 10);
    if (value === 0) set(this.bar, 'width', METER - 1);
    this.number.classList.toggle('gl-odd-text', odd !== null);
    write(this.number, odd === 'Inf' ? '↑ Inf' : brief(value));
  }
}

/** Put a number of a trace on an element: text short, `data-value` and title in full. */
export function mark(element: Element, value: number | null): void {
  set(element, 'data-value', value === null ? null : full(value));
  set(element, 'title', value === null ? null : full(value));
}

/** The text of a shape with its batch axis muted. */
function shapeSpans(sizes: readonly number[], batch: number): Node[] {
  if (sizes.length === 0 || sizes[0] !== batch) return [document.createTextNode(shapeText(sizes))];
  const text = shapeText(sizes);
  const first = String(sizes[0]);
  return [document.createTextNode('('), svg('tspan', { class: 'gl-batch' }, first), document.createTextNode(text.slice(1 + first.length))];
}

/** One op, input or folded module. */
export class NodeView {
  readonly element: SVGGElement;
  readonly value: Meter | null = null;
  readonly gradient: Meter | null = null;
  private readonly text: SVGTextElement | null = null;
  private readonly lead = svg('tspan');
  private readonly number = svg('tspan', { class: 'gl-mono gl-v' });
  private readonly rest = svg('tspan');
  private readonly note: SVGTSpanElement;
  private readonly title: SVGTextElement;
  private readonly room: number;
  private readonly titleFont: string;
  private sign: SVGElement | null = null;

  constructor(
    private readonly face: Face,
    private readonly fonts: Fonts
  ) {
    const { width } = face;
    const inset = face.double ? 4 : 0.5;
    const narrow = width <= CHIP_WIDTH;
    const shapeFont = `11px ${fonts.code}`;
    const shape = svg('text', { x: width - (narrow ? 8 : 10), y: 16, class: 'gl-mono gl-end' });
    let shapeWidth = 0;
    if (face.shape) {
      const most = width * 0.5;
      const whole = shapeText(face.shape);
      const cut = shorten(whole, most, shapeFont);
      if (cut === whole) shape.append(...shapeSpans(face.shape, face.batch));
      else shape.append(cut);
      shapeWidth = textWidth(cut, shapeFont) + (narrow ? 4 : 8);
    }
    this.room = width - (narrow ? 20 : 24) - shapeWidth;
    this.titleFont = `600 ${narrow ? 11.5 : 12.5}px ${fonts.ui}`;
    this.title = svg('text', { x: narrow ? 12 : 14, y: 16, class: narrow ? 'gl-title gl-narrow' : 'gl-title' });
    this.note = svg('tspan', { class: 'gl-note', dx: 6 });
    this.element = svg(
      'g',
      { class: `gl-node${face.dashed ? ' gl-dashed' : ''}` },
      svg('rect', { x: 0.5, y: 0.5, width: width - 1, height: face.height - 1, class: 'gl-face' }),
      face.double && svg('rect', { x: 3.5, y: 3.5, width: width - 7, height: face.height - 7, class: 'gl-inner' }),
      svg('rect', { x: inset, y: inset, width: 4, height: face.height - 2 * inset, class: `gl-kind-${face.colour}` }),
      this.title,
      shape
    );
    if (face.text.length > 0)
      face.text.forEach((line, i) => this.element.append(svg('text', { x: 14, y: 32 + i * LINE, class: 'gl-quiet' }, line)));
    else if (!narrow) {
      this.value = new Meter(14, 'v', 'value', face.hatch, width - 10);
      this.gradient = new Meter(GRADIENT_X, 'g', 'gradient', face.hatch, width - 10);
      this.element.append(this.value.element, this.gradient.element);
    } else {
      this.text = svg('text', { x: 12, y: 32, class: 'gl-quiet' }, this.lead, this.number, this.rest);
      this.element.append(this.text);
    }
    this.name(face.note, '');
  }

  /** Write title and note as far as they fit, after the sign of what was found; the note of a selected node says where it was made. */
  name(note: string, kind: string, severity?: Severity): void {
    const noteFont = `11px ${this.fonts.ui}`;
    const inset = this.face.width <= CHIP_WIDTH ? 12 : 14;
    const room = this.room - (severity ? SIGN_ROOM : 0);
    this.sign?.remove();
    this.sign = placedSign(this.element, severity, inset, 5.5);
    set(this.title, 'x', inset + this.room - room);
    const title = shorten(this.face.title, room, this.titleFont);
    const left = room - textWidth(title, this.titleFont) - 6;
    const shown = note && left > 20 ? shorten(note, left, noteFont) : '';
    this.title.replaceChildren(title);
    if (shown && shown !== '…') {
      this.note.textContent = shown;
      this.note.setAttribute('class', `gl-note ${kind}`);
      this.title.append(this.note);
    }
  }

  /** Numbers, or the words that stand for a missing gradient; without words, a number alone has its name. */
  update(value: number | null, gradient: number | null, words: string): void {
    if (this.value && this.gradient) {
      this.value.update(value, '');
      this.gradient.update(gradient, words);
      return;
    }
    if (!this.text) return;
    mark(this.number, value);
    write(this.number, value === null ? '' : plain(value));
    write(this.lead, value === null || words ? '' : '‖v‖ ');
    write(this.rest, value === null || !words ? words : ` · ${words}`);
  }
}

/** The heat of everything that a repeat does, over the line that says which of it is shown. */
export class RepeatView {
  readonly element = svg('g', { class: 'gl-slider', role: 'slider', tabindex: 0 });
  private readonly cells: SVGRectElement[][] = [[], []];
  private readonly text: SVGTextElement;
  private readonly marker: SVGRectElement;

  constructor(
    private readonly geometry: { x: number; width: number },
    index: number,
    private readonly count: number,
    name: string
  ) {
    const { x, width } = geometry;
    this.text = svg('text', { x: x + width + 8, y: 35, class: 'gl-mono' }, `${countText(index + 1)} of ${countText(count)}`);
    this.marker = svg('rect', {
      class: 'gl-marker',
      x: x + (index / count) * width - 1,
      y: 22,
      width: Math.max(3, width / count + 2),
      height: 18
    });
    this.element.append(svg('rect', { class: 'gl-hit', x, y: 20, width, height: 22 }), this.marker, this.text);
    const says = { label: `${name}: which time is shown`, valuemin: 1, valuemax: count, valuenow: index + 1 };
    for (const [key, value] of Object.entries(says)) set(this.element, `aria-${key}`, value);
  }

  /** Which stretch is under a pixel of the box. */
  indexAt(x: number): number {
    const { geometry, count } = this;
    return Math.max(0, Math.min(count - 1, Math.floor(((x - geometry.x) / geometry.width) * count)));
  }

  update(values: Float64Array, gradients: Float64Array, look: StripLook): void {
    [values, gradients].forEach((cells, row) => {
      const width = this.geometry.width / cells.length;
      const span = spanOf(cells);
      cells.forEach((x, i) => {
        const cell = ((this.cells[row] as SVGRectElement[])[i] ??= this.element.insertBefore(svg('rect', { height: 6 }), this.marker));
        set(cell, 'x', (this.geometry.x + i * width).toFixed(1));
        set(cell, 'y', 24 + row * 8);
        set(cell, 'width', width.toFixed(2));
        set(cell, 'fill', cellColour(x, look, span));
      });
    });
  }
}

/** A parameter beside the op that reads it; its norms are on the element and in the tooltip. */
export class ChipView {
  readonly element: SVGGElement;
  private readonly value = svg('desc', { class: 'gl-v' });
  private readonly gradient = svg('desc', { class: 'gl-g' });
  private readonly title = svg('text', { y: 14 });
  private readonly room: number;
  private sign: SVGSVGElement | null = null;

  constructor(
    private readonly name: string,
    shape: readonly number[] | null,
    past: boolean,
    height: number,
    private readonly fonts: Fonts
  ) {
    const size = shape === null ? '' : shape.length === 0 ? '1' : shape.join('×');
    const sizeText = shorten(size, CHIP_WIDTH * 0.55, `11px ${fonts.code}`);
    this.room = CHIP_WIDTH - 19 - (size ? textWidth(sizeText, `11px ${fonts.code}`) + 6 : 0);
    this.element = svg(
      'g',
      { class: `gl-chip${past ? ' gl-dashed' : ''}` },
      svg('rect', { x: 0.5, y: 0.5, width: CHIP_WIDTH - 1, height: height - 1, rx: 9.5, class: 'gl-face' }),
      this.title,
      svg('text', { x: CHIP_WIDTH - 9, y: 14, class: 'gl-mono gl-end' }, sizeText),
      this.value,
      this.gradient
    );
    this.found();
  }

  /** Write the name, after the sign of what was found. */
  found(severity?: Severity): void {
    this.sign?.remove();
    this.sign = placedSign(this.element, severity, 8, 4);
    const used = severity ? SIGN_ROOM - 2 : 0;
    set(this.title, 'x', 10 + used);
    this.title.textContent = shortenMiddle(this.name, this.room - used, `11px ${this.fonts.ui}`);
  }

  update(value: number | null, gradient: number | null): void {
    mark(this.value, value);
    mark(this.gradient, gradient);
  }
}

/** The sign of what was found, in a node or chip. */
function placedSign(into: SVGGElement, severity: Severity | undefined, x: number, y: number): SVGSVGElement | null {
  if (!severity) return null;
  const sign = into.appendChild(severitySign(severity, SIGN, true));
  set(sign, 'x', x);
  set(sign, 'y', y);
  return sign;
}

/** The box of an open module: name, how it was made, and the time its ops took. */
export class BoxView {
  readonly element: SVGGElement;
  /** Name and times; drawn over the edges. */
  readonly header: SVGGElement;
  private readonly times: SVGTextElement;
  private readonly ground = svg('rect', { y: 2, height: HEADER_LINE, class: 'gl-ground' });

  constructor(
    name: string,
    detail: string,
    private readonly left: number,
    private readonly width: number,
    height: number,
    head: number,
    private readonly fonts: Fonts
  ) {
    const title = shorten(name, width * 0.5, `600 11px ${fonts.ui}`);
    const used = textWidth(title, `600 11px ${fonts.ui}`);
    const note = shorten(detail, Math.max(0, width - left - 140 - used), `11px ${fonts.ui}`);
    const tall = head - ARROW_ROOM - 2;
    const strip = tall > HEADER_LINE;
    const wide = strip ? width - 4 : used + textWidth(note, `11px ${fonts.ui}`) + 14;
    this.times = svg('text', { x: width - left, y: 14, class: 'gl-quiet gl-end' });
    this.element = svg(
      'g',
      { class: 'gl-box' },
      svg('rect', { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 3, class: 'gl-boxface' })
    );
    this.header = svg(
      'g',
      { class: 'gl-boxhead', role: 'button', tabindex: -1, 'aria-expanded': 'true' },
      svg('rect', { x: strip ? 2 : left - 4, y: 2, width: wide, height: tall, class: 'gl-ground' }),
      this.ground,
      svg('rect', { x: 0.5, y: 0.5, width: width - 1, height: 20, class: 'gl-hit' }),
      svg('text', { x: left, y: 14, class: 'gl-strong' }, title, svg('tspan', { dx: 6, class: 'gl-note' }, note)),
      this.times
    );
  }

  update(text: string): void {
    write(this.times, text);
    const wide = textWidth(text, `11px ${this.fonts.ui}`) + 8;
    set(this.ground, 'x', (this.width - this.left - wide + 4).toFixed(1));
    set(this.ground, 'width', wide.toFixed(1));
  }
}
