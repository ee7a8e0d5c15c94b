/** Short texts at the ends of lines, notes below lines, and a mark on one line: decorations that never change the document. */

import { type EditorState, type Extension, RangeSetBuilder, StateEffect, StateField, type Transaction } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate, WidgetType } from '@codemirror/view';

/** A text at the end of a line, or below it. Lines count from 1. */
export interface Note {
  line: number;
  text: string;
  /** What stands there while somebody points at it. */
  title?: string;
  /** Below the line, one row each; else at its end. */
  rows?: readonly string[];
}

/** The line of what is selected in a panel. */
export interface Mark {
  line: number;
  /** The op's name, which the hint then begins with. */
  label: string;
  /** What else the line made. */
  others: string;
  /** Why the line may not be what ran; empty where it is. */
  stale: string;
}

const setNotes = StateEffect.define<readonly Note[]>();
const setMark = StateEffect.define<Mark | null>();

function span(className: string, text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = className;
  element.textContent = text;
  return element;
}

class EndOfLine extends WidgetType {
  constructor(
    readonly note: Note,
    readonly mark: Mark | null
  ) {
    super();
  }

  override eq(other: EndOfLine): boolean {
    return JSON.stringify([this.note, this.mark]) === JSON.stringify([other.note, other.mark]);
  }

