/** The tooltip of a view: text beside the pointer, gone when the pointer leaves. */

import { html } from '../draw/element';
import type { View } from './view';

/** What a tooltip says: a title, and lines of name and value. */
export interface TipText {
  title: string;
  lines: [string, string][];
}

/** Show a tooltip while the pointer is over something that `describe` has words for. */
export function tooltip(view: View, area: Element, describe: (target: Element, event: PointerEvent) => TipText | null): void {
  const box = html('div', { class: 'gl-tip', role: 'tooltip', hidden: true });
  view.root.append(box);
  const options = { signal: view.signal, passive: true };
  const hide = () => (box.hidden = true);
  area.addEventListener(
    'pointermove',
    event => {
      const e = event as PointerEvent;
      const text = e.buttons || !(e.target instanceof Element) ? null : describe(e.target, e);
      if (!text) return void hide();
      const list = html('dl', {});
      for (const [name, value] of text.lines) list.append(html('dt', {}, name), html('dd', {}, value));
      box.replaceChildren(html('b', {}, text.title), list);
      box.hidden = false;
      const around = view.root.getBoundingClientRect();
      const left = Math.min(e.clientX - around.left + 12, around.width - box.offsetWidth - 4);
      const below = e.clientY - around.top + 16;
      const above = e.clientY + 16 + box.offsetHeight > window.innerHeight ? below - box.offsetHeight - 28 : below;
      box.style.left = `${Math.max(4, left)}px`;
      box.style.top = `${Math.max(0, above)}px`;
    },
    options
  );
  area.addEventListener('pointerleave', hide, options);
  area.addEventListener('pointerdown', hide, options);
  view.signal.addEventListener('abort', () => box.remove(), { once: true });
}
