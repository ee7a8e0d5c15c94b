/** The status strip: step, loss, gradient norm and what tracing costs, in one line. */

import { html, set, write } from '../draw/element';
import { count, full, plain, plural, special } from '../draw/format';
import { mark } from '../draw/node';
import { severitySign } from '../draw/severity';
import { Spark } from '../draw/spark';
import { controls } from './control';
import { MAX } from './series';
import { followWidth, watch, type View } from './view';

const STATES = { idle: '', running: 'running', interrupted: 'interrupted', error: 'stopped by an error' } as const;

function cell(label: string, ...children: Node[]): HTMLElement {
  return html('div', { class: 'gl-cell' }, html('span', { class: 'gl-label' }, label), html('span', { class: 'gl-fact' }, ...children));
}

/** A number of the strip; a dash while there is none. */
function number(element: HTMLElement, x: number | null): void {
  write(element, x === null ? '–' : plain(x));
  mark(element, x);
  element.classList.toggle('gl-odd-text', x !== null && special(x) !== null);
}

/** A share: 2.1 %, 424 %. */
const percent = (share: number) => `${(share * 100).toFixed(share < 0.9995 ? 1 : 0)} %`;

function costs(every: number): string {
  const share = 'Tracing is on: its share of the time';
  return every > 1 ? `${share}. One step in ${every} is read in full, the others for loss, gradient norm and learning rate` : share;
}

/** Draw the strip, and below it the line that says where training is held. */
export function stripPanel(view: View): [HTMLElement, HTMLElement] {
  const { store } = view;
  const { buttons, line: heldLine } = controls(view);
  const step = html('b', {}, '–');
  const state = html('i', {});
  const loss = html('b', { 'data-field': 'loss' }, '–');
  const gradient = html('b', { 'data-field': 'grad_norm' }, '–');
  const share = html('b', { 'data-field': 'tracing' }, '–');
  const [many, word] = [html('span', {}), html('span', { class: 'gl-worst-word' })];
  const worstShort = html('b', { class: 'gl-worst-short' }, many, ' ', word);
  const worstText = html('b', { class: 'gl-worst', 'data-field': 'worst' });
  const worstSign = html('span', {});
  const worst = cell('Worst', worstSign, worstShort, worstText);
  worst.classList.add('gl-worstcell');
  const dot = html('span', { class: 'gl-dot', 'aria-hidden': 'true' });
  const spark = new Spark(16, 'Loss so far');
  const line = html('span', { class: 'gl-sparkroom' }, spark.element);
  const element = html(
    'div',
    { class: 'gl-strip', 'data-panel': 'strip', role: 'group', 'aria-label': 'Status' },
    cell('Step', step, state),
    cell('Loss', line, loss),
    cell('‖grad‖', gradient),
    worst,
    cell('Tracing', dot, share),
    buttons
  );
  let width = 40;
  followWidth(view, line, room => {
    width = room;
    draw();
  });
  const draw = () => {
    const values = store.series.values('loss', MAX);
    spark.update(width < 24 ? [] : values, width, store.series.last);
    // One number is no line, and its room would keep the number from its label.
    line.hidden = values.length < 2;
  };
  watch(view, () => {
    void store.revision.value;
    draw();
  });
  watch(view, () => {
    const found = store.findings.value?.findings ?? [];
    const first = found[0];
    worst.hidden = !first;
    if (!first) return;
    if (worst.dataset.severity !== first.severity) worstSign.replaceChildren(severitySign(first.severity, 12));
    worst.dataset.severity = first.severity;
    write(worstText, first.title);
    const alike = found.filter(one => one.severity === first.severity).length;
    write(many, count(alike));
    write(word, first.severity + (alike === 1 || first.severity === 'info' ? '' : 's'));
    set(worst, 'title', `${first.title} (${plural(found.length, 'finding')})`);
  });
  watch(view, () => {
    const frame = store.step.value?.frame;
    void store.revision.value;
    const past = store.at.value !== null;
    // The first gradient makes a row of the step that is not over: what charts and time bar call it, it is here.
    const now = frame && (frame.open ? Math.max(frame.step, store.series.lastStep) : frame.step);
    write(step, String(now ?? '–'));
    set(step, 'data-value', now ?? null);
    const how = frame?.state ?? 'idle';
    const held = store.gate.value.held !== null;
    set(state, 'data-state', past || held ? null : how);
    write(state, past ? `of ${store.series.lastStep}` : held ? 'paused' : STATES[how]);
    const last = store.number('loss');
    number(loss, frame ? (frame.loss ?? (store.series.size > 0 && !frame.open ? last : null)) : null);
    number(gradient, frame ? frame.grad_norm : null);
    const tracing = frame?.tracing;
    write(share, !tracing ? '–' : !tracing.on ? 'off' : tracing.share === null ? 'on' : percent(tracing.share));
    set(share, 'data-value', tracing?.share === null || !tracing ? null : full(tracing.share));
    set(share, 'title', tracing ? (tracing.on ? costs(tracing.every) : 'Tracing is off') : null);
    const look = how === 'interrupted' ? 'still' : tracing?.much ? 'much' : 'on';
    set(dot, 'data-look', tracing?.on ? look : null);
    element.classList.toggle('gl-off', tracing?.on === false);
  });
  return [element, heldLine];
}
