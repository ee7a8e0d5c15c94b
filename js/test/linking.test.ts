import { EditorView } from '@codemirror/view';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { underRoot } from '../lab/file';
import { duration, findingWords, footerWords } from '../lab/footer';
import { notesOf, showMark, showNotes } from '../lab/hints';
import { Limiter } from '../lab/limit';
import { follow, guess, pieceOf } from '../lab/lines';
import { Runs } from '../lab/runs';
import { statusText } from '../lab/status';
import type { CellRun, Failure } from '../protocol/messages';

const run = (id: string, count: number, more: Partial<CellRun> = {}): CellRun => ({
  kind: 'cell',
  id,
  count,
  state: 'idle',
  source: 'a\nb\nc',
  lines: [],
  elsewhere: [],
  error: null,
  ...more
});

describe('lines that ran', () => {
  it('are found where lines were put in and taken out', () => {
    expect(follow('a\nb\nc', 'a\nb\nc')).toEqual([null, 1, 2, 3]);
    expect(follow('a\nb\nc', 'new\na\nc\nlast')).toEqual([null, 2, null, 3]);
    expect(follow('a\nb\nc\nd', 'b\nx\nd')).toEqual([null, null, 1, null, 3]);
  });

  it('are gone where they were edited, and back where that was undone', () => {
    expect(follow('h = x\nreturn h', 'h = x + 1\nreturn h')).toEqual([null, null, 2]);
    expect(follow('h = x\nreturn h', 'h = x\nreturn h')).toEqual([null, 1, 2]);
  });

  it('keep their order among lines that are alike', () => {
    expect(follow('x\nx\ny', 'x\ny')).toEqual([null, 1, null, 2]);
    expect(follow('p\nx\nx\nq', 'p\nx\nnew\nx\nq')).toEqual([null, 1, 2, 4, 5]);
  });

  it('are looked for in texts of ten thousand lines only at their ends', () => {
    const long = Array.from({ length: 10_001 }, (_, i) => `line ${i}`);
    const places = follow(long.join('\n'), long.map((text, i) => (i % 7 === 3 ? `${text}!` : text)).join('\n'));
    expect(places.slice(0, 5)).toEqual([null, 1, 2, 3, null]);
    expect(places.at(-1)).toBe(10_001);
  });

  it('are about where the line above them is', () => {
    expect(guess(follow('a\nb\nc', 'new\na\nb2\nc'), 2)).toBe(3);
    expect(guess(follow('a', 'b'), 1)).toBe(1);
  });

  it('are known in the parts of a cell that was split', () => {
    const ran = 'a = 1\nb = 2\n\nc = 3';
    expect(pieceOf(ran, 'a = 1\nb = 2')).toBe(0);
    expect(pieceOf(ran, 'c = 3')).toBe(3);
    expect(pieceOf(ran, 'b = 2\n')).toBe(1);
    expect(pieceOf(ran, 'b = 22')).toBeNull();
    expect(pieceOf(ran, '\n')).toBeNull();
  });
});

describe('runs', () => {
  let runs: Runs;
  let changed: string[][];
  beforeEach(() => {
    runs = new Runs();
    changed = [];
    runs.changed.connect((_, change) => changed.push([change.kernel, ...change.cells]));
  });

  it('keep kernels apart', () => {
    runs.take('k1', run('a', 1, { lines: [[1, 'x', 0]] }));
    runs.take('k2', run('a', 9));
    expect(runs.get('k1', 'a')?.lines.size).toBe(1);
    expect(runs.get('k2', 'a')?.lines.size).toBe(0);
    expect(changed).toEqual([
      ['k1', 'a'],
      ['k2', 'a']
    ]);
  });

  it('forget lines when the cell starts again', () => {
    runs.take('k', run('a', 1, { lines: [[1, 'x', 0]] }));
    runs.take('k', { kind: 'cell', id: 'a', count: 2, state: 'running', source: 'b' });
    expect(runs.get('k', 'a')).toMatchObject({ count: 2, state: 'running', end: null });
    expect(runs.get('k', 'a')?.lines.size).toBe(0);
  });

  it('add what another cell tells of lines, unless that is of an older run', () => {
    runs.take('k', run('def', 1, { lines: [[1, 'own', null]] }));
    runs.take('k', run('call', 2, { elsewhere: [{ id: 'def', count: 1, lines: [[2, 'new', 0]] }] }));
    expect([...(runs.get('k', 'def')?.lines.keys() ?? [])]).toEqual([1, 2]);
    runs.take('k', run('call', 3, { elsewhere: [{ id: 'def', count: 0, lines: [[3, 'old', 0]] }] }));
    expect([...(runs.get('k', 'def')?.lines.keys() ?? [])]).toEqual([1, 2]);
  });

  it('show a failure in the cell where it is written, until anything runs again', () => {
    const error: Failure = { op: 1, name: 'matmul', id: 'def', count: 1, file: null, line: 2, operands: [], text: 'ShapeError' };
    runs.take('k', run('def', 1));
    runs.take('k', run('call', 2, { state: 'error', error }));
    expect(runs.get('k', 'def')?.failure?.name).toBe('matmul');
    expect(runs.get('k', 'call')?.failure).toBeNull();
    runs.take('k', { kind: 'cell', id: 'call', count: 3, state: 'running', source: '' });
    expect(runs.get('k', 'def')?.failure).toBeNull();
    expect(changed.at(-1)).toEqual(['k', 'call', 'def']);
  });

  it('keep the sources of the last runs of a cell', () => {
    for (let count = 1; count <= 10; count++) runs.take('k', run('a', count, { source: `x = ${count}` }));
    expect([1, 2, 3, 10].map(count => runs.source('k', 'a', count))).toEqual([undefined, undefined, 'x = 3', 'x = 10']);
  });

  it('that had not ended when the kernel went are forgotten', () => {
    runs.take('k', run('a', 1));
    runs.take('k', { kind: 'cell', id: 'b', count: 2, state: 'running', source: '' });
    runs.lost('k');
    expect([runs.get('k', 'a')?.state, runs.get('k', 'b')]).toEqual(['idle', undefined]);
    expect([runs.any('k'), runs.any('another')]).toEqual([true, false]);
  });

  it('are dropped with the outputs', () => {
    runs.take('k', run('a', 1));
    runs.drop('k', 'a');
    expect(runs.get('k', 'a')).toBeUndefined();
    expect(changed.at(-1)).toEqual(['k', 'a']);
  });
});

