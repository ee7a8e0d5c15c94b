/** The findings: one card each, with what is wrong, why, how it is known, what to do and what is behind it. */

import { html, set, write, type Child } from '../draw/element';
import { count, plain, plural } from '../draw/format';
import { SEVERITIES, severitySign, type Severity } from '../draw/severity';
import { trend } from '../draw/trend';
import type { Finding, Findings } from '../protocol/decode';
import { emptyState } from './section';
import { paletteOf } from './theme';
import { followWidth, watch, type PanelParts, type View } from './view';

const LABELS = 94; // pixels of the column with Verdict, Why, and of the card's edges
const TREND_HEIGHT = 36;
const SAID_MS = 1600; // how long a button says that it has copied

/** How many there are of each severity, the worst first. */
export function tally(findings: readonly Finding[]): [Severity, number][] {
  return SEVERITIES.map(s => [s, findings.filter(f => f.severity === s).length] as [Severity, number]).filter(([, n]) => n > 0);
}

/** Text in which `code` and **numbers** stand out. */
export function rich(text: string): Child[] {
  return text.split(/(`[^`]*`|\*\*[^*]+\*\*)/).map(part => {
    if (part.startsWith('`')) return html('code', {}, part.slice(1, -1));
    return part.startsWith('**') ? html('b', {}, part.slice(2, -2)) : part;
  });
}

/** The same, with the line of the code, where the text names it, as what `place` makes of it. */
function withPlace(parts: Child[], where: string, place: () => HTMLElement): Child[] {
  return parts.flatMap(part => {
    const at = typeof part === 'string' && where !== '' ? part.indexOf(where) : -1;
    if (typeof part !== 'string' || at < 0) return [part];
    return [part.slice(0, at), place(), part.slice(at + where.length)];
  });
}

/** What a finding points at, as the store selects it; nothing where the step on show has another graph. */
export function target(finding: Finding, findings: Findings, key: string | undefined): string {
  if (finding.op !== null && findings.key === key) return `op:${finding.op}`;
  if (finding.parameter !== null) return `param:${finding.parameter}`;
  return finding.leaf !== null && findings.key === key ? `leaf:${finding.leaf}` : '';
}

/** The numbers, each beside what it is held against. */
function measured(finding: Finding): HTMLElement | null {
  if (finding.numbers.length === 0) return null;
  return html(
    'div',
    { class: 'gl-measured' },
    ...finding.numbers.map(n =>
      html(
        'span',
        { 'data-value': String(n.value) },
        `${n.name} `,
        html('b', {}, Number.isInteger(n.value) && Math.abs(n.value) < 1e7 ? count(n.value) : plain(n.value)),
        n.limit ? ` (${n.limit})` : ''
      )
    )
  );
}

/** Lines of code, each with an indent of its own where it is longer than the card is wide. */
function code(text: string): HTMLElement {
  return html('pre', {}, ...text.split(/(?<=\n)/).map(line => html('span', {}, line)));
}

/** One card, drawn once; it is replaced when its finding says something else. */
function card(view: View, finding: Finding, width: number, font: string, learnt: Set<string>): HTMLElement {
  const { store, signal } = view;
  const rows: Child[] = [];
  const go = () => {
    const to = target(finding, store.findings.peek() as Findings, store.step.peek()?.structure.key);
    if (to) store.select(to);
  };
  const place = () => {
    const link = html('button', { type: 'button', class: 'gl-place' }, finding.where);
    link.addEventListener('click', go, { signal });
    return link;
  };
  const row = (name: string, ...content: Child[]) => {
    if (content.some(Boolean)) rows.push(html('dt', {}, name), html('dd', {}, ...content));
  };
  row('Verdict', ...rich(finding.verdict));
  row('Why', ...(finding.why ? withPlace(rich(finding.why), finding.where, place) : []));
  const { trend: line } = finding;
  const room = Math.max(80, width - LABELS);
  const words = line ? `${line.label} over steps ${line.steps[0]} to ${line.steps.at(-1)}` : '';
  row(
    'Evidence',
    line && trend(line, room, TREND_HEIGHT, words, font),
    line && html('div', { class: 'gl-trend-label' }, words),
    measured(finding)
  );
  row('Next', ...(finding.next ? rich(finding.next) : []), finding.code !== '' && code(finding.code));
  const note = html('p', { class: 'gl-learn', id: `gl-learn-${Math.random().toString(36).slice(2)}` }, finding.learn);
  note.hidden = !learnt.has(finding.key);
  const action = (text: string, title: string, act: (button: HTMLButtonElement) => void) => {
    const button = html('button', { type: 'button', title }, text);
    button.addEventListener('click', () => act(button), { signal });
    return button;
  };
  const copying = action('Copy fix', 'Copy the lines to paste', button => {
    const say = (text: string) => () => {
      write(button, text);
      setTimeout(() => write(button, 'Copy fix'), SAID_MS);
    };
    navigator.clipboard.writeText(finding.code).then(say('Copied'), say('Not copied'));
  });
  const learning = action('Learn', 'What is behind it', button => {
    note.hidden = !note.hidden;
    if (note.hidden) learnt.delete(finding.key);
    else learnt.add(finding.key);
    set(button, 'aria-expanded', String(!note.hidden));
  });
  set(learning, 'aria-expanded', String(!note.hidden));
  set(learning, 'aria-controls', note.id);
  const muting = action('Mute', `Ask rule ${finding.rule} no more`, () => store.command('mute', { rule: finding.rule, on: true }));
  const title = html('button', { type: 'button', class: 'gl-card-title' }, finding.title);
  title.addEventListener('click', go, { signal });
  return html(
    'article',
    { class: `gl-card gl-is-${finding.severity}`, 'data-finding': finding.key, 'aria-label': `${finding.severity}: ${finding.title}` },
    html('h4', {}, severitySign(finding.severity), title, html('span', { class: 'gl-card-side' }, `${finding.rule} · ${finding.severity}`)),
    html('dl', {}, ...rows),
    html('div', { class: 'gl-acts' }, finding.code !== '' && copying, finding.learn !== '' && learning, muting),
    finding.learn !== '' && note
  );
}

