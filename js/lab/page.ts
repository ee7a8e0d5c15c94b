import type { Goto } from '../panels/goto';
import type { CellRun } from '../protocol/messages';
import type { Request } from './request';
import type { Announcement } from './session';

/** What the extension does when a panel in the page calls. */
export interface Calls {
  /** A session came to life, or a loaded notebook asks who shows it; true when the dock does. */
  announced(announcement: Announcement): boolean;
  /** Something was selected in a panel, or nothing is any more. */
  selected(target: Goto): void;
  /** A kernel said what a run of a cell came to. */
  cellRan(kernelId: string, run: CellRun): void;
  /** What the page knows of a session changed. */
  statusChanged(kernelId: string): void;
  /** Somebody asked to switch tracing. */
  traceToggled(): void;
  /** A panel has something to say to its kernel; true when it is on its way. */
  commanded(request: Request): boolean;
}

/** Listens to the panels, which know nothing of JupyterLab and call through window events. */
export function listenToPage(calls: Calls): void {
  window.addEventListener('gradlab:model', event => {
    const { detail } = event as CustomEvent<Announcement>;
    if (calls.announced(detail)) event.preventDefault();
  });
  window.addEventListener('gradlab:command', event => {
    if (calls.commanded((event as CustomEvent<Request>).detail)) event.preventDefault();
  });
  window.addEventListener('gradlab:goto', event => calls.selected((event as CustomEvent<Goto>).detail));
  window.addEventListener('gradlab:cell', event => {
    const { kernel_id, run } = (event as CustomEvent<{ kernel_id: string; run: CellRun }>).detail;
    calls.cellRan(kernel_id, run);
  });
  window.addEventListener('gradlab:status', event => {
    calls.statusChanged((event as CustomEvent<{ kernel_id: string }>).detail.kernel_id);
  });
  window.addEventListener('gradlab:trace-toggle', () => calls.traceToggled());
}
