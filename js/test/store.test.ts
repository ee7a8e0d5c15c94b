import { describe, expect, it, vi } from 'vitest';
import { marked, PAGE, Store } from '../panels/store';
import { examples } from '../gallery/examples';
import { digitsRun } from '../gallery/digits';
import { Sketch } from '../gallery/sketch';
import type { Structure } from '../protocol/messages';

/** A store whose animation frames come when the test says so. */
function store() {
  const sent: unknown[] = [];
  const frames: (() => void)[] = [];
  const it = new Store(
    message => sent.push(message),
    draw => frames.push(draw)
  );
  return { store: it, sent, frames, paint: () => frames.splice(0).forEach(draw => draw()) };
}

function small(key: string, ops = 1): Sketch {
  const s = new Sketch(key);
  const x = s.leaf('x', 'input', [2]);
  for (let i = 0; i < ops; i++) s.op('exp', 'elementwise', [i === 0 ? ['leaf', x] : ['op', i - 1]], [2], { value: i });
  return s;
}

describe('the store', () => {
  it('switches structure and numbers together', () => {
    const { store: s, paint } = store();
    const [a, b] = [small('a'), small('b', 2)];
    s.receive(a.structureMessage().message);
    s.receive(a.frame({ step: 1 }).message, a.frame({}).buffers);
    paint();
    expect(s.step.value!.structure.key).toBe('a');
    s.receive(b.structureMessage().message);
    paint();
    expect(s.step.value!.structure.key).toBe('a');
    s.receive(b.frame({ step: 2 }).message, b.frame({}).buffers);
    paint();
    expect([s.step.value!.structure.key, s.step.value!.frame.key]).toEqual(['b', 'b']);
  });

  it('draws once for many frames, the latest, and loses no step of the history', () => {
    const { store: s, frames, paint } = store();
    const a = small('a');
    s.receive(a.structureMessage().message);
    const seen: number[] = [];
    s.step.subscribe(step => step && seen.push(step.frame.step));
    for (let t = 1; t <= 5; t++) {
      const f = a.frame({ step: t }, ['loss', 'grad_norm'], [[t, t]]);
      new Int32Array(f.buffers[5]!)[0] = t;
      new Int32Array(f.buffers[6]!)[0] = t;
      s.receive(f.message, f.buffers);
    }
    expect(frames.length).toBe(1);
    paint();
    expect(seen).toEqual([5]);
    expect(Array.from(s.series.values('loss'))).toEqual([1, 2, 3, 4, 5]);
  });

  it('draws so seldom that pictures take a third of the time, and at once where they are quick', () => {
    vi.useFakeTimers();
    let costs = 40;
    vi.stubGlobal('requestAnimationFrame', (run: (now: number) => void) => run(performance.now()));
    const s = new Store(() => undefined);
    const a = small('a');
    const drawn: number[] = [];
    s.receive(a.structureMessage().message);
    s.step.subscribe(step => {
      if (!step) return;
      drawn.push(performance.now());
      vi.advanceTimersByTime(costs);
    });
    const began = performance.now();
    for (let t = 1; performance.now() < began + 1200; t++) {
      if (performance.now() > began + 600) costs = 0;
      s.receive(a.frame({ step: t }).message, a.frame({}).buffers);
      vi.advanceTimersByTime(10);
    }
    const apart = drawn.slice(1).map((time, i) => time - drawn[i]!);
    expect(Math.min(...apart.slice(0, 3))).toBeGreaterThanOrEqual(120);
    expect(Math.max(...apart.slice(-3))).toBeLessThanOrEqual(20);
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('asks once for a structure that it does not know, and draws when it comes', () => {
    const { store: s, sent, paint } = store();
    const a = small('a');
    const f = a.frame({});
    s.receive(f.message, f.buffers);
    s.receive(f.message, f.buffers);
    paint();
    expect(sent).toEqual([{ kind: 'hello', page: PAGE, visible: false }]);
    expect(s.step.value).toBeNull();
    s.receive(a.structureMessage().message);
    paint();
    expect(s.step.value!.structure.key).toBe('a');
  });

  it('forgets the timeline and the selection on a reset', () => {
    const { store: s, paint } = store();
    for (const { message, buffers } of digitsRun()) s.receive(message, buffers);
    paint();
    s.select('op:1');
    s.receive({ v: 1, kind: 'reset', run: 2 });
    expect([s.step.value, s.series.size, s.selected.value]).toEqual([null, 0, '']);
  });

  it('keeps a selection while the tape grows and lets go of it when the op is another', () => {
    const { store: s, paint } = store();
    const show = (sketch: Sketch) => {
      const f = sketch.frame({});
      s.receive(sketch.structureMessage().message);
      s.receive(f.message, f.buffers);
      paint();
    };
    show(small('a', 2));
    s.select('op:1');
    show(small('b', 3));
    expect(s.selected.value).toBe('op:1');
    const other = small('c', 3);
    other.ops[1]!.name = 'log';
    show(other);
    expect(s.selected.value).toBe('');
  });

  it('tells the kernel when the first view is seen and when the last is gone', () => {
    const { store: s, sent } = store();
    const [a, b] = [{}, {}];
    s.show(a, true);
    s.show(b, true);
    s.show(a, false);
    s.show(b, false);
    expect(sent).toEqual([
      { kind: 'visible', page: PAGE, visible: true },
      { kind: 'visible', page: PAGE, visible: false }
    ]);
  });

  it('says hello as the page that is seen, so that asking again does not hide it', () => {
    const { store: s, sent } = store();
    s.show({}, true);
    s.hello();
    expect(sent.at(-1)).toEqual({ kind: 'hello', page: PAGE, visible: true });
  });

  it('keeps the structures of sixty shapes in turn, and of a few that are large', () => {
    const { store: s, sent, paint } = store();
    const turn = (sketches: Sketch[], withStructure: boolean) => {
      for (const sketch of sketches) {
        const f = sketch.frame({});
        if (withStructure) s.receive(sketch.structureMessage().message);
        s.receive(f.message, f.buffers);
        paint();
      }
    };
    const shapes = Array.from({ length: 60 }, (_, i) => small(`shape ${i}`));
    turn(shapes, true);
    turn(shapes, false);
    expect(sent).toEqual([]);
    turn(
      Array.from({ length: 9 }, (_, i) => small(`large ${i}`, 9000)),
      true
    );
    turn([small('large 8', 9000), small('large 3', 9000)], false);
    expect(sent).toEqual([]);
    turn([small('large 0', 9000)], false);
    expect(sent.length).toBe(1);
  });

  it('drops a message that it cannot read, and goes on', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { store: s, paint } = store();
    s.receive({ v: 9, kind: 'frame' });
    expect(warn).toHaveBeenCalledOnce();
    for (const { message, buffers } of digitsRun()) s.receive(message, buffers);
    paint();
    expect(s.step.value!.frame.step).toBe(138);
  });
});

describe('a selection', () => {
  const structure = examples.split!()[0]!.message as unknown as Structure;

  it('of an op marks the parameters it reads', () => {
    const at = structure.ops.findIndex(op => op.name === 'matmul');
    expect([...marked(`op:${at}`, structure).parameters]).toEqual(['fc1.weight']);
  });

  it('of a parameter marks every op that reads it', () => {
    const shared = examples.shared!()[0]!.message as unknown as Structure;
    const ops = [...marked('param:encoder.weight', shared).ops].map(i => shared.ops[i]!.name);
    expect(ops).toEqual(['linear', 'linear', 'linear']);
  });

  it('of nothing marks nothing', () => {
    const none = marked('', structure);
    expect([none.ops.size, none.leaves.size, none.parameters.size]).toEqual([0, 0, 0]);
  });
});
