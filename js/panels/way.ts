/** The way of a gradient: from the loss to what is selected. */

import type { Op } from '../protocol/messages';
import type { Scene } from './fold';

/** The op a backward pass starts from: the last loss of the graph, or else the last op of it. */
export function rootOf(ops: readonly Op[]): number {
  const loss = ops.findLastIndex(op => op.grad && op.kind === 'loss');
  return loss >= 0 ? loss : ops.findLastIndex(op => op.grad);
}

/** Every edge on a way from the selected parts to the root, by its number. */
export function pathEdges(scene: Scene, selected: ReadonlySet<number>, root: number): Set<number> {
  const { edges } = scene.input;
  const reach = (from: Iterable<number>, forward: boolean) => {
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
  };
  const hot = new Set<number>();
  const target = root < 0 ? -1 : (scene.partOf[root] as number);
  if (target < 0 || selected.size === 0) return hot;
  const down = reach(selected, true);
  const up = reach([target], false);
  edges.forEach((edge, e) => {
    if (down.has(edge.from) && down.has(edge.to) && up.has(edge.to) && up.has(edge.from)) hot.add(e);
  });
  return hot;
}
