import { expect, it } from 'vitest';
import { decode } from '../protocol/decode';
import type { Structure } from '../protocol/messages';
import { Parts } from '../protocol/unpack';
import { recorded } from './page';

const sent = recorded('unrolled').find(({ message }) => message.kind === 'structure')!;
const structure = decode(sent.message, sent.buffers) as Structure;

it('gives a packed structure its ops, with their inputs and modules, in tape order', () => {
  expect(structure.ops.slice(1, 5).map(op => [op.name, op.module, op.inputs.join(' ')])).toEqual([
    ['linear', 0, 'leaf,1 leaf,2 leaf,3'],
    ['add', null, 'op,1 scalar,0.0'],
    ['tanh', null, 'op,2'],
    ['linear', 1, 'op,3 leaf,2 leaf,3']
  ]);
  expect(structure.modules.map(module => [module.cls, module.call])).toEqual([1, 2, 3, 4].map(call => ['Linear', call]));
  expect(structure.leaves.map(leaf => leaf.name)).toContain('weight');
});

it('puts a message that came in parts together', () => {
  const text = new TextEncoder().encode(JSON.stringify(sent.message));
  const pieces = [text, ...sent.buffers.map(b => new Uint8Array(b))];
  const blob = new Uint8Array(pieces.flatMap(piece => [...piece]));
  const sizes = pieces.map(piece => piece.length);
  const parts = new Parts();
  const half = blob.length >> 1;
  const header = { v: 1, kind: 'part', parts: 2, sizes };
  expect(decode({ ...header, part: 0 }, [blob.slice(0, half).buffer], parts)).toBeNull();
  expect(decode({ ...header, part: 1 }, [blob.slice(half).buffer], parts)).toEqual(structure);
});
