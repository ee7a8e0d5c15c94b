/** A small line without axes, for a strip or a header. */

import { set, svg } from './element';

/**
 * The points of a line through `values`, logarithmic where all are positive; gaps where a value is not finite.
 *
 * `at` says where each stands, if not as far from each other as there is room.
 */
export function sparkPath(
  values: ArrayLike<number>,
  width: number,
  height: number,
  at = (i: number, n: number) => (n > 1 ? (i / (n - 1)) * (width - 2) + 1 : width / 2)
): string {
  const list = Array.from(values);
  const finite = list.filter(Number.isFinite);
  if (finite.length === 0) return '';
  const log = finite.every(x => x > 0);
  const scale = (x: number) => (log ? Math.log10(x) : x);
  let low = Infinity;
  let high = -Infinity;
  for (const x of finite) {
    low = Math.min(low, scale(x));
    high = Math.max(high, scale(x));
  }
  const span = high - low || 1;
  let path = '';
  let pen = false;
  list.forEach((x, i) => {
    if (!Number.isFinite(x)) {
      pen = false;
      return;
    }
    const px = at(i, list.length);
    const py = high === low ? height / 2 : height - 1 - ((scale(x) - low) / span) * (height - 2);
    path += `${pen ? 'L' : 'M'}${px.toFixed(1)} ${py.toFixed(1)}`;
    pen = true;
  });
  return path;
}

/** An SVG element that holds one small line. */
export class Spark {
  readonly element: SVGSVGElement;
  private readonly path = svg('path', { class: 'gl-sparkline' });

  constructor(
    private readonly height: number,
    label: string
  ) {
    this.element = svg('svg', { class: 'gl-spark', height, role: 'img', 'aria-label': label }, this.path);
  }

  /** Draw these values, each at its step where `steps` has one for it. */
  update(values: ArrayLike<number>, width: number, steps?: ArrayLike<number>): void {
    set(this.element, 'width', width);
    const [first, all] = steps && values.length > 1 ? [steps[0]!, steps[values.length - 1]! - steps[0]!] : [0, 0];
    const at = steps && all > 0 ? (i: number) => 1 + ((steps[i]! - first) / all) * (width - 2) : undefined;
    set(this.path, 'd', sparkPath(values, width, this.height, at));
  }
}
