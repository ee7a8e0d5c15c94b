import { beforeEach, describe, expect, it, vi } from 'vitest';
import { answered } from '../panels/past';
import { Store } from '../panels/store';
import { floats, isMissing } from '../protocol/decode';
import type { Outgoing } from '../protocol/messages';
import { onPage, recorded, root, show, store } from './page';

const all = recorded('asked');
const answers = all.filter(({ message }) => message.kind === 'answer');
const answer = (what: string) => answers.find(({ message }) => message.id === what)!;
const drawn = (selector: string) => vi.waitFor(() => expect(root.querySelector(selector)).not.toBeNull(), 5000);

/** A kernel that answers as the recorded one did. */
function kernel(message: Outgoing): void {
  if (message.kind !== 'ask') return;
  const reply = answer(message.what);
  setTimeout(() => store.receive({ ...reply.message, id: message.id }, reply.buffers));
}

onPage(kernel);
beforeEach(() => void show(all.filter(({ message }) => message.kind !== 'answer')));

const unfold = (title: string) =>
  [...root.querySelectorAll<HTMLButtonElement>('.gl-foldout')].find(b => b.textContent!.startsWith(title))!.click();

describe('what a kernel really answers', () => {
  it('is shown by the microscope number by number', async () => {
    unfold('microscope');
    await drawn('.gl-microscope [data-param]');
    const { message: content, buffers } = answer('microscope');
    const columns = content.columns as string[];
    const names = (content.optimizers as { names: string[] }[]).flatMap(table => table.names);
    const numbers = floats(buffers[0]);
    expect(names.length).toBe(4);
    for (const [r, name] of names.entries()) {
      for (const column of ['update', 'cos', 'eps', 'decay:gradient']) {
        const cell = root.querySelector(`.gl-microscope [data-param="${name}"] [data-col="${column}"]`)!;
        const k = r * columns.length + columns.indexOf(column);
        if (isMissing(numbers, k)) expect(cell.textContent).toBe('\u2013');
        else expect(Number(cell.getAttribute('data-value'))).toBe(Number(numbers[k]!.toPrecision(9)));
      }
    }
    expect(root.querySelector('.gl-holding')!.textContent).toContain('AdamW holds 2 parameters; the graph reads');
  });

  it('is shown by the ledger, one block a backward call', async () => {
    unfold('ledger');
    await drawn('[data-ledger]');
    for (const { name, entries } of answer('ledgers').message.ledgers as { name: string; entries: [number, string, number][] }[]) {
      const blocks = root.querySelectorAll(`[data-ledger="${name}"] .gl-stack u`);
      expect([...blocks].map(block => block.getAttribute('title'))).toEqual([expect.stringContaining(`backward ${entries[0]![0]} `)]);
    }
  });

  it('is an earlier step with its own numbers', () => {
    const { message: content, buffers } = answer('past');
    const { frame, structure } = store.live.value!;
    const known = new Map([[structure.key, structure]]);
    const past = answered(2, { content, buffers }, frame, store.series.columns, known)!;
    expect([past.frame.step, past.frame.loss]).toEqual([2, content.loss]);
    expect(past.frame.loss).not.toBe(frame.loss);
    expect(Array.from(past.frame.ops)).toEqual(Array.from(floats(buffers[0])));
  });

  it('has a refusal among it, which says what there is', async () => {
    const refused = answers.at(-1)!.message;
    expect(refused.ok).toBe(false);
    const asking = new Store(
      message => setTimeout(() => asking.receive({ ...refused, id: (message as { id: string }).id }, [])),
      run => run()
    );
    await expect(asking.ask('past', { step: 99 })).rejects.toThrow('a whole number from 1 to 4');
  });

  it('are of another step than the numbers beside them: a number alone goes, the others say which step they are of', async () => {
    await drawn('[data-panel="graph"] .gl-entries');
    const { message } = answer('small');
    const scalars = (message.items as [string, number, number[], boolean][]).filter(([, , sizes]) => sizes.every(size => size === 1));
    expect(scalars.length).toBeGreaterThan(0);
    const entries = () => scalars.map(([kind, i]) => root.querySelector(`[data-panel="graph"] [data-${kind}="${i}"] .gl-entries`));
    const height = () => Number(root.querySelector(`[data-panel="graph"] [data-op="${scalars[0]![1]}"] .gl-face`)!.getAttribute('height'));
    expect(entries()).not.toContain(null);
    expect(root.querySelector('.gl-late')).toBeNull();
    const before = height();
    const live = store.live.value!;
    store.live.value = { ...live, frame: { ...live.frame, step: live.frame.step + 1 } };
    expect(entries().every(one => one === null)).toBe(true);
    expect(height()).toBeLessThan(before);
    const late = [...root.querySelectorAll('[data-panel="graph"] .gl-late')].map(one => one.closest('[data-part]')!);
    expect(late.length).toBeGreaterThan(0);
    for (const part of late) expect(part.textContent).toContain(`step ${message.step}`);
  });

  it('are the formulas and the entries of a small graph, on its nodes', async () => {
    await drawn('[data-panel="graph"] .gl-entries');
    const { message, buffers } = answer('small');
    const numbers = new Float64Array(buffers[0]!);
    let at = 0;
    for (const [kind, i, sizes, has] of message.items as [string, number, number[], boolean][]) {
      const size = sizes.reduce((a, b) => a * b, 1);
      const [value, gradient] = [numbers.slice(at, at + size), has ? numbers.slice(at + size, at + 2 * size) : []];
      at += size * (has ? 2 : 1);
      const node = root.querySelector(`[data-panel="graph"] [data-${kind}="${i}"]`);
      const shown = (of: string) => [...(node?.querySelectorAll(`.gl-of-${of} text`) ?? [])].map(t => Number(t.getAttribute('data-value')));
      if ((sizes.at(-1) ?? 1) > 2 && kind === 'leaf') continue; // wider than a chip
      expect([shown('value'), shown('gradient')]).toEqual([value, gradient].map(list => Array.from(list, x => Number(x.toPrecision(9)))));
    }
    expect(at).toBe(numbers.length);
    const { ops } = store.live.value!.structure;
    for (const i of ops.keys()) {
      const formula = root.querySelector(`[data-panel="graph"] [data-op="${i}"] math`);
      expect(formula !== null).toBe((message.formulas as string[])[i] !== '');
    }
    // The bias of the second layer, as the norm of it says it too.
    const bias = store.live.value!.structure.leaves.findIndex(leaf => leaf.name.endsWith('second.bias') || String(leaf.shape) === '2');
    const entries = [...root.querySelectorAll(`[data-leaf="${bias}"] .gl-of-value text`)].map(t => Number(t.getAttribute('data-value')));
    expect(Math.hypot(...entries)).toBeCloseTo(Number(root.querySelector(`[data-leaf="${bias}"] .gl-v`)!.getAttribute('data-value')), 5);
  });
});
