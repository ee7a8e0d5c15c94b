import { EditorView } from '@codemirror/view';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { Widget } from '@lumino/widgets';
import type { Place } from '../panels/goto';
import { viewOf } from './editor';
import { showMark } from './hints';

/** Opens a file by its path under the server's root. */
export type Open = (path: string) => Promise<Widget | undefined>;

/** A widget that may be an editor of a file. */
interface Document extends Widget {
  context?: { ready: Promise<void> };
  content?: { editor?: CodeEditor.IEditor };
}

/** The path under the server's root, or null for a file elsewhere. Both may begin with `~` for the home directory. */
export function underRoot(path: string, root: string, home: string): string | null {
  const whole = (text: string) =>
    (text === '~' || text.startsWith('~/') ? home + text.slice(1) : text).replace(/\\/g, '/').replace(/\/+$/, '');
  const [file, top] = [whole(path), whole(root)];
  return root !== '' && file.startsWith(`${top}/`) ? file.slice(top.length + 1) : null;
}

/** Shows lines of files, in an editor of JupyterLab where the server has them. */
export class Files {
  constructor(
    private readonly root: string,
    private readonly open: Open,
    private readonly say: (text: string) => void
  ) {}

  /** Opens the file at the line; says where it is, where the server does not have it. */
  async show({ path, home, file, line, label, others }: Place): Promise<void> {
    const where = `${path ?? file}:${line ?? 1}`;
    const inside = path === null ? null : underRoot(path, this.root, home ?? '');
    if (inside === null) {
      this.say(`${where} is not under the folder that JupyterLab serves.`);
      return;
    }
    const widget = (await this.open(inside).catch(() => undefined)) as Document | undefined;
    await widget?.context?.ready;
    const view = viewOf(widget?.content?.editor);
    if (!view) {
      this.say(`${where} can't be opened in an editor.`);
      return;
    }
    if (this.marked && this.marked !== view) showMark(this.marked, null);
    this.marked = view;
    const number = Math.min(Math.max(line ?? 1, 1), view.state.doc.lines);
    showMark(view, { line: number, label, others, stale: '' });
    view.dispatch({ effects: EditorView.scrollIntoView(view.state.doc.line(number).from, { y: 'center' }) });
  }

  /** Takes the mark away. */
  clear(): void {
    if (this.marked) showMark(this.marked, null);
    this.marked = null;
  }

  private marked: EditorView | null = null;
}
