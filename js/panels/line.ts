/** The line that the cursor is on in the notebook: what it made is tinted in every panel. */

import { html } from '../draw/element';
import { parametersOf } from './store';
import { watch, type View } from './view';

const MOST_OPS = 200;

const any = (attribute: string, values: Iterable<string | number>) =>
  [...values].map(value => `[${attribute}="${CSS.escape(String(value))}"]`).join(',');

/** The rules that tint these ops and the parameters that they read; empty where there are none. */
export function tint(ops: ReadonlySet<number>, parameters: ReadonlySet<string>): string {
  if (ops.size === 0) return '';
  const few = [...ops].slice(0, MOST_OPS);
  const made = `${any('data-op', few)},${few.map(i => `[data-ops~="${i}"]`).join(',')}`;
  const node = `.gl .gl-node:is(${made}):not(.gl-selected) .gl-face{fill:var(--gl-flash);stroke:var(--gl-flash-edge)}`;
  const read = parameters.size > 0 ? `,${any('data-param', parameters)}` : '';
  const row = `.gl tbody tr:is(${made}${read}):not(.gl-selected) td{background:var(--gl-flash)}`;
  const name = parameters.size > 0 ? `.gl .gl-row:is(${any('data-row', parameters)}){background:var(--gl-flash)}` : '';
  return [node, row, name].join('\n');
}

/**
 * Tint what the cursor's line made, in all panels of a view.
 *
 * By a style sheet: panels make rows and nodes anew as they like, and need not know of it.
 */
export function tintLine(view: View): HTMLStyleElement {
  const style = html('style', { 'data-line': '' });
  watch(view, () => {
    const ops = view.store.line.value;
    const text = tint(ops, parametersOf(ops, view.store.step.peek()?.structure));
    if (style.textContent !== text) style.textContent = text;
  });
  return style;
}
