/** The graph of one step: ops from top to bottom, modules as boxes, parameters as chips. */

import { computed, signal, type ReadonlySignal } from '@preact/signals-core';
import { html, write } from '../draw/element';
import { bytes, plural } from '../draw/format';
import { fold } from './fold';
import { Picture } from './picture';
import { emptyState } from './section';
import { marked, type Step } from './store';
import { paletteOf } from './theme';
import { tooltip } from './tip';
import { followWidth, watch, type PanelParts, type View } from './view';
import { Viewport } from './viewport';

const EMPTY = 'Nothing traced yet. Run a cell that calls a gradlab op.';

function tool(label: string, title: string): HTMLButtonElement {
  return html('button', { type: 'button', title, 'aria-label': title }, label);
}

/** What the colours mean, of those that are drawn. */
function legend(drawn: ReadonlySet<string>): HTMLElement[] {
  const item = (name: string, look: string) => html('span', {}, html('i', { class: look }), name);
  const kinds = ['matmul', 'elementwise', 'reduce', 'shape', 'loss', 'parameter'].filter(kind => drawn.has(kind));
  return [
    html('div', { class: 'gl-legend' }, ...kinds.map(kind => item(kind, `gl-back-${kind}`))),
    html(
      'div',
      { class: 'gl-legend' },
      item('‖value‖', 'gl-back-value gl-dash'),
      item('‖gradient‖', 'gl-back-gradient gl-dash'),
      html('span', {}, 'log10, 10⁻³ to 10⁴; tick at 1')
    )
  ];
}

