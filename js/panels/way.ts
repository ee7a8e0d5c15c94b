/** The way of a gradient: from the loss to what is selected. */

import type { Op } from '../protocol/messages';
import type { PlacedEdge } from '../draw/layout';
import type { Part, Scene } from './fold';

/** The op a backward pass starts from: the last loss of the graph, or else the last op of it. */
export function rootOf(ops: readonly Op[]): number {
  const loss = ops.findLastIndex(op => op.grad && op.kind === 'loss');
  return loss >= 0 ? loss : ops.findLastIndex(op => op.grad);
}

/** All nodes that are reached along the edges, or against them. */
function reach(edges: readonly { from: number; to: number }[], from: Iterable<number>, forward: boolean): Set<number> {
  const next = new Map<number, number[]>();
  for (const { from: a, to: b } of edges) {
    const [source, target] = forward ? [a, b] : [b, a];
    const list = next.get(source);
    if (list) list.push(target);
    else next.set(source, [target]);
  }
  const seen = new Set(from);
  const todo = [...seen];
  for (let n = todo.pop(); n !== undefined; n = todo.pop()) {
    for (const m of next.get(n) ?? []) {
      if (!seen.has(m)) {
        seen.add(m);
        todo.push(m);
      }
    }
  }
  return seen;
}

/** Every edge on a way from the selected parts to the root, by its number. */
export function pathEdges(scene: Scene, selected: ReadonlySet<number>, root: number): Set<number> {
  const { edges } = scene.input;
  const hot = new Set<number>();
  const target = root < 0 ? -1 : (scene.partOf[root] as number);
  if (target < 0 || selected.size === 0) return hot;
  const down = reach(edges, selected, true);
  const up = reach(edges, [target], false);
  edges.forEach((edge, e) => {
    if (down.has(edge.from) && down.has(edge.to) && up.has(edge.to) && up.has(edge.from)) hot.add(e);
  });
  return hot;
}

/** Whether no gradient passes an edge. */
export function isDashed(edge: PlacedEdge, from: Part, to: Part): boolean {
  return from.kind === 'past' || (!edge.chip && (!to.grad || !from.grad) && to.kind !== 'leaf' && !(to.grad && from.kind === 'leaf'));
}

/** Whether a node has a second border: it stands for more than one op. */
export function isDouble(part: Part): boolean {
  return part.kind === 'module' || part.kind === 'evaluation';
}

/** Everything that some parts were made of, and everything that was made of them. */
export function family(scene: Scene, from: ReadonlySet<number>): Set<number> {
  const { edges } = scene.input;
  return new Set([...reach(edges, from, true), ...reach(edges, from, false)]);
}
