import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { draw } from '../panels/inspector';
import * as more from '../panels/more';
import panel from '../panels/panel';
import { registry } from '../panels/registry';
import session from '../panels/session';
import { PAGE, Store } from '../panels/store';
import { isDark } from '../panels/theme';
import { stretch } from '../panels/operands';
import { closeRows, fitName, shortNames, visibleRows } from '../panels/rows';
import { outOfBand } from '../panels/optimizer';
import type { Outgoing } from '../protocol/messages';
import { examples } from '../gallery/examples';
import { digitsRun } from '../gallery/digits';
import type { Sent } from '../gallery/sketch';

let end: AbortController;
let root: HTMLElement;
let store: Store;

function feed(messages: Sent[]): void {
  for (const { message, buffers } of messages) store.receive(message, buffers);
}

function show(messages: Sent[], which = 'inspector'): HTMLElement {
  feed(messages);
  draw(store, which, root, end.signal);
  return root;
}

const text = (selector: string) => root.querySelector(selector)?.textContent ?? null;
const value = (selector: string) => root.querySelector(selector)?.getAttribute('data-value') ?? null;

beforeEach(() => {
  end = new AbortController();
  root = document.createElement('div');
  document.body.append(root);
  store = new Store(
    () => {},
    run => run()
  );
  store.more.value = more;
  registry().open = {};
});

afterEach(() => {
  end.abort();
  root.remove();
});

describe('what the page says of a trace', () => {
  it('has the norms of an op in full at its node', () => {
    show(digitsRun());
    expect(Number(value('[data-panel="graph"] [data-op="2"] .gl-v'))).toBeCloseTo(1370.83, 1);
    expect(text('[data-panel="graph"] [data-op="2"] .gl-v')).toBe('1.4e3');
    expect(Number(value('[data-panel="graph"] [data-op="2"] .gl-g'))).toBeCloseTo(0.0438, 3);
    expect(root.querySelector('[data-panel="graph"] [data-op="2"] .gl-g')!.getAttribute('title')).toBe(
      value('[data-panel="graph"] [data-op="2"] .gl-g')
    );
  });

  it('has the norms of a parameter at its chip', () => {
    show(digitsRun());
    expect(value('[data-panel="graph"] [data-leaf="1"] .gl-v')).toBe('3');
    expect(Number(value('[data-panel="graph"] [data-leaf="1"] .gl-g'))).toBeCloseTo(6.324, 3);
  });

  it('has a row for every parameter of the optimizer', () => {
    show(digitsRun());
    const cells = [...root.querySelectorAll('[data-panel="optimizer"] [data-param="fc1.weight"] [data-col]')];
    expect(cells.map(cell => cell.getAttribute('data-col'))).toEqual(['rms g', 'm_hat', 'v_hat', 'effective_lr', 'update:weight']);
    expect(Number(cells[1]!.getAttribute('data-value'))).toBeCloseTo(0.007017, 6);
    expect(text('[data-panel="optimizer"] .gl-keyfact')).toBe('AdamW · lr 2.2e-3');
  });

  it('has only the columns that an optimizer has', () => {
    show(digitsRun({ optimizer: 'SGD' }), 'optimizer');
    expect([...root.querySelectorAll('th')].map(th => th.textContent)).toEqual(['parameter', 'rms g', 'momentum', 'update : weight']);
  });

  it('has a table for every optimizer', () => {
    show(examples.two!(), 'optimizer');
    expect(root.querySelectorAll('table').length).toBe(2);
    expect(root.textContent).toContain('SGD · lr 2.0e-2');
  });

  it('has step, loss, gradient norm and tracing in the strip', () => {
    show(digitsRun(), 'strip');
    const cells = [...root.querySelectorAll('.gl-strip > .gl-cell:not([hidden])')].map(cell => cell.textContent);
    expect(cells.join('')).toBe('Step138runningLoss0.415‖grad‖17.8Tracing2.1 %');
    expect(value('[data-field="loss"]')).toBe('0.4148');
  });

  it('has shapes with broadcast axes as ghosts, and says how many ops want a gradient', () => {
    show(digitsRun({ fused: false }), 'shapes');
    const row = root.querySelector('[data-op="1"]')!;
    expect(row.children[1]!.textContent).toBe('3:8');
    expect(row.children[2]!.textContent).toBe('(32, 128) (32, 128)');
    expect(row.querySelector('.gl-ghost')!.textContent).toBe('32');
    expect(root.textContent).toContain('9 of 12 ops want a gradient');
    expect(text('.gl-sum')).toBe('9 ops forward · 75 KiB');
  });

  it('changes in place when a frame of the same structure comes', () => {
    show(digitsRun());
    const before = root.querySelector('[data-panel="graph"] [data-op="0"]');
    const next = digitsRun().at(-1)!;
    new Float32Array(next.buffers[0]!)[0] = 42;
    store.receive(next.message, next.buffers);
    expect(root.querySelector('[data-panel="graph"] [data-op="0"]')).toBe(before);
    expect(value('[data-panel="graph"] [data-op="0"] .gl-v')).toBe('42');
  });
});

