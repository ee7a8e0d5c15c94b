/** Draws every panel from example messages: `?example=digits&panel=inspector&theme=dark&width=440&select=op:2&closed=shapes`. */

import { draw } from '../panels/inspector';
import * as more from '../panels/more';
import { openState } from '../panels/section';
import { Store } from '../panels/store';
import { examples } from './examples';
import type { Sent } from './sketch';

/** Messages recorded from real traces; the build puts them here. */
declare const RECORDED: Record<string, { content: Record<string, unknown>; buffers: string[] }[]>;

for (const [name, sent] of Object.entries(RECORDED)) {
  const bytes = (text: string) => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
  examples[`real-${name}`] = () => sent.map(({ content, buffers }): Sent => ({ message: content, buffers: buffers.map(bytes) }));
}

const query = new URLSearchParams(location.search);
const value = (name: string, otherwise: string) => query.get(name) ?? otherwise;

document.documentElement.dataset.theme = value('theme', 'light');
const place = document.getElementById('place') as HTMLElement;
place.style.width = `${value('width', '440')}px`;

const store = new Store(message => console.debug('to the kernel', JSON.stringify(message)));
store.more.value = more;
for (const name of value('closed', '').split(',').filter(Boolean)) openState(name).value = false;
const started = performance.now();
for (const { message, buffers } of examples[value('example', 'digits')]?.() ?? [])
  store.receive(
    message,
    buffers.map(b => new DataView(b))
  );
draw(store, value('panel', 'inspector'), place, new AbortController().signal);
store.select(value('select', ''));
requestAnimationFrame(() =>
  requestAnimationFrame(() => {
    if (query.has('at')) store.scrub(Number(query.get('at')));
    document.documentElement.dataset.ready = (performance.now() - started).toFixed(0);
  })
);

const list = document.getElementById('list');
if (list && !query.has('bare')) {
  for (const name of Object.keys(examples)) {
    const link = document.createElement('a');
    const next = new URLSearchParams(query);
    next.set('example', name);
    link.href = `?${next}`;
    link.textContent = name;
    list.append(link, ' ');
  }
}
