/**
 * Draws every panel from example messages: `?example=digits&panel=inspector&theme=dark&width=440&select=op:2&closed=shapes`.
 * With `live` what the panels ask goes to the page's function `kernel`, which docs/sheets.py gives it.
 */

import { draw } from '../panels/inspector';
import * as more from '../panels/more';
import { openState } from '../panels/section';
import { PAGE, Store } from '../panels/store';
import { examples } from './examples';
import type { Sent } from './sketch';

/** A message as it comes from outside, its buffers in base64. */
interface Row {
  content: Record<string, unknown>;
  buffers: string[];
}

/** Messages recorded from real traces; the build puts them here. */
declare const RECORDED: Record<string, Row[]>;

const bytes = (text: string) => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;
const unpacked = (rows: readonly Row[]): Sent[] => rows.map(({ content, buffers }) => ({ message: content, buffers: buffers.map(bytes) }));

for (const [name, rows] of Object.entries(RECORDED)) examples[`real-${name}`] = () => unpacked(rows);

const query = new URLSearchParams(location.search);
const value = (name: string, otherwise: string) => query.get(name) ?? otherwise;

document.documentElement.dataset.theme = value('theme', 'light');
const place = document.getElementById('place') as HTMLElement;
place.style.width = `${value('width', '440')}px`;

const feed = (sent: readonly Sent[]) => {
  for (const { message, buffers } of sent)
    store.receive(
      message,
      buffers.map(b => new DataView(b))
    );
};
const receive = (rows: readonly Row[]) => feed(unpacked(rows));
const { kernel } = globalThis as { kernel?: (text: string) => Promise<Row[]> };
const live = query.has('live') && kernel !== undefined;

let asked = 0;
const say = async (message: object) => {
  if (!live) return console.debug('to the kernel', JSON.stringify(message));
  asked++;
  receive(await kernel(JSON.stringify(message)));
  asked--;
};
const store: Store = new Store(message => void say(message));
Object.assign(globalThis, { receive, waiting: () => asked > 0 });
store.more.value = more;
for (const name of value('closed', '').split(',').filter(Boolean)) openState(name).value = false;
const started = performance.now();
if (!live) feed(examples[value('example', 'digits')]?.() ?? []);
draw(store, value('panel', 'inspector'), place, new AbortController().signal);
const twoFrames = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
const ready = async () => {
  if (live) await say({ kind: 'hello', page: PAGE, visible: true });
  do await twoFrames();
  while (asked > 0);
  // A step is shown when the page has time for it.
  for (let i = 0; query.has('at') && !store.live.peek() && i < 100; i++) await twoFrames();
  store.select(value('select', ''));
  if (query.has('at')) store.scrub(Number(query.get('at')));
  if (query.has('mark')) store.mark.value = Number(query.get('mark'));
  do await twoFrames();
  while (asked > 0);
  document.documentElement.dataset.ready = (performance.now() - started).toFixed(0);
};
void ready();

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
