/** The gain waterfall: from the loss to a parameter, how much of the gradient every op lets through. */

import { bar, barTicks, beyond, sides } from '../draw/bars';
import { html, write } from '../draw/element';
import { full, plain, plural, special } from '../draw/format';
import { mark } from '../draw/node';
import type { Frame } from '../protocol/decode';
import type { Structure } from '../protocol/messages';
import { fitNames, nameCell } from './pathname';
import { closeRows, depthOrder, visibleRows } from './rows';
import { marked } from './store';
import { followWidth, leafNumber, madeAt, opGradient, watch, type View } from './view';
import { rootOf } from './way';

/** One edge: the op that the gradient goes through, and what comes out of it beside what went in. */
export interface Gain {
  /** The op; of several that are drawn as one, null. */
  op: number | null;
  /** What it is called; of several drawn as one, `located` says where they are, if that can be said. */
  name: string;
  gain: number;
  /** What `gain` is the quotient of. */
  before: number;
  after: number;
  /** How many ops the bar stands for. */
  count: number;
  /** In how many places what comes out is read: then it is a sum. */
  readers: number;
}

/** More bars than these are not drawn: the smallest among neighbours become one. */
const MOST = 14;

/** The ops from the loss to the first one that reads the parameter; by the first reader where there are several ways. */
export function wayTo(structure: Structure, leaf: number): number[] {
  const { ops } = structure;
  const root = rootOf(ops);
  const reads: number[][] = ops.map(() => []);
  const start: number[] = [];
  for (let i = 0; i <= root; i++) {
    if (!ops[i]?.grad) continue;
    for (const [from, j] of ops[i]?.inputs ?? []) {
      if (from === 'op') reads[j]?.push(i);
      if (from === 'leaf' && j === leaf) start.push(i);
    }
  }
  // From the end: the next op on the way to the root, the first of those that come there.
  const next = new Int32Array(ops.length).fill(-1);
  for (let i = root - 1; i >= 0; i--) next[i] = reads[i]?.find(to => to === root || next[to] !== -1) ?? -1;
  const first = start.find(i => i === root || next[i] !== -1);
  if (first === undefined) return [];
  const way: number[] = [];
  for (let i = first; i !== -1; i = i === root ? -1 : (next[i] as number)) way.push(i);
  return way.reverse();
}

/** What does not change from step to step: in how many places each result is read, what ops are called, and the ways to leaves so far. */
interface Known {
  readers: Int32Array;
  labels: string[];
  ways: Map<number, number[]>;
}
const known = new WeakMap<Structure, Known>();

function knownOf(structure: Structure): Known {
  let found = known.get(structure);
  if (!found) {
    const readers = new Int32Array(structure.ops.length);
    for (const { grad, inputs } of structure.ops) if (grad) for (const [from, j] of inputs) if (from === 'op') readers[j]!++;
    const outer = new Set(structure.modules.map(inner => inner.parent));
    const labels = structure.ops.map(op => {
      // A model says nothing about an op that stands in it; a layer does.
      const path = outer.has(op.module) ? '' : (structure.modules[op.module ?? -1]?.path ?? '');
      return path.endsWith(op.name) && path ? path : `${path} ${op.name}`.trim();
    });
    known.set(structure, (found = { readers, labels, ways: new Map() }));
  }
  return found;
}

/** The gains along the way from the loss to a parameter; the last one is of the parameter itself. */
export function gains(structure: Structure, frame: Frame, leaf: number): Gain[] {
  const { readers, labels, ways } = knownOf(structure);
  const way = ways.get(leaf) ?? wayTo(structure, leaf);
  ways.set(leaf, way);
  return way.map((op, k) => {
    const before = opGradient(frame, op) ?? NaN;
    const to = way[k + 1];
    const after = (to === undefined ? leafNumber(frame, leaf, 'gradient') : opGradient(frame, to)) ?? NaN;
    const name = (to === undefined ? structure.leaves[leaf]?.name : undefined) ?? (labels[op] as string);
    return {
      op,
      name,
      gain: before === 0 && after === 0 ? NaN : after / before,
      before,
      after,
      count: 1,
      readers: to === undefined ? 1 : (readers[to] as number)
    };
  });
}

/** Two neighbours as one bar. */
function joined(a: Gain, b: Gain): Gain {
  const count = a.count + b.count;
  const { after, readers } = b;
  return { op: null, name: '', gain: after / a.before, before: a.before, after, count, readers };
}

/** What lets less through than this is said to lose it. */
const LOSS = 0.2;

/** Decades that a gain of nothing or of infinity counts as: these become one bar with others last. */
const ALL = 400;

