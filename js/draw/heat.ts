/** A heat map of rows over steps, painted pixel by pixel. */

import { stepAt, type StepAxis } from './scale';

/** What a map is painted from: `cell` gives the number of one row in one span. */
export interface HeatInput {
  rows: number;
  first: Int32Array;
  last: Int32Array;
  size: number;
  cell: (row: number, span: number) => number;
  /** Whether a missing number of that row and span is a number that was not finite. */
  odd: (row: number, span: number) => boolean;
  /** Whether the gradients of a span were read: where they were not, the row goes on as it was until the next that was. */
  read: (span: number) => boolean;
}

/** So many spans that were read may lack a number and the row goes on: larger parameters are measured in every tenth step. */
const LONGEST_GAP = 12;

export interface HeatLook {
  colours: Uint32Array;
  low: number;
  high: number;
  /** Whether `low` and `high` are numbers, not decades. */
  linear?: boolean;
  empty: number;
  /** After the last span that was read. */
  unread: number;
  odd: number;
}

/** The colour of a number on a logarithmic scale, or a linear one; below and above it is clipped to the ends. */
export function heatColour(x: number, look: HeatLook): number {
  if (!(x > 0)) return look.colours[0] as number;
  const t = ((look.linear ? x : Math.log10(x)) - look.low) / (look.high - look.low);
  return look.colours[Math.max(0, Math.min(255, Math.round(t * 255)))] as number;
}

/** For every pixel of the axis the first and last span under it; -1 where there is none. */
export function spansUnder(input: HeatInput, axis: StepAxis, pixels: number): Int32Array {
  const out = new Int32Array(pixels * 2).fill(-1);
  const per = axis.width / pixels;
  let s = 0;
  for (let p = 0; p < pixels; p++) {
    const from = stepAt(axis, p * per);
    const to = Math.max(from, stepAt(axis, (p + 1) * per - 1e-6));
    while (s < input.size && (input.last[s] as number) < from) s++;
    let e = s;
    while (e < input.size && (input.first[e] as number) <= to) e++;
    if (e > s) {
      out[2 * p] = s;
      out[2 * p + 1] = e - 1;
    }
  }
  return out;
}

/** One row of packed colours for each row of the map; of several spans under a pixel the highest shows. */
export function heatPixels(input: HeatInput, axis: StepAxis, pixels: number, look: HeatLook): Uint32Array {
  const under = spansUnder(input, axis, pixels);
  const out = new Uint32Array(input.rows * pixels);
  let known = input.size - 1;
  while (known > 0 && !input.read(known)) known--;
  if (input.size - known <= LONGEST_GAP) known = input.size;
  for (let row = 0; row < input.rows; row++) {
    let held = look.empty;
    let [missing, newest] = [0, -1];
    for (let p = 0; p < pixels; p++) {
      const from = under[2 * p] as number;
      let colour = look.empty;
      if (from >= 0) {
        let best = -Infinity;
        let odd = false;
        for (let s = from; s <= (under[2 * p + 1] as number); s++) {
          const x = input.cell(row, s);
          if (Number.isFinite(x)) best = Math.max(best, x);
          else if (x === Infinity || input.odd(row, s)) odd = true;
          else if (s > newest && input.read(s)) missing++;
          newest = s;
        }
        if (odd) held = look.empty;
        else if (best > -Infinity) [held, missing] = [heatColour(best, look), 0];
        else if (from > known) held = look.unread;
        colour = odd ? look.odd : missing > LONGEST_GAP ? look.empty : held;
      }
      out[row * pixels + p] = colour;
    }
  }
  return out;
}

/** Paint the map; rows are `rowHeight` high with a gap of one pixel below each. */
export function paintHeat(canvas: HTMLCanvasElement, input: HeatInput, axis: StepAxis, rowHeight: number, look: HeatLook): void {
  const ratio = window.devicePixelRatio || 1;
  const height = input.rows * rowHeight;
  const [w, h] = [Math.max(1, Math.round(axis.width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.width = `${axis.width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext('2d');
  if (!pen) return;
  pen.clearRect(0, 0, w, h);
  const pixels = heatPixels(input, axis, w, look);
  const image = pen.createImageData(w, h);
  const data = new Uint32Array(image.data.buffer);
  for (let row = 0; row < input.rows; row++) {
    const line = pixels.subarray(row * w, (row + 1) * w);
    const bottom = Math.round(((row + 1) * rowHeight - 1) * ratio);
    for (let y = Math.round(row * rowHeight * ratio); y < bottom; y++) data.set(line, y * w);
  }
  hatch(data, w, h, look);
  pen.putImageData(image, 0, 0);
}

/** Lines through what was not finite, and through what was not read, so that both read without their colours. */
function hatch(data: Uint32Array, w: number, h: number, look: HeatLook): void {
  const white = 0xffffffff;
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      if (data[y * w + x] === look.odd && (x + y) % 7 === 0) data[y * w + x] = white;
      if (data[y * w + x] === look.unread && (x + y) % 5 > 0) data[y * w + x] = look.empty;
    }
  }
}
