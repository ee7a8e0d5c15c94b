import { describe, expect, it } from 'vitest';
import { AUTO_NODES, fold, MOST_NODES } from '../panels/fold';
import { unitsOf, opsOf, type Unit } from '../panels/units';
import { Sketch } from '../gallery/sketch';
import type { Input, Structure } from '../protocol/messages';

/** h = tanh(h @ w + x_t) for `steps` steps, written in one cell, then the mean. */
function recurrent(steps: number): Structure {
  const s = new Sketch(`recurrent ${steps}`);
  const w = s.leaf('w', 'parameter', [8, 8]);
  let h: Input = ['leaf', s.leaf('h0', 'input', [4, 8])];
  for (let t = 0; t < steps; t++) {
    const x = s.leaf(`x${t}`, 'input', [4, 8]);
    const a = s.op('matmul', 'matmul', [h, ['leaf', w]], [4, 8], { line: 3 });
    const b = s.op('add', 'elementwise', [['op', a], ['leaf', x]], [4, 8], { line: 3 }); // prettier-ignore
    h = ['op', s.op('tanh', 'elementwise', [['op', b]], [4, 8], { line: 4 })];
  }
  s.op('mean', 'reduce', [h], [], { line: 5 });
  return s.structure;
}

/** `n` ops of which no two neighbours are alike. */
function motley(n: number): Structure {
  const s = new Sketch(`motley ${n}`);
  let x: Input = ['leaf', s.leaf('x', 'input', [4])];
  for (let i = 0; i < n; i++) x = ['op', s.op(`op${i}`, 'elementwise', [x], [4], { line: i })];
  return s.structure;
}

function titles(structure: Structure, choice: Parameters<typeof fold>[1] = {}): string[] {
  return fold(structure, choice).parts.map(part => `${part.title}${part.note ? ` ${part.note}` : ''}`);
}

describe('a stretch that repeats', () => {
  const structure = recurrent(500);
  const repeat = unitsOf(structure).root.children[0] as Unit;

  it('is one unit with a count', () => {
    expect([repeat.kind, repeat.blocks.length, repeat.size]).toEqual(['repeat', 500, 1500]);
    expect(unitsOf(structure).nameOf(repeat)).toEqual(['matmul · add · tanh', '× 500 · 1,500 ops']);
    expect(opsOf([repeat])).toEqual(Array.from({ length: 1500 }, (_, i) => i));
  });

  it('shows one of its times, with the numbers and inputs of that one', () => {
    const scene = fold(structure, { indices: new Map([[repeat.path, 7]]) });
    const shown = scene.parts.filter(part => part.kind === 'op').flatMap(part => part.ops);
    expect(shown).toEqual([21, 22, 23, 1500]);
    expect(scene.parts.filter(part => part.kind === 'leaf').map(part => part.title)).toEqual(['x7']);
    // What the time before handed on comes from outside of what is shown.
    expect(scene.parts.filter(part => part.kind === 'past').map(part => part.title)).toEqual(['earlier tanh']);
    expect(scene.boxes.map(box => [box.unit.kind, box.index])).toEqual([['repeat', 7]]);
    expect(scene.folded).toEqual({ ops: 1497, groups: 1 });
  });

  it('hands its result on from the node that stands for the last time', () => {
    const scene = fold(structure);
    const mean = scene.partOf[1500]!;
    const into = scene.input.edges.filter(edge => edge.to === mean).map(edge => scene.parts[edge.from]!.title);
    expect(into).toEqual(['tanh']);
  });

  it('shows the time that holds the op in sight', () => {
    const scene = fold(structure, { focus: 3 * 321 + 1 });
    expect(scene.boxes[0]!.index).toBe(321);
    expect(scene.partOf[3 * 321 + 1]).toBeGreaterThanOrEqual(0);
    expect(scene.partOf[0]).toBe(-1);
  });

  it('is drawn in full where the graph is small', () => {
    expect(fold(recurrent(5)).parts.filter(part => part.kind === 'op').length).toBe(16);
    expect(fold(recurrent(5)).boxes).toEqual([]);
  });

  it('closes to one node', () => {
    expect(titles(structure, { folds: new Map([[repeat.path, false]]) })).toEqual(['matmul · add · tanh × 500 · 1,500 ops', 'w', 'mean']);
  });
});

describe('a long tape without modules or repeats', () => {
  const structure = motley(10_000);

  it('is cut into a few ranges, which say how much is in them', () => {
    const scene = fold(structure);
    expect(scene.parts.length).toBeLessThanOrEqual(17);
    expect(scene.parts.find(part => part.kind === 'module')!.title).toBe('ops 1–800');
    expect(scene.folded).toEqual({ ops: 10_000, groups: 13 });
  });

  it('opens the way to one op, and only that', () => {
    const scene = fold(structure, { focus: 4321 });
    expect(scene.parts[scene.partOf[4321]!]!.title).toBe('op4321');
    expect(scene.parts.length).toBeLessThan(13 + 16 + 50 + 3);
  });

  it('never draws more than a thousand nodes, whatever is opened', () => {
    const folds = new Map<string, boolean>();
    for (let round = 0; round < 3; round++) for (const path of fold(structure, { folds }).open.keys()) folds.set(path, true);
    const scene = fold(structure, { folds });
    expect(scene.parts.length).toBeGreaterThan(AUTO_NODES);
    expect(scene.input.nodes.length).toBeLessThanOrEqual(MOST_NODES + 2);
  });
});

it('folds 30,000 ops without recursion, and every op is in one unit', () => {
  const structure = recurrent(10_000);
  const units = unitsOf(structure);
  expect(units.root.size).toBe(30_001);
  expect(opsOf([units.root]).length).toBe(30_001);
  expect(fold(structure).parts.length).toBeLessThan(20);
});
