/**
 * The layout of a graph: nodes in lanes from top to bottom in tape order, boxes around modules, chips beside nodes.
 *
 * A box is laid out by itself and then stands in its parent as one item: no box can overlap another. An item goes below
 * everything it needs and below what came before it in its lane, so a longer tape adds at the bottom and moves nothing.
 * Lanes are chosen once, in tape order, nearest to the barycentre of an item's parents. All of it is iterative.
 *
 * Why not dagre (3.x, compound, ranker tight-tree), ours / dagre on recorded nets with nothing folded:
 *
 *                       ops   crossings   width in pixels   ops moved sideways by a longer tape   ms, cold
 *   MLP, 8 layers        18       0 / 0        432 / 3,872                             0 / 10    27 / 1,971
 *   residual, 8 blocks   50       0 / 0       888 / 13,236                             0 / 3     29 / 5,268
 *   LSTM, 8 times       130     51 / 39      1,774 / 7,759                            78 / 78    54 / 3,579
 *   GPT, 3 blocks        92       3 / 6        930 / 9,209                             0 / 9     50 / 7,429
 *
 * It spreads boxes sideways where a reader scrolls down, and adds 48 kB. In the LSTM a gutter became wider; an unrolled net
 * is told once anyway (`panels/units.ts`).
 */

import {
  chain,
  CHIP_HEIGHT,
  CHIP_OFFSET,
  CHIP_WIDTH,
  HEADER,
  NODE_HEIGHT,
  NODE_WIDTH,
  STACK_GAP,
  type Bend,
  type Group,
  type Item,
  type Layout,
  type LayoutEdge,
  type LayoutInput,
  type LayoutNode,
  type Port
} from './geometry';
import { assemble } from './assemble';
import { routeGroup } from './route';

export type { Layout, LayoutBox, LayoutEdge, LayoutInput, LayoutNode, Placed, PlacedEdge } from './geometry';

const GAP = 10;
const GAP_INSIDE = 10;
const CROWDED = 8;
const PAD = 16;
const PAD_NESTED = 8;
const HALF = NODE_WIDTH / 2;
const OUTSIDE = [-1];
const SIDE_RIGHT = CHIP_OFFSET + CHIP_WIDTH - HALF;

function emptyGroup(): Group {
  return { items: [], links: [], lanes: 0, height: 0, left: 0, right: 0, spines: [], lefts: [], bends: new Map() };
}

function newItem(node: number, box: number, side: boolean): Item {
  return { node, box, lane: 0, side, wide: box >= 0, top: 0, bottom: 0, left: HALF, right: HALF };
}

/** Group the nodes: which items each box holds, in tape order, and which item of each group a node is in. */
function gather(input: LayoutInput, stacks: ReadonlyMap<number, number[]>) {
  const groups = new Map<number, Group>([[-1, emptyGroup()]]);
  input.boxes.forEach((_, b) => groups.set(b, emptyGroup()));
  const boxItem = new Map<number, number>();
  const nodeItem = new Map<number, number>();
  input.nodes.forEach((node, n) => {
    if (node.beside !== undefined) return;
    const own = groups.get(node.box) as Group;
    const path = chain(input.boxes, node.box);
    for (let i = path.length - 2; i >= 0; i--) {
      const b = path[i] as number;
      if (boxItem.has(b)) continue;
      const parent = groups.get(path[i + 1] as number) as Group;
      boxItem.set(b, parent.items.push(newItem(-1, b, false)) - 1);
    }
    const item = newItem(n, -1, Boolean(node.side) && !stacks.has(n));
    item.wide = stacks.has(n);
    nodeItem.set(n, own.items.push(item) - 1);
  });
  return { groups, boxItem, nodeItem };
}

