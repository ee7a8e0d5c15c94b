/** The detail panel: one op or tensor with its formula, source, values, ledger and cost. */

import { signal, type ReadonlySignal } from '@preact/signals-core';
import { html, write } from '../draw/element';
import { count, shape } from '../draw/format';
import type { Op, Structure } from '../protocol/messages';
import { experimentsPart } from './experiments';
import { fitNames } from './pathname';
import { formula, source, type Source } from './formula';
import { shortType } from './operands';
import { emptyState } from './section';
import { split } from './store';
import { tableOf, type Texts } from './texts';
import { shownOf, valuesView, type Shown } from './values';
import { followWidth, madeAt, watch, type PanelParts, type View } from './view';

/** What the kernel answers to `detail`; a formula is MathML, or plain text where an op has none. */
interface Detail {
  formula: string[];
  sources: Source[];
  text: string;
  params: string;
  tables: Texts[];
  captured: boolean;
  /** Whether the captured step has it, so that experiments can be made. */
  replays: boolean;
}

const REFRESH_MS = 1000;
/** States in which there is something to let go of. */
const HELD = /armed|open|complete/;

/** The op that a selection means, null for a leaf; and what to call it, "" where there is no such thing. */
function subject(structure: Structure, selected: string): { op: Op | null; title: string } {
  const [kind, rest] = split(selected);
  const op = (kind === 'op' && structure.ops[Number(rest)]) || null;
  if (!op) return { op, title: kind === 'param' ? rest : (kind === 'leaf' && structure.leaves[Number(rest)]?.name) || '' };
  const module = op.module === null ? undefined : structure.modules[op.module];
  const within = module?.path || module?.name;
  return { op, title: `${within ? `${within} / ` : ''}${op.name}` };
}

