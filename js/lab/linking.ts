import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { Goto } from '../panels/goto';
import type { PageStatus } from '../panels/registry';
import type { CellRun } from '../protocol/messages';
import { CursorWatch } from './cursor';
import type { Files } from './file';
import type { Follower } from './follow';
import { Guide } from './goto';
import { Limiter } from './limit';
import { NotebookNotes } from './notes';
import type { Preferences } from './preferences';
import { Runs } from './runs';
import { sessionOf } from './session';
import type { StatusItem } from './status';

const EVERY_MS = 200;

/** What the linking needs of the rest of the extension. */
export interface Surroundings {
  notebooks: INotebookTracker;
  follower: Follower;
  preferences: Preferences;
  files: Files;
  status: StatusItem;
  /** Opens the inspector. */
  open(): void;
  /** Brings a notebook to the front. */
  reveal(panel: NotebookPanel): void;
}

/** Ties cells to ops, both ways: hints and footers, the way to a line, and the cursor's line in the panels. */
export class Linking {
  constructor(private readonly around: Surroundings) {
    const { notebooks, preferences, follower } = around;
    this.guide = new Guide(notebooks, this.runs, panel => around.reveal(panel));
    this.cursor = new CursorWatch(notebooks, this.runs, (kernel, cell, line) => this.tellCursor(kernel, cell, line));
    notebooks.forEach(panel => this.watch(panel));
    notebooks.widgetAdded.connect((_, panel) => this.watch(panel));
    preferences.changed.connect(() => this.askAll());
    follower.changed.connect(() => this.statusLimiter.ask(['']));
    NotebookActions.executionScheduled.connect((_, { notebook, cell }) => this.drop(notebook, cell.model.id));
    NotebookActions.outputCleared.connect((_, { notebook, cell }) => this.drop(notebook, cell.model.id));
  }

  /** A session came to life. */
  announced(modelId: string): void {
    this.models.add(modelId);
    this.ask(modelId);
    this.cursor.refresh();
  }

  /** A kernel said what a run of a cell came to. */
  cellRan(kernel: string, run: CellRun): void {
    this.runs.take(kernel, run);
    this.cursor.refresh();
  }

  /** Something was selected in a panel. */
  goto({ kernel_id, place }: Goto): void {
    if (!this.around.preferences.get('follow')) return;
    this.guide.clear();
    this.around.files.clear();
    if (place?.file) void this.around.files.show(place);
    else if (place) void this.guide.go(kernel_id, place);
  }

  /** A session of this kernel has news. */
  statusChanged(kernel: string): void {
    this.statusLimiter.ask([kernel]);
  }

  private watch(panel: NotebookPanel): void {
    const notes = new NotebookNotes(
      panel,
      this.runs,
      this.around.preferences,
      kernel => this.statusOf(kernel),
      () => this.around.open()
    );
    this.notes.set(panel, notes);
    panel.disposed.connect(() => {
      notes.dispose();
      this.notes.delete(panel);
    });
  }

  private statusOf(kernel: string): PageStatus | null {
    const model = this.around.follower.modelOf(kernel);
    return model === null ? null : (sessionOf(model)?.status() ?? null);
  }

  private drawStatus(kernels: ReadonlySet<string>): void {
    const front = this.around.notebooks.currentWidget?.sessionContext.session?.kernel?.id;
    this.around.status.present(front === undefined ? null : this.statusOf(front));
    for (const notes of this.notes.values()) if (notes.kernel !== null && kernels.has(notes.kernel)) notes.refreshRunning();
  }

  private drop(notebook: NotebookPanel['content'], cell: string): void {
    const panel = this.around.notebooks.find(one => one.content === notebook);
    const kernel = panel?.sessionContext.session?.kernel?.id;
    if (kernel !== undefined) this.runs.drop(kernel, cell);
  }

  private tellCursor(kernel: string, cell: string | null, line: number): void {
    const model = this.around.follower.modelOf(kernel);
    if (model !== null) sessionOf(model)?.cursor(this.around.preferences.get('follow') ? cell : null, line);
  }

  private askAll(): void {
    for (const model of this.models) {
      if (sessionOf(model)) this.ask(model);
      else this.models.delete(model);
    }
    if (!this.around.preferences.get('follow')) this.guide.clear();
    this.cursor.refresh();
  }

  // Also for following alone: what a cell held when it ran says whether it was edited since.
  private ask(model: string): void {
    const { preferences } = this.around;
    const on = preferences.get('hints') || preferences.get('footers') || preferences.get('follow');
    if (this.asked.get(model) === on) return;
    this.asked.set(model, on);
    sessionOf(model)?.cells(on);
  }

  private readonly runs = new Runs();
  private readonly models = new Set<string>();
  private readonly asked = new Map<string, boolean>();
  private readonly notes = new Map<NotebookPanel, NotebookNotes>();
  private readonly guide: Guide;
  private readonly cursor: CursorWatch;
  private readonly statusLimiter = new Limiter<string>(kernels => this.drawStatus(kernels), EVERY_MS);
}