  override toDOM(): HTMLElement {
    const element = span('gradlab-hint', '');
    if (this.mark) {
      element.append(span('gradlab-hint-op', this.mark.label));
      if (this.mark.others) element.append(span('gradlab-hint-others', ` · ${this.mark.others}`));
      if (this.mark.stale) element.append(span('gradlab-hint-stale', ` ${this.mark.stale}`));
    }
    if (this.note.text) element.append(span('gradlab-hint-text', this.note.text));
    if (this.note.title) element.title = this.note.title;
    // A screen reader reads the code; the same texts are in the panels.
    element.setAttribute('aria-hidden', 'true');
    return element;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

class BelowLine extends WidgetType {
  constructor(readonly note: Note) {
    super();
  }

  override eq(other: BelowLine): boolean {
    return JSON.stringify(this.note) === JSON.stringify(other.note);
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('div');
    element.className = 'gradlab-operands';
    element.setAttribute('role', 'note');
    element.append(span('gradlab-operands-op', this.note.text));
    for (const row of this.note.rows ?? []) element.append(span('gradlab-operands-row', row));
    return element;
  }

  override get estimatedHeight(): number {
    return 20 + 18 * (this.note.rows?.length ?? 0);
  }
}

interface Shown {
  notes: readonly Note[];
  mark: Mark | null;
  decorations: DecorationSet;
}

const NOTHING: Shown = { notes: [], mark: null, decorations: Decoration.none };

function decorate(state: EditorState, notes: readonly Note[], mark: Mark | null): Shown {
  const builder = new RangeSetBuilder<Decoration>();
  const within = (line: number) => line >= 1 && line <= state.doc.lines;
  const kept = notes.filter(note => within(note.line));
  const marked = mark && within(mark.line) ? mark : null;
  const lines = new Set(kept.map(note => note.line));
  if (marked) lines.add(marked.line);
  for (const number of [...lines].sort((a, b) => a - b)) {
    const { from, to } = state.doc.line(number);
    const here = marked?.line === number ? marked : null;
    const mine = kept.filter(note => note.line === number);
    const end = mine.find(note => !note.rows) ?? (here ? { line: number, text: '' } : undefined);
    const look = `${here ? ' gradlab-line' : ''}${here?.stale ? ' gradlab-mod-stale' : ''}`;
    if (end) builder.add(from, from, Decoration.line({ class: `gradlab-hinted${look}` }));
    if (end) builder.add(to, to, Decoration.widget({ widget: new EndOfLine(end, here), side: 1 }));
    for (const note of mine) {
      if (note.rows) builder.add(to, to, Decoration.widget({ widget: new BelowLine(note), side: 2, block: true }));
    }
  }
  return { notes: kept, mark: marked, decorations: builder.finish() };
}

/** Move notes along with the text; those of lines that were edited go. */
function carry(shown: Shown, transaction: Transaction): Shown {
  const { startState, state, changes } = transaction;
  const moved = <T extends { line: number }>(thing: T): T[] => {
    const { from, to } = startState.doc.line(thing.line);
    if (changes.touchesRange(from, to)) {
      // A new line that begins at this one's end, or ends at its start, leaves it as it was.
      const text = startState.doc.sliceString(from, to);
      const line = state.doc.lineAt(changes.mapPos(from, 1));
      return line.text === text && text.trim() !== '' ? [{ ...thing, line: line.number }] : [];
    }
    return [{ ...thing, line: state.doc.lineAt(changes.mapPos(from, 1)).number }];
  };
  return decorate(state, shown.notes.flatMap(moved), shown.mark ? (moved(shown.mark)[0] ?? null) : null);
}

const field = StateField.define<Shown>({
  create: () => NOTHING,
  update(shown, transaction) {
    const empty = shown.notes.length === 0 && shown.mark === null;
    if (transaction.docChanged && !empty) shown = carry(shown, transaction);
    for (const effect of transaction.effects) {
      if (effect.is(setNotes)) shown = decorate(transaction.state, effect.value, shown.mark);
      if (effect.is(setMark)) shown = decorate(transaction.state, shown.notes, effect.value);
    }
    return shown;
  },
  provide: self => EditorView.decorations.from(self, shown => shown.decorations)
});

/** Room between a line's text and its hint, and between the hint and the edge. */
const [APART_PX, EDGE_PX] = [8, 6];

/**
 * Puts hints at the right edge of what can be seen; one that finds no room there follows its text, out of sight.
 *
 * Only this needs the layout: it is read where the geometry of an editor with hints changed.
 */
const placing = ViewPlugin.define(view => {
  const place = () =>
    view.requestMeasure({
      key: placing,
      read: () => {
        const { scrollDOM, contentDOM } = view;
        const seen = scrollDOM.clientWidth;
        const left = contentDOM.getBoundingClientRect().left;
        const hints = [...contentDOM.querySelectorAll<HTMLElement>('.gradlab-hint')];
        const fit = (hint: HTMLElement) => {
          const end = view.coordsAtPos(view.state.doc.lineAt(view.posAtDOM(hint)).to, -1);
          const others = hint.querySelector<HTMLElement>('.gradlab-hint-others')?.offsetWidth ?? 0;
          const width = hint.offsetWidth - (hint.classList.contains('gradlab-mod-tight') ? 0 : others);
          const room = end === null ? Infinity : seen - (end.right - left) - APART_PX - EDGE_PX;
          return { hint, tight: width + others > room, far: width > room };
        };
        return { seen, beyond: Math.max(0, contentDOM.offsetWidth - seen), fits: hints.map(fit) };
      },
      write: ({ seen, beyond, fits }) => {
        view.contentDOM.style.setProperty('--gradlab-beyond', `${beyond}px`);
        view.contentDOM.style.setProperty('--gradlab-seen', `${seen}px`);
        for (const { hint, tight, far } of fits) {
          hint.classList.toggle('gradlab-mod-tight', tight);
          hint.classList.toggle('gradlab-mod-far', far);
        }
      }
    });
  place();
  return {
    update: (update: ViewUpdate) => {
      const changed = update.startState.field(field, false) !== update.state.field(field, false);
      if (changed || (update.geometryChanged && update.state.field(field).decorations.size > 0)) place();
    }
  };
});

/** What an editor needs to show notes. */
export const notesExtension: Extension = [field, placing];

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The view of an editor, ready to show notes; null where there is nothing to show and it has never shown any. */
function ready(view: EditorView, something: boolean): boolean {
  if (view.state.field(field, false)) return true;
  if (something) view.dispatch({ effects: StateEffect.appendConfig.of(notesExtension) });
  return something;
}

/** Show these notes in an editor, in place of those before. */
export function showNotes(view: EditorView, notes: readonly Note[]): void {
  if (!ready(view, notes.length > 0)) return;
  if (!same(view.state.field(field).notes, notes)) view.dispatch({ effects: setNotes.of(notes) });
}

/** Mark one line of an editor, or none. */
export function showMark(view: EditorView, mark: Mark | null): void {
  if (!ready(view, mark !== null)) return;
  if (!same(view.state.field(field).mark, mark)) view.dispatch({ effects: setMark.of(mark) });
}

/** The notes that an editor shows now. */
export function notesOf(view: EditorView): readonly Note[] {
  return view.state.field(field, false)?.notes ?? [];
}
