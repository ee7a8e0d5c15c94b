import { describe, expect, it } from 'vitest';
import { digitsRun } from '../gallery/digits';
import { examples } from '../gallery/examples';
import { Sketch, type Sent } from '../gallery/sketch';
import { draw } from '../panels/inspector';
import type { View } from '../panels/view';
import { Viewport } from '../panels/viewport';
import { MISSING, type Finding, type Findings } from '../protocol/decode';
import { end, feed, onPage, root, show, store, text, value } from './page';

onPage();

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
    expect(root.textContent).toContain('SGD · lr 0.02');
  });

  it('marks no update as bad in the first ten steps, but for what a finding names', () => {
    show(digitsRun({ steps: 8 }), 'optimizer');
    const cell = (name: string) => root.querySelector(`[data-param="${name}"] [data-col="update:weight"]`)!;
    const names = [...root.querySelectorAll('[data-param]')].map(row => row.getAttribute('data-param')!);
    const far = names.filter(name => Number(cell(name).getAttribute('data-value')) > 10 ** -2.3);
    expect(far.length).toBeGreaterThan(1);
    const marked = () =>
      names.filter(name => cell(name).classList.contains('gl-out') && !cell(name).querySelector('.gl-info')!.hasAttribute('visibility'));
    expect(marked()).toEqual([]);
    const findings = [{ parameter: far[1], trend: null }] as Finding[];
    store.findings.value = { findings } as Findings;
    expect(marked()).toEqual([far[1]]);
    const { frame } = store.live.value!;
    store.findings.value = null;
    store.live.value = { ...store.live.value!, frame: { ...frame, step: 11 } };
    expect(marked()).toEqual(far);
  });

  it('has step, loss, gradient norm and tracing in the strip', () => {
    show(digitsRun(), 'strip');
    const cells = [...root.querySelectorAll('.gl-strip > .gl-cell:not([hidden])')].map(cell => cell.textContent);
    expect(cells.join('')).toBe('Step138runningLoss0.415‖grad‖17.8Tracing2.1 %');
    expect(value('[data-field="loss"]')).toBe('0.4148');
  });

  it('says in the strip how the run is, and marks tracing that takes far too much', () => {
    const look = (header: object) => {
      const [structure, frame] = digitsRun() as [Sent, Sent];
      feed([structure, { ...frame, message: { ...frame.message, ...header } }]);
      return [root.querySelector('.gl-dot')!.getAttribute('data-look'), root.querySelector('[data-state]')?.getAttribute('data-state')];
    };
    show([], 'strip');
    const tracing = { on: true, share: 0.05, every: 1 };
    expect(look({ tracing })).toEqual(['on', 'running']);
    expect(look({ tracing: { ...tracing, share: 0.67, much: true }, state: 'idle' })).toEqual(['much', 'idle']);
    expect(look({ tracing, state: 'interrupted' })).toEqual(['still', 'interrupted']);
    expect(look({ tracing: { ...tracing, on: false } })).toEqual([null, 'running']);
    store.scrub(60);
    expect(root.querySelector('[data-state]')).toBeNull();
  });

  it('calls a step that is not over what charts and time bar call it', () => {
    const [structure, frame] = digitsRun({ steps: 1 }) as [Sent, Sent];
    show([structure, { ...frame, message: { ...frame.message, step: 0, open: true } }]);
    expect([text('.gl-strip .gl-fact'), text('.gl-times')]).toEqual(['1running', '1']);
  });

  it('says how many of all ops are folded', () => {
    show(examples.chain!(), 'graph');
    const [, folded, all] = /^([\d,]+) of ([\d,]+) ops folded in \d+ groups?/.exec(text('.gl-notice')!)!;
    expect(all).toBe('1,001');
    expect(Number(folded)).toBe(1001 - root.querySelectorAll('[data-panel="graph"] .gl-node[data-op]').length);
  });

  it('draws the names of boxes on a ground that no edge is seen through, and leaves room for the arrow under it', () => {
    show(digitsRun(), 'graph');
    const ground = root.querySelector('.gl-boxhead .gl-ground')!;
    const end = Number(ground.getAttribute('y')) + Number(ground.getAttribute('height'));
    const y = (element: Element) => Number(/ ([\d.]+)\)/.exec(element.getAttribute('transform')!)![1]);
    const node = root.querySelector('[data-panel="graph"] [data-op="0"]')!;
    expect(y(node) - y(ground.parentElement!) - end).toBeGreaterThanOrEqual(6);
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
    const lines = [...node.querySelectorAll('.gl-quiet')].map(line => line.textContent);
    expect(lines).toEqual(['the number of features differs', 'x (5,)']);
    expect(node.getAttribute('aria-label')).toContain('failed: linear: the number of features differs\n  x (5,)');
    expect(node.querySelector('.gl-sign.gl-is-error')).not.toBeNull();
    // The lines have their room: the frame is as much higher.
    const height = (one: Element) => Number(one.querySelector('.gl-face')!.getAttribute('height'));
    expect(height(node) - height(root.querySelector('[data-panel="graph"] [data-op="0"]')!)).toBe(14);
  });

  it('an op that failed is no op of the table that was made, and no quiet row', () => {
    const messages = digitsRun();
    const { ops } = messages.find(({ message }) => message.kind === 'structure')!.message as {
      ops: { error: string | null; grad: boolean; bytes: number }[];
    };
    Object.assign(ops.at(-1)!, { error: 'ValueError: no', grad: false });
    const graph = ops.filter(op => op.grad);
    show(messages);
    const row = root.querySelector(`[data-panel="shapes"] [data-op="${ops.length - 1}"]`)!;
    expect(row.classList.contains('gl-nograd')).toBe(false);
    expect(row.querySelector('td.gl-failed .gl-is-error')).not.toBeNull();
    expect(text('[data-panel="shapes"] .gl-sum')).toMatch(new RegExp(`^${graph.length} ops? forward · 1 failed · `));
    expect(text('[data-panel="shapes"] .gl-legend')).toContain(`${graph.length} of ${ops.length - 1} ops want a gradient`);
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

describe('what stands beside a node', () => {
  it('has a number with its name, or of labels what they are', () => {
    const s = new Sketch('beside');
    const x = s.leaf('x', 'input', [32, 8]);
    const weights = s.leaf('input', 'input', [32], {}, 31.8);
    const labels = s.leaf('y', 'input', [32], { dtype: 'int64' }, 12);
    s.op('linear', 'matmul', [['leaf', x]], [32, 8]);
    s.op('cross_entropy', 'loss', [['op', 0], ['leaf', weights], ['leaf', labels]], []); // prettier-ignore
    show([s.structureMessage(), s.frame({ step: 1 })], 'graph');
    const says = (leaf: number) => [...root.querySelectorAll(`[data-leaf="${leaf}"] .gl-quiet`)].map(line => line.textContent);
    expect([says(weights), says(labels)]).toEqual([['‖v‖ 31.8'], ['int64']]);
    expect(value(`[data-leaf="${weights}"] .gl-v`)).toBe(String(Number(Math.fround(31.8).toPrecision(9))));
    expect(value(`[data-leaf="${labels}"] .gl-v`)).toBeNull();
  });
});

describe('the lines of the gradients', () => {
  it('are drawn from the second step on', () => {
    const s = new Sketch('one');
    const w = s.leaf('w', 'parameter', [2], {}, 1, 2);
    s.op('mean', 'loss', [['leaf', w]], [], { gradient: 1 });
    const columns = ['loss', 'grad_norm', 'g/w'];
    const chart = () => root.querySelector<HTMLElement>('[data-panel="gradients"] .gl-chartroom')!;
    show([s.structureMessage(), s.frame({ step: 1, grad_norm: 2 }, columns, [[1, 2, 2]])], 'gradients');
    expect(chart().hidden).toBe(true);
    feed([s.frame({ step: 2, grad_norm: 2 }, columns, [[1, 2, 2], [1, 2, 2]])]); // prettier-ignore
    expect(chart().hidden).toBe(false);
    expect(text('[data-panel="gradients"] .gl-further')).toBe('');
  });

  it('say what is hatched in the map, and how often a step is read', () => {
    const s = new Sketch('light');
    const w = s.leaf('w', 'parameter', [2], {}, 1, 2);
    s.op('mean', 'loss', [['leaf', w]], [], { gradient: 1 });
    const frame = s.frame({ step: 3, grad_norm: 2, tracing: { on: true, share: 0.02, every: 20 } }, ['loss', 'g/w'], [[1, 2], [1, 0], [1, 2]]); // prettier-ignore
    new Uint32Array(frame.buffers[7] as ArrayBuffer)[3] = MISSING;
    show([s.structureMessage(), frame], 'gradients');
    expect(text('[data-panel="gradients"] .gl-further')).toBe('hatched: not read · one step in 20 is read in full');
  });
});

describe('the room for a graph', () => {
  const zoomOf = (height: number, high: number): number => {
    const viewport = new Viewport({ signal: end.signal } as View);
    let zoom = 1;
    Object.defineProperties(viewport.element, { clientHeight: { value: high }, scrollHeight: { get: () => height * zoom } });
    viewport.setRoom(400);
    viewport.show({ element: document.createElement('div'), resize: to => (zoom = to), scrolled: () => {} }, 400, height);
    return zoom;
  };

  it('that is almost as high shows all of it, as long as that can be read', () => {
    expect(zoomOf(1000, 1000)).toBe(1);
    expect(zoomOf(1000, 950)).toBeCloseTo(0.95, 2);
    expect(zoomOf(1000, 950) * 1000).toBeLessThanOrEqual(950);
    expect(zoomOf(1000, 700)).toBe(1);
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
