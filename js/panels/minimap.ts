/** A small picture of a long graph, with the part in view; a press or a drag goes there. */

import { html } from '../draw/element';
import { KINDS } from '../draw/paint';
import type { Picture } from './picture';
import type { View } from './view';
import type { Viewport } from './viewport';

const WIDTH = 40;
/** Shown for a picture so many times as high as what is in view. */
const FROM = 3;

export class Minimap {
  readonly element = html('div', { class: 'gl-minimap', 'aria-hidden': 'true', hidden: true });
  private readonly canvas = html('canvas', {});
  private readonly window = html('div', { class: 'gl-minimap-window' });
  private picture: Picture | null = null;
  private drawn = '';

  constructor(
    view: View,
    private readonly viewport: Viewport
  ) {
    this.element.append(this.canvas, this.window);
    const go = (event: PointerEvent) => {
      if (!event.buttons) return;
      event.preventDefault();
      const { top, height } = this.element.getBoundingClientRect();
      viewport.centre((event.clientY - top) / height);
    };
    for (const kind of ['pointerdown', 'pointermove'] as const) this.element.addEventListener(kind, go, { signal: view.signal });
  }

  show(picture: Picture | null): void {
    this.picture = picture;
    this.drawn = '';
    this.moved();
  }

  /** Another part is in view. */
  moved(): void {
    const { top, height } = this.viewport.inView;
    const on = this.picture !== null && height > 0 && height < 1 / FROM;
    this.element.hidden = !on;
    if (!on) return;
    this.window.style.top = `${top * 100}%`;
    this.window.style.height = `max(6px, ${height * 100}%)`;
    this.draw();
  }

  private draw(): void {
    const { picture, canvas } = this;
    const ctx = canvas.getContext('2d');
    const tall = this.viewport.element.clientHeight;
    if (!picture || !ctx || this.drawn === String(tall)) return;
    this.drawn = String(tall);
    const dense = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [WIDTH * dense, tall * dense];
    const { layout, palette } = picture;
    const [sx, sy] = [canvas.width / layout.width, canvas.height / layout.height];
    ctx.fillStyle = palette.colour('--gl-sunk');
    for (const box of layout.boxes) ctx.fillRect(box.x * sx, box.y * sy, box.width * sx, box.height * sy);
    for (const { id, x, y, width, height } of layout.nodes) {
      ctx.fillStyle = palette.colour(KINDS[picture.part(id).colour] ?? '--gl-shape');
      ctx.fillRect(x * sx, y * sy, width * sx, Math.max(1, height * sy * 0.7));
    }
  }
}
