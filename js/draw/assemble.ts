/** The parts of a layout put into one picture: boxes, nodes and chips in place, edges joined from group to group. */

import {
  chain,
  CHIP_HEIGHT,
  CHIP_OFFSET,
  CHIP_WIDTH,
  NODE_WIDTH,
  STACK_GAP,
  type Group,
  type Layout,
  type LayoutInput,
  type LayoutNode,
  type Placed
} from './geometry';

const HALF = NODE_WIDTH / 2;

/** Put the groups into one picture: from each box's own coordinates to those of the whole. */
export function assemble(input: LayoutInput, groups: Map<number, Group>, stacks: ReadonlyMap<number, number[]>): Layout {
  const root = groups.get(-1) as Group;
  const out: Layout = { nodes: [], boxes: [], chips: [], edges: [], width: root.left + root.right, height: root.height };
  const origin = new Map<number, [number, number]>([[-1, [root.left, 0]]]);
  const todo = [-1];
  for (let g = todo.pop(); g !== undefined; g = todo.pop()) {
    const group = groups.get(g) as Group;
    const [x0, y0] = origin.get(g) as [number, number];
    for (const item of group.items) {
      const spine = x0 + (group.spines[item.lane] as number);
      const y = y0 + item.top;
      if (item.box >= 0) {
        out.boxes.push({ id: item.box, x: spine - item.left, y, width: item.left + item.right, height: item.bottom - item.top });
        origin.set(item.box, [spine, y]);
        todo.push(item.box);
        continue;
      }
      const height = item.bottom - item.top;
      const x = spine - HALF;
      if (item.side) out.nodes.push({ id: item.node, x: x + CHIP_OFFSET, y, width: CHIP_WIDTH, height });
      else {
        out.nodes.push({ id: item.node, x, y, width: NODE_WIDTH, height });
        stackChips(input, stacks.get(item.node) ?? [], x + CHIP_OFFSET, y + height / 2, out.chips);
      }
    }
  }
  for (const list of [out.nodes, out.boxes, out.chips]) list.sort((a, b) => a.id - b.id);
  connect(input, groups, origin, out);
  return out;
}

function stackChips(input: LayoutInput, chips: readonly number[], x: number, middle: number, out: Placed[]): void {
  const heights = chips.map(c => (input.nodes[c] as LayoutNode).height ?? CHIP_HEIGHT);
  const total = heights.reduce((sum, h) => sum + h + STACK_GAP, -STACK_GAP);
  let y = middle - total / 2;
  chips.forEach((id, i) => {
    const height = heights[i] as number;
    out.push({ id, x, y, width: CHIP_WIDTH, height });
    y += height + STACK_GAP;
  });
}

/** Join the parts of every edge, from the op that made the tensor to the op that reads it. */
function connect(input: LayoutInput, groups: Map<number, Group>, origin: Map<number, [number, number]>, out: Layout): void {
  const rects = new Map([...out.nodes, ...out.chips].map(p => [p.id, p]));
  input.edges.forEach((edge, e) => {
    const from = rects.get(edge.from) as Placed;
    const to = rects.get(edge.to) as Placed;
    if (input.nodes[edge.from]?.beside === edge.to) {
      out.edges.push({ ...edge, chip: true, points: chipLine(from, to) });
      return;
    }
    const host = (n: number) => (input.nodes[input.nodes[n]?.beside ?? n] as LayoutNode).box;
    const up = chain(input.boxes, host(edge.from));
    const down = chain(input.boxes, host(edge.to));
    const shared = up.findIndex(g => down.includes(g));
    const path = [...up.slice(0, shared + 1), ...down.slice(0, down.indexOf(up[shared] as number)).reverse()];
    const points: [number, number][] = [];
    for (const g of path) {
      const [x0, y0] = origin.get(g) as [number, number];
      for (const [x, y] of groups.get(g)?.bends.get(e)?.points ?? []) points.push([x0 + x, y0 + y]);
    }
    if (input.nodes[edge.from]?.beside !== undefined && points.length > 0) (points[0] as [number, number])[1] = from.y + from.height;
    out.edges.push({ ...edge, chip: false, points: straighten(points) });
  });
}

/** From the left edge of a chip to the right edge of its node; with a bend where the stack is taller than the node. */
function chipLine(chip: Placed, node: Placed): [number, number][] {
  const y = chip.y + chip.height / 2;
  const edge = node.x + node.width;
  const inside = Math.min(node.y + node.height - 6, Math.max(node.y + 6, y));
  if (inside === y)
    return [
      [chip.x, y],
      [edge, y]
    ];
  const middle = (chip.x + edge) / 2;
  return [
    [chip.x, y],
    [middle, y],
    [middle, inside],
    [edge, inside]
  ];
}

/** Drop points that stand on a straight line between their neighbours. */
function straighten(points: readonly [number, number][]): [number, number][] {
  const out: [number, number][] = [];
  for (const p of points) {
    const a = out.at(-2);
    const b = out.at(-1);
    if (b && b[0] === p[0] && b[1] === p[1]) continue;
    if (a && b && ((a[0] === b[0] && b[0] === p[0]) || (a[1] === b[1] && b[1] === p[1]))) out.pop();
    out.push(p);
  }
  return out;
}
