import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { type ISignal, Signal } from '@lumino/signaling';

/** What a user can switch; the names are those of js/schema/dock.json. */
export type Preference = 'hints' | 'footers' | 'follow';

const PLUGIN = 'gradlab:dock';

/** The user's choices: from JupyterLab's settings, or for this page alone where there are none. */
export class Preferences {
  /** Emitted when one of them may have changed. */
  get changed(): ISignal<this, void> {
    return this.changedSignal;
  }

  /** Takes the settings of JupyterLab. */
  async load(registry: ISettingRegistry | null): Promise<void> {
    if (!registry) return;
    const settings = await registry.load(PLUGIN);
    this.read = () => {
      this.missed = this.pending > 0; // what is saved now is older than what was chosen
      if (this.missed) return;
      for (const name of Object.keys(this.values) as Preference[]) this.values[name] = settings.get(name).composite !== false;
      this.changedSignal.emit();
    };
    settings.changed.connect(this.read);
    this.settings = settings;
    this.read();
  }

  /** Whether it is on. */
  get(name: Preference): boolean {
    return this.values[name];
  }

  /** Switches it. */
  toggle(name: Preference): void {
    const on = !this.values[name];
    this.values[name] = on;
    this.changedSignal.emit();
    const { settings } = this;
    // One after the other: of two that are saved at once, JupyterLab may keep one.
    if (!settings) return;
    this.pending++;
    this.saving = this.saving
      .then(() => settings.set(name, on))
      .catch(console.warn)
      .then(() => {
        if (--this.pending === 0 && this.missed) this.read();
      });
  }

  private readonly values: Record<Preference, boolean> = { hints: true, footers: true, follow: true };
  private saving: Promise<unknown> = Promise.resolve();
  private pending = 0; // choices that are not saved yet
  private missed = false;
  private read = () => {};
  private settings: ISettingRegistry.ISettings | null = null;
  private readonly changedSignal = new Signal<this, void>(this);
}
