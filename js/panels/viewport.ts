/** A picture that can be dragged, zoomed and fitted; the wheel alone scrolls as everywhere else. */

import { html } from '../draw/element';
import type { View } from './view';

/** Below this a picture is not readable: a wide one is scrolled instead of shrunk. */
export const READABLE = 0.75;
/** What is so much too high for its room at most is made smaller, where it stays readable: else a few pixels would be cut off. */
const ALMOST = 1.15;
const LEAST = 0.02;
const MOST = 3;

/** What a viewport shows. */
export interface Shown {
  element: Element;
  /** It is to be `zoom` times as large as laid out. */
  resize(zoom: number): void;
  /** Another part of it came into view. */
  scrolled(): void;
}

export class Viewport {
  readonly element = html('div', { class: 'gl-viewport' });
  private picture: Shown | null = null;
  /** Called when another part of the picture is in view. */
  onMoved: () => void = () => {};
  private width = 1;
  private height = 1;
  private room = 416;
  private zoom = 1;
  private chosen = false;
  /** Whether the last press became a drag, so that its click selects nothing. */
  dragged = false;

  constructor(view: View) {
    const options = { signal: view.signal };
    this.element.addEventListener('pointerdown', event => this.drag(event), options);
    this.element.addEventListener(
      'wheel',
      event => {
        // The notebook's own scrolling is never taken, unless the reader has gone into the graph.
        if (!event.ctrlKey && !event.metaKey && !this.element.contains(document.activeElement)) return;
        event.preventDefault();
        const box = this.element.getBoundingClientRect();
        this.zoomTo(this.zoom * Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
      },
      { ...options, passive: false }
    );
    this.element.addEventListener('scroll', () => this.moved(), { ...options, passive: true });
  }

  private moved(): void {
    this.picture?.scrolled();
    this.onMoved();
  }

  /** Show a picture of this size; zoom and position stay where the reader put them. */
  show(picture: Shown, width: number, height: number): void {
    this.picture = picture;
    this.width = width;
    this.height = height;
    this.element.replaceChildren(picture.element);
    this.apply();
  }

  setRoom(room: number): void {
    if (room === this.room) return;
    this.room = room;
    this.apply();
  }

  /** The whole width in view, as large as it is readable. */
  fit(): void {
    const whole = Math.max(LEAST, Math.min(1, this.element.clientHeight / this.height, this.room / this.width));
    // A second press shows all of it, however small.
    const all = !this.chosen && this.element.scrollTop === 0 && this.zoom > whole;
    this.chosen = all;
    if (all) this.zoom = whole;
    this.apply();
    this.element.scrollTo?.({ left: 0, top: 0 });
  }

  /** The part in view, as fractions of the picture. */
  get inView(): { top: number; height: number } {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    return { top: scrollTop / Math.max(1, scrollHeight), height: Math.min(1, clientHeight / Math.max(1, scrollHeight)) };
  }

  /** Scroll so that this fraction of the height is in the middle. */
  centre(at: number): void {
    this.element.scrollTop = at * this.element.scrollHeight - this.element.clientHeight / 2;
  }

  zoomBy(factor: number): void {
    this.zoomTo(this.zoom * factor, this.element.clientWidth / 2, this.element.clientHeight / 2);
  }

  /** Bring a rectangle of the picture into view. */
  reveal(x: number, y: number, width: number, height: number): void {
    const { element, zoom } = this;
    const scroll = (at: number, size: number, view: number, from: number) => {
      if (at * zoom < from) return at * zoom - 16;
      if ((at + size) * zoom > from + view) return (at + size) * zoom - view + 16;
      return from;
    };
    element.scrollTo?.({
      left: scroll(x, width, element.clientWidth, element.scrollLeft),
      top: scroll(y, height, element.clientHeight, element.scrollTop)
    });
  }

  private zoomTo(zoom: number, x: number, y: number): void {
    const next = Math.min(MOST, Math.max(LEAST, zoom));
    const { element } = this;
    const [left, top] = [(element.scrollLeft + x) / this.zoom, (element.scrollTop + y) / this.zoom];
    this.zoom = next;
    this.chosen = true;
    this.apply();
    element.scrollLeft = left * next - x;
    element.scrollTop = top * next - y;
  }

  private apply(): void {
    if (!this.chosen) this.zoom = Math.min(1, Math.max(READABLE, this.room / this.width));
    this.picture?.resize(this.zoom);
    const over = this.element.scrollHeight / this.element.clientHeight;
    if (!this.chosen && over > 1 && over < ALMOST && this.zoom > READABLE) {
      this.zoom = Math.max(READABLE, (this.zoom / over) * 0.999);
      this.picture?.resize(this.zoom);
    }
    this.onMoved();
  }

  private drag(event: PointerEvent): void {
    this.dragged = false;
    if (event.button !== 0) return;
    const { element } = this;
    const start = { x: event.clientX, y: event.clientY, left: element.scrollLeft, top: element.scrollTop };
    const end = new AbortController();
    const options = { signal: end.signal };
    window.addEventListener(
      'pointermove',
      move => {
        const [dx, dy] = [move.clientX - start.x, move.clientY - start.y];
        if (!this.dragged && Math.abs(dx) + Math.abs(dy) < 5) return;
        this.dragged = true;
        element.classList.add('gl-dragging');
        element.scrollLeft = start.left - dx;
        element.scrollTop = start.top - dy;
      },
      options
    );
    const stop = () => {
      end.abort();
      element.classList.remove('gl-dragging');
    };
    window.addEventListener('pointerup', stop, options);
    window.addEventListener('pointercancel', stop, options);
  }
}
