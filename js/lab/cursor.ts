import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { follow } from './lines';
import type { Runs } from './runs';

/** Says which line of which run the cursor is on. */
export type Tell = (kernel: string, cell: string | null, line: number) => void;

const PAUSE_MS = 60;

/** Follows the cursor of the notebook in front. */
export class CursorWatch {
  constructor(
    private readonly notebooks: INotebookTracker,
    private readonly runs: Runs,
    private readonly tell: Tell
  ) {
    notebooks.activeCellChanged.connect(this.onCell, this);
    notebooks.forEach(panel => this.watch(panel));
    notebooks.widgetAdded.connect((_, panel) => this.watch(panel));
    this.onCell();
  }

  /** Says it anew. */
  refresh(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.say(), PAUSE_MS);
  }

  private watch({ content }: NotebookPanel): void {
    content.stateChanged.connect((_, change) => {
      if (change.name === 'mode') this.refresh();
    });
  }

  private onCell(): void {
    const cell = this.notebooks.activeCell;
    if (cell === this.cell) return;
    this.cell?.editor?.model.selections.changed.disconnect(this.refresh, this);
    this.cell = cell;
    void cell?.ready.then(() => {
      if (cell === this.cell) cell.editor?.model.selections.changed.connect(this.refresh, this);
      this.refresh();
    });
    this.refresh();
  }

  private say(): void {
    const panel = this.notebooks.currentWidget;
    const kernel = panel?.sessionContext.session?.kernel?.id;
    if (!panel || !kernel) return;
    const { content } = panel;
    if (content.mode !== 'edit') {
      // Who has gone over to the panels wants to see there what the line made.
      if (content.node.contains(document.activeElement)) this.tell(kernel, null, 0);
      return;
    }
    const { cell } = this;
    const line = cell && !cell.isDisposed ? this.lineThatRan(kernel, cell) : null;
    this.tell(kernel, line === null ? null : (cell?.model.id ?? null), line ?? 0);
  }

  private lineThatRan(kernel: string, cell: Cell): number | null {
    const now = (cell.editor?.getCursorPosition().line ?? -1) + 1;
    const ran = this.runs.get(kernel, cell.model.id)?.source ?? null;
    const text = cell.model.sharedModel.getSource();
    if (now < 1 || ran === null || ran === text) return now < 1 ? null : now;
    const at = follow(ran, text).indexOf(now, 1);
    return at < 0 ? null : at;
  }

  private cell: Cell | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
}
