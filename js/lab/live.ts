import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Follower } from './follow';

const LIVE = 'gradlab-live';

/** Marks the notebooks whose kernel has a session: there the pictures beside the panels are hidden, see js/style/index.css. */
export function markLive(notebooks: INotebookTracker, follower: Follower): void {
  const mark = (panel: NotebookPanel): void => void panel.node.classList.toggle(LIVE, follower.lives(panel));
  const all = (): void => notebooks.forEach(mark);
  follower.changed.connect(all);
  all();
}
