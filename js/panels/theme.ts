/** Light or dark, as the page around the panels has it. */

import { signal, type ReadonlySignal } from '@preact/signals-core';
import type { Fonts } from '../draw/node';

/** Whether a CSS colour is dark; unknown colours count as light. */
export function isDark(colour: string): boolean {
  const parts = colour.match(/[\d.]+/g)?.map(Number) ?? [];
  if (parts.length < 3 || parts[3] === 0) return false;
  const [r, g, b] = parts as [number, number, number];
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

/** Mark the root as light or dark by its own background, now and after every change of the page's theme. */
export function followTheme(root: HTMLElement, lifetime: AbortSignal): ReadonlySignal<number> {
  const changes = signal(0);
  const look = () => {
    const theme = isDark(getComputedStyle(root).backgroundColor) ? 'dark' : 'light';
    if (root.dataset.theme !== theme) root.dataset.theme = theme;
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

/** One of our colours, as the theme has it now. */
export function colour(root: HTMLElement, name: string, otherwise = '#808080'): string {
  return getComputedStyle(root).getPropertyValue(name).trim() || otherwise;
}

/** A colour that may hold `var()` or `color-mix()`, as plain numbers for a canvas. */
export function resolved(root: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  root.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value || '#808080';
}

/** The font families in use, for measuring text. */
export function fontsOf(root: HTMLElement): Fonts {
  const style = getComputedStyle(root);
  return { ui: style.fontFamily || 'sans-serif', code: style.getPropertyValue('--gl-code').trim() || 'monospace' };
}
