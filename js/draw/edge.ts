/** Edges of the graph: right angles with rounded corners, and an arrow that ends at the node. */

type Point = readonly [number, number];

const RADIUS = 4;
const ARROW = 6;

function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.abs(to[0] - from[0]) + Math.abs(to[1] - from[1]);
  const part = length === 0 ? 0 : Math.min(1, distance / length);
  return [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part];
}

const write = ([x, y]: Point) => `${Number(x.toFixed(2))} ${Number(y.toFixed(2))}`;

/** The path of a polyline with its corners rounded; `short` pixels are left at the end for the arrow. */
export function edgePath(points: readonly Point[], short = 4): string {
  if (points.length < 2) return '';
  const last = points.length - 1;
  let path = `M${write(points[0] as Point)}`;
  for (let i = 1; i < last; i++) {
    const [before, corner, after] = [points[i - 1], points[i], points[i + 1]] as [Point, Point, Point];
    const room = (a: Point, b: Point) => (Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1])) / 2;
    const radius = Math.min(RADIUS, room(before, corner), room(corner, after));
    path += `L${write(towards(corner, before, radius))}Q${write(corner)} ${write(towards(corner, after, radius))}`;
  }
  return `${path}L${write(towards(points[last] as Point, points[last - 1] as Point, short))}`;
}

/** The arrow head at the end of a polyline. */
export function arrowPath(points: readonly Point[]): string {
  if (points.length < 2) return '';
  const [x, y] = points.at(-1) as Point;
  const [px, py] = points.at(-2) as Point;
  const [dx, dy] = [Math.sign(x - px), Math.sign(y - py)];
  const base: Point = [x - dx * ARROW, y - dy * ARROW];
  const a: Point = [base[0] + dy * 4, base[1] + dx * 4];
  const b: Point = [base[0] - dy * 4, base[1] - dx * 4];
  return `M${write(a)}L${write([x, y])}L${write(b)}Z`;
}
