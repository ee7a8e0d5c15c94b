/** What stands in the header of the graph: search, forward or backward, zoom; and below it what the colours mean. */

import { html, set } from '../draw/element';
import type { Chain } from './chain';
import { later } from './later';
import { watch, type View } from './view';
import type { Viewport } from './viewport';

function tool(label: string, title: string): HTMLButtonElement {
  return html('button', { type: 'button', title, 'aria-label': title }, label);
}

/** What the colours mean, of those that are drawn. */
export function legend(drawn: ReadonlySet<string>): HTMLElement[] {
  const item = (name: string, look: string) => html('span', {}, html('i', { class: look }), name);
  const kinds = ['matmul', 'elementwise', 'reduce', 'shape', 'loss', 'parameter'].filter(kind => drawn.has(kind));
  return [
    html('div', { class: 'gl-legend' }, ...kinds.map(kind => item(kind, `gl-back-${kind}`))),
    html(
      'div',
      { class: 'gl-legend' },
      item('‖value‖', 'gl-back-value gl-dash'),
      item('‖gradient‖', 'gl-back-gradient gl-dash'),
      html('span', {}, 'log10, 10⁻³ to 10⁴; tick at 1')
    )
  ];
}

interface Parts {
  view: View;
  viewport: Viewport;
  chain: Chain;
  goTo: (op: number) => void;
}

/** The tools, and a function that begins a search. */
export function graphTools({ view, viewport, chain, goTo }: Parts): { tools: HTMLElement; find: () => void } {
  const options = { signal: view.signal };
  const [less, more, fit] = [tool('−', 'Smaller (−)'), tool('+', 'Larger (+)'), tool('Fit', 'Fit the width, then all of it (F)')];
  less.addEventListener('click', () => viewport.zoomBy(0.8), options);
  more.addEventListener('click', () => viewport.zoomBy(1.25), options);
  fit.addEventListener('click', () => viewport.fit(), options);
  const [forward, backward] = [tool('forward', 'The numbers of the whole step'), tool('backward', 'Step through the chain rule')];
  forward.addEventListener('click', () => chain.show(false), options);
  backward.addEventListener('click', () => chain.at.peek() < 0 && chain.show(true), options);
  watch(view, () => {
    const back = chain.at.value >= 0;
    set(forward, 'aria-pressed', String(!back));
    set(backward, 'aria-pressed', String(back));
  });

  const input = html('input', {
    type: 'search',
    placeholder: 'Search ops',
    'aria-label': 'Search ops: words, op:matmul, shape:32,64 or rule:R7; Enter goes to the next',
    title: 'Words, op:matmul, shape:32,64, rule:R7; Enter goes to the next (/)'
  });
  const box = html('div', { class: 'gl-search' }, input);
  box.addEventListener('gradlab:found', event => goTo((event as CustomEvent<number>).detail), options);
  void later(view, 'search', box);
  const tools = html(
    'div',
    { class: 'gl-tools' },
    box,
    html('div', { class: 'gl-seg', role: 'group', 'aria-label': 'Direction' }, forward, backward),
    html('div', { class: 'gl-seg', role: 'group', 'aria-label': 'Zoom' }, less, more, fit)
  );
  return {
    tools,
    find: () => {
      input.focus();
      input.select();
    }
  };
}
