import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import { KernelWatch, type KernelState, type Loss } from './kernel';
import { type Announcement, sessionOf } from './session';

/** What the dock shows: a session's view, or the reason why there is none. */
export type Scene =
  | { kind: 'view'; notebook: NotebookPanel; modelId: string; loss: Loss | null }
  | { kind: 'empty'; notebook: NotebookPanel | null; why: Exclude<KernelState, 'ready'> | 'off' | 'no-notebook' };

interface Held {
  modelId: string;
  loss: Loss | null;
}

/** Follows the notebook in front and knows which session lives in its kernel. */
export class Follower implements IDisposable {
  constructor(private readonly tracker: INotebookTracker) {
    tracker.forEach(panel => this.watch(panel));
    tracker.widgetAdded.connect(this.onAdded, this);
    tracker.currentChanged.connect(this.emit, this);
  }

  /** Emitted when the scene may have changed. */
  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** What the notebook in front has to show. */
  get scene(): Scene {
    const notebook = this.tracker.currentWidget;
    const kernel = notebook && this.watches.get(notebook);
    if (!notebook || !kernel) return { kind: 'empty', notebook: null, why: 'no-notebook' };
    const held = kernel.id === null ? undefined : this.held.get(kernel.id);
    if (held) return { kind: 'view', notebook, ...held };
    return { kind: 'empty', notebook, why: kernel.state === 'ready' ? 'off' : kernel.state };
  }

  /** The id of the living session of the notebook in front, or null. */
  get modelId(): string | null {
    const scene = this.scene;
    return scene.kind === 'view' && scene.loss === null ? scene.modelId : null;
  }

  /** The id of the session that lives in a kernel, or null. */
  modelOf(kernelId: string): string | null {
    const held = this.held.get(kernelId);
    return held && held.loss === null ? held.modelId : null;
  }

  /** Whether the kernel of a notebook has a session. */
  lives(panel: NotebookPanel): boolean {
    const id = this.watches.get(panel)?.id ?? null;
    return id !== null && this.held.get(id)?.loss === null;
  }

  /** Takes a session that came to life; says whether a notebook of this page has its kernel. */
  announce({ model_id: modelId, kernel_id: kernelId }: Announcement): boolean {
    // Outputs of an earlier session announce it again when they are drawn again.
    if (!this.gone.has(modelId) && this.held.get(kernelId)?.modelId !== modelId) {
      this.end(kernelId);
      this.held.set(kernelId, { modelId, loss: null });
      this.emit();
    }
    return this.tracker.find(panel => this.watches.get(panel)?.id === kernelId) !== undefined;
  }

  /** Forgets a session that was closed. */
  forget(modelId: string): void {
    this.gone.add(modelId);
    for (const [kernelId, held] of this.held) if (held.modelId === modelId) this.held.delete(kernelId);
    this.emit();
  }

  dispose(): void {
    this.disposed = true;
    for (const watch of this.watches.values()) watch.dispose();
    this.watches.clear();
    Signal.clearData(this);
  }

  private onAdded(_: unknown, panel: NotebookPanel): void {
    this.watch(panel);
  }

  private watch(panel: NotebookPanel): void {
    const watch = new KernelWatch(panel.sessionContext);
    this.watches.set(panel, watch);
    watch.changed.connect(this.emit, this);
    watch.lost.connect(this.onLost, this);
    panel.disposed.connect(this.unwatch, this);
  }

  private unwatch(panel: NotebookPanel): void {
    const watch = this.watches.get(panel);
    watch?.dispose();
    this.watches.delete(panel);
    const kernel = watch?.latestId ?? null;
    // A notebook that is opened again gets its session anew, from the kernel.
    if (kernel !== null && ![...this.watches.values()].some(other => other.latestId === kernel)) this.end(kernel);
    this.emit();
  }

  /** Let the page forget the session of a kernel: its widgets go with their notebook, and it would stay. */
  private end(kernelId: string): void {
    const held = this.held.get(kernelId);
    this.held.delete(kernelId);
    if (held) sessionOf(held.modelId)?.end();
  }

  private onLost(watch: KernelWatch, loss: Loss): void {
    const held = watch.id === null ? undefined : this.held.get(watch.id);
    if (!held) return;
    held.loss = loss;
    this.gone.add(held.modelId);
  }

  private emit(): void {
    this.changedSignal.emit();
  }

  private readonly watches = new Map<NotebookPanel, KernelWatch>();
  private readonly gone = new Set<string>();
  private readonly held = new Map<string, Held>();
  private disposed = false;
  private readonly changedSignal = new Signal<this, void>(this);
}