describe('what is missing or not a number', () => {
  it.each([
    ['graph', 'Nothing traced yet. Run a cell that calls a gradlab op.'],
    ['gradients', 'No backward pass yet. Call loss.backward().'],
    ['optimizer', 'No optimizer has stepped yet.']
  ])('the empty %s panel says the next action', (which, words) => {
    show([], which);
    expect(text('.gl-empty')).toBe(words);
  });

  it('says "no gradient yet" before backward and "no gradient wanted" of inputs', () => {
    show(digitsRun({ until: 'forward' }), 'graph');
    expect(root.querySelector('[data-op="0"]')!.textContent).toContain('no gradient yet');
    expect(root.querySelector('[data-leaf="0"]')!.textContent).toContain('no gradient wanted');
    expect(value('[data-op="0"] .gl-g')).toBeNull();
  });

  it('shows NaN, infinities and exact zeros as such', () => {
    show(examples.odd!(), 'graph');
    expect(text('[data-op="0"] .gl-g')).toBe('NaN');
    expect(value('[data-op="0"] .gl-g')).toBe('NaN');
    expect(text('[data-op="1"] .gl-v')).toBe('↑ Inf');
    expect(value('[data-op="1"] .gl-v')).toBe('Infinity');
    expect(root.querySelector('[data-op="2"] .gl-hollow')).not.toBeNull();
  });

  it('shows names with HTML in them as text', () => {
    show(examples.odd!());
    expect(root.querySelector('img, script, i > i')).toBeNull();
    expect([...root.querySelectorAll('b')].some(b => b.textContent === 'bold')).toBe(false);
    expect(root.textContent).toContain('<b>bold</b>');
  });

  it('draws 10,000 ops as a few hundred nodes and a table of what is seen', () => {
    show(examples.tenthousand!());
    expect(root.querySelectorAll('[data-panel="graph"] [data-part]').length).toBeLessThan(700);
    expect(root.querySelectorAll('[data-panel="shapes"] [data-op]').length).toBeLessThan(100);
    expect(root.querySelectorAll('[data-panel="optimizer"] [data-param]').length).toBeLessThanOrEqual(200);
  }, 60_000);
});

describe('what went wrong', () => {
  it('an op that failed says why, in a frame of its own', () => {
    const messages = digitsRun();
    const { ops } = messages.find(({ message }) => message.kind === 'structure')!.message as {
      ops: { error: string | null; grad: boolean }[];
    };
    Object.assign(ops.at(-1)!, { error: 'linear: the number of features differs\n  x (5,)', grad: false });
    show(messages);
    const node = root.querySelector(`[data-panel="graph"] [data-op="${ops.length - 1}"]`)!;
    expect(node.classList.contains('gl-failed')).toBe(true);
    expect(node.textContent).toContain('failed: line');
  });

  it('an optimizer that moved nothing says so instead of an empty table', () => {
    const messages = digitsRun();
    for (const { message, buffers } of messages) {
      if (message.kind !== 'frame') continue;
      (message as { optimizers: { rows: number[] }[] }).optimizers.forEach(o => (o.rows = []));
      buffers[4] = new ArrayBuffer(0);
    }
    show(messages);
    expect(text('[data-panel="optimizer"]')).toContain('It moved no parameter');
    expect(root.querySelector('[data-param]')).toBeNull();
  });
});

