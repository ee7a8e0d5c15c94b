/** What the gallery can show: each example is the list of messages that a kernel would have sent. */

import type { Input } from '../protocol/messages';
import { digitsRun } from './digits';
import { Sketch, type Sent } from './sketch';

const op = (i: number): Input => ['op', i];
const leaf = (j: number): Input => ['leaf', j];

/** The same numbers every time, between 0 and 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Give every parameter a timeline, and close the step with an optimizer that holds them all. */
function finish(sketch: Sketch, steps: number, optimizer = 'Adam'): Sent[] {
  const next = numbers(steps + sketch.ops.length);
  const parameters = sketch.leaves.filter(l => l.kind === 'parameter');
  parameters.forEach((l, p) => (l.column = p));
  const columns = ['loss', 'grad_norm', `lr/${optimizer}`, ...parameters.flatMap(l => [`g/${l.name}`, `w/${l.name}`, `u/${l.name}`])];
  const rows = Array.from({ length: steps }, (_, t) => {
    const fall = Math.exp((-3 * t) / steps);
    return [
      2 * fall + 0.2 * next(),
      fall + 0.3 * next(),
      1e-3,
      ...parameters.flatMap((_l, p) => [fall * 10 ** (-(p % 20) / 6) * (0.5 + next()), 5, 1e-3 * (0.5 + next())])
    ];
  });
  const names = ['rms g', 'm_hat', 'v_hat', 'effective_lr', 'update:weight'];
  const values = parameters.map((_, p) => [0.02 / (p + 1), 0.005 / (p + 1), 0.01 / (p + 1), 0.1, 1e-3 * (0.3 + next())]);
  const optimizers = [{ label: optimizer, lr: 1e-3, columns: names, rows: parameters.map((_, p) => p) }];
  const last = rows.at(-1) as number[];
  return [sketch.structureMessage(), sketch.frame({ step: steps, loss: last[0], grad_norm: last[1], optimizers }, columns, rows, [values])];
}

function linear(s: Sketch, path: string, x: Input, sizes: [number, number], parent: number | null, call = 1, leaves?: [number, number]) {
  const m = s.module(path, 'Linear', `Linear(${sizes[0]}, ${sizes[1]})`, parent, call);
  const w = leaves?.[0] ?? s.leaf(`${path}.weight`, 'parameter', [sizes[1], sizes[0]], {}, 4, 0.1);
  const b = leaves?.[1] ?? s.leaf(`${path}.bias`, 'parameter', [sizes[1]], {}, 0.4, 0.03);
  const i = s.op('linear', 'matmul', [x, leaf(w), leaf(b)], [32, sizes[1]], { module: m, value: 12, gradient: 0.08, us: 21, back: 30 });
  return { out: op(i), leaves: [w, b] as [number, number] };
}

function residual(): Sent[] {
  const s = new Sketch('residual');
  const model = s.module('model', 'ResNet', 'ResNet(...)');
  let x = leaf(s.leaf('x', 'input', [32, 64], {}, 45));
  for (const k of [1, 2]) {
    const block = s.module(`blocks.${k}`, 'Block', 'Block(64)', model);
    const a = linear(s, `blocks.${k}.fc1`, x, [64, 64], block).out;
    const h = op(s.op('gelu', 'elementwise', [a], [32, 64], { module: block, value: 9, gradient: 0.05 }));
    const b = linear(s, `blocks.${k}.fc2`, h, [64, 64], block).out;
    x = op(s.op('add', 'elementwise', [b, x], [32, 64], { module: block, value: 46, gradient: 0.09 }));
  }
  const y = leaf(s.leaf('y', 'input', [32, 64], {}, 40));
  s.op('mse_loss', 'loss', [x, y], [], { cell: 1, line: 4, value: 0.7, gradient: 1 });
  return finish(s, 60);
}

