/** Graphs that the layout is tested on, in the words of `draw/layout`. */

import type { LayoutBox, LayoutInput, LayoutNode } from '../draw/layout';

class Sketch {
  nodes: LayoutNode[] = [];
  boxes: LayoutBox[] = [];
  edges: { from: number; to: number }[] = [];

  box(parent = -1): number {
    return this.boxes.push({ parent }) - 1;
  }

  node(inputs: number[] = [], box = -1, side = false): number {
    const n = this.nodes.push({ box, side }) - 1;
    for (const from of inputs) this.edges.push({ from, to: n });
    return n;
  }

  chips(to: number, count: number): void {
    for (let i = 0; i < count; i++) {
      const chip = this.nodes.push({ box: this.nodes[to]!.box, beside: to }) - 1;
      this.edges.push({ from: chip, to });
    }
  }

  linear(from: number, parent = -1): number {
    const n = this.node([from], this.box(parent));
    this.chips(n, 2);
    return n;
  }

  done(): LayoutInput {
    return { nodes: this.nodes, boxes: this.boxes, edges: this.edges };
  }
}

/** x -> linear -> gelu -> linear -> gelu -> linear -> loss, then three ops without a gradient. */
export function mlp(): LayoutInput {
  const g = new Sketch();
  const h = g.node([g.linear(g.node([g.linear(g.node())]))]);
  const logits = g.linear(h);
  const loss = g.node([logits]);
  const y = g.nodes.push({ box: -1, beside: loss, height: 40 }) - 1;
  g.edges.push({ from: y, to: loss });
  const pick = g.node([logits], -1, true);
  g.node([g.node([pick, y], -1, true)], -1, true);
  return g.done();
}

/** Two residual blocks, each in a box of its own with two layers inside. */
export function residual(): LayoutInput {
  const g = new Sketch();
  let x = g.node();
  for (let i = 0; i < 2; i++) {
    const block = g.box();
    const h = g.linear(g.node([g.linear(x, block)], block), block);
    x = g.node([h, x], block);
  }
  g.node([x]);
  return g.done();
}

/** Two inputs with a layer each, joined by an add. */
export function twoInputs(): LayoutInput {
  const g = new Sketch();
  const a = g.linear(g.node());
  const b = g.linear(g.node());
  g.node([g.node([a, b])]);
  return g.done();
}

/** One layer called twice: two boxes, the same chips at both. */
export function shared(): LayoutInput {
  const g = new Sketch();
  const first = g.linear(g.node());
  const second = g.linear(g.node([first]));
  g.node([second, first]);
  return g.done();
}

/** One op that three others read, and an op that reads one tensor twice. */
export function fanOut(): LayoutInput {
  const g = new Sketch();
  const x = g.node();
  const h = g.node([x]);
  const a = g.node([h]);
  const b = g.node([h]);
  const c = g.node([h]);
  g.node([g.node([g.node([a, b]), c]), h]);
  g.node([h, h]);
  return g.done();
}

/** Attention over one input: three layers, two matmuls, softmax, a residual add and a mask. */
export function attention(): LayoutInput {
  const g = new Sketch();
  const x = g.node();
  const block = g.box();
  const [q, k, v] = [g.linear(x, block), g.linear(x, block), g.linear(x, block)];
  const scores = g.node([q, g.node([k], block)], block);
  const mask = g.node([], block);
  const weights = g.node([g.node([scores, mask], block)], block);
  const out = g.linear(g.node([weights, v], block), block);
  g.node([g.node([out, x])]);
  return g.done();
}

/** A chain of `length` ops in no module. */
export function longChain(length: number): LayoutInput {
  const g = new Sketch();
  let x = g.node();
  for (let i = 1; i < length; i++) x = g.node([x]);
  return g.done();
}

/** Boxes within boxes, `depth` deep, with an op on every level before and after. */
export function nested(depth: number): LayoutInput {
  const g = new Sketch();
  let box = -1;
  let x = g.node();
  for (let i = 0; i < depth; i++) {
    box = g.box(box);
    x = g.node([x], box);
  }
  for (let b = box; b >= 0; b = g.boxes[b]!.parent) x = g.node([x], b);
  g.node([x]);
  return g.done();
}

/** A random graph of `size` ops, the same for the same seed: every op reads one or two earlier ones. */
export function random(size: number, seed: number): LayoutInput {
  const g = new Sketch();
  let state = seed;
  const next = (n: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  g.node();
  let box = -1;
  for (let i = 1; i < size; i++) {
    if (next(6) === 0) box = next(2) ? -1 : g.box(box >= 0 && next(2) ? box : -1);
    const near = Math.max(0, g.nodes.length - 12);
    const ops = () => {
      let n = near + next(g.nodes.length - near);
      while (g.nodes[n]!.beside !== undefined) n--;
      return n;
    };
    const node = g.node(next(3) === 0 ? [ops(), ops()] : [ops()], box);
    if (next(4) === 0) g.chips(node, 1 + next(4));
  }
  return g.done();
}
