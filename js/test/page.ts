/** A page with room for an inspector, new before each test: what the tests of panels begin with. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { Sent } from '../gallery/sketch';
import { draw } from '../panels/inspector';
import * as more from '../panels/more';
import { registry } from '../panels/registry';
import { Store } from '../panels/store';
import type { Outgoing } from '../protocol/messages';

export let end: AbortController;
export let root: HTMLElement;
export let store: Store;
/** What the page said to the kernel. */
export let sent: Outgoing[];

/** Make a page before each test of a file, and take it away after it; `answer` hears what it says. */
export function onPage(answer: (message: Outgoing) => void = () => {}): void {
  beforeEach(() => {
    end = new AbortController();
    root = document.createElement('div');
    document.body.append(root);
    sent = [];
    store = new Store(
      message => {
        sent.push(message);
        answer(message);
      },
      run => run()
    );
    store.more.value = more;
    registry().open = {};
  });
  afterEach(() => {
    end.abort();
    root.remove();
  });
}

/** Give the store what a kernel sent. */
export function feed(messages: readonly Sent[]): void {
  for (const { message, buffers } of messages) store.receive(message, buffers);
}

/** The same, and draw a panel or all of them. */
export function show(messages: readonly Sent[], which = 'inspector'): HTMLElement {
  feed(messages);
  draw(store, which, root, end.signal);
  return root;
}

/** Messages of a real kernel, from tests/protocol. */
export function recorded(name: string): Sent[] {
  const file = join(import.meta.dirname, `../../tests/protocol/${name}.json`);
  const rows = JSON.parse(readFileSync(file, 'utf8')) as { content: Record<string, unknown>; buffers: string[] }[];
  const bytes = (text: string) => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
  return rows.map(({ content, buffers }) => ({ message: content, buffers: buffers.map(bytes) }));
}

export const text = (selector: string) => root.querySelector(selector)?.textContent ?? null;
export const value = (selector: string) => root.querySelector(selector)?.getAttribute('data-value') ?? null;
/** The number that an element says it shows. */
export const number = (selector: string) => Number(value(selector) ?? undefined);
