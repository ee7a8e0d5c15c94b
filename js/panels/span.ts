/** Where a step stands in the history of a run. */

import type { Series } from './series';

/** The span that holds a step, or the last one that begins before it; 0 where there is none. */
export function spanAt(series: Series, step: number): number {
  let low = 0;
  let high = series.size - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((series.last[middle] as number) < step) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low);
}