/** The detail panel. */
export function detailPanel(view: View, open: ReadonlySignal<boolean>): PanelParts {
  const { store } = view;
  const body = html('div', { class: 'gl-detail' });
  const summary = html('div', { class: 'gl-sum' });
  const empty = emptyState('Select an op or a line.');
  const head = html('div');
  const note = html('div', { class: 'gl-status', role: 'status' });
  const tables = html('div');
  const room = html('div', { hidden: true }); // for experiments on a captured step
  const button = html('button', { type: 'button', class: 'gl-button' });
  const kept = html('span', {});
  const bar = html('div', { class: 'gl-capture' }, button, kept);
  const values = valuesView(view, at => look(at));
  const width = signal(416);
  let now = { select: '', key: '' };
  let detail: Detail | null = null;
  let arrays: [Shown | null, Shown | null] | null = null;
  let loaded = '';
  let turn = 0;
  let readAt = 0;
  let readStep = -1;
  let busy = 0; // the turn whose values are on their way
  let queued = false;
  let timer = 0;
  let moves = false; // whether what is shown will be another in the next step
  let where: number[] = [];

  const clear = () => {
    arrays = detail = null;
    head.replaceChildren();
    tables.replaceChildren();
    write(note, '');
    draw();
  };
  const draw = () => {
    values.element.hidden = arrays === null;
    if (arrays) values.show(arrays, width.value);
  };
  const refused = (error: Error) => write(note, error.message);
  /** Ask for the values at a place; while an answer is on its way only the newest place waits. */
  const look = (at = where) => {
    where = at;
    if (busy === turn) return void (queued = true);
    busy = turn;
    queued = false;
    const mine = turn;
    store
      .ask(detail?.captured ? 'captured' : 'values', { ...now, at }, () => mine === turn && write(note, 'Read when this step ends.'))
      .then(({ content, buffers }) => {
        if (mine !== turn) return;
        arrays = shownOf(content, buffers);
        readStep = Number(content['step']);
        moves = content['moves'] === true;
        write(note, String(content['when']));
      })
      .catch((error: Error) => {
        if (mine !== turn) return;
        arrays = null;
        refused(error);
      })
      .finally(() => {
        if (mine !== turn) return;
        busy = 0;
        readAt = Date.now();
        draw();
        if (queued) look();
      });
  };
  const load = () => {
    const mine = ++turn;
    store
      .ask('detail', now)
      .then(({ content }) => {
        if (mine !== turn) return;
        detail = content as unknown as Detail;
        describe(detail);
        room.hidden = !detail.replays;
        if (!room.hidden && !room.firstChild) experimentsPart(view, room);
        look();
      })
      .catch((error: Error) => {
        if (mine !== turn) return;
        clear();
        refused(error);
      });
  };
  const describe = (found: Detail) => {
    const structure = store.step.value?.structure;
    if (!structure) return;
    const { op } = subject(structure, now.select);
    const parts: HTMLElement[] = [];
    if (op) {
      const inputs = op.inputs.map(([from, what]) => {
        const one = from === 'op' ? structure.ops[what] : from === 'leaf' ? structure.leaves[what] : null;
        if (!one) return html('span', {}, String(what).slice(0, 60));
        const name = html('button', { type: 'button', 'data-select': `${from}:${what}` }, one.name.slice(0, 60));
        return html('span', {}, name, html('code', {}, ` ${shape(one.shape)}`));
      });
      const made = `→ ${shape(op.shape)} ${shortType(op.dtype)}  ${found.params.slice(0, 200)}`;
      parts.push(
        html('div', { class: 'gl-from' }, ...inputs, html('code', {}, made)),
        html('div', { class: 'gl-formula' }, ...found.formula.map(text => formula(text) ?? html('code', {}, text))),
        html('div', { class: 'gl-sources' }, ...found.sources.map(source)),
        html('div', { class: 'gl-made' }, html('span', {}, madeAt(structure, op)), html('code', {}, found.text))
      );
    }
    head.replaceChildren(...parts);
    tables.replaceChildren(...found.tables.map(tableOf));
    fitNames(tables);
  };
  /** What moves is read again, once a second. */
  const follow = (step: number) => {
    if (!arrays || !moves || step === readStep || timer) return;
    timer = window.setTimeout(
      () => {
        timer = 0;
        if (open.value && arrays && moves && !view.signal.aborted) look();
      },
      Math.max(0, readAt + REFRESH_MS - Date.now())
    );
  };

  watch(view, () => {
    const step = store.step.value;
    const select = store.selected.value;
    const capture = store.capture.value;
    const chosen = step && select ? subject(step.structure, select) : null;
    const at = step && chosen?.op ? madeAt(step.structure, chosen.op) : '';
    write(summary, chosen?.title ? `${chosen.title.slice(0, 200)}${at ? `, made at ${at}` : ''}` : 'nothing selected');
    if (!open.value) return;
    const of = capture.step ? ` step ${count(capture.step)}` : '';
    write(button, HELD.test(capture.state) ? `Release${of}` : 'Capture next step');
    write(kept, capture.text ?? 'keeps every value and gradient of one step');
    if (!step || !chosen?.title) {
      loaded = '';
      turn++;
      body.replaceChildren(empty, ...(step ? [bar] : []));
      return;
    }
    const { structure, frame } = step;
    const key = [select, structure.key, capture.state, capture.step, frame.state === 'running' || frame.cell].join();
    if (key !== loaded) {
      if (now.select !== select) {
        where = [];
        clear();
      }
      loaded = key;
      now = { select, key: structure.key };
      body.replaceChildren(head, note, values.element, room, bar, tables);
      load();
    } else follow(frame.step);
  });
  watch(view, () => {
    void view.theme.value;
    void width.value;
    if (open.value) draw();
  });
  button.addEventListener(
    'click',
    () => {
      const held = HELD.test(store.capture.value.state);
      store.ask(held ? 'release' : 'capture').catch(refused);
    },
    { signal: view.signal }
  );
  head.addEventListener(
    'click',
    event => {
      const chosen = (event.target as Element).closest('[data-select]')?.getAttribute('data-select');
      if (chosen) store.select(chosen);
    },
    { signal: view.signal }
  );
  followWidth(view, body, next => {
    width.value = next;
    fitNames(body);
  });
  return { title: 'Detail', body, summary };
}
