import type { NotebookPanel } from '@jupyterlab/notebook';
import { MimeModel } from '@jupyterlab/rendermime';
import { type ISignal, Signal } from '@lumino/signaling';
import { Panel, type Widget } from '@lumino/widgets';
import { emptyNote, lossNote } from './empty';
import type { Scene } from './follow';
import { gradlabIcon } from './icon';
import { sessionOf } from './session';

const VIEW = 'application/vnd.jupyter.widget-view+json';

/** The dock: one panel at the right that shows the session of the notebook in front. */
export class Dock extends Panel {
  constructor() {
    super();
    this.id = 'gradlab-dock';
    this.addClass('gradlab-dock');
    this.title.icon = gradlabIcon;
    this.title.caption = 'GradLab inspector';
    this.title.closable = true;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'GradLab inspector');
  }

  /** Emitted with the model id when the kernel closes the session that is shown. */
  get sessionClosed(): ISignal<this, string> {
    return this.sessionClosedSignal;
  }

  /** Shows the scene. What is already up stays up, so that nothing flickers and no focus is lost. */
  present(scene: Scene): void {
    this.presentNote(scene);
    this.presentView(scene);
    this.toggleClass('gradlab-mod-lost', scene.kind === 'view' && scene.loss !== null);
  }

  override dispose(): void {
    if (this.isDisposed) return;
    this.viewKey = '';
    Signal.clearData(this);
    super.dispose();
  }

  private presentNote(scene: Scene): void {
    const key = scene.kind === 'empty' ? `${scene.notebook?.id} ${scene.why}` : `${scene.notebook.id} ${scene.loss}`;
    if (key === this.noteKey) return;
    this.noteKey = key;
    this.note?.dispose();
    this.note = noteOf(scene);
    if (this.note) this.insertWidget(0, this.note);
  }

  private presentView(scene: Scene): void {
    const key = scene.kind === 'view' ? `${scene.notebook.id} ${scene.modelId}` : '';
    if (key === this.viewKey) return;
    this.viewKey = key;
    this.view?.dispose();
    this.view = null;
    if (scene.kind === 'view') void this.render(key, scene.notebook, scene.modelId);
  }

  private async render(key: string, notebook: NotebookPanel, modelId: string): Promise<void> {
    // The notebook's own rendermime carries the factory that is bound to its widget manager.
    const view = notebook.content.rendermime.createRenderer(VIEW);
    view.addClass('gradlab-dock-view');
    this.view = view;
    this.addWidget(view);
    const data = { [VIEW]: { version_major: 2, version_minor: 0, model_id: modelId } };
    try {
      await view.renderModel(new MimeModel({ trusted: true, data }));
    } catch (error) {
      // Another notebook came to the front before this one was drawn.
      if (view.isDisposed) return;
      throw error;
    }
    if (view.isDisposed) return;
    const inner = view instanceof Panel ? view.widgets[0] : undefined;
    inner?.disposed.connect(() => {
      if (this.viewKey === key) this.sessionClosedSignal.emit(modelId);
    }, this);
  }

  private note: Widget | null = null;
  private noteKey: string | null = null;
  private view: Widget | null = null;
  private viewKey = '';
  private readonly sessionClosedSignal = new Signal<this, string>(this);
}

function noteOf(scene: Scene): Widget | null {
  if (scene.kind === 'empty') return emptyNote(scene.why, scene.notebook);
  if (scene.loss === null) return null;
  return lossNote(scene.loss, sessionOf(scene.modelId)?.lastStep() ?? null, scene.notebook);
}
