/** What one session of the kernel has said, and the selection: the state that all its panels share. */

import { batch, computed, signal } from '@preact/signals-core';
import type { Range } from '../draw/scale';
import { decode, type Buffer, type Findings, type Frame } from '../protocol/decode';
import type { CaptureState, CellRun, Gate, Op, Outgoing, Structure } from '../protocol/messages';
import { Parts } from '../protocol/unpack';
import { Asking, type Answer } from './asking';
import { History } from './history';
import { answered, isExact, recalled, rowAt, type Step } from './past';
import { Series } from './series';
import type { More } from './view';

export type { Step };

const MOST_STRUCTURES = 64; // this and the next as in gradlab/notebook/stream.py
const MOST_ITEMS = 60_000; // ops, leaves and modules, about 12 MB

/** Names this page to the kernel, from load to load. */
export const PAGE = Math.random().toString(36).slice(2);

/** The store of one session. Panels read its signals; the widget feeds `receive`. */
export class Store {
  /** The newest step; null until the first frame whose structure is known. */
  readonly live = signal<Step | null>(null);
  /** The step that the reader went back to; null follows the newest. */
  readonly at = signal<number | null>(null);
  /** The step that others are compared with; null where none is. */
  readonly mark = signal<number | null>(null);
  private readonly past = signal<Step | null>(null);
  /** The step to draw: the newest, or the one that the reader went back to, which no new frame moves. */
  readonly step = computed(() => (this.at.value === null ? this.live.value : this.past.value));
  /** Counts changes of `series`, which is too large to copy. */
  readonly revision = signal(0);
  /** `op:3`, `leaf:2`, `param:fc1.weight`, or nothing. */
  readonly selected = signal('');
  /** Modules the reader opened or closed, by path. */
  readonly folds = signal<ReadonlyMap<string, boolean>>(new Map());
  /** How the capture of a step stands. */
  readonly capture = signal<CaptureState>({ kind: 'capture', state: 'none' });
  readonly series = new Series();
  /** The step under the pointer, the same in all charts; null where it is over none. */
  readonly near = signal<number | null>(null);
  /** The steps that the charts are zoomed to; null shows all. */
  readonly range = signal<Range | null>(null);
  /** What the rules find; null before they were asked. */
  readonly findings = signal<Findings | null>(null);
  /** Whether training is held, where, and what it was asked for. */
  readonly gate = signal<Gate>({ wanted: 'run', held: null, aside: true });
  /** Whether the kernel traces, from its last frame, drawn or not. */
  tracing = false;
  /** The line that the cursor is on in a notebook. */
  readonly cursor = signal<{ cell: string; line: number } | null>(null);
  /** The ops of the step on show that were made on the cursor's line: panels highlight them like what is under the pointer. */
  readonly line = computed(() => madeOn(this.cursor.value, this.step.value?.structure));
  /** Called with each run of a cell. */
  onCell: (run: CellRun) => void = () => {};

  /** The frames received. */
  readonly history = new History();
  private until = 0;
  private recalling = false;
  private readonly asking = new Asking(PAGE, message => this.send(message));
  private readonly parts = new Parts();
  /** The second part of the bundle, once it has come. */
  readonly more = signal<More | null>(null);
  /** Runs the text of the second part when the kernel has sent it. */
  onCode: (code: string) => void = () => undefined;

  private readonly structures = new Map<string, Structure>();
  private readonly shown = new Set<object>();
  private pending: Frame | null = null;
  private asked = '';
  private scheduled = false;
  private run = -1;
  private said: boolean | null = null;

  constructor(
    readonly send: (message: Outgoing) => void,
    private readonly later: (draw: () => void) => void = unhurried()
  ) {}

  /** Take one message of the kernel; what can't be read is reported once in the console and dropped. */
  receive(message: unknown, buffers: readonly Buffer[] = []): void {
    let incoming;
    try {
      incoming = decode(message, buffers, this.parts);
    } catch (error) {
      console.warn(error);
      return;
    }
    if (incoming?.kind === 'structure') this.keep(incoming);
    else if (incoming?.kind === 'reset') this.reset(incoming.run);
    else if (incoming?.kind === 'frame') this.take(incoming);
    else if (incoming?.kind === 'findings') this.findings.value = incoming;
    else if (incoming?.kind === 'code') this.onCode(incoming.text);
    else if (incoming?.kind === 'cell') this.onCell(incoming);
    else if (incoming?.kind === 'capture') this.capture.value = incoming;
    else if (incoming?.kind === 'answer') this.asking.take(incoming, buffers);
  }

  /**
   * Ask the kernel; rejects with its words where it refuses, and when the session ends.
   *
   * What evaluates the model is answered at the end of the running step; `pending` is called when that is so.
   */
  ask(what: string, args: object = {}, pending?: () => void): Promise<Answer> {
    return this.asking.ask(what, args, pending);
  }

