/** Messages of an invented training run, as the kernel would send them. */

import { VERSION, type FrameHeader, type Input, type Kind, type Leaf, type Op, type Structure } from '../protocol/messages';

/** One message with its buffers. */
export interface Sent {
  message: Record<string, unknown>;
  buffers: ArrayBuffer[];
}

/** A number no op has: `undefined` stays out of `op_has`. */
type Number_ = number | undefined;

const EMPTY: Omit<FrameHeader, 'key' | 'series'> = {
  kind: 'frame',
  run: 1,
  step: 1,
  open: false,
  state: 'idle',
  cell: 4,
  tracing: { on: true, share: 0.021, every: 1 },
  loss: null,
  grad_norm: null,
  optimizers: []
};

/** A tape that is written op by op, with its numbers. */
export class Sketch {
  readonly ops: Op[] = [];
  readonly leaves: Leaf[] = [];
  readonly structure: Structure;
  readonly opNumbers: [Number_, Number_, number, number][] = [];
  readonly leafNumbers: [Number_, Number_][] = [];
  folded = 0;

  constructor(readonly key: string) {
    this.structure = { kind: 'structure', key, hash: key, ops: this.ops, leaves: this.leaves, modules: [], cells: [], folded: 0 };
    for (const count of [3, 4]) this.structure.cells.push({ id: `cell-${count}`, count, file: null });
  }

  module(path: string, cls: string, repr: string, parent: number | null = null, call = 1): number {
    const name = path.split('.').at(-1) ?? path;
    return this.structure.modules.push({ path, name, cls, repr, parent, call }) - 1;
  }

  leaf(name: string, kind: Leaf['kind'], shape: number[], more: Partial<Leaf> = {}, value: Number_ = 1, gradient?: number): number {
    const size = shape.reduce((a, b) => a * b, 1) * 4;
    this.leafNumbers.push([value, gradient]);
    return (
      this.leaves.push({
        name,
        short: name.split('.').at(-1) ?? name,
        kind,
        shape,
        dtype: 'float32',
        bytes: size,
        requires_grad: kind === 'parameter',
        module: null,
        column: null,
        ...more
      }) - 1
    );
  }

  op(
    name: string,
    kind: Kind,
    inputs: Input[],
    shape: number[],
    more: Partial<Op> & { value?: number; gradient?: number; us?: number; back?: number } = {}
  ): number {
    const { value = 1, gradient, us = 10, back = 0, ...rest } = more;
    this.opNumbers.push([value, gradient, us, back]);
    const size = shape.reduce((a, b) => a * b, 1) * 4;
    return (
      this.ops.push({
        name,
        function: name.replace(/(^|_)(.)/g, (_, __, c: string) => c.toUpperCase()),
        kind,
        module: null,
        inputs,
        shape,
        dtype: 'float32',
        bytes: size,
        grad: true,
        cell: 0,
        line: 8,
        error: null,
        ...rest
      }) - 1
    );
  }

  structureMessage(): Sent {
    return { message: { v: VERSION, ...this.structure, folded: this.folded }, buffers: [] };
  }

  /** A frame of this tape; `history` holds rows of numbers, one a step, in the order of `columns`. */
  frame(header: Partial<FrameHeader>, columns: string[] = [], history: number[][] = [], tables: number[][][] = []): Sent {
    const has = (numbers: readonly (readonly [Number_, Number_, ...unknown[]])[]) =>
      new Uint8Array(numbers.map(([v, g]) => (v === undefined ? 0 : 1) | (g === undefined ? 0 : 2)));
    const flat = (rows: readonly (readonly Number_[])[]) => new Float32Array(rows.flatMap(row => row.map(x => x ?? 0)));
    const steps = history.map((_, i) => i + 1);
    return {
      message: {
        v: VERSION,
        ...EMPTY,
        key: this.key,
        ...header,
        ...(columns.length > 0 ? { columns } : {}),
        series: { spans: steps.length, width: columns.length, exact: true }
      },
      buffers: [
        flat(this.opNumbers).buffer,
        has(this.opNumbers).buffer,
        flat(this.leafNumbers).buffer,
        has(this.leafNumbers).buffer,
        new Float32Array(tables.flat(2)).buffer,
        new Int32Array(steps).buffer,
        new Int32Array(steps).buffer,
        new Float32Array(history.flat()).buffer
      ]
    };
  }
}
