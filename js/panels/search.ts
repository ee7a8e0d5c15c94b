/** Which ops a query names: words in names, `op:matmul`, `shape:32,64`, `rule:R7`, all of them together. */

import type { Structure } from '../protocol/messages';
import { madeAt } from './view';

/** What a rule found, as far as a search needs it. */
export interface Found {
  rule: string;
  op: number | null;
}

type Test = (i: number) => boolean;

/** The ops that every word of the query is true of, in tape order; an empty query names none. */
export function search(structure: Structure, query: string, findings: readonly Found[] = []): number[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const tests = words.map(word => testOf(structure, word, findings));
  const out: number[] = [];
  for (let i = 0; i < structure.ops.length; i++) if (tests.every(test => test(i))) out.push(i);
  return out;
}

function testOf(structure: Structure, word: string, findings: readonly Found[]): Test {
  const { ops, leaves, modules } = structure;
  const [, key, rest = ''] = /^(op|shape|rule):(.*)$/.exec(word) ?? [];
  if (key === 'op') return i => (ops[i]?.name ?? '').includes(rest);
  if (key === 'shape') {
    const sizes = rest
      .replace(/[()\s]/g, '')
      .replace(/[x×]/g, ',')
      .replace(/,$/, '');
    return i => {
      const own = ops[i]?.shape.join() ?? '';
      return rest === '()' ? own === '' : sizes !== '' && `,${own},`.includes(`,${sizes},`);
    };
  }
  if (key === 'rule') {
    const hit = new Set(findings.filter(f => f.rule.toLowerCase().startsWith(rest)).map(f => f.op));
    return i => hit.has(i);
  }
  const inModule = modules.map(m => `${m.path} ${m.name} ${m.cls}`.toLowerCase().includes(word));
  const isLeaf = leaves.map(leaf => leaf.name.toLowerCase().includes(word));
  return i => {
    const op = ops[i];
    if (!op) return false;
    if (op.name.includes(word) || (op.module !== null && inModule[op.module])) return true;
    return op.inputs.some(([from, j]) => from === 'leaf' && isLeaf[j]) || madeAt(structure, op).toLowerCase().includes(word);
  };
}
