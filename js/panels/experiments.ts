/** Experiments on a captured step: check a gradient, see the terms behind an entry, nudge it, take the step once more. */

import { html, write } from '../draw/element';
import { count } from '../draw/format';
import { short } from '../draw/short';
import type { Answer } from './asking';
import { fitNames } from './pathname';
import { tableOf, type Texts } from './texts';
import { watch, type View } from './view';

/** What the kernel answers: a verdict in words, and tables of texts. */
interface Outcome {
  state?: string;
  word?: string;
  text: string;
  notes?: string[];
  tables: Texts[];
  bars?: (number | null)[];
}

/** What the other step has: a name, and what the kernel is asked with. */
const STEPS: [name: string, title: string, args: object][] = [
  ['lr \u00d7 2', 'with twice the learning rate', { lr_times: 2 }],
  ['clip 1.0', 'with all gradients together clipped to a norm of 1', { clip: 1 }],
  ['no dropout', 'without dropout, before and after the update', { dropout: false }]
];

/** Bars of terms from the middle, to the right above zero and to the left below. */
function bar(cell: Element, share: number): void {
  const from = share < 0 ? 50 + 50 * share : 50;
  cell.append(
    html(
      'i',
      { class: 'gl-term', 'aria-hidden': 'true' },
      html('u', { class: share < 0 ? 'gl-less' : null, style: `left:${from}%;width:${Math.abs(50 * share)}%` })
    )
  );
}

