/** The detail panel as it stands before anything is selected; its code comes with the first selection (see `later.ts`). */

import type { ReadonlySignal } from '@preact/signals-core';
import { html, write } from '../draw/element';
import { later } from './later';
import { emptyState } from './section';
import { split } from './store';
import { madeAt, watch, type PanelParts, type View } from './view';

/** What is selected: `fc2 / matmul, made at In[3]:9`, or a tensor's name. */
function selectedText({ store }: View): string {
  const [kind, rest] = split(store.selected.value);
  const structure = store.step.value?.structure;
  if (!structure || !kind) return '';
  if (kind !== 'op') return kind === 'param' ? rest : (structure.leaves[Number(rest)]?.name ?? '');
  const op = structure.ops[Number(rest)];
  if (!op) return '';
  const module = op.module === null ? undefined : structure.modules[op.module];
  const within = module?.path || module?.name;
  const at = madeAt(structure, op);
  return `${within ? `${within} / ` : ''}${op.name}${at && `, made at ${at}`}`;
}

/** The frame of the detail panel. */
export function detailFrame(view: View, open: ReadonlySignal<boolean>): PanelParts {
  const summary = html('div', { class: 'gl-sum gl-oneline' });
  const body = html('div', {}, emptyState('Select an op or a line.'));
  let asked = false;
  watch(view, () => {
    const text = selectedText(view);
    write(summary, text.slice(0, 200) || 'nothing selected');
    if (!open.value || !text || asked) return;
    asked = true;
    void later(view, 'detail', body).then(() => (asked = body.querySelector('.gl-detail') !== null));
  });
  return { title: 'Detail', body, summary };
}
