import { type ISignal, Signal } from '@lumino/signaling';
import type { CellRun, Failure, KernelState, Line } from '../protocol/messages';

/** What is known of the last run of a cell. */
export interface Run {
  readonly count: number | null;
  readonly source: string | null;
  readonly state: KernelState;
  /** By line of `source`: what the last op there made. */
  readonly lines: ReadonlyMap<number, Line>;
  /** An op of this cell's text that failed, whichever cell ran it. */
  readonly failure: Failure | null;
  /** Findings of other cells' runs that point to lines of this one. */
  readonly pointed: number;
  /** What the run came to; null while it runs. */
  readonly end: CellRun | null;
}

/** Which cells of which kernel changed. */
export interface Change {
  kernel: string;
  cells: readonly string[];
}

const SOURCES_KEPT = 8;

/** What the kernels said of the cells that ran, by the ids of kernel and cell. */
export class Runs {
  /** Emitted when something is known of these cells that was not known before. */
  get changed(): ISignal<this, Change> {
    return this.changedSignal;
  }

  /** Takes a message of a kernel. */
  take(kernel: string, message: CellRun): void {
    const runs = this.of(kernel);
    const { id, count, source, state } = message;
    const ended = state !== 'running';
    const before = runs.get(id);
    const failure = message.error ?? null;
    const lines = new Map((message.lines ?? []).map(line => [line[0], line] as const));
    runs.set(id, { count, source, state, lines, failure: failure?.id === id ? failure : null, pointed: 0, end: ended ? message : null });
    if (source !== null) this.keepSource(`${kernel} ${id}`, count, source);
    const cells = new Set([id]);
    if (before?.count !== count) this.clearFailures(runs, cells);
    for (const other of message.elsewhere ?? []) {
      // Lines of a function whose cell has run again since are lines of a text that is gone.
      const added = new Map([...(runs.get(other.id)?.lines ?? []), ...other.lines.map(line => [line[0], line] as const)]);
      if (this.change(runs, other.id, other.count, { lines: added, pointed: other.findings ?? 0 })) cells.add(other.id);
    }
    if (failure?.id && failure.id !== id && this.change(runs, failure.id, failure.count, { failure })) cells.add(failure.id);
    this.changedSignal.emit({ kernel, cells: [...cells] });
  }

  /** The last run of a cell. */
  get(kernel: string, cell: string): Run | undefined {
    return this.kernels.get(kernel)?.get(cell);
  }

  /** Whether anything is known of a kernel's cells, or was. */
  any(kernel: string): boolean {
    return this.kernels.has(kernel);
  }

  /** What a cell held in the run with this count; undefined where that is not known. */
  source(kernel: string, cell: string, count: number | null): string | undefined {
    return this.sources.get(`${kernel} ${cell}`)?.get(count);
  }

  /** Forgets what a cell came to, as when its outputs are cleared. */
  drop(kernel: string, cell: string): void {
    if (this.kernels.get(kernel)?.delete(cell)) this.changedSignal.emit({ kernel, cells: [cell] });
  }

  /** Forgets the cells that were running: their kernel's memory is gone. */
  lost(kernel: string): void {
    for (const [cell, run] of this.kernels.get(kernel) ?? []) if (run.state === 'running') this.drop(kernel, cell);
  }

  private of(kernel: string): Map<string, Run> {
    let runs = this.kernels.get(kernel);
    if (!runs) this.kernels.set(kernel, (runs = new Map()));
    return runs;
  }

  private change(runs: Map<string, Run>, id: string, count: number | null, news: Partial<Run>): boolean {
    const run = runs.get(id);
    if (run?.count !== count) return false;
    runs.set(id, { ...run, ...news });
    return true;
  }

  // A new run of any cell may have got past what failed.
  private clearFailures(runs: Map<string, Run>, changed: Set<string>): void {
    for (const [id, run] of runs) {
      if (!run.failure || changed.has(id)) continue;
      runs.set(id, { ...run, failure: null });
      changed.add(id);
    }
  }

  private keepSource(key: string, count: number | null, source: string): void {
    const kept = this.sources.get(key) ?? new Map<number | null, string>();
    kept.set(count, source);
    const [oldest] = kept.keys();
    if (kept.size > SOURCES_KEPT && oldest !== undefined) kept.delete(oldest);
    this.sources.set(key, kept);
  }

  private readonly kernels = new Map<string, Map<string, Run>>();
  private readonly sources = new Map<string, Map<number | null, string>>();
  private readonly changedSignal = new Signal<this, Change>(this);
}
