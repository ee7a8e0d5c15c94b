/** The graph of a few ops with formulas and numbers on its nodes: what a calculation by hand would write there. */

import { computed, signal } from '@preact/signals-core';
import { html, set, svg } from '../draw/element';
import { count, full, plain, special } from '../draw/format';
import { CHIP_HEIGHT, NODE_HEIGHT } from '../draw/geometry';
import { GRADIENT_X } from '../draw/node';
import { doubles } from '../protocol/decode';
import type { Structure } from '../protocol/messages';
import type { Answer } from './asking';
import type { Part as Drawn, Scene } from './fold';
import { formula } from './formula';
import type { SvgPicture } from './svgpicture';
import { watch, type Part, type View } from './view';

/** Room for a formula: a fraction takes more. */
const formulaHeight = (text: string) => (!text ? 0 : text.includes('<mfrac') ? 34 : 22);
const ROW = 14;
const PAD = 6;
/** A column of numbers, and the brackets around all of them. */
const COLUMN = 48;
const EDGE = 8;
/** A node's numbers stand beside each other up to so many columns, and value above gradient from there on. */
const BESIDE = 2;
/** From the numbers of a chip to its border, and between its value and its gradient. */
const CHIP_EDGE = 4;
const CHIP_GAP = 8;
const REFRESH_MS = 1000;

/** Value and gradient of one op or leaf, as rows of numbers. */
interface Small {
  value: number[][];
  gradient: number[][] | null;
}

/** The answer to `small`. */
interface Faces {
  step: number;
  formulas: string[];
  /** By `op:3` or `leaf:2`. */
  items: Map<string, Small>;
}

/** Read the answer. */
function facesOf({ content, buffers }: Answer): Faces {
  const numbers = doubles(buffers[0]);
  let at = 0;
  const take = (sizes: number[]): number[][] => {
    const columns = sizes.at(-1) ?? 1;
    const rows = sizes.length > 1 ? (sizes[0] as number) : 1;
    return Array.from({ length: rows }, () => Array.from({ length: columns }, () => numbers[at++] as number));
  };
  const items = new Map<string, Small>();
  for (const [kind, i, sizes, has] of content['items'] as [string, number, number[], boolean][])
    items.set(`${kind}:${i}`, { value: take(sizes), gradient: has ? take(sizes) : null });
  return { step: Number(content['step']), formulas: content['formulas'] as string[], items };
}

const columnsOf = ({ value }: Small) => value[0]?.length ?? 0;

/** What a part shows below its name; null for nothing. A number alone is left out where it is of another step than the one beside it. */
function faceOf(part: Drawn, faces: Faces, late: boolean): { text: string; small: Small | undefined } | null {
  const op = part.kind === 'op' && part.ops.length === 1 ? (part.ops[0] as number) : -1;
  const leaf = (part.kind === 'leaf' || part.kind === 'chip') && part.leaves.length === 1 ? (part.leaves[0] as number) : -1;
  const text = op >= 0 ? (faces.formulas[op] ?? '') : '';
  const found = faces.items.get(op >= 0 ? `op:${op}` : `leaf:${leaf}`);
  const small =
    found && columnsOf(found) > 0 && (part.kind !== 'chip' || columnsOf(found) <= BESIDE) && !(late && found.value.flat().length === 1)
      ? found
      : undefined;
  return text || small ? { text, small } : null;
}

/** Whether the gradient stands below the value: in a chip two columns of each have no room beside each other. */
const isStacked = (small: Small, chip: boolean) => columnsOf(small) > (chip ? 1 : BESIDE);

/** Rows of numbers that a part has. */
function rowsOf(small: Small, chip: boolean): number {
  return isStacked(small, chip) && small.gradient ? small.value.length + small.gradient.length : small.value.length;
}

/** How high a part is without a formula and numbers. */
const heightOf = ({ kind }: Drawn) => (kind === 'chip' ? CHIP_HEIGHT : NODE_HEIGHT);

/** How much higher a part is for it; what is of another step says so in a line. */
const heightFor = ({ text, small }: NonNullable<ReturnType<typeof faceOf>>, chip: boolean, late: boolean) =>
  formulaHeight(text) + (small ? (rowsOf(small, chip) + Number(late)) * ROW + PAD : 0);

/** Give the parts that have a formula or numbers the room for them. */
function stretch(scene: Scene, faces: Faces, late: boolean): void {
  scene.parts.forEach((part, id) => {
    const face = faceOf(part, faces, late);
    const node = scene.input.nodes[id];
    if (face && node) node.height = (node.height ?? heightOf(part)) + heightFor(face, part.kind === 'chip', late);
  });
}

/** A matrix in brackets, the brackets in the colour of what it is. */
function matrix(rows: number[][], x: number, y: number, width: number, kind: 'value' | 'gradient'): SVGGElement {
  const height = rows.length * ROW;
  const bracket = (at: number, out: number) => `M${at + out} ${y}H${at}V${y + height - 2}H${at + out}`;
  const group = svg('g', { class: `gl-entries gl-of-${kind}` }, svg('path', { d: bracket(x, 4) + bracket(x + width, -4) }));
  // A number alone stands in the middle; those of a column end together.
  const one = rows.length === 1 && rows[0]?.length === 1;
  rows.forEach((row, r) => {
    const each = (width - 6) / row.length;
    row.forEach((number, c) => {
      const at = one ? x + width / 2 : x + (c + 1) * each;
      const look = `gl-mono ${one ? 'gl-middle' : 'gl-end'}`;
      const text = svg('text', { x: at.toFixed(1), y: y + r * ROW + 10, class: look }, plain(number));
      text.classList.toggle('gl-odd-text', special(number) !== null);
      set(text, 'data-value', full(number));
      group.append(text);
    });
  });
  return group;
}

