/** What drawing costs, measured in the page: `benchmarks/screen.py` opens it and calls `measure`. */

import { layout } from '../draw/layout';
import { canvasPicture } from '../panels/canvaspicture';
import { fold } from '../panels/fold';
import { draw } from '../panels/inspector';
import * as more from '../panels/more';
import { layoutFor, Picture } from '../panels/picture';
import { Store } from '../panels/store';
import { css } from '../panels/styles';
import { followTheme, paletteOf } from '../panels/theme';
import { Viewport } from '../panels/viewport';
import { decode, type Frame } from '../protocol/decode';
import type { Structure } from '../protocol/messages';
import { many } from './examples';
import type { Sent } from './sketch';

const median = (all: number[]) => all.sort((a, b) => a - b)[all.length >> 1] as number;
/** What it costs where nothing else runs: other work on the machine only adds. */
const best = (all: number[]) => Math.min(...all);
const nextFrame = () => new Promise<number>(resolve => requestAnimationFrame(resolve));

function made(ops: number): { structure: Structure; frame: Frame } {
  const [structure, frame] = many(ops, false).map(({ message, buffers }) => decode(message, buffers));
  return { structure: structure as Structure, frame: frame as Frame };
}

/** Milliseconds to lay out a net of so many ops with none of it folded. */
function layoutTime(ops: number): number {
  const { input } = fold(made(ops).structure, { all: true });
  return best(
    Array.from({ length: 9 }, () => {
      const started = performance.now();
      layout(input, 4);
      return performance.now() - started;
    })
  );
}

/** A canvas of so many nodes in a dock of 440 x 700 pixels. */
function canvas(ops: number) {
  const root = document.createElement('div');
  root.className = 'gl';
  root.style.width = '440px';
  const style = document.createElement('style');
  style.textContent = css;
  document.body.replaceChildren(style, root);
  const end = new AbortController();
  const view = { store: new Store(() => {}), root, signal: end.signal, theme: followTheme(root, end.signal) };
  const { structure, frame } = made(ops);
  const scene = fold(structure, { all: true });
  const viewport = new Viewport(view);
  viewport.element.style.height = viewport.element.style.maxHeight = '700px';
  root.append(viewport.element);
  const where = layoutFor(scene, 416, Infinity).layout;
  if (!where) throw new Error('no layout');
  const picture = new (canvasPicture(Picture))(structure, scene, where, paletteOf(root, 0)) as Picture & { draw(): void };
  picture.update(frame);
  viewport.show(picture, where.width, where.height);
  return { picture, viewport, frame, nodes: where.nodes.length };
}

/** Frames a second and milliseconds of drawing while it is moved or zoomed, one movement a frame. */
async function moved(ops: number, zoom: boolean): Promise<{ fps: number; ms: number; nodes: number }> {
  const { picture, viewport, nodes } = canvas(ops);
  const times: number[] = [];
  const draws: number[] = [];
  let before = await nextFrame();
  for (let i = 0; i < 120; i++) {
    if (zoom) viewport.zoomBy(i % 40 < 20 ? 0.8 : 1.25);
    else viewport.element.scrollTop += 120;
    const now = await nextFrame();
    const started = performance.now();
    picture.draw();
    draws.push(performance.now() - started);
    times.push(now - before);
    before = now;
  }
  return { fps: 1000 / median(times), ms: median(draws), nodes };
}

/** Milliseconds to put a new frame's numbers on the picture. */
function recolour(ops: number): number {
  const { picture, frame } = canvas(ops);
  return best(
    Array.from({ length: 15 }, () => {
      const started = performance.now();
      picture.update(frame);
      picture.draw();
      return performance.now() - started;
    })
  );
}

/** A place as wide as a dock, alone on the page. */
function dock(): HTMLElement {
  const root = document.createElement('div');
  root.style.width = '440px';
  document.body.replaceChildren(root);
  return root;
}

/** Milliseconds from the messages to the frame that shows the graph. */
async function firstGraph(ops: number): Promise<number> {
  const end = new AbortController();
  const root = dock();
  const messages = many(ops, false);
  const started = performance.now();
  const store = new Store(() => {});
  store.more.value = more;
  draw(store, 'graph', root, end.signal);
  for (const { message, buffers } of messages) store.receive(message, buffers);
  while (!root.querySelector('.gl-node, .gl-canvas')) await nextFrame();
  const took = performance.now() - started;
  end.abort();
  return took;
}

/** Milliseconds to take in one more step and show it in a panel, where there are so many parameters and steps. */
async function oneMoreStep(panel: string, parameters: number, steps: number): Promise<number> {
  const end = new AbortController();
  const root = dock();
  const store = new Store(
    () => {},
    run => run()
  );
  store.more.value = more;
  const [structure, history] = many(5 * parameters, false, steps) as [Sent, Sent];
  for (const { message, buffers } of [structure, history]) store.receive(message, buffers);
  draw(store, panel, root, end.signal);
  await nextFrame();
  const row = new Float32Array(history.buffers[7]!).slice(-store.series.columns.length);
  const times: number[] = [];
  for (let i = 1; i <= 9; i++) {
    const at = new Int32Array([steps + i]).buffer;
    const message = { ...history.message, step: steps + i, series: { spans: 1, width: row.length, exact: true } };
    const buffers = [...history.buffers.slice(0, 5), at, at, row.slice().buffer];
    const started = performance.now();
    store.receive(message, buffers);
    root.getBoundingClientRect(); // layout and style are part of it
    times.push(performance.now() - started);
    await nextFrame();
  }
  end.abort();
  return median(times);
}

async function measure(): Promise<Record<string, number>> {
  const out: Record<string, number> = {};
  for (const n of [300, 1000, 10_000]) out[`first ${n}`] = best([await firstGraph(n), await firstGraph(n), await firstGraph(n)]);
  for (const n of [100, 1000, 10_000]) out[`layout ${n}`] = layoutTime(n);
  for (const n of [1000, 10_000]) {
    for (const zoom of [false, true]) {
      const { fps, ms, nodes } = await moved(n, zoom);
      out[`${zoom ? 'zoom' : 'pan'} ${n}`] = fps;
      out[`${zoom ? 'zoom' : 'pan'} ms ${n}`] = ms;
      out[`nodes ${n}`] = nodes;
    }
  }
  out['recolour 1000'] = recolour(1000);
  for (const panel of ['gradients', 'optimizer', 'inspector'] as const) out[`step ${panel}`] = await oneMoreStep(panel, 1000, 700);
  out['step long'] = await oneMoreStep('gradients', 6, 10_000);
  return out;
}

Object.assign(globalThis, { measure });