describe('notes in an editor', () => {
  const TEXT = 'first\nsecond\nthird';
  let view: EditorView;
  beforeEach(() => {
    view = new EditorView({ doc: TEXT, parent: document.body });
  });
  const shown = () => [...view.contentDOM.querySelectorAll('.gradlab-hint')].map(hint => hint.textContent);
  const at = () => notesOf(view).map(({ line, text }) => [line, text]);

  it('never change the document', () => {
    showNotes(view, [{ line: 2, text: '(3,) f32' }]);
    expect(shown()).toEqual(['(3,) f32']);
    expect(view.state.doc.toString()).toBe(TEXT);
  });

  it('cost an editor nothing that never had any', () => {
    const dispatch = vi.spyOn(view, 'dispatch');
    showNotes(view, []);
    showMark(view, null);
    expect(dispatch).not.toHaveBeenCalled();
  });

  it('are not drawn again where they are the same', () => {
    showNotes(view, [{ line: 1, text: 'a' }]);
    const dispatch = vi.spyOn(view, 'dispatch');
    showNotes(view, [{ line: 1, text: 'a' }]);
    expect(dispatch).not.toHaveBeenCalled();
  });

  it('go when their line is edited, and the others move along', () => {
    showNotes(view, [
      { line: 1, text: 'a' },
      { line: 2, text: 'b' },
      { line: 3, text: 'c' }
    ]);
    view.dispatch({ changes: { from: 8, insert: '!' } });
    expect(at()).toEqual([
      [1, 'a'],
      [3, 'c']
    ]);
    view.dispatch({ changes: { from: 0, insert: 'new\n' } });
    expect(at()).toEqual([
      [2, 'a'],
      [4, 'c']
    ]);
    expect(shown()).toEqual(['a', 'c']);
  });

  it('stay when a line is begun below them', () => {
    showNotes(view, [{ line: 2, text: 'b' }]);
    view.dispatch({ changes: { from: 12, insert: '\n' } });
    expect(at()).toEqual([[2, 'b']]);
  });

  it('stand below a line that failed', () => {
    showNotes(view, [{ line: 2, text: 'matmul', rows: ['a (2, 3) float32', 'b (2, 3) float32'] }]);
    const note = view.contentDOM.querySelector('.gradlab-operands');
    expect(note?.getAttribute('role')).toBe('note');
    expect([...(note?.children ?? [])].map(row => row.textContent)).toEqual(['matmul', 'a (2, 3) float32', 'b (2, 3) float32']);
    expect(note?.previousElementSibling?.textContent).toBe('second');
  });

  it('are text, never HTML', () => {
    showNotes(view, [{ line: 1, text: '<img src=x>' }]);
    expect(view.contentDOM.querySelector('img[src]')).toBeNull();
    expect(shown()).toEqual(['<img src=x>']);
  });

  it('name the op of a marked line, and say when it was edited', () => {
    showNotes(view, [{ line: 2, text: '(3,) f32' }]);
    showMark(view, { line: 2, label: 'fc2 / matmul', others: 'add · gelu', stale: 'cell edited since' });
    expect(shown()).toEqual(['fc2 / matmul · add · gelu cell edited since(3,) f32']);
    expect(view.contentDOM.querySelector('.gradlab-line.gradlab-mod-stale')?.textContent).toContain('second');
    showMark(view, null);
    expect(shown()).toEqual(['(3,) f32']);
    expect(view.contentDOM.querySelector('.gradlab-line')).toBeNull();
  });

  it('leave out lines that the text does not have', () => {
    showNotes(view, [{ line: 9, text: 'x' }]);
    showMark(view, { line: 7, label: '', others: '', stale: '' });
    expect(shown()).toEqual([]);
  });
});

