import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal } from '@lumino/signaling';
import { expect, test } from 'vitest';
import { Preferences } from '../lab/preferences';

/** Settings that take a moment to be saved, as those on a server do. */
class Slow {
  readonly changed = new Signal<this, void>(this);
  readonly saved: Record<string, boolean> = {};
  get(name: string) {
    return { composite: this.saved[name] };
  }
  async set(name: string, on: boolean) {
    await new Promise(done => setTimeout(done, 5));
    this.saved[name] = on;
    this.changed.emit();
  }
}

test('choices made faster than they are saved all count', async () => {
  const slow = new Slow();
  const preferences = new Preferences();
  await preferences.load({ load: async () => slow } as unknown as ISettingRegistry);
  const both = () => [preferences.get('hints'), preferences.get('footers')];
  preferences.toggle('hints');
  preferences.toggle('footers');
  expect(both()).toEqual([false, false]);
  while (slow.saved.hints !== false) await new Promise(done => setTimeout(done, 1));
  expect(both()).toEqual([false, false]); // the first is saved, the second is not yet
  preferences.toggle('footers');
  preferences.toggle('hints');
  await new Promise(done => setTimeout(done, 50));
  expect(both()).toEqual([true, true]);
  expect(slow.saved).toEqual({ hints: true, footers: true });
  await slow.set('follow', false); // in another window
  expect(preferences.get('follow')).toBe(false);
});
