import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Store } from '../panels/store';
import { decode, floats, toNumber, type Buffer, type Frame } from '../protocol/decode';
import type { CellRun } from '../protocol/messages';
import { full, plain } from '../draw/format';
import { Sketch } from '../gallery/sketch';
import { examples } from '../gallery/examples';
import { recorded } from './page';

const FOLDER = join(import.meta.dirname, '../../tests/protocol');

/** The same bytes at an address that no float can be read from. */
function misaligned(buffer: ArrayBuffer): DataView {
  const room = new Uint8Array(buffer.byteLength + 1);
  room.set(new Uint8Array(buffer), 1);
  return new DataView(room.buffer, 1);
}

function frameOf(message: unknown, buffers: Buffer[]): Frame {
  return decode(message, buffers) as Frame;
}

describe('decode', () => {
  const sketch = new Sketch('k');
  sketch.op('exp', 'elementwise', [], [2], { value: NaN, gradient: Infinity });
  sketch.op('sum', 'reduce', [['op', 0]], [], { value: 1.5 });
  sketch.leaf('w', 'parameter', [2], {}, 0.25, -0);
  const sent = sketch.frame(
    { loss: 'NaN', grad_norm: '-Infinity' },
    ['loss', 'grad_norm'],
    [
      [1, 2],
      [NaN, 4]
    ]
  );

  it('reads buffers that start between two words', () => {
    const straight = frameOf(sent.message, sent.buffers);
    const shifted = frameOf(sent.message, sent.buffers.map(misaligned));
    expect(shifted).toEqual(straight);
    expect(Array.from(shifted.ops.slice(4))).toEqual([1.5, 0, 10, 0]);
  });

  it('keeps NaN and infinities as numbers, and says which numbers are missing', () => {
    const frame = frameOf(sent.message, sent.buffers);
    expect(frame.loss).toBeNaN();
    expect(frame.grad_norm).toBe(-Infinity);
    expect(frame.ops[0]).toBeNaN();
    expect(frame.ops[1]).toBe(Infinity);
    expect(Array.from(frame.op_has)).toEqual([3, 1]);
    expect(toNumber('Infinity')).toBe(Infinity);
    expect(toNumber(null)).toBeNull();
  });

  it('spreads exact spans to min, max and last', () => {
    const { spans } = frameOf(sent.message, sent.buffers);
    expect(Array.from(spans.data)).toEqual([1, 2, 1, 2, 1, 2, NaN, 4, NaN, 4, NaN, 4]);
    expect(Array.from(spans.first)).toEqual([1, 2]);
  });

  it('refuses another version and buffers of the wrong size', () => {
    expect(() => decode({ v: 2, kind: 'frame' })).toThrow(/version 2.*reload/);
    const wrong = { ...sent.message, series: { spans: 3, width: 2, exact: true } };
    expect(() => decode(wrong, sent.buffers)).toThrow(/4 span numbers, its header says 6/);
  });

  it('passes over kinds of a later version', () => {
    expect(decode({ v: 1, kind: 'histogram' })).toBeNull();
  });

  it.each(Object.keys(examples).filter(name => !['thousand', 'tenthousand', 'chain'].includes(name)))(
    'reads the example %s of the gallery',
    name => {
      for (const { message, buffers } of examples[name]!()) expect(decode(message, buffers)).not.toBeNull();
    }
  );
});

describe.each(readdirSync(FOLDER).filter(name => name.endsWith('.json')))('the recorded messages %s', name => {
  const incoming = recorded(name.slice(0, -5)).map(({ message, buffers }) => decode(message, buffers));

  it('are understood, each structure before its frame', () => {
    const keys = new Set<string>();
    for (const message of incoming) {
      expect(message).not.toBeNull();
      if (message?.kind === 'structure') keys.add(message.key);
      if (message?.kind === 'frame') expect(keys).toContain(message.key);
    }
  });

  it('hold as many numbers as the structure has ops and leaves', () => {
    const structures = new Map(incoming.flatMap(m => (m?.kind === 'structure' ? [[m.key, m] as const] : [])));
    for (const frame of incoming) {
      if (frame?.kind !== 'frame') continue;
      const structure = structures.get(frame.key)!;
      expect(frame.ops.length).toBe(structure.ops.length * 4);
      expect(frame.op_has.length).toBe(structure.ops.length);
      expect(frame.leaves.length).toBe(structure.leaves.length * 2);
      expect(frame.leaf_has.length).toBe(structure.leaves.length);
    }
  });
});

describe('the recorded answers', () => {
  it('reach the one who asked', async () => {
    const ids: string[] = [];
    const store = new Store(
      message => message.kind === 'ask' && ids.push(message.id),
      draw => draw()
    );
    const pending = vi.fn();
    const [first, second] = [store.ask('values', {}, pending), store.ask('source', { colour: 'red' })];
    for (const { message, buffers } of recorded('answers')) {
      store.receive({ ...message, id: ids[message['id'] === 'page.1' ? 0 : 1] }, buffers);
    }
    const { content, buffers } = await first;
    expect(pending).toHaveBeenCalledOnce();
    expect(content['shape']).toEqual([3]);
    expect(toNumber(content['norm'] as 'NaN')).toBeNaN();
    expect(Array.from(floats(buffers[0]))).toEqual([1.5, NaN, -Infinity]);
    await expect(second).rejects.toThrow('unknown colour');
  });
});

describe('what a cell came to', () => {
  const runs = recorded('cells').flatMap(({ message }) => (message.kind === 'cell' ? [message as unknown as CellRun] : []));

  it('is told at its end with the lines of the cell that it called, and at its start', () => {
    const [end, start] = runs as [CellRun, CellRun];
    expect([start.state, end.state, end.id, end.ops]).toEqual(['running', 'error', 'cell-fails', 3]);
    expect(end.source).toContain('product(x, w)');
    expect(end.elsewhere?.[0]?.id).toBe('cell-product');
    expect(end.elsewhere?.[0]?.lines[0]?.slice(1)).toEqual(['(32, 10) f32', 1]);
  });

  it('has the operands of the op that failed', () => {
    const { error } = runs[0] as CellRun;
    expect([error?.name, error?.id]).toEqual(['matmul', 'cell-fails']);
    expect(error?.operands.map(({ name, shape }) => [name, shape])).toEqual([
      ['tanh', [32, 10]],
      ['w', [64, 10]]
    ]);
  });
});

describe('numbers as text', () => {
  it('stay plain from 0.01 to 1000 and are scientific outside', () => {
    expect([0.044, 17.8, 705, 1400, 0.0022, 0, 1, 0.415, 999.7, 0.00996].map(plain)).toEqual([
      '0.044',
      '17.8',
      '705',
      '1.4e3',
      '2.2e-3',
      '0',
      '1.00',
      '0.415',
      '1.0e3',
      '0.010'
    ]);
    expect([NaN, Infinity, -Infinity].map(plain)).toEqual(['NaN', 'Inf', '−Inf']);
  });

  it('carry every digit of a float32', () => {
    for (const x of [0.1, 1 / 3, 16777215, 1.17549435e-38, 3.4028235e38]) {
      const single = Math.fround(x);
      expect(Math.fround(Number(full(single)))).toBe(single);
    }
    expect(full(NaN)).toBe('NaN');
  });
});
