/** A small line with the band that it should stay in: what lies beyond a limit is tinted, and the limit is dashed. */

import { svg } from './element';
import { short } from './short';
import { textWidth } from './text';

export interface TrendInput {
  steps: ArrayLike<number>;
  values: ArrayLike<number>;
  low: number | null;
  high: number | null;
}

/** Points and limits in pixels. */
export interface TrendShape {
  path: string;
  /** Tops and heights of what is out of bounds, and where the limits are. */
  beyond: [number, number][];
  limits: number[];
  /** Where a value was not finite. */
  odd: number[];
}

const EDGE = 2;
/** What stands at the right end of a limit: its height, and the gap before it. */
const LABEL = 11;
const GAP = 4;

/** Where everything stands; logarithmic where all is positive, with room for the limits. */
export function trendShape({ steps, values, low, high }: TrendInput, width: number, height: number): TrendShape {
  const all = Array.from(values);
  const finite = all.filter(Number.isFinite);
  const limits = [low, high].filter((x): x is number => x !== null && Number.isFinite(x));
  const shown = [...finite, ...limits];
  const log = shown.length > 0 && shown.every(x => x > 0);
  const scale = (x: number) => (log ? Math.log10(x) : x);
  let bottom = Math.min(...shown.map(scale));
  let top = Math.max(...shown.map(scale));
  const room = (top - bottom) * 0.12 || 0.5;
  if (low !== null) bottom = Math.min(bottom, scale(low) - room);
  if (high !== null) top = Math.max(top, scale(high) + room);
  const first = steps[0] ?? 0;
  const last = steps[steps.length - 1] ?? 1;
  const px = (step: number) => (last > first ? ((step - first) / (last - first)) * (width - 2) + 1 : width / 2);
  const py = (x: number) => (top > bottom ? height - EDGE - ((scale(x) - bottom) / (top - bottom)) * (height - 2 * EDGE) : height / 2);
  let path = '';
  let pen = false;
  const odd: number[] = [];
  all.forEach((x, i) => {
    const at = px(steps[i] as number);
    if (!Number.isFinite(x)) {
      odd.push(at);
      pen = false;
      return;
    }
    path += `${pen ? 'L' : 'M'}${at.toFixed(1)} ${py(x).toFixed(1)}`;
    pen = true;
  });
  const beyond: [number, number][] = [];
  if (high !== null) beyond.push([0, py(high)]);
  if (low !== null) beyond.push([py(low), height - py(low)]);
  return { path, beyond, limits: limits.map(py), odd };
}

/** Where the numbers of limits stand, from the top: as near to their lines as they fit, none over another. */
export function labelPlaces(limits: readonly number[], height: number): number[] {
  const order = limits.map((y, i) => [y, i] as const).sort(([a], [b]) => a - b);
  const places = [...limits];
  let free = LABEL / 2;
  order.forEach(([y, i], k) => {
    const least = LABEL * (order.length - k - 0.5); // room for those below
    places[i] = Math.max(free, Math.min(y, height - least));
    free = (places[i] as number) + LABEL;
  });
  return places;
}

/** Draw a trend; `label` says in words what is seen. */
export function trend(input: TrendInput, room: number, height: number, label: string, font = '11px sans-serif'): SVGSVGElement {
  const numbers = [input.low, input.high].filter((x): x is number => x !== null && Number.isFinite(x)).map(short);
  const width = room - (numbers.length > 0 ? GAP + Math.ceil(Math.max(...numbers.map(text => textWidth(text, font)))) : 0);
  const shape = trendShape(input, width, height);
  const places = labelPlaces(shape.limits, height);
  return svg(
    'svg',
    { class: 'gl-trend', width: room, height, viewBox: `0 0 ${room} ${height}`, role: 'img', 'aria-label': label },
    ...shape.beyond.map(([y, tall]) =>
      svg('rect', { class: 'gl-beyond', x: 0, y: y.toFixed(1), width, height: Math.max(0, tall).toFixed(1) })
    ),
    ...shape.limits.map(y => svg('path', { class: 'gl-limit', d: `M0 ${y.toFixed(1)}H${width}` })),
    ...numbers.map((text, i) => svg('text', { x: width + GAP, y: ((places[i] as number) + 4).toFixed(1) }, text)),
    svg('path', { class: 'gl-trendline', d: shape.path }),
    ...shape.odd.map(x => svg('path', { class: 'gl-trend-odd', d: `M${x.toFixed(1)} 0V${height}` }))
  );
}
