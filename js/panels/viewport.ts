/** A picture that can be dragged, zoomed and fitted; the wheel alone scrolls as everywhere else. */

import { html } from '../draw/element';
import type { View } from './view';

/** Below this a picture is not readable: a wide one is scrolled instead of shrunk. */
export const READABLE = 0.75;
/** As in the style of .gl-bleed, both sides together. */
const BLEED = 20;
const LEAST = 0.2;
const MOST = 3;

export class Viewport {
  readonly element = html('div', { class: 'gl-viewport' });
  private picture: SVGSVGElement | null = null;
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
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const box = this.element.getBoundingClientRect();
        this.zoomTo(this.zoom * Math.exp(-event.deltaY / 300), event.clientX - box.left, event.clientY - box.top);
      },
      { ...options, passive: false }
    );
  }

  /** Show a picture of this size; zoom and position stay where the reader put them. */
  show(picture: SVGSVGElement, width: number, height: number): void {
    this.picture = picture;
    this.width = width;
    this.height = height;
    this.element.replaceChildren(picture);
    this.apply();
  }

  setRoom(room: number): void {
    if (room === this.room) return;
    this.room = room;
    this.apply();
  }

  /** The whole width in view, as large as it is readable. */
  fit(): void {
    this.chosen = false;
    this.apply();
    this.element.scrollTo?.({ left: 0, top: 0 });
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
    // Too wide for the panel: use its padding as well.
    const wide = this.width > this.room * 1.02;
    this.element.classList.toggle('gl-bleed', wide);
    if (!this.chosen) this.zoom = Math.min(1, Math.max(READABLE, (this.room + (wide ? BLEED : 0)) / this.width));
    this.picture?.setAttribute('width', String(Math.round(this.width * this.zoom)));
    this.picture?.setAttribute('height', String(Math.round(this.height * this.zoom)));
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
