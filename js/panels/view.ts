/** What a panel gets to draw with: the store, the theme, and a lifetime. */

import { effect, type ReadonlySignal } from '@preact/signals-core';
import type { Frame } from '../protocol/decode';
import type { Op, Structure } from '../protocol/messages';
import type { Store } from './store';

/** One rendered view. Everything that listens ends when `signal` aborts. */
export interface View {
  store: Store;
  root: HTMLElement;
  signal: AbortSignal;
  /** Counts changes of the theme: canvases are painted anew, SVG and CSS follow by themselves. */
  theme: ReadonlySignal<number>;
}

/** A panel without its frame: `summary` says the key fact, `tools` stands beside it while the panel is open. */
export interface PanelParts {
  title: string;
  body: HTMLElement;
  summary: HTMLElement;
  tools?: HTMLElement;
}

/** Makes a panel; `open` says whether anybody sees its body. */
export type PanelMaker = (view: View, open: ReadonlySignal<boolean>) => PanelParts;

/** Draws a part of a panel into an element, until the view ends. */
export type Part = (view: View, into: HTMLElement) => void;

/** What the second part of the bundle holds, see more.ts. */
export interface More {
  css: string;
  panels: Record<string, PanelMaker>;
  parts: Record<string, Part>;
}

/** Run a function now and whenever a signal it read changes, until the view ends. */
export function watch(view: View, run: () => void | (() => void)): void {
  view.signal.addEventListener('abort', effect(run), { once: true });
}

/** The value norm of an op; null where the tracer has none. */
export function opValue(frame: Frame, i: number): number | null {
  return (frame.op_has[i] ?? 0) & 1 ? (frame.ops[i * 4] as number) : null;
}

/** The gradient norm of an op; null where none has come. */
export function opGradient(frame: Frame, i: number): number | null {
  return (frame.op_has[i] ?? 0) & 2 ? (frame.ops[i * 4 + 1] as number) : null;
}

/** Value or gradient norm of a leaf; null where the tracer has none. */
export function leafNumber(frame: Frame, j: number, which: 'value' | 'gradient'): number | null {
  const bit = which === 'value' ? 1 : 2;
  return (frame.leaf_has[j] ?? 0) & bit ? (frame.leaves[j * 2 + bit - 1] as number) : null;
}

/** The time of some ops in microseconds: forward and backward. */
export function timeOf(frame: Frame, ops: readonly number[]): [number, number] {
  let forward = 0;
  let backward = 0;
  for (const i of ops) {
    forward += frame.ops[i * 4 + 2] || 0;
    backward += frame.ops[i * 4 + 3] || 0;
  }
  return [forward, backward];
}

/** Where an op was written: `In[3]:9`, `train.py:12`, or nothing. */
export function madeAt(structure: Structure, op: Op, short = false): string {
  const cell = op.cell === null ? undefined : structure.cells[op.cell];
  if (!cell) return '';
  const where = cell.file ?? (cell.count === null ? '' : short ? String(cell.count) : `In[${cell.count}]`);
  return where && op.line !== null ? `${where}:${op.line}` : where;
}

/** The size of the batch axis: the first axis of the first input that has more than one. */
export function batchOf(structure: Structure): number {
  const input = structure.leaves.find(leaf => leaf.kind !== 'parameter' && leaf.shape.length > 1);
  return input?.shape[0] ?? -1;
}

/** The width of an element as it changes; `otherwise` until it is on the page. */
export function followWidth(view: View, element: HTMLElement, tell: (width: number) => void): void {
  if (typeof ResizeObserver === 'undefined') return;
  const observer = new ResizeObserver(entries => {
    const width = Math.floor(entries.at(-1)?.contentRect.width ?? 0);
    if (width > 0) tell(width);
  });
  observer.observe(element);
  view.signal.addEventListener('abort', () => observer.disconnect(), { once: true });
}
