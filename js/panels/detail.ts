/** The detail panel: one op or tensor with its formula, source, values, ledger and cost. */

import { signal, type ReadonlySignal } from '@preact/signals-core';
import { html, write } from '../draw/element';
import { bytes, count, plain, plural, shape } from '../draw/format';
import type { Op, Structure, Wire } from '../protocol/messages';
import { toNumber } from '../protocol/decode';
import { formula, source, type Source } from './formula';
import { shortType } from './operands';
import { emptyState } from './section';
import { split } from './store';
import { shownOf, valuesView, type Place, type Shown } from './values';
import { followWidth, madeAt, watch, type PanelParts, type View } from './view';

/** What the kernel answers to `detail`. */
interface Detail {
  formula: string[];
  doc: string;
  sources: Source[];
  text: string;
  params: [string, string][];
  cost?: (number | null)[];
  modules?: [string, number, number, number, number, number][];
  saved: [string, number[], string, number, string][] | null;
  ledger: { name: string; entries: [number, string | null, Wire | null][] } | null;
  captured: boolean;
}

const REFRESH_MS = 1000;
const MOST_MODULES = 24;

/** Operations in the unit that keeps the number short: 640, 41 k, 2.1 M. */
export function flops(n: number | null | undefined): string {
  if (n === null || n === undefined) return 'no formula';
  const units = ['', ' k', ' M', ' G', ' T'];
  const unit = n < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(n) / 3));
  const size = n / 1000 ** unit;
  return `${unit && size < 9.95 ? size.toFixed(1) : Math.round(size)}${units[unit]}`;
}

function table(title: string, side: string, head: string[], rows: HTMLElement[]): HTMLElement {
  const heads = html('tr', {}, ...head.map((text, i) => html('th', { scope: 'col', class: i ? null : 'gl-left' }, text)));
  return html(
    'div',
    {},
    html('div', { class: 'gl-label' }, title, html('span', {}, side)),
    html('table', {}, html('thead', {}, heads), html('tbody', {}, ...rows))
  );
}

function row(...cells: string[]): HTMLElement {
  return html(
    'tr',
    {},
    ...cells.map((text, i) => html('td', { class: i ? 'gl-code' : 'gl-left', title: text.length > 24 ? text : null }, text))
  );
}

/** Who added what to a `.grad` since it was last None. */
function ledgerOf({ name, entries }: NonNullable<Detail['ledger']>): HTMLElement {
  const passes = new Set(entries.map(([pass]) => pass)).size;
  const side = passes > 1 ? `${passes} backward calls have added up` : entries.length ? 'since it was last None' : 'empty';
  const rows = entries.map(([pass, op, norm]) =>
    row(`backward ${pass}`, op ?? 'given', norm === null ? '' : plain(toNumber(norm) as number))
  );
  return table(`ledger of ${name.slice(0, 80)}.grad`, side, ['call', 'added by', '‖added‖'], rows.slice(-12));
}

function costOf(name: string, cost: (number | null)[], modules: NonNullable<Detail['modules']>): HTMLElement {
  const line = (what: string, [forward, back, moved, movedBack]: readonly (number | null)[]) =>
    row(what, flops(forward), flops(back), bytes((moved ?? 0) + (movedBack ?? 0)));
  const rows = [
    line(name, cost),
    ...modules.slice(0, MOST_MODULES).map(([path, n, ...sums]) => line(`${path} · ${plural(n, 'op')}`, sums))
  ];
  const further = modules.length - MOST_MODULES;
  const side = further > 0 ? `${count(further)} more modules` : 'a multiply-add is 2';
  return table('operations and bytes', side, ['', 'forward', 'backward', 'moved'], rows);
}

function savedOf(saved: NonNullable<Detail['saved']>): HTMLElement {
  const own = saved.reduce((sum, [, , , size, shared]) => sum + (shared ? 0 : size), 0);
  const rows = saved.map(([name, sizes, dtype, size, shared]) =>
    row(name, `${shape(sizes)} ${shortType(dtype)}`, shared ? `is ${shared}` : bytes(size))
  );
  return table('saved for backward', own ? `${bytes(own)} of its own` : 'nothing of its own', ['', 'shape', ''], rows);
}

/** The op or leaf that a selection means. */
function subject(structure: Structure, selected: string): { op: Op | null; leaf: number; title: string } {
  const [kind, rest] = split(selected);
  if (kind === 'op') {
    const op = structure.ops[Number(rest)] ?? null;
    const module = op && op.module !== null ? structure.modules[op.module] : undefined;
    const within = module?.path || module?.name;
    return { op, leaf: -1, title: op ? `${within ? `${within} / ` : ''}${op.name}` : '' };
  }
  const leaf = kind === 'leaf' ? Number(rest) : structure.leaves.findIndex(one => one.name === rest);
  return { op: null, leaf, title: kind === 'param' ? rest : (structure.leaves[leaf]?.name ?? '') };
}

