import { EditorView } from '@codemirror/view';
import type { CodeEditor } from '@jupyterlab/codeeditor';

/** The CodeMirror view of an editor; null where the editor is not there yet, or is of another kind. */
export function viewOf(editor: CodeEditor.IEditor | null | undefined): EditorView | null {
  const view = (editor as { editor?: unknown } | null | undefined)?.editor;
  return view instanceof EditorView ? view : null;
}
