import { describe, expect, it } from 'vitest';
import { layout, type Layout, type LayoutInput, type Placed } from '../draw/layout';
import { attention, fanOut, longChain, mlp, nested, random, residual, shared, twoInputs } from './graphs';

function overlap(a: Placed, b: Placed): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function overlaps(rects: readonly Placed[]): [number, number][] {
  const sorted = [...rects].sort((a, b) => a.y - b.y);
  const found: [number, number][] = [];
  sorted.forEach((a, i) => {
    for (let j = i + 1; j < sorted.length && sorted[j]!.y < a.y + a.height; j++) {
      if (overlap(a, sorted[j]!)) found.push([a.id, sorted[j]!.id]);
    }
  });
  return found;
}

function inside(inner: Placed, outer: Placed): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}

function chainOf(input: LayoutInput, box: number): number[] {
  const out: number[] = [];
  for (let b = box; b >= 0; b = input.boxes[b]!.parent) out.push(b);
  return out;
}

function onBorder(rect: Placed, [x, y]: [number, number]): boolean {
  const across = x >= rect.x && x <= rect.x + rect.width;
  const along = y >= rect.y && y <= rect.y + rect.height;
  return (across && (y === rect.y || y === rect.y + rect.height)) || (along && (x === rect.x || x === rect.x + rect.width));
}

const graphs: Record<string, LayoutInput> = {
  'an MLP with a loss and three ops without a gradient': mlp(),
  'a residual net': residual(),
  'two inputs': twoInputs(),
  'a shared layer used twice': shared(),
  'an op used by three': fanOut(),
  attention: attention(),
  'a chain of 1,000 ops': longChain(1000),
  'twelve nested boxes': nested(12),
  'random graph 1': random(120, 1),
  'random graph 2': random(120, 2),
  'random graph 3': random(200, 3)
};

describe.each(Object.entries(graphs))('layout of %s', (_, input) => {
  const out: Layout = layout(input);

  it('places every node, chip and box once', () => {
    const beside = input.nodes.map((n, i) => ({ n, i })).filter(({ n }) => n.beside !== undefined);
    expect(out.chips.map(c => c.id)).toEqual(beside.map(({ i }) => i));
    expect(out.nodes.length + out.chips.length).toBe(input.nodes.length);
    expect(out.boxes.map(b => b.id)).toEqual(
      input.boxes.map((_, b) => b).filter(b => input.nodes.some(n => chainOf(input, n.box).includes(b)))
    );
  });

  it('lets no two nodes or chips overlap', () => {
    expect(overlaps([...out.nodes, ...out.chips])).toEqual([]);
  });

  it('lets boxes overlap only where one holds the other, and holds its nodes', () => {
    const rect = new Map(out.boxes.map(b => [b.id, b]));
    for (const [a, b] of overlaps(out.boxes)) {
      expect(chainOf(input, a).includes(b) || chainOf(input, b).includes(a)).toBe(true);
    }
    for (const placed of [...out.nodes, ...out.chips]) {
      const mine = chainOf(input, input.nodes[placed.id]!.box);
      for (const box of out.boxes) {
        if (mine.includes(box.id)) expect(inside(placed, rect.get(box.id)!)).toBe(true);
        else expect(overlap(placed, box)).toBe(false);
      }
    }
  });

  it('draws every edge of the input, from the one end to the other, in right angles', () => {
    expect(out.edges.map(({ from, to }) => ({ from, to }))).toEqual(input.edges);
    const rect = new Map([...out.nodes, ...out.chips].map(p => [p.id, p]));
    for (const edge of out.edges) {
      expect(onBorder(rect.get(edge.from)!, edge.points[0]!)).toBe(true);
      expect(onBorder(rect.get(edge.to)!, edge.points.at(-1)!)).toBe(true);
      edge.points.slice(1).forEach(([x, y], i) => {
        const [px, py] = edge.points[i]!;
        expect(x === px || y === py).toBe(true);
      });
    }
  });

  it('runs downward and stays inside the picture', () => {
    const rect = new Map([...out.nodes, ...out.chips].map(p => [p.id, p]));
    for (const edge of out.edges) if (!edge.chip) expect(rect.get(edge.to)!.y).toBeGreaterThan(rect.get(edge.from)!.y);
    for (const p of [...out.nodes, ...out.chips, ...out.boxes]) {
      expect(p.x).toBeGreaterThanOrEqual(0);
      expect(p.x + p.width).toBeLessThanOrEqual(out.width);
      expect(p.y + p.height).toBeLessThanOrEqual(out.height);
    }
  });
});

it('puts a chain in one lane where the target picture has it', () => {
  const out = layout(mlp());
  const main = out.nodes.filter(n => n.width === 244);
  expect(new Set(main.map(n => n.x))).toEqual(new Set([16]));
  expect(new Set(out.chips.map(c => c.x))).toEqual(new Set([284]));
  expect(new Set(out.boxes.map(b => [b.x, b.width].join()))).toEqual(new Set(['0,416']));
  expect(out.width).toBe(416);
});

it('moves nothing when the tape grows at its end', () => {
  const before = layout(longChain(50)).nodes;
  const after = layout(longChain(80)).nodes;
  expect(after.slice(0, 50)).toEqual(before);
});
