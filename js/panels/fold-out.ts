/** A line that opens a part of a panel below itself. */

import { html, set } from '../draw/element';
import { later } from './later';
import type { View } from './view';

/** A button with a caret; the part is drawn when it is first opened and told by `gl:shown` whenever it is shown or hidden. */
export function foldOut(view: View, name: string, label: string, title: string): HTMLElement {
  const button = html('button', { type: 'button', class: 'gl-label gl-foldout', 'aria-expanded': 'false', title }, label);
  const room = html('div', { 'data-part': name, hidden: true });
  let drawn = false;
  button.addEventListener(
    'click',
    () => {
      room.hidden = !room.hidden;
      set(button, 'aria-expanded', String(!room.hidden));
      if (!drawn) void later(view, name, room);
      drawn = true;
    },
    { signal: view.signal }
  );
  return html('div', { class: 'gl-more' }, button, room);
}
