/** What pointer and keys do over the step axis of a chart: one cursor through all charts, zoom and pan. */

import { panned, stepAt, stepX, zoomed, type Range, type StepAxis } from '../draw/scale';
import { set } from '../draw/element';
import { watch, type View } from './view';

/** Where a chart has its steps: the axis, and its left end inside the element. */
export interface Place {
  axis: StepAxis;
  left: number;
}

const CLOSER = 1.25;

/**
 * Make a chart answer to the pointer and the keyboard; a click, or Enter, goes back to the step under the cursor.
 *
 * The wheel zooms with Ctrl or Cmd, or where the chart has the focus: it never steals the notebook's scrolling.
 */
export function plot(view: View, element: HTMLElement, place: () => Place, mark: (step: number | null) => void, scrubs = true): void {
  const { store, signal } = view;
  const { series, near, range } = store;
  const all = (): Range => [series.firstStep, Math.max(store.lastShown, series.firstStep + 1)];
  const shown = (): Range => range.value ?? all();
  const offset = (event: MouseEvent) => event.clientX - element.getBoundingClientRect().left - place().left;
  const under = (event: MouseEvent) => clamp(stepAt(place().axis, offset(event)));
  const clamp = (step: number) => Math.min(store.lastShown, Math.max(series.firstStep, step));
  const zoom = (factor: number, at: number) => (range.value = zoomed(shown(), all(), factor, at));
  const pan = (steps: number) => (range.value = range.value && panned(range.value, all(), steps));
  const perPixel = () => (shown()[1] - shown()[0] + 1) / place().axis.width;

  element.tabIndex = 0;
  set(element, 'role', 'slider');
  set(element, 'aria-keyshortcuts', '+ - ArrowLeft ArrowRight Enter Escape');
  element.classList.add('gl-plotting');
  const options = { signal };
  let grip: number | null = null;
  let moved = 0;
  element.addEventListener(
    'pointermove',
    event => {
      if (series.size === 0) return;
      if (grip !== null && event.buttons && range.value) {
        pan((grip - event.clientX) * perPixel());
        moved += Math.abs(grip - event.clientX);
        grip = event.clientX;
      } else near.value = offset(event) < -4 ? null : under(event);
    },
    options
  );
  element.addEventListener(
    'pointerdown',
    event => {
      grip = event.clientX;
      moved = 0;
    },
    options
  );
  element.addEventListener(
    'click',
    event => scrubs && moved < 4 && series.size > 0 && offset(event) >= 0 && store.scrub(under(event)),
    options
  );
  element.addEventListener('pointerleave', () => (grip = near.value = null), options);
  element.addEventListener('dblclick', () => (range.value = null), options);
  element.addEventListener(
    'wheel',
    event => {
      if (series.size < 2 || !(event.ctrlKey || event.metaKey || document.activeElement === element)) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX * perPixel());
      else zoom(event.deltaY < 0 ? 1 / CLOSER : CLOSER, under(event));
    },
    { signal, passive: false }
  );
  element.addEventListener(
    'keydown',
    event => {
      if (event.ctrlKey || event.metaKey || event.altKey || series.size === 0) return;
      const here = near.value ?? store.lastShown;
      if (event.key === '+' || event.key === '=') zoom(1 / CLOSER, here);
      else if (event.key === '-') zoom(CLOSER, here);
      else if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
        const step = (near.value = clamp(here + (event.key === 'ArrowLeft' ? -1 : 1)));
        const [first, last] = shown();
        if (step < first) pan(step - first);
        else if (step > last) pan(step - last);
      } else if (event.key === 'Enter') store.scrub(here);
      else if (event.key === 'Escape' && (range.value ?? near.value) !== null) range.value = near.value = null;
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    options
  );
  watch(view, () => {
    void store.revision.value;
    const step = near.value;
    mark(step);
    set(element, 'aria-valuemin', series.firstStep);
    set(element, 'aria-valuemax', store.lastShown);
    set(element, 'aria-valuenow', step ?? store.lastShown);
  });
}

/** Where a step stands inside the chart, in pixels; null where it is not shown. */
export function xOf({ axis, left }: Place, step: number | null): number | null {
  return step === null || step < axis.first || step > axis.last ? null : left + stepX(axis, step);
}
