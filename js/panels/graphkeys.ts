/** The keys of the graph. What it takes goes no further: the notebook has keys of its own. */

import type { Chain } from './chain';
import type { View } from './view';

export interface Acts {
  /** To the next or the previous op of the tape. */
  step: (by: number) => void;
  find: () => void;
  fit: () => void;
  zoom: (factor: number) => void;
  trace: () => void;
  chain: Chain;
  turn: (target: EventTarget | null) => void;
  /** Another stretch of the repeat. */
  index: (target: EventTarget | null, by: number) => void;
  back: () => void;
}

export function graphKeys(view: View, area: HTMLElement, acts: Acts): void {
  const { chain } = acts;
  const aside = (event: KeyboardEvent, by: number) => {
    if (event.target instanceof Element && event.target.closest('.gl-slider')) acts.index(event.target, by);
    else if (chain.at.peek() >= 0) chain.go(chain.at.peek() + by);
    else acts.step(by);
  };
  const keys: Record<string, (event: KeyboardEvent) => void> = {
    ArrowDown: () => acts.step(1),
    ArrowUp: () => acts.step(-1),
    ArrowRight: event => aside(event, 1),
    ArrowLeft: event => aside(event, -1),
    ',': event => acts.index(event.target, -1),
    '.': event => acts.index(event.target, 1),
    '/': () => acts.find(),
    f: () => acts.fit(),
    t: () => acts.trace(),
    '+': () => acts.zoom(1.25),
    '-': () => acts.zoom(0.8),
    Enter: event => acts.turn(event.target),
    Escape: () => acts.back()
  };
  area.addEventListener(
    'keydown',
    event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const space = event.key === ' ' && chain.at.peek() >= 0;
      const run = space ? () => chain.play() : keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!run) return;
      event.preventDefault();
      event.stopPropagation();
      run(event);
    },
    { signal: view.signal }
  );
}
