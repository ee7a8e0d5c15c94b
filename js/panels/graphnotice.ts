/** The line above the graph: what is folded, what is only counted, what changed since the step before. */

import { effect, signal } from '@preact/signals-core';
import { html, set } from '../draw/element';
import { count, plural } from '../draw/format';
import type { Structure } from '../protocol/messages';
import { diff, says, type Diff } from './diff';
import type { Step } from './store';
import type { Scene } from './fold';
import { unitsOf } from './units';
import type { View } from './view';

/** A change of the graph between two steps. */
export interface Change extends Diff {
  structure: Structure;
  step: number;
}

export class Notice {
  readonly element = html('div', { class: 'gl-notice', 'aria-live': 'polite' });
  readonly change = signal<Change | null>(null);
  /** Whether the outline is shown. */
  readonly listed = signal(false);
  private readonly button = html('button', { type: 'button', class: 'gl-textbutton' }, 'Outline');
  private complete: Structure | null = null;

  constructor(view: View) {
    this.button.addEventListener('click', () => (this.listed.value = !this.listed.value), { signal: view.signal });
    view.signal.addEventListener(
      'abort',
      effect(() => set(this.button, 'aria-pressed', String(this.listed.value))),
      { once: true }
    );
  }

  /** Compare a step with the last complete one before it; an open one still grows. */
  follow(step: Step): void {
    if (step.frame.open) return;
    const { complete } = this;
    if (complete && complete.hash !== step.structure.hash) {
      this.change.value = { ...diff(complete, step.structure), structure: step.structure, step: step.frame.step };
    }
    this.complete = step.structure;
  }

  tell(now: Structure, folded: Scene['folded'], late: boolean): void {
    const parts: (string | HTMLElement)[] = [];
    if (late) parts.push('Too large to be drawn in a second: here is the list');
    else if (folded.ops > 0)
      parts.push(`${count(folded.ops)} of ${plural(unitsOf(now).root.size, 'op')} folded in ${plural(folded.groups, 'group')}`);
    if (now.folded > 0) parts.push(`${count(now.folded)} further ops were counted, not kept`);
    const found = this.change.value;
    const words = found && says(found);
    if (words) parts.push(html('b', {}, `${words} at step ${count(found.step)}`));
    if (folded.ops > 0 || late) parts.push(this.button);
    this.element.replaceChildren(...parts.flatMap((part, i) => (i > 0 ? [' · ', part] : [part])));
    this.element.hidden = parts.length === 0;
  }
}
