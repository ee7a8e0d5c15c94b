import { EditorView } from '@codemirror/view';
import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Place } from '../panels/goto';
import { viewOf } from './editor';
import { type Mark, showMark } from './hints';
import { follow, guess, pieceOf } from './lines';
import type { Runs } from './runs';

const LINE_EDITED = 'line edited since';
const CELL_EDITED = 'cell edited since';

/** Where a line that ran stands now. */
interface Spot {
  cell: Cell;
  line: number;
  stale: string;
}

/** Goes to the lines of what is selected in the panels, and marks them. */
export class Guide {
  constructor(
    private readonly notebooks: INotebookTracker,
    private readonly runs: Runs,
    private readonly reveal: (panel: NotebookPanel) => void
  ) {}

  /** Scrolls to a line of a notebook and marks it; the last mark goes. Says whether the line was found. */
  async go(kernel: string, target: Place): Promise<boolean> {
    this.clear();
    const asked = ++this.asked;
    const found = this.find(kernel, target);
    if (!found) return false;
    const { panel, spot } = found;
    if (!panel.isVisible) this.reveal(panel);
    const { content } = panel;
    await content.scrollToItem(content.widgets.indexOf(spot.cell), 'smart').catch(() => {});
    await spot.cell.ready;
    const view = viewOf(spot.cell.editor);
    if (!view || asked !== this.asked) return view !== null;
    this.marked = view;
    const mark: Mark = { line: spot.line, label: target.label, others: target.others, stale: spot.stale };
    showMark(view, mark);
    const { from } = view.state.doc.line(Math.min(spot.line, view.state.doc.lines));
    view.dispatch({ effects: EditorView.scrollIntoView(from, { y: 'nearest', yMargin: 80 }) });
    return true;
  }

  /** Takes the mark away. */
  clear(): void {
    this.asked++;
    if (this.marked) showMark(this.marked, null);
    this.marked = null;
  }

  private find(kernel: string, target: Place): { panel: NotebookPanel; spot: Spot } | null {
    const { cell: id, line } = target;
    if (id === null || line === null) return null;
    let found: { panel: NotebookPanel; spot: Spot } | null = null;
    this.notebooks.forEach(panel => {
      if (found || panel.sessionContext.session?.kernel?.id !== kernel) return;
      const spot = this.spotIn(panel, this.runs.source(kernel, id, target.count), id, line);
      if (spot) found = { panel, spot };
    });
    return found;
  }

  private spotIn(panel: NotebookPanel, ran: string | undefined, id: string, line: number): Spot | null {
    const { widgets } = panel.content;
    const at = widgets.findIndex(cell => cell.model.id === id);
    const cell = widgets[at];
    const now = cell?.model.sharedModel.getSource();
    if (cell && now !== undefined) {
      if (ran === undefined || ran === now) return { cell, line, stale: '' };
      const places = follow(ran, now);
      const there = places[line] ?? null;
      if (there !== null) return { cell, line: there, stale: CELL_EDITED };
      return (
        this.piece(widgets, at, ran, line) ?? { cell, line: Math.min(guess(places, line), now.split('\n').length), stale: LINE_EDITED }
      );
    }
    // The cell is gone; where it was cut and pasted, or merged with another one, its text is not.
    return ran === undefined ? null : this.piece(widgets, -1, ran, line);
  }

  /** The line in a cell that holds a part of what ran, as after a split; the nearest one. */
  private piece(widgets: readonly Cell[], at: number, ran: string, line: number): Spot | null {
    const order = widgets.map((_, i) => i).sort((a, b) => Math.abs(a - at) - Math.abs(b - at));
    for (const i of order) {
      const cell = widgets[i] as Cell;
      if (i === at || cell.model.type !== 'code') continue;
      const text = cell.model.sharedModel.getSource();
      const above = pieceOf(ran, text);
      if (above === null) continue;
      const there = line - above;
      if (there >= 1 && there <= text.split('\n').length) return { cell, line: there, stale: '' };
    }
    return null;
  }

  private asked = 0;
  private marked: EditorView | null = null;
}
