import { describe, expect, it } from 'vitest';
import { AUTO_NODES, fold, type Scene } from '../panels/fold';
import { roles } from '../panels/nesting';
import { pathEdges, rootOf } from '../panels/way';
import { briefRepr } from '../panels/picture';
import { layout } from '../draw/layout';
import type { Structure } from '../protocol/messages';
import { examples } from '../gallery/examples';
import { Sketch } from '../gallery/sketch';

function structureOf(name: string): Structure {
  return examples[name]!()[0]!.message as unknown as Structure;
}

/** Every Function input as the drawing must show it: from the op or leaf, to the op. */
function inputsOf(structure: Structure, scene: Scene): string[] {
  const out: string[] = [];
  structure.ops.forEach((op, i) => {
    if (scene.partOf[i]! < 0) return;
    for (const [from, what] of op.inputs) if (from === 'op' || from === 'leaf') out.push(`${from} ${what} -> ${i}`);
  });
  return out.sort();
}

function edgesOf(scene: Scene): string[] {
  return scene.input.edges
    .map(({ from, to }) => {
      const [a, b] = [scene.parts[from]!, scene.parts[to]!];
      return `${a.ops.length > 0 ? `op ${a.ops[0]}` : `leaf ${a.leaves[0]}`} -> ${b.ops[0]}`;
    })
    .filter(text => !text.includes('undefined'))
    .sort();
}

describe.each(['digits', 'split', 'residual', 'attention', 'shared', 'two'])('the drawing of %s', name => {
  const structure = structureOf(name);
  const scene = fold(structure);

  it('has one edge for every Function input', () => {
    // Two inputs from one leaf to one op share a chip; none of these graphs has that.
    expect(edgesOf(scene)).toEqual(inputsOf(structure, scene));
  });

  it('has a node for every op of the graph', () => {
    const shown = scene.parts.flatMap(part => (part.kind === 'evaluation' ? [] : part.ops));
    expect([...new Set(shown)].sort((a, b) => a - b)).toEqual(
      structure.ops.flatMap((op, i) => (op.grad || scene.partOf[i]! >= 0 ? [i] : []))
    );
  });
});

