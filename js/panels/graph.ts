/** The graph of one step: ops from top to bottom, modules as boxes, parameters as chips. */

import { batch, computed, signal, type ReadonlySignal } from '@preact/signals-core';
import { html, write } from '../draw/element';
import { bytes, plural } from '../draw/format';
import { Chain } from './chain';
import { fold } from './fold';
import { graphKeys } from './graphkeys';
import { graphTools, legend } from './graphtools';
import { Notice } from './graphnotice';
import { APART } from './nesting';
import { borrow, later } from './later';
import type { FaceReader } from './faces';
import type { Describe } from './graphwords';
import type * as large from './large';
import { layoutFor, makeRoom, Picture, PLAIN } from './picture';
import { emptyState } from './section';
import { marked, split, type Step } from './store';
import { SvgPicture } from './svgpicture';
import { paletteOf } from './theme';
import { tooltip } from './tip';
import { unitsOf } from './units';
import { followWidth, watch, type PanelParts, type View } from './view';
import { Viewport } from './viewport';
import { family } from './way';

const EMPTY = 'Nothing traced yet. Run a cell that calls a gradlab op.';
/** From so many nodes on the picture is a canvas. */
const CANVAS_FROM = 300;
/** So many ops have their formulas and numbers on them. */
const FEW = 16;
/** A click that opened or closed something is not the first half of a double click. */
const DOUBLE_MS = 500;

