/** What `%load_ext gradlab` leaves in its cell: one line where the inspector is docked, else the inspector. */

/** Tell the page, where the JupyterLab extension may listen. */
export function tell(what: 'cell' | 'goto' | 'status', detail: object): void {
  window.dispatchEvent(new CustomEvent(`gradlab:${what}`, { detail }));
}

/** Say that a session is in this page; true when somebody (the JupyterLab extension) shows it. */
export function announce(modelId: string, kernelId: string): boolean {
  const detail = { model_id: modelId, kernel_id: kernelId };
  return !window.dispatchEvent(new CustomEvent('gradlab:model', { detail, cancelable: true }));
}