/** How much it hides to draw two neighbours as one. */
function hidden(a: Gain, b: Gain): number {
  if (Number.isNaN(a.gain) && Number.isNaN(b.gain)) return 0.02 * (a.count + b.count);
  const size = ({ gain }: Gain) => (gain > 0 && gain < Infinity ? Math.abs(Math.log10(gain)) : ALL);
  return size(a) + size(b) + 0.02 * (a.count + b.count);
}

/** Of very many bars: all neighbours become one that change less than the others do. */
function halved(all: readonly Gain[]): Gain[] {
  const costs = Float64Array.from({ length: all.length - 2 }, (_, i) => hidden(all[i] as Gain, all[i + 1] as Gain));
  const limit = costs.slice().sort()[costs.length >> 1] as number;
  const out: Gain[] = [];
  for (let i = 0; i < all.length; i++) {
    const g = all[i] as Gain;
    out.push((costs[i] ?? NaN) <= limit ? joined(g, all[++i] as Gain) : g);
  }
  return out;
}

/** The path of the innermost module that holds two ops; "" where that is the model itself. */
function innermost({ ops, modules }: Structure, a: number, b: number): string {
  const around = (i: number) => {
    const out: number[] = [];
    for (let m = ops[i]?.module ?? null; m !== null; m = modules[m]?.parent ?? null) out.push(m);
    return out;
  };
  const others = around(b);
  const module = modules[around(a).find(m => others.includes(m)) ?? -1];
  return module && module.parent !== null ? module.path : '';
}

const NUMBER = /^\d+$/;

/** From which to which module two ops lie apart: `layers.7–5`. */
function between({ ops, modules }: Structure, a: number, b: number): string {
  const [from, to] = [a, b].map(i => {
    const op = ops[i];
    const path = modules[op?.module ?? -1]?.path;
    return path ? path.split('.') : [op?.name ?? ''];
  }) as [string[], string[]];
  let same = 0;
  while (same < Math.min(from.length, to.length) - 1 && from[same] === to[same]) same++;
  const brief = (words: string[]) => words.slice(same, same + (NUMBER.test(words[same + 1] ?? '') ? 2 : 1)).join('.');
  const [first, last] = [brief(from), brief(to)];
  const dash = NUMBER.test(first) && NUMBER.test(last) ? '–' : ' – ';
  return [...from.slice(0, same), first === last ? first : first + dash + last].join('.');
}

/** Bars that stand for several of `all` with the modules that these are in: `blocks.3`, `layers.7–5`. */
export function located(structure: Structure, all: readonly Gain[], bars: readonly Gain[]): Gain[] {
  let next = 0;
  return bars.map(g => {
    const [first, last] = [all[next]?.op ?? -1, all[next + g.count - 1]?.op ?? -1];
    next += g.count;
    if (g.op !== null) return g;
    return { ...g, name: innermost(structure, first, last) || between(structure, first, last) };
  });
}

/** As many bars as there is room for: neighbours that change little become one; the last one stays. */
export function fewer(all: readonly Gain[], most = MOST): Gain[] {
  let out = [...all];
  while (out.length > 16 * most) out = halved(out);
  while (out.length > most) {
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < out.length - 2; i++) {
      const s = hidden(out[i] as Gain, out[i + 1] as Gain);
      if (s < least) [best, least] = [i, s];
    }
    if (best < 0) break;
    out.splice(best, 2, joined(out[best] as Gain, out[best + 1] as Gain));
  }
  return out;
}

/** 0.06\u00d7, 83\u00d7, NaN. */
function times(x: number): string {
  return special(x) ?? `${plain(x)}\u00d7`;
}

/** Draws the bars of one parameter at a time. */
export class Waterfall {
  private readonly title = html('span', {});
  private readonly head = html(
    'div',
    { class: 'gl-label gl-gainhead' },
    this.title,
    html(
      'span',
      { title: 'norm of the gradient that an op passes on, over the norm of the one that it gets' },
      '\u2016g in\u2016 / \u2016g out\u2016'
    )
  );
  private readonly rows = html('div', { class: 'gl-gainrows', role: 'list' });
  private readonly ticks = html('div', { class: 'gl-gainticks', 'aria-hidden': 'true' });
  private readonly note = html('div', { class: 'gl-further' });
  readonly element = html('div', { class: 'gl-gain' }, this.head, this.rows, this.ticks, this.note);

  /** Cut the names to the room there is. */
  fit(): void {
    fitNames(this.rows);
  }

