/** The widget of one panel: a few kilobytes that find their session in the page and draw through it. */

import type { RenderProps } from '@anywidget/types';
import { announce } from './output';
import { registry } from './registry';
import type { PageSession } from './registry';

interface Traits {
  panel: string;
  session: string;
}

const MUTED = 'font:11px/16px var(--jp-ui-font-family,sans-serif);color:var(--jp-ui-font-color2,#5f6368);padding:2px 0';
const PATIENCE_MS = 5000;

function line(element: HTMLElement, text: string): void {
  const note = document.createElement('div');
  note.setAttribute('style', MUTED);
  note.textContent = text;
  element.replaceChildren(note);
}

/** Call back once the session is in the page, and say so when it takes long. */
function whenReady(id: string, element: HTMLElement, signal: AbortSignal, ready: (session: PageSession) => void): void {
  const started = Date.now();
  const look = () => {
    if (signal.aborted) return;
    const session = registry().sessions[id];
    if (session) {
      element.replaceChildren();
      ready(session);
      return;
    }
    if (Date.now() - started > PATIENCE_MS) line(element, 'Tracing is off. Run `%load_ext gradlab` in this notebook.');
    setTimeout(look, 100);
  };
  look();
}

function render({ model, el }: RenderProps<Traits>): () => void {
  const end = new AbortController();
  const panel = model.get('panel');
  whenReady(model.get('session'), el, end.signal, session => {
    if (panel !== 'output') session.draw(panel, el, end.signal);
    else if (announce(session.model_id, session.kernel_id)) {
      line(el, 'tracing on · inspector docked at the right');
      model.send({ kind: 'docked' });
    } else session.draw('inspector', el, end.signal);
  });
  return () => end.abort();
}

export default { render };
