/** The optimizer panel: a table for each optimizer, and lines of learning rate and update : weight below it. */

import { signal, type ReadonlySignal } from '@preact/signals-core';
import { html, set, svg, write } from '../draw/element';
import { count, full, plural, sci, special } from '../draw/format';
import { textWidth, whole } from '../draw/text';
import { short } from '../draw/short';
import { Lines } from '../draw/lines';
import { mark } from '../draw/node';
import { decades, logPart, stepAxis, type StepAxis } from '../draw/scale';
import { Spark } from '../draw/spark';
import { isMissing, type Frame, type OptimizerTable } from '../protocol/decode';
import { axisOf, lineOf, marginsOf, readout, stepLabels, STROKES } from './chart';
import { foldOut } from './fold-out';
import { plot } from './plot';
import { closeRows, fitName, shortNames, visibleRows } from './rows';
import { emptyState } from './section';
import { MAX, type Series } from './series';
import { marked } from './store';
import { paletteOf } from './theme';
import { tooltip } from './tip';
import { followWidth, watch, type PanelParts, type View } from './view';

/** Where update : weight is good, in decades; a rule of thumb says 10^-3. */
const GOOD = [-3.5, -2.3] as const;
const BAND = '3e-4 to 5e-3';
/** Steps in which none is called bad: Adam's are as long as the learning rate whatever the gradient. */
const EARLY = 10;
const RATIO = 'update:weight';
const TITLES: Record<string, string> = { m_hat: 'm̂', v_hat: '√v̂', v: '√v', effective_lr: 'lr / √v̂', [RATIO]: 'update : weight' };
const HINTS: Record<string, string> = {
  'rms g': 'root mean square of the gradient',
  m_hat: 'root mean square of the first moment, bias corrected',
  v_hat: 'square root of the second moment, bias corrected',
  v: 'square root of the mean square of the gradients so far, or of the late ones',
  effective_lr: 'learning rate divided by √v̂ + eps',
  momentum: 'root mean square of the momentum buffer',
  [RATIO]: 'size of the step beside the size of the weights; tinted: good'
};
/** Columns on one scale, so that their bars compare. */
const TOGETHER = ['rms g', 'm_hat', 'v_hat', 'v', 'momentum'];

/** Whether an update ratio is outside the good range. */
export function outOfBand(ratio: number): boolean {
  return !(ratio >= 10 ** GOOD[0] && ratio <= 10 ** GOOD[1]);
}

function infoIcon(): SVGSVGElement {
  return svg(
    'svg',
    { class: 'gl-info', width: 10, height: 10, viewBox: '0 0 12 12', role: 'img', 'aria-label': `outside ${BAND}` },
    svg('circle', { cx: 6, cy: 6, r: 5.2 }),
    svg('path', { d: 'M6 5.2v3.6M6 2.9v1.4' })
  );
}

/** One number over a bar of 4 px. */
class BarCell {
  readonly element: HTMLTableCellElement;
  private readonly number = html('span', {});
  private readonly bar = html('u', {});
  private readonly icon: SVGSVGElement | null;

  constructor(private readonly column: string) {
    const ratio = column === RATIO;
    this.icon = ratio ? infoIcon() : null;
    const track = html('em', { class: ratio ? 'gl-band' : null }, this.bar, ratio && html('u', { class: 'gl-middle' }));
    this.element = html('td', { class: 'gl-barcell gl-code', 'data-col': column }, this.icon, this.number, track);
  }

  update(x: number, range: readonly [number, number], missing: boolean, judged: boolean): void {
    mark(this.element, missing ? null : x);
    write(this.number, missing ? '–' : sci(x));
    this.element.classList.toggle('gl-odd-text', !missing && special(x) !== null);
    if (this.column !== RATIO) {
      const part = logPart(x, range[0], range[1]);
      set(this.bar, 'style', `width:${(Number.isNaN(part) ? 0 : Math.max(0.03, part) * 100).toFixed(0)}%`);
      return;
    }
    const part = logPart(x, -5, -1);
    const p = Number.isNaN(part) ? 50 : part * 100;
    const hot = judged && outOfBand(x) && !Number.isNaN(x) && x !== 0;
    set(this.bar, 'style', `left:${Math.min(p, 50).toFixed(1)}%;width:${Math.abs(p - 50).toFixed(1)}%`);
    this.element.classList.toggle('gl-out', hot);
    if (this.icon) set(this.icon, 'visibility', hot ? null : 'hidden');
  }
}

