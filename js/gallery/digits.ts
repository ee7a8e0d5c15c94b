/** The digits run of the gallery: numbers of a real training of 200 steps, shown at step 138. */

import digits from './data/digits.json';
import { Sketch, type Sent } from './sketch';

const SIZES = [64, 128, 64, 10];
const NAMES = Object.keys(digits.g) as (keyof typeof digits.g)[];
const COLUMNS = ['loss', 'grad_norm', 'lr/AdamW', ...NAMES.flatMap(name => [`g/${name}`, `w/${name}`, `u/${name}`])];

export interface DigitsOptions {
  /** How far the run is: only the forward pass, up to backward, or whole steps. */
  until: 'forward' | 'backward' | 'step';
  /** Linear as one op with two chips, or as matmul and add. */
  fused: boolean;
  optimizer: 'AdamW' | 'SGD';
  steps: number;
  nan?: boolean;
}

const at = (steps: number) => Math.max(0, steps - 1);

function history(steps: number, nan: boolean): number[][] {
  return Array.from({ length: steps }, (_, t) => {
    const bad = nan && t > steps - 14;
    const x = (value: number | undefined) => (bad ? NaN : (value ?? NaN));
    return [
      x(digits.loss[t]),
      x(digits.gnorm[t]),
      digits.lr[t] as number,
      ...NAMES.flatMap((name, i) => [x(digits.g[name][t]), x((digits.table[i]?.w ?? 1) * 30), x(digits.ratio[name][t])])
    ];
  });
}

function network(sketch: Sketch, options: DigitsOptions): void {
  const back = options.until !== 'forward';
  const t = at(options.steps);
  const x = sketch.leaf('x', 'input', [32, 64], {}, digits.x.value);
  const parameters = SIZES.slice(1).map((out, i) => {
    const name = `fc${i + 1}`;
    const make = (kind: 'weight' | 'bias', shape: number[]) => {
      const column = 2 * i + (kind === 'weight' ? 0 : 1);
      const full = NAMES[column] as keyof typeof digits.g;
      return sketch.leaf(`${name}.${kind}`, 'parameter', shape, { column }, 3 + i, back ? digits.g[full][t] : undefined);
    };
    return [make('weight', [out, SIZES[i] as number]), make('bias', [out])] as const;
  });
  const y = sketch.leaf('y', 'input', [32], { dtype: 'int64' }, 30.2);
  let input: ['leaf' | 'op', number] = ['leaf', x];
  let k = 0;
  const numbers = () => {
    const o = digits.ops[k++] as (typeof digits.ops)[0];
    const bad = options.nan && k > 5;
    return { value: bad ? NaN : o.value, gradient: back ? (options.nan ? NaN : o.grad) : undefined, us: o.us, back: back ? o.us_back : 0 };
  };
  let logits = 0;
  for (let i = 1; i < SIZES.length; i++) {
    const shape = [32, SIZES[i] as number];
    const module = sketch.module(`fc${i}`, 'Linear', `Linear(${SIZES[i - 1]}, ${SIZES[i]})`, 0);
    const [w, b] = parameters[i - 1] as readonly [number, number];
    const where = { module, line: 7 + i };
    if (options.fused) {
      const first = numbers();
      const second = numbers();
      input = [
        'op',
        sketch.op('linear', 'matmul', [input, ['leaf', w], ['leaf', b]], shape, {
          ...where,
          ...second,
          us: first.us + second.us,
          back: first.back + second.back
        })
      ];
    } else {
      input = ['op', sketch.op('matmul', 'matmul', [input, ['leaf', w]], shape, { ...where, ...numbers() })];
      input = ['op', sketch.op('add', 'elementwise', [input, ['leaf', b]], shape, { ...where, ...numbers() })];
    }
    if (i < SIZES.length - 1) input = ['op', sketch.op('gelu', 'elementwise', [input], shape, { module: 0, line: 7 + i, ...numbers() })];
    logits = input[1];
  }
  sketch.op(
    'cross_entropy',
    'loss',
    [
      ['op', logits],
      ['leaf', y]
    ],
    [],
    { cell: 1, line: 4, ...numbers(), value: options.nan ? NaN : digits.loss[t] }
  );
  const aside = { grad: false, cell: 1, line: 8 };
  if (options.until !== 'step') return;
  const pick = sketch.op('argmax', 'reduce', [['op', logits]], [32], { ...aside, dtype: 'int64', value: 29.7 });
  const same = sketch.op(
    'eq',
    'elementwise',
    [
      ['op', pick],
      ['leaf', y]
    ],
    [32],
    { ...aside, dtype: 'bool', value: 5.5 }
  );
  sketch.op('mean', 'reduce', [['op', same]], [], { ...aside, value: digits.acc[t] });
}

function table(options: DigitsOptions): { columns: string[]; values: number[][] } {
  const adam = options.optimizer === 'AdamW';
  const columns = adam ? ['rms g', 'm_hat', 'v_hat', 'effective_lr', 'update:weight'] : ['rms g', 'momentum', 'update:weight'];
  const x = (n: number) => (options.nan ? NaN : n);
  const values = digits.table.map(r => (adam ? [r.g, r.m, r.v, r.elr, r.ratio] : [r.g, r.m, r.ratio]).map(x));
  return { columns, values };
}

/** The messages of the digits run as far as it went. */
export function digitsRun(options: Partial<DigitsOptions> = {}): Sent[] {
  const all: DigitsOptions = { until: 'step', fused: true, optimizer: 'AdamW', steps: 138, ...options };
  const sketch = new Sketch(`digits-${JSON.stringify(all)}`);
  sketch.module('model', 'MLP', 'MLP(...)');
  network(sketch, all);
  const t = at(all.steps);
  if (all.until === 'forward') return [sketch.structureMessage(), sketch.frame({ step: 1, open: true, loss: null })];
  const loss = all.nan ? ('NaN' as const) : (digits.loss[t] as number);
  const grad_norm = all.nan ? ('NaN' as const) : (digits.gnorm[t] as number);
  const columns = COLUMNS.map(name => name.replace('AdamW', all.optimizer));
  if (all.until === 'backward') return [sketch.structureMessage(), sketch.frame({ step: 0, open: true, loss, grad_norm })];
  const { columns: names, values } = table(all);
  const optimizers = [{ label: all.optimizer, lr: digits.lr[t] as number, columns: names, rows: NAMES.map((_, i) => i) }];
  const header = { step: all.steps, state: 'running' as const, loss, grad_norm, optimizers };
  return [sketch.structureMessage(), sketch.frame(header, columns, history(all.steps, all.nan ?? false), [values])];
}
