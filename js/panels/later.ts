/** What is drawn with code of the second part of the bundle, as soon as that is here. */

import { html } from '../draw/element';
import { section } from './section';
import type { More, View } from './view';

/** Call back with the second part, now or when it comes; not after the view has ended. */
function when(view: View, ready: (more: More) => void): void {
  const { more } = view.store;
  const now = more.peek();
  if (now) {
    ready(now);
    return;
  }
  const stop = more.subscribe(code => {
    // Later: what is watched there is no part of this subscription.
    if (code) queueMicrotask(() => (stop(), view.signal.aborted || ready(code)));
  });
  view.signal.addEventListener('abort', stop, { once: true });
}

/** Its styles, once in a view. */
function dress(view: View, more: More): void {
  if (!view.root.querySelector('style[data-more]')) view.root.prepend(html('style', { 'data-more': '' }, more.css));
}

/** Draw a part of a panel into an element; done when it is drawn. */
export function later(view: View, name: string, into: HTMLElement): Promise<void> {
  return new Promise(drawn =>
    when(view, more => {
      dress(view, more);
      more.parts[name]?.(view, into);
      drawn();
    })
  );
}

/** What a part hands out by an event on the element it is given; null where it has nothing. */
export function borrow<T>(view: View, name: string, take: (got: T | null) => void): void {
  const host = html('div', {});
  host.addEventListener(`gradlab:${name}`, event => take((event as CustomEvent<T>).detail));
  void later(view, name, host).then(() => take(null));
}

/** A panel, or a place that it takes when its code has come. */
export function laterPanel(view: View, name: string): HTMLElement {
  const place = html('div', { class: 'gl-later' });
  when(view, more => {
    const make = more.panels[name];
    dress(view, more);
    if (make) place.replaceChildren(section(view, name, make));
  });
  return place;
}