/** Hand every edge to the groups it passes: out of its boxes, across the group both ends share, into its boxes. */
function distribute(input: LayoutInput, groups: Map<number, Group>, boxItem: Map<number, number>, nodeItem: Map<number, number>): void {
  const host = (n: number) => input.nodes[n]?.beside ?? n;
  const chains = input.boxes.map((_, b) => chain(input.boxes, b));
  const around = (n: number) => chains[(input.nodes[n] as LayoutNode).box] ?? OUTSIDE;
  input.edges.forEach((edge, e) => {
    if (input.nodes[edge.from]?.beside === edge.to) return;
    const [from, to] = [host(edge.from), host(edge.to)];
    const [up, down] = [around(from), around(to)];
    const shared = up.find(g => down.includes(g)) as number;
    const itemOf = (path: number[], node: number, group: number) => {
      const at = path.indexOf(group);
      return (at === 0 ? nodeItem.get(node) : boxItem.get(path[at - 1] as number)) as number;
    };
    for (const g of up.slice(0, up.indexOf(shared))) groups.get(g)?.links.push({ edge: e, from: itemOf(up, from, g), to: -1 });
    for (const g of down.slice(0, down.indexOf(shared))) groups.get(g)?.links.push({ edge: e, from: -1, to: itemOf(down, to, g) });
    groups.get(shared)?.links.push({ edge: e, from: itemOf(up, from, shared), to: itemOf(down, to, shared) });
  });
}

/** The lane whose last item this one continues, else the nearest lane whose last item nobody waits for, else a new one. */
function chooseLane(group: Group, item: number, parents: number[], last: number[], until: number[], most: number): number {
  const follow = parents.map(p => (group.items[p] as Item).lane).filter(lane => parents.includes(last[lane] as number));
  if (follow.length > 0) return Math.min(...follow);
  const centre = parents.reduce((sum, p) => sum + (group.items[p] as Item).lane, 0) / Math.max(1, parents.length);
  let best = -1;
  for (let lane = 0; lane < last.length; lane++) {
    if ((until[last[lane] as number] as number) >= item) continue;
    if (best < 0 || Math.abs(lane - centre) < Math.abs(best - centre)) best = lane;
  }
  if (best >= 0) return best;
  return last.length < most ? last.length : Math.min(most - 1, Math.round(centre));
}

/** Give every item of a group its lane and its height above the others. */
function place(group: Group, sizes: (item: Item) => { above: number; height: number; below: number }, gap: number, most: number): void {
  const parents: number[][] = group.items.map(() => []);
  const until: number[] = group.items.map(() => -1);
  const entered = group.items.map(() => false);
  for (const { from, to } of group.links) {
    if (from < 0) {
      entered[to] = true;
      continue;
    }
    if (to >= 0 && from < to) parents[to]?.push(from);
    until[from] = Math.max(until[from] as number, to < 0 ? Infinity : to);
  }
  const last: number[] = [];
  const main: number[] = [];
  const beside: number[] = [];
  group.items.forEach((item, i) => {
    const mine = parents[i] as number[];
    let before: number | undefined;
    if (item.side) item.lane = mine.length > 0 ? (group.items[mine[0] as number] as Item).lane : 0;
    else {
      item.lane = chooseLane(group, i, mine, last, until, most);
      before = last[item.lane];
      last[item.lane] = i;
    }
    const { above, height, below } = sizes(item);
    // Where one edge leaves sideways and another arrives, their lines need room between two items.
    const arrives = entered[i] || mine.some(p => p !== before);
    const crowded = before !== undefined && arrives && (until[before] as number) > i;
    let top = item.side ? 0 : (main[item.lane] ?? 0) + (crowded ? CROWDED : 0);
    if (item.side || item.wide) top = Math.max(top, (beside[item.lane] ?? 0) + above);
    top = Math.max(top, above);
    for (const p of mine) top = Math.max(top, (group.items[p] as Item).bottom + gap);
    item.top = top;
    item.bottom = top + height;
    if (!item.side) main[item.lane] = item.bottom + gap;
    if (item.side || item.wide) beside[item.lane] = item.bottom + below + (below > 0 ? STACK_GAP : gap);
    group.height = Math.max(group.height, item.bottom + below);
    group.lanes = Math.max(group.lanes, item.lane + 1);
  });
}