/** The detail panel. */
export function detailPanel(view: View, open: ReadonlySignal<boolean>): PanelParts {
  const { store } = view;
  const body = html('div', { class: 'gl-detail' });
  const summary = html('div', { class: 'gl-sum' });
  const empty = emptyState('Select an op or a line.');
  const head = html('div', {});
  const note = html('div', { class: 'gl-status', role: 'status' });
  const tables = html('div', { class: 'gl-tables' });
  const button = html('button', { type: 'button', class: 'gl-button' });
  const kept = html('span', {});
  const bar = html('div', { class: 'gl-capture' }, button, kept);
  const values = valuesView(view, place => look(place));
  const width = signal(416);
  let now = { select: '', key: '' };
  let detail: Detail | null = null;
  let arrays: [Shown | null, Shown | null] | null = null;
  let loaded = '';
  let turn = 0;
  let readAt = 0;
  let readStep = -1;
  let busy = false;
  let queued: Place | null = null;
  let timer = 0;
  let where: Place = { lead: [], row: 0, column: 0 };

  const draw = () => {
    values.element.hidden = arrays === null;
    if (arrays) values.show(arrays, width.value);
  };
  /** Ask for the values at a place; while an answer is on its way only the newest place waits. */
  const look = (place: Place = where) => {
    where = place;
    if (busy) return void (queued = place);
    busy = true;
    const mine = turn;
    const captured = detail?.captured ?? false;
    store
      .ask(captured ? 'captured' : 'values', { ...now, ...place }, () => mine === turn && write(note, 'Read when this step ends.'))
      .then(({ content, buffers }) => {
        if (mine !== turn) return;
        arrays = shownOf(content, buffers);
        readStep = Number(content['step']);
        write(note, captured ? `captured at step ${readStep}` : `as it is now, after step ${readStep}`);
      })
      .catch((error: Error) => {
        if (mine !== turn) return;
        arrays = null;
        write(note, error.message);
      })
      .finally(() => {
        busy = false;
        readAt = Date.now();
        if (mine === turn) draw();
        const next = queued;
        queued = null;
        if (next) look(mine === turn ? next : where);
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
        look();
      })
      .catch((error: Error) => {
        if (mine !== turn) return;
        arrays = detail = null;
        tables.replaceChildren();
        write(note, error.message);
        draw();
      });
  };
  const describe = (found: Detail) => {
    const structure = store.step.value?.structure;
    if (!structure) return;
    const { op, title } = subject(structure, now.select);
    const math = found.formula.map(formula).filter(one => one !== null);
    const parts: HTMLElement[] = [];
    if (op) {
      const params = found.params.map(([name, value]) => `${name}=${value}`).join(', ');
      const inputs = op.inputs.map(([from, what]) => {
        const one = from === 'op' ? structure.ops[what] : from === 'leaf' ? structure.leaves[what] : null;
        if (!one) return html('span', {}, String(what).slice(0, 60));
        const chosen = html(
          'button',
          { type: 'button', title: `select ${one.name.slice(0, 200)}` },
          `${one.name.slice(0, 60)} `,
          html('code', {}, shape(one.shape))
        );
        chosen.addEventListener('click', () => store.select(`${from}:${what}`), { signal: view.signal });
        return chosen;
      });
      parts.push(
        html(
          'div',
          { class: 'gl-from' },
          ...inputs,
          html('span', {}, '→ '),
          html('code', {}, `${shape(op.shape)} ${shortType(op.dtype)}`),
          params && html('code', { class: 'gl-muted' }, params.slice(0, 200))
        )
      );
      if (math.length) parts.push(html('div', { class: 'gl-formula' }, ...math));
      else if (found.doc) parts.push(html('div', { class: 'gl-formula gl-code' }, found.doc));
      if (found.sources.length) parts.push(html('div', { class: 'gl-sources' }, ...found.sources.map(source)));
      if (found.text) parts.push(html('div', { class: 'gl-made' }, html('span', {}, madeAt(structure, op)), html('code', {}, found.text)));
    }
    head.replaceChildren(...parts);
    tables.replaceChildren(
      ...[
        found.ledger && ledgerOf(found.ledger),
        found.saved && savedOf(found.saved),
        found.cost && costOf(title, found.cost, found.modules ?? [])
      ].filter(one => !!one)
    );
  };
  /** What is shown "now" is read again while it moves, once a second. */
  const follow = (step: number) => {
    if (!arrays || detail?.captured || step === readStep || timer) return;
    timer = window.setTimeout(
      () => {
        timer = 0;
        if (open.value && arrays && !detail?.captured) look();
      },
      Math.max(0, readAt + REFRESH_MS - Date.now())
    );
  };
  view.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });

  watch(view, () => {
    const step = store.step.value;
    const select = store.selected.value;
    const capture = store.capture.value;
    const chosen = step && select ? subject(step.structure, select) : null;
    const at = step && chosen?.op ? madeAt(step.structure, chosen.op) : '';
    write(summary, chosen?.title ? `${chosen.title.slice(0, 200)}${at ? `, made at ${at}` : ''}` : 'nothing selected');
    if (!open.value) return;
    write(
      button,
      capture.state === 'none' || capture.state === 'refused' ? 'Capture next step' : capture.state === 'armed' ? 'Stop waiting' : 'Release'
    );
    const said = {
      none: 'keeps every value and gradient of one step',
      armed: 'waiting for the next step',
      open: `step ${capture.step} so far · ${bytes(capture.bytes ?? 0)} kept`,
      complete: `step ${capture.step} · ${bytes(capture.bytes ?? 0)} kept`,
      refused: `larger than ${bytes(capture.limit ?? 0)}: let go`
    }[capture.state];
    write(kept, said);
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
        where = { lead: [], row: 0, column: 0 };
        arrays = detail = null;
        head.replaceChildren();
        tables.replaceChildren();
        write(note, '');
        draw();
      }
      loaded = key;
      now = { select, key: structure.key };
      body.replaceChildren(head, note, values.element, bar, tables);
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
      const begin = store.capture.value.state === 'none' || store.capture.value.state === 'refused';
      store.ask(begin ? 'capture' : 'release').catch((error: Error) => write(note, error.message));
    },
    { signal: view.signal }
  );
  followWidth(view, body, next => (width.value = next));
  return { title: 'Detail', body, summary };
}