/** The line of an empty panel. */
function nothing(findings: Findings | null): string {
  if (!findings || findings.ran === 0) return 'Nothing to judge yet. Run a cell that calls a gradlab op.';
  const steps = findings.step > 0 ? ` in ${plural(findings.step, 'step')}` : '';
  const lack = findings.lacking > 0 ? `, ${count(findings.lacking)} lack data` : '';
  return `No findings${steps}. ${plural(findings.ran, 'rule')} ran${lack}.`;
}

/** Signs and counts: what the header says. */
function counts(findings: readonly Finding[]): Node[] {
  return tally(findings).map(([severity, n]) =>
    html('span', { class: 'gl-tally' }, severitySign(severity, 11, true), severity === 'info' ? `${n} info` : plural(n, severity))
  );
}

/** Draw the findings. */
export function findingsPanel(view: View): PanelParts {
  const { store } = view;
  const body = html('div', { class: 'gl-findings' });
  const summary = html('div', { class: 'gl-sum' });
  const cards = html('div', {});
  const muted = html('div', { class: 'gl-unasked' });
  body.append(cards, muted);
  const learnt = new Set<string>();
  let known = new Map<string, { text: string; element: HTMLElement }>();
  let width = 400;
  const draw = () => {
    const findings = store.findings.value;
    const font = `11px ${paletteOf(view.root, view.theme.peek()).fonts.ui}`;
    const next: typeof known = new Map();
    for (const finding of findings?.findings ?? []) {
      const { trend: line, ...rest } = finding;
      const text = JSON.stringify([rest, line?.steps.at(-1), line?.values.at(-1), width]);
      const old = known.get(finding.key);
      next.set(finding.key, old?.text === text ? old : { text, element: card(view, finding, width, font, learnt) });
    }
    known = next;
    const elements = [...next.values()].map(one => one.element);
    const shown = elements.length > 0 ? elements : [emptyState(nothing(findings))];
    // Only what changed is moved: a button that has the focus keeps it.
    shown.forEach((element, i) => {
      if (cards.children[i] !== element) cards.insertBefore(element, cards.children[i] ?? null);
    });
    while (cards.children.length > shown.length) cards.lastElementChild?.remove();
    summary.replaceChildren(...(elements.length > 0 ? counts(findings?.findings ?? []) : [html('span', { class: 'gl-keyfact' }, 'none')]));
    const rules = findings?.muted ?? [];
    muted.hidden = rules.length === 0;
    muted.replaceChildren(
      'Muted: ',
      ...rules.map(rule => {
        const button = html('button', { type: 'button', title: `Ask rule ${rule} again` }, `${rule} ×`);
        button.addEventListener('click', () => store.command('mute', { rule, on: false }), { signal: view.signal });
        return button;
      })
    );
  };
  followWidth(view, body, room => {
    if (room === width) return;
    width = room;
    draw();
  });
  watch(view, draw);
  watch(view, () => {
    const step = store.step.value;
    const selected = store.selected.value;
    const findings = store.findings.value;
    for (const finding of findings?.findings ?? []) {
      const to = target(finding, findings as Findings, step?.structure.key);
      const element = known.get(finding.key)?.element;
      element?.classList.toggle('gl-selected', to !== '' && to === selected);
      element?.classList.toggle('gl-points', to !== '');
    }
  });
  return { title: 'Findings', body, summary };
}
