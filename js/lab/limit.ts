/** Calls `run` for everything that was asked for, at most once in `every` milliseconds; the first time at once. */
export class Limiter<T> {
  constructor(
    private readonly run: (things: ReadonlySet<T>) => void,
    private readonly every: number
  ) {}

  /** Asks for these. */
  ask(things: Iterable<T>): void {
    for (const thing of things) this.waiting.add(thing);
    if (this.timer !== undefined || this.waiting.size === 0) return;
    const rest = this.last + this.every - performance.now();
    this.timer = setTimeout(() => this.flush(), Math.max(0, rest));
  }

  /** Forgets what was asked for. */
  dispose(): void {
    clearTimeout(this.timer);
    this.waiting.clear();
  }

  private flush(): void {
    this.timer = undefined;
    this.last = performance.now();
    const things = new Set(this.waiting);
    this.waiting.clear();
    this.run(things);
  }

  private last = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly waiting = new Set<T>();
}
