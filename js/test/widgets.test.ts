import { describe, expect, it, vi } from 'vitest';
import { digitsRun } from '../gallery/digits';
import type { Sent } from '../gallery/sketch';
import panel from '../panels/panel';
import { registry } from '../panels/registry';
import session from '../panels/session';
import { PAGE } from '../panels/store';
import type { Outgoing } from '../protocol/messages';
import { end, onPage, root } from './page';

onPage();

/** As much of anywidget's model as the widgets use. */
function fakeModel(traits: Record<string, unknown>) {
  const listeners = new Map<string, (...args: unknown[]) => void>();
  const sent: Outgoing[] = [];
  return {
    sent,
    say: (sentMessage: Sent) =>
      listeners.get('msg:custom')?.(
        sentMessage.message,
        sentMessage.buffers.map(b => new DataView(b))
      ),
    get: (name: string) => traits[name],
    set: (name: string, x: unknown) => void (traits[name] = x),
    save_changes: vi.fn(),
    on: (name: string, run: (...args: unknown[]) => void) => void listeners.set(name, run),
    off: (name: string) => void listeners.delete(name),
    send: (message: Outgoing) => void sent.push(message),
    traits
  };
}

describe('the widgets', () => {
  const start = () => {
    const model = fakeModel({ kernel_id: 'k', model_ref: 'm', selected: '' });
    const stop = session.initialize({ model } as never);
    return { model, stop };
  };

  it('a session says hello, is found in the page, and draws the inspector', () => {
    const heard: unknown[] = [];
    window.addEventListener('gradlab:model', event => heard.push((event as CustomEvent).detail), { signal: end.signal });
    const { model, stop } = start();
    expect(model.sent).toEqual([{ kind: 'hello', page: PAGE, visible: false }, expect.objectContaining({ kind: 'ask', what: 'gate' })]);
    expect(heard).toEqual([{ model_id: 'm', kernel_id: 'k' }]);
    const close = session.render({ model, el: root } as never);
    const drawn = [...root.querySelectorAll<HTMLElement>('[data-panel]')].map(panel => panel.dataset.panel);
    expect(drawn).toEqual(expect.arrayContaining(['inspector', 'graph', 'shapes', 'gradients']));
    expect(model.sent.at(-1)).toEqual({ kind: 'visible', page: PAGE, visible: true });
    close();
    expect(model.sent.at(-1)).toEqual({ kind: 'visible', page: PAGE, visible: false });
    stop();
    expect(registry().sessions.m).toBeUndefined();
  });

  it('a session shares its selection with Python', () => {
    const { model, stop } = start();
    registry().sessions.m!.draw('graph', root, end.signal);
    vi.stubGlobal('requestAnimationFrame', (run: () => void) => run());
    vi.useFakeTimers();
    digitsRun().forEach(model.say);
    vi.runAllTimers();
    vi.useRealTimers();
    root.querySelector('[data-op="1"]')!.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }));
    expect(model.traits.selected).toBe('op:1');
    expect(model.save_changes).toHaveBeenCalled();
    expect([registry().sessions.m!.tracing(), registry().sessions.m!.lastStep()]).toEqual([true, 138]);
    stop();
  });

  it('a panel waits for its session and draws through it', () => {
    vi.useFakeTimers();
    const close = panel.render({ model: fakeModel({ panel: 'shapes', session: 'm' }), el: root } as never);
    expect(root.childElementCount).toBe(0);
    const { stop } = start();
    vi.advanceTimersByTime(200);
    expect(root.querySelector('[data-panel="shapes"]')).not.toBeNull();
    close();
    expect(root.childElementCount).toBe(0);
    stop();
    vi.useRealTimers();
  });

  it('a panel without a session says how to get one', () => {
    vi.useFakeTimers();
    const close = panel.render({ model: fakeModel({ panel: 'shapes', session: 'gone' }), el: root } as never);
    vi.advanceTimersByTime(6000);
    expect(root.textContent).toBe('Tracing is off. Run `%load_ext gradlab` in this notebook.');
    close();
    vi.useRealTimers();
  });

  it('the output is one line where somebody docks the inspector, else the inspector', () => {
    const { stop } = start();
    const model = fakeModel({ panel: 'output', session: 'm' });
    const output = () => panel.render({ model, el: root } as never);
    const dock = new AbortController();
    window.addEventListener('gradlab:model', event => event.preventDefault(), { signal: dock.signal });
    output()();
    expect(root.textContent).toBe('tracing on · inspector docked at the right');
    expect(model.sent).toEqual([{ kind: 'docked' }]);
    dock.abort();
    root.replaceChildren();
    const close = output();
    expect(root.querySelector('[data-panel="inspector"]')).not.toBeNull();
    close();
    stop();
  });
});
