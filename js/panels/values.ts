/** Value and gradient of one tensor: two maps with one place under the pointer, their histograms, and what moves the window. */

import { css, diverging, sequential } from '../draw/colour';
import { html, write, type Child } from '../draw/element';
import { count, full, plain, shape } from '../draw/format';
import { histogram } from '../draw/histogram';
import { cellSize, isSigned, paintMatrix, wrapped, type Matrix, type MatrixLook } from '../draw/matrix';
import { doubles, integers, toNumber, type Buffer } from '../protocol/decode';
import type { Wire } from '../protocol/messages';
import { paletteOf } from './theme';
import { tooltip } from './tip';
import type { View } from './view';

/** One array as the kernel tells of it: `axes` are names and how far the window can be moved, `at` where it is. */
interface Header {
  shape: number[];
  at: number[];
  values: number[];
  axes: [string, number][];
  seen: string;
  counted: string;
  size: number;
  low: Wire | null;
  high: Wire | null;
  norm: Wire;
}

/** The same as it is shown. */
export interface Shown extends Header {
  matrix: Matrix;
  counts: Int32Array;
}

const div = (name: string, ...children: Child[]) => html('div', { class: name || null }, ...children);

/** Read an answer to `values` or `captured`. */
export function shownOf(content: Record<string, unknown>, buffers: readonly Buffer[]): [Shown | null, Shown | null] {
  let at = 0;
  const read = (name: string): Shown | null => {
    const header = content[name] as Header | null;
    if (!header) return null;
    const [rows = 0, columns = 0] = header.values;
    const matrix = { values: doubles(buffers[at++]), rows, columns, low: toNumber(header.low), high: toNumber(header.high) };
    return { ...header, matrix, counts: integers(buffers[at++]) };
  };
  return [read('value'), read('gradient')];
}

/** The place of an entry of the window in the whole array. */
function placeOf({ at, values }: Shown, k: number): number[] {
  const columns = values[1] as number;
  return at.map((from, axis) => from + (axis === at.length - 1 ? k % columns : axis === at.length - 2 ? Math.floor(k / columns) : 0));
}

const indexOf = (one: Shown, k: number) => `[${placeOf(one, k).join(', ')}]`;

