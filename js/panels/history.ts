/** The frames that the page has received, for a reader who goes back in time: at most 16 MB of them. */

import type { Frame, Spans } from '../protocol/decode';

const HISTORY_BYTES = 16e6;
/** What a frame takes beside its numbers. */
const OVERHEAD = 600;
const NOTHING: Spans = { first: new Int32Array(0), last: new Int32Array(0), data: new Float32Array(0), width: 0 };

function size(frame: Frame): number {
  const tables = frame.optimizers.reduce((sum, o) => sum + o.values.byteLength + 8 * o.rows.length, 0);
  return OVERHEAD + frame.ops.byteLength + frame.op_has.length + frame.leaves.byteLength + frame.leaf_has.length + tables;
}

/** Frames by step. Those that it keeps when it is full stay spread over the whole run. */
export class History {
  private frames = new Map<number, Frame>();
  bytes = 0;

  constructor(private readonly most = HISTORY_BYTES) {}

  /** Keep the frame of a complete step. Its arrays are copied: they are parts of a larger message. */
  keep(frame: Frame): void {
    if (frame.open || frame.step === 0) return;
    const known = this.frames.get(frame.step);
    if (known) this.bytes -= size(known);
    const kept: Frame = {
      ...frame,
      columns: null,
      spans: NOTHING,
      optimizers: frame.optimizers.map(o => ({ ...o, values: o.values.slice() })),
      ops: frame.ops.slice(),
      op_has: frame.op_has.slice(),
      leaves: frame.leaves.slice(),
      leaf_has: frame.leaf_has.slice()
    };
    this.frames.delete(frame.step);
    this.frames.set(frame.step, kept);
    this.bytes += size(kept);
    while (this.bytes > this.most && this.frames.size > 2) this.thin();
  }

  /** The frame of a step, or of the newest one before it; of the oldest where all are later, null where there is none. */
  at(step: number): Frame | null {
    let best: Frame | null = null;
    for (const frame of this.frames.values()) {
      if (frame.step <= step ? !best || best.step > step || frame.step > best.step : !best) best = frame;
    }
    return best;
  }

  clear(): void {
    this.frames.clear();
    this.bytes = 0;
  }

  /** Let the frame go whose neighbours stand closest together; the first and the newest stay. */
  private thin(): void {
    const steps = [...this.frames.keys()];
    let worst = 1;
    let least = Infinity;
    for (let i = 1; i < steps.length - 1; i++) {
      const gap = (steps[i + 1] as number) - (steps[i - 1] as number);
      if (gap < least) [worst, least] = [i, gap];
    }
    const step = steps[worst] as number;
    this.bytes -= size(this.frames.get(step) as Frame);
    this.frames.delete(step);
  }
}
