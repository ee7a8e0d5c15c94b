/** Which variables keep graphs in memory: looked for when the reader asks, since it walks through all objects. */

import { html, write } from '../draw/element';
import type { View } from './view';

interface Keeper {
  said: string;
  remedy: string;
}

/** Draw a button and what was found. */
export function keeperPart(view: View, into: HTMLElement): void {
  const { store, signal } = view;
  const button = html('button', { type: 'button', class: 'gl-button' }, 'Look again');
  const note = html('span', { class: 'gl-further', role: 'status' });
  const list = html('ul', { class: 'gl-keepers' });
  into.replaceChildren(html('div', {}, button, ' ', note), list);
  const look = () => {
    write(note, 'looking \u2026');
    store
      .ask('alive', {}, () => write(note, 'at the end of the running step \u2026'))
      .then(({ content }) => {
        const keepers = content.keepers as Keeper[];
        const rest = String(content.rest);
        write(note, keepers.length + Number(rest !== '') > 0 ? '' : 'No variable keeps a graph alive.');
        list.replaceChildren(
          ...keepers.map(({ said, remedy }) => html('li', { class: remedy ? 'gl-warnline' : null }, ...coded(said))),
          ...(rest ? [html('li', {}, rest)] : [])
        );
      })
      .catch((error: Error) => write(note, error.message));
  };
  button.addEventListener('click', look, { signal });
  look();
}

/** Text in which what stands between backticks is code. */
function coded(text: string): (string | HTMLElement)[] {
  return text.split('`').map((part, i) => (i % 2 ? html('code', {}, part) : part));
}
