/** What the widgets of one page share: anywidget gives every model its own copy of its module. */

import type { Signal } from '@preact/signals-core';
import type { KernelState, Outgoing } from '../protocol/messages';
import type { Answer } from './asking';

/** What a session is doing, in short. */
export interface PageStatus {
  tracing: boolean;
  /** The tracer's share of a step. */
  share: number | null;
  state: KernelState;
  step: number | null;
  /** Ops of the step on show. */
  ops: number;
}

/** A session as other widgets and the JupyterLab extension see it. */
export interface PageSession {
  model_id: string;
  kernel_id: string;
  /** Say something to the kernel. */
  send: (message: Outgoing) => void;
  /** Ask the kernel, as `Store.ask` does. */
  ask: (what: string, args?: object) => Promise<Answer>;
  /** Ask the kernel to tell what each run of a cell comes to, or to do so no more; the page hears of it by `gradlab:cell`. */
  cells: (on: boolean) => void;
  /** The cursor is on this line that ran of a cell; nowhere, where `cell` is null. */
  cursor: (cell: string | null, line: number) => void;
  /** What the page knows of the session; the window event `gradlab:status` tells when that changed. */
  status: () => PageStatus;
  /** Whether the kernel said that it traces; false before it said anything. */
  tracing: () => boolean;
  /** The last step the page has seen; null before the first. */
  lastStep: () => number | null;
  /** Draw a panel (or `inspector`) of this session into an element, until `signal` aborts. */
  draw: (panel: string, element: HTMLElement, signal: AbortSignal) => void;
  /** Let go of all that the page holds of it: nothing in the page can show it any more. */
  end: () => void;
}

export interface Registry {
  sessions: Record<string, PageSession>;
  /** Per panel whether it is open. */
  open: Record<string, Signal<boolean>>;
}

/** The one registry of the page. */
export function registry(): Registry {
  const page = globalThis as unknown as Record<symbol, Partial<Registry> | undefined>;
  const shared = (page[Symbol.for('gradlab')] ??= {});
  shared.sessions ??= {};
  shared.open ??= {};
  return shared as Registry;
}
