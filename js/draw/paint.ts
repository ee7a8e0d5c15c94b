/** Nodes, chips, boxes and edges on a canvas, as `node.ts` and the style sheet draw them in SVG. */

import { ARROW_ROOM, CHIP_HEIGHT, CHIP_WIDTH, NODE_HEIGHT } from './geometry';
import { count, brief, plain, shape as shapeText, special } from './format';
import { GRADIENT_X, HEADER_LINE, METER, NUMBER_END, SIGN, SIGN_ROOM, type Fonts } from './node';
import { logPart } from './scale';
import { SIGNS, type Severity } from './severity';
import { cellColour, HIGH, LOW, spanOf, type StripLook } from './strip';
import { shorten, shortenMiddle, textWidth } from './text';

export type Colour = (name: string) => string;

/** Letters smaller than this many pixels can't be read, and are left out. */
const SMALLEST = 8;

/** How a node looks now. */
export interface NodeLook {
  selected: boolean;
  failed: boolean;
  dashed: boolean;
  double: boolean;
  fresh: boolean;
  now: boolean;
  /** What was found there, at its worst. */
  found: Severity | undefined;
}

/** What a node says. */
export interface NodeText {
  title: string;
  note: string;
  /** Whether the note says where the op was made. */
  link: boolean;
  shape: readonly number[] | null;
  batch: number;
  colour: string;
  text: string;
  value: number | null;
  gradient: number | null;
  words: string;
  strips: [Float64Array, Float64Array] | null;
}

/** Draws in the coordinates of a layout; letters only where they are large enough. */
export class Painter {
  readonly letters: boolean;

  constructor(
    private readonly ctx: CanvasRenderingContext2D,
    private readonly colour: Colour,
    private readonly fonts: Fonts,
    private readonly strip: StripLook,
    private readonly zoom: number
  ) {
    this.letters = zoom * 11 >= SMALLEST;
  }

  private text(text: string, x: number, y: number, colour: string, font: string, end = false): void {
    const { ctx } = this;
    ctx.font = font;
    ctx.textAlign = end ? 'right' : 'left';
    ctx.fillStyle = this.colour(colour);
    ctx.fillText(text, x, y);
  }

  private rect(x: number, y: number, width: number, height: number, fill: string, stroke = '', line = 1, radius = 0): void {
    const { ctx } = this;
    ctx.beginPath();
    if (radius) ctx.roundRect(x, y, width, height, radius);
    else ctx.rect(x, y, width, height);
    if (fill) {
      ctx.fillStyle = this.colour(fill);
      ctx.fill();
    }
    if (stroke) {
      ctx.strokeStyle = this.colour(stroke);
      ctx.lineWidth = line;
      ctx.stroke();
    }
  }

  private ui(size: number, weight = 400): string {
    return `${weight} ${size}px ${this.fonts.ui}`;
  }

  private code(size: number): string {
    return `${size}px ${this.fonts.code}`;
  }

  node(x: number, y: number, width: number, say: NodeText, look: NodeLook): void {
    const { ctx } = this;
    const [strong, border] = look.failed
      ? [true, '--gl-error']
      : look.selected || look.now
        ? [true, look.now ? '--gl-grad' : '--gl-brand']
        : look.fresh
          ? [true, '--gl-ok']
          : [false, '--gl-border1'];
    if (look.dashed && !strong) ctx.setLineDash([4, 3]);
    this.rect(x + 0.5, y + 0.5, width - 1, NODE_HEIGHT - 1, look.selected ? '--gl-select' : '--gl-layout', border, strong ? 2 : 1);
    ctx.setLineDash([]);
    const inset = look.double ? 4 : 0.5;
    if (look.double) this.rect(x + 3.5, y + 3.5, width - 7, NODE_HEIGHT - 7, '', '--gl-border1');
    this.rect(x + inset, y + inset, 4, NODE_HEIGHT - 2 * inset, KINDS[say.colour] ?? '--gl-shape');
    const narrow = width <= CHIP_WIDTH;
    if (!narrow && !say.text) {
      this.meter(x + 14, y, say.value, '--gl-value', say.strips?.[0], '', 'v', x + width - 10);
      this.meter(x + GRADIENT_X, y, say.gradient, '--gl-grad', say.strips?.[1], say.words, 'g', x + width - 10);
    }
    if (!this.letters) return;
    const right = x + width - (narrow ? 8 : 10);
    let room = width - (narrow ? 20 : 24);
    if (say.shape) {
      const font = this.code(11);
      const whole = shapeText(say.shape);
      const cut = shorten(whole, width * 0.5, font);
      const size = textWidth(cut, font);
      this.text(cut, right, y + 16, '--gl-text1', font, true);
      const first = String(say.shape[0]);
      if (cut === whole && say.shape[0] === say.batch) {
        const left = right - size + textWidth('(', font);
        this.rect(left, y + 5, textWidth(first, font), 13, look.selected ? '--gl-select' : '--gl-layout');
        this.text(first, left, y + 16, '--gl-batch', font);
      }
      room -= size + (narrow ? 4 : 8);
    }
    const titleFont = this.ui(narrow ? 11.5 : 12.5, 600);
    const at = x + (narrow ? 12 : 14);
    const signed = this.sign(look.found, at, y + 5.5);
    room -= signed;
    const left = at + signed;
    const title = shorten(say.title, room, titleFont);
    this.text(title, left, y + 16, '--gl-text1', titleFont);
    const used = textWidth(title, titleFont) + 6;
    if (say.note && room - used > 20) {
      this.text(shorten(say.note, room - used, this.ui(11)), left + used, y + 16, say.link ? '--gl-link' : '--gl-text2', this.ui(11));
    }
    if (say.text) this.text(shorten(say.text, width - 24, this.ui(11)), at, y + 32, '--gl-text2', this.ui(11));
    else if (narrow) {
      const words = say.value === null ? say.words : say.words ? `${plain(say.value)} · ${say.words}` : `‖v‖ ${plain(say.value)}`;
      this.text(words, at, y + 32, '--gl-text2', this.ui(11));
    }
  }

