import { SplitPanel, type Widget } from '@lumino/widgets';

const READABLE_PX = 440;
const NOTEBOOK_PX = 300;

/** The width for a dock that has this one, with this much beside it: readable where there is room, and a notebook left to read. */
export function readableWidth(width: number, beside: number): number {
  const total = width + beside;
  const least = Math.min(READABLE_PX, total / 2);
  return Math.min(Math.max(width, least), Math.max(least, total - NOTEBOOK_PX));
}

/** Sets the width of the column of the split panel that holds this widget; what it takes, its neighbour at the left gives. */
export function makeReadable(widget: Widget): void {
  let column = widget;
  while (column.parent && !(column.parent instanceof SplitPanel)) column = column.parent;
  const split = column.parent;
  if (!(split instanceof SplitPanel) || split.orientation !== 'horizontal') return;
  const widths = split.widgets.map(w => (w.isVisible ? w.node.offsetWidth : 0));
  const at = split.widgets.indexOf(column);
  const neighbour = widths.findLastIndex((w, i) => i < at && w > 0);
  const [width, beside] = [widths[at] ?? 0, widths[neighbour] ?? 0];
  widths[at] = readableWidth(width, beside);
  widths[neighbour] = width + beside - widths[at];
  if (neighbour >= 0) split.setRelativeSizes(widths);
}
