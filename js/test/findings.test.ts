import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { trendShape } from '../draw/trend';
import { rich } from '../panels/findings';
import { draw } from '../panels/inspector';
import * as more from '../panels/more';
import { registry } from '../panels/registry';
import { Store } from '../panels/store';
import type { Outgoing } from '../protocol/messages';

interface Recorded {
  content: Record<string, unknown>;
  buffers: string[];
}

let end: AbortController;
let root: HTMLElement;
let store: Store;
let said: Outgoing[];

function feed(name: string): void {
  const sent = JSON.parse(readFileSync(`tests/protocol/${name}.json`, 'utf8')) as Recorded[];
  for (const { content, buffers } of sent) {
    store.receive(
      content,
      buffers.map(b => Uint8Array.from(atob(b), c => c.charCodeAt(0)).buffer)
    );
  }
}

function cards(): Element[] {
  return [...root.querySelectorAll('.gl-card')];
}

beforeEach(() => {
  end = new AbortController();
  root = document.createElement('div');
  document.body.append(root);
  said = [];
  store = new Store(
    message => said.push(message),
    run => run()
  );
  store.more.value = more;
  registry().open = {};
});

afterEach(() => {
  end.abort();
  root.remove();
});

describe('the findings panel', () => {
  it('has a card for each finding, the worst first, with its numbers in full', () => {
    feed('findings');
    draw(store, 'findings', root, end.signal);
    expect(cards().map(card => card.getAttribute('aria-label')!.split(':')[0])).toEqual(['error', 'error', 'warning']);
    const floor = Math.log(1 + 9 / Math.E);
    expect(Number(cards()[0]!.querySelector('.gl-measured span')!.getAttribute('data-value'))).toBeCloseTo(floor, 6);
    expect(cards()[0]!.querySelector('dd b')!.textContent).toBe(floor.toFixed(3));
    expect(root.querySelector('.gl-sum')!.textContent).toBe('2 errors1 warning');
  });

  it('selects the op that a card is about', () => {
    feed('findings');
    draw(store, 'findings', root, end.signal);
    (cards()[1]!.querySelector('.gl-card-title') as HTMLElement).click();
    const op = store.step.value!.structure.ops[Number(store.selected.value.split(':')[1])]!;
    expect(op.name).toBe('sub');
    expect(cards()[1]!.classList.contains('gl-selected')).toBe(true);
  });

  it('copies the fix, unfolds what is behind it, and mutes', async () => {
    const write = vi.fn(() => Promise.resolve());
    vi.stubGlobal('navigator', { clipboard: { writeText: write } });
    feed('findings');
    draw(store, 'findings', root, end.signal);
    const [copy, learn, mute] = [...cards()[1]!.querySelectorAll('.gl-acts button')] as HTMLButtonElement[];
    copy!.click();
    expect(write).toHaveBeenCalledWith(cards()[1]!.querySelector('pre')!.textContent);
    await vi.waitFor(() => expect(copy!.textContent).toBe('Copied'));
    learn!.click();
    expect((cards()[1]!.querySelector('.gl-learn') as HTMLElement).hidden).toBe(false);
    expect(learn!.getAttribute('aria-expanded')).toBe('true');
    mute!.click();
    expect(said.at(-1)).toMatchObject({ kind: 'ask', what: 'mute', args: { rule: 'R13', on: true } });
    vi.unstubAllGlobals();
  });

  it('keeps the card that did not change', () => {
    feed('findings');
    draw(store, 'findings', root, end.signal);
    const before = cards();
    const findings = store.findings.value!;
    store.findings.value = { ...findings, findings: findings.findings.slice(1) };
    expect(cards()).toEqual(before.slice(1));
    expect(cards()[0]).toBe(before[1]);
  });

  it('says that there is nothing, and how many rules were asked', () => {
    draw(store, 'findings', root, end.signal);
    expect(root.querySelector('.gl-empty')!.textContent).toContain('Nothing to judge yet');
    feed('digits');
    expect(root.querySelector('.gl-empty')!.textContent).toMatch(/^No findings in 45 steps\. \d+ rules ran/);
  });

  it('shows text as text', () => {
    expect(rich('**3** of `<b>`').map(part => (part instanceof Element ? part.outerHTML : part))).toEqual([
      '',
      '<b>3</b>',
      ' of ',
      '<code>&lt;b&gt;</code>',
      ''
    ]);
  });

  it('has the worst finding in the strip', () => {
    feed('findings');
    draw(store, 'strip', root, end.signal);
    expect(root.querySelector('[data-field="worst"]')!.textContent).toBe('Softmax twice');
    expect(root.querySelector('.gl-worst-short')!.textContent).toBe('2 errors');
  });
});

describe('a trend', () => {
  it('draws what is above the limit above it', () => {
    const { path, limits } = trendShape({ steps: [1, 2, 3], values: [1, 100, 1], low: null, high: 10 }, 100, 40);
    const heights = path
      .split(/[ML]/)
      .slice(1)
      .map(point => Number(point.split(' ')[1]));
    expect(heights[1]).toBeLessThan(limits[0]!);
    expect(heights[0]).toBeGreaterThan(limits[0]!);
  });

  it('has a mark where a value is not finite', () => {
    const { odd, path } = trendShape({ steps: [1, 2, 3], values: [1, NaN, 1], low: null, high: null }, 100, 40);
    expect(odd).toEqual([50]);
    expect(path.match(/M/g)).toHaveLength(2);
  });
});
