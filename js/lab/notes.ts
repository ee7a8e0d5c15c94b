import type { Cell, ICellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { type PanelLayout } from '@lumino/widgets';
import type { PageStatus } from '../panels/registry';
import type { Failure } from '../protocol/messages';
import { viewOf } from './editor';
import { Footer } from './footer';
import { type Note, showNotes } from './hints';
import { Limiter } from './limit';
import { follow, pieceOf } from './lines';
import type { Preferences } from './preferences';
import type { Change, Run, Runs } from './runs';

/** At most five updates a second. */
const EVERY_MS = 200;

/** Keeps the hints and footers of one notebook as what is known of its cells. */
export class NotebookNotes implements IDisposable {
  constructor(
    private readonly panel: NotebookPanel,
    private readonly runs: Runs,
    private readonly preferences: Preferences,
    private readonly live: (kernel: string) => PageStatus | null,
    private readonly open: () => void
  ) {
    runs.changed.connect(this.onRuns, this);
    preferences.changed.connect(this.refresh, this);
    panel.content.modelContentChanged.connect(this.refresh, this);
    panel.sessionContext.kernelChanged.connect(this.refresh, this);
    panel.sessionContext.statusChanged.connect(this.onStatus, this);
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** The id of the kernel of this notebook, or null. */
  get kernel(): string | null {
    return this.panel.sessionContext.session?.kernel?.id ?? null;
  }

  /** Draws all cells anew, soon. */
  refresh(): void {
    this.limiter.ask(this.panel.content.widgets.map(cell => cell.model.id));
  }

  /** Draws the cells that run anew, soon. */
  refreshRunning(): void {
    const { kernel } = this;
    if (kernel === null) return;
    const runs = (cell: Cell) => this.runs.get(kernel, cell.model.id)?.state === 'running';
    this.limiter.ask(this.panel.content.widgets.filter(runs).map(cell => cell.model.id));
  }

  dispose(): void {
    this.disposed = true;
    this.runs.changed.disconnect(this.onRuns, this);
    this.preferences.changed.disconnect(this.refresh, this);
    this.limiter.dispose();
  }

  private onRuns(_: unknown, { kernel, cells }: Change): void {
    if (kernel === this.kernel) this.limiter.ask(cells);
  }

  // What ran when the kernel went never ends.
  private onStatus(_: unknown, status: Kernel.Status): void {
    const gone = status === 'restarting' || status === 'autorestarting' || status === 'dead';
    if (gone && this.kernel !== null) this.runs.lost(this.kernel);
  }

  private draw(ids: ReadonlySet<string>): void {
    const { kernel } = this;
    // Nothing ran here that is traced, as in most notebooks of the world.
    if (this.panel.isDisposed || kernel === null || !this.runs.any(kernel)) return;
    this.panel.content.widgets.forEach((cell, at) => {
      if (ids.has(cell.model.id)) this.drawCell(cell, at, kernel);
    });
  }

  private drawCell(cell: Cell, at: number, kernel: string): void {
    if (cell.model.type !== 'code') return;
    if (cell.isPlaceholder()) {
      if (this.awaited.has(cell)) return;
      this.awaited.add(cell);
      void cell.ready.then(() => this.limiter.ask([cell.model.id]));
      return;
    }
    const run = this.runs.get(kernel, cell.model.id);
    this.drawFooter(cell, run, kernel);
    const view = viewOf(cell.editor);
    if (view) showNotes(view, this.preferences.get('hints') ? this.notes(cell, at, run, kernel) : []);
  }

  private drawFooter(cell: Cell, run: Run | undefined, kernel: string): void {
    let footer = this.footers.get(cell.model);
    if (footer && (footer.isDisposed || footer.parent !== cell)) {
      footer.dispose();
      footer = undefined;
    }
    const said = run && (run.state === 'running' || run.end?.ops !== undefined);
    if (!run || !said || !this.preferences.get('footers')) {
      footer?.dispose();
      this.footers.delete(cell.model);
      return;
    }
    if (!footer) {
      footer = new Footer(this.open);
      const layout = cell.layout as PanelLayout;
      const input = layout.widgets.findIndex(part => part.hasClass('jp-Cell-inputWrapper'));
      layout.insertWidget(input + 1, footer);
      this.footers.set(cell.model, footer);
    }
    footer.present(run, this.live(kernel));
  }

  private notes(cell: Cell, at: number, run: Run | undefined, kernel: string): Note[] {
    const now = cell.model.sharedModel.getSource();
    if (run) return run.source === null ? [] : notesOf(run, follow(run.source, now));
    // A part of a cell that was split has no run of its own.
    const { widgets } = this.panel.content;
    for (const near of [widgets[at + 1], widgets[at - 1], widgets[at + 2], widgets[at - 2]]) {
      const other = near && this.runs.get(kernel, near.model.id);
      if (!other?.source || near?.model.sharedModel.getSource() === other.source) continue;
      const above = pieceOf(other.source, now);
      if (above === null) continue;
      const count = now.split('\n').length;
      const places = other.source.split('\n').map((_, i) => (i >= above && i < above + count ? i + 1 - above : null));
      return notesOf(other, [null, ...places]);
    }
    return [];
  }

  private disposed = false;
  private readonly awaited = new WeakSet<Cell>();
  private readonly footers = new WeakMap<ICellModel, Footer>();
  private readonly limiter = new Limiter<string>(ids => this.draw(ids), EVERY_MS);
}

/** What a run has to say at the lines where its own stand now. */
function notesOf(run: Run, places: readonly (number | null)[]): Note[] {
  const notes: Note[] = [];
  for (const [ran, text] of run.lines.values()) {
    const line = places[ran];
    if (line) notes.push({ line, text });
  }
  const at = run.failure?.line ? places[run.failure.line] : null;
  if (run.failure && at) notes.push({ line: at, text: run.failure.name, rows: rowsOf(run.failure) });
  return notes;
}

/** What a failed op read, and what its message says it needs. */
function rowsOf(failure: Failure): string[] {
  const advice = [...failure.text.matchAll(/^ {2}(need|try): +(.*)$/gm)].map(([, word, what]) => `${word}: ${what}`);
  return [...failure.operands.map(operandText), ...advice];
}

function operandText({ name, shape, dtype }: Failure['operands'][number]): string {
  return shape === null ? name : `${name} (${shape.join(', ')}${shape.length === 1 ? ',' : ''}) ${dtype}`;
}
