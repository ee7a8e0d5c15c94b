import { Widget } from '@lumino/widgets';
import type { Run } from './runs';
import type { PageStatus } from '../panels/registry';

/** A duration in milliseconds, with its unit. */
export function duration(ms: number): string {
  if (ms < 9.95) return `${ms < 0.095 ? ms.toPrecision(1) : ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 99_950) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

const plural = (n: number, what: string) => `${n === 0 ? 'no' : n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;

/** What a run of a cell came to, in few words. `live` is what the session says while the cell runs. */
export function footerWords(run: Run, live: PageStatus | null): string[] {
  const { end } = run;
  if (!end) {
    if (!live || live.state !== 'running' || live.step === null) return ['running'];
    return [`running, step ${live.step}`, plural(live.ops, 'op')];
  }
  const { ops = 0, steps = 0, ms = 0 } = end;
  const how = run.state === 'error' ? ['stopped by an error'] : run.state === 'interrupted' ? ['interrupted'] : [];
  const work =
    steps > 1
      ? [`${plural(ops, 'op')} a step`, plural(steps, 'step'), `${duration(ms / steps)} a step`]
      : [plural(ops, 'op'), duration(ms)];
  return [...how, ...(end.tracing === false ? ['not traced'] : work)];
}

/** The line under an executed cell: ops, time, findings. A click opens the inspector. */
export class Footer extends Widget {
  constructor(open: () => void) {
    super({ node: document.createElement('div') });
    this.addClass('gradlab-footer');
    this.button.type = 'button';
    this.button.title = 'Open the inspector';
    this.button.onclick = open;
    this.node.append(this.button);
  }

  /** Says what a run came to. */
  present(run: Run, live: PageStatus | null): void {
    const words = footerWords(run, live);
    const found = findingWords(run);
    const key = JSON.stringify([words, found, run.state]);
    if (key === this.key) return;
    this.key = key;
    this.node.dataset['state'] = run.state;
    const parts: (string | HTMLElement)[] = [words.join(' · ')];
    for (const [severity, text] of found) parts.push(' · ', severity ? marked(severity, text) : text);
    this.button.replaceChildren(...parts);
  }

  private key = '';
  private readonly button = document.createElement('button');
}

/** What the rules found, by severity, the worst first; without a severity where they found nothing. */
export function findingWords({ end, state, pointed }: Run): [string, string][] {
  const found = (['error', 'warning', 'info'] as const).flatMap(severity => {
    const n = end?.severities?.[severity] ?? 0;
    return n > 0 ? [[severity, severity === 'info' ? `${n} info` : plural(n, severity)] as [string, string]] : [];
  });
  if (pointed > 0) found.push(['warning', `${plural(pointed, 'finding')} ${pointed === 1 ? 'points' : 'point'} here`]);
  if (found.length > 0 || state !== 'idle' || !end?.ops || end.tracing === false) return found;
  return [['', 'no findings']];
}

function marked(severity: string, text: string): HTMLElement {
  const element = document.createElement('span');
  element.className = `gradlab-footer-${severity}`;
  element.textContent = text;
  return element;
}