function entries(small: Small, width: number, chip: boolean, top: number): SVGGElement[] {
  const left = chip ? CHIP_EDGE : 14;
  const room = width - left - (chip ? CHIP_EDGE : 10);
  const { value, gradient } = small;
  const of = (rows: number[][], kind: 'value' | 'gradient', x: number, y: number, most: number) =>
    matrix(rows, x, y, Math.min(most, room, EDGE + columnsOf(small) * COLUMN), kind);
  if (isStacked(small, chip))
    return [of(value, 'value', left, top, room), ...(gradient ? [of(gradient, 'gradient', left, top + value.length * ROW, room)] : [])];
  // The gradient's stand below the bar of its norm.
  const second = chip ? left + (room + CHIP_GAP) / 2 : GRADIENT_X;
  return [
    of(value, 'value', left, top, second - left - CHIP_GAP),
    ...(gradient ? [of(gradient, 'gradient', second, top, left + room - second)] : [])
  ];
}

/** A formula as wide as the node lets it be; smaller letters where it is long. */
function written(text: string, width: number, y: number): SVGForeignObjectElement {
  const math = formula(text);
  const room = html('div', { class: 'gl-nodeformula' }, math);
  const object = svg('foreignObject', { x: 14, y, width: width - 24, height: formulaHeight(text) }, room);
  requestAnimationFrame(() => {
    const [is, has] = [math, room].map(element => element?.getBoundingClientRect());
    const part = is && has ? Math.min(has.width / is.width, has.height / is.height) : 1;
    if (part < 1) room.style.fontSize = `${Math.max(8, 12 * part).toFixed(1)}px`;
  });
  return object;
}

/** Draw formulas and numbers onto a picture. */
function drawFaces(picture: SvgPicture, faces: Faces, late: boolean): void {
  picture.scene.parts.forEach((part, id) => {
    const face = faceOf(part, faces, late);
    const place = picture.places.get(id);
    const element = picture.elementOf(id);
    if (!face || !place || !element) return;
    const chip = part.kind === 'chip';
    const base = Math.max(heightOf(part), place.height - heightFor(face, chip, late));
    const top = base + formulaHeight(face.text);
    if (face.text && !element.querySelector('foreignObject')) element.append(written(face.text, place.width, base - 2));
    for (const old of element.querySelectorAll('.gl-entries')) old.remove();
    if (!face.small) return;
    element.append(...entries(face.small, place.width, chip, top));
    if (!late) return;
    for (const old of element.querySelectorAll('.gl-entries')) old.classList.add('gl-late');
    const y = top + rowsOf(face.small, chip) * ROW + 9;
    element.append(
      svg('g', { class: 'gl-entries' }, svg('text', { x: chip ? CHIP_EDGE + 6 : 14, y, class: 'gl-quiet' }, `step ${count(faces.step)}`))
    );
  });
}

/** Asks for the numbers of the step on show, and hands them to the graph. */
export class FaceReader {
  /** What is known of the structure on show; null where nothing is. */
  readonly faces = signal<(Faces & { key: string }) | null>(null);
  /** What of it asks for room: the same while only numbers change. */
  readonly form = computed(() => {
    const now = this.faces.value;
    return (
      now &&
      JSON.stringify([
        this.late.value,
        now.key,
        now.formulas,
        [...now.items].map(([name, one]) => [name, one.value.length, columnsOf(one), !one.gradient])
      ])
    );
  });
  /** Whether that is of another step than the one on show. */
  private readonly late = computed(() => {
    const [faces, step] = [this.faces.value, this.view.store.step.value];
    // A step that is not over has no number of its own yet.
    return !!faces && !!step && faces.step !== step.frame.step + Number(step.frame.open);
  });
  private readonly wish = signal('');
  private busy = false;
  private again = false;

  constructor(private readonly view: View) {
    const { store } = view;
    watch(view, () => {
      const step = store.step.value;
      void store.capture.value;
      if (step && this.wish.value === step.structure.key) this.ask(step.structure);
    });
  }

  /** Read the numbers of this structure from now on. */
  follow(structure: Structure): void {
    this.wish.value = structure.key;
  }

  private ask({ key }: Structure): void {
    if (this.busy) return void (this.again = true);
    this.busy = true;
    this.view.store
      .ask('small', { key })
      .then(answer => {
        if (!this.view.signal.aborted) this.faces.value = { ...facesOf(answer), key };
      })
      .catch(() => undefined) // the graph has changed: the next frame asks again
      .finally(() =>
        setTimeout(() => {
          this.busy = false;
          const structure = this.view.store.step.peek()?.structure;
          if (this.again && structure && structure.key === this.wish.peek()) this.ask(structure);
          this.again = false;
        }, REFRESH_MS)
      );
  }

  /** Give the parts of a graph their room, once it is known. */
  stretch(scene: Scene, { key }: Structure): void {
    void this.form.value;
    const faces = this.faces.peek();
    if (faces?.key === key) stretch(scene, faces, this.late.peek());
  }

  /** Draw them. */
  draw(picture: SvgPicture): void {
    const faces = this.faces.value;
    if (faces?.key === picture.structure.key) drawFaces(picture, faces, this.late.value);
  }
}

export const facesPart: Part = (view, into) => {
  const detail = new FaceReader(view);
  into.dispatchEvent(new CustomEvent('gradlab:faces', { detail }));
};