  /** The sign of what was found, and the room that it takes. */
  private sign(severity: Severity | undefined, x: number, y: number): number {
    if (!severity) return 0;
    const { ctx } = this;
    const [outline, inside] = SIGNS[severity].map(path => new Path2D(path)) as [Path2D, Path2D];
    const warns = severity === 'warning';
    ctx.save();
    ctx.translate(x, y);
    ctx.scale(SIGN / 16, SIGN / 16);
    ctx.fillStyle = warns ? '#e69f00' : this.colour(`--gl-${severity}`);
    ctx.fill(outline);
    ctx.lineWidth = 1;
    ctx.strokeStyle = this.colour('--gl-warn-edge');
    if (warns) ctx.stroke(outline);
    ctx.lineWidth = 1.8;
    ctx.lineCap = 'round';
    ctx.strokeStyle = warns ? '#1f1600' : this.colour('--gl-icon');
    ctx.stroke(inside);
    ctx.restore();
    return SIGN_ROOM;
  }

  private meter(
    x: number,
    y: number,
    value: number | null,
    colour: string,
    cells: Float64Array | undefined,
    words: string,
    name: string,
    right: number
  ): void {
    if (value === null) {
      if (words && this.letters) this.text(words, right, y + 32, '--gl-text2', this.ui(11), true);
      return;
    }
    const odd = special(value);
    if (cells) this.cells(x + 10, y + 25, METER, cells);
    else {
      this.rect(x + 10, y + 25.5, METER, 5, '--gl-track');
      if (value === 0) this.rect(x + 10.5, y + 26, METER - 1, 4, '--gl-layout', colour);
      else this.rect(x + 10, y + 25.5, odd ? METER : Math.max(0.02, logPart(value, LOW, HIGH) || 0) * METER, 5, odd ? '--gl-odd' : colour);
      this.rect(x + 9.5 + (-LOW / (HIGH - LOW)) * METER, y + 24, 1, 8, '--gl-text2');
    }
    if (!this.letters) return;
    this.text(name, x, y + 32, '--gl-text2', this.ui(11));
    const font = odd ? `700 ${this.code(11)}` : this.code(11);
    this.text(odd === 'Inf' ? '↑ Inf' : brief(value), x + NUMBER_END, y + 32, odd ? '--gl-odd' : '--gl-text1', font, true);
  }

  /** A strip of heat. */
  cells(x: number, y: number, width: number, cells: Float64Array): void {
    const one = width / cells.length;
    const span = spanOf(cells);
    cells.forEach((size, i) => {
      this.ctx.fillStyle = cellColour(size, this.strip, span);
      this.ctx.fillRect(x + i * one, y, one + 0.2, 6);
    });
  }

