import type { PageSession, Registry } from '../panels/registry';

/** What a session's model says about itself when it comes to life in this page. */
export interface Announcement {
  model_id: string;
  kernel_id: string;
}

type Page = Record<symbol, Registry | undefined>;

// The panels keep their sessions here: they come from the kernel and share no module with the extension.
const KEY = Symbol.for('gradlab');

/** The session with this model id, or undefined while the page has none. */
export function sessionOf(modelId: string): PageSession | undefined {
  return (globalThis as unknown as Page)[KEY]?.sessions[modelId];
}
