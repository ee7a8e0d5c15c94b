/** The messages between kernel and page, version 1: the same words as `gradlab/notebook/protocol.py`. */

export const VERSION = 1;

/** A number as JSON can carry it: what is not finite travels as its name. */
export type Wire = number | 'NaN' | 'Infinity' | '-Infinity';

/** Where one input of an op comes from; `past` names an op of an earlier step. */
export type Input = ['op', number] | ['leaf', number] | ['scalar', string] | ['past', string];

export type Kind = 'matmul' | 'elementwise' | 'reduce' | 'shape' | 'loss';

/** One op of the tape, in tape order. */
export interface Op {
  name: string;
  function: string;
  kind: Kind;
  module: number | null;
  inputs: Input[];
  shape: number[];
  dtype: string;
  bytes: number;
  /** Whether the op is in the graph that `backward()` walks. */
  grad: boolean;
  cell: number | null;
  line: number | null;
  error: string | null;
}

/** A tensor that no op of this tape made: a parameter, an input or a constant. */
export interface Leaf {
  name: string;
  short: string;
  kind: 'parameter' | 'input' | 'constant';
  shape: number[];
  dtype: string;
  bytes: number;
  requires_grad: boolean;
  module: number | null;
  /** Which parameter of the timeline it is. */
  column: number | null;
}

/** One call of a module; a layer used twice appears twice. */
export interface Module {
  path: string;
  name: string;
  cls: string;
  repr: string;
  parent: number | null;
  call: number;
}

/** A notebook cell, or a file in plain Python. */
export interface Cell {
  id: string | null;
  count: number | null;
  file: string | null;
  /** Where the file is, and the home directory that a `~` in the server's paths means. */
  path?: string | null;
  home?: string | null;
}

/** The graph of one step without its numbers; sent once for each `key`. */
export interface Structure {
  kind: 'structure';
  key: string;
  hash: string;
  ops: Op[];
  leaves: Leaf[];
  modules: Module[];
  cells: Cell[];
  folded: number;
}

export type KernelState = 'idle' | 'running' | 'interrupted' | 'error';

/** Whether training is held, and what it was asked for; `aside`: the kernel hears the page while a cell runs. */
export interface Gate {
  wanted: 'run' | 'pause' | 'step' | 'op';
  held: {
    step: number;
    op: string | null;
    /** The op's place in the structure. */
    at: number | null;
    backward: boolean;
    where: string | null;
    reason: string | null;
  } | null;
  aside: boolean;
}

export interface OptimizerHeader {
  label: string;
  lr: Wire;
  /** The step that its table is of, where that is not the frame's. */
  of?: number;
  columns: string[];
  rows: number[];
}

/** The numbers of one step as they arrive; the arrays are in the buffers beside it. */
export interface FrameHeader {
  kind: 'frame';
  run: number;
  step: number;
  /** The step that the numbers of ops and leaves are of, where that is not `step`, of which no op was read. */
  of?: number;
  key: string;
  open: boolean;
  state: KernelState;
  cell: number | null;
  /** Of `every` steps one is read in full: the others only for loss, gradients and update. `much`: it takes far more than it may. */
  tracing: { on: boolean; share: Wire | null; every: number; much?: boolean };
  loss: Wire | null;
  grad_norm: Wire | null;
  optimizers: OptimizerHeader[];
  columns?: string[];
  gate?: Gate;
  series: { spans: number; width: number; exact: boolean };
}

/** Forget the timeline: a new run, or `%gradlab clear`. */
export interface Reset {
  kind: 'reset';
  run: number;
}

/** What an `ask` gets back: `pending` first where it waits for the end of a step, then what was asked for or the reason why not. */
export interface AnswerHeader extends Record<string, unknown> {
  kind: 'answer';
  id: string;
  ok?: boolean;
  pending?: boolean;
  error?: string;
}

/** How the capture of a step stands, and the same in words. */
export interface CaptureState {
  kind: 'capture';
  state: 'none' | 'armed' | 'open' | 'complete' | 'refused';
  text?: string;
  run?: number;
  step?: number;
  bytes?: number;
  limit?: number;
}

/** A question or a command; the answer carries the same id. */
export interface Ask {
  kind: 'ask';
  id: string;
  what: string;
  args: object;
}

/** What stands at the end of a line: line, short text, number of the op in the step on show that made it. */
export type Line = [number, string, number | null];

/** The tensor or number that a failed op read. */
export interface Operand {
  name: string;
  shape: number[] | null;
  dtype: string;
}

/** Where an op failed, on what, and what it said. */
export interface Failure extends Cell {
  /** Null where a function refused its arguments before an op began. */
  op: number | null;
  name: string;
  line: number | null;
  operands: Operand[];
  text: string;
}

/** A run of a cell, told when it starts and again with all fields when it ends; with the first ones alone where nobody asked then. */
export interface CellRun {
  kind: 'cell';
  id: string;
  count: number | null;
  state: KernelState;
  /** What ran; null where it is very long. */
  source: string | null;
  /** Ops of one step, where the cell made steps; else all ops that it ran. */
  ops?: number;
  steps?: number;
  ms?: number;
  /** Whether the kernel traces. */
  tracing?: boolean;
  findings?: number;
  severities?: Record<FindingHeader['severity'], number>;
  lines?: Line[];
  /** Lines of other cells, which this one called, and how many findings point there. */
  elsewhere?: { id: string; count: number | null; lines: Line[]; findings?: number }[];
  error?: Failure | null;
}

/** One thing that is wrong. In its texts code stands between backticks, numbers that count between two stars. */
export interface FindingHeader {
  rule: string;
  severity: 'info' | 'warning' | 'error';
  title: string;
  verdict: string;
  why: string;
  next: string;
  code: string;
  learn: string;
  /** Places in the structure of the message's key. */
  op: number | null;
  leaf: number | null;
  parameter: string | null;
  where: string;
  step: number | null;
  /** The same as long as the finding stands. */
  key: string;
  /** What was measured, its value, and what it is held against. */
  numbers: [string, Wire, string][];
  /** A number over the steps; outside of `low..high` it is bad. Its points are in two buffers: steps and values. */
  trend: { label: string; low: Wire | null; high: Wire | null } | null;
}

/** What the rules find now, the worst first. */
export interface FindingsHeader {
  kind: 'findings';
  run: number;
  step: number;
  key: string;
  /** Rules that had what they need, and that had not. */
  ran: number;
  lacking: number;
  muted: string[];
  findings: FindingHeader[];
}

/** What the page says to the kernel; `page` tells several pages of one kernel apart. */
export type Outgoing =
  | { kind: 'hello'; page: string; visible: boolean }
  | { kind: 'visible'; page: string; visible: boolean }
  | { kind: 'trace'; on: boolean }
  /** This page shows what cells come to. */
  | { kind: 'cells'; page: string; on: boolean }
  | Ask;