/** How far a box reaches left and right of its first spine, with room for what is inside. */
function extend(group: Group, boxed: boolean): void {
  const inner = group.left;
  let left = inner;
  let right = group.right;
  for (const item of group.items) {
    const nested = item.box >= 0;
    left = Math.max(left, item.lane === 0 ? item.left + (nested ? (boxed ? PAD_NESTED : 0) : PAD) : 0);
    const x = group.spines[item.lane] as number;
    right = Math.max(right, x + item.right + (nested ? (boxed ? PAD_NESTED : 0) : PAD));
  }
  group.left = left;
  group.right = boxed ? Math.max(right, SIDE_RIGHT + PAD) : right;
}

/** The heights of what stands beside each node. */
function stackHeights(input: LayoutInput): Map<number, number[]> {
  const stacks = new Map<number, number[]>();
  input.nodes.forEach((node, n) => {
    if (node.beside === undefined) return;
    const stack = stacks.get(node.beside);
    if (stack) stack.push(n);
    else stacks.set(node.beside, [n]);
  });
  return stacks;
}

/** The layout was not ready at its deadline. */
export class TooLate extends Error {}

/**
 * Lay a graph out; every edge of the input is in the result, and no two rectangles of one kind overlap.
 *
 * No group gets more than `most` lanes: with one lane a branch stands below the other, and its edges pass beside it.
 * Throws TooLate where it is not ready at `until`, in milliseconds of `performance.now()`.
 */
export function layout(input: LayoutInput, most = Infinity, until = Infinity): Layout {
  const stacks = stackHeights(input);
  const stackHeight = (n: number) =>
    (stacks.get(n) ?? []).reduce((sum, c) => sum + ((input.nodes[c] as LayoutNode).height ?? CHIP_HEIGHT) + STACK_GAP, -STACK_GAP);
  const edgeOf = (e: number) => input.edges[e] as LayoutEdge;
  const { groups, boxItem, nodeItem } = gather(input, stacks);
  distribute(input, groups, boxItem, nodeItem);

  const depths = input.boxes.map((_, b) => chain(input.boxes, b).length);
  const order = input.boxes.map((_, b) => b).sort((a, b) => (depths[b] as number) - (depths[a] as number));
  for (const g of [...order, -1]) {
    if (performance.now() > until) throw new TooLate();
    const group = groups.get(g) as Group;
    const sizes = (item: Item) => {
      if (item.box >= 0) return { above: 0, height: (groups.get(item.box) as Group).height, below: 0 };
      const height = input.nodes[item.node]?.height ?? NODE_HEIGHT;
      const over = item.wide ? Math.max(0, (stackHeight(item.node) - height) / 2) : 0;
      return { above: over, height, below: over };
    };
    place(group, sizes, g < 0 ? GAP : GAP_INSIDE, most);
    for (const item of group.items) {
      const inside = item.box >= 0 ? (groups.get(item.box) as Group) : null;
      item.left = inside ? inside.left : HALF;
      item.right = inside ? inside.right : item.wide || item.side ? SIDE_RIGHT : HALF;
    }
    const port: Port = (edge, item, end) => {
      if (item.box < 0) return null;
      const bend = (groups.get(item.box) as Group).bends.get(edge) as Bend;
      return end === 'from' ? (bend.points.at(-1) as [number, number])[0] : (bend.points[0] as [number, number])[0];
    };
    if (g >= 0) shift(group, input.boxes[g]?.header ?? HEADER);
    if (g >= 0) group.height += GAP_INSIDE;
    routeGroup(
      group,
      port,
      e => input.nodes[edgeOf(e).from]?.beside !== undefined,
      e => Boolean(input.nodes[edgeOf(e).to]?.side) && !stacks.has(edgeOf(e).to)
    );
    extend(group, g >= 0);
  }
  return assemble(input, groups, stacks);
}

function shift(group: Group, by: number): void {
  group.height += by;
  for (const item of group.items) {
    item.top += by;
    item.bottom += by;
  }
}