/** In a dock narrower than this columns are as wide as their numbers. */
const TIGHT = 440;
/** Widths of a number and of update : weight. */
const WIDTHS = { tight: [50, 84], roomy: [62, 108] } as const;

/** The table of one optimizer. */
class Table {
  readonly element = html('table', { class: 'gl-optimizer' });
  private cells: BarCell[][] = [];
  private rows: HTMLTableRowElement[] = [];
  private made = '';
  /** How many rows are not drawn. */
  further = 0;

  update(
    table: OptimizerTable,
    names: readonly string[],
    selected: ReadonlySet<string>,
    font: string,
    room: number,
    judged: (name: string) => boolean
  ): void {
    const all = table.rows.map(p => names[p] ?? `parameter ${p}`);
    const kept = new Set(visibleRows(all, selected));
    const places = all.map((_, r) => r).filter(r => kept.has(all[r] as string));
    const rows = places.map(r => all[r] as string);
    const key = JSON.stringify([table.columns, rows, room]);
    if (key !== this.made) this.build(table.columns, rows, font, room);
    this.made = key;
    this.further = all.length - rows.length;
    const width = table.columns.length;
    const column = (c: number) => places.map(r => table.values[r * width + c] as number);
    const shared = decades(TOGETHER.flatMap(name => (table.columns.includes(name) ? column(table.columns.indexOf(name)) : [])));
    const ranges = table.columns.map((name, c) => (TOGETHER.includes(name) ? shared : decades(column(c))));
    this.cells.forEach((cells, r) =>
      cells.forEach((cell, c) => {
        const k = (places[r] as number) * width + c;
        cell.update(table.values[k] as number, ranges[c] as [number, number], isMissing(table.values, k), judged(rows[r] as string));
      })
    );
    this.rows.forEach((row, r) => row.classList.toggle('gl-selected', selected.has(rows[r] as string)));
  }

  private build(columns: readonly string[], names: readonly string[], font: string, room: number): void {
    const head = columns.map(name => html('th', { scope: 'col', title: HINTS[name] ?? name }, TITLES[name] ?? name));
    // The names get what they need, then the numbers what is left.
    const need = names.reduce((most, name) => Math.max(most, textWidth(name.slice(0, 200), font)), 58) + 16;
    const leastOf = ([number, ratio]: readonly [number, number]) =>
      columns.reduce((sum, name) => sum + (name === RATIO ? ratio : number), 0);
    const widths = WIDTHS[room < TIGHT && need + leastOf(WIDTHS.roomy) > room ? 'tight' : 'roomy'];
    const [, ratio] = widths;
    const least = leastOf(widths);
    const left = Math.floor(Math.max(72, Math.min(need, room - least)));
    const shares = [
      html('col', { style: `width:${left}px` }),
      ...columns.map(name => html('col', { style: name === RATIO ? `width:${ratio}px` : null }))
    ];
    const short = shortNames(names, left - 14, font);
    this.cells = names.map(() => columns.map(name => new BarCell(name)));
    this.rows = names.map((name, r) =>
      html(
        'tr',
        { 'data-param': name, tabindex: -1 },
        html('td', { title: whole(name) }, short[r]),
        ...(this.cells[r] as BarCell[]).map(cell => cell.element)
      )
    );
    this.element.replaceChildren(
      html('colgroup', {}, ...shares),
      html('thead', {}, html('tr', {}, html('th', { scope: 'col' }, 'parameter'), ...head)),
      html('tbody', {}, ...this.rows)
    );
  }
}

/** Of which step a table is, where that is an older one than the newest. */
function ofStep(before: string, { of }: OptimizerTable, after = ''): string {
  return of === undefined ? '' : `${before}step ${count(of)}${after}`;
}