describe('what stands under a cell', () => {
  const words = (more: Partial<CellRun>) => {
    const runs = new Runs();
    runs.take('k', run('a', 1, { ops: 0, steps: 0, ms: 12, ...more }));
    return footerWords(runs.get('k', 'a')!, { tracing: true, share: null, state: 'running', step: 200, ops: 21 });
  };

  it.each([
    [{ ops: 21, steps: 200, ms: 140 }, ['21 ops a step', '200 steps', '0.7 ms a step']],
    [{ ops: 1, steps: 1, ms: 3 }, ['1 op', '3.0 ms']],
    [{}, ['no ops', '12 ms']],
    [{ state: 'error' as const, ops: 3 }, ['stopped by an error', '3 ops', '12 ms']],
    [{ state: 'interrupted' as const, ops: 7, steps: 2 }, ['interrupted', '7 ops a step', '2 steps', '6.0 ms a step']],
    [{ tracing: false }, ['not traced']],
    [{ state: 'running' as const }, ['running, step 200', '21 ops']]
  ])('says of %j: %j', (more, expected) => {
    expect(words(more)).toEqual(expected);
  });

  it('counts findings by severity, and those of other cells that point here', () => {
    const runs = new Runs();
    const severities = { error: 1, warning: 2, info: 1 };
    runs.take('k', run('def', 1, { ops: 0 }));
    runs.take('k', run('a', 2, { ops: 3, severities, elsewhere: [{ id: 'def', count: 1, lines: [], findings: 1 }] }));
    expect(findingWords(runs.get('k', 'a')!)).toEqual([
      ['error', '1 error'],
      ['warning', '2 warnings'],
      ['info', '1 info']
    ]);
    expect(findingWords(runs.get('k', 'def')!)).toEqual([['warning', '1 finding points here']]);
    runs.take('k', run('a', 3, { ops: 3 }));
    expect(findingWords(runs.get('k', 'a')!)).toEqual([['', 'no findings']]);
  });

  it('has times with fitting units', () => {
    expect([0.04, 0.5, 9.96, 120, 1400, 61_000, 125_000].map(duration)).toEqual([
      '0.04 ms',
      '0.5 ms',
      '10 ms',
      '120 ms',
      '1.4 s',
      '61.0 s',
      '2 min 5 s'
    ]);
  });
});

describe('the status bar', () => {
  it('says how tracing stands', () => {
    const status = { tracing: true, share: 0.021, state: 'idle' as const, step: 3, ops: 2 };
    expect(statusText(status)).toBe('gradlab: tracing 2.1 % of step');
    expect(statusText({ ...status, share: null })).toBe('gradlab: tracing on');
    expect(statusText({ ...status, tracing: false })).toBe('gradlab: tracing off');
    expect(statusText(null)).toBe('');
  });
});

describe('a file', () => {
  it.each([
    ['/home/ada/course/lib/net.py', '/home/ada/course', 'lib/net.py'],
    ['/home/ada/course/lib/net.py', '~/course', 'lib/net.py'],
    ['/home/ada/net.py', '~', 'net.py'],
    ['/home/ada/courses/net.py', '/home/ada/course', null],
    ['/usr/net.py', '', null],
    ['C:\\Users\\ada\\net.py', 'C:/Users/ada', 'net.py']
  ])('%s under %s is %s', (path, root, expected) => {
    expect(underRoot(path, root, '/home/ada')).toBe(expected);
  });
});

describe('updates', () => {
  it('come at most once in the interval, with all that was asked for', () => {
    vi.useFakeTimers();
    const calls: string[][] = [];
    const limiter = new Limiter<string>(things => calls.push([...things].sort()), 200);
    limiter.ask(['a']);
    vi.advanceTimersByTime(0);
    for (let i = 0; i < 100; i++) {
      limiter.ask([i % 2 ? 'a' : 'b']);
      vi.advanceTimersByTime(10);
    }
    expect(calls.length).toBeLessThanOrEqual(6);
    expect(calls[0]).toEqual(['a']);
    expect(calls[1]).toEqual(['a', 'b']);
    limiter.dispose();
    vi.useRealTimers();
  });
});
