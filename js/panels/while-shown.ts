/** Questions to the kernel that are asked again and again while somebody looks at the answer. */

import { write } from '../draw/element';
import type { Answer } from './asking';
import { watch, type View } from './view';

const AT_MOST_EVERY_MS = 400;

interface Asked {
  what: string;
  draw: (answer: Answer) => void;
  /** Where a refusal is said. */
  note: HTMLElement;
  /** Whether there is something to ask now; what it reads of the store is watched too. */
  wanted?: () => boolean;
}

/** Ask when new numbers come and when the selection changes, for as long as `into` is shown. */
export function askWhileShown(view: View, into: HTMLElement, { what, draw, note, wanted = () => true }: Asked): void {
  const { store, signal } = view;
  let last = 0;
  let waiting = false;
  const ask = () => {
    if (!wanted() || waiting || signal.aborted || into.hidden || document.visibilityState === 'hidden') return;
    waiting = true;
    setTimeout(
      () => {
        last = Date.now();
        store
          .ask(what)
          .then(answer => !signal.aborted && draw(answer))
          .catch((error: Error) => write(note, error.message))
          .finally(() => (waiting = false));
      },
      Math.max(0, last + AT_MOST_EVERY_MS - Date.now())
    );
  };
  const shown = new MutationObserver(ask);
  shown.observe(into, { attributes: true, attributeFilter: ['hidden'] });
  signal.addEventListener('abort', () => shown.disconnect(), { once: true });
  watch(view, () => {
    void store.live.value;
    void store.selected.value;
    ask();
  });
}
