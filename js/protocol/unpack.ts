/** A long structure as it travels: rows that many ops share, and columns of integers; see `gradlab/notebook/packed.py`. */

import type { Input, Leaf, Module, Op, Structure } from './messages';

/** What stands in the message in place of `ops`, `leaves` and `modules`. */
export interface Packed extends Omit<Structure, 'ops' | 'leaves' | 'modules'> {
  faces: { ops: Omit<Op, 'module' | 'inputs'>[]; leaves: Leaf[]; modules: Omit<Module, 'parent' | 'call'>[] };
  texts: string[];
}

const SOURCES = ['op', 'leaf', 'scalar', 'past'] as const;

/** The structure as the panels read it. */
export function unpack({ faces, texts, ...rest }: Packed, columns: readonly Int32Array[]): Structure {
  const [opFace, opModule, counts, inputs, leafFace, moduleFace, parents, calls] = columns as Int32Array[];
  const orNone = (n: number | undefined) => (n === undefined || n < 0 ? null : n);
  const input = (code: number): Input => {
    const source = SOURCES[code & 3] as (typeof SOURCES)[number];
    const number = code >> 2;
    return (source === 'op' || source === 'leaf' ? [source, number] : [source, texts[number]]) as Input;
  };
  let at = 0;
  const list = <T, R>(face: Int32Array | undefined, rows: readonly T[], own: (i: number) => R) =>
    Array.from(face ?? [], (f, i) => ({ ...(rows[f] as T), ...own(i) }));
  return {
    ...rest,
    ops: list(opFace, faces.ops, i => ({
      module: orNone(opModule?.[i]),
      inputs: Array.from(inputs?.subarray(at, (at += counts?.[i] ?? 0)) ?? [], input)
    })),
    leaves: list(leafFace, faces.leaves, () => ({})),
    modules: list(moduleFace, faces.modules, i => ({ parent: orNone(parents?.[i]), call: calls?.[i] ?? 1 }))
  };
}

/** Messages that were too long for one, put together again. */
export class Parts {
  private got: Uint8Array[] = [];

  /** Take one part in; with the last one the whole message and its buffers. */
  add({ part, parts, sizes }: Part, bytes: Uint8Array): { message: unknown; buffers: ArrayBuffer[] } | null {
    if (part === 0) this.got = [];
    this.got.push(bytes);
    if (this.got.length !== parts || part !== parts - 1) return null;
    const blob = new Uint8Array(this.got.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of this.got.splice(0)) {
      blob.set(piece, at);
      at += piece.length;
    }
    at = 0;
    const [text, ...buffers] = sizes.map(size => blob.slice(at, (at += size)).buffer);
    return { message: JSON.parse(new TextDecoder().decode(text)), buffers };
  }
}

/** A piece of a message that was too long for one. */
export interface Part {
  kind: 'part';
  part: number;
  parts: number;
  sizes: number[];
}