  /** Tell the kernel to do something; a refusal is reported in the console. */
  command(what: string, args: object = {}): void {
    this.ask(what, args).catch(console.warn);
  }

  /** The kernel is gone, or the session closed. */
  end(): void {
    this.asking.end();
  }

  /** Ask for the structure and the whole history. */
  hello(): void {
    this.send({ kind: 'hello', page: PAGE, visible: this.shown.size > 0 });
  }

  /** A view appeared or went; the kernel hears of it when the first comes or the last goes. */
  show(view: object, visible: boolean): void {
    if (visible) this.shown.add(view);
    else this.shown.delete(view);
    const any = this.shown.size > 0;
    if (any !== this.said) {
      this.said = any;
      this.send({ kind: 'visible', page: PAGE, visible: any });
    }
  }

  /** The last step that charts show: to a reader who went back, the newest one of that moment. */
  get lastShown(): number {
    return this.at.value === null ? this.series.lastStep : Math.min(this.until, this.series.lastStep);
  }

  /** How many steps back the last one lies, at most, that was read in full. */
  private get glances(): number {
    const every = this.live.value?.frame.tracing.every ?? 1;
    return every > 1 ? every + 1 : 1;
  }

  /** The number of a column of the timeline at the step that is drawn, or at the last one read in full; NaN where it has none. */
  number(column: string): number {
    const row = this.at.value === null ? null : this.past.value?.row;
    return row ? (row[this.series.column(column)] ?? NaN) : this.series.latest(column, this.glances);
  }

  /** Go to a step of the run; null goes on with the newest. */
  scrub(step: number | null): void {
    const live = this.live.peek();
    const { series } = this;
    if (step === null || !live || series.size === 0) {
      batch(() => {
        this.at.value = this.past.value = null;
        this.revision.value++;
      });
      return;
    }
    this.until = series.lastStep;
    const to = Math.min(series.lastStep, Math.max(series.firstStep, Math.round(step)));
    const near = this.nearest(to) ?? live;
    batch(() => {
      this.at.value = to;
      this.past.value = recalled(to, near, rowAt(series, to), series.columns);
      this.revision.value++;
    });
    if (near.frame.step !== to || !isExact(series, to)) void this.recall();
  }

  /** The received frame that comes nearest to a step. */
  private nearest(step: number): Step | null {
    const live = this.live.peek();
    if (live && !live.frame.open && live.frame.step === step) return live;
    const frame = this.history.at(step);
    const structure = frame && this.structures.get(frame.key);
    return structure ? { structure, frame } : null;
  }

  /** Ask the kernel for a step; while it answers, only the newest wish is remembered. */
  private async recall(): Promise<void> {
    if (this.recalling) return;
    this.recalling = true;
    for (let done: number | null = null; this.at.peek() !== null && this.at.peek() !== done;) {
      done = this.at.peek() as number;
      const step = await this.stepAt(done).catch(() => null);
      if (step && this.at.peek() === done) this.past.value = step;
    }
    this.recalling = false;
  }

  /** Everything that is known of an earlier step, with what the kernel keeps of it. */
  async stepAt(step: number): Promise<Step | null> {
    const like = this.nearest(step) ?? this.live.peek();
    if (!like) return null;
    if (like.frame.step === step && isExact(this.series, step)) return { ...like, row: rowAt(this.series, step) };
    const answer = await this.ask('past', { step });
    const { columns } = this.series;
    const found = answered(step, answer, like.frame, columns, this.structures);
    if (found && like.frame.step === step) return { ...like, row: found.row };
    return found;
  }

  select(what: string): void {
    this.selected.value = what;
  }

  /** Select, or let go of what is selected already. */
  toggle(what: string): void {
    this.selected.value = this.selected.value === what ? '' : what;
  }

  setFold(path: string, open: boolean): void {
    this.folds.value = new Map(this.folds.value).set(path, open);
  }

  private keep(structure: Structure): void {
    this.structures.delete(structure.key);
    this.structures.set(structure.key, structure);
    let items = 0;
    for (const one of this.structures.values()) items += itemsOf(one);
    for (const [key, oldest] of this.structures) {
      if (key === structure.key || (items <= MOST_ITEMS && this.structures.size <= MOST_STRUCTURES)) break;
      this.structures.delete(key);
      items -= itemsOf(oldest);
    }
    if (this.asked === structure.key) this.asked = '';
    this.schedule();
  }

  private reset(run: number): void {
    this.run = run;
    this.series.clear();
    this.history.clear();
    this.pending = null;
    batch(() => {
      this.live.value = this.past.value = this.at.value = this.mark.value = null;
      this.findings.value = null;
      this.selected.value = '';
      this.near.value = this.range.value = null;
      this.revision.value++;
    });
  }

