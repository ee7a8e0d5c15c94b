/** What the pointer reads over the graph: a part, or the header of a module, in words. */

import { count, duration, full, plain, shape } from '../draw/format';
import { whole } from '../draw/text';
import type { Leaf } from '../protocol/messages';
import type { SceneBox } from './fold';
import type { Hit, Picture } from './picture';
import type { TipText } from './tip';
import { madeAt, timeOf, type Part } from './view';

function numbersOfStretch(picture: Picture, box: SceneBox): [string, string][] {
  const range = (cells: Float64Array): string => {
    const known = Array.from(cells).filter(x => !Number.isNaN(x));
    const odd = known.includes(Infinity) ? ', some not finite' : '';
    const finite = known.filter(Number.isFinite);
    return finite.length === 0 ? 'unknown' : `${plain(Math.min(...finite))} to ${plain(Math.max(...finite))}${odd}`;
  };
  const [values, gradients] = box.unit.kind === 'repeat' ? picture.heat(box) : [new Float64Array(), new Float64Array()];
  if (values.length > 0)
    return [
      ['‖value‖', range(values)],
      ['‖gradient‖', range(gradients)],
      ['shown', `${count(box.index + 1)} of ${count(box.unit.blocks.length)}`]
    ];
  return [];
}

/** The words for the pointer over the header of a module. */
function describeBox(picture: Picture, b: number): TipText | null {
  const box = picture.scene.boxes[b];
  const module = picture.structure.modules[box?.unit.module ?? -1];
  const path = module?.path ?? '';
  const [title, note] = box ? picture.boxText(b) : ['', ''];
  if (box && !module) return { title, lines: [['holds', note], ...numbersOfStretch(picture, box)] };
  return module ? { title: whole(path || module.name), lines: [['module', module.repr.slice(0, 400)]] } : null;
}

/** The words for the pointer over a part. */
function describePart(picture: Picture, id: number): TipText | null {
  const part = picture.scene.parts[id];
  if (!part) return null;
  const [value, gradient] = picture.numbers(part, id);
  const lines: [string, string][] = [];
  const op = part.ops.length === 1 ? picture.structure.ops[part.ops[0] as number] : undefined;
  const leaf = part.leaves.length === 1 ? (picture.structure.leaves[part.leaves[0] as number] as Leaf) : undefined;
  const of = op ?? leaf;
  if (of && (part.grad || !op?.error)) lines.push(['shape', `${shape(of.shape)} ${of.dtype}`]);
  if (value !== null) lines.push(['‖value‖', full(value)]);
  if (gradient !== null) lines.push(['‖gradient‖', full(gradient)]);
  else if (part.kind === 'op' || part.kind === 'leaf') lines.push(['gradient', part.grad ? 'not yet' : 'not wanted']);
  if (op) {
    const where = madeAt(picture.structure, op);
    if (where) lines.push(['made at', where]);
    const module = op.module === null ? undefined : picture.structure.modules[op.module];
    if (module) lines.push(['module', `${whole(module.path || module.name)} ${module.repr.slice(0, 300)}`]);
    const scalars = op.inputs.filter(([from]) => from === 'scalar').map(([, text]) => String(text));
    if (scalars.length > 0) lines.push(['numbers', scalars.join(', ')]);
    if (op.error) lines.push(['error', op.error]);
    if (picture.frame) {
      const [forward, backward] = timeOf(picture.frame, part.ops);
      if (forward > 0) lines.push(['time', `${duration(forward)}${backward > 0 ? ` · back ${duration(backward)}` : ''}`]);
    }
  }
  for (const { severity, title } of picture.look.found.get(id) ?? []) lines.push([severity, title]);
  if (part.kind === 'module') lines.push(['holds', part.note]);
  if (part.leaves.length > 1)
    for (const j of part.leaves.slice(0, 12))
      lines.push([whole(picture.structure.leaves[j]?.name ?? ''), shape(picture.structure.leaves[j]?.shape ?? [])]);
  return { title: whole(leaf?.name ?? part.title), lines };
}

/** Words for what is under the pointer; null where nothing is. */
function describe(picture: Picture, { part, box }: Hit): TipText | null {
  return part >= 0 ? describePart(picture, part) : box >= 0 ? describeBox(picture, box) : null;
}

export type Describe = typeof describe;

export const wordsPart: Part = (_, into) => {
  into.dispatchEvent(new CustomEvent('gradlab:words', { detail: describe }));
};
