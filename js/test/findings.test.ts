import { describe, expect, it, vi } from 'vitest';
import { labelPlaces, trend, trendShape } from '../draw/trend';
import { rich } from '../panels/findings';
import { marksOf } from '../panels/findingmarks';
import { openState } from '../panels/section';
import type { Finding } from '../protocol/decode';
import { draw } from '../panels/inspector';
import { end, feed, onPage, recorded, root, sent, store } from './page';

onPage();

function cards(): Element[] {
  return [...root.querySelectorAll('.gl-card')];
}

describe('the findings panel', () => {
  it('has a card for each finding, the worst first, with its numbers in full', () => {
    feed(recorded('findings'));
    draw(store, 'findings', root, end.signal);
    expect(cards().map(card => card.getAttribute('aria-label')!.split(':')[0])).toEqual(['error', 'error', 'warning']);
    const floor = Math.log(1 + 9 / Math.E);
    expect(Number(cards()[0]!.querySelector('.gl-measured span')!.getAttribute('data-value'))).toBeCloseTo(floor, 6);
    expect(cards()[0]!.querySelector('dd b')!.textContent).toBe(floor.toFixed(3));
    expect(root.querySelector('.gl-sum')!.textContent).toBe('2 errors1 warning');
  });

  it('selects the op that a card is about', () => {
    feed(recorded('findings'));
    draw(store, 'findings', root, end.signal);
    (cards()[1]!.querySelector('.gl-card-title') as HTMLElement).click();
    const op = store.step.value!.structure.ops[Number(store.selected.value.split(':')[1])]!;
    expect(op.name).toBe('sub');
    expect(cards()[1]!.classList.contains('gl-selected')).toBe(true);
  });

  it('copies the fix, unfolds what is behind it, and mutes', async () => {
    const write = vi.fn(() => Promise.resolve());
    vi.stubGlobal('navigator', { clipboard: { writeText: write } });
    feed(recorded('findings'));
    draw(store, 'findings', root, end.signal);
    const [copy, learn, mute] = [...cards()[1]!.querySelectorAll('.gl-acts button')] as HTMLButtonElement[];
    copy!.click();
    expect(write).toHaveBeenCalledWith(cards()[1]!.querySelector('pre')!.textContent);
    await vi.waitFor(() => expect(copy!.textContent).toBe('Copied'));
    learn!.click();
    expect((cards()[1]!.querySelector('.gl-learn') as HTMLElement).hidden).toBe(false);
    expect(learn!.getAttribute('aria-expanded')).toBe('true');
    mute!.click();
    expect(sent.at(-1)).toMatchObject({ kind: 'ask', what: 'mute', args: { rule: 'R13', on: true } });
    vi.unstubAllGlobals();
  });

  it('shows each line of the fix as a line of its own, and copies them as they came', async () => {
    const write = vi.fn(() => Promise.resolve());
    vi.stubGlobal('navigator', { clipboard: { writeText: write } });
    feed(recorded('findings'));
    const findings = store.findings.value!;
    const code = '# lr is 0.1 now\n\nfor group in groups:\n    group["lr"] = 0.01';
    store.findings.value = { ...findings, findings: [{ ...findings.findings[0]!, code }] };
    draw(store, 'findings', root, end.signal);
    const pre = cards()[0]!.querySelector('pre')!;
    expect([...pre.children].map(line => line.textContent)).toEqual([
      '# lr is 0.1 now\n',
      '\n',
      'for group in groups:\n',
      '    group["lr"] = 0.01'
    ]);
    (cards()[0]!.querySelector('.gl-acts button') as HTMLElement).click();
    expect(write).toHaveBeenCalledWith(code);
    expect(pre.textContent).toBe(code);
    await vi.waitFor(() => expect(cards()[0]!.querySelector('.gl-acts button')!.textContent).toBe('Copied'));
    vi.unstubAllGlobals();
  });

  it('keeps the card that did not change', () => {
    feed(recorded('findings'));
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
    feed(recorded('digits'));
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
    feed(recorded('findings'));
    draw(store, 'strip', root, end.signal);
    expect(root.querySelector('[data-field="worst"]')!.textContent).toBe('Softmax twice');
    expect(root.querySelector('.gl-worst-short')!.textContent).toBe('2 errors');
  });
});

