/** Questions to the kernel that wait for their answers. */

import type { Buffer } from '../protocol/decode';
import type { AnswerHeader, Ask } from '../protocol/messages';

/** What the kernel answered; numbers in `content` are wire numbers (see `toNumber`), arrays stand in `buffers`. */
export interface Answer {
  content: Record<string, unknown>;
  buffers: readonly Buffer[];
}

interface Waiting {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
  pending?: () => void;
}

/** The open questions of one session. */
export class Asking {
  private readonly waiting = new Map<string, Waiting>();
  private count = 0;
  private over = false;

  constructor(
    private readonly page: string,
    private readonly send: (message: Ask) => void
  ) {}

  /** Ask; `pending` is called where the answer has to wait for the end of a step. */
  ask(what: string, args: object, pending?: () => void): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const id = `${this.page}.${++this.count}`;
      this.waiting.set(id, { resolve, reject, pending });
      if (this.over) this.end();
      else this.send({ kind: 'ask', id, what, args });
    });
  }

  /** Take an answer; one for another page is passed over. */
  take(answer: AnswerHeader, buffers: readonly Buffer[]): void {
    const asked = this.waiting.get(answer.id);
    if (answer.pending) return asked?.pending?.();
    this.waiting.delete(answer.id);
    if (answer.ok) asked?.resolve({ content: answer, buffers });
    else asked?.reject(new Error(answer.error));
  }

  /** The session is over: nothing that was asked will be answered. */
  end(): void {
    this.over = true;
    for (const { reject } of this.waiting.values()) reject(new Error('The session is over.'));
    this.waiting.clear();
  }
}
