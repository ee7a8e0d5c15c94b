/** Parts of the inspector whose code comes from the kernel when they are first opened: the bundle stays small. */

import * as signals from '@preact/signals-core';
import { html } from '../draw/element';
import { registry, type Part } from './registry';
import type { View } from './view';

/** Of this copy of the bundle: another session's has signals of its own. */
let loading: Promise<Record<string, Part>> | undefined;

async function load(view: View): Promise<Record<string, Part>> {
  const { content } = await view.store.ask('code');
  registry().signals = signals;
  const url = URL.createObjectURL(new Blob([String(content.text)], { type: 'text/javascript' }));
  try {
    return ((await import(/* @vite-ignore */ url)) as { parts: Record<string, Part> }).parts;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Draw a part into an element as soon as its code is here. */
export async function later(view: View, name: string, into: HTMLElement): Promise<void> {
  try {
    const parts = await (registry().parts ?? (loading ??= load(view)));
    if (!view.signal.aborted) parts[name]?.(view, into);
  } catch (error) {
    loading = undefined;
    into.replaceChildren(html('div', { class: 'gl-further', role: 'status' }, (error as Error).message));
  }
}