/** The parameter whose update : weight is farthest from 10^-3, and the ratio. */
export function farthest(table: OptimizerTable, names: readonly string[]): [string, number] | null {
  const c = table.columns.indexOf(RATIO);
  let best: [string, number] | null = null;
  if (c < 0) return null;
  const far = (x: number) => (x > 0 && x < Infinity ? Math.abs(Math.log10(x) + 3) : special(x) ? Infinity : 0);
  table.rows.forEach((p, r) => {
    const x = table.values[r * table.columns.length + c] as number;
    if (!best || far(x) > far(best[1])) best = [names[p] ?? '', x];
  });
  return best;
}

/** The column of an optimizer's learning rate; a second optimizer of the same name has a column of its own. */
function rateColumn(series: Series, frame: Frame, index: number): string {
  const rates = series.columns.filter(name => name.startsWith('lr/'));
  const label = frame.optimizers[index]?.label ?? '';
  return rates.find(name => name === `lr/${label}`) ?? rates[index] ?? `lr/${label}`;
}

/** The optimizer panel. */
export function optimizerPanel(view: View, open: ReadonlySignal<boolean>): PanelParts {
  const { store } = view;
  const { series } = store;
  const body = html('div', { class: 'gl-optimizers' });
  const label = html('span', { class: 'gl-keyfact' });
  const alarm = infoIcon();
  const far = html('span', { class: 'gl-far' });
  const spark = new Spark(14, 'Learning rate so far');
  const summary = html('div', { class: 'gl-sum' }, label, alarm, far, spark.element);
  const empty = emptyState('No optimizer has stepped yet.');
  const idle = emptyState('It moved no parameter: none that it holds got a gradient.');
  const scroller = html('div', { class: 'gl-scroll' });
  const legend = html(
    'div',
    { class: 'gl-legend gl-spread' },
    html('span', {}, html('i', { class: 'gl-back-band gl-dash' }), `good: ${BAND}`),
    html('span', {}, '10⁻⁵ · ', html('b', {}, '10⁻³'), ' · 10⁻¹')
  );
  const further = html('div', { class: 'gl-further' });
  const ticks = html('div', { class: 'gl-ticks', 'aria-hidden': 'true' });
  const ratioLabel = html('div', { class: 'gl-label' }, 'update : weight');
  const rateLabel = html('div', { class: 'gl-label' }, 'learning rate');
  const ratios = new Lines('update : weight over steps');
  const rates = new Lines('Learning rate over steps');
  const microscope = foldOut(
    view,
    'microscope',
    'microscope: update, cosine, eps, decay',
    'what the last step did to each parameter, and what the optimizers hold'
  );
  const tables = new Map<number, Table>();
  const titles = new Map<number, HTMLElement>();
  const room = signal(416);
  /** What each chart shows: names and columns. */
  const columns = new Map<Lines, [string, string][]>();
  let axis: StepAxis = stepAxis(1, 1, 1);
  let left = 0;
  followWidth(view, body, width => (room.value = width));

  const drawLines = (frame: Frame, selected: ReadonlySet<string>) => {
    const names = series.parameters();
    const held = frame.optimizers.flatMap(o => o.rows.map(p => names[p] ?? ''));
    const close = closeRows(held, selected);
    const palette = paletteOf(view.root, view.theme.value);
    const margins = marginsOf(room.value, series, palette);
    axis = axisOf(store, Math.max(60, room.value - margins.left - margins.right));
    left = margins.left;
    const shared = { axis, ...margins, font: `11px ${palette.fonts.ui}`, fit: shortNames };
    ticks.replaceChildren(...stepLabels(store, axis, margins.left));
    columns.set(
      ratios,
      close.map(name => [name, `u/${name}`])
    );
    columns.set(
      rates,
      frame.optimizers.slice(0, 3).map((o, i) => [frame.optimizers.length > 1 ? o.label : 'lr', rateColumn(series, frame, i)])
    );
    for (const [chart, named] of columns) {
      chart.update({
        ...shared,
        lines: named.map(([name, column], i) => lineOf(series, column, name, axis, STROKES[i] as string)),
        height: chart === rates ? 60 : 92,
        format: chart === rates ? short : (x: number) => sci(x, 1),
        band: chart === rates ? undefined : [10 ** GOOD[0], 10 ** GOOD[1]]
      });
      chart.point(store.near.peek(), store.at.value);
    }
  };
  for (const chart of [ratios, rates]) {
    plot(
      view,
      chart.element,
      () => ({ axis, left }),
      step => chart.point(step, store.at.peek())
    );
    tooltip(view, chart.element, () => {
      const step = store.near.value;
      return step === null ? null : readout(series, step, columns.get(chart) ?? []);
    });
  }

  const build = (count: number) => {
    tables.clear();
    titles.clear();
    const parts: HTMLElement[] = [];
    for (let i = 0; i < count; i++) {
      const table = new Table();
      const title = html('div', { class: 'gl-label' });
      tables.set(i, table);
      titles.set(i, title);
      if (count > 1) parts.push(title);
      parts.push(table.element);
    }
    scroller.replaceChildren(...parts);
  };

  watch(view, () => {
    void store.revision.value;
    void view.theme.value;
    const step = store.step.value;
    const frame = step?.frame;
    const first = frame?.optimizers[0];
    const names = series.parameters();
    const palette = paletteOf(view.root, view.theme.value);
    const font = `11px ${palette.fonts.ui}`;
    const farther = first && !open.value ? farthest(first, names) : null;
    const named = new Set(store.findings.value?.findings.map(finding => finding.parameter));
    const judged = (name: string) => (frame?.step ?? 0) > EARLY || named.has(name);
    const hot = farther !== null && judged(farther[0]) && outOfBand(farther[1]) && farther[1] !== 0;
    write(far, farther ? `${fitName(farther[0], 120, font)} ${sci(farther[1])}` : '');
    set(alarm, 'hidden', hot ? null : '');
    far.hidden = farther === null;
    if (!frame || !first) {
      write(label, 'no optimizer has stepped yet');
      spark.element.toggleAttribute('hidden', true);
      if (open.value) body.replaceChildren(empty);
      return;
    }
    const more = frame.optimizers.length > 1 ? ` · ${plural(frame.optimizers.length - 1, 'more optimizer')}` : '';
    write(label, `${first.label} · lr ${short(first.lr)}${more}${farther ? ' · ' : ''}`);
    mark(label, first.lr);
    label.title = `learning rate ${full(first.lr)}`;
    const lr = series.values(rateColumn(series, frame, 0), MAX);
    spark.element.toggleAttribute('hidden', lr.filter(Number.isFinite).length < 2);
    spark.update(lr, 48);
    if (!open.value) return;
    if (tables.size !== frame.optimizers.length) build(frame.optimizers.length);
    const selected = marked(store.selected.value, step.structure).parameters;
    body.classList.toggle('gl-tight', room.value < TIGHT);
    frame.optimizers.forEach((table, i) => {
      tables.get(i)?.update(table, names, selected, font, room.value, judged);
      write(titles.get(i) as HTMLElement, `${table.label} · lr ${short(table.lr)}${ofStep(' · ', table)}`);
    });
    const rows = frame.optimizers.reduce((sum, table) => sum + table.rows.length, 0);
    if (rows === 0) {
      body.replaceChildren(idle);
      return;
    }
    const hidden = [...tables.values()].reduce((sum, table) => sum + table.further, 0);
    const said = hidden > 0 ? `${count(rows - hidden)} of ${count(rows)} parameters, spread over the depth` : '';
    const of = frame.optimizers.length > 1 ? '' : ofStep('Numbers of ', first, '.');
    write(further, said + (said && of && ' · ') + of);
    scroller.classList.toggle('gl-long', rows > 24);
    const ratio = frame.optimizers.some(table => table.columns.includes(RATIO));
    const parts = [
      scroller,
      further,
      ...(ratio ? [legend] : []),
      microscope,
      ...(series.size > 1 ? [...(ratio ? [ratioLabel, ratios.element] : []), rateLabel, rates.element, ticks] : [])
    ];
    if (parts.length !== body.childElementCount || scroller.parentElement !== body) body.replaceChildren(...parts);
    if (series.size > 1) drawLines(frame, selected);
  });
  body.addEventListener(
    'click',
    event => {
      const row = (event.target as Element).closest('[data-param]');
      if (row) store.toggle(`param:${row.getAttribute('data-param')}`);
    },
    { signal: view.signal }
  );
  return { title: 'Optimizer', body, summary };
}