describe('one selection through all panels', () => {
  const click = (selector: string) => root.querySelector(selector)!.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }));
  const selected = () => [...root.querySelectorAll('tr.gl-selected, .gl-node.gl-selected, .gl-chip.gl-hot, .gl-row.gl-selected')].length;

  it('goes from a node to its row, its parameters and their rows', () => {
    show(digitsRun());
    click('[data-panel="graph"] [data-op="2"]');
    expect(store.selected.value).toBe('op:2');
    expect(root.querySelector('[data-panel="shapes"] [data-op="2"]')!.classList).toContain('gl-selected');
    expect(root.querySelector('[data-panel="optimizer"] [data-param="fc2.weight"]')!.classList).toContain('gl-selected');
    expect(root.querySelector('[data-row="fc2.bias"]')!.classList).toContain('gl-selected');
    expect(text('[data-panel="graph"] [data-op="2"] .gl-link')).toBe('In[3]:9');
  });

  it('goes from a parameter to the op that reads it, and back to nothing', () => {
    show(digitsRun());
    click('[data-row="fc3.weight"]');
    expect(root.querySelector('[data-panel="graph"] [data-op="4"]')!.classList).toContain('gl-selected');
    click('[data-row="fc3.weight"]');
    expect([store.selected.value, selected()]).toEqual(['', 0]);
  });

  it('follows the arrow keys in tape order, and Escape lets go', () => {
    show(digitsRun());
    const graph = root.querySelector('.gl-viewport')!;
    const press = (key: string) => graph.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    press('ArrowDown');
    press('ArrowDown');
    expect(store.selected.value).toBe('op:1');
    press('ArrowUp');
    expect(store.selected.value).toBe('op:0');
    press('Escape');
    expect(store.selected.value).toBe('');
  });

  it('marks the way from the selection to the loss', () => {
    show(digitsRun(), 'graph');
    store.select('op:3');
    const hot = [...root.querySelectorAll('.gl-edge.gl-hot')].length;
    expect(hot).toBe(2);
  });
});

describe('one cursor and one zoom through all charts', () => {
  const chart = (panel: string) => root.querySelector<HTMLElement>(`[data-panel="${panel}"] .gl-lines`)!;
  const cursor = (panel: string) => chart(panel).querySelector('.gl-cursor')!.getAttribute('d');
  const wheel = (init: WheelEventInit) => {
    // happy-dom's wheel events know no modifier keys.
    const event = new WheelEvent('wheel', { deltaY: -100, bubbles: true, cancelable: true });
    Object.defineProperties(event, { ctrlKey: { value: init.ctrlKey ?? false }, clientX: { value: 200 } });
    chart('gradients').dispatchEvent(event);
    return event.defaultPrevented;
  };

  it('the pointer over one chart marks the same step in every one', () => {
    show(digitsRun());
    chart('gradients').dispatchEvent(new PointerEvent('pointermove', { clientX: 200, bubbles: true }));
    const step = store.near.value!;
    expect(step).toBeGreaterThan(30);
    expect(cursor('gradients')).toMatch(/^M[\d.]+ 9V89$/);
    expect(cursor('optimizer')!.split(' ')[0]).toBe(cursor('gradients')!.split(' ')[0]);
    expect(root.querySelector<HTMLElement>('.gl-cursorline')!.hidden).toBe(false);
    const said = root.querySelector('.gl-tip:not([hidden])')!;
    const { series } = store;
    expect(said.textContent).toContain(
      `step ${step}fc1.weight${Number(series.at(step - 1, series.column('g/fc1.weight'), 2).toPrecision(9))}`
    );
    chart('gradients').dispatchEvent(new PointerEvent('pointerleave'));
    expect([store.near.value, root.querySelector<HTMLElement>('.gl-cursorline')!.hidden]).toEqual([null, true]);
  });

  it('the wheel zooms only with Ctrl or after focus, and Escape shows all again', () => {
    show(digitsRun());
    expect([wheel({}), store.range.value]).toEqual([false, null]);
    expect(wheel({ ctrlKey: true })).toBe(true);
    const [first, last] = store.range.value!;
    expect(last - first + 1).toBe(Math.round(138 / 1.25));
    chart('gradients').focus();
    expect(wheel({})).toBe(true);
    expect(store.range.value![1] - store.range.value![0]).toBeLessThan(last - first);
    expect(root.querySelector('[data-panel="optimizer"] .gl-ticks .gl-first')!.textContent).toBe(`step ${store.range.value![0]}`);
    chart('gradients').dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    expect(store.range.value).toBeNull();
  });
});

