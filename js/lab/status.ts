import type { IStatusBar } from '@jupyterlab/statusbar';
import { Widget } from '@lumino/widgets';
import type { PageStatus } from '../panels/registry';

/** How tracing stands in the notebook in front; null without a session. */
export function statusText(status: PageStatus | null): string {
  if (!status) return '';
  if (!status.tracing) return 'gradlab: tracing off';
  const share = status.share === null ? 'on' : `${(100 * status.share).toFixed(status.share < 0.9995 ? 1 : 0)} % of step`;
  return `gradlab: tracing ${share}`;
}

/** The item of the status bar; a click opens the inspector. */
export class StatusItem extends Widget {
  constructor(open: () => void) {
    super();
    this.addClass('gradlab-status');
    this.button.type = 'button';
    this.button.title = 'Open the inspector';
    this.button.onclick = open;
    this.node.append(this.button);
    this.present(null);
  }

  /** Says how tracing stands. */
  present(status: PageStatus | null): void {
    const text = statusText(status);
    if (this.button.textContent !== text) this.button.textContent = text;
    this.setHidden(text === '');
  }

  /** Adds the item where there is a status bar. */
  addTo(bar: IStatusBar | null): void {
    // At the left, after the kernel's state.
    bar?.registerStatusItem('gradlab:tracing', { item: this, align: 'left', rank: 5 });
  }

  private readonly button = document.createElement('button');
}