function attention(): Sent[] {
  const s = new Sketch('attention');
  const model = s.module('model', 'Transformer', 'Transformer(...)');
  const x = leaf(s.leaf('tokens', 'input', [32, 64], {}, 45));
  const attn = s.module('attn', 'Attention', 'Attention(64, heads=1)', model);
  const q = linear(s, 'attn.query', x, [64, 64], attn).out;
  const k = linear(s, 'attn.key', x, [64, 64], attn).out;
  const v = linear(s, 'attn.value', x, [64, 64], attn).out;
  const inside = { module: attn, gradient: 0.02 };
  const kt = op(s.op('transpose', 'shape', [k], [64, 32], { ...inside, value: 12 }));
  const scores = op(s.op('matmul', 'matmul', [q, kt], [32, 32], { ...inside, value: 80 }));
  const scaled = op(s.op('mul', 'elementwise', [scores, ['scalar', '0.125']], [32, 32], { ...inside, value: 10 }));
  const mask = leaf(s.leaf('mask', 'constant', [32, 32], {}, 0));
  const masked = op(s.op('add', 'elementwise', [scaled, mask], [32, 32], { ...inside, value: 10 }));
  const weights = op(s.op('softmax', 'reduce', [masked], [32, 32], { ...inside, value: 3 }));
  const mixed = op(s.op('matmul', 'matmul', [weights, v], [32, 64], { ...inside, value: 7 }));
  const out = linear(s, 'attn.out', mixed, [64, 64], attn).out;
  const sum = op(s.op('add', 'elementwise', [out, x], [32, 64], { module: model, value: 46, gradient: 0.09 }));
  const y = leaf(s.leaf('y', 'input', [32], { dtype: 'int64' }, 40));
  s.op('cross_entropy', 'loss', [sum, y], [], { cell: 1, line: 4, value: 0.7, gradient: 1 });
  return finish(s, 90);
}

function shared(): Sent[] {
  const s = new Sketch('shared');
  const model = s.module('model', 'Twice', 'Twice()');
  const a = leaf(s.leaf('left', 'input', [32, 64], {}, 45));
  const b = leaf(s.leaf('right', 'input', [32, 64], {}, 41));
  const first = linear(s, 'encoder', a, [64, 64], model);
  const second = linear(s, 'encoder', b, [64, 64], model, 2, first.leaves);
  const gap = op(s.op('sub', 'elementwise', [first.out, second.out], [32, 64], { module: model, value: 6, gradient: 0.05 }));
  const square = op(s.op('mul', 'elementwise', [gap, gap], [32, 64], { module: model, value: 36, gradient: 0.05 }));
  s.op('mean', 'reduce', [square], [], { cell: 1, line: 4, value: 0.7, gradient: 1 });
  const test = s.op('linear', 'matmul', [leaf(s.leaf('x_test', 'input', [360, 64], {}, 45)), ...first.leaves.map(leaf)], [360, 64], {
    grad: false
  });
  s.op('argmax', 'reduce', [op(test)], [360], { grad: false });
  return finish(s, 40, 'SGD');
}

function odd(): Sent[] {
  const s = new Sketch('odd');
  const names = ['<img src=x onerror=alert(1)>', '重み ∑🙂', 'a'.repeat(5000), '<b>bold</b>', '"quoted" & <script>alert(2)</script>'];
  let x = leaf(s.leaf(names[0] as string, 'input', [32, 64], {}, 45));
  names.forEach((name, i) => {
    const m = s.module(name, name, `${name}(64, 64)`, null);
    const w = s.leaf(`${name}.weight`, 'parameter', [64, 64], { short: name }, 4, 0.1);
    const value = [12, Infinity, 0, NaN, 3e-9][i] as number;
    const gradient = [NaN, 0.02, Infinity, 0, 5e7][i] as number;
    x = op(s.op(i === 2 ? name : 'matmul', 'matmul', [x, leaf(w)], [32, 64], { module: m, value, gradient }));
    if (i === 3) x = op(s.op('mul', 'elementwise', [x, ['past', name], ['scalar', '1e-3']], [32, 64], { value, gradient }));
  });
  s.op('sum', 'reduce', [x], [], { cell: 1, line: 4, value: NaN, gradient: 1, error: '<i>overflow</i>' });
  return finish(s, 30);
}

