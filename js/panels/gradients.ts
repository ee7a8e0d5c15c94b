/** The gradient panel: a map of layer over step, and below it lines on the same axis. */

import { signal, type ReadonlySignal } from '@preact/signals-core';
import { css, diverging, pack, sequential } from '../draw/colour';
import { html, set, write } from '../draw/element';
import { count, full, plain, plural, sci, tick } from '../draw/format';
import { whole } from '../draw/text';
import { paintHeat, type HeatInput, type HeatLook } from '../draw/heat';
import { Lines } from '../draw/lines';
import { mark } from '../draw/node';
import { clipped, DECADES, stepAt, stepAxis, type StepAxis } from '../draw/scale';
import { axisOf, lineOf, marginsOf, readout, spansOf, stepLabels, STROKES, type Margins } from './chart';
import { spanAt } from './span';
import { plot, xOf } from './plot';
import { closeRows, depthOrder, shortNames, visibleRows } from './rows';
import { foldOut } from './fold-out';
import { later } from './later';
import { emptyState } from './section';
import { MAX } from './series';
import { marked } from './store';
import { paletteOf, type Palette } from './theme';
import { tooltip } from './tip';
import { followWidth, watch, type PanelParts, type View } from './view';

type Mode = 'g' | 'u' | 'z';
const MODES: [Mode, string, string][] = [
  ['g', 'log10 ‖g‖', 'norm of the gradient'],
  ['u', 'update ratio', 'size of the update beside the size of the weights'],
  ['z', 'zeros', 'share of exact zeros in the gradient, counted while this is chosen']
];
/** So often a page that shows the share of zeros says so; the kernel counts for twelve seconds. */
const RENEW_MS = 5000;
/** The map's pixels: whole rows. */
const HIGHEST = 26 * 13;
/** In the panel of a session that is this wide the waterfall stands beside the map. */
const APART = 860;

/** A share: 0 %, 50 %. */
const share = (x: number) => `${Math.round(x * 100)} %`;

/** A row of buttons of which one is on. */
function segments(view: View, label: string, choose: (mode: Mode) => void): { element: HTMLElement; show: (mode: Mode) => void } {
  const buttons = MODES.map(([mode, text, title]) => {
    const button = html('button', { type: 'button', title }, text);
    button.addEventListener('click', () => choose(mode), { signal: view.signal });
    return button;
  });
  const element = html('div', { class: 'gl-seg', role: 'group', 'aria-label': label }, ...buttons);
  const show = (mode: Mode) => buttons.forEach((button, i) => button.setAttribute('aria-pressed', String(MODES[i]?.[0] === mode)));
  return { element, show };
}