describe('panels fold', () => {
  it('and still say their key fact', () => {
    show(digitsRun());
    for (const button of root.querySelectorAll<HTMLElement>('.gl-fold')) button.click();
    const facts = [...root.querySelectorAll('.gl-panel .gl-sum')].map(sum => sum.textContent);
    expect(facts.slice(0, 5)).toEqual([
      '6 ops · 6 parameters, 67 KiB',
      '6 ops forward · 49 KiB',
      '‖grad‖ 17.8 · 6 parameters',
      'AdamW · lr 2.2e-3 · fc2.weight 8.3e-3',
      'nothing selected'
    ]);
    expect([...root.querySelectorAll<HTMLElement>('.gl-panel:not([hidden]) > .gl-body')].every(body => body.hidden)).toBe(true);
  });

  it('the same way in another view of the page, and draw again when opened', () => {
    show(digitsRun());
    const [graph] = root.querySelectorAll<HTMLElement>('.gl-fold');
    graph!.click();
    const other = document.createElement('div');
    draw(store, 'graph', other, end.signal);
    expect(other.querySelector<HTMLElement>('.gl-body')!.hidden).toBe(true);
    store.receive(...(Object.values(digitsRun({ steps: 20 }).at(0)!) as [unknown, ArrayBuffer[]]));
    graph!.click();
    expect(other.querySelector<HTMLElement>('.gl-body')!.hidden).toBe(false);
    expect(root.querySelectorAll('[data-panel="graph"] [data-op]').length).toBe(9);
  });

  it('a module folds to one node and opens again', () => {
    show(digitsRun({ fused: false }), 'graph');
    root.querySelector('.gl-boxhead[data-module="fc2"]')!.dispatchEvent(new MouseEvent('click', { bubbles: true }));
    const node = root.querySelector('.gl-node[data-module="fc2"]')!;
    expect(node.textContent).toContain('2 ops');
    expect(Number(node.querySelector('.gl-v')!.getAttribute('data-value'))).toBeCloseTo(1370.83, 1);
    node.dispatchEvent(new MouseEvent('dblclick', { bubbles: true }));
    expect(root.querySelector('.gl-boxhead[data-module="fc2"]')).not.toBeNull();
  });
});

it('a view leaves nothing behind when it ends', () => {
  show(digitsRun());
  end.abort();
  expect(root.childElementCount).toBe(0);
  expect(() => feed(digitsRun())).not.toThrow();
});

/** As much of anywidget's model as the widgets use. */
function fakeModel(traits: Record<string, unknown>) {
  const listeners = new Map<string, (...args: unknown[]) => void>();
  const sent: Outgoing[] = [];
  return {
    sent,
    say: (sentMessage: Sent) =>
      listeners.get('msg:custom')?.(
        sentMessage.message,
        sentMessage.buffers.map(b => new DataView(b))
      ),
    get: (name: string) => traits[name],
    set: (name: string, x: unknown) => void (traits[name] = x),
    save_changes: vi.fn(),
    on: (name: string, run: (...args: unknown[]) => void) => void listeners.set(name, run),
    off: (name: string) => void listeners.delete(name),
    send: (message: Outgoing) => void sent.push(message),
    traits
  };
}

describe('the widgets', () => {
  const start = () => {
    const model = fakeModel({ kernel_id: 'k', model_ref: 'm', selected: '' });
    const stop = session.initialize({ model } as never);
    return { model, stop };
  };

  it('a session says hello, is found in the page, and draws the inspector', () => {
    const heard: unknown[] = [];
    window.addEventListener('gradlab:model', event => heard.push((event as CustomEvent).detail), { signal: end.signal });
    const { model, stop } = start();
    expect(model.sent).toEqual([{ kind: 'hello', page: PAGE, visible: false }, expect.objectContaining({ kind: 'ask', what: 'gate' })]);
    expect(heard).toEqual([{ model_id: 'm', kernel_id: 'k' }]);
    const close = session.render({ model, el: root } as never);
    const drawn = [...root.querySelectorAll<HTMLElement>('[data-panel]')].map(panel => panel.dataset.panel);
    expect(drawn).toEqual(expect.arrayContaining(['inspector', 'graph', 'shapes', 'gradients']));
    expect(model.sent.at(-1)).toEqual({ kind: 'visible', page: PAGE, visible: true });
    close();
    expect(model.sent.at(-1)).toEqual({ kind: 'visible', page: PAGE, visible: false });
    stop();
    expect(registry().sessions.m).toBeUndefined();
  });

  it('a session shares its selection with Python', () => {
    const { model, stop } = start();
    registry().sessions.m!.draw('graph', root, end.signal);
    vi.stubGlobal('requestAnimationFrame', (run: () => void) => run());
    digitsRun().forEach(model.say);
    root.querySelector('[data-op="1"]')!.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }));
    expect(model.traits.selected).toBe('op:1');
    expect(model.save_changes).toHaveBeenCalled();
    expect([registry().sessions.m!.tracing(), registry().sessions.m!.lastStep()]).toEqual([true, 138]);
    stop();
  });

  it('a panel waits for its session and draws through it', () => {
    vi.useFakeTimers();
    const close = panel.render({ model: fakeModel({ panel: 'shapes', session: 'm' }), el: root } as never);
    expect(root.childElementCount).toBe(0);
    const { stop } = start();
    vi.advanceTimersByTime(200);
    expect(root.querySelector('[data-panel="shapes"]')).not.toBeNull();
    close();
    expect(root.childElementCount).toBe(0);
    stop();
    vi.useRealTimers();
  });

  it('a panel without a session says how to get one', () => {
    vi.useFakeTimers();
    const close = panel.render({ model: fakeModel({ panel: 'shapes', session: 'gone' }), el: root } as never);
    vi.advanceTimersByTime(6000);
    expect(root.textContent).toBe('Tracing is off. Run `%load_ext gradlab` in this notebook.');
    close();
    vi.useRealTimers();
  });

  it('the output is one line where somebody docks the inspector, else the inspector', () => {
    const { stop } = start();
    const model = fakeModel({ panel: 'output', session: 'm' });
    const output = () => panel.render({ model, el: root } as never);
    const dock = new AbortController();
    window.addEventListener('gradlab:model', event => event.preventDefault(), { signal: dock.signal });
    output()();
    expect(root.textContent).toBe('tracing on · inspector docked at the right');
    expect(model.sent).toEqual([{ kind: 'docked' }]);
    dock.abort();
    root.replaceChildren();
    const close = output();
    expect(root.querySelector('[data-panel="inspector"]')).not.toBeNull();
    close();
    stop();
  });
});