  update(structure: Structure, frame: Frame, leaf: number, selected: ReadonlySet<number>): void {
    const all = gains(structure, frame, leaf);
    this.element.hidden = all.length === 0;
    if (all.length === 0) return;
    write(this.title, `gain along the path, loss to ${(structure.leaves[leaf]?.name ?? '').slice(0, 200)}`);
    const shown = located(structure, all, fewer(all));
    // What several backward calls have added up is no gain of this one.
    const sum = (frame.leaf_has[leaf] ?? 0) & 4 ? shown.at(-1) : undefined;
    const factors = shown.filter(g => g !== sum).map(g => g.gain);
    const decades = sides(factors);
    this.rows.replaceChildren(...shown.map(g => this.row(g, structure, decades, selected, g === sum)));
    this.fit();
    const marks = barTicks(decades, beyond(factors, decades));
    // Five labels need 40 pixels each.
    const shownMarks = marks.filter((_, i) => i % 2 === 0 || marks.length < 5 || (this.ticks.clientWidth || 200) >= 200);
    this.ticks.replaceChildren(...shownMarks.map(([text, at]) => html('span', { style: `left:${(at * 100).toFixed(1)}%` }, text)));
    const kept = sum ? all.slice(0, -1) : all;
    const worst = kept.reduce<Gain | undefined>((w, g) => (g.gain < (w?.gain ?? LOSS) ? g : w), undefined);
    const sums = all.some(g => g.readers > 1) ? ' Where a result is read in several places, its gradient is the sum.' : '';
    const lost = worst ? `Most is lost in ${worst.name}: it passes on ${times(worst.gain)}.` : '';
    write(this.note, `${lost}${sums}`.trim());
  }

  private row(g: Gain, structure: Structure, decades: number, selected: ReadonlySet<number>, sum: boolean): HTMLElement {
    // Where no gradient comes, none is lost.
    const none = g.before === 0 && g.after === 0;
    const odd = !none && special(g.gain) !== null;
    const far = g.gain === 0 || odd || Math.abs(Math.log10(g.gain)) > 1;
    const value = html(
      'span',
      { class: `gl-gainvalue${far ? ' gl-out' : ''}${odd ? ' gl-odd-text' : ''}` },
      none ? '\u2013' : times(g.gain)
    );
    mark(value, none ? null : g.gain);
    const where = g.op === null ? '' : madeAt(structure, structure.ops[g.op] as Structure['ops'][number]);
    const ops = g.count > 1 ? plural(g.count, 'op') : '';
    const title = `${[g.name, ops].filter(Boolean).join(' · ')}${where ? ` \u00b7 ${where}` : ''}\n\u2016g\u2016 ${full(g.before)} in the op's result, ${full(g.after)} passed on`;
    const on = g.op !== null && selected.has(g.op);
    const cells = [
      html('span', { class: 'gl-gainname' }, nameCell(g.name || ops, g.name && ops)),
      ...(sum
        ? [html('span', { class: 'gl-gainsum', 'data-value': full(g.after) }, '.grad: sum of several calls')]
        : [bar(none ? null : g.gain, decades), value])
    ];
    const look = { class: `gl-gainrow${on ? ' gl-selected' : ''}`, title, role: 'listitem' };
    return g.op === null ? html('div', look, ...cells) : html('div', { ...look, 'data-gain': g.op, tabindex: 0 }, ...cells);
  }
}

/** Draw the waterfall of the first selected parameter, or else of the first that has a line. */
export function gainPart(view: View, into: HTMLElement): void {
  const { store, signal } = view;
  const waterfall = new Waterfall();
  into.replaceChildren(waterfall.element);
  followWidth(view, into, () => waterfall.fit());
  watch(view, () => {
    void store.revision.value;
    const step = store.step.value;
    if (into.closest('.gl-body[hidden]')) return;
    const { parameters, ops } = marked(store.selected.value, step?.structure);
    const order = visibleRows(depthOrder(store.series, step?.structure), parameters);
    const find = (name: string) => step?.structure.leaves.findIndex(leaf => leaf.kind === 'parameter' && leaf.name === name) ?? -1;
    const leaf = closeRows(order, parameters)
      .map(find)
      .find(j => j >= 0);
    if (step && leaf !== undefined) waterfall.update(step.structure, step.frame, leaf, ops);
    else waterfall.element.hidden = true;
  });
  for (const kind of ['click', 'keydown']) {
    into.addEventListener(
      kind,
      event => {
        if (event instanceof KeyboardEvent && event.key !== 'Enter') return;
        const row = (event.target as Element).closest('[data-gain]');
        if (row) store.toggle(`op:${row.getAttribute('data-gain')}`);
      },
      { signal }
    );
  }
}
