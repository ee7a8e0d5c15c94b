/** The backward scrubber: the chain rule op by op, in the order in which the backward pass takes them. */

import { signal } from '@preact/signals-core';
import { html, set, write } from '../draw/element';
import { count, full, special } from '../draw/format';
import type { Structure } from '../protocol/messages';
import { opGradient, watch, type View } from './view';
import { rootOf } from './way';
import type { Step } from './store';

const TICK_MS = 700;
/** However long the tape, playing it takes no longer. */
const LONGEST_MS = 30_000;
const FASTEST_MS = 40;

/** The ops that the pass from the loss comes to: newest first, as the engine takes them. */
export function passOrder(structure: Structure): number[] {
  const { ops } = structure;
  const reached = new Uint8Array(ops.length);
  const root = rootOf(ops);
  if (root < 0) return [];
  reached[root] = 1;
  const out: number[] = [];
  for (let i = root; i >= 0; i--) {
    if (!reached[i]) continue;
    out.push(i);
    for (const [from, j] of ops[i]?.inputs ?? []) if (from === 'op' && ops[j]?.grad) reached[j] = 1;
  }
  return out;
}

/** What happens at one op of the pass, in words. */
function wordsAt({ structure, frame }: Step, i: number): string {
  const op = structure.ops[i];
  if (!op) return '';
  const g = opGradient(frame, i);
  const size = g === null ? '' : ` ‖g‖ ${special(g) ?? full(g)}`;
  const to = op.inputs.flatMap(([from, j]) => {
    if (from === 'op') return structure.ops[j]?.grad ? [structure.ops[j].name] : [];
    const leaf = from === 'leaf' ? structure.leaves[j] : undefined;
    return leaf?.requires_grad ? [leaf.name] : [];
  });
  return `${op.name}: ∂loss/∂output arrives${size}${to.length > 0 ? `, goes on to ${[...new Set(to)].join(', ')}` : ''}`;
}

export class Chain {
  /** How many ops of the pass are done; -1 while it is not shown. */
  readonly at = signal(-1);
  readonly playing = signal(false);
  readonly element = html('div', { class: 'gl-chain', role: 'group', 'aria-label': 'Backward pass', hidden: true });
  order: number[] = [];
  private structure: Structure | null = null;
  private timer = 0;

  constructor(view: View) {
    const button = (label: string, title: string, run: () => void) => {
      const made = html('button', { type: 'button', title, 'aria-label': title }, label);
      made.addEventListener('click', run, { signal: view.signal });
      return made;
    };
    const play = button('▶', 'Play the backward pass (Space)', () => this.play());
    const buttons = html(
      'div',
      { class: 'gl-seg' },
      button('◀', 'One op back (←)', () => this.go(this.at.peek() - 1)),
      play,
      button('▶|', 'One op on (→)', () => this.go(this.at.peek() + 1))
    );
    const range = html('input', { type: 'range', min: 1, step: 1, 'aria-label': 'Op of the backward pass' });
    range.addEventListener('input', () => this.go(Number(range.value)), { signal: view.signal });
    const words = html('div', { class: 'gl-chainwords', 'aria-live': 'polite' });
    this.element.append(buttons, range, words);
    watch(view, () => {
      const at = this.at.value;
      const step = view.store.step.value;
      this.element.hidden = at < 0;
      if (at < 0 || !step) return;
      range.max = String(this.order.length);
      range.value = String(at);
      const i = this.order[at - 1];
      const where = `${count(at)} of ${count(this.order.length)}`;
      write(words, i === undefined ? 'No backward pass: nothing here has a gradient.' : `${where} · ${wordsAt(step, i)}`);
      set(range, 'aria-valuetext', words.textContent);
    });
    watch(view, () => {
      const on = this.playing.value;
      write(play, on ? '❚❚' : '▶');
      set(play, 'aria-pressed', String(on));
    });
    view.signal.addEventListener('abort', () => this.stop(), { once: true });
  }

  /** The structure on show: the pass goes on in it, as far as it is as long. */
  follow(structure: Structure | undefined): void {
    if (structure === this.structure) return;
    this.structure = structure ?? null;
    this.order = structure ? passOrder(structure) : [];
    if (this.at.peek() >= 0) this.go(this.at.peek());
  }

  show(on: boolean): void {
    this.stop();
    this.at.value = on ? Math.min(1, this.order.length) : -1;
  }

  go(at: number): void {
    this.at.value = Math.max(Math.min(1, this.order.length), Math.min(this.order.length, at));
  }

  play(): void {
    if (this.playing.peek()) return this.stop();
    if (this.at.peek() >= this.order.length) this.go(1);
    this.playing.value = true;
    const each = Math.max(FASTEST_MS, Math.min(TICK_MS, LONGEST_MS / Math.max(1, this.order.length)));
    const by = Math.max(1, Math.ceil((this.order.length * each) / LONGEST_MS));
    this.timer = window.setInterval(() => {
      this.go(this.at.peek() + by);
      if (this.at.peek() >= this.order.length) this.stop();
    }, each);
  }

  stop(): void {
    window.clearInterval(this.timer);
    this.playing.value = false;
  }
}