describe('findings on the graph', () => {
  it('stand before the titles of the nodes that they name, and a click goes to the card', () => {
    feed(recorded('findings'));
    draw(store, 'inspector', root, end.signal);
    const { findings, key } = store.findings.value!;
    expect(store.step.value!.structure.key).toBe(key);
    const named = findings.filter(one => one.op !== null);
    expect(named.length).toBeGreaterThan(0);
    const node = (op: number) => root.querySelector<SVGElement>(`[data-panel="graph"] .gl-node[data-op="${op}"]`)!;
    for (const { op, severity } of named) expect(node(op!).querySelector(`.gl-sign.gl-is-${severity}`)).not.toBeNull();
    expect(root.querySelectorAll('[data-panel="graph"] .gl-sign').length).toBe(new Set(named.map(one => one.op)).size);
    const [first] = named as [Finding];
    node(first.op!).dispatchEvent(new PointerEvent('pointermove', { bubbles: true }));
    expect(root.querySelector('.gl-tip:not([hidden])')!.textContent).toContain(`${first.severity}${first.title}`);
    const before = store.selected.value;
    node(first.op!)
      .querySelector('.gl-sign')!
      .dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }));
    expect(document.activeElement?.closest('[data-finding]')?.getAttribute('data-finding')).toBe(first.key);
    expect(store.selected.value).toBe(before);
    // Of another graph its numbers mean other ops.
    store.findings.value = { ...store.findings.value!, key: 'another' };
    expect(root.querySelector('[data-panel="graph"] .gl-sign')).toBeNull();
  });

  it('stand in the chip of a parameter too, before its name', () => {
    feed(recorded('findings'));
    draw(store, 'inspector', root, end.signal);
    const chip = () => root.querySelector<SVGElement>('[data-panel="graph"] .gl-chip[data-leaf]')!;
    const text = () => chip().querySelector('text')!;
    const [name, left] = [text().textContent, Number(text().getAttribute('x'))];
    const { findings } = store.findings.value!;
    const finding: Finding = { ...findings[0]!, op: null, leaf: Number(chip().dataset.leaf), severity: 'info' };
    store.findings.value = { ...store.findings.value!, findings: [finding] };
    expect(chip().querySelector('.gl-sign.gl-is-info')).not.toBeNull();
    expect(root.querySelectorAll('[data-panel="graph"] .gl-sign').length).toBe(1);
    expect(Number(text().getAttribute('x'))).toBe(left + 14);
    store.findings.value = { ...store.findings.value!, findings: [] };
    expect(chip().querySelector('.gl-sign')).toBeNull();
    expect([text().textContent, Number(text().getAttribute('x'))]).toEqual([name, left]);
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

  it('has the number of a limit at the end of its line, and the numbers not over one another', () => {
    const input = { steps: [1, 2, 3], values: [0.05, 0.2, 0.05], low: 1e-4, high: 0.1 };
    const drawn = trend(input, 200, 36, 'u');
    const texts = [...drawn.querySelectorAll('text')];
    expect(texts.map(text => text.textContent)).toEqual(['1e-4', '0.1']);
    const ends = [...drawn.querySelectorAll('.gl-limit')].map(line => Number(/H(.+)/.exec(line.getAttribute('d')!)![1]));
    expect(ends.every(x => x < 196 && x > 150)).toBe(true);
    expect(texts.every((text, i) => Number(text.getAttribute('x')) > ends[i]!)).toBe(true);
    expect(labelPlaces([20, 18], 36)).toEqual([29, 18]);
    expect(labelPlaces([35, 34], 36)).toEqual([30.5, 19.5]);
    expect(labelPlaces([2], 36)).toEqual([5.5]);
    expect(trend({ ...input, low: null, high: null }, 200, 36, 'u').querySelector('text')).toBeNull();
  });

  it('has a mark where a value is not finite', () => {
    const { odd, path } = trendShape({ steps: [1, 2, 3], values: [1, NaN, 1], low: null, high: null }, 100, 40);
    expect(odd).toEqual([50]);
    expect(path.match(/M/g)).toHaveLength(2);
  });
});

describe('findings on the time bar', () => {
  const marks = () => [...root.querySelectorAll<HTMLElement>('.gl-findmark')];
  const finding = (step: number | null, severity: Finding['severity'], key: string) =>
    ({ step, severity, key, title: `title of ${key}` }) as Finding;

  it('stand at their steps, and those that would touch are one, the worst first', () => {
    const all = [finding(50, 'info', 'a'), finding(null, 'error', 'b'), finding(52, 'warning', 'c'), finding(90, 'info', 'd')];
    const found = marksOf(all, 1, 100, 300);
    expect(found.map(mark => mark.findings.map(f => f.key))).toEqual([['c', 'a'], ['d']]);
    expect(found.map(mark => mark.x.toFixed(2))).toEqual(['148.55', '264.91']);
    expect(marksOf([finding(7, 'info', 'a')], 8, 20, 300)).toEqual([]);
  });

  it('say their titles, and a click goes to the card', () => {
    feed(recorded('findings'));
    const { findings } = store.findings.value!;
    store.findings.value = { ...store.findings.value!, findings: findings.map((f, i) => ({ ...f, step: 1 + 12 * i })) };
    draw(store, 'inspector', root, end.signal);
    expect(marks().length).toBe(3);
    const said = marks().map(mark => mark.getAttribute('aria-label')!);
    for (const one of findings) expect(said.some(label => label.includes(one.title))).toBe(true);
    openState('findings').value = false;
    marks()[0]!.click();
    expect(openState('findings').value).toBe(true);
    const key = marks()[0]!.dataset.marks;
    expect(document.activeElement?.closest('[data-finding]')?.getAttribute('data-finding')).toBe(key);
  });
});
