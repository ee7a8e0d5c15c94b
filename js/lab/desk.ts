import type { WidgetTracker } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';
import type { PageSession } from '../panels/registry';
import type { Actions } from './commands';
import { loads } from './empty';
import type { Follower } from './follow';
import { type Announcement, sessionOf } from './session';
import { Dock } from './sidebar';
import { makeReadable } from './width';

/** The part of an application's shell which the dock needs. */
export interface Shell {
  add(widget: Widget, area: string, options: { rank: number }): void;
  activateById(id: string): void;
}

// Per browser tab, so that a reload does not reopen what its user closed.
const docked = (modelId: string): string => `gradlab:docked:${modelId}`;

/** Keeps the one dock: opens it, fills it with what the follower sees, and acts on the session it shows. */
export class Desk implements Actions, IDisposable {
  constructor(
    private readonly shell: Shell,
    private readonly follower: Follower,
    private readonly docks: WidgetTracker<Dock>
  ) {
    follower.changed.connect(this.refresh, this);
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  get tracing(): boolean {
    return this.session?.tracing() ?? false;
  }

  open(): void {
    const dock = this.current();
    const fresh = !dock.isAttached;
    if (fresh) this.shell.add(dock, 'right', { rank: 500 });
    this.shell.activateById(dock.id);
    // The column has its size only after the layout has run.
    if (fresh) requestAnimationFrame(() => dock.isDisposed || makeReadable(dock));
  }

  /** Makes the dock for a layout that is being restored, which places it by itself. */
  restore(): void {
    this.current();
  }

  toggleTracing(): void {
    const { session } = this;
    if (session) session.send({ kind: 'trace', on: !session.tracing() });
    else this.open();
  }

  /** Takes a session that came to life; says whether it belongs to a notebook here. */
  take(announcement: Announcement): boolean {
    return this.follower.announce(announcement);
  }

  /** Opens the dock when a cell that loads gradlab has run, also where the session was there before. */
  cellRan(notebook: NotebookPanel['content'], source: string): void {
    const scene = this.follower.scene;
    if (scene.kind === 'view' && scene.notebook.content === notebook && loads(source)) this.open();
  }

  dispose(): void {
    this.disposed = true;
    this.dock?.dispose();
    Signal.clearData(this);
  }

  private get session(): PageSession | undefined {
    const id = this.follower.modelId;
    return id === null ? undefined : sessionOf(id);
  }

  private current(): Dock {
    if (this.dock && !this.dock.isDisposed) return this.dock;
    this.dock = new Dock();
    this.dock.sessionClosed.connect((_, modelId) => this.follower.forget(modelId), this);
    void this.docks.add(this.dock);
    this.refresh();
    return this.dock;
  }

  // A new session opens the dock by itself, once its notebook is in front.
  private openOnce(modelId: string): void {
    const key = docked(modelId);
    if (sessionStorage.getItem(key) !== null) return;
    sessionStorage.setItem(key, '');
    this.open();
  }

  private refresh(): void {
    const { scene } = this.follower;
    if (scene.kind === 'view' && scene.loss === null) this.openOnce(scene.modelId);
    if (this.dock && !this.dock.isDisposed) this.dock.present(scene);
  }

  private dock: Dock | null = null;
  private disposed = false;
}
