/** Text cut to the pixels there are. */

/** Longer names are cut before they are measured: a name may have 5,000 letters. */
const MOST = 200;
const widths = new Map<string, number>();
let pen: CanvasRenderingContext2D | null | undefined;

/** How wide a text is in a CSS font, in pixels; an estimate where there is no canvas. */
export function textWidth(text: string, font: string): number {
  const key = `${font} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  pen ??= document.createElement('canvas').getContext('2d');
  let width: number;
  if (pen) {
    pen.font = font;
    width = pen.measureText(text).width;
  } else {
    width = text.length * 0.6 * Number(/(\d+(\.\d+)?)px/.exec(font)?.[1] ?? 12);
  }
  if (widths.size > 5000) widths.clear();
  widths.set(key, width);
  return width;
}

/** The text itself where it fits, else as much of its beginning as fits with an ellipsis. */
export function shorten(text: string, width: number, font: string): string {
  const letters = Array.from(text.slice(0, MOST));
  if (text.length <= MOST && textWidth(text, font) <= width) return text;
  let low = 0;
  let high = letters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${letters.slice(0, middle).join('')}…`, font) <= width) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join('').trimEnd()}…`;
}
