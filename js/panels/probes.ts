/** Probes: each a line of its own over the steps that all charts show. */

import { html, write } from '../draw/element';
import { plain, tick } from '../draw/format';
import { Lines } from '../draw/lines';
import { axisOf, lineOf, marginsOf, readout } from './chart';
import { plot } from './plot';
import { MAX, MIN } from './series';
import type { Palette } from './theme';
import { tooltip } from './tip';
import { followWidth, watch, type View } from './view';

/** So many, the newest, have a line. */
const MOST = 6;
const HEIGHT = 64;

interface Chart {
  element: HTMLElement;
  lines: Lines;
  number: HTMLElement;
}

/** The columns of probes, oldest first. */
export const probesOf = (columns: readonly string[]) => columns.filter(name => name.startsWith('p/')).map(name => name.slice(2));

/** Draw the probes into an element. */
export function probePart(view: View, into: HTMLElement): void {
  const { store } = view;
  const { series } = store;
  const charts = new Map<string, Chart>();
  let width = 0;

  const chartOf = (name: string): Chart => {
    const lines = new Lines(`Probe ${name}`);
    const number = html('b', {});
    const label = html('div', { class: 'gl-probename', title: name }, html('span', {}, name), number);
    const chart = { element: html('div', { class: 'gl-probe', 'data-probe': name }, label, lines.element), lines, number };
    plot(
      view,
      lines.element,
      () => ({ axis: lines.input?.axis ?? axisOf(store, 1), left: lines.input?.left ?? 0 }),
      step => lines.point(step, store.at.peek())
    );
    tooltip(view, lines.element, () => (store.near.value === null ? null : readout(series, store.near.value, [[name, `p/${name}`]])));
    charts.set(name, chart);
    return chart;
  };

  const draw = () => {
    if (!width) return;
    // Not by `paletteOf`: it would bring the styles of all panels along.
    const ui = getComputedStyle(view.root).fontFamily || 'sans-serif';
    const margins = marginsOf(width, series, { fonts: { ui } } as Palette);
    const axis = axisOf(store, Math.max(60, width - margins.left - margins.right));
    const names = probesOf(series.columns).slice(-MOST);
    for (const name of names) {
      const { lines, number } = charts.get(name) ?? chartOf(name);
      const column = `p/${name}`;
      const linear = name.endsWith(' zeros') ? ([0, 1] as [number, number]) : name.endsWith(' mean') ? around(column) : undefined;
      lines.update({
        lines: [lineOf(series, column, '', axis, 'var(--gl-line1)')],
        axis,
        ...margins,
        fit: texts => [...texts],
        height: HEIGHT,
        font: `11px ${ui}`,
        linear,
        format: linear ? plain : tick
      });
      lines.point(store.near.peek(), store.at.value);
      const newest = store.number(column);
      write(number, Number.isNaN(newest) ? '–' : plain(newest));
      number.setAttribute('data-value', String(newest));
    }
    const elements = names.map(name => (charts.get(name) as Chart).element);
    if (elements.length !== into.childElementCount || elements.some((element, i) => into.children[i] !== element))
      into.replaceChildren(...elements);
  };

  /** The range of a column that may go below zero. */
  const around = (column: string): [number, number] => {
    const finite = [...series.values(column, MIN), ...series.values(column, MAX)].filter(Number.isFinite);
    const [low, high] = finite.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [0, 0]);
    return low === high ? [low - 1, high + 1] : [low, high];
  };

  followWidth(view, into, room => {
    width = room;
    draw();
  });
  watch(view, () => {
    void store.revision.value;
    void store.range.value;
    void store.at.value;
    draw();
  });
}
