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

/** The most letters of a text, as `cut` shortens it to a number of them, that fit. */
function most(text: string, width: number, font: string, cut: (letters: string[], n: number) => string): string {
  if (text.length <= MOST && textWidth(text, font) <= width) return text;
  const letters = Array.from(text.length > 2 * MOST ? text.slice(0, MOST) + text.slice(-MOST) : text);
  let low = 0;
  let high = letters.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(cut(letters, middle), font) <= width) low = middle;
    else high = middle - 1;
  }
  return cut(letters, low);
}

/** The text itself where it fits, else as much of its beginning as fits with an ellipsis. */
export function shorten(text: string, width: number, font: string): string {
  return most(text, width, font, (letters, n) => `${letters.slice(0, n).join('').trimEnd()}…`);
}

/** A text in as many lines as it needs, at most `most`: the last one is cut. */
export function wrap(text: string, width: number, font: string, most: number): string[] {
  const lines: string[] = [];
  const words = text.split(' ');
  while (words.length > 0) {
    let n = 1;
    while (n < words.length && textWidth(words.slice(0, n + 1).join(' '), font) <= width) n++;
    if (lines.length === most - 1) n = words.length;
    lines.push(shorten(words.splice(0, n).join(' '), width, font));
  }
  return lines;
}

/** The text itself where it fits, else its beginning and its end: names often differ at their ends only. */
export function shortenMiddle(text: string, width: number, font: string): string {
  return most(text, width, font, (letters, n) => {
    const head = Math.floor(n / 2);
    return `${letters.slice(0, head).join('')}…${letters.slice(letters.length - (n - head)).join('')}`;
  });
}

/** All of a text for a tip; of more than 1,000 letters the two ends, in which names differ. */
export function whole(text: string): string {
  return text.length <= 1000 ? text : `${text.slice(0, 600)} … ${text.slice(-300)} (${text.length} letters)`;
}
