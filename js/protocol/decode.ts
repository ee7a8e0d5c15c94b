/** Messages and their buffers, made into typed arrays that can be read at any alignment. */

import {
  VERSION,
  type AnswerHeader,
  type CaptureState,
  type CellRun,
  type FindingHeader,
  type FindingsHeader,
  type FrameHeader,
  type Reset,
  type Structure,
  type Wire
} from './messages';
import { Parts, unpack, type Packed, type Part } from './unpack';

/** An optimizer's table: `values` holds one row of `columns.length` numbers for each entry of `rows`. */
export interface OptimizerTable {
  label: string;
  lr: number;
  /** The step that it is of, where that is not the frame's. */
  of?: number;
  columns: string[];
  rows: number[];
  values: Float32Array;
}

/** Steps `first..last` of the timeline; `data` holds min, max and last of every column for each span. */
export interface Spans {
  first: Int32Array;
  last: Int32Array;
  data: Float32Array;
  width: number;
}

/** The numbers of one step, decoded: what comes as it is, and what stood in wire numbers or in buffers. */
export interface Frame extends Pick<FrameHeader, 'kind' | 'run' | 'step' | 'of' | 'key' | 'open' | 'state' | 'cell' | 'gate'> {
  tracing: { on: boolean; share: number | null; every: number; much?: boolean };
  loss: number | null;
  grad_norm: number | null;
  optimizers: OptimizerTable[];
  columns: string[] | null;
  spans: Spans;
  /** Per op: value norm, gradient norm, forward and backward time in microseconds. */
  ops: Float32Array;
  op_has: Uint8Array;
  /** Per leaf: value norm, gradient norm. */
  leaves: Float32Array;
  /** Bits: 1 the value is known, 2 the gradient, 4 that is the sum of several backward calls. */
  leaf_has: Uint8Array;
}

/** A number over the steps; outside of `low..high` it is bad. */
export interface Trend {
  label: string;
  low: number | null;
  high: number | null;
  steps: Int32Array;
  values: Float32Array;
}

/** A finding with its numbers as numbers. */
export interface Finding extends Omit<FindingHeader, 'numbers' | 'trend'> {
  numbers: { name: string; value: number; limit: string }[];
  trend: Trend | null;
}

/** What the rules find now, the worst first. */
export interface Findings extends Omit<FindingsHeader, 'findings'> {
  findings: Finding[];
}

/** The second part of the bundle, as text. */
export interface Code {
  kind: 'code';
  text: string;
}

export type Incoming = Code | Structure | Frame | Reset | AnswerHeader | CellRun | CaptureState | Findings;

export type Buffer = DataView | ArrayBuffer;

/** The bits of the float32 that stands for a number that was not measured: gradlab/trace/timeline.py has it. */
export const MISSING = 0x7fc00001;

/** Whether the number at a place was not measured; one that was and is NaN has other bits. */
export function isMissing(values: Float32Array, i: number): boolean {
  return new Uint32Array(values.buffer, values.byteOffset + 4 * i, 1)[0] === MISSING;
}

/** The number that a JSON value stands for; null stays null. */
export function toNumber(value: Wire | null | undefined): number | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'number' ? value : Number(value);
}

/** The bytes of a buffer; a part of a larger message is copied when it starts between two words. */
export function bytes(buffer: Buffer | undefined): Uint8Array {
  if (buffer === undefined) return new Uint8Array(0);
  const part = ArrayBuffer.isView(buffer) ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength) : new Uint8Array(buffer);
  return part.byteOffset % 4 === 0 ? part : part.slice();
}

/** A buffer of float32. */
export function floats(buffer: Buffer | undefined): Float32Array {
  const part = bytes(buffer);
  return new Float32Array(part.buffer as ArrayBuffer, part.byteOffset, part.byteLength >> 2);
}

/** A buffer of float64, which may begin between two of them. */
export function doubles(buffer: Buffer | undefined): Float64Array {
  const part = bytes(buffer).slice();
  return new Float64Array(part.buffer as ArrayBuffer, 0, part.byteLength >> 3);
}

