import { describe, expect, it } from 'vitest';
import { examples } from '../gallery/examples';
import { Sketch } from '../gallery/sketch';
import { passOrder } from '../panels/chain';
import { diff, says } from '../panels/diff';
import { fold } from '../panels/fold';
import { search } from '../panels/search';
import { family } from '../panels/way';
import type { Finding, Findings } from '../protocol/decode';
import type { Structure } from '../protocol/messages';
import { onPage, root, show, store, text } from './page';

onPage();

const structure = examples.attention!()[0]!.message as unknown as Structure;
const named = (name: string) => structure.ops.flatMap((op, i) => (op.name === name ? [i] : []));

describe('a search', () => {
  it('finds ops by name, shape, rule, module and parameter', () => {
    expect(search(structure, 'op:matmul')).toEqual(named('matmul'));
    expect(search(structure, 'shape:32,32')).toEqual(structure.ops.flatMap((op, i) => (op.shape.join() === '32,32' ? [i] : [])));
    expect(search(structure, 'shape:()')).toEqual(named('cross_entropy'));
    expect(search(structure, 'rule:r7', [{ rule: 'R7', op: 4 }, { rule: 'R2', op: 1 }])).toEqual([4]); // prettier-ignore
    expect(search(structure, 'attn.key').map(i => structure.ops[i]!.name)).toEqual(['linear']);
    expect(search(structure, 'mask').map(i => structure.ops[i]!.name)).toEqual(['add']);
  });

  it('wants all of its words, and finds nothing for none', () => {
    expect(search(structure, 'op:matmul shape:32,64').length).toBe(1);
    expect(search(structure, '  ')).toEqual([]);
    expect(search(structure, 'op:conv')).toEqual([]);
  });
});

it('what an op was made of and what was made of it leaves the branches beside it out', () => {
  const scene = fold(structure);
  const softmax = scene.partOf[named('softmax')[0]!]!;
  const names = [...family(scene, new Set([softmax]))].map(id => scene.parts[id]!.title);
  expect(names).toEqual(expect.arrayContaining(['tokens', 'mask', 'transpose', 'cross_entropy']));
  const linears = [...family(scene, new Set([softmax]))].filter(id => scene.parts[id]!.title === 'linear');
  expect(linears.length).toBe(3); // query, key and out, but not value
});

it('the backward pass takes the newest op first, and only those that the loss needs', () => {
  const s = new Sketch('pass');
  const w = s.leaf('w', 'parameter', [2]);
  s.op('a', 'elementwise', [['leaf', w]], [2]);
  s.op('unused', 'elementwise', [['op', 0]], [2]);
  s.op('b', 'elementwise', [['op', 0]], [2]);
  s.op('c', 'elementwise', [['op', 0], ['op', 2]], [2]); // prettier-ignore
  s.op('mean', 'loss', [['op', 3]], []);
  expect(passOrder(s.structure)).toEqual([4, 3, 2, 0]);
});

it('the change of a graph is told in ops', () => {
  const made = (times: number, last: string) => {
    const s = new Sketch(`${times} ${last}`);
    for (let i = 0; i < times; i++) s.op('tanh', 'elementwise', [], [2], { line: 3 });
    s.op(last, 'reduce', [], [], { line: 4 });
    return s.structure;
  };
  const change = diff(made(2, 'mean'), made(5, 'sum'));
  expect(change).toEqual({ added: [2, 3, 4, 5], removed: 1 });
  expect(says(change)).toBe('+4 ops, −1');
  expect(says(diff(made(2, 'mean'), made(2, 'mean')))).toBe('');
});

it('a search for a rule finds the ops of what the rules say now', () => {
  show(examples.attention!(), 'graph');
  const finding = { rule: 'R7', op: 4 } as Finding;
  store.findings.value = { findings: [finding, { ...finding, rule: 'R2', op: 1 }] } as Findings;
  const input = root.querySelector<HTMLInputElement>('.gl-search input')!;
  input.value = 'rule:R7';
  input.dispatchEvent(new Event('input'));
  expect(text('.gl-found')).toBe('1');
  input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
  expect(store.selected.value).toBe('op:4');
});