describe('small decisions', () => {
  it('a missing or single axis is stretched to the size of the output', () => {
    expect(stretch([64], [32, 64])).toEqual([
      { size: 32, stretched: true },
      { size: 64, stretched: false }
    ]);
    expect(stretch([32, 1], [32, 64])[1]).toEqual({ size: 64, stretched: true });
    expect(stretch([1], [1])[0]!.stretched).toBe(false);
  });

  it('lines are of the selected rows, or of weights spread over the depth', () => {
    const rows = [1, 2, 3, 4, 5].flatMap(n => [`fc${n}.weight`, `fc${n}.bias`]);
    expect(closeRows(rows, new Set())).toEqual(['fc1.weight', 'fc3.weight', 'fc5.weight']);
    expect(closeRows(rows, new Set(['fc2.bias']))).toEqual(['fc2.bias']);
  });

  it('names that are cut keep their ends and differ from each other', () => {
    const names = (all: string[], width: number) => shortNames(all, width, '10px x');
    expect(names(['attn.query.weight', 'attn.key.bias'], 80)).toEqual(['query.weight', 'key.bias']);
    expect(names(['blocks.1.fc.weight', 'blocks.2.fc.weight'], 66)).toEqual(['1.fc.weight', '2.fc.weight']);
    expect(names(['generator.0.weight', 'critic.0.weight'], 60)).toEqual(['g…0.weight', 'c…0.weight']);
    expect(new Set(names(['encoder.0.weight', 'decoder.0.weight', 'critic.0.weight'], 48)).size).toBe(3);
    expect(names(['layernormalization_weight'], 60)[0]).toMatch(/^laye…eight$/);
  });

  it('a long name keeps its last word as a letter', () => {
    expect(fitName('fc1.weight', 200, '10px x')).toBe('fc1.weight');
    expect(fitName('encoder.attention.query.weight', 60, '10px x')).toBe('…query.w');
    expect(fitName('x'.repeat(5000), 60, '10px x').length).toBeLessThan(15);
  });

  it('two thousand parameters are drawn as 200 rows and the selected ones', () => {
    const rows = Array.from({ length: 2000 }, (_, i) => `w${i}`);
    const shown = visibleRows(rows, new Set(['w1999']));
    expect(shown.length).toBe(201);
    expect(shown.at(-1)).toBe('w1999');
  });

  it('an update ratio is good between 10^-3.5 and 10^-2.3', () => {
    expect([1e-3, 3e-4, 6e-3, NaN].map(outOfBand)).toEqual([false, true, true, true]);
  });

  it('a page is dark by its colour, not by the name of its theme', () => {
    expect([isDark('rgb(33, 33, 33)'), isDark('#fff'), isDark('rgba(0, 0, 0, 0)'), isDark('rgb(255, 255, 255)')]).toEqual([
      true,
      false,
      false,
      false
    ]);
  });
});