/** `size` ops: layers in blocks in stages, or a flat chain; a parameter to every fifth op. */
export function many(size: number, flat: boolean, steps = 20): Sent[] {
  const s = new Sketch(`many-${size}-${flat}`);
  const next = numbers(size);
  let x = leaf(s.leaf('x', 'input', [32, 64], {}, 45));
  const model = flat ? null : s.module('model', 'Deep', 'Deep(...)');
  let stage: number | null = null;
  let block: number | null = null;
  while (s.ops.length < size) {
    const n = s.ops.length;
    if (!flat && n % 500 === 0) stage = s.module(`stages.${n / 500}`, 'Stage', 'Stage(...)', model);
    if (!flat && n % 10 === 0) block = s.module(`stages.${Math.floor(n / 500)}.blocks.${n / 10}`, 'Block', 'Block(64)', stage);
    const more = { module: block, value: 10 * next(), gradient: next() / 10 };
    if (!flat && n % 5 === 0) {
      const w = s.leaf(`w${n}`, 'parameter', [64, 64], {}, 4, 0.1);
      x = op(s.op('matmul', 'matmul', [x, leaf(w)], [32, 64], more));
    } else x = op(s.op('tanh', 'elementwise', [x], [32, 64], more));
  }
  s.op('mean', 'reduce', [x], [], { value: 0.7, gradient: 1 });
  return finish(s, steps);
}

function twoOptimizers(): Sent[] {
  const s = new Sketch('gan');
  const g = s.module('generator', 'Sequential', 'Sequential(2)');
  const d = s.module('critic', 'Sequential', 'Sequential(2)');
  const z = leaf(s.leaf('z', 'input', [32, 16], {}, 22));
  const h = linear(s, 'generator.0', z, [16, 64], g).out;
  const fake = linear(
    s,
    'generator.1',
    op(s.op('tanh', 'elementwise', [h], [32, 64], { module: g, value: 20, gradient: 0.01 })),
    [64, 64],
    g
  ).out;
  const score = linear(s, 'critic.0', fake, [64, 1], d).out;
  s.op('mean', 'reduce', [score], [], { value: 0.7, gradient: 1 });
  const [structure, frame] = finish(s, 50) as [Sent, Sent];
  const first = (frame.message.optimizers as { rows: number[]; columns: string[]; lr: number; label: string }[])[0]!;
  frame.message.optimizers = [
    { ...first, rows: [0, 1, 2, 3] },
    { ...first, label: 'SGD', lr: 0.02, columns: ['rms g', 'momentum', 'update:weight'], rows: [4, 5] }
  ];
  const old = new Float32Array(frame.buffers[4] as ArrayBuffer);
  frame.buffers[4] = new Float32Array([...old.subarray(0, 20), 0.02, 0.05, 2e-4, 0.01, 0.02, 9e-3]).buffer;
  return [structure, frame];
}

/** All examples by name; each is made when it is asked for. */
export const examples: Record<string, () => Sent[]> = {
  empty: () => [],
  forward: () => digitsRun({ until: 'forward' }),
  backward: () => digitsRun({ until: 'backward' }),
  digits: () => digitsRun(),
  split: () => digitsRun({ fused: false }),
  start: () => digitsRun({ steps: 2 }),
  sgd: () => digitsRun({ optimizer: 'SGD' }),
  nan: () => digitsRun({ nan: true }),
  residual,
  attention,
  shared,
  two: twoOptimizers,
  odd,
  thousand: () => many(1000, false),
  chain: () => many(1000, true),
  tenthousand: () => many(10_000, false)
};
