import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { KernelMessage } from '@jupyterlab/services';

/** What a panel wants its kernel to hear. */
export interface Request {
  model_id: string;
  kernel_id: string;
  message: object;
}

const kernelOf = (panel: NotebookPanel) => panel.sessionContext.session?.kernel;

/** Sends a request over the control channel, which the kernel serves while a cell runs; false where no notebook here has it. */
export function sendRequest(notebooks: INotebookTracker, { kernel_id, ...content }: Request): boolean {
  const found = notebooks.find(panel => kernelOf(panel)?.id === kernel_id);
  return found !== undefined && send(found, content);
}

/** Lets a paused training go on, from a page that was loaded again and does not know its session. */
export function resume(notebook: NotebookPanel): boolean {
  return send(notebook, { message: { kind: 'ask', id: '', what: 'resume', args: {} } });
}

function send(notebook: NotebookPanel, content: object): boolean {
  const kernel = kernelOf(notebook);
  if (!kernel) return false;
  const message = KernelMessage.createMessage({
    msgType: 'gradlab_request' as 'debug_request',
    channel: 'control',
    session: kernel.clientId,
    username: kernel.username,
    content: content as unknown as KernelMessage.IDebugRequestMsg['content']
  });
  try {
    // The answer comes over the widget; the reply says only that the kernel heard.
    kernel.sendControlMessage(message, true, true).done.catch(() => undefined);
  } catch {
    return false;
  }
  return true;
}