/** A buffer of int32. */
export function integers(buffer: Buffer | undefined): Int32Array {
  const part = bytes(buffer);
  return new Int32Array(part.buffer as ArrayBuffer, part.byteOffset, part.byteLength >> 2);
}

/** Exact spans carry each number once; here it becomes min, max and last alike. */
function spread(data: Float32Array, spans: number, width: number): Float32Array {
  const out = new Float32Array(spans * 3 * width);
  for (let s = 0; s < spans; s++) {
    const row = data.subarray(s * width, (s + 1) * width);
    for (let part = 0; part < 3; part++) out.set(row, (s * 3 + part) * width);
  }
  return out;
}

function expect(what: string, got: number, need: number): void {
  if (got !== need) throw new Error(`gradlab: the frame holds ${got} ${what}, its header says ${need}`);
}

function decodeFrame(header: FrameHeader, buffers: readonly Buffer[]): Frame {
  const { spans, width, exact } = header.series;
  const raw = floats(buffers[7]);
  expect('span numbers', raw.length, spans * width * (exact ? 1 : 3));
  const all = floats(buffers[4]);
  let at = 0;
  const optimizers = header.optimizers.map(o => {
    const count = o.rows.length * o.columns.length;
    const values = all.subarray(at, (at += count));
    return { ...o, lr: toNumber(o.lr) ?? NaN, values };
  });
  expect('optimizer numbers', all.length, at);
  return {
    ...header,
    tracing: { ...header.tracing, share: toNumber(header.tracing.share) },
    loss: toNumber(header.loss),
    grad_norm: toNumber(header.grad_norm),
    columns: header.columns ?? null,
    optimizers,
    ops: floats(buffers[0]),
    op_has: bytes(buffers[1]),
    leaves: floats(buffers[2]),
    leaf_has: bytes(buffers[3]),
    spans: {
      first: integers(buffers[5]),
      last: integers(buffers[6]),
      data: exact ? spread(raw, spans, width) : raw,
      width
    }
  };
}

function decodeFindings(header: FindingsHeader, buffers: readonly Buffer[]): Findings {
  let at = 0;
  const findings = header.findings.map(one => {
    const numbers = one.numbers.map(([name, value, limit]) => ({ name, value: toNumber(value) ?? NaN, limit }));
    if (!one.trend) return { ...one, numbers, trend: null };
    const steps = integers(buffers[at++]);
    const values = floats(buffers[at++]);
    expect('points of a trend', values.length, steps.length);
    const { label, low, high } = one.trend;
    return { ...one, numbers, trend: { label, low: toNumber(low), high: toNumber(high), steps, values } };
  });
  return { ...header, findings };
}

/**
 * Read one custom message; null for a kind this page does not know, and for a part of what is not complete yet.
 *
 * Throws when the version differs or a buffer does not hold what the header says.
 */
export function decode(message: unknown, buffers: readonly Buffer[] = [], parts = new Parts()): Incoming | null {
  const { v, kind } = message as { v?: number; kind?: string };
  if (v !== VERSION) throw new Error(`gradlab: the kernel speaks version ${v}, this page ${VERSION}; reload the page`);
  if (kind === 'structure')
    return 'faces' in (message as object) ? unpack(message as Packed, buffers.map(integers)) : (message as Structure);
  if (kind === 'part') {
    const whole = parts.add(message as Part, bytes(buffers[0]));
    return whole && decode(whole.message, whole.buffers);
  }
  if (kind === 'code') return { kind, text: new TextDecoder().decode(bytes(buffers[0])) };
  if (kind === 'reset' || kind === 'answer') return message as Reset | AnswerHeader;
  if (kind === 'cell') return message as CellRun;
  if (kind === 'capture') return message as CaptureState;
  if (kind === 'frame') return decodeFrame(message as FrameHeader, buffers);
  if (kind === 'findings') return decodeFindings(message as FindingsHeader, buffers);
  return null;
}
