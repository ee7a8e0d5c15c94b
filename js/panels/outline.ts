/** The graph as a list: what holds what, how many ops, which can be opened. Only the rows in view are in the page. */

import { html } from '../draw/element';
import { count } from '../draw/format';
import type { Structure } from '../protocol/messages';
import type { unitsOf, Unit } from './units';
import type { View } from './view';

const ROW = 22;
const MOST_PX = 220;

interface Row {
  unit: Unit;
  depth: number;
}

export class Outline {
  readonly element = html('div', { class: 'gl-outline', role: 'tree', tabindex: 0, 'aria-label': 'Outline of the graph' });
  private readonly open = new Set<string>();
  private rows: Row[] = [];
  private structure: Structure | null = null;
  private at = 0;

  constructor(
    view: View,
    private readonly treeOf: typeof unitsOf,
    private readonly choose: (op: number) => void
  ) {
    const options = { signal: view.signal };
    this.element.addEventListener('scroll', () => this.draw(), { ...options, passive: true });
    this.element.addEventListener(
      'click',
      event => {
        const row = event.target instanceof Element ? event.target.closest('[data-row]') : null;
        if (!row) return;
        this.at = Number(row.getAttribute('data-row'));
        const caret = event.target instanceof Element && event.target.closest('.gl-twist');
        if (caret) this.turn();
        else this.take();
      },
      options
    );
    this.element.addEventListener('keydown', event => this.onKey(event), options);
  }

  show(structure: Structure): void {
    if (structure === this.structure) return this.draw();
    this.structure = structure;
    this.list();
  }

  private list(): void {
    this.rows = [];
    const root = this.structure && this.treeOf(this.structure).root;
    const todo: Row[] = (root?.children ?? []).map(unit => ({ unit, depth: 0 })).reverse();
    for (let row = todo.pop(); row; row = todo.pop()) {
      this.rows.push(row);
      const { unit, depth } = row;
      if (unit.kind === 'op' || !this.open.has(unit.path)) continue;
      const inside = unit.kind === 'repeat' ? unit.blocks.flat() : unit.children;
      for (let i = inside.length - 1; i >= 0; i--) todo.push({ unit: inside[i] as Unit, depth: depth + 1 });
    }
    this.at = Math.min(this.at, this.rows.length - 1);
    this.draw();
  }

  private draw(): void {
    const { structure, rows } = this;
    this.element.style.height = `${Math.min(MOST_PX, rows.length * ROW + 2)}px`;
    if (!structure || this.element.clientHeight === 0) return;
    const units = this.treeOf(structure);
    const from = Math.max(0, Math.floor(this.element.scrollTop / ROW) - 4);
    const to = Math.min(rows.length, from + Math.ceil(this.element.clientHeight / ROW) + 8);
    const inside = html('div', { style: `height:${rows.length * ROW}px;padding-top:${from * ROW}px`, role: 'presentation' });
    for (let i = from; i < to; i++) {
      const { unit, depth } = rows[i] as Row;
      const op = structure.ops[unit.first];
      const [name, note] = unit.kind === 'op' ? [op?.name ?? '', op ? `(${op.shape.join(', ')})` : ''] : units.nameOf(unit);
      const open = this.open.has(unit.path);
      inside.append(
        html(
          'div',
          {
            class: i === this.at ? 'gl-at' : null,
            role: 'treeitem',
            'aria-level': depth + 1,
            'aria-expanded': unit.kind === 'op' ? null : String(open),
            'aria-selected': String(i === this.at),
            'data-row': i,
            style: `padding-left:${8 + depth * 14}px`
          },
          html('span', { class: 'gl-twist' }, unit.kind === 'op' ? '' : open ? '▾' : '▸'),
          html('b', {}, name.slice(0, 200)),
          html('span', {}, note)
        )
      );
    }
    this.element.replaceChildren(inside);
    this.element.setAttribute('aria-description', `${count(rows.length)} rows`);
  }

  private turn(open?: boolean): void {
    const unit = this.rows[this.at]?.unit;
    if (!unit || unit.kind === 'op') return;
    if (open ?? !this.open.has(unit.path)) this.open.add(unit.path);
    else this.open.delete(unit.path);
    this.list();
  }

  private take(): void {
    const unit = this.rows[this.at]?.unit;
    if (unit) this.choose(unit.first);
    this.draw();
  }

  private onKey(event: KeyboardEvent): void {
    const move = (by: number) => {
      this.at = Math.max(0, Math.min(this.rows.length - 1, this.at + by));
      const { scrollTop, clientHeight } = this.element;
      const top = this.at * ROW;
      if (top < scrollTop || top + ROW > scrollTop + clientHeight) this.element.scrollTop = top - clientHeight / 2;
      this.draw();
    };
    const act: Record<string, () => void> = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      ArrowRight: () => this.turn(true),
      ArrowLeft: () => this.turn(false),
      Enter: () => this.take()
    };
    const run = act[event.key];
    if (!run || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    run();
  }
}
