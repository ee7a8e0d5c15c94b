/** History reduced to the pixels there are, without losing a peak. */

/** A column of numbers over the spans `from` to `size` of a history. */
export interface Column {
  first: Int32Array;
  last: Int32Array;
  from?: number;
  size: number;
  low: (span: number) => number;
  high: (span: number) => number;
  end: (span: number) => number;
}

/** Per pixel the lowest, highest and last number of the steps under it; `steps` says where the highest stands. */
export interface Pixels {
  steps: Float64Array;
  low: Float32Array;
  high: Float32Array;
  end: Float32Array;
  /** Whether a number under the pixel was not finite. */
  odd: Uint8Array;
}

/**
 * Reduce a column to at most `most` points in the order of time.
 *
 * Where there are fewer spans than points every span is one point. A point keeps the extremes of its spans, so that a
 * spike of a single step stays as high as it was.
 */
export function decimate(column: Column, most: number): Pixels {
  const start = column.from ?? 0;
  const size = Math.max(0, column.size - start);
  const n = Math.min(size, Math.max(1, Math.floor(most)));
  const floats = () => new Float32Array(n);
  const out: Pixels = { steps: new Float64Array(n), low: floats(), high: floats(), end: floats(), odd: new Uint8Array(n) };
  for (let p = 0; p < n; p++) {
    const from = start + Math.floor((p * size) / n);
    const to = start + Math.floor(((p + 1) * size) / n);
    let low = NaN;
    let high = NaN;
    let end = NaN;
    let at = from;
    for (let s = from; s < to; s++) {
      const h = column.high(s);
      const l = column.low(s);
      if (!Number.isFinite(h) || !Number.isFinite(l)) {
        out.odd[p] = 1;
        if (!Number.isFinite(l)) continue;
      }
      if (Number.isFinite(h) && !(h <= high)) {
        high = h;
        at = s;
      }
      if (!(l >= low)) low = l;
      const e = column.end(s);
      if (Number.isFinite(e)) end = e;
    }
    out.low[p] = low;
    out.high[p] = high;
    out.end[p] = end;
    out.steps[p] = ((column.first[at] as number) + (column.last[at] as number)) / 2;
  }
  return out;
}
