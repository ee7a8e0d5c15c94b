/** The time bar: goes back to earlier steps, plays them, and follows the newest again. */

import { html, set, svg, write } from '../draw/element';
import { count } from '../draw/format';
import { sparkPath } from '../draw/spark';
import { railStep, railX } from '../draw/scale';
import { later } from './later';
import { MAX } from './series';
import { spanAt } from './span';
import { followWidth, watch, type View } from './view';

const ICONS = {
  back: 'M4 3v10M13 3v10L6 8z',
  play: 'M4 3l9 5-9 5z',
  pause: 'M5 3v10M11 3v10',
  next: 'M12 3v10M3 3v10l7-5z'
};
const HEIGHT = 18;
const TICK_MS = 100;
/** A run is played in at most so many ticks. */
const TICKS = 200;

function button(icon: keyof typeof ICONS, label: string): [HTMLButtonElement, SVGPathElement] {
  const path = svg('path', { d: ICONS[icon] });
  const picture = svg('svg', { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' }, path);
  return [html('button', { type: 'button', class: `gl-${icon}`, 'aria-label': label, title: label }, picture), path];
}

/** Draw the time bar. */
export function timeBar(view: View): HTMLElement {
  const { store, signal } = view;
  const { series } = store;
  const [back] = button('back', 'One step back ([)');
  const [play, playIcon] = button('play', 'Play the steps (Space)');
  const [next] = button('next', 'One step on (])');
  const line = svg('path', { class: 'gl-past' });
  const thumb = svg('g', { class: 'gl-thumb' }, svg('path', { d: `M0 -2V${HEIGHT}` }), svg('circle', { cy: HEIGHT, r: 5 }));
  const rail = svg('path', { class: 'gl-rail' });
  const picture = svg('svg', { height: HEIGHT + 6, 'aria-hidden': 'true' }, line, rail, thumb);
  const track = html('div', { class: 'gl-timetrack', role: 'slider', tabindex: 0, 'aria-label': 'Step' }, picture);
  const labels = html('div', { class: 'gl-times', 'aria-hidden': 'true' });
  const of = html('div', { class: 'gl-of', role: 'status' });
  const marks = html('div', { class: 'gl-marks' });
  const room = html('div', { class: 'gl-trackroom' }, track, marks, labels);
  void later(view, 'marks', marks);
  const live = html('button', { type: 'button', class: 'gl-live' });
  const compare = html('button', { type: 'button', class: 'gl-ab', title: 'Compare this step with the one you go to next' }, 'A|B');
  const element = html(
    'div',
    { class: 'gl-time', role: 'group', 'aria-label': 'Time' },
    html('div', { class: 'gl-timebuttons' }, back, play, next),
    room,
    html('div', { class: 'gl-liveroom' }, html('div', {}, compare, ' ', live), of)
  );
  let width = 160;
  let timer = 0;

  const xOf = (step: number) => railX(series.firstStep, store.lastShown, width, step);
  const here = () => store.at.peek() ?? series.lastStep;
  const go = (step: number) => store.scrub(Math.min(series.lastStep, Math.max(series.firstStep, step)));
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    draw();
  };
  const toggle = () => {
    if (timer) return stop();
    if (series.size < 2) return;
    const end = store.at.peek() === null ? series.lastStep : store.lastShown;
    if (here() >= end) go(series.firstStep);
    const step = Math.max(1, Math.round((end - series.firstStep) / TICKS));
    timer = window.setInterval(() => {
      const to = Math.min(end, here() + step);
      go(to);
      if (to >= end) stop();
    }, TICK_MS);
    draw();
  };

  const draw = () => {
    const end = store.lastShown;
    const first = series.firstStep;
    const at = store.at.value;
    const step = at ?? end;
    const values = series.size > 0 ? series.values('loss', MAX).subarray(0, spanAt(series, end) + 1) : new Float32Array(0);
    const path = sparkPath(values, width, HEIGHT - 4, i => xOf(i > 0 ? Math.min(end, series.last[i] as number) : first));
    set(picture, 'width', width);
    set(line, 'd', path && `${path}V${HEIGHT}H${path.slice(1).split(' ')[0]}Z`);
    set(rail, 'd', `M0 ${HEIGHT}H${width}`);
    const x = xOf(step);
    set(thumb, 'transform', `translate(${x.toFixed(1)} 0)`);
    set(thumb, 'visibility', series.size > 0 ? null : 'hidden');
    thumb.classList.toggle('gl-on', at !== null);
    for (const [name, value] of Object.entries({ min: first, max: end, now: step })) set(track, `aria-value${name}`, value);
    set(track, 'aria-valuetext', at === null ? `step ${step}, the newest` : `step ${step} of ${series.lastStep}`);
    const label = (text: string, left: number, look: string) => html('span', { class: look, style: `left:${left.toFixed(0)}px` }, text);
    const middle = at === null ? [] : [label(`step ${count(at)}`, Math.min(width - 34, Math.max(34, x)), 'gl-last')];
    const clear = (left: number) => at === null || Math.abs(left - x) > 60;
    const ends =
      series.size === 0
        ? []
        : [
            ...(clear(0) && first < end ? [label(count(first), 0, 'gl-first')] : []),
            ...(clear(width) ? [label(count(end), xOf(end) + 5, 'gl-end')] : [])
          ];
    labels.replaceChildren(...ends, ...middle);
    const other = store.step.value?.frame.of;
    write(of, other === undefined ? '' : `op norms of step ${count(other)}`);
    const newer = series.lastStep - end;
    write(live, at === null ? 'Live' : newer > 0 ? `▸ Follow live +${count(newer)}` : '▸ Follow live');
    set(live, 'aria-pressed', String(at === null));
    set(live, 'title', at === null ? 'Every new step is shown' : 'Show the newest step again');
    set(compare, 'aria-pressed', String(store.mark.value !== null));
    for (const one of [back, play, next, compare]) one.disabled = series.size < 2;
    set(playIcon, 'd', timer ? ICONS.pause : ICONS.play);
    set(play, 'aria-label', timer ? 'Stop playing (Space)' : 'Play the steps (Space)');
    element.classList.toggle('gl-scrubbed', at !== null);
  };

  const options = { signal };
  followWidth(view, room, to => {
    width = to;
    draw();
  });
  compare.addEventListener('click', () => (store.mark.value = store.mark.peek() === null ? here() : null), options);
  back.addEventListener('click', () => go(here() - 1), options);
  next.addEventListener('click', () => go(here() + 1), options);
  play.addEventListener('click', toggle, options);
  live.addEventListener(
    'click',
    () => {
      stop();
      if (store.at.peek() === null) go(series.lastStep);
      else store.scrub(null);
    },
    options
  );
  const drag = (event: PointerEvent) => {
    if (series.size < 2 || !(event.buttons & 1)) return;
    if (event.type === 'pointerdown') track.setPointerCapture?.(event.pointerId);
    const pixel = event.clientX - track.getBoundingClientRect().left;
    go(Math.min(store.lastShown, railStep(series.firstStep, store.lastShown, width, pixel)));
  };
  track.addEventListener('pointerdown', drag, options);
  track.addEventListener('pointermove', drag, options);
  track.addEventListener(
    'keydown',
    event => {
      const far = Math.max(1, Math.round((store.lastShown - series.firstStep) / 10));
      const to: Record<string, number> = {
        ...{ ArrowLeft: here() - 1, ArrowDown: here() - 1, ArrowRight: here() + 1, ArrowUp: here() + 1 },
        ...{ PageDown: here() - far, PageUp: here() + far, Home: series.firstStep, End: series.lastStep }
      };
      if (event.ctrlKey || event.metaKey || event.altKey || to[event.key] === undefined || series.size < 2) return;
      event.preventDefault();
      event.stopPropagation();
      go(to[event.key] as number);
    },
    options
  );
  view.root.addEventListener(
    'keydown',
    event => {
      const target = event.target as Element;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, textarea')) return;
      if (event.key === '[') go(here() - 1);
      else if (event.key === ']') go(here() + 1);
      else if (event.key === ' ' && !target.closest('button, [role="button"], a, summary')) toggle();
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    options
  );
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  watch(view, () => {
    void store.revision.value;
    void store.at.value;
    draw();
  });
  return element;
}

/** The comparison with a marked step, above the other panels while there is one. */
export function comparison(view: View): HTMLElement {
  const room = html('div', { class: 'gl-body' });
  const title = html('span', { class: 'gl-name', role: 'heading', 'aria-level': 3 }, 'Compare');
  const element = html(
    'section',
    { class: 'gl-panel', 'data-panel': 'compare', 'aria-label': 'Compare', hidden: true },
    html('div', { class: 'gl-head' }, title),
    room
  );
  let drawn = false;
  watch(view, () => {
    const on = view.store.mark.value !== null;
    element.hidden = !on;
    if (on && !drawn) void later(view, 'compare', room);
    drawn ||= on;
  });
  return element;
}
