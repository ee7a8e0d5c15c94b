/** Light or dark, as the page around the panels has it. */

import { signal, type ReadonlySignal } from '@preact/signals-core';
import { sequential } from '../draw/colour';
import type { Fonts } from '../draw/node';

/** Whether a CSS colour is dark; unknown colours count as light. */
export function isDark(colour: string): boolean {
  const parts = colour.match(/[\d.]+/g)?.map(Number) ?? [];
  if (parts.length < 3 || parts[3] === 0) return false;
  const [r, g, b] = parts as [number, number, number];
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

/** JupyterLab's theme of strong borders. */
const CONTRAST = /contrast/i;

/** Mark the root as light or dark by its own background, now and after every change of the page's theme. */
export function followTheme(root: HTMLElement, lifetime: AbortSignal): ReadonlySignal<number> {
  const changes = signal(0);
  const look = () => {
    const theme = isDark(getComputedStyle(root).backgroundColor) ? 'dark' : 'light';
    if (root.dataset.theme !== theme) root.dataset.theme = theme;
    root.toggleAttribute('data-contrast', CONTRAST.test(document.body.dataset.jpThemeName ?? ''));
    changes.value++;
  };
  const observer = new MutationObserver(() => requestAnimationFrame(look));
  const options = { attributes: true, attributeFilter: ['data-jp-theme-name', 'data-jp-theme-light', 'class', 'theme', 'style'] };
  observer.observe(document.body, options);
  observer.observe(document.documentElement, options);
  // A theme's stylesheet may arrive after the attribute that names it.
  document.addEventListener('load', look, { capture: true, signal: lifetime });
  window.matchMedia?.('(prefers-color-scheme: dark)').addEventListener('change', look, { signal: lifetime });
  lifetime.addEventListener('abort', () => observer.disconnect(), { once: true });
  requestAnimationFrame(look);
  return changes;
}

/** What a canvas needs to know of the theme: it can read no CSS variable by itself. */
export interface Palette {
  dark: boolean;
  fonts: Fonts;
  track: string;
  odd: string;
  /** Small to large. */
  heat: Uint32Array;
  /** Any colour of the style sheet by its variable. */
  colour: (name: string) => string;
}

/** A colour that may hold `var()` or `color-mix()`, as a canvas can use it. */
function resolved(root: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  root.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value || '#808080';
}

const palettes = new WeakMap<HTMLElement, { change: number; palette: Palette }>();

/** The palette of a root, read once for each change of the theme: reading styles is slow while much is drawn. */
export function paletteOf(root: HTMLElement, change: number): Palette {
  const known = palettes.get(root);
  if (known?.change === change) return known.palette;
  const style = getComputedStyle(root);
  const own = (name: string, otherwise: string) => style.getPropertyValue(name).trim() || otherwise;
  const colours: Record<string, string> = {};
  const palette: Palette = {
    dark: root.dataset.theme === 'dark',
    fonts: { ui: style.fontFamily || 'sans-serif', code: own('--gl-code', 'monospace') },
    track: own('--gl-track', '#e3e5e8'),
    odd: own('--gl-odd', '#c2188b'),
    heat: sequential(root.dataset.theme === 'dark'),
    colour: name => (colours[name] ??= resolved(root, name))
  };
  if (root.isConnected) palettes.set(root, { change, palette });
  return palette;
}
