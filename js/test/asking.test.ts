import { describe, expect, it, vi } from 'vitest';
import { Store } from '../panels/store';
import type { Ask } from '../protocol/messages';

function session() {
  const sent: Ask[] = [];
  const store = new Store(
    message => sent.push(message as Ask),
    draw => draw()
  );
  const answer = (content: object, buffers: ArrayBuffer[] = []) => store.receive({ v: 1, kind: 'answer', ...content }, buffers);
  return { store, sent, answer };
}

describe('a question to the kernel', () => {
  it('gets the answer with its own id, with content and buffers', async () => {
    const { store, sent, answer } = session();
    const [first, second] = [store.ask('histogram', { op: 3 }), store.ask('source', { op: 3 })];
    expect(sent.map(({ kind, what, args }) => ({ kind, what, args }))).toEqual([
      { kind: 'ask', what: 'histogram', args: { op: 3 } },
      { kind: 'ask', what: 'source', args: { op: 3 } }
    ]);
    answer({ id: sent[1]!.id, ok: true, text: 'def f' });
    answer({ id: sent[0]!.id, ok: true, bins: 64 }, [new Float32Array([1, 2]).buffer]);
    expect((await second).content['text']).toBe('def f');
    const { content, buffers } = await first;
    expect(content['bins']).toBe(64);
    expect(Array.from(new Float32Array(buffers[0] as ArrayBuffer))).toEqual([1, 2]);
  });

  it('rejects with the words of the kernel', async () => {
    const { store, sent, answer } = session();
    const asked = store.ask('source', { op: 99 });
    answer({ id: sent[0]!.id, ok: false, error: 'source: there is no op 99' });
    await expect(asked).rejects.toThrow('there is no op 99');
  });

  it('is told when the answer waits for the end of a step, and still gets it', async () => {
    const { store, sent, answer } = session();
    const pending = vi.fn();
    const asked = store.ask('check', {}, pending);
    answer({ id: sent[0]!.id, pending: true });
    expect(pending).toHaveBeenCalledOnce();
    answer({ id: sent[0]!.id, ok: true, verdict: 'right' });
    expect((await asked).content['verdict']).toBe('right');
  });

  it('is passed over when another page asked it, or when it was answered already', async () => {
    const { store, sent, answer } = session();
    const asked = store.ask('state');
    answer({ id: 'another.1', ok: true });
    answer({ id: sent[0]!.id, ok: true, n: 1 });
    answer({ id: sent[0]!.id, ok: true, n: 2 });
    expect((await asked).content['n']).toBe(1);
  });

  it('rejects when the session ends, and after it', async () => {
    const { store, sent } = session();
    const asked = store.ask('state');
    store.end();
    await expect(asked).rejects.toThrow('over');
    await expect(store.ask('state')).rejects.toThrow('over');
    expect(sent.length).toBe(1);
  });

  it('that is a command reports a refusal and nothing else', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { store, sent, answer } = session();
    store.command('pause');
    store.command('dance');
    answer({ id: sent[0]!.id, ok: true });
    answer({ id: sent[1]!.id, ok: false, error: "no answer to 'dance'" });
    await Promise.resolve();
    await Promise.resolve();
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
  });
});
