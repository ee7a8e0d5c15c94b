import type { ISessionContext } from '@jupyterlab/apputils';
import type { Kernel } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

/** What a notebook's kernel is doing, as far as the dock needs to tell it apart. */
export type KernelState = 'none' | 'starting' | 'busy' | 'ready';

/** How the kernel that had a session lost it. */
export type Loss = 'restarted' | 'died';

// An idle kernel answers a new page sooner than this.
const PATIENCE_MS = 1500;
const SETTLING_MS = 250;

/** Watches the kernel of one notebook: is there one, can it answer, was its memory lost. */
export class KernelWatch implements IDisposable {
  constructor(private readonly context: ISessionContext) {
    context.kernelChanged.connect(this.onKernel, this);
    context.statusChanged.connect(this.onStatus, this);
    this.note(this.kernel?.status);
    this.expectAnswer();
    this.newest = this.id;
  }

  /** Emitted when the state may have changed. */
  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  /** Emitted when whatever lived in the kernel's memory is gone. */
  get lost(): ISignal<this, Loss> {
    return this.lostSignal;
  }

  get isDisposed(): boolean {
    return this.disposed;
  }

  /** The id of the running kernel, or null. */
  get id(): string | null {
    return this.kernel?.id ?? null;
  }

  /** The id of the kernel that runs or ran last, or null. */
  get latestId(): string | null {
    return this.newest;
  }

  /** The state of the kernel now. */
  get state(): KernelState {
    const kernel = this.kernel;
    if (!kernel) return this.stopped || this.context.isReady ? 'none' : 'starting';
    if (kernel.status === 'dead') return 'none';
    if (this.answered) return 'ready';
    return this.worksAlready ? 'busy' : 'starting';
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
    clearTimeout(this.settling);
    Signal.clearData(this);
  }

  private get kernel(): Kernel.IKernelConnection | null {
    return this.context.session?.kernel ?? null;
  }

  // A busy kernel does not answer a page that has just connected. What the server says of its state is no help: every
  // message that a thread beside the busy one answers makes it "idle" there.
  private get worksAlready(): boolean {
    if (!this.overdue || this.kernel?.connectionStatus !== 'connected') return false;
    for (const { kernel } of this.context.sessionManager.running()) {
      if (kernel?.id === this.id) return kernel?.execution_state !== 'starting';
    }
    return false;
  }

  private onKernel(): void {
    this.newest = this.id ?? this.newest;
    this.answered = false;
    clearTimeout(this.settling);
    this.stopped = this.kernel === null;
    this.expectAnswer();
    this.note(this.kernel?.status);
    this.changedSignal.emit();
  }

  private onStatus(_: unknown, status: Kernel.Status): void {
    if (status === 'restarting' || status === 'autorestarting') this.lostSignal.emit('restarted');
    if (status === 'dead') this.lostSignal.emit('died');
    this.note(status);
    this.changedSignal.emit();
  }

  // Once idle, a kernel has answered this page: the widgets it holds are back, or there are none. A kernel that was told
  // something beside a running cell calls itself idle too, and busy again at once.
  private note(status: Kernel.Status | undefined): void {
    if (status === 'busy') clearTimeout(this.settling);
    if (status !== 'idle' || this.answered) return;
    this.settling = setTimeout(() => {
      this.answered = true;
      this.changedSignal.emit();
    }, SETTLING_MS);
  }

  private expectAnswer(): void {
    clearTimeout(this.timer);
    this.overdue = false;
    this.timer = setTimeout(() => {
      this.overdue = true;
      this.changedSignal.emit();
    }, PATIENCE_MS);
  }

  private newest: string | null = null;
  private answered = false;
  private overdue = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private settling: ReturnType<typeof setTimeout> | undefined;
  private stopped = false;
  private disposed = false;
  private readonly changedSignal = new Signal<this, void>(this);
  private readonly lostSignal = new Signal<this, Loss>(this);
}