describe('fold', () => {
  it('keeps ops that read the graph without a gradient in a column of their own', () => {
    const structure = structureOf('digits');
    const scene = fold(structure);
    const side = scene.parts.filter((_, id) => scene.input.nodes[id]!.side).map(part => part.title);
    expect(side).toEqual(['argmax', 'eq', 'mean']);
  });

  it('folds an evaluation that has no edge to the training graph into one node', () => {
    const structure = structureOf('shared');
    const scene = fold(structure);
    const apart = scene.parts.filter(part => part.kind === 'evaluation');
    expect(apart.map(part => [part.title, part.note])).toEqual([['evaluation', '2 ops']]);
    expect(scene.input.edges.some(edge => scene.parts[edge.from]!.kind === 'evaluation')).toBe(false);
  });

  it('draws ops without a gradient in the main lane where the graph needs them', () => {
    const s = new Sketch('pre');
    const x = s.leaf('x', 'input', [4, 4]);
    const w = s.leaf('w', 'parameter', [4, 4]);
    s.op(
      'div',
      'elementwise',
      [
        ['leaf', x],
        ['scalar', '16']
      ],
      [4, 4],
      { grad: false }
    );
    s.op(
      'matmul',
      'matmul',
      [
        ['op', 0],
        ['leaf', w]
      ],
      [4, 4]
    );
    expect(Array.from(roles(s.ops))).toEqual([0, 0]);
    expect(fold(s.structure).parts.map(part => `${part.kind} ${part.title}`)).toEqual(['leaf x', 'op div', 'op matmul', 'chip w']);
  });

  it('draws everything where no op wants a gradient', () => {
    const s = new Sketch('none');
    s.op('exp', 'elementwise', [['leaf', s.leaf('x', 'input', [4])]], [4], { grad: false });
    expect(fold(s.structure).parts.map(part => part.kind)).toEqual(['leaf', 'op']);
  });

  it('shows a layer that is called twice as two boxes with the same chips', () => {
    const structure = structureOf('shared');
    const scene = fold(structure);
    expect(scene.boxes.map(box => structure.modules[box.unit.module]!.call)).toEqual([1, 2]);
    const chips = scene.parts.filter(part => part.kind === 'chip').map(part => part.leaves[0]);
    expect(chips.slice(0, 2)).toEqual(chips.slice(2));
  });

  it('leaves out the box of the one model around everything, also beside a loss module', () => {
    const s = new Sketch('loss');
    const model = s.module('model', 'Net', 'Net()');
    const inner = s.module('fc', 'Linear', 'Linear(4, 4)', model);
    const loss = s.module('loss_of', 'MSELoss', 'MSELoss()');
    const x = s.leaf('x', 'input', [4, 4]);
    const w = s.leaf('fc.weight', 'parameter', [4, 4]);
    s.op(
      'linear',
      'matmul',
      [
        ['leaf', x],
        ['leaf', w]
      ],
      [4, 4],
      { module: inner }
    );
    s.op(
      'mse_loss',
      'loss',
      [
        ['op', 0],
        ['leaf', x]
      ],
      [],
      { module: loss }
    );
    expect(fold(s.structure).boxes.map(box => s.structure.modules[box.unit.module]!.path)).toEqual(['fc']);
  });

  it('closes a module into one node with its chips merged', () => {
    const structure = structureOf('split');
    const scene = fold(structure, { folds: new Map([['fc2', false]]) });
    const closed = scene.parts.findIndex(part => part.kind === 'module');
    expect([scene.parts[closed]!.title, scene.parts[closed]!.note, scene.parts[closed]!.ops.length]).toEqual(['fc2', '2 ops', 2]);
    const chip = scene.parts[scene.input.nodes.findIndex(node => node.beside === closed)]!;
    expect([chip.title, chip.shape, chip.leaves.length]).toEqual(['w + b', [64, 128], 2]);
    expect(scene.boxes.length).toBe(2);
  });

  it.each(['thousand', 'chain', 'tenthousand'])('draws few nodes of %s, and says how many ops are in groups', name => {
    const structure = structureOf(name);
    const scene = fold(structure);
    const nodes = scene.input.nodes.filter(node => node.beside === undefined).length;
    expect(nodes).toBeLessThanOrEqual(AUTO_NODES + 2);
    const shown = scene.parts.filter(part => part.kind === 'op').length;
    expect(scene.folded.ops).toBe(structure.ops.length - shown);
    expect(scene.folded.groups).toBeGreaterThan(0);
    expect(layout(scene.input).edges.length).toBe(scene.input.edges.length);
  });
});

describe('the way to the loss', () => {
  it('holds the edges from the selection to the root and no others', () => {
    const structure = structureOf('residual');
    const scene = fold(structure);
    const root = rootOf(structure.ops);
    expect(structure.ops[root]!.name).toBe('mse_loss');
    const from = scene.partOf[4]!;
    const hot = [...pathEdges(scene, new Set([from]), root)].map(e => scene.input.edges[e]!);
    expect(hot.length).toBeGreaterThan(0);
    for (const edge of hot) expect(edge.to).toBeGreaterThan(from);
    expect(hot.some(edge => edge.to === scene.partOf[root])).toBe(true);
  });

  it('is empty for an op that the loss does not need', () => {
    const structure = structureOf('digits');
    const scene = fold(structure);
    const mean = structure.ops.findIndex(op => op.name === 'mean');
    expect(pathEdges(scene, new Set([scene.partOf[mean]!]), rootOf(structure.ops)).size).toBe(0);
  });
});

it('writes how a module was made in few words', () => {
  expect(briefRepr('Linear(in_features=64, out_features=128, bias=True)', 'Linear')).toBe('Linear(64, 128)');
  expect(briefRepr('Dropout(p=0.5)', 'Dropout')).toBe('Dropout(0.5)');
  expect(briefRepr('GELU()', 'GELU')).toBe('GELU()');
  expect(briefRepr('Net(\n  (fc1): Linear(2, 2)\n)', 'Net')).toBe('Net');
  expect(briefRepr('Conv(8, kernel_size=(3, 3), padding=1)', 'Conv')).toBe('Conv(8, (3, 3), 1)');
});