  /** History is added at once, drawing waits for the next animation frame: the latest numbers win, no step is lost. */
  private take(frame: Frame): void {
    if (frame.run !== this.run) {
      if (this.run >= 0) this.reset(frame.run);
      this.run = frame.run;
    }
    if (frame.columns) this.series.setColumns(frame.columns);
    this.series.append(frame.spans);
    this.history.keep(frame);
    this.tracing = frame.tracing.on;
    this.pending = frame;
    if (!this.structures.has(frame.key) && this.asked !== frame.key) {
      this.asked = frame.key;
      this.hello();
    }
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.later(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    const frame = this.pending;
    if (!frame) return;
    const structure = this.structures.get(frame.key);
    batch(() => {
      this.revision.value++;
      if (!structure) return;
      this.pending = null;
      const before = this.live.value?.structure;
      const follows = this.at.value === null;
      if (follows && before && before !== structure && !stillThere(this.selected.value, before, structure)) this.selected.value = '';
      this.live.value = { structure, frame };
      if (frame.gate && JSON.stringify(frame.gate) !== JSON.stringify(this.gate.peek())) this.gate.value = frame.gate;
    });
  }
}

/** Draws in an animation frame, and so seldom that pictures take at most a third of the page's time, up to half a second apart. */
function unhurried(): (draw: () => void) => void {
  let due = 0;
  const soon = (draw: () => void) =>
    requestAnimationFrame(began => {
      draw();
      setTimeout(() => (due = performance.now() + Math.min(500, 2 * (performance.now() - began))));
    });
  return draw => void setTimeout(soon, due - performance.now(), draw);
}

const NONE: ReadonlySet<number> = new Set();

/** The ops that a line of a cell made. */
function madeOn(place: { cell: string; line: number } | null, structure: Structure | undefined): ReadonlySet<number> {
  if (!place || !structure) return NONE;
  const cells = structure.cells.map(cell => cell.id === place.cell);
  const found = structure.ops.flatMap((op, i) => (op.cell !== null && cells[op.cell] && op.line === place.line ? [i] : []));
  return found.length > 0 ? new Set(found) : NONE;
}

/** The parameters that ops read. */
export function parametersOf(ops: ReadonlySet<number>, structure: Structure | undefined): ReadonlySet<string> {
  const names = new Set<string>();
  for (const i of ops) {
    for (const [from, j] of structure?.ops[i]?.inputs ?? []) {
      const leaf = from === 'leaf' ? structure?.leaves[j] : undefined;
      if (leaf?.kind === 'parameter') names.add(leaf.name);
    }
  }
  return names;
}

function itemsOf(structure: Structure): number {
  return structure.ops.length + structure.leaves.length + structure.modules.length;
}

/** Whether a selection means the same in another structure: a tape that grew keeps its first ops. */
function stillThere(selected: string, before: Structure, after: Structure): boolean {
  const [kind, rest] = split(selected);
  if (kind === 'op') {
    const [a, b] = [before.ops[Number(rest)], after.ops[Number(rest)]] as [Op | undefined, Op | undefined];
    return a !== undefined && b !== undefined && a.name === b.name && a.line === b.line;
  }
  if (kind === 'leaf') return before.leaves[Number(rest)]?.name === after.leaves[Number(rest)]?.name;
  return true;
}

/** `param:fc1.weight` in its two parts. */
export function split(selected: string): [string, string] {
  const at = selected.indexOf(':');
  return at < 0 ? ['', ''] : [selected.slice(0, at), selected.slice(at + 1)];
}

/** Everything a selection points at, for panels that show ops, leaves or parameters. */
export interface Marked {
  ops: ReadonlySet<number>;
  leaves: ReadonlySet<number>;
  parameters: ReadonlySet<string>;
}

/** An op marks the parameters it reads; a parameter or leaf marks the ops that read it. */
export function marked(selected: string, structure: Structure | undefined): Marked {
  const ops = new Set<number>();
  const leaves = new Set<number>();
  const parameters = new Set<string>();
  const [kind, rest] = split(selected);
  if (kind === 'param') parameters.add(rest);
  if (!structure) return { ops, leaves, parameters };
  if (kind === 'op') {
    ops.add(Number(rest));
    for (const [from, j] of structure.ops[Number(rest)]?.inputs ?? []) {
      if (from === 'leaf' && structure.leaves[j]?.kind === 'parameter') leaves.add(j);
    }
  }
  if (kind === 'leaf') leaves.add(Number(rest));
  if (kind === 'param') structure.leaves.forEach((leaf, j) => leaf.kind === 'parameter' && leaf.name === rest && leaves.add(j));
  if (kind === 'op') for (const j of leaves) parameters.add(structure.leaves[j]?.name as string);
  if (kind === 'param') {
    structure.ops.forEach((op, i) => op.inputs.some(([from, j]) => from === 'leaf' && leaves.has(j)) && ops.add(i));
  }
  return { ops, leaves, parameters };
}