  chip(x: number, y: number, title: string, sizes: readonly number[] | null, past: boolean, hot: boolean, found?: Severity): void {
    const { ctx } = this;
    if (past) ctx.setLineDash([4, 3]);
    const border = past ? '--gl-edge' : '--gl-param';
    this.rect(x + 0.5, y + 0.5, CHIP_WIDTH - 1, CHIP_HEIGHT - 1, past ? '' : '--gl-param-bg', border, hot ? 2 : 1, 9.5);
    ctx.setLineDash([]);
    if (!this.letters) return;
    const size = sizes === null ? '' : sizes.length === 0 ? '1' : sizes.join('×');
    const cut = shorten(size, CHIP_WIDTH * 0.55, this.code(11));
    const used = this.sign(found, x + 8, y + 4) - (found ? 2 : 0);
    const room = CHIP_WIDTH - 19 - used - (size ? textWidth(cut, this.code(11)) + 6 : 0);
    this.text(shortenMiddle(title, room, this.ui(11)), x + 10 + used, y + 14, '--gl-text1', this.ui(11));
    this.text(cut, x + CHIP_WIDTH - 9, y + 14, '--gl-text1', this.code(11), true);
  }

  box(x: number, y: number, width: number, height: number): void {
    this.rect(x + 0.5, y + 0.5, width - 1, height - 1, '--gl-sunk', '--gl-frame', 1, 3);
  }

  /** The header of a box, `head` pixels high: no edge that goes into the box is seen under its letters and its strip. */
  header(x: number, y: number, width: number, head: number, name: string, note: string, time: string): void {
    const tall = head - ARROW_ROOM - 2;
    if (tall > HEADER_LINE) this.rect(x + 2, y + 2, width - 4, tall, '--gl-sunk');
    if (!this.letters) return;
    const title = shorten(name, width * 0.5, this.ui(11, 600));
    const used = textWidth(title, this.ui(11, 600)) + 6;
    const says = shorten(note, Math.max(0, width - 156 - used), this.ui(11));
    const late = textWidth(time, this.ui(11)) + 8;
    this.rect(x + 12, y + 2, used + textWidth(says, this.ui(11)) + 8, HEADER_LINE, '--gl-sunk');
    this.rect(x + width - 12 - late, y + 2, late, HEADER_LINE, '--gl-sunk');
    this.text(title, x + 16, y + 14, '--gl-text1', this.ui(11, 600));
    this.text(says, x + 16 + used, y + 14, '--gl-text2', this.ui(11));
    this.text(time, x + width - 16, y + 14, '--gl-text2', this.ui(11), true);
  }

  slider(x: number, y: number, width: number, rows: [Float64Array, Float64Array], index: number, times: number): void {
    rows.forEach((cells, row) => this.cells(x, y + 24 + row * 8, width, cells));
    this.rect(x + (index / times) * width - 1, y + 22, Math.max(3, width / times + 2), 18, '', '--gl-text1', 1.5);
    if (this.letters) this.text(`${count(index + 1)} of ${count(times)}`, x + width + 8, y + 35, '--gl-text1', this.code(11));
  }

  /** Edges of one look, in one stroke. */
  edges(all: readonly (readonly [number, number][])[], colour: string, line: number, dashed: boolean, heads: boolean): void {
    if (all.length === 0) return;
    const { ctx } = this;
    const round = this.zoom > 0.4;
    ctx.beginPath();
    for (const points of all) {
      const last = points.length - 1;
      points.forEach(([x, y], i) => {
        if (i === 0) ctx.moveTo(x, y);
        else if (i < last && round) {
          const [nx, ny] = points[i + 1] as [number, number];
          ctx.arcTo(x, y, nx, ny, 4);
        } else ctx.lineTo(x, heads && i === last ? y - 4 * Math.sign(y - (points[i - 1] as [number, number])[1]) : y);
      });
    }
    if (dashed) ctx.setLineDash([4, 3]);
    ctx.strokeStyle = this.colour(colour);
    ctx.lineWidth = line;
    ctx.stroke();
    ctx.setLineDash([]);
    if (!heads || this.zoom < 0.3) return;
    ctx.beginPath();
    for (const points of all) {
      const [x, y] = points.at(-1) as [number, number];
      const down = Math.sign(y - (points.at(-2) as [number, number])[1]) || 1;
      ctx.moveTo(x - 4, y - 6 * down);
      ctx.lineTo(x, y);
      ctx.lineTo(x + 4, y - 6 * down);
    }
    ctx.fillStyle = this.colour(colour);
    ctx.fill();
  }
}

/** The colour of each kind. */
export const KINDS: Record<string, string> = {
  matmul: '--gl-matmul',
  elementwise: '--gl-elementwise',
  reduce: '--gl-reduce',
  shape: '--gl-shape',
  input: '--gl-shape',
  loss: '--gl-loss',
  parameter: '--gl-param'
};
