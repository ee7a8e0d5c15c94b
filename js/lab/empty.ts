import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import { Widget } from '@lumino/widgets';
import type { Loss } from './kernel';
import type { Scene } from './follow';
import { resume } from './request';

type Why = Extract<Scene, { kind: 'empty' }>['why'];

const LOAD = '%load_ext gradlab';

const TEXTS: Record<Why, string> = {
  'no-notebook': 'No notebook. Open one to look into its gradients.',
  none: 'No kernel. Run a cell to start one.',
  starting: 'The kernel is starting.',
  busy: 'The kernel is busy. The panel fills when this cell ends.',
  off: `Tracing is off. Run \`${LOAD}\` in this notebook.`
};

/** One muted line that says why there is nothing to see, and the next action where there is one. */
export function emptyNote(why: Why, notebook: NotebookPanel | null): Widget {
  const widget = note('gradlab-dock-empty', TEXTS[why], why === 'off' ? notebook : null);
  if (why === 'busy' && notebook) widget.node.append(resumeButton(notebook));
  return widget;
}

/** A line above a view whose kernel is gone: what is shown stays as it was. */
export function lossNote(loss: Loss, lastStep: number | null, notebook: NotebookPanel): Widget {
  const happened = loss === 'restarted' ? 'Kernel restarted.' : 'The kernel died.';
  const kept = lastStep === null ? '' : ` Last step kept: ${lastStep}.`;
  return note('gradlab-dock-loss', `${happened}${kept} Run \`${LOAD}\` to trace again.`, notebook);
}

function note(className: string, text: string, notebook: NotebookPanel | null): Widget {
  const widget = new Widget();
  widget.addClass(className);
  widget.node.setAttribute('role', 'status');
  const line = document.createElement('p');
  text.split('`').forEach((part, i) => {
    const piece = document.createElement(i % 2 ? 'code' : 'span');
    piece.textContent = part;
    line.append(piece);
  });
  widget.node.append(line);
  if (notebook) widget.node.append(loadButton(notebook));
  return widget;
}

/** A page that was loaded while training was paused can't see it: no widget comes back before the cell ends. */
function resumeButton(notebook: NotebookPanel): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'jp-mod-styled gradlab-dock-load';
  button.textContent = 'Resume if paused';
  button.title = 'Training that was paused before this page was loaded goes on';
  button.onclick = () => void resume(notebook);
  return button;
}

/** A button that puts `%load_ext gradlab` into a new cell, or goes to the cell that has it. */
function loadButton(notebook: NotebookPanel): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'jp-mod-styled gradlab-dock-load';
  button.textContent = loadCell(notebook) < 0 ? 'Insert cell' : 'Go to cell';
  button.onclick = () => {
    const { content } = notebook;
    const found = loadCell(notebook);
    if (found < 0) {
      NotebookActions.insertAbove(content);
      content.activeCell?.model.sharedModel.setSource(LOAD);
      button.textContent = 'Go to cell';
    } else {
      content.activeCellIndex = found;
    }
    void content.scrollToItem(content.activeCellIndex);
    notebook.activate();
  };
  return button;
}

function loadCell({ content }: NotebookPanel): number {
  return content.widgets.findIndex(({ model }) => model.type === 'code' && loads(model.sharedModel.getSource()));
}

/** Whether running this source leaves the tracer loaded. */
export function loads(source: string): boolean {
  return /^\s*%(re)?load_ext\s+gradlab\s*$/m.test(source);
}