/** The graph panel. */
export function graphPanel(view: View, open: ReadonlySignal<boolean>): PanelParts {
  const { store } = view;
  const options = { signal: view.signal };
  const body = html('div', { class: 'gl-graph-body' });
  const summary = html('div', { class: 'gl-sum' });
  const viewport = new Viewport(view);
  let minimap: large.Minimap | undefined;
  let outline: large.Outline | undefined;
  viewport.onMoved = () => minimap?.moved();
  viewport.element.tabIndex = 0;
  viewport.element.setAttribute('role', 'group');
  viewport.element.setAttribute(
    'aria-label',
    'Graph. Arrow keys go from op to op, Enter opens and closes, / searches, T traces, F fits, Escape lets go.'
  );
  const room = signal(416);
  followWidth(view, body, width => {
    viewport.setRoom(width);
    // Lanes follow the room in coarse steps, so that dragging the dock's edge does not rearrange the graph.
    const step = Math.max(416, Math.floor(width / 140) * 140);
    if (step !== room.peek()) room.value = step;
  });

  const structure = computed(() => store.step.value?.structure);
  /** The op that has to be in sight, and which stretch of each repeat is shown. */
  const focus = signal(-1);
  const indices = signal<ReadonlyMap<string, number>>(new Map());
  /** Parts that are followed to what they were made of, and what was made of them. */
  const traced = signal<ReadonlySet<number> | null>(null);
  const notice = new Notice(view);
  const { change, listed } = notice;
  const chain = new Chain(view);
  let picture: Picture | null = null;
  let turned = 0;
  let own = false;

  const key = html('div', { class: 'gl-legends' });
  const stage = html('div', { class: 'gl-stage' }, viewport.element);
  const list = html('div', {});
  const empty = emptyState(EMPTY);
  body.append(empty);

  /** Select an op, and bring it into sight whatever it is folded into. */
  const goTo = (op: number) => {
    store.select(`op:${op}`);
    const id = picture?.scene.partOf[op] ?? -1;
    if (id < 0 || picture?.part(id).kind === 'module') focus.value = op;
    reveal(op);
  };
  const reveal = (op: number) => {
    const place = picture?.places.get(picture.scene.partOf[op] ?? -1);
    if (place) viewport.reveal(place.x, place.y, place.width, place.height);
  };

  /** What only large graphs need; null once it is known that nobody has it. */
  const more = signal<large.Large | null | undefined>(undefined);
  let asked = false;
  const loadMore = () => {
    if (asked) return;
    asked = true;
    borrow<large.Large>(view, 'large', got => {
      if (view.signal.aborted || more.peek()) return;
      if (got) {
        minimap = new got.Minimap(view, viewport);
        outline = new got.Outline(view, unitsOf, goTo);
        stage.append(minimap.element);
        list.append(outline.element);
      }
      more.value = got;
    });
  };
  /** What writes formulas and numbers on the nodes of a small graph; undefined before there was one. */
  const faces = signal<FaceReader | null | undefined>(undefined);

  const drawLook = () => {
    const of = picture;
    if (!of) return;
    const at = chain.at.value;
    const { scene } = of;
    const done = at < 0 ? null : new Set<number>();
    if (done) {
      const ops = new Set(chain.order.slice(0, at));
      scene.parts.forEach((part, id) => part.ops.length > 0 && ops.has(part.ops.at(-1) as number) && done.add(id));
      for (const { from, to } of scene.input.edges)
        if (scene.parts[from]?.leaves.length && scene.parts[from].grad && done.has(to)) done.add(from);
    }
    const added = change.value?.structure === of.structure ? change.value.added : [];
    of.show({
      ...PLAIN,
      ...of.marked(marked(store.selected.value, of.structure)),
      line: new Set([...store.line.value].map(i => scene.partOf[i] as number)),
      traced: traced.value,
      fresh: new Set(added.map(i => scene.partOf[i] as number)),
      found: of.found(store.findings.value),
      at: at > 0 ? (scene.partOf[chain.order[at - 1] as number] ?? -1) : -1,
      done
    });
  };
  const update = (step: Step | null) => {
    if (step && picture?.structure === step.structure) picture.update(step.frame);
  };

  // The picture, made anew where the graph or what is open of it changed.
  watch(view, () => {
    const now = structure.value;
    const choice = { folds: store.folds.value, indices: indices.value, focus: focus.value };
    const width = room.value;
    const palette = paletteOf(view.root, view.theme.value);
    const before = picture?.structure;
    picture = null;
    if (!open.value) return;
    chain.follow(now);
    if (!now || now.ops.length === 0) {
      body.replaceChildren(empty);
      return;
    }
    const scene = fold(now, choice);
    if (scene.parts.length <= CANVAS_FROM) makeRoom(scene, now, palette);
    if (now.ops.length <= FEW) {
      if (faces.value === undefined) {
        faces.value = null;
        borrow<FaceReader>(view, 'faces', got => (faces.value ??= got));
      }
      faces.value?.follow(now);
      faces.value?.stretch(scene, now);
    }
    const found = layoutFor(scene, width);
    const many = (found.layout?.nodes.length ?? Infinity) > CANVAS_FROM;
    if (many || scene.folded.ops > 0) loadMore();
    const got = more.value;
    if (many && got === undefined) return; // it comes again with what draws so many
    if (found.layout) {
      const Kind = many && got ? got.canvasPicture(Picture) : SvgPicture;
      picture = new Kind(now, scene, found.layout, palette);
    }
    if (before !== now) traced.value = null;
    view.root.classList.toggle('gl-broad', found.branched);
    if (stage.parentElement !== body) body.replaceChildren(notice.element, list, stage, chain.element, key);
    stage.hidden = picture === null;
    listed.value ||= picture === null;
    if (picture) {
      // A picture never shows without its numbers, whichever effect runs first.
      update(store.step.peek());
      drawLook();
      viewport.show(picture, picture.layout.width, picture.layout.height + 1);
      key.replaceChildren(...legend(new Set(scene.parts.map(part => part.colour))));
      if (picture instanceof SvgPicture) faces.peek()?.draw(picture);
      if (choice.focus >= 0) reveal(choice.focus);
    }
    minimap?.show(picture);
    notice.tell(now, scene.folded, picture === null);
  });
  watch(view, () => update(store.step.value));
  watch(view, () => {
    if (faces.value?.form.value && store.step.value && picture instanceof SvgPicture) faces.value.draw(picture);
  });
  watch(view, drawLook);
  watch(view, () => {
    const on = listed.value && open.value;
    list.hidden = !on;
    if (on && structure.value && more.value) outline?.show(structure.value);
  });
  watch(view, () => {
    const at = chain.at.value;
    if (at > 0) reveal(chain.order[at - 1] as number);
  });
  // Selected elsewhere: what is folded around it opens.
  watch(view, () => {
    const [kind, rest] = split(store.selected.value);
    if (kind !== 'op' || own) return;
    const id = picture?.scene.partOf[Number(rest)] ?? -1;
    if (id < 0 || picture?.part(id).kind === 'module') focus.value = Number(rest);
    else reveal(Number(rest));
  });
  watch(view, () => {
    if (store.step.value) notice.follow(store.step.value);
  });
  watch(view, () => {
    if (notice.change.value && picture) notice.tell(picture.structure, picture.scene.folded, false);
  });
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

  const choose = (id: number, toggle: boolean) => {
    const part = picture?.scene.parts[id];
    if (!picture || !part) return;
    const op = part.ops.at(-1);
    const leaf = part.leaves.length > 0 ? picture.structure.leaves[part.leaves[0] as number] : undefined;
    const what = op !== undefined ? `op:${op}` : leaf?.kind === 'parameter' ? `param:${leaf.name}` : leaf ? `leaf:${part.leaves[0]}` : '';
    // Before all panels write what is new, after which the page would be laid out for this alone.
    const place = picture.places.get(id);
    if (place) viewport.reveal(place.x, place.y, place.width, place.height);
    own = true;
    if (what) store[toggle ? 'toggle' : 'select'](what);
    own = false;
  };
  const turn = (path: string) => {
    if (!picture) return;
    const is = picture.scene.open.get(path) ?? true;
    turned = performance.now();
    batch(() => {
      store.setFold(path, !is);
      // What was opened for the sake of one op in it is closed for good.
      if (is) focus.value = -1;
    });
  };
  const trace = (id: number) => {
    if (picture && id >= 0) traced.value = family(picture.scene, new Set([id]));
  };
  const setIndex = (b: number, index: number) => {
    const unit = picture?.scene.boxes[b]?.unit;
    if (!unit || index < 0 || index >= unit.blocks.length) return;
    batch(() => {
      indices.value = new Map(indices.value).set(unit.path, index);
      focus.value = -1;
    });
  };

  viewport.element.addEventListener(
    'click',
    event => {
      if (viewport.dragged || !picture) return;
      const hit = picture.hit(event);
      if (hit.index >= 0) return setIndex(hit.box, hit.index);
      if (hit.box >= 0) return turn(picture.scene.boxes[hit.box]?.unit.path ?? '');
      if (event.altKey) return hit.part >= 0 ? trace(hit.part) : void (traced.value = null);
      if (hit.part >= 0) choose(hit.part, event.detail < 2);
      else store.select('');
    },
    options
  );
  viewport.element.addEventListener(
    'dblclick',
    event => {
      if ((event.detail > 1 && performance.now() - turned < DOUBLE_MS) || !picture) return;
      const part = picture.scene.parts[picture.hit(event).part];
      if (part?.kind === 'module') turn(part.path);
      else if (part?.ops[0] !== undefined) turnAround(part.ops[0]);
    },
    options
  );
  /** Close what is around an op. */
  const turnAround = (op: number) => {
    if (!picture) return;
    let unit = unitsOf(picture.structure).of[op]?.parent;
    while (unit?.parent && !picture.scene.boxes.some(box => box.unit === unit)) unit = unit.parent;
    if (unit?.parent) turn(unit.path);
  };
  void later(view, 'signs', viewport.element);
  let describe: Describe | null = null;
  borrow<Describe>(view, 'words', got => (describe ??= got));
  tooltip(view, viewport.element, (_, event) => {
    return (picture && describe?.(picture, picture.hit(event))) ?? null;
  });

  /** The part that keys act on: what is selected, else what has the focus. */
  const current = () => {
    const [op] = marked(store.selected.value, structure.value).ops;
    return op !== undefined && picture
      ? (picture.scene.partOf[op] ?? -1)
      : (picture?.hit({ target: document.activeElement, clientX: -1, clientY: -1 }).part ?? -1);
  };
  /** From op to op in tape order, folded or not. */
  const step = (by: number) => {
    const units = structure.value && unitsOf(structure.value);
    if (!units) return;
    const [kind, rest] = split(store.selected.value);
    let i = kind === 'op' ? Number(rest) + by : by > 0 ? 0 : units.role.length - 1;
    while (units.role[i] === APART) i += by;
    if (i >= 0 && i < units.role.length) goTo(i);
  };
  const { tools, find } = graphTools({ view, viewport, chain, goTo });
  graphKeys(view, viewport.element, {
    step,
    find,
    fit: () => viewport.fit(),
    zoom: factor => viewport.zoomBy(factor),
    trace: () => trace(current()),
    chain,
    turn: target => {
      const hit = picture?.hit({ target, clientX: -1, clientY: -1 });
      const part = picture?.scene.parts[current()];
      if (hit && hit.box >= 0) turn(picture?.scene.boxes[hit.box]?.unit.path ?? '');
      else if (part?.kind === 'module') turn(part.path);
      else if (part?.ops[0] !== undefined) turnAround(part.ops[0]);
    },
    index: (target, by) => {
      const hit = picture?.hit({ target, clientX: -1, clientY: -1 });
      const [kind, rest] = split(store.selected.value);
      let unit = kind === 'op' && picture ? unitsOf(picture.structure).of[Number(rest)] : undefined;
      while (unit && unit.kind !== 'repeat') unit = unit.parent ?? undefined;
      const b =
        hit && hit.box >= 0
          ? hit.box
          : (picture?.scene.boxes.findIndex(box => (unit ? box.unit === unit : box.unit.kind === 'repeat')) ?? -1);
      const box = picture?.scene.boxes[b];
      if (box?.unit.kind === 'repeat') setIndex(b, box.index + by);
    },
    back: () => {
      if (traced.value) traced.value = null;
      else if (chain.at.value >= 0) chain.show(false);
      else if (store.selected.value) store.select('');
      else if (focus.value >= 0) focus.value = -1;
    }
  });
  return { title: 'Graph', body, summary, tools };
}
