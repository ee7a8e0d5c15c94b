/** The frame of a panel: a header that folds it, and its key fact at the right. */

import { signal, type Signal } from '@preact/signals-core';
import { html, set, svg } from '../draw/element';
import { registry } from './registry';
import { watch, type PanelMaker, type View } from './view';

const OPEN = 'M2.5 4.5 6 8l3.5-3.5';
const CLOSED = 'M4.5 2.5 8 6l-3.5 3.5';

/** Whether a panel is open: the same in every view of the page, and remembered while the page lives. */
export function openState(name: string): Signal<boolean> {
  const { open } = registry();
  return (open[name] ??= signal(true)) as Signal<boolean>;
}

/** Draw a panel in its frame. */
export function section(view: View, name: string, make: PanelMaker): HTMLElement {
  const open = openState(name);
  const parts = make(view, open);
  const caret = svg('path', { d: OPEN });
  const id = `gl-${name}-${Math.random().toString(36).slice(2)}`;
  const button = html(
    'button',
    { type: 'button', class: 'gl-fold', 'aria-controls': id },
    svg('svg', { class: 'gl-caret', viewBox: '0 0 12 12', 'aria-hidden': 'true' }, caret),
    html('span', { class: 'gl-name', role: 'heading', 'aria-level': 3 }, parts.title)
  );
  const side = html('div', { class: 'gl-side' }, parts.summary, parts.tools);
  const head = html('div', { class: 'gl-head' }, button, side);
  parts.body.classList.add('gl-body');
  parts.body.id = id;
  const element = html('section', { class: 'gl-panel', 'data-panel': name, 'aria-label': parts.title }, head, parts.body);
  const options = { signal: view.signal };
  button.addEventListener('click', () => (open.value = !open.value), options);
  head.addEventListener(
    'click',
    event => {
      if (event.target === head || event.target === side || parts.summary.contains(event.target as Node)) open.value = !open.value;
    },
    options
  );
  watch(view, () => {
    const shown = open.value;
    parts.body.hidden = !shown;
    if (parts.tools) parts.tools.hidden = !shown;
    parts.summary.hidden = shown && parts.tools !== undefined;
    set(button, 'aria-expanded', String(shown));
    set(caret, 'd', shown ? OPEN : CLOSED);
    element.classList.toggle('gl-closed', !shown);
  });
  return element;
}

/** An empty panel: one line, and the next action. Text between backticks is code. */
export function emptyState(text: string): HTMLElement {
  const parts = text.split('`').map((part, i) => (i % 2 ? html('code', {}, part) : part));
  return html('div', { class: 'gl-empty' }, ...parts);
}
