/** All panels of a session in one column, or two where there is room; one selection goes through all of them. */

import { html } from '../draw/element';
import { detailFrame } from './detailframe';
import { gradientsPanel } from './gradients';
import { graphPanel } from './graph';
import { later, laterPanel } from './later';
import { tintLine } from './line';
import { section } from './section';
import { shapesPanel } from './shapes';
import type { Store } from './store';
import { stripPanel } from './strip';
import { css } from './styles';
import { followTheme } from './theme';
import { comparison, timeBar } from './time';
import { followWidth, type PanelMaker, type View } from './view';

/** The panels in their order; what is null comes with the second part of the bundle. */
const PANELS: Record<string, PanelMaker | null> = {
  graph: graphPanel,
  shapes: shapesPanel,
  gradients: gradientsPanel,
  optimizer: null,
  detail: detailFrame,
  findings: null
};
/** From this width on the graph has a column of its own. */
const WIDE = 860;
/** Below this width tools and numbers have not all room in one line. */
const NARROW = 350;

/** Tell the store while this view can be seen: the kernel sends nothing that nobody looks at. */
function reportVisible(view: View): void {
  const { store, root, signal } = view;
  const token = {};
  let onScreen = true;
  const say = () => store.show(token, onScreen && document.visibilityState !== 'hidden');
  if (typeof IntersectionObserver !== 'undefined') {
    const observer = new IntersectionObserver(entries => {
      onScreen = entries.at(-1)?.isIntersecting ?? true;
      say();
    });
    observer.observe(root);
    signal.addEventListener('abort', () => observer.disconnect(), { once: true });
  }
  document.addEventListener('visibilitychange', say, { signal });
  signal.addEventListener('abort', () => store.show(token, false), { once: true });
  say();
}

/** A panel in its frame. */
function place(view: View, name: string): HTMLElement {
  const maker = PANELS[name];
  return maker ? section(view, name, maker) : laterPanel(view, name);
}

/** Draw one panel of a session, or the whole `inspector`, into an element; ends with the signal. */
export function draw(store: Store, panel: string, element: HTMLElement, signal: AbortSignal): void {
  const root = html('div', { class: 'gl' });
  element.append(html('style', {}, css), root);
  const view: View = { store, root, signal, theme: followTheme(root, signal) };
  element.append(tintLine(view));
  void later(view, '', root); // its styles
  if (panel === 'strip') root.append(...stripPanel(view));
  else if (panel in PANELS) root.append(place(view, panel));
  else {
    root.classList.add('gl-inspector');
    root.dataset.panel = 'inspector';
    const panels = Object.keys(PANELS).map(name => place(view, name));
    root.append(...stripPanel(view), comparison(view), html('div', { class: 'gl-panels' }, ...panels), timeBar(view));
  }
  followWidth(view, root, width => {
    root.classList.toggle('gl-narrow', width < NARROW);
    root.classList.toggle('gl-wide', panel === 'inspector' && width >= WIDE);
  });
  reportVisible(view);
  signal.addEventListener('abort', () => element.replaceChildren(), { once: true });
}
