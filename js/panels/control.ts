/** Pause, step and resume: the buttons of the strip, and the line below it that says where training is held. */

import { html, set, svg, write } from '../draw/element';
import type { Gate } from '../protocol/messages';
import { watch, type View } from './view';

const PAUSE = 'M3.5 3h3v10h-3zM9.5 3h3v10h-3z';
const RESUME = 'M4 3l9 5-9 5z';
const STEP = 'M3 3l7 5-7 5zM13 3v10';
const STEP_OP = 'M3 5l4 3-4 3zM10.5 8a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0';
/** So long an answer may take before the page says that the kernel does not listen. */
const DEAF_MS = 700;
const LATER = 'The kernel hears this when the cell ends.';

const COMING: Record<Gate['wanted'], string> = {
  run: '',
  pause: 'Pauses at the end of the step',
  step: 'Pauses when the steps are done',
  op: 'Pauses at the next op'
};

function button(label: string): [HTMLButtonElement, SVGPathElement] {
  const path = svg('path', {});
  const picture = svg('svg', { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' }, path);
  return [html('button', { type: 'button', 'aria-label': label }, picture), path];
}

/** Where training is held, in words: `Paused at step 12`, and after it the op, its line and the condition. */
function place({ step, op, backward, where, reason }: NonNullable<Gate['held']>): [string, string] {
  const made = op === null ? '' : op === 'backward' ? 'after backward' : `${backward ? 'backward of' : 'op'} ${op}`;
  return [`Paused at step ${step}`, [made && where ? `${made}, ${where}` : made, reason].filter(Boolean).join(' · ')];
}

/** The buttons, and the line; the line takes no room while there is nothing to say. */
export function controls(view: View): { buttons: HTMLElement; line: HTMLElement } {
  const { store } = view;
  const [pause, pauseIcon] = button('Pause');
  const [step, stepIcon] = button('Step');
  const [stepOp, opIcon] = button('Step op');
  set(stepIcon, 'd', STEP);
  set(opIcon, 'd', STEP_OP);
  const head = html('b', {});
  const rest = html('span', {});
  const line = html('div', { class: 'gl-held', role: 'status' }, head, rest);
  let deaf = false;

  const tell = (what: string) => {
    const timer = setTimeout(() => {
      deaf = true;
      draw();
    }, DEAF_MS);
    store
      .ask(what)
      .catch((error: Error) => console.warn(error))
      .finally(() => {
        clearTimeout(timer);
        deaf = false;
        draw();
      });
  };
  pause.onclick = () => tell(store.gate.peek().held || store.gate.peek().wanted !== 'run' ? 'resume' : 'pause');
  step.onclick = () => tell('step');
  stepOp.onclick = () => tell('step op');

  const draw = () => {
    const { wanted, held, aside } = store.gate.value;
    const frame = store.live.value?.frame;
    const busy = frame?.state === 'running';
    const [title, more] = held ? place(held) : [COMING[wanted], ''];
    write(head, deaf ? LATER : title);
    write(rest, deaf ? '' : more);
    set(rest, 'title', more || null);
    line.hidden = !deaf && !title;
    line.classList.toggle('gl-now', held !== null && !deaf);
    const going = held !== null || wanted !== 'run';
    const acts = busy && !aside ? '; acts when the cell ends' : '';
    set(pauseIcon, 'd', going ? RESUME : PAUSE);
    set(pause, 'aria-label', going ? 'Resume' : 'Pause');
    for (const [element, says] of [
      [pause, going ? 'Resume training' : 'Pause training at the end of the step'],
      [step, 'Train one step, then pause'],
      [stepOp, 'Go on to the next op, then pause']
    ] as const) {
      set(element, 'title', says + acts);
      element.disabled = !frame?.tracing.on;
    }
  };
  watch(view, draw);
  // Stepping from op to op, the panels show the op where training stands.
  watch(view, () => {
    const { held } = store.gate.value;
    if (held && held.at !== null && store.at.peek() === null) store.select(`op:${held.at}`);
  });
  return { buttons: html('div', { class: 'gl-control', role: 'group', 'aria-label': 'Training' }, pause, step, stepOp), line };
}
