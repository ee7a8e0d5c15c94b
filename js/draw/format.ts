/** Numbers, sizes and shapes as people read them. */

/** The words for what is not a finite number; null for one that is. */
export function special(x: number): string | null {
  if (Number.isNaN(x)) return 'NaN';
  if (x === Infinity) return 'Inf';
  return x === -Infinity ? '−Inf' : null;
}

/** Scientific with `digits` digits: 1.4e3, 2.2e-3. */
export function sci(x: number, digits = 2): string {
  const word = special(x);
  if (word !== null) return word;
  if (x === 0) return '0';
  const [mantissa, exponent] = x.toExponential(digits - 1).split('e');
  return `${mantissa}e${Number(exponent)}`.replace(/^-/, '−');
}

/** Three digits between 0.01 and 1000, scientific outside: 0.044, 17.8, 705, 1.4e3. */
export function plain(x: number): string {
  const word = special(x);
  if (word !== null) return word;
  const size = Math.abs(x);
  if (size === 0) return '0';
  if (size >= 999.5 || size < 0.00995) return sci(x);
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  return x.toFixed(digits).replace(/^-/, '−');
}

/** The same in six letters, where a bar stands before it: 2e-23. */
export function brief(x: number): string {
  const text = plain(x);
  return text.length > 6 ? sci(x, 1) : text;
}

/** A tick of a logarithmic axis, as short as it goes: 0.01, 1, 16, 1e-6. */
export function tick(x: number): string {
  if (x >= 0.01 && x < 10000) return String(Number(x.toPrecision(2)));
  return sci(x, 1);
}

/** Every digit that a float32 holds, in a form that Python and JavaScript read back. */
export function full(x: number): string {
  return Number.isFinite(x) ? String(Number(x.toPrecision(9))) : String(x);
}

/** Bytes in the unit that keeps the number short: 4 B, 1.3 KiB, 16 KiB, 3.2 MiB. */
export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let size = count;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${unit > 0 && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** A time given in microseconds: 34 µs, 1.2 ms, 3.4 s. */
export function duration(us: number): string {
  if (us < 999.5) return `${us < 9.95 && us > 0 ? us.toFixed(1) : Math.round(us)} µs`;
  if (us < 999_500) return `${us < 99_500 ? (us / 1e3).toFixed(1) : Math.round(us / 1e3)} ms`;
  return `${(us / 1e6).toFixed(1)} s`;
}

const thousands = new Intl.NumberFormat('en-US');

/** A count with thousands marked: 9,981. */
export function count(n: number): string {
  return thousands.format(n); // toLocaleString makes a format of its own each time
}

/** A shape as Python writes it: (), (32,), (32, 64). */
export function shape(sizes: readonly number[]): string {
  return sizes.length === 1 ? `(${sizes[0]},)` : `(${sizes.join(', ')})`;
}

/** "1 op", "9 ops". */
export function plural(n: number, word: string): string {
  return `${count(n)} ${word}${n === 1 ? '' : 's'}`;
}
