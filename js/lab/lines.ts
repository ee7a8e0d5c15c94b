/** Where the lines of a cell that ran stand in its text of now. */

/** More pairs of lines than these are not compared one by one. */
const MOST_PAIRS = 1_000_000;

/**
 * For each line that ran (counted from 1, entry 0 is unused) its number now; null where it was edited or is gone.
 *
 * A line counts as the same one where the lines that did not change are in the same order.
 */
export function follow(ran: string, now: string): (number | null)[] {
  const [a, b] = [ran.split('\n'), now.split('\n')];
  const found: (number | null)[] = new Array<number | null>(a.length + 1).fill(null);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) found[start + 1] = ++start;
  let [aEnd, bEnd] = [a.length, b.length];
  while (aEnd > start && bEnd > start && a[aEnd - 1] === b[bEnd - 1]) {
    found[aEnd] = bEnd;
    aEnd--;
    bEnd--;
  }
  for (const [i, j] of common(a.slice(start, aEnd), b.slice(start, bEnd))) found[start + i + 1] = start + j + 1;
  return found;
}

/** The longest sequence of lines that both have, as pairs of indices. */
function common(a: readonly string[], b: readonly string[]): [number, number][] {
  const [rows, columns] = [a.length, b.length];
  if (rows * columns === 0 || rows * columns > MOST_PAIRS) return [];
  const width = columns + 1;
  const length = new Uint32Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      const [down, right] = [length[(i + 1) * width + j] as number, length[i * width + j + 1] as number];
      length[i * width + j] = a[i] === b[j] ? (length[(i + 1) * width + j + 1] as number) + 1 : Math.max(down, right);
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < rows && j < columns;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if ((length[(i + 1) * width + j] as number) >= (length[i * width + j + 1] as number)) i++;
    else j++;
  }
  return pairs;
}

/** How many lines stand above `piece` in what ran, where a cell was split and this is one of its parts; else null. */
export function pieceOf(ran: string, piece: string): number | null {
  const text = piece.replace(/^\n+|\n+$/g, '');
  if (text.trim() === '') return null;
  const at = `\n${ran}\n`.indexOf(`\n${text}\n`);
  const blank = piece.length - piece.replace(/^\n+/, '').length;
  return at < 0 ? null : ran.slice(0, at).split('\n').length - 1 - blank;
}

/** About where a line stands now that was edited: below the nearest line above that is still there. */
export function guess(places: readonly (number | null)[], line: number): number {
  for (let above = line - 1; above > 0; above--) {
    const now = places[above];
    if (now !== null && now !== undefined) return now + (line - above);
  }
  return line;
}