/** The maps; `move` is called where the reader looks at another part. */
export function valuesView(
  view: View,
  move: (at: number[]) => void
): { element: HTMLElement; show: (arrays: [Shown | null, Shown | null], width: number) => void } {
  const maps = div('gl-maps');
  const readout = html('div', { class: 'gl-readout gl-code', 'aria-live': 'polite' });
  const seen = div('gl-legend');
  const sliders = div('gl-sliders');
  const element = div('', maps, sliders, readout, seen);
  const options = { signal: view.signal };
  let arrays: [Shown | null, Shown | null] = [null, null];
  let marks: HTMLElement[] = [];
  let size: [number, number] = [1, 1];
  let columns = 1;
  let at = 0;
  let sliding = '';

  const entry = (k: number): [string, string][] =>
    arrays.flatMap((one, i) => {
      const x = one?.matrix.values[k];
      return x === undefined ? [] : [[i ? 'gradient' : 'value', full(x)] as [string, string]];
    });
  const first = () => (arrays[0] ?? arrays[1]) as Shown;
  const point = (k: number) => {
    at = k;
    for (const mark of marks) {
      mark.hidden = k < 0;
      mark.style.cssText = `left:${(k % columns) * size[0]}px;top:${Math.floor(k / columns) * size[1]}px;width:${size[0]}px;height:${size[1]}px`;
    }
  };
  /** Tell which entry is looked at, and whether it was picked: `gl-entry` bubbles up to who wants to know. */
  const tell = (k: number, picked: boolean) =>
    k >= 0 && element.dispatchEvent(new CustomEvent('gl-entry', { bubbles: true, detail: { at: placeOf(first(), k), picked } }));
  /** The entry under the pointer; -1 where there is none. */
  const under = (canvas: Element, event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / size[0]);
    const k = Math.floor((event.clientY - box.top) / size[1]) * columns + column;
    return column >= 0 && column < columns && k >= 0 && k < first().matrix.values.length ? k : -1;
  };
  tooltip(view, maps, (target, event) => {
    const canvas = target.closest('canvas');
    if (canvas) {
      const k = under(canvas, event);
      if (k !== at) tell(k, false);
      point(k);
      return k < 0 ? null : { title: indexOf(first(), k), lines: entry(k) };
    }
    point(-1);
    const bins = target.closest('[data-hist]');
    const one = bins && arrays[bins.getAttribute('data-hist') === 'value' ? 0 : 1];
    if (!bins || !one) return null;
    const box = bins.getBoundingClientRect();
    const bin = Math.min(63, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * 64)));
    const { low, high } = one.matrix as { low: number; high: number };
    const edge = (k: number) => full(low + ((high - low) * k) / 64);
    return { title: `${edge(bin)} to ${edge(bin + 1)}`, lines: [['entries', count(one.counts[bin] as number)]] };
  });
  maps.addEventListener('pointerleave', () => point(-1), options);
  maps.addEventListener('click', event => (event.target as Element).closest('canvas') && tell(at, true), options);
  maps.addEventListener(
    'keydown',
    event => {
      if (event.key === 'Enter') return void tell(at, true);
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
      if (step === undefined || !(event.target as Element).closest('canvas')) return;
      event.preventDefault();
      event.stopPropagation();
      const k = Math.max(at, 0) + step;
      if (k < 0 || k >= first().matrix.values.length) return;
      tell(k, false);
      point(k);
      const numbers = entry(k).map(pair => pair.join(' '));
      write(readout, `${indexOf(first(), k)}  ${numbers.join('  ')}`);
    },
    options
  );
  /** One map with its scale and histogram. */
  const map = (one: Shown, i: number, width: number, look: MatrixLook) => {
    const name = i ? 'gradient' : 'value';
    const canvas = html('canvas', { role: 'img', tabindex: 0, 'data-map': name, 'aria-label': `${name} ${shape(one.shape)}, arrows move` });
    const matrix = wrapped(one.matrix);
    size = cellSize(matrix, width);
    columns = matrix.columns;
    paintMatrix(canvas, matrix, width, look);
    const mark = html('i', { class: 'gl-here', hidden: true });
    marks.push(mark);
    const [low, high] = [matrix.low ?? 0, matrix.high ?? 0];
    const wide = size[0] * columns;
    const norm = `‖${i ? 'g' : 'v'}‖ ${plain(toNumber(one.norm) ?? NaN)} · ${shape(one.shape)}`;
    const parts: (HTMLElement | SVGElement)[] = [div('gl-label', name, html('span', {}, norm)), div('gl-matrix', canvas, mark)];
    const odd = div('gl-label', html('span', {}, one.counted));
    if (one.size > 1) parts.push(odd);
    const same = one.low !== null && low === high;
    if (same && low === 0 && one.counts.reduce((sum, n) => sum + n, 0) === one.size) {
      odd.replaceChildren(html('span', {}, `all ${count(one.size)} entries are 0`));
    } else if (one.size > 1 && one.low !== null) {
      const signed = isSigned(matrix);
      const most = Math.max(-low, high);
      const colours = signed ? look.signed : look.sequential;
      const stops = Array.from({ length: 9 }, (_, k) => css(colours[Math.round((k / 8) * 255)] as number)).join(', ');
      const bins = histogram(one.counts, wide, 44, `${name}, ${count(one.size)} entries in 64 bins`);
      bins.setAttribute('data-hist', name);
      const zero =
        Math.abs(high + low) < 0.7 * (high - low) && html('span', { class: 'gl-zero', style: `left:${(-low / (high - low)) * 100}%` }, '0');
      const ramp = html('i', { style: `background:linear-gradient(90deg, ${stops})` });
      const scale = html('div', { class: 'gl-ends', title: 'colours go by the square root' });
      scale.append(plain(signed ? -most : low), ramp, plain(signed ? most : high));
      if (!same) parts.splice(2, 0, scale);
      odd.prepend('log count');
      const ends = same
        ? [html('span', { class: 'gl-only' }, plain(low))]
        : [html('span', {}, plain(low)), zero, html('span', {}, plain(high))];
      parts.push(bins, div('gl-ends', ...ends));
    }
    const whole = div(i ? 'gl-ofgrad' : 'gl-ofvalue', ...parts);
    whole.style.width = `${wide}px`;
    return whole;
  };

  /** A slider for each axis along which there is more to see; they stay while the shape does, under the reader's hand. */
  const slide = ({ axes, at, shape }: Shown) => {
    if (sliding === shape.join()) return;
    sliding = shape.join();
    const place = [...at];
    const made = axes.map(([name, most], axis) => {
      if (most === 0) return null;
      const input = html('input', { type: 'range', max: most, value: at[axis] });
      const said = html('output', {}, String(at[axis]));
      input.oninput = () => {
        write(said, input.value);
        place[axis] = Number(input.value);
        move([...place]);
      };
      return html('label', {}, name, input, said);
    });
    sliders.replaceChildren(...made.filter(one => one !== null));
  };

  const show = (next: [Shown | null, Shown | null], width: number) => {
    arrays = next;
    const palette = paletteOf(view.root, view.theme.value);
    const style = getComputedStyle(view.root);
    const look: MatrixLook = {
      signed: diverging(palette.dark),
      sequential: sequential(palette.dark),
      ground: style.backgroundColor || '#fff',
      quiet: style.getPropertyValue('--gl-edge').trim() || '#868c92',
      text: style.color || '#212121',
      odd: palette.odd,
      font: `10.5px ${palette.fonts.code}`
    };
    marks = [];
    const both = arrays.filter(one => one !== null).length;
    const room = both > 1 && width >= 340 ? (width - 16) / 2 : width;
    maps.classList.toggle('gl-two', room < width);
    const focused = maps.querySelector(':focus')?.getAttribute('data-map');
    maps.replaceChildren(...arrays.flatMap((one, i) => (one ? [map(one, i, Math.floor(Math.min(room, 480)), look)] : [])));
    if (focused) maps.querySelector<HTMLElement>(`[data-map=${focused}]`)?.focus();
    slide(first());
    write(seen, `${first().seen}${arrays[1] ? '' : ' · no gradient has come'}`);
  };
  return { element, show };
}
