/**
 * The widget of a session: it carries the whole bundle and receives the frames of its kernel.
 *
 * `initialize` does next to nothing: messages that arrive while it takes more than two seconds are lost.
 */

import type { AnyModel, InitializeProps, RenderProps } from '@anywidget/types';
import type { Buffer } from '../protocol/decode';
import type { Outgoing } from '../protocol/messages';
import { placeOf } from './goto';
import { draw } from './inspector';
import { announce, tell } from './output';
import { registry, type PageSession, type PageStatus } from './registry';
import { load } from './shared';
import { PAGE, Store } from './store';

interface Traits {
  kernel_id: string;
  model_ref: string;
  /** `op:3`, `leaf:2`, `param:fc1.weight`, or nothing. */
  selected: string;
  /** Whether the kernel hears requests on its control channel. */
  control: boolean;
}

/** anywidget hands out one module for each model: its views share what stands here. */
const stores = new WeakMap<AnyModel<Traits>, Store>();
let latest: Store | null = null;

/** Give a message to the JupyterLab extension, whose way to the kernel is open while a cell runs; false where there is none. */
function overControl(model: AnyModel<Traits>, message: Outgoing): boolean {
  const detail = { model_id: model.get('model_ref'), kernel_id: model.get('kernel_id'), message };
  return !window.dispatchEvent(new CustomEvent('gradlab:command', { detail, cancelable: true }));
}

function initialize({ model }: InitializeProps<Traits>): () => void {
  const store = new Store(message => {
    if (model.get('control') && overControl(model, message)) return;
    try {
      model.send(message);
    } catch {
      // The kernel is gone: nobody is there to be told.
    }
  });
  stores.set(model, store);
  latest = store;
  const onMessage = (message: unknown, buffers: unknown) => store.receive(message, buffers as readonly Buffer[]);
  const id = model.get('model_ref');
  const kernel_id = model.get('kernel_id');
  const onSelected = () => store.select(model.get('selected') ?? '');
  model.on('msg:custom', onMessage);
  model.on('change:selected', onSelected);
  const stop = store.selected.subscribe(selected => {
    if (selected === (model.get('selected') ?? '')) return;
    model.set('selected', selected);
    model.save_changes();
    // Chosen in this page, not by the kernel: the notebook goes there.
    tell('goto', { model_id: id, kernel_id, place: placeOf(selected, store.step.value?.structure) });
  });
  const news = () => tell('status', { model_id: id, kernel_id });
  // Frames say it too, but none come while no panel can be seen.
  const trace = (on: boolean) => {
    store.tracing = on;
    news();
  };
  store.onCell = run => {
    if (run.tracing !== undefined) trace(run.tracing);
    tell('cell', { kernel_id, run });
  };
  const stopStatus = store.step.subscribe(news);
  const session: PageSession = {
    model_id: id,
    kernel_id,
    send: message => {
      store.send(message);
      if (message.kind === 'trace') trace(message.on);
    },
    ask: (what, args) => store.ask(what, args),
    cells: on => store.send({ kind: 'cells', page: PAGE, on }),
    cursor: (cell, line) => (store.cursor.value = cell === null ? null : { cell, line }),
    status: () => statusOf(store),
    tracing: () => store.tracing,
    lastStep: () => store.step.value?.frame.step ?? null,
    draw: (panel, element, signal) => draw(store, panel, element, signal),
    end: () => {
      stop();
      stopStatus();
      store.end();
      model.off('msg:custom', onMessage);
      model.off('change:selected', onSelected);
      stores.delete(model);
      if (latest === store) latest = null; // a module stays in the page for ever, and with it what it names
      if (registry().sessions[id] === session) delete registry().sessions[id];
    }
  };
  registry().sessions[id] = session;
  store.onCode = code => {
    store.onCode = () => undefined; // once
    load(code).then(more => (store.more.value = more), console.warn);
  };
  announce(id, kernel_id);
  store.hello();
  store.command('gate'); // so that the kernel knows whether it hears this page while a cell runs
  return session.end;
}

function statusOf(store: Store): PageStatus {
  const step = store.step.value;
  return {
    tracing: store.tracing,
    share: step?.frame.tracing.share ?? null,
    state: step?.frame.state ?? 'idle',
    step: step?.frame.step ?? null,
    ops: step?.structure.ops.length ?? 0
  };
}

function render({ model, el }: RenderProps<Traits>): () => void {
  const store = stores.get(model) ?? latest;
  const end = new AbortController();
  if (store) draw(store, 'inspector', el, end.signal);
  return () => end.abort();
}

export default { initialize, render };
