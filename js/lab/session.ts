/** The part of a session's store which the extension reads; the panels fill the registry. */
export interface Session {
  /** Sends a message to the kernel. */
  send(message: { kind: 'trace'; on: boolean }): void;
  /** Whether the kernel traces now, as far as the page knows. */
  readonly tracing: boolean;
  /** The last step the page has seen, or null before the first one. */
  readonly lastStep: number | null;
}

/** What a session's model says about itself when it comes to life in this page. */
export interface Announcement {
  model_id: string;
  kernel_id: string;
}

interface Registry {
  sessions?: Record<string, unknown> | Map<string, unknown>;
}

const KEY = Symbol.for('gradlab');

/** The store of the session with this model id, or undefined while the page has none. */
export function sessionOf(modelId: string): Session | undefined {
  const sessions = (globalThis as { [KEY]?: Registry })[KEY]?.sessions;
  const found = sessions instanceof Map ? sessions.get(modelId) : sessions?.[modelId];
  return found as Session | undefined;
}