/** The graph panel. */
export function graphPanel(view: View, open: ReadonlySignal<boolean>): PanelParts {
  const { store } = view;
  const body = html('div', { class: 'gl-graph-body' });
  const summary = html('div', { class: 'gl-sum' });
  const viewport = new Viewport(view);
  viewport.element.tabIndex = 0;
  viewport.element.setAttribute('role', 'group');
  viewport.element.setAttribute('aria-label', 'Graph. Arrow keys go from op to op, F fits, Escape lets go.');
  const [less, more, fit] = [tool('−', 'Smaller'), tool('+', 'Larger'), tool('Fit', 'Fit the width (F)')];
  const tools = html('div', { class: 'gl-seg', role: 'group', 'aria-label': 'Zoom' }, less, more, fit);
  const options = { signal: view.signal };
  less.addEventListener('click', () => viewport.zoomBy(0.8), options);
  more.addEventListener('click', () => viewport.zoomBy(1.25), options);
  fit.addEventListener('click', () => viewport.fit(), options);
  const room = signal(416);
  followWidth(view, body, width => {
    viewport.setRoom(width);
    // Lanes follow the room in coarse steps, so that dragging the dock's edge does not rearrange the graph.
    const step = Math.max(416, Math.floor(width / 140) * 140);
    if (step !== room.peek()) room.value = step;
  });

  let picture: Picture | null = null;
  const empty = emptyState(EMPTY);
  const key = html('div', { class: 'gl-legends' });
  body.append(empty);
  const structure = computed(() => store.step.value?.structure);

  const update = (step: Step | null) => {
    if (step && picture?.structure === step.structure) picture.update(step.frame);
  };
  const mark = (selected: string) => picture?.mark(marked(selected, picture.structure));
  watch(view, () => {
    const now = structure.value;
    const folds = store.folds.value;
    const width = room.value;
    picture = null;
    if (!open.value) return;
    if (!now || now.ops.length === 0) {
      body.replaceChildren(empty);
      return;
    }
    picture = new Picture(now, fold(now, folds), paletteOf(view.root, view.theme.peek()).fonts, width);
    view.root.classList.toggle('gl-broad', picture.branched);
    // A picture never shows without its numbers, whichever effect runs first.
    update(store.step.peek());
    mark(store.selected.peek());
    viewport.show(picture.element, picture.layout.width, picture.layout.height + 1);
    key.replaceChildren(...legend(new Set(picture.scene.parts.map(part => part.colour))));
    if (viewport.element.parentElement !== body) body.replaceChildren(viewport.element, key);
  });
  watch(view, () => update(store.step.value));
  watch(view, () => mark(store.selected.value));
  watch(view, () => {
    const now = structure.value;
    const ops = now?.ops.filter(op => op.grad) ?? [];
    const parameters = now?.leaves.filter(leaf => leaf.kind === 'parameter') ?? [];
    const size = parameters.reduce((sum, leaf) => sum + leaf.bytes, 0);
    write(
      summary,
      now
        ? `${plural(ops.length || now.ops.length, 'op')} · ${plural(parameters.length, 'parameter')}, ${bytes(size)}`
        : 'nothing traced yet'
    );
  });

  const partAt = (target: EventTarget | null) => {
    const element = target instanceof Element ? target.closest('[data-part]') : null;
    return element ? Number(element.getAttribute('data-part')) : -1;
  };
  const choose = (id: number, toggle: boolean) => {
    const part = picture?.scene.parts[id];
    if (!picture || !part) return;
    const op = part.ops.at(-1);
    const leaf = part.leaves.length > 0 ? picture.structure.leaves[part.leaves[0] as number] : undefined;
    const what = op !== undefined ? `op:${op}` : leaf?.kind === 'parameter' ? `param:${leaf.name}` : leaf ? `leaf:${part.leaves[0]}` : '';
    if (what) store[toggle ? 'toggle' : 'select'](what);
    const place = picture.placeOf(id);
    if (place) viewport.reveal(place.x, place.y, place.width, place.height);
  };
  const turn = (path: string) => {
    if (picture) store.setFold(path, !(picture.scene.open.get(path) ?? true));
  };
  const headerAt = (target: EventTarget | null) => (target instanceof Element ? target.closest('.gl-boxhead') : null);

  viewport.element.addEventListener(
    'click',
    event => {
      if (viewport.dragged) return;
      const header = headerAt(event.target);
      if (header) return turn(header.getAttribute('data-module') ?? '');
      const id = partAt(event.target);
      if (id >= 0) choose(id, event.detail < 2);
      else store.select('');
    },
    options
  );
  viewport.element.addEventListener(
    'dblclick',
    event => {
      const part = picture?.scene.parts[partAt(event.target)];
      if (part?.kind === 'module') turn(part.path);
    },
    options
  );
  viewport.element.addEventListener('keydown', event => onKey(event), options);
  tooltip(view, viewport.element, target => {
    const path = headerAt(target)?.getAttribute('data-module');
    if (path) return picture?.describeBox(path) ?? null;
    const id = partAt(target);
    return id < 0 ? null : (picture?.describe(id) ?? null);
  });

  /** The part that keys act on: what is selected, else what has the focus. */
  const current = () => {
    const [op] = marked(store.selected.value, structure.value).ops;
    return op !== undefined && picture ? (picture.scene.partOf[op] ?? -1) : partAt(document.activeElement);
  };
  const step = (by: number) => {
    const nodes = picture?.layout.nodes.filter(placed => picture?.scene.parts[placed.id]?.ops.length) ?? [];
    const at = nodes.findIndex(placed => placed.id === current());
    const next = nodes[at < 0 ? (by > 0 ? 0 : nodes.length - 1) : Math.max(0, Math.min(nodes.length - 1, at + by))];
    if (next) choose(next.id, false);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const header = headerAt(event.target);
    const act: Record<string, () => void> = {
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
      Escape: () => store.select(''),
      f: () => viewport.fit(),
      F: () => viewport.fit(),
      '+': () => viewport.zoomBy(1.25),
      '-': () => viewport.zoomBy(0.8),
      Enter: () => {
        const part = picture?.scene.parts[current()];
        if (header) turn(header.getAttribute('data-module') ?? '');
        else if (part?.kind === 'module') turn(part.path);
        else if (part?.ops[0] !== undefined) turnBox(part.ops[0]);
      }
    };
    const run = act[event.key];
    if (!run) return;
    // The notebook has keys of its own: what the graph takes goes no further.
    event.preventDefault();
    event.stopPropagation();
    run();
  };
  const turnBox = (op: number) => {
    const module = structure.value?.ops[op]?.module ?? null;
    const path = module === null ? undefined : structure.value?.modules[module]?.path;
    if (path !== undefined) turn(path);
  };
  return { title: 'Graph', body, summary, tools };
}
