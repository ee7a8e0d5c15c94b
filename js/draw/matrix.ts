/** A window into an array, one cell an entry: colours by size, glyphs for what is no ordinary number. */

import { css } from './colour';
import { plain, sci, special } from './format';
import { textWidth } from './text';

/** Entries in rows; `low` and `high` are those of the whole array, so that colours stay while the window moves. */
export interface Matrix {
  values: Float64Array;
  rows: number;
  columns: number;
  low: number | null;
  high: number | null;
}

export interface MatrixLook {
  signed: Uint32Array;
  sequential: Uint32Array;
  ground: string;
  /** The frame of a zero, and its number. */
  quiet: string;
  text: string;
  odd: string;
  font: string;
}

/** A vector is shown in rows of this length. */
const WRAP = 64;
/** Windows up to this many rows and columns are written out in numbers. */
const WRITTEN = 8;
/** A map is at least as wide as its captions, and not much higher than this, in pixels. */
const NARROWEST = 240;
const HIGHEST = 240;

/** The same entries with a vector wrapped into rows. */
export function wrapped(matrix: Matrix): Matrix {
  if (matrix.rows !== 1 || matrix.columns <= WRAP) return matrix;
  return { ...matrix, rows: Math.ceil(matrix.columns / WRAP), columns: WRAP };
}

/** Whether a scale needs two sides. */
export function isSigned(matrix: Pick<Matrix, 'low'>): boolean {
  return (matrix.low ?? 0) < 0;
}

/** How far along its scale a number stands, 0 to 1: by the square root, so that small entries show. */
export function part(x: number, low: number, high: number): number {
  if (low < 0) return 0.5 + 0.5 * Math.sign(x) * Math.sqrt(Math.min(1, Math.abs(x) / Math.max(-low, high)));
  return high > low ? Math.sqrt(Math.min(1, Math.max(0, (x - low) / (high - low)))) : 0.5;
}

/** The size of a cell in a room of that width; thin columns become wider, so that the map is as wide as what stands below it. */
export function cellSize(matrix: Matrix, width: number): [number, number] {
  const columns = Math.max(1, matrix.columns);
  const written = matrix.rows <= WRITTEN && columns <= WRITTEN;
  const w = Math.min(width, Math.max(NARROWEST, columns * (written ? 64 : 18))) / columns;
  return [w, written ? 22 : Math.min(Math.max(w, matrix.rows < WRITTEN ? 10 : 4), 14, Math.max(3, HIGHEST / matrix.rows))];
}

function hatch(pen: CanvasRenderingContext2D, x: number, y: number, w: number, h: number): void {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, w, h);
  pen.clip();
  pen.beginPath();
  for (let at = -h; at < w; at += 4) {
    pen.moveTo(x + at, y + h);
    pen.lineTo(x + at + h, y);
  }
  pen.strokeStyle = '#fff';
  pen.stroke();
  pen.restore();
}

/** How bright a packed colour is, as WCAG 2 reckons it: 0 for black, 1 for white. */
function luminance(packed: number): number {
  const linear = (shift: number) => {
    const c = ((packed >> shift) & 255) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(0) + 0.7152 * linear(8) + 0.0722 * linear(16);
}

/** Black or white, whichever has the higher contrast to a colour: at least 4.58:1. */
export function ink(packed: number): string {
  const l = luminance(packed);
  return (l + 0.05) / 0.05 > 1.05 / (l + 0.05) ? '#000' : '#fff';
}

/** Paint a wrapped matrix; zeros are hollow, what is not finite is hatched and, where there is room, named. */
export function paintMatrix(canvas: HTMLCanvasElement, matrix: Matrix, width: number, look: MatrixLook): void {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = cellSize(matrix, width);
  canvas.style.width = `${w * matrix.columns}px`;
  canvas.style.height = `${h * matrix.rows}px`;
  canvas.width = Math.max(1, Math.round(w * matrix.columns * ratio));
  canvas.height = Math.max(1, Math.round(h * matrix.rows * ratio));
  const pen = canvas.getContext('2d');
  if (!pen) return;
  const table = isSigned(matrix) ? look.signed : look.sequential;
  const [low, high] = [matrix.low ?? 0, matrix.high ?? 0];
  pen.font = look.font;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  // Numbers stand in all cells or in none, and not so close that two read as one.
  const numbers = matrix.values.filter(Number.isFinite);
  const short = (x: number) => sci(x, 1);
  const written = h < 20 ? undefined : [plain, short].find(of => numbers.every(x => textWidth(of(x), look.font) + 7 <= w));
  const edge = (x: number) => Math.round(x * ratio) / ratio;
  matrix.values.forEach((x, k) => {
    const [row, column] = [Math.floor(k / matrix.columns), k % matrix.columns];
    const [left, top] = [edge(column * w), edge(row * h)];
    const [wide, tall] = [edge((column + 1) * w) - left, edge((row + 1) * h) - top];
    const word = special(x);
    const colour = table[Math.round(part(x, low, high) * 255)] as number;
    pen.fillStyle = word !== null ? look.odd : x === 0 ? look.ground : css(colour);
    pen.fillRect(left, top, wide, tall);
    if (word !== null) hatch(pen, left, top, wide, tall);
    else if (x === 0 && wide >= 8) {
      pen.strokeStyle = look.quiet;
      pen.strokeRect(left + 1.5, top + 1.5, wide - 3, tall - 3);
    }
    if (tall < 10) return;
    const arrow = word === 'Inf' ? '↑' : word === 'NaN' ? '' : '↓';
    const texts = word !== null ? [arrow + word, arrow || 'N'] : written ? [written(x)] : [];
    const text = texts.find(one => textWidth(one, look.font) + 2 <= wide);
    if (!text) return;
    if (word !== null) {
      const size = textWidth(text, look.font) + 4;
      pen.fillRect(left + (wide - size) / 2, top + 1, size, tall - 2);
    }
    pen.fillStyle = word !== null ? look.ground : x === 0 ? look.text : ink(colour);
    pen.fillText(text, left + wide / 2, top + tall / 2 + 0.5);
  });
}