/** The gradient panel. */
export function gradientsPanel(view: View, open: ReadonlySignal<boolean>): PanelParts {
  const { store } = view;
  const { series } = store;
  const mode = signal<Mode>('g');
  const room = signal(416);
  const body = html('div', { class: 'gl-gradients' });
  const summary = html('div', { class: 'gl-sum' });
  const empty = emptyState('No backward pass yet. Call `loss.backward()`.');
  const early = emptyState('The map begins when this step ends.');
  const gain = html('div', { class: 'gl-gainroom' });
  const ledger = foldOut(view, 'ledger', 'ledger', 'what was added to each .grad since it was last cleared');
  const probes = html('div', {});
  let withGain = false;
  let withProbes = false;
  const seg = segments(view, 'What the map shows', next => (mode.value = next));
  const canvas = html('canvas', {});
  const cursor = html('div', { class: 'gl-cursorline', hidden: true });
  const names = html('div', { class: 'gl-rows' });
  const chosen = html('div', { class: 'gl-chosen', hidden: true });
  const heat = html('div', { class: 'gl-plot', 'aria-label': 'Gradient norms, parameter by step' }, canvas, cursor, chosen);
  const scroller = html('div', { class: 'gl-heat' }, names, heat);
  const bar = html('div', { class: 'gl-scalebar' });
  const scale = html('div', { class: 'gl-scale', 'aria-hidden': 'true' }, bar);
  const ticks = html('div', { class: 'gl-ticks', 'aria-hidden': 'true' });
  const further = html('div', { class: 'gl-further' });
  const map = html('div', { class: 'gl-map' }, scroller, scale, ticks);
  const lines = new Lines('Lines over steps');
  const lineLabel = html('div', { class: 'gl-label gl-plotname', title: 'what the map shows, as lines' });
  const chart = html('div', { class: 'gl-chartroom' }, lineLabel, lines.element);
  const overTime = html('div', { class: 'gl-overtime' }, map, further, chart, probes);
  followWidth(view, overTime, width => (room.value = width));
  followWidth(view, body, width => body.classList.toggle('gl-apart', width >= APART));

  let rows: string[] = [];
  let close: string[] = [];
  let met: string | undefined; // the selected row that was scrolled to
  let shown = 0;
  let axis: StepAxis = stepAxis(1, 1, 1);
  let rowHeight = 18;
  let margins: Margins = { left: 72, right: 46 };
  const buttons = new Map<string, HTMLButtonElement>();

  const nameRows = (selected: ReadonlySet<string>, palette: Palette) => {
    const short = shortNames(rows, margins.left - 6, `11px ${palette.fonts.ui}`);
    const made = rows.map((name, i) => {
      let button = buttons.get(name);
      if (!button) {
        button = html(
          'button',
          { type: 'button', 'data-row': name, class: 'gl-row' },
          html('span', { class: 'gl-rowname' }),
          html('span', { class: 'gl-g', hidden: true })
        );
        buttons.set(name, button);
      }
      const on = selected.has(name);
      write(button.firstElementChild as Element, short[i] as string);
      button.classList.toggle('gl-selected', on);
      set(button, 'aria-pressed', String(on));
      set(button, 'style', `height:${rowHeight}px`);
      const g = store.number(`g/${name}`);
      mark(button.lastElementChild as Element, Number.isNaN(g) ? null : g);
      return button;
    });
    // To put them in anew lays all of them out anew.
    if (names.childElementCount !== made.length || made.some((button, i) => names.children[i] !== button)) names.replaceChildren(...made);
  };

  const drawScale = (look: HeatLook, height: number) => {
    const stops = Array.from({ length: 12 }, (_, i) => css(look.colours[Math.round((1 - i / 11) * 255)] as number));
    bar.style.height = `${height - 1}px`;
    bar.style.background = `linear-gradient(${stops.join(', ')})`;
    const labels: [number, number][] = [
      [look.high, 0],
      [look.low, 1]
    ];
    const middle = look.linear ? 0.5 : Math.round((look.low + look.high) / 2);
    const part = (look.high - middle) / (look.high - look.low);
    // Of three labels none may stand in another.
    if (part * height > 26 && part * height < height - 26) labels.push([middle, part]);
    scale.replaceChildren(
      bar,
      ...labels.map(([e, at]) => {
        const y = Math.min(height - 13, Math.max(-1, at * height - 7));
        const clip = at === 0 ? 'this much or more' : at === 1 ? 'this much or less' : '';
        const less = at === 1 && look.high - e > DECADES - 0.01 ? '≤' : '';
        return html(
          'span',
          { style: `top:${y}px`, title: look.linear ? null : clip || null },
          look.linear ? share(e) : less + tick(10 ** e)
        );
      })
    );
    scale.style.height = `${height}px`;
  };

  const draw = () => {
    const width = room.value;
    const palette = paletteOf(view.root, view.theme.value);
    margins = marginsOf(width, series, palette);
    names.style.width = `${margins.left}px`;
    map.style.gridTemplateColumns = `minmax(0, 1fr) ${margins.right}px`;
    const selected = marked(store.selected.value, store.step.value?.structure).parameters;
    const all = depthOrder(series, store.step.value?.structure);
    rows = visibleRows(all, selected);
    rowHeight = rows.length <= 10 ? 18 : 13;
    const spread =
      all.length > rows.length
        ? `${count(rows.length)} of ${count(all.length)} parameters, spread over the depth`
        : plural(all.length, 'parameter');
    const most = HIGHEST / rowHeight;
    axis = axisOf(store, Math.max(60, width - margins.left - margins.right));
    shown = spansOf(series, axis);
    const { dark } = palette;
    const columns = rows.map(name => series.column(`${mode.value}/${name}`));
    const total = series.column('grad_norm');
    const gradients = rows.map(name => series.column(`g/${name}`));
    const linear = mode.value === 'z';
    const [low, high] = mode.value === 'u' ? [-5, -1] : linear ? [0, 1] : clipped(sample(columns));
    const look: HeatLook = {
      colours: mode.value === 'u' ? diverging(dark) : sequential(dark),
      low,
      high,
      linear,
      empty: pack(palette.track),
      unread: pack(dark ? '#8a8a8a' : '#9a9a9a'),
      odd: pack(palette.odd)
    };
    const input: HeatInput = {
      rows: rows.length,
      first: series.first,
      last: series.last,
      size: shown,
      cell: (row, span) => series.at(span, columns[row] as number, MAX),
      read: span => read[span] === true,
      odd: (row, span) => Number.isNaN(series.at(span, gradients[row] as number, MAX)) && !Number.isFinite(series.at(span, total, MAX))
    };
    const read = Array.from({ length: shown }, (_, span) => series.read(span));
    const every = store.step.value?.frame.tracing.every ?? 1;
    const full = every > 1 ? ` · one step in ${count(every)} is read in full` : '';
    const hatched = read.includes(false) ? `hatched: not read${full}` : '';
    write(further, [rows.length > most ? `${spread}; ${most} in sight` : '', hatched].filter(Boolean).join(' · '));
    nameRows(selected, palette);
    paintHeat(canvas, input, axis, rowHeight, look);
    const height = Math.min(rows.length * rowHeight, HIGHEST);
    scroller.classList.toggle('gl-long', rows.length > most);
    const on = rows.findIndex(name => selected.has(name));
    if (rows[on] !== met) {
      met = rows[on];
      const away = on * rowHeight - scroller.scrollTop;
      if (met && (away < 0 || away >= height)) scroller.scrollTop += away - height / 2;
    }
    heat.style.width = `${axis.width}px`;
    const at = xOf({ axis, left: 0 }, store.at.value);
    chosen.hidden = at === null;
    if (at !== null) chosen.style.left = `${at}px`;
    drawScale(look, height);
    ticks.replaceChildren(...stepLabels(store, axis, margins.left));
    // Of one step there are no lines.
    chart.hidden = series.size < 2;
    if (!chart.hidden) drawLines(selected, palette);
  };

  const sample = (columns: readonly number[]) => {
    const every = Math.max(1, Math.floor((shown * columns.length) / 4000));
    const out: number[] = [];
    for (let k = 0; k < shown * columns.length; k += every) {
      out.push(series.at(Math.floor(k / columns.length), columns[k % columns.length] as number, MAX));
    }
    return out;
  };

  const drawLines = (selected: ReadonlySet<string>, palette: Palette) => {
    close = closeRows(rows, selected);
    const kind = mode.value;
    write(lineLabel, { g: '‖g‖', u: 'u : w', z: 'zeros' }[kind]);
    lines.update({
      lines: close.map((name, i) => lineOf(series, `${mode.value}/${name}`, name, axis, STROKES[i] as string)),
      axis,
      ...margins,
      fit: shortNames,
      height: 96,
      font: `11px ${palette.fonts.ui}`,
      linear: kind === 'z' ? [0, 1] : undefined,
      format: { g: tick, u: (x: number) => sci(x, 1), z: share }[kind],
      band: mode.value === 'u' ? [10 ** -3.5, 10 ** -2.3] : undefined
    });
    lines.point(store.near.peek(), store.at.value);
  };

  watch(view, () => {
    void store.revision.value;
    void view.theme.value;
    seg.show(mode.value);
    const frame = store.step.value?.frame;
    const known = series.size > 0 && series.parameters().length > 0;
    const total = frame?.grad_norm ?? (known ? store.number('grad_norm') : null);
    const held = known ? ` · ${plural(series.parameters().length, 'parameter')}` : '';
    write(summary, total === null ? 'no backward pass yet' : `‖grad‖ ${plain(total)}${held}`);
    if (!open.value) return;
    if (!known) {
      body.replaceChildren(total === null ? empty : early);
      return;
    }
    if (overTime.parentElement !== body) body.replaceChildren(overTime, html('div', {}, gain, ledger));
    if (!withGain) void later(view, 'gain', gain);
    withGain = true;
    if (!withProbes && series.columns.some(name => name.startsWith('p/'))) {
      withProbes = true;
      void later(view, 'probes', probes);
    }
    draw();
  });
  watch(view, () => {
    if (mode.value !== 'z' || !open.value) return;
    const ask = () => document.visibilityState !== 'hidden' && store.command('zeros');
    ask();
    const timer = setInterval(ask, RENEW_MS);
    view.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    return () => clearInterval(timer);
  });
  names.addEventListener(
    'pointerover',
    event => {
      const row = (event.target as Element).closest<HTMLElement>('[data-row]');
      const of = (column: string) => full(store.number(`${column}/${row?.dataset.row}`));
      if (row) row.title = `${whole(row.dataset.row ?? '')}\n‖g‖ ${of('g')}\n‖weight‖ ${of('w')}\nupdate : weight ${of('u')}`;
    },
    { signal: view.signal }
  );
  names.addEventListener(
    'click',
    event => {
      const row = (event.target as Element).closest('[data-row]');
      if (row) store.toggle(`param:${row.getAttribute('data-row')}`);
    },
    { signal: view.signal }
  );
  plot(
    view,
    heat,
    () => ({ axis, left: 0 }),
    step => {
      const x = xOf({ axis, left: 0 }, step);
      cursor.hidden = x === null;
      if (x !== null) cursor.style.left = `${x}px`;
    },
    false
  );
  plot(
    view,
    lines.element,
    () => ({ axis, left: margins.left }),
    step => lines.point(step, store.at.peek())
  );
  /** The row and span under the pointer. */
  const under = (event: MouseEvent): [string | undefined, number] => {
    const box = canvas.getBoundingClientRect();
    const step = stepAt(axis, event.clientX - box.left);
    const inside = step >= series.firstStep && step <= store.lastShown;
    return [rows[Math.floor((event.clientY - box.top) / rowHeight)], inside ? spanAt(series, step) : -1];
  };
  canvas.addEventListener(
    'click',
    event => {
      const [row] = under(event);
      if (row !== undefined) store.toggle(`param:${row}`);
    },
    { signal: view.signal }
  );
  tooltip(view, canvas, (_, event) => {
    const [row, span] = under(event);
    if (row === undefined || span < 0) return null;
    const said = readout(series, series.last[span] as number, [
      ['‖g‖', `g/${row}`],
      ['‖weight‖', `w/${row}`],
      ['update : weight', `u/${row}`],
      ...(mode.value === 'z' ? [['zeros', `z/${row}`] as const] : [])
    ]);
    return said && { title: whole(row), lines: [['', said.title], ...said.lines] };
  });
  tooltip(view, lines.element, () => {
    const step = store.near.value;
    return step === null
      ? null
      : readout(
          series,
          step,
          close.map(name => [name.slice(0, 100), `${mode.value}/${name}`])
        );
  });
  return { title: 'Gradients', body, summary, tools: seg.element };
}
