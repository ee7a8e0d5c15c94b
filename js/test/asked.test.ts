import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { draw } from '../panels/inspector';
import * as more from '../panels/more';
import { answered } from '../panels/past';
import { registry } from '../panels/registry';
import { Store } from '../panels/store';
import { isMissing, floats } from '../protocol/decode';
import type { Outgoing } from '../protocol/messages';

interface Recorded {
  content: Record<string, unknown>;
  buffers: string[];
}

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, '../../tests/protocol/asked.json'), 'utf8')) as Recorded[];
const bytes = (text: string) => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
const answers = recorded.filter(({ content }) => content.kind === 'answer');
const answer = (what: string) => answers.find(({ content }) => content.id === what)!;

let end: AbortController;
let root: HTMLElement;
let store: Store;
const drawn = (selector: string) => vi.waitFor(() => expect(root.querySelector(selector)).not.toBeNull(), 5000);

/** A kernel that answers as the recorded one did. */
function kernel(message: Outgoing): void {
  if (message.kind !== 'ask') return;
  const reply = answer(message.what);
  setTimeout(() => store.receive({ ...reply.content, id: message.id }, reply.buffers.map(bytes)));
}

beforeEach(() => {
  end = new AbortController();
  root = document.createElement('div');
  document.body.append(root);
  store = new Store(kernel, run => run());
  registry().open = {};
  store.more.value = more;
  for (const { content, buffers } of recorded) if (content.kind !== 'answer') store.receive(content, buffers.map(bytes));
  draw(store, 'inspector', root, end.signal);
});

afterEach(() => {
  end.abort();
  root.remove();
});

const unfold = (title: string) =>
  [...root.querySelectorAll<HTMLButtonElement>('.gl-foldout')].find(b => b.textContent!.startsWith(title))!.click();

describe('what a kernel really answers', () => {
  it('is shown by the microscope number by number', async () => {
    unfold('microscope');
    await drawn('.gl-microscope [data-param]');
    const { content, buffers } = answer('microscope');
    const columns = content.columns as string[];
    const names = (content.optimizers as { names: string[] }[]).flatMap(table => table.names);
    const numbers = floats(bytes(buffers[0]!));
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
    for (const { name, entries } of answer('ledgers').content.ledgers as { name: string; entries: [number, string, number][] }[]) {
      const blocks = root.querySelectorAll(`[data-ledger="${name}"] .gl-stack u`);
      expect([...blocks].map(block => block.getAttribute('title'))).toEqual([expect.stringContaining(`backward ${entries[0]![0]} `)]);
    }
  });

  it('is an earlier step with its own numbers', () => {
    const { content, buffers } = answer('past');
    const { frame, structure } = store.live.value!;
    const known = new Map([[structure.key, structure]]);
    const past = answered(2, { content, buffers: buffers.map(bytes) }, frame, store.series.columns, known)!;
    expect([past.frame.step, past.frame.loss]).toEqual([2, content.loss]);
    expect(past.frame.loss).not.toBe(frame.loss);
    expect(Array.from(past.frame.ops)).toEqual(Array.from(floats(bytes(buffers[0]!))));
  });

  it('has a refusal among it, which says what there is', async () => {
    const refused = answers.at(-1)!.content;
    expect(refused.ok).toBe(false);
    const asking = new Store(
      message => setTimeout(() => asking.receive({ ...refused, id: (message as { id: string }).id }, [])),
      run => run()
    );
    await expect(asking.ask('past', { step: 99 })).rejects.toThrow('a whole number from 1 to 4');
  });
});
