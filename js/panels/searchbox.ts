/** What is typed into the search of the graph: how many ops it names, and Enter goes from one to the next. */

import { html, set, write } from '../draw/element';
import { count } from '../draw/format';
import { search } from './search';
import type { Part } from './view';

/** Make the field in `into` search; an op that is gone to is told there as `gradlab:found`. */
export const searchPart: Part = ({ store, signal }, into) => {
  const options = { signal };
  const input = into.querySelector('input') as HTMLInputElement;
  const found = html('span', { class: 'gl-found', 'aria-live': 'polite' });
  into.append(found);
  let hits: number[] = [];
  let at = -1;
  const look = () => {
    const now = store.step.peek()?.structure;
    hits = now ? search(now, input.value, store.findings.peek()?.findings ?? []) : [];
  };
  const say = () => {
    const query = input.value.trim();
    const none = query !== '' && hits.length === 0;
    write(found, !query ? '' : none ? 'none' : at < 0 ? count(hits.length) : `${count(at + 1)}/${count(hits.length)}`);
    set(input, 'aria-invalid', none ? 'true' : null);
    found.title = none ? `No op matches \`${query}\`.` : '';
  };
  const begin = () => {
    at = -1;
    look();
    say();
  };
  input.addEventListener('input', begin, options);
  input.addEventListener(
    'keydown',
    event => {
      event.stopPropagation();
      if (event.key === 'Enter') {
        look();
        if (hits.length > 0) {
          at = (at + (event.shiftKey ? hits.length - 1 : 1) + (at < 0 && event.shiftKey ? 1 : 0)) % hits.length;
          into.dispatchEvent(new CustomEvent('gradlab:found', { detail: hits[at] }));
        }
        say();
      } else if (event.key === 'Escape') {
        input.value = '';
        begin();
        into.closest('.gl-panel')?.querySelector<HTMLElement>('.gl-viewport')?.focus({ preventScroll: true });
      }
    },
    options
  );
  if (input.value) begin(); // typed before this code had come
};
