/** Parts of the inspector whose code comes from the kernel when they are first opened: the bundle stays small. */

import * as signals from '@preact/signals-core';
import { html } from '../draw/element';
import { registry, type Part } from './registry';
import type { View } from './view';

async function load(view: View): Promise<Record<string, Part>> {
  const { content } = await view.store.ask('code');
  const url = URL.createObjectURL(new Blob([String(content.text)], { type: 'text/javascript' }));
  try {
    return ((await import(/* @vite-ignore */ url)) as { parts: Record<string, Part> }).parts;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Draw a part into an element as soon as its code is here. */
export async function later(view: View, name: string, into: HTMLElement): Promise<void> {
  const page = registry();
  page.signals = signals;
  try {
    const parts = await (page.parts ??= load(view));
    if (!view.signal.aborted) parts[name]?.(view, into);
  } catch (error) {
    page.parts = undefined;
    into.replaceChildren(html('div', { class: 'gl-further', role: 'status' }, (error as Error).message));
  }
}