/** Draw them; they speak of what is selected, and of the entry of the maps that is pointed at or picked. */
export function experimentsPart(view: View, into: HTMLElement): void {
  const { store, signal } = view;
  const options = { signal };
  const button = (name: string, title: string) => html('button', { type: 'button', class: 'gl-button', title }, name);
  const number = (label: string, title: string, width: number) =>
    html('input', { type: 'number', step: 'any', min: 0, 'aria-label': label, title, style: `width:${width}px` });
  const result = (name: string) => html('div', { class: 'gl-outcome', role: 'status', 'data-outcome': name });
  const row = (...parts: (Node | string)[]) => html('div', { class: 'gl-try' }, ...parts);

  const check = button('Check this gradient', 'compare what backward says with finite differences in float64');
  const verdict = html('span', { role: 'status', 'data-outcome': 'verdict' });
  const checked = html('div', { class: 'gl-outcome' });
  const which = html('span', {});
  const terms = result('terms');
  const nudge = button('Nudge it', 'move this entry up and down by eps, and replay the step');
  const eps = number('eps', 'by how much; a thousandth of the value unless given', 72);
  const nudged = result('nudge');
  const nudging = row(nudge, html('label', {}, 'by \u00b1 ', eps));
  const rate = number('learning rate', 'another learning rate', 72);
  const take = button('Go', 'take the step once more with this learning rate');
  const again = result('counterfactual');
  const steps = STEPS.map(([name, title, args]) => {
    const one = button(name, `the captured step once more ${title}; the run is untouched`);
    one.addEventListener('click', () => run(again, 'counterfactual', args), options);
    return one;
  });
  eps.placeholder = 'eps';
  const on = html('span', {});
  into.replaceChildren(
    html('div', { class: 'gl-label' }, 'experiments', on),
    row(check, verdict),
    checked,
    html('div', { class: 'gl-label' }, which),
    terms,
    nudging,
    nudged,
    html('div', { class: 'gl-label' }, 'this step once more, with'),
    row(...steps, html('label', {}, 'lr ', rate), take),
    again
  );

  let now = { select: '', key: '' };
  let entry: number[] | null = null;
  let picked = false;
  const turns = new Map<Element, number>();

  const clear = (place: Element, ...others: Element[]) => {
    for (const one of [place, ...others]) {
      turns.set(one, (turns.get(one) ?? 0) + 1);
      one.replaceChildren();
    }
  };
  const show = (place: Element, { text, notes = [], tables, bars = [] }: Outcome, head: (Node | string)[]) => {
    const lines = [...(text ? [text] : []), ...notes].map(line => html('div', { class: 'gl-further' }, line));
    const drawn = tables.map(tableOf);
    bars.forEach((share, i) => {
      const cell = drawn[0]?.querySelector(`tbody tr:nth-child(${i + 1}) td:last-child`);
      if (cell && share !== null) bar(cell, share);
    });
    place.replaceChildren(...head, ...lines, ...drawn);
    fitNames(place);
  };
  /** Ask, and show the answer if nothing newer was asked for meanwhile. */
  const run = (place: Element, what: string, args: object, done?: (outcome: Outcome) => void): Promise<void> => {
    const mine = (turns.get(place) ?? 0) + 1;
    turns.set(place, mine);
    const current = () => turns.get(place) === mine && !signal.aborted;
    return store
      .ask(what, args, () => current() && write(place, 'Runs when this step ends \u2026'))
      .then(({ content }: Answer) => {
        if (!current()) return;
        const outcome = content as unknown as Outcome;
        if (done) done(outcome);
        else show(place, outcome, []);
      })
      .catch((error: Error) => {
        if (current()) place.replaceChildren(html('div', { class: 'gl-further gl-refused' }, error.message));
      });
  };
  check.addEventListener(
    'click',
    () => {
      checked.replaceChildren();
      write(verdict, 'checking \u2026');
      void run(verdict, 'check', now, outcome => {
        verdict.replaceChildren(html('b', { 'data-state': outcome.state ?? null }, outcome.word ?? ''), ` ${outcome.text}`);
        show(checked, { ...outcome, text: '' }, []);
      });
    },
    options
  );
  nudge.addEventListener(
    'click',
    () => entry && void run(nudged, 'nudge', { ...now, at: entry, ...(eps.value ? { eps: Number(eps.value) } : {}) }),
    options
  );
  const other = () => rate.value && void run(again, 'counterfactual', { lr: Number(rate.value) });
  take.addEventListener('click', other, options);
  rate.addEventListener('keydown', event => event.key === 'Enter' && other(), options);

  let asked = '';
  let busy = false;
  /** Ask for the terms of the entry; while an answer is on its way only the newest entry waits. */
  const explain = () => {
    if (!entry || !now.select.startsWith('op:')) return;
    const next = `${now.select} ${now.key} ${entry.join()}`;
    if (busy || next === asked) return;
    asked = next;
    busy = true;
    void run(terms, 'terms', { ...now, at: entry }).finally(() => {
      busy = false;
      explain();
    });
  };
  const say = () => {
    const at = entry && `[${entry.join(', ')}]`;
    write(which, at ? `entry ${at}${picked ? ', picked' : ''}` : 'Point at an entry above, or click to pick it.');
    nudging.hidden = at === null;
  };
  view.root.addEventListener(
    'gl-entry',
    event => {
      if (into.hidden) return;
      const told = (event as CustomEvent<{ at: number[]; picked: boolean }>).detail;
      if (!told.picked && picked) return;
      picked = told.picked && !(picked && String(entry) === String(told.at));
      if (String(entry) !== String(told.at)) clear(nudged);
      entry = told.at;
      say();
      explain();
    },
    options
  );
  watch(view, () => {
    const now = store.step.value?.frame.optimizers[0]?.lr;
    rate.placeholder = now === undefined ? '' : short(now);
  });
  watch(view, () => {
    const select = store.selected.value ?? '';
    const key = store.step.value?.structure.key ?? '';
    const { step, run: of } = store.capture.value;
    write(on, `on captured step ${count(step ?? 0)}; the run is untouched`);
    if (into.dataset['step'] !== `${of} ${step}`) clear(again);
    into.dataset['step'] = `${of} ${step}`;
    const next = [select, step, of].join();
    if (into.dataset['of'] !== next) {
      into.dataset['of'] = next;
      entry = null;
      picked = false;
      asked = '';
      clear(verdict, checked, terms, nudged);
      say();
    }
    now = { select, key };
  });
}
