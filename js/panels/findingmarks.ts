/** The findings at their steps: small signs under the track of the time bar. */

import { html, set } from '../draw/element';
import { count } from '../draw/format';
import { railX } from '../draw/scale';
import { SEVERITIES, severitySign, type Severity } from '../draw/severity';
import type { Finding } from '../protocol/decode';
import { openState } from './section';
import { tooltip } from './tip';
import { followWidth, watch, type Part, type View } from './view';

/** Signs that stand nearer than this are one. */
const APART = 10;

/** One sign: where it stands, and what was found there, the worst first. */
export interface Mark {
  x: number;
  findings: Finding[];
}

/** The findings of steps `first..last` as signs along `width` pixels, those that would touch put into one. */
export function marksOf(findings: readonly Finding[], first: number, last: number, width: number): Mark[] {
  const marks: Mark[] = [];
  const placed = findings.filter(f => f.step !== null && f.step >= first && f.step <= last);
  for (const finding of placed.sort((a, b) => Number(a.step) - Number(b.step))) {
    const x = railX(first, last, width, Number(finding.step));
    const near = marks.at(-1);
    if (near && x - near.x < APART) near.findings.push(finding);
    else marks.push({ x, findings: [finding] });
  }
  const rank = (f: Finding) => SEVERITIES.indexOf(f.severity);
  for (const mark of marks) mark.findings.sort((a, b) => rank(a) - rank(b));
  return marks;
}

/** Show the card of a finding. */
function goTo(view: View, finding: Finding): void {
  const { store } = view;
  // A mark at the newest step moves nobody away from it.
  if (finding.step !== null && finding.step < store.series.lastStep) store.scrub(finding.step);
  showCard(view, finding);
}

function showCard(view: View, finding: Finding): boolean {
  openState('findings').value = true;
  const cards = [...view.root.querySelectorAll<HTMLElement>('[data-finding]')];
  const card = cards.find(one => one.dataset.finding === finding.key);
  const still = window.matchMedia?.('(prefers-reduced-motion: reduce)').matches;
  card?.scrollIntoView({ block: 'center', behavior: still ? 'auto' : 'smooth' });
  card?.querySelector('button')?.focus({ preventScroll: true });
  return card !== undefined;
}

/** A click on the sign of a node shows the card of what was found there. */
export const signsPart: Part = (view, into) => {
  into.addEventListener(
    'click',
    event => {
      const node = (event.target as Element).closest('.gl-sign')?.closest<SVGElement>('[data-part]');
      const { op, ops, leaf } = node?.dataset ?? {};
      const names = (op ?? ops ?? '').split(' ');
      const found = view.store.findings.peek()?.findings ?? [];
      const finding = found.find(one => (one.op === null ? String(one.leaf) === leaf : names.includes(String(one.op))));
      if (finding && showCard(view, finding)) event.stopPropagation();
    },
    { signal: view.signal, capture: true }
  );
};

/** What a sign says: `step 138`, and each finding with its severity. */
function words({ findings }: Mark): { title: string; lines: [Severity, string][] } {
  const steps = findings.map(f => Number(f.step));
  const [low, high] = [Math.min(...steps), Math.max(...steps)];
  const title = low === high ? `step ${count(low)}` : `steps ${count(low)} to ${count(high)}`;
  return { title, lines: findings.map(f => [f.severity, f.title]) };
}

/** Draw the signs into the room under the track. */
export const marksPart: Part = (view, into) => {
  const { store } = view;
  let width = 160;
  const shown = new Map<Element, Mark>();
  const draw = () => {
    const marks = marksOf(store.findings.value?.findings ?? [], store.series.firstStep, store.lastShown, width);
    shown.clear();
    const had = into.contains(document.activeElement) ? document.activeElement?.getAttribute('data-marks') : null;
    into.replaceChildren(
      ...marks.map(mark => {
        const [worst] = mark.findings as [Finding];
        const { title, lines } = words(mark);
        const style = `left:${mark.x.toFixed(1)}px`;
        const button = html('button', { type: 'button', class: 'gl-findmark', style, 'data-marks': worst.key });
        set(button, 'aria-label', `${title}: ${lines.map(line => line.join(' ')).join('; ')}`);
        button.append(severitySign(worst.severity, 8, true));
        button.addEventListener('click', () => goTo(view, worst), { signal: view.signal });
        shown.set(button, mark);
        if (had === worst.key) queueMicrotask(() => button.focus());
        return button;
      })
    );
  };
  tooltip(view, into, target => {
    const mark = shown.get(target.closest('.gl-findmark') as Element);
    return mark ? words(mark) : null;
  });
  followWidth(view, into, to => {
    width = to;
    draw();
  });
  watch(view, () => {
    void store.revision.value;
    void store.at.value;
    draw();
  });
};
